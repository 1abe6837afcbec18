//! ab's files: `-g`, each request's times for gnuplot, and `-e`, the percentages.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use cli::{eprint_line, system_text};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use report::ab::{self, Figures, ROWS_MAX, Row};

use super::error::AbError;
use super::flags::AbFlags;

/// Writes the files that were asked for.
pub(super) fn write(flags: &AbFlags, figures: &Figures) -> Result<(), AbError> {
    if let Some(path) = &flags.csv {
        let written =
            File::create(path).and_then(|mut file| file.write_all(ab::csv(figures).as_bytes()));
        written.map_err(|error| cannot("CSV", &error))?;
    }
    let Some(path) = &flags.gnuplot else { return Ok(()) };
    let rows = figures.rows_by_total().unwrap_or_else(|| {
        eprint_line(&format!("brunt ab: -g holds no more than {ROWS_MAX} requests: it is empty"));
        Vec::new()
    });
    let written = File::create(path).and_then(|file| write_rows(BufWriter::new(file), &rows));
    written.map_err(|error| cannot("gnuplot", &error))
}

fn cannot(what: &str, error: &io::Error) -> AbError {
    AbError::wrong(format!("Cannot open {what} output file: {}", system_text(error)))
}

/// One line a request: when it began, in words and as Unix time, then milliseconds: connecting, all but connecting, in all,
/// waiting for the first byte.
fn write_rows(mut out: impl Write, rows: &[Row]) -> io::Result<()> {
    let zone = TimeZone::system();
    writeln!(out, "starttime\tseconds\tctime\tdtime\tttime\twait")?;
    for row in rows {
        let seconds = row.begin_us / 1_000_000;
        let [connect, processing, total, wait] =
            [row.connect_us, row.processing_us(), row.total_us, row.wait_us].map(millis);
        let began = spelled(seconds, &zone);
        writeln!(out, "{began}\t{seconds}\t{connect}\t{processing}\t{total}\t{wait}")?;
    }
    out.flush()
}

fn millis(micros: u32) -> u64 {
    (u64::from(micros) + 500) / 1000
}

/// A moment as C's `ctime` spells it, with APR's two-digit day.
fn spelled(seconds: u64, zone: &TimeZone) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    let moment = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
    moment.to_zoned(zone.clone()).strftime("%a %b %d %H:%M:%S %Y").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_ab_writes_them() {
        let row =
            Row { begin_us: 1_795_284_986_999_999, connect_us: 499, total_us: 2500, wait_us: 1500 };
        let mut out = Vec::new();
        write_rows(&mut out, &[row]).expect("memory takes it");
        let text = String::from_utf8(out).expect("it is ASCII");
        let (head, line) = text.split_once('\n').expect("two lines");
        assert_eq!(head, "starttime\tseconds\tctime\tdtime\tttime\twait");
        assert!(line.ends_with("\t1795284986\t0\t2\t3\t2\n"), "{line}");
        assert_eq!(spelled(1_795_284_986, &TimeZone::UTC), "Sat Nov 21 18:16:26 2026");
        assert_eq!(spelled(0, &TimeZone::UTC), "Thu Jan 01 00:00:00 1970");
    }
}
