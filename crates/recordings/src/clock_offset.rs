//! The offset of the servers' clock from the client's, from the `Date` headers in results.

use cli::{ExitCode, ExitError, Interrupts};
use metrics::Batch;
use monitor::{ClockOffset, http_date};
use results::{Item, Reader};

use super::header::header;
use super::run::unreadable;

/// The header with the server's time, in whole seconds.
const DATE: &[u8] = b"date";
/// By how much a response may contradict the others (ns): clocks are slewed, and servers reuse the text of a date for a moment.
const SLACK: i64 = 5_000_000;

/// The value of `-server-offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerOffset {
    /// This many nanoseconds.
    By(i64),
    /// The offset that the `Date` headers of responses yield.
    Date,
}

impl Default for ServerOffset {
    fn default() -> Self {
        Self::By(0)
    }
}

/// By how much rows of servers are moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockShift {
    /// In nanoseconds.
    pub by_ns: i64,
    /// The error of a measured shift, at most; `None` for a given one.
    pub error_ns: Option<i64>,
}

/// The shift that was given, or the one that the `Date` headers in these files yield.
///
/// # Errors
/// The files cannot be read twice, have no such headers, or contradict themselves.
pub fn clock_shift(offset: ServerOffset, files: &[String]) -> Result<ClockShift, ExitError> {
    match offset {
        ServerOffset::By(by_ns) => Ok(ClockShift { by_ns, error_ns: None }),
        ServerOffset::Date => measured(files),
    }
}

fn measured(files: &[String]) -> Result<ClockShift, ExitError> {
    let is_file = |name: &String| std::fs::metadata(name).is_ok_and(|meta| meta.is_file());
    let is_gone_once_read = |name: &String| cli::input::is_stdin(name) || !is_file(name);
    if files.is_empty() || files.iter().any(is_gone_once_read) {
        let text = "flag -server-offset: date reads results twice: name files of results";
        return Err(ExitError::new(ExitCode::Usage, text));
    }
    let interrupts = Interrupts::default();
    let inputs = cli::open_results(files, &interrupts, cli::INTERRUPT_GRACE)?;
    let mut reader = Reader::open(inputs).map_err(|error| unreadable(&error))?;
    let (mut batch, mut dates) = (Batch::default(), Dates::default());
    // The reader of the report names damage; here the rows before it count.
    while let Ok(Some(item)) = reader.next(&mut batch) {
        if let Item::Hits = item {
            dates.hits(&batch);
        }
    }
    dates.shift().map_err(|why| {
        let text = format!("-server-offset=date: {why} in {}", files.join(", "));
        ExitError::new(ExitCode::Input, text)
    })
}

/// The `Date` headers of responses.
#[derive(Debug, Default)]
struct Dates {
    clock: ClockOffset,
    headers: u32,
}

impl Dates {
    fn hits(&mut self, batch: &Batch) {
        for sample in batch.samples.iter().filter(|sample| sample.headers.len > 0) {
            let text = header(batch.text(sample.headers), DATE);
            let date = text.and_then(|text| http_date(std::str::from_utf8(text).ok()?));
            let Some(date) = date else { continue };
            let at = |time: stdx::Nanos| batch.epoch.saturating_add_unsigned(time.0);
            let (sent, received) = (at(sample.sent), at(sample.first_byte.max(sample.sent)));
            self.clock.add(sent.saturating_sub(SLACK), received.saturating_add(SLACK), date);
            self.headers += 1;
        }
    }

    /// The servers' clock is ahead by the estimate: their rows are moved back by it.
    fn shift(&self) -> Result<ClockShift, String> {
        let (ahead, error) = self.clock.estimate().ok_or(
            "no answer's Date header is kept (attack, bench: -keep-headers; Vegeta's files have them)",
        )?;
        // A clock that was set in between may leave only one contradiction.
        let contradictions = self.clock.contradictions();
        if contradictions > 0 {
            return Err(format!(
                "{contradictions} of {} contradict those before them (several servers, a cache, or a clock that \
                 was set; give the time instead)",
                stdx::counted(self.headers.into(), "Date header")
            ));
        }
        Ok(ClockShift { by_ns: -ahead, error_ns: Some(error) })
    }
}

#[cfg(test)]
mod tests {
    use metrics::Sample;
    use stdx::Nanos;

    use super::*;

    /// Answers each 13 ms for three seconds, of a server whose clock is ahead by so much.
    fn answers(ahead_ms: i64) -> Batch {
        const MILLI: i64 = 1_000_000;
        let mut batch = Batch { epoch: 1_700_000_000_000 * MILLI, ..Batch::default() };
        for sent_ms in (0..3000i64).step_by(13) {
            let seconds = (1_700_000_000_000 + sent_ms + 1 + ahead_ms).div_euclid(1000);
            let date = jiff::Timestamp::from_second(seconds).unwrap();
            let line = date.strftime("Date: %a, %d %b %Y %H:%M:%S GMT\r\n").to_string();
            let headers = batch.add_text(line.as_bytes());
            let at = |ms: i64| Nanos((ms * MILLI) as u64);
            let (sent, first_byte) = (at(sent_ms), at(sent_ms + 2));
            batch.samples.push(Sample { sent, first_byte, headers, ..Sample::default() });
        }
        batch
    }

    #[test]
    fn headers_yield_the_offset_and_its_error() {
        for ahead_ms in [0, 7_250, -90_000] {
            let mut dates = Dates::default();
            dates.hits(&answers(ahead_ms));
            let ClockShift { by_ns, error_ns } = dates.shift().unwrap();
            let (off, error) = (by_ns + ahead_ms * 1_000_000, error_ns.unwrap());
            assert!(off.abs() <= error && error <= 20_000_000, "{ahead_ms}: {off} within {error}");
        }
    }

    #[test]
    fn contradictions_and_silence_are_refused() {
        let mut dates = Dates::default();
        assert!(dates.shift().unwrap_err().contains("-keep-headers"));
        // A clock that was set half way, or two servers one after the other.
        [answers(0), answers(60_000)].iter().for_each(|batch| dates.hits(batch));
        assert!(dates.shift().unwrap_err().starts_with("1 of 462 Date headers contradict"));
    }
}
