//! Reads Vegeta's gob streams, one after the other if need be: a type described again replaces the one before.

use std::collections::HashMap;

use super::YEAR_1_TO_1970_S;
use super::types::Bad;
use super::types::{BOOL, BYTES, COMPLEX, Cursor, FLOAT, INT, STRING, Type, UINT};
use crate::fill::{Filler, Row};
use crate::headers::HeaderLines;
use crate::source::{RECORD_MAX, Records};

/// Types a stream may describe; Vegeta's describes 4.
const TYPES_MAX: usize = 256;
/// How deep a value of a type we skip may nest.
const DEPTH_MAX: u32 = 16;

/// The fields of Vegeta's `Result`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Attack,
    Seq,
    Code,
    Timestamp,
    Latency,
    BytesOut,
    BytesIn,
    Error,
    Body,
    Method,
    Url,
    Headers,
    Unknown,
}

/// The state of a gob stream.
#[derive(Default)]
pub(crate) struct GobRecords {
    types: HashMap<i64, Type>,
    /// The struct last read, and what its fields are to us.
    result: Option<(i64, Vec<(Field, i64)>)>,
    headers: HeaderLines,
}

/// Whether the bytes begin as a gob stream of results does: with the description of a type.
pub(crate) fn is_start(bytes: &[u8]) -> bool {
    let Ok(Some((message, _))) = message(bytes) else { return false };
    let mut cursor = Cursor { rest: message };
    matches!(cursor.int(), Ok(id) if id < 0) && cursor.wire_type().is_ok() && cursor.rest.is_empty()
}

/// The first message and how many bytes it takes with its length; `None` where it is not whole.
fn message(bytes: &[u8]) -> Result<Option<(&[u8], usize)>, String> {
    let Some(first) = bytes.first() else { return Ok(None) };
    let head = if *first < 0x80 { 1 } else { 1 + usize::from(first.wrapping_neg()) };
    if head > 9 {
        return Err("a message length that is none".to_owned());
    }
    let mut cursor = Cursor { rest: bytes };
    let Ok(len) = cursor.uint() else { return Ok(None) };
    if len == 0 || len > RECORD_MAX as u64 {
        return Err(format!("a message of {len} bytes (limit {RECORD_MAX})"));
    }
    Ok(cursor.take(len).ok().map(|message| (message, head + message.len())))
}

impl Records for GobRecords {
    fn take(
        &mut self,
        bytes: &[u8],
        _ended: bool,
        filler: &mut Filler<'_>,
    ) -> Result<Option<usize>, String> {
        let Some((message, len)) = message(bytes)? else { return Ok(None) };
        let mut cursor = Cursor { rest: message };
        let id = cursor.int().map_err(|Bad| "a message without a type".to_owned())?;
        if id < 0 {
            self.describe(id.saturating_neg(), &mut cursor)?;
        } else {
            self.value(id, cursor, filler)?;
        }
        Ok(Some(len))
    }
}

impl GobRecords {
    fn describe(&mut self, id: i64, cursor: &mut Cursor<'_>) -> Result<(), String> {
        let found =
            cursor.wire_type().map_err(|Bad| "a type description that is none".to_owned())?;
        if self.types.len() >= TYPES_MAX && !self.types.contains_key(&id) {
            return Err(format!("more than {TYPES_MAX} types"));
        }
        self.types.insert(id, found);
        self.result = None;
        Ok(())
    }

    fn value(
        &mut self,
        id: i64,
        cursor: Cursor<'_>,
        filler: &mut Filler<'_>,
    ) -> Result<(), String> {
        if self.result.as_ref().is_none_or(|(known, _)| *known != id) {
            self.result = Some((id, self.plan(id)?));
        }
        let Self { types, result, headers } = self;
        let Some((_, plan)) = result else { return Ok(()) };
        headers.clear();
        let mut row = Row::default();
        read_row(plan, types, cursor, (&mut row, headers))
            .map_err(|Bad| "a result that does not match its type".to_owned())?;
        filler.push(&Row { headers: headers.whole(row.seq)?, ..row });
        Ok(())
    }

