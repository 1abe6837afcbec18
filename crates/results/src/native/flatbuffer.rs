//! FlatBuffers without a schema compiler: tables are written from a list of fields, and read by the numbers of their fields.
//! Reading trusts no offset. Source: "FlatBuffers Internals".

use std::ops::Range;

/// The value of one field of a table.
pub(super) enum Value {
    /// Absent: the field has its default.
    None,
    U8(u8),
    I16(i16),
    I32(i32),
    I64(i64),
    Text(String),
    Table(Vec<Self>),
    Tables(Vec<Vec<Self>>),
    /// Structs of two 64-bit integers.
    Pairs(Vec<[i64; 2]>),
}

impl Value {
    /// Bytes within the table, which is also how it is aligned; a child is an offset there.
    const fn size(&self) -> usize {
        match self {
            Self::None => 0,
            Self::U8(_) => 1,
            Self::I16(_) => 2,
            Self::I64(_) => 8,
            Self::I32(_) | Self::Text(_) | Self::Table(_) | Self::Tables(_) | Self::Pairs(_) => 4,
        }
    }
}

/// A buffer with a table of these fields as its root. Its length is a multiple of 8.
pub(super) fn encode(root: &[Value]) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    write_table(&mut bytes, 0, root);
    align(&mut bytes, 8, 0);
    bytes
}

/// Pads so that what follows in `ahead` bytes is aligned.
fn align(bytes: &mut Vec<u8>, to: usize, ahead: usize) {
    while !(bytes.len() + ahead).is_multiple_of(to) {
        bytes.push(0);
    }
}

/// Makes the offset at `slot` point to the end of the bytes.
fn point_here(bytes: &mut [u8], slot: usize) {
    let distance = (bytes.len() - slot) as u32;
    bytes[slot..slot + 4].copy_from_slice(&distance.to_le_bytes());
}

/// Writes a table that the offset at `slot` points to, then its children.
fn write_table(bytes: &mut Vec<u8>, slot: usize, fields: &[Value]) {
    let vtable_len = 4 + 2 * fields.len();
    // The table begins where a 64-bit field after its first 4 bytes and padding is aligned.
    align(bytes, 8, vtable_len);
    let vtable = bytes.len();
    bytes.resize(vtable + vtable_len, 0);
    point_here(bytes, slot);
    let table = bytes.len();
    bytes.extend((vtable_len as i32).to_le_bytes());
    let mut places = Vec::with_capacity(fields.len());
    for (number, field) in fields.iter().enumerate() {
        if field.size() == 0 {
            places.push(0);
            continue;
        }
        align(bytes, field.size(), 0);
        let place = bytes.len();
        places.push(place);
        let entry = vtable + 4 + 2 * number;
        bytes[entry..entry + 2].copy_from_slice(&((place - table) as u16).to_le_bytes());
        match field {
            Value::U8(value) => bytes.push(*value),
            Value::I16(value) => bytes.extend(value.to_le_bytes()),
            Value::I32(value) => bytes.extend(value.to_le_bytes()),
            Value::I64(value) => bytes.extend(value.to_le_bytes()),
            _ => bytes.extend([0; 4]),
        }
    }
    let table_len = (bytes.len() - table) as u16;
    bytes[vtable..vtable + 2].copy_from_slice(&(vtable_len as u16).to_le_bytes());
    bytes[vtable + 2..vtable + 4].copy_from_slice(&table_len.to_le_bytes());
    for (field, place) in fields.iter().zip(places) {
        write_child(bytes, place, field);
    }
}

/// Writes what the offset at `slot` points to, if the field has such.
fn write_child(bytes: &mut Vec<u8>, slot: usize, field: &Value) {
    match field {
        Value::Text(text) => {
            align(bytes, 4, 0);
            point_here(bytes, slot);
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
            bytes.push(0);
        }
        Value::Table(fields) => write_table(bytes, slot, fields),
        Value::Tables(tables) => {
            align(bytes, 4, 0);
            point_here(bytes, slot);
            bytes.extend((tables.len() as u32).to_le_bytes());
            let slots = bytes.len();
            bytes.resize(slots + 4 * tables.len(), 0);
            for (number, fields) in tables.iter().enumerate() {
                write_table(bytes, slots + 4 * number, fields);
            }
        }
        Value::Pairs(pairs) => {
            // The structs are aligned, not their count.
            align(bytes, 8, 4);
            point_here(bytes, slot);
            bytes.extend((pairs.len() as u32).to_le_bytes());
            bytes.extend(pairs.iter().flatten().flat_map(|number| number.to_le_bytes()));
        }
        Value::None | Value::U8(_) | Value::I16(_) | Value::I32(_) | Value::I64(_) => {}
    }
}

