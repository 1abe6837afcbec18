//! Schemas as FlatBuffers. Source: Schema.fbs of the Arrow format.

use super::flatbuffer::{Table, Value};
use super::schema::{DataType, Field, Schema};

/// How deep types may be nested.
const DEPTH_MAX: usize = 64;
/// `TimeUnit.NANOSECOND`.
const NANOSECOND: i16 = 3;

/// The fields of a `Schema` table.
pub(super) fn encode(schema: &Schema) -> Vec<Value> {
    let metadata = schema.metadata.iter();
    let metadata =
        metadata.map(|(key, value)| vec![Value::Text(key.clone()), Value::Text(value.clone())]);
    vec![
        // Little-endian.
        Value::I16(0),
        Value::Tables(schema.fields.iter().map(field).collect()),
        Value::Tables(metadata.collect()),
    ]
}

fn field(field: &Field) -> Vec<Value> {
    let (dictionary, data_type) = match &field.data_type {
        DataType::Dictionary(keys, texts) => {
            let keys = Value::Table(data_type(keys).1);
            (Value::Table(vec![Value::I64(field.dictionary), keys, Value::U8(0)]), &**texts)
        }
        other => (Value::None, other),
    };
    let (number, parameters) = self::data_type(data_type);
    vec![
        Value::Text(field.name.clone()),
        Value::U8(u8::from(field.is_nullable)),
        Value::U8(number),
        Value::Table(parameters),
        dictionary,
        // Arrow's C++ library requires it even without entries.
        Value::Tables(field.children.iter().map(self::field).collect()),
    ]
}

/// The number of a type in the union `Type`, and the fields of its table.
fn data_type(data_type: &DataType) -> (u8, Vec<Value>) {
    match data_type {
        DataType::Int(bits, is_signed) => {
            (2, vec![Value::I32(i32::from(*bits)), Value::U8(u8::from(*is_signed))])
        }
        DataType::Binary => (4, Vec::new()),
        DataType::Utf8 => (5, Vec::new()),
        DataType::Boolean => (6, Vec::new()),
        DataType::Timestamp(zone) => {
            let zone = zone.as_ref().map_or(Value::None, |zone| Value::Text(zone.clone()));
            (10, vec![Value::I16(NANOSECOND), zone])
        }
        DataType::LargeUtf8 => (20, Vec::new()),
        // A stream of ours has neither.
        DataType::Dictionary(..) | DataType::Other(..) => (1, Vec::new()),
    }
}

/// The schema of a `Schema` table.
///
/// # Errors
/// Its numbers are big-endian, or a type is nested too deep.
pub(super) fn decode(schema: &Table<'_>) -> Result<Schema, String> {
    if schema.i16(0) != 0 {
        return Err("big-endian numbers".to_owned());
    }
    let fields = schema.tables(1).map(|field| decode_field(&field, 0)).collect::<Result<_, _>>()?;
    let metadata = schema.tables(2).filter_map(|pair| {
        Some((pair.text(0)?.to_owned(), pair.text(1).unwrap_or_default().to_owned()))
    });
    Ok(Schema { fields, metadata: metadata.collect() })
}

fn decode_field(field: &Table<'_>, depth: usize) -> Result<Field, String> {
    if depth == DEPTH_MAX {
        return Err("types nested too deep".to_owned());
    }
    let children = field.tables(5).map(|child| decode_field(&child, depth + 1));
    let children = children.collect::<Result<_, _>>()?;
    let mut data_type = decode_type(field.u8(2), field.table(3));
    let dictionary = field.table(4);
    if let Some(dictionary) = &dictionary {
        let keys = match dictionary.table(1) {
            Some(keys) => decode_type(2, Some(keys)),
            None => DataType::Int(32, true),
        };
        data_type = DataType::Dictionary(Box::new(keys), Box::new(data_type));
    }
    Ok(Field {
        name: field.text(0).unwrap_or_default().to_owned(),
        data_type,
        is_nullable: field.u8(1) != 0,
        dictionary: dictionary.map_or(0, |dictionary| dictionary.i64(0)),
        children,
    })
}

fn decode_type(number: u8, parameters: Option<Table<'_>>) -> DataType {
    let int = |field| parameters.as_ref().map_or(0, |table| table.i32(field));
    let short = |field| parameters.as_ref().map_or(0, |table| table.i16(field));
    let text = |field| parameters.as_ref().and_then(|table| table.text(field));
    let other = |name: &str, buffers| DataType::Other(name.to_owned(), buffers);
    match number {
        2 => {
            let is_signed = parameters.as_ref().is_some_and(|table| table.u8(1) != 0);
            DataType::Int(u8::try_from(int(0)).unwrap_or(0), is_signed)
        }
        3 => other(["Float16", "Float32", "Float64"][(short(0).clamp(0, 2)) as usize], 2),
        4 => DataType::Binary,
        5 => DataType::Utf8,
        6 => DataType::Boolean,
        10 if short(0) == NANOSECOND => DataType::Timestamp(text(1).map(str::to_owned)),
        10 => other(
            ["Timestamp(s)", "Timestamp(ms)", "Timestamp(µs)"][(short(0).clamp(0, 2)) as usize],
            2,
        ),
        14 => other("Union", if short(0) == 0 { 1 } else { 2 }),
        20 => DataType::LargeUtf8,
        _ => {
            let (name, buffers) = NESTED_AND_RARE
                .iter()
                .find(|(known, ..)| *known == number)
                .map_or(("an unknown type", 2), |(_, name, buffers)| (*name, *buffers));
            other(name, buffers)
        }
    }
}

/// Types that no column of ours has: number, name, buffers of their own.
const NESTED_AND_RARE: [(u8, &str, usize); 18] = [
    (1, "Null", 0),
    (7, "Decimal", 2),
    (8, "Date", 2),
    (9, "Time", 2),
    (11, "Interval", 2),
    (12, "List", 2),
    (13, "Struct", 1),
    (15, "FixedSizeBinary", 2),
    (16, "FixedSizeList", 1),
    (17, "Map", 2),
    (18, "Duration", 2),
    (19, "LargeBinary", 3),
    (21, "LargeList", 2),
    (22, "RunEndEncoded", 0),
    (23, "BinaryView", 2),
    (24, "Utf8View", 2),
    (25, "ListView", 3),
    (26, "LargeListView", 3),
];