    /// What the fields of this struct are to us.
    fn plan(&self, id: i64) -> Result<Vec<(Field, i64)>, String> {
        let Some(Type::Struct(fields)) = self.types.get(&id) else {
            return Err("a value that is no struct".to_owned());
        };
        let mut plan = Vec::with_capacity(fields.len());
        for (name, of) in fields {
            let (field, expected) = self.known(name, *of);
            if !expected {
                return Err(format!("field {name} has a type that is not Vegeta's"));
            }
            plan.push((field, *of));
        }
        let has = |field| plan.iter().any(|(known, _)| *known == field);
        if has(Field::Timestamp) && has(Field::Latency) {
            Ok(plan)
        } else {
            Err("a struct that is no result (no Timestamp, no Latency)".to_owned())
        }
    }

    /// The field of this name, and whether its type is the one it must have.
    fn known(&self, name: &str, of: i64) -> (Field, bool) {
        match name {
            "Attack" => (Field::Attack, of == STRING),
            "Seq" => (Field::Seq, of == UINT),
            "Code" => (Field::Code, of == UINT),
            "Timestamp" => (Field::Timestamp, self.types.get(&of) == Some(&Type::Opaque)),
            "Latency" => (Field::Latency, of == INT),
            "BytesOut" => (Field::BytesOut, of == UINT),
            "BytesIn" => (Field::BytesIn, of == UINT),
            "Error" => (Field::Error, of == STRING),
            "Body" => (Field::Body, of == BYTES),
            "Method" => (Field::Method, of == STRING),
            "URL" => (Field::Url, of == STRING),
            // Its type may be described later, but before the first value that has one.
            "Headers" => (Field::Headers, true),
            _ => (Field::Unknown, true),
        }
    }
}

/// Reads a row to the end of its message. The cursor is handed over and handed back, never lent, and what has to lend it is not inlined
/// (`read_headers`, `skipped`): so it stays in registers. Lent, it was loaded and stored for each field.
fn read_row<'a>(
    plan: &[(Field, i64)],
    types: &HashMap<i64, Type>,
    mut cursor: Cursor<'a>,
    (row, headers): (&mut Row<'a>, &mut HeaderLines),
) -> Result<(), Bad> {
    let mut last = 0;
    while let Some(number) = cursor.field_after(last)? {
        last = number;
        let place = usize::try_from(number - 1).map_err(|_| Bad)?;
        let &(field, of) = plan.get(place).ok_or(Bad)?;
        match field {
            Field::Attack => row.attack = cursor.bytes()?,
            Field::Seq => row.seq = cursor.uint()?,
            Field::Code => row.code = u16::try_from(cursor.uint()?).map_err(|_| Bad)?,
            Field::Timestamp => row.timestamp = read_time(cursor.bytes()?)?,
            Field::Latency => row.latency = cursor.int()?,
            Field::BytesOut => row.bytes_out = cursor.uint()?,
            Field::BytesIn => row.bytes_in = cursor.uint()?,
            Field::Error => row.error = cursor.bytes()?,
            Field::Body => row.body = cursor.bytes()?,
            Field::Method => row.method = cursor.bytes()?,
            Field::Url => row.url = cursor.bytes()?,
            Field::Headers => cursor = read_headers(of, types, cursor, headers)?,
            Field::Unknown => cursor = skipped(of, types, cursor)?,
        }
    }
    if cursor.rest.is_empty() { Ok(()) } else { Err(Bad) }
}

/// Go's `time.MarshalBinary`, versions 1 and 2: seconds since year 1, nanoseconds, and an offset that does not change
/// the instant.
fn read_time(bytes: &[u8]) -> Result<i64, Bad> {
    let (version, rest) = bytes.split_first().ok_or(Bad)?;
    let (seconds, rest) = rest.split_first_chunk::<8>().ok_or(Bad)?;
    let (nanos, zone) = rest.split_first_chunk::<4>().ok_or(Bad)?;
    if !matches!((version, zone.len()), (1, 2) | (2, 3)) {
        return Err(Bad);
    }
    let seconds = i64::from_be_bytes(*seconds).saturating_sub(YEAR_1_TO_1970_S);
    let nanos = i32::from_be_bytes(*nanos);
    // Beyond the years 1677 and 2262 the nearest time there is, to a second.
    Ok(seconds.saturating_mul(1_000_000_000).saturating_add(nanos.into()))
}

