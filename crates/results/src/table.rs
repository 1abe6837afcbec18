//! `Table`: one column of times of another program's file: a header line with names, then rows, separated by commas, tabs or
//! semicolons. Header lines in between (files put one after the other) are skipped. Memory is bounded by a line.

use std::io::{self, BufRead, BufReader, Read};

use stdx::Nanos;
use thiserror::Error;

/// Bytes of a line, at most; a longer one is no row.
const LINE_MAX: u64 = 1 << 20;

/// The unit of a column of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Nanoseconds.
    Nanos,
    /// Microseconds.
    Micros,
    /// Milliseconds.
    Millis,
    /// Seconds.
    Seconds,
}

impl TimeUnit {
    /// The unit of this name: `ns`, `us`, `µs`, `ms`, `s`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "ns" => Some(Self::Nanos),
            "us" | "µs" => Some(Self::Micros),
            "ms" => Some(Self::Millis),
            "s" => Some(Self::Seconds),
            _ => None,
        }
    }

    /// A value in this unit; `None` for what is no time.
    fn time(self, value: f64) -> Option<Nanos> {
        let scale = match self {
            Self::Nanos => 1.0,
            Self::Micros => 1e3,
            Self::Millis => 1e6,
            Self::Seconds => 1e9,
        };
        // A float beyond the range becomes its end.
        (value.is_finite() && value >= 0.0).then(|| Nanos((value * scale).round() as u64))
    }
}

/// Why a table cannot be read.
#[derive(Debug, Error)]
pub enum TableError {
    /// The first line names no such column.
    #[error("no column \"{wanted}\" (the first line has {found})")]
    Column {
        /// The requested column.
        wanted: String,
        /// The columns there are, as people read them.
        found: String,
    },
    /// The input could not be read.
    #[error("{0}")]
    Read(#[from] io::Error),
}

/// One column of times.
pub struct Table<R> {
    input: BufReader<R>,
    separator: u8,
    column: usize,
    name: String,
    unit: TimeUnit,
    line: Vec<u8>,
    skipped: u64,
}

impl<R: Read> Table<R> {
    /// Reads the header line.
    ///
    /// # Errors
    /// It names no such column, or cannot be read.
    pub fn open(input: R, column: &str, unit: TimeUnit) -> Result<Self, TableError> {
        let mut input = BufReader::new(input);
        let mut line = Vec::new();
        read_line(&mut input, &mut line)?;
        let separator = separator(&line);
        let names: Vec<String> = fields(&line, separator).collect();
        let Some(at) = names.iter().position(|name| name == column) else {
            let shown = names.iter().take(20).map(|name| format!("\"{name:.40}\""));
            let found = shown.collect::<Vec<String>>().join(", ");
            return Err(TableError::Column { wanted: column.to_owned(), found });
        };
        let name = column.to_owned();
        Ok(Self { input, separator, column: at, name, unit, line, skipped: 0 })
    }

    /// The next row's time; `None` at the end.
    ///
    /// # Errors
    /// The input cannot be read.
    pub fn next_time(&mut self) -> Result<Option<Nanos>, TableError> {
        while read_line(&mut self.input, &mut self.line)? {
            let field = fields(&self.line, self.separator).nth(self.column);
            let value = field.as_deref().and_then(|text| text.trim().parse::<f64>().ok());
            if let Some(time) = value.and_then(|value| self.unit.time(value)) {
                return Ok(Some(time));
            }
            let is_header = field.as_deref() == Some(self.name.as_str());
            let is_blank = self.line.iter().all(u8::is_ascii_whitespace);
            self.skipped += u64::from(!is_header && !is_blank);
        }
        Ok(None)
    }

    /// Rows so far that hold no time in the column: a text, nothing, less than 0. Header lines are not among them.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}

/// Whether the first line of a file that starts like this names the column.
#[must_use]
pub fn names_column(begin: &[u8], column: &str) -> bool {
    let line = begin.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let end = line.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
    let line = &line[..end];
    fields(line, separator(line)).any(|name| name == column)
}

/// Reads a line without its end; `false` at the end of the input. Of a line that is too long the rest is passed over.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = input.by_ref().take(LINE_MAX).read_until(b'\n', line)?;
    if read as u64 == LINE_MAX && !line.ends_with(b"\n") {
        input.skip_until(b'\n')?;
        line.clear();
        line.push(b'?');
    }
    while line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
        line.pop();
    }
    Ok(read > 0)
}

