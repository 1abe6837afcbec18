//! Vegeta's JSON lines: one object a row, keys in Vegeta's order, times as RFC 3339 in local time. Reading tolerates missing
//! keys, unknown keys, nulls, and a last line without its end.

use std::borrow::Cow;
use std::fmt;
use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use metrics::server;
use metrics::{Batch, Generator, Sample, TargetTable};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::fill::{Filler, Row};
use crate::headers::{HeaderLines, grouped};
use crate::labels::TargetRef;
use crate::source::Records;
use crate::write::{Bodies, Output, unix_ns};
use crate::zone::{self, Zone};
use crate::{WriteError, Writer};

/// Writes Vegeta's JSON lines.
pub(crate) struct JsonWriter {
    output: Output,
    attack: String,
    zone: Zone,
    /// What stands for an empty body.
    empty_body: &'static [u8],
    line: Vec<u8>,
}

impl JsonWriter {
    pub(crate) fn new(output: Output, attack: &str, zone: Zone) -> Self {
        Self { output, attack: attack.to_owned(), zone, empty_body: b"null", line: Vec::new() }
    }

    /// The same for rows that come from such a kind of stream.
    pub(crate) fn for_bodies(self, bodies: Bodies) -> Self {
        let empty_body: &[u8] = match bodies {
            Bodies::MayBeMissing => b"null",
            Bodies::Present => b"\"\"",
        };
        Self { empty_body, ..self }
    }

    fn write_row(
        &mut self,
        sample: &Sample,
        batch: &Batch,
        targets: &TargetTable,
    ) -> Result<(), WriteError> {
        let target = TargetRef::of(sample, batch, targets, &self.attack);
        let line = &mut self.line;
        line.clear();
        line.extend_from_slice(b"{\"attack\":");
        write_text(line, target.attack.as_bytes());
        write!(
            line,
            ",\"seq\":{},\"code\":{},\"timestamp\":\"",
            sample.seq,
            sample.outcome.code()
        )?;
        self.zone.write(unix_ns(batch, sample), line)?;
        write!(line, "\",\"latency\":{}", sample.response().0)?;
        write!(line, ",\"bytes_out\":{},\"bytes_in\":{}", sample.bytes_out, sample.bytes_in)?;
        line.extend_from_slice(b",\"error\":");
        write_text(line, batch.text(sample.error));
        line.extend_from_slice(b",\"body\":");
        match batch.text(sample.body) {
            b"" => line.extend_from_slice(self.empty_body),
            body => write!(line, "\"{}\"", STANDARD.encode(body))?,
        }
        line.extend_from_slice(b",\"method\":");
        write_text(line, target.method.as_bytes());
        line.extend_from_slice(b",\"url\":");
        write_text(line, target.url.as_bytes());
        line.extend_from_slice(b",\"headers\":");
        write_headers(line, batch.text(sample.headers));
        line.extend_from_slice(b"}\n");
        Ok(self.output.write_all(line)?)
    }
}

impl Writer for JsonWriter {
    fn batch(&mut self, batch: &Batch, targets: &TargetTable) -> Result<(), WriteError> {
        batch.samples.iter().try_for_each(|sample| self.write_row(sample, batch, targets))
    }

    fn generator(&mut self, _generator: &Generator) -> Result<(), WriteError> {
        Ok(())
    }

    fn server(&mut self, _row: &server::Row) -> Result<(), WriteError> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        Ok(self.output.flush()?)
    }

    fn finish(mut self: Box<Self>) -> Result<u64, WriteError> {
        Ok(self.output.finish()?)
    }
}

fn write_headers(line: &mut Vec<u8>, lines: &[u8]) {
    let groups = grouped(lines);
    if groups.is_empty() {
        return line.extend_from_slice(b"null");
    }
    for (i, (name, values)) in groups.iter().enumerate() {
        line.push(if i == 0 { b'{' } else { b',' });
        write_text(line, name);
        line.push(b':');
        for (j, value) in values.iter().enumerate() {
            line.push(if j == 0 { b'[' } else { b',' });
            write_text(line, value);
        }
        line.push(b']');
    }
    line.push(b'}');
}