/// A `map[string][]string`, as lines; returns what follows it.
#[inline(never)]
fn read_headers<'a>(
    of: i64,
    types: &HashMap<i64, Type>,
    mut cursor: Cursor<'a>,
    lines: &mut HeaderLines,
) -> Result<Cursor<'a>, Bad> {
    let Some(&Type::Map(STRING, values)) = types.get(&of) else { return Err(Bad) };
    if types.get(&values) != Some(&Type::Slice(STRING)) {
        return Err(Bad);
    }
    for _ in 0..cursor.uint()? {
        let name = cursor.bytes()?;
        for _ in 0..cursor.uint()? {
            lines.add(name, cursor.bytes()?);
        }
    }
    Ok(cursor)
}

/// What follows a value of any type.
#[inline(never)]
fn skipped<'a>(
    of: i64,
    types: &HashMap<i64, Type>,
    mut cursor: Cursor<'a>,
) -> Result<Cursor<'a>, Bad> {
    skip(of, types, &mut cursor, DEPTH_MAX)?;
    Ok(cursor)
}

/// Steps over a value of any type.
fn skip(
    of: i64,
    types: &HashMap<i64, Type>,
    cursor: &mut Cursor<'_>,
    depth: u32,
) -> Result<(), Bad> {
    let depth = depth.checked_sub(1).ok_or(Bad)?;
    match of {
        BOOL | INT | UINT | FLOAT => return cursor.uint().map(|_| ()),
        BYTES | STRING => return cursor.bytes().map(|_| ()),
        COMPLEX => return cursor.uint().and_then(|_| cursor.uint()).map(|_| ()),
        _ => {}
    }
    match types.get(&of).ok_or(Bad)? {
        Type::Opaque => cursor.bytes().map(|_| ()),
        Type::Slice(elem) => {
            for _ in 0..cursor.uint()? {
                skip(*elem, types, cursor, depth)?;
            }
            Ok(())
        }
        Type::Map(key, elem) => {
            for _ in 0..cursor.uint()? {
                skip(*key, types, cursor, depth)?;
                skip(*elem, types, cursor, depth)?;
            }
            Ok(())
        }
        Type::Struct(fields) => cursor.fields(|number, cursor| {
            let field = usize::try_from(number).ok().and_then(|i| fields.get(i)).ok_or(Bad)?;
            skip(field.1, types, cursor, depth)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_with_any_offset() {
        let mut bytes = [1, 0, 0, 0, 0x0e, 0xdc, 0xe5, 0xe8, 0, 0x07, 0x5b, 0xcd, 0x15, 0xff, 0xff];
        assert_eq!(read_time(&bytes), Ok(1_700_000_000_123_456_789));
        bytes[13..].copy_from_slice(&[0, 120]);
        assert_eq!(read_time(&bytes), Ok(1_700_000_000_123_456_789));
        assert_eq!(read_time(&bytes[..14]), Err(Bad));
        for (first, end) in [(0x7f, i64::MAX), (0x80, i64::MIN)] {
            let mut far = bytes;
            far[1..9].fill(if first == 0x7f { 0xff } else { 0 });
            far[1] = first;
            let time = read_time(&far).unwrap();
            assert!(time.abs_diff(end) <= 1_000_000_000, "{time}");
        }
        bytes[0] = 9;
        assert_eq!(read_time(&bytes), Err(Bad));
    }

    #[test]
    fn a_row_goes_on_behind_a_field_that_is_not_vegetas() {
        let types = HashMap::from([(70, Type::Slice(UINT))]);
        let plan = [(Field::Unknown, 70), (Field::Code, UINT)];
        let code = |bytes: &[u8]| {
            let (mut row, mut headers) = (Row::default(), HeaderLines::default());
            read_row(&plan, &types, Cursor { rest: bytes }, (&mut row, &mut headers))?;
            Ok(row.code)
        };
        assert_eq!(code(&[1, 2, 7, 8, 1, 0xff, 200, 0]), Ok(200));
        // Cut off in the list, without an end, with bytes after it, beyond the fields, and far beyond them.
        let far = [0xf8, 255, 255, 255, 255, 255, 255, 255, 255, 0];
        for bytes in [&[1, 2, 7][..], &[2, 1], &[2, 1, 0, 0], &[3, 1, 0], &far] {
            assert_eq!(code(bytes), Err(Bad), "{bytes:?}");
        }
    }

    #[test]
    fn text_is_no_start() {
        for bytes in [
            &b"{\"seq\":0}"[..],
            b"1700000000,200",
            b"",
            b"\xff\xff\xff\xff\x10\0\0\0",
            b"GET http://h/",
        ] {
            assert!(!is_start(bytes), "{bytes:?}");
        }
    }
}