/// A tab or a semicolon where the line has one, else a comma.
fn separator(line: &[u8]) -> u8 {
    [b'\t', b';'].into_iter().find(|byte| line.contains(byte)).unwrap_or(b',')
}

/// The fields of a line; one in quotes may hold separators, and quotes doubled (RFC 4180, 2).
fn fields(line: &[u8], separator: u8) -> impl Iterator<Item = String> + '_ {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        let (mut field, mut quoted, mut at) = (Vec::new(), false, 0);
        while at < line.len() && (quoted || line[at] != separator) {
            match line[at] {
                b'"' if quoted && line.get(at + 1) == Some(&b'"') => {
                    field.push(b'"');
                    at += 1;
                }
                b'"' if quoted || field.is_empty() => quoted = !quoted,
                byte => field.push(byte),
            }
            at += 1;
        }
        rest = (at < line.len()).then(|| &line[at + 1..]);
        Some(String::from_utf8_lossy(&field).into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, column: &str, unit: TimeUnit) -> Result<(Vec<u64>, u64), TableError> {
        let mut table = Table::open(text.as_bytes(), column, unit)?;
        let mut times = Vec::new();
        while let Some(time) = table.next_time()? {
            times.push(time.0);
        }
        Ok((times, table.skipped()))
    }

    #[test]
    fn the_seeds_files() {
        // requests.csv; its header repeats where files were concatenated.
        let requests = "total,render,db,url\n0.07034,0.02500,0.01400,[http://h/a]\ntotal,render,db,url\n0.1,0.05,,[x]\n";
        let total = (vec![70_340_000, 100_000_000], 0);
        assert_eq!(read(requests, "total", TimeUnit::Seconds).unwrap(), total);
        assert_eq!(read(requests, "db", TimeUnit::Seconds).unwrap(), (vec![14_000_000], 1));
        // ab -g.
        let ab = "starttime\tseconds\tctime\tdtime\tttime\twait\nSat Nov 21 09:24:57 2026\t1795253097\t0\t12\t12\t11\n";
        assert_eq!(read(ab, "ttime", TimeUnit::Millis).unwrap(), (vec![12_000_000], 0));
    }

    #[test]
    fn quotes_hold_separators() {
        let text = "\"a,b\",\"time \"\"x\"\"\"\r\n\"1,2\",3.5\r\n\r\n\"4\",\"5\"\r\n";
        assert_eq!(read(text, "time \"x\"", TimeUnit::Micros).unwrap(), (vec![3_500, 5_000], 0));
        assert!(names_column(text.as_bytes(), "a,b") && !names_column(text.as_bytes(), "a"));
        assert!(names_column(b"a;b;c", "c") && !names_column(b"", "c"));
    }

    mod regression {
        use super::*;

        /// The last column of a header that ends in CR LF was not found, so such a file was taken for no table.
        #[test]
        fn issue_19_the_last_column_before_cr_lf() {
            for text in ["a,b\r\n1,2\r\n", "\"a\";\"b\"\r\n1;2\r\n", "b\r"] {
                assert!(names_column(text.as_bytes(), "b"), "{text:?}");
                assert!(Table::open(text.as_bytes(), "b", TimeUnit::Nanos).is_ok(), "{text:?}");
            }
        }
    }

    #[test]
    fn what_is_no_time_is_counted() {
        let text = "t\n-1\nNaN\ninf\nx\n1e300\n7\n";
        assert_eq!(read(text, "t", TimeUnit::Nanos).unwrap(), (vec![u64::MAX, 7], 4));
        let long = format!("t\n{}\n8\n", "9".repeat(LINE_MAX as usize + 5));
        assert_eq!(read(&long, "t", TimeUnit::Nanos).unwrap(), (vec![8], 1));
    }

    #[test]
    fn a_missing_column_is_named_with_those_there_are() {
        let error = read("a,b\n1,2\n", "c", TimeUnit::Millis).unwrap_err().to_string();
        assert_eq!(error, "no column \"c\" (the first line has \"a\", \"b\")");
        assert!(read("", "c", TimeUnit::Millis).is_err());
    }

    #[test]
    fn units_have_names() {
        for (name, ns) in [("ns", 2), ("us", 2_000), ("µs", 2_000), ("ms", 2_000_000)] {
            assert_eq!(TimeUnit::parse(name).unwrap().time(2.0), Some(Nanos(ns)), "{name}");
        }
        assert_eq!(TimeUnit::parse("m"), None);
    }
}