/// A JSON string as Vegeta's encoder writes it: `&<>`, U+2028 and U+2029 escaped, bytes that are no UTF-8 as U+FFFD.
fn write_text(line: &mut Vec<u8>, text: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    line.push(b'"');
    for c in String::from_utf8_lossy(text).chars() {
        match c {
            '"' => line.extend_from_slice(b"\\\""),
            '\\' => line.extend_from_slice(b"\\\\"),
            '\n' => line.extend_from_slice(b"\\n"),
            '\r' => line.extend_from_slice(b"\\r"),
            '\t' => line.extend_from_slice(b"\\t"),
            '\0'..'\x20' | '&' | '<' | '>' => {
                let byte = c as usize;
                line.extend_from_slice(b"\\u00");
                line.extend_from_slice(&[HEX[byte >> 4], HEX[byte & 15]]);
            }
            '\u{2028}' => line.extend_from_slice(b"\\u2028"),
            '\u{2029}' => line.extend_from_slice(b"\\u2029"),
            _ => line.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    line.push(b'"');
}

/// A line as Vegeta writes it. Whatever is missing or null is zero.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    attack: Option<Cow<'a, str>>,
    seq: Option<u64>,
    code: Option<u16>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    latency: Option<i64>,
    bytes_out: Option<u64>,
    bytes_in: Option<u64>,
    error: Option<Cow<'a, str>>,
    body: Option<Cow<'a, str>>,
    method: Option<Cow<'a, str>>,
    url: Option<Cow<'a, str>>,
    headers: Option<Fields>,
}

/// Header fields, read straight into lines: `{"Name":["value"]}`.
struct Fields(HeaderLines);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("header fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Fields, A::Error> {
        let mut lines = HeaderLines::default();
        while let Some(name) = fields.next_key::<String>()? {
            fields.next_value_seed(Values { name: &name, lines: &mut lines })?;
        }
        Ok(Fields(lines))
    }
}

/// The values of a field: a list of texts, or null.
struct Values<'a> {
    name: &'a str,
    lines: &'a mut HeaderLines,
}

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of texts")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        while let Some(value) = values.next_element::<Cow<'_, str>>()? {
            self.lines.add(self.name.as_bytes(), value.as_bytes());
        }
        Ok(())
    }
}

/// Reads Vegeta's JSON lines.
#[derive(Default)]
pub(crate) struct JsonRecords {
    body: Vec<u8>,
}

/// Whether this line is a row: an object with at least one key that only results have.
pub(crate) fn is_row(line: &[u8]) -> bool {
    serde_json::from_slice::<Line<'_>>(line).is_ok_and(|row| {
        row.timestamp.is_some() || row.latency.is_some() || row.code.is_some() || row.seq.is_some()
    })
}

impl Records for JsonRecords {
    fn take(
        &mut self,
        bytes: &[u8],
        ended: bool,
        filler: &mut Filler<'_>,
    ) -> Result<Option<usize>, String> {
        let (line, len) = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(at) => (&bytes[..at], at + 1),
            None if ended => (bytes, bytes.len()),
            None => return Ok(None),
        };
        if line.trim_ascii().is_empty() {
            return Ok(Some(len));
        }
        match serde_json::from_slice::<Line<'_>>(line) {
            Ok(row) => self.push(&row, filler)?,
            // A last line without its end that is no object was cut off; that is a loss, not an error.
            Err(error) if len == line.len() && error.is_eof() => return Ok(None),
            Err(error) => return Err(error.to_string()),
        }
        Ok(Some(len))
    }
}

impl JsonRecords {
    fn push(&mut self, row: &Line<'_>, filler: &mut Filler<'_>) -> Result<(), String> {
        let timestamp = match row.timestamp.as_deref() {
            None => 0,
            Some(text) => {
                zone::parse(text).ok_or_else(|| format!("timestamp \"{text}\" is not RFC 3339"))?
            }
        };
        self.body.clear();
        if let Some(body) = row.body.as_deref() {
            let decoded = STANDARD.decode_vec(body, &mut self.body);
            decoded.map_err(|error| format!("body: {error}"))?;
        }
        let seq = row.seq.unwrap_or(0);
        let headers = row.headers.as_ref().map_or(Ok(&[][..]), |fields| fields.0.whole(seq))?;
        filler.push(&Row {
            seq,
            code: row.code.unwrap_or(0),
            timestamp,
            latency: row.latency.unwrap_or(0),
            bytes_out: row.bytes_out.unwrap_or(0),
            bytes_in: row.bytes_in.unwrap_or(0),
            error: text(row.error.as_ref()),
            body: &self.body,
            attack: text(row.attack.as_ref()),
            method: text(row.method.as_ref()),
            url: text(row.url.as_ref()),
            headers,
        });
        Ok(())
    }
}

fn text<'a>(text: Option<&'a Cow<'_, str>>) -> &'a [u8] {
    text.map_or(b"", |text| text.as_bytes())
}