/// A table in bytes that may be anything: what does not lie within them is not there.
#[derive(Clone, Copy)]
pub(super) struct Table<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Table<'b> {
    /// The root of a buffer.
    pub(super) fn root(bytes: &'b [u8]) -> Option<Self> {
        Self::pointed(bytes, 0)
    }

    fn pointed(bytes: &'b [u8], slot: usize) -> Option<Self> {
        let at = target(bytes, slot)?;
        let table = Self { bytes, at };
        table.vtable().map(|_| table)
    }

    fn vtable(&self) -> Option<usize> {
        let back = i32::from_le_bytes(get(self.bytes, self.at)?);
        let vtable = usize::try_from(i64::try_from(self.at).ok()? - i64::from(back)).ok()?;
        get::<2>(self.bytes, vtable).map(|_| vtable)
    }

    /// The position of a field's value; `None` where it has its default.
    fn place(&self, field: usize) -> Option<usize> {
        let vtable = self.vtable()?;
        let len = usize::from(u16::from_le_bytes(get(self.bytes, vtable)?));
        let entry = 4 + 2 * field;
        if entry + 2 > len {
            return None;
        }
        match u16::from_le_bytes(get(self.bytes, vtable + entry)?) {
            0 => None,
            offset => Some(self.at + usize::from(offset)),
        }
    }

    pub(super) fn u8(&self, field: usize) -> u8 {
        self.place(field).and_then(|at| get::<1>(self.bytes, at)).map_or(0, |[byte]| byte)
    }

    pub(super) fn i16(&self, field: usize) -> i16 {
        self.place(field).and_then(|at| get(self.bytes, at)).map_or(0, i16::from_le_bytes)
    }

    pub(super) fn i32(&self, field: usize) -> i32 {
        self.place(field).and_then(|at| get(self.bytes, at)).map_or(0, i32::from_le_bytes)
    }

    pub(super) fn i64(&self, field: usize) -> i64 {
        self.place(field).and_then(|at| get(self.bytes, at)).map_or(0, i64::from_le_bytes)
    }

    pub(super) fn table(&self, field: usize) -> Option<Self> {
        Self::pointed(self.bytes, self.place(field)?)
    }

    /// A text; `None` where it is missing or not UTF-8.
    pub(super) fn text(&self, field: usize) -> Option<&'b str> {
        let (start, len) = self.vector(field, 1)?;
        std::str::from_utf8(&self.bytes[start..start + len]).ok()
    }

    /// Where a text stands in the bytes.
    pub(super) fn place_of_text(&self, field: usize) -> Option<Range<usize>> {
        self.vector(field, 1).map(|(start, len)| start..start + len)
    }

    /// The tables of a vector; those that lie outside are left out.
    pub(super) fn tables(&self, field: usize) -> impl Iterator<Item = Self> + use<'b> {
        let bytes = self.bytes;
        let (start, len) = self.vector(field, 4).unwrap_or((0, 0));
        (0..len).filter_map(move |number| Self::pointed(bytes, start + 4 * number))
    }

    /// Structs of two 64-bit integers.
    pub(super) fn pairs(&self, field: usize) -> impl Iterator<Item = [i64; 2]> + use<'b> {
        let (start, len) = self.vector(field, 16).unwrap_or((0, 0));
        let pairs = self.bytes[start..start + 16 * len].as_chunks::<8>().0.as_chunks::<2>().0;
        pairs.iter().map(|pair| pair.map(i64::from_le_bytes))
    }

    /// 64-bit integers.
    pub(super) fn numbers(&self, field: usize) -> impl Iterator<Item = i64> + use<'b> {
        let (start, len) = self.vector(field, 8).unwrap_or((0, 0));
        let numbers = self.bytes[start..start + 8 * len].as_chunks::<8>().0;
        numbers.iter().map(|number| i64::from_le_bytes(*number))
    }

    /// Start and length of a vector that lies within the bytes as a whole.
    fn vector(&self, field: usize, size: usize) -> Option<(usize, usize)> {
        let at = target(self.bytes, self.place(field)?)?;
        let len = u32::from_le_bytes(get(self.bytes, at)?) as usize;
        let end = len.checked_mul(size)?.checked_add(at + 4)?;
        (end <= self.bytes.len()).then_some((at + 4, len))
    }
}

/// Where the offset at `slot` points to.
fn target(bytes: &[u8], slot: usize) -> Option<usize> {
    slot.checked_add(u32::from_le_bytes(get(bytes, slot)?) as usize)
}

fn get<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    fn example() -> Vec<u8> {
        encode(&[
            Value::U8(7),
            Value::None,
            Value::I64(-5),
            Value::Text("näh".to_owned()),
            Value::Tables(vec![
                vec![Value::I32(1)],
                vec![Value::I16(-2), Value::Text(String::new())],
            ]),
            Value::Pairs(vec![[1, 2], [3, -4]]),
            Value::Table(vec![]),
        ])
    }

    #[test]
    fn a_table_reads_back_as_it_was_written() {
        let bytes = example();
        assert_eq!(bytes.len() % 8, 0);
        let root = Table::root(&bytes).unwrap();
        assert_eq!((root.u8(0), root.i64(1), root.i64(2), root.i32(99)), (7, 0, -5, 0));
        assert_eq!(root.text(3), Some("näh"));
        let tables: Vec<_> = root.tables(4).map(|table| (table.i32(0), table.text(1))).collect();
        assert_eq!((tables.len(), tables[0]), (2, (1, None)));
        assert_eq!(
            root.tables(4).nth(1).map(|table| (table.i16(0), table.text(1))),
            Some((-2, Some("")))
        );
        assert_eq!(root.pairs(5).collect::<Vec<_>>(), [[1, 2], [3, -4]]);
        assert!(root.table(6).is_some() && root.table(1).is_none());
        assert_eq!((root.text(1), root.pairs(1).count(), root.numbers(1).count()), (None, 0, 0));
    }

    #[test]
    fn values_are_aligned() {
        let bytes = example();
        let root = Table::root(&bytes).unwrap();
        assert_eq!(root.place(2).map(|at| at % 8), Some(0));
        assert_eq!(root.vector(5, 16).map(|(start, _)| start % 8), Some(0));
    }

    #[test]
    fn damage_is_no_panic() {
        let whole = example();
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                for cut in [bytes.len(), at] {
                    let Some(root) = Table::root(&bytes[..cut]) else { continue };
                    root.tables(4).for_each(|table| {
                        black_box((table.i32(0), table.text(1)));
                    });
                    black_box((root.pairs(5).count(), root.text(3), root.table(6).is_some()));
                }
            }
        }
    }
}
