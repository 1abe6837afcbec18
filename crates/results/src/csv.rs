//! Vegeta's CSV: twelve columns, no header: timestamp (ns), code, latency (ns), bytes out, bytes in, error, body (base64),
//! attack, seq, method, URL, headers (base64 of header lines). RFC 4180, quoted only where needed, lines end in `\n`.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use metrics::server;
use metrics::{Batch, Generator, Sample, TargetTable};

use crate::fill::{Filler, Row};
use crate::headers::{add_line, grouped};
use crate::labels::TargetRef;
use crate::source::Records;
use crate::write::{Output, unix_ns};
use crate::{WriteError, Writer};

/// Columns of a row.
const COLUMNS: usize = 12;

/// Writes Vegeta's CSV.
pub(crate) struct CsvWriter {
    output: Output,
    attack: String,
    line: Vec<u8>,
}

impl CsvWriter {
    pub(crate) fn new(output: Output, attack: &str) -> Self {
        Self { output, attack: attack.to_owned(), line: Vec::new() }
    }
}

impl Writer for CsvWriter {
    fn batch(&mut self, batch: &Batch, targets: &TargetTable) -> Result<(), WriteError> {
        for sample in &batch.samples {
            let target = TargetRef::of(sample, batch, targets, &self.attack);
            self.line.clear();
            write_row(&mut self.line, sample, batch, target)?;
            self.output.write_all(&self.line)?;
        }
        Ok(())
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

fn write_row(
    line: &mut Vec<u8>,
    sample: &Sample,
    batch: &Batch,
    target: TargetRef<'_>,
) -> Result<(), WriteError> {
    let (time, latency) = (unix_ns(batch, sample), sample.response().0);
    write!(
        line,
        "{time},{},{latency},{},{},",
        sample.outcome.code(),
        sample.bytes_out,
        sample.bytes_in
    )?;
    write_field(line, batch.text(sample.error));
    line.push(b',');
    write_base64(line, batch.text(sample.body));
    line.push(b',');
    write_field(line, target.attack.as_bytes());
    write!(line, ",{},", sample.seq)?;
    write_field(line, target.method.as_bytes());
    line.push(b',');
    write_field(line, target.url.as_bytes());
    line.push(b',');
    let mut block = Vec::new();
    for (name, values) in grouped(batch.text(sample.headers)) {
        values.iter().for_each(|value| add_line(&mut block, &name, value));
    }
    if !block.is_empty() {
        block.extend_from_slice(b"\r\n");
    }
    write_base64(line, &block);
    line.push(b'\n');
    Ok(())
}

fn write_base64(line: &mut Vec<u8>, bytes: &[u8]) {
    if !bytes.is_empty() {
        line.extend_from_slice(STANDARD.encode(bytes).as_bytes());
    }
}

/// As Go's `encoding/csv` does: quoted with a comma, a quote, a line break, a space in front, or as the text `\.`.
fn write_field(line: &mut Vec<u8>, field: &[u8]) {
    let special = |byte: &u8| matches!(byte, b',' | b'"' | b'\r' | b'\n');
    let starts_with_space =
        || String::from_utf8_lossy(field).chars().next().is_some_and(char::is_whitespace);
    if field != b"\\." && !field.iter().any(special) && !starts_with_space() {
        return line.extend_from_slice(field);
    }
    line.push(b'"');
    for byte in field {
        if *byte == b'"' {
            line.push(b'"');
        }
        line.push(*byte);
    }
    line.push(b'"');
}

/// Reads Vegeta's CSV.
#[derive(Default)]
pub(crate) struct CsvRecords {
    /// The record's fields, unquoted, one after the other, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
    body: Vec<u8>,
    headers: Vec<u8>,
}

/// Whether the first record is a row of Vegeta's; `None` where it is not whole yet.
pub(crate) fn is_row(bytes: &[u8], ended: bool) -> Option<bool> {
    let mut records = CsvRecords::default();
    let split = records.split(bytes, ended)?;
    Some(split.is_ok() && records.row().is_ok())
}

impl Records for CsvRecords {
    fn take(
        &mut self,
        bytes: &[u8],
        ended: bool,
        filler: &mut Filler<'_>,
    ) -> Result<Option<usize>, String> {
        let blank = bytes.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        if blank > 0 {
            return Ok(Some(blank));
        }
        let Some(len) = self.split(bytes, ended).transpose()? else { return Ok(None) };
        match self.row() {
            Ok(row) => filler.push(&row),
            // A last line without its end that is no row was cut off; that is a loss, not an error.
            Err(_) if ended && len == bytes.len() && !bytes.ends_with(b"\n") => return Ok(None),
            Err(reason) => return Err(reason),
        }
        Ok(Some(len))
    }
}

impl CsvRecords {
    /// Splits the first record into fields; returns its length with the line's end, or `None` where it is incomplete.
    fn split(&mut self, bytes: &[u8], ended: bool) -> Option<Result<usize, String>> {
        self.text.clear();
        self.ends.clear();
        let mut quoted = false;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match (quoted, byte) {
                (true, b'"') if bytes.get(at + 1) == Some(&b'"') => {
                    self.text.push(b'"');
                    at += 1;
                }
                (_, b'"') => quoted = !quoted,
                (false, b',') => self.ends.push(self.text.len()),
                (false, b'\n') => return Some(self.end(at + 1)),
                (false, b'\r') if bytes.get(at + 1) == Some(&b'\n') => {}
                _ => self.text.push(byte),
            }
            if self.ends.len() >= COLUMNS {
                return Some(Err(format!("more than {COLUMNS} columns")));
            }
            at += 1;
        }
        (ended && !quoted).then(|| self.end(at))
    }

    fn end(&mut self, len: usize) -> Result<usize, String> {
        self.ends.push(self.text.len());
        Ok(len)
    }

    fn row(&mut self) -> Result<Row<'_>, String> {
        if self.ends.len() != COLUMNS {
            return Err(format!("{} columns (expected {COLUMNS})", self.ends.len()));
        }
        let mut fields = [&b""[..]; COLUMNS];
        let mut start = 0;
        for (field, &end) in fields.iter_mut().zip(&self.ends) {
            *field = &self.text[start..end];
            start = end;
        }
        self.body.clear();
        let body = STANDARD.decode_vec(fields[6], &mut self.body);
        body.map_err(|error| format!("column 7 (body): {error}"))?;
        let mut block = Vec::new();
        let headers = STANDARD.decode_vec(fields[11], &mut block);
        headers.map_err(|error| format!("column 12 (headers): {error}"))?;
        self.headers =
            block.strip_suffix(b"\r\n\r\n").map(|lines| [lines, b"\r\n"].concat()).unwrap_or(block);
        Ok(Row {
            timestamp: number(fields[0], "1 (timestamp)")?,
            code: number(fields[1], "2 (code)")?,
            latency: number(fields[2], "3 (latency)")?,
            bytes_out: number(fields[3], "4 (bytes out)")?,
            bytes_in: number(fields[4], "5 (bytes in)")?,
            error: fields[5],
            body: &self.body,
            attack: fields[7],
            seq: number(fields[8], "9 (seq)")?,
            method: fields[9],
            url: fields[10],
            headers: &self.headers,
        })
    }
}

fn number<T: std::str::FromStr>(field: &[u8], column: &str) -> Result<T, String> {
    let text = String::from_utf8_lossy(field);
    text.parse().map_err(|_| format!("column {column}: \"{text}\" is no number that fits"))
}
