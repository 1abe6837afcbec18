//! Tables as a spreadsheet, or R, takes them: load averages and requests, in the columns of the load tests that people made by
//! hand.

use std::fs;
use std::io::{self, BufWriter, Write};

use anyhow::anyhow;
use cli::{ExitError, Output, reason};
use metrics::server::{Row, ServedRequest};
use stdx::Nanos;

/// A table that grows.
pub(super) struct Table {
    place: Output,
    file: BufWriter<Box<dyn Write + Send>>,
}

impl Table {
    /// Opens the file and writes its first line.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn new(name: &str, head: &str) -> Result<Self, ExitError> {
        let place = Output::named(Some(name));
        let mut table = Self { file: BufWriter::new(place.open()?), place };
        table.add(head)?;
        Ok(table)
    }

    /// Adds a line.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn add(&mut self, line: &str) -> Result<(), ExitError> {
        let written = writeln!(self.file, "{line}").and_then(|()| self.file.flush());
        written.map_err(|error: io::Error| {
            anyhow!("writing to {}: {}", self.place, reason(&error)).into()
        })
    }
}

/// The first line of the load averages.
pub(super) const LOADAVG: &str = "time,1min,5min,10min,running,procs,lastproc";
/// The first line of the requests.
pub(super) const REQUESTS: &str = "total,render,db,url";

/// The load averages at a local time, `/proc/loadavg` with commas; nothing where it cannot be read.
pub(super) fn loadavg(time: &jiff::Zoned) -> Option<String> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    Some(format!("{},{}", time.strftime("%Y%m%d%H%M%S"), text.trim().replace([' ', '/'], ",")))
}

/// A request: seconds, and the path in brackets; what the log does not say is empty.
pub(super) fn request(row: &Row) -> Option<String> {
    let Row::Served(ServedRequest { total, views, database, path, .. }) = row else { return None };
    let seconds = |time: Nanos| format!("{:.5}", time.as_secs_f64());
    let maybe = |time: &Option<Nanos>| time.map(seconds).unwrap_or_default();
    let url = match path.contains([',', '"', '\n', '\r']) {
        true => format!("\"[{}]\"", path.replace('"', "\"\"")),
        false => format!("[{path}]"),
    };
    Some(format!("{},{},{},{url}", maybe(total), maybe(views), maybe(database)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_averages_have_seven_columns() {
        let time: jiff::Timestamp = "2011-03-04T05:06:07Z".parse().unwrap();
        let line = loadavg(&time.to_zoned(jiff::tz::TimeZone::UTC)).unwrap();
        assert!(line.starts_with("20110304050607,"), "{line}");
        assert_eq!(line.split(',').count(), LOADAVG.split(',').count(), "{line}");
    }

    #[test]
    fn requests_are_in_seconds() {
        let served = ServedRequest {
            total: Some(Nanos(70_340_000)),
            views: Some(Nanos(25_000_000)),
            path: "/a?b=1".into(),
            ..ServedRequest::default()
        };
        let row = |served: &ServedRequest| request(&Row::Served(served.clone())).unwrap();
        assert_eq!(row(&served), "0.07034,0.02500,,[/a?b=1]");
        let odd = ServedRequest { path: "/a,\"b\"".into(), ..ServedRequest::default() };
        assert_eq!(row(&odd), ",,,\"[/a,\"\"b\"\"]\"");
    }
}
