//! `JtlRecords`: JMeter's CSV, row by row.

use super::columns::{Column, Columns};
use super::judge::Ending;
use super::moment::{Moments, whole};
use super::row::JtlRow;
use super::split::Split;
use super::sub_results::{RowPlace, SubResults};
use crate::fill::Filler;
use crate::source::Records;

/// Reads JMeter's CSV.
#[derive(Default)]
pub(crate) struct JtlRecords {
    columns: Option<Columns>,
    split: Split,
    moments: Moments,
    sub_results: SubResults,
    /// Lines before the next record.
    lines: u64,
    /// Samples so far.
    samples: u64,
}

impl Records for JtlRecords {
    fn take(
        &mut self,
        bytes: &[u8],
        ended: bool,
        filler: &mut Filler<'_>,
    ) -> Result<Option<usize>, String> {
        let Some(columns) = self.columns else { return self.begin(bytes, ended) };
        let Some(len) = self.split.record(bytes, columns.delimiter, ended) else {
            return Ok(None);
        };
        let record = Record { columns: &columns, split: &self.split, bytes };
        if !record.is_blank() && !record.is_header() {
            let line = self.lines + 1;
            let row = match record.row(&mut self.moments) {
                Ok(row) => row,
                // A last line without its end that is no row was cut off; that is a loss, not an error.
                Err(_) if ended && len == bytes.len() && !bytes.ends_with(b"\n") => {
                    return Ok(None);
                }
                Err(reason) => return Err(format!("line {line}: {reason}")),
            };
            let place = RowPlace {
                thread: record.field(Column::ThreadName),
                label: row.label,
                message: row.said.message,
                start: row.start,
                end: row.end(),
            };
            if !self.sub_results.repeats(&place) {
                row.push(self.samples, filler);
                self.samples += 1;
            }
        }
        self.lines += self.split.lines;
        Ok(Some(len))
    }

    fn lost(&mut self, bytes: usize) -> Option<String> {
        let lost = stdx::counted(bytes as u64, "byte");
        let line = self.lines + 1;
        (bytes > 0).then(|| format!("cut off in its last record (line {line}, {lost} lost)"))
    }
}

impl JtlRecords {
    /// Takes in the first line, which names the columns, or is a row of the default ones.
    fn begin(&mut self, bytes: &[u8], ended: bool) -> Result<Option<usize>, String> {
        let blank = bytes.len() - bytes.trim_ascii_start().len();
        if blank > 0 {
            return Ok(Some(blank));
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let Some(len) = end.map(|at| at + 1).or(ended.then_some(bytes.len())) else {
            return Ok(None);
        };
        let line = bytes[..len].trim_ascii_end();
        let columns = Columns::of_first_line(line).ok_or("line 1: no header of JMeter's")?;
        for (column, name) in [(Column::TimeStamp, "timeStamp"), (Column::Elapsed, "elapsed")] {
            if columns.place(column).is_none() {
                return Err(format!("line 1: no column {name}, which results need"));
            }
        }
        self.columns = Some(columns);
        self.lines = u64::from(columns.is_named);
        Ok(Some(if columns.is_named { len } else { 0 }))
    }
}

/// One record in its fields.
#[derive(Clone, Copy)]
struct Record<'a> {
    columns: &'a Columns,
    split: &'a Split,
    bytes: &'a [u8],
}

impl<'a> Record<'a> {
    fn field(&self, column: Column) -> &'a [u8] {
        self.columns.place(column).map_or(b"", |place| self.split.field(self.bytes, place))
    }

    fn is_blank(&self) -> bool {
        self.split.len() == 1 && self.split.field(self.bytes, 0).trim_ascii().is_empty()
    }

    /// Files that were put together have their headers between rows.
    fn is_header(&self) -> bool {
        self.field(Column::TimeStamp) == b"timeStamp" && self.field(Column::Elapsed) == b"elapsed"
    }

    fn row(&self, moments: &mut Moments) -> Result<JtlRow<'a>, String> {
        let (found, expected) = (self.split.len(), self.columns.count);
        if found != expected {
            return Err(format!("{} (expected {expected})", stdx::counted(found as u64, "column")));
        }
        let time = self.field(Column::TimeStamp);
        let start = moments
            .unix_ns(time)
            .ok_or_else(|| format!("timeStamp: \"{}\" is no time", shown(time)))?;
        Ok(JtlRow {
            start,
            elapsed_ms: self.number(Column::Elapsed, "elapsed")?,
            latency_ms: self.number(Column::Latency, "Latency")?,
            connect_ms: self.number(Column::Connect, "Connect")?,
            bytes: self.number(Column::Bytes, "bytes")?,
            sent_bytes: self.number(Column::SentBytes, "sentBytes")?,
            label: self.field(Column::Label),
            method: b"",
            url: self.field(Column::Url),
            said: Ending {
                code: self.field(Column::ResponseCode),
                message: self.field(Column::ResponseMessage),
                success: self.success()?,
                failure_message: self.field(Column::FailureMessage),
            },
        })
    }

    /// A number; 0 where the file has no such column, or the row nothing in it.
    fn number(&self, column: Column, name: &str) -> Result<u64, String> {
        let text = self.field(column);
        if text.is_empty() && column != Column::Elapsed {
            return Ok(0);
        }
        whole(text).ok_or_else(|| format!("{name}: \"{}\" is no number that fits", shown(text)))
    }

    fn success(&self) -> Result<Option<bool>, String> {
        match self.field(Column::Success) {
            b"" => Ok(None),
            text if text.eq_ignore_ascii_case(b"true") => Ok(Some(true)),
            text if text.eq_ignore_ascii_case(b"false") => Ok(Some(false)),
            other => Err(format!("success: \"{}\" is neither true nor false", shown(other))),
        }
    }
}

/// A field for a message.
fn shown(field: &[u8]) -> String {
    stdx::cut_text(&String::from_utf8_lossy(field), 60).to_string()
}
