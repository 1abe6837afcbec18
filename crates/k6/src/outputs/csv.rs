//! Samples as CSV, as k6 writes them: a column for each of k6's own tags, the others in one.

use std::io::{self, Write};

use script::OutputSample;

use super::file::SampleFile;
use super::writer::{TestMetadata, Writer};

/// Writes CSV.
pub(super) struct Csv {
    file: SampleFile,
    columns: Vec<&'static str>,
    times: Times,
}

/// How times are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    Unix,
    UnixMilli,
    UnixMicro,
    UnixNano,
    Rfc3339,
    Rfc3339Nano,
}

/// What `-o csv=…` and the environment say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CsvOptions {
    times: Times,
}

/// Reads `file.csv`, or `fileName=…,timeFormat=…`; gives the file, and how it is written.
///
/// # Errors
/// It is neither; the text says why.
pub(super) fn options(argument: &str) -> Result<(String, CsvOptions), String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let mut place = variable("K6_CSV_FILENAME").unwrap_or_default();
    let mut times = variable("K6_CSV_TIME_FORMAT");
    if argument.contains('=') {
        for pair in argument.split(',') {
            match pair.split_once('=') {
                Some(("fileName" | "file_name", name)) => name.clone_into(&mut place),
                Some(("timeFormat", format)) => times = Some(format.to_owned()),
                Some(("saveInterval" | "save_interval", _)) => {}
                _ => return Err(format!("csv: unknown key in \"{pair}\"")),
            }
        }
    } else if !argument.is_empty() {
        argument.clone_into(&mut place);
    }
    let times = match times.as_deref().unwrap_or("unix") {
        "unix" => Times::Unix,
        "unix_milli" => Times::UnixMilli,
        "unix_micro" => Times::UnixMicro,
        "unix_nano" => Times::UnixNano,
        "rfc3339" => Times::Rfc3339,
        "rfc3339_nano" => Times::Rfc3339Nano,
        other => return Err(format!("csv: unknown time format \"{other}\"")),
    };
    if place.is_empty() {
        "file.csv".clone_into(&mut place);
    }
    Ok((place, CsvOptions { times }))
}

impl Csv {
    pub(super) fn new(mut file: SampleFile, options: &CsvOptions, known: &TestMetadata) -> Self {
        let mut columns: Vec<&str> = known.system.names().collect();
        columns.retain(|name| !["vu", "iter"].contains(name));
        columns.sort_unstable();
        let head = columns.join(",");
        // A disk that is full now is also full at the first sample, and that error is reported.
        writeln!(
            file,
            "metric_name,timestamp,metric_value,{head}{}extra_tags,metadata",
            if columns.is_empty() { "" } else { "," }
        )
        .ok();
        Self { file, columns, times: options.times }
    }
}

impl Writer for Csv {
    fn point(&mut self, point: &OutputSample, known: &TestMetadata) -> io::Result<()> {
        let (name, ..) = known.metric(point.metric);
        let at = known.epoch_ns + i64::try_from(point.at.0).unwrap_or(i64::MAX);
        write!(self.file, "{name},{},{:.6}", time(at, self.times), point.value)?;
        for column in &self.columns {
            let tag = point.tags.tags.iter().find(|(name, _)| name == column);
            write!(self.file, ",{}", quoted(tag.map_or("", |tag| &tag.1)))?;
        }
        let own = |tag: &&(String, String)| !self.columns.contains(&tag.0.as_str());
        let extra = joined(point.tags.tags.iter().filter(own));
        let metadata = joined(point.tags.metadata.iter());
        writeln!(self.file, ",{},{}", quoted(&extra), quoted(&metadata))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.file.finish()
    }
}

/// `a=b&c=d`.
fn joined<'a>(tags: impl Iterator<Item = &'a (String, String)>) -> String {
    tags.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// A field as RFC 4180 wants it.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) || text.starts_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn time(unix_ns: i64, times: Times) -> String {
    let stamp = || jiff::Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or_default();
    match times {
        Times::Unix => (unix_ns / 1_000_000_000).to_string(),
        Times::UnixMilli => (unix_ns / 1_000_000).to_string(),
        Times::UnixMicro => (unix_ns / 1000).to_string(),
        Times::UnixNano => unix_ns.to_string(),
        Times::Rfc3339 => stamp().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        Times::Rfc3339Nano => stamp().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_a_file_or_pairs() {
        let unix = CsvOptions { times: Times::Unix };
        assert_eq!(options("a.csv"), Ok(("a.csv".to_owned(), unix)));
        let nano = CsvOptions { times: Times::UnixNano };
        assert_eq!(options("fileName=b.csv,timeFormat=unix_nano"), Ok(("b.csv".to_owned(), nano)));
        assert!(options("x=y").is_err() && options("timeFormat=z").is_err());
    }

    #[test]
    fn fields_and_times_are_written() {
        assert_eq!(
            (quoted("a,b"), quoted("a\"b"), quoted("ab")),
            ("\"a,b\"".into(), "\"a\"\"b\"".into(), "ab".into())
        );
        let at = 1_700_000_000_123_456_789;
        for (times, expect) in [
            (Times::Unix, "1700000000"),
            (Times::UnixMilli, "1700000000123"),
            (Times::Rfc3339, "2023-11-14T22:13:20Z"),
        ] {
            assert_eq!(time(at, times), expect);
        }
    }
}
