//! How far the servers' clock is from the client's, from the `Date` headers of the answers that results have kept.

use anyhow::anyhow;
use metrics::Batch;
use monitor::{ClockOffset, http_date};
use results::{Item, Reader};

use super::server_side::header;
use super::{CommandError, encode, usage_error};
use crate::dialect::Dialect;
use crate::exit_code::{ExitCode, Failed};
use crate::flags::results::ServerOffset;
use crate::input::{self, Interrupts};

/// The header that says the server's time, in whole seconds.
const DATE: &[u8] = b"date";
/// By how much an answer may be beside the others: clocks are slewed, and servers keep the text of a date for a moment.
const SLACK: i64 = 5_000_000;

/// By how much the servers' rows are moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moved {
    /// In nanoseconds.
    pub(crate) by_ns: i64,
    /// How wrong that may be, where it was measured.
    pub(crate) error_ns: Option<i64>,
}

/// What was asked for, or what these files say.
///
/// # Errors
/// The files cannot be read twice, or say nothing of a clock, or contradict themselves.
pub(crate) fn moved(
    offset: ServerOffset,
    files: &[String],
    dialect: Dialect,
) -> Result<Moved, CommandError> {
    match offset {
        ServerOffset::By(by_ns) => Ok(Moved { by_ns, error_ns: None }),
        ServerOffset::Date => measured(files, dialect),
    }
}

fn measured(files: &[String], dialect: Dialect) -> Result<Moved, CommandError> {
    let is_file = |name: &String| std::fs::metadata(name).is_ok_and(|meta| meta.is_file());
    let is_gone_once_read = |name: &String| input::is_stdin(name) || !is_file(name);
    if files.is_empty() || files.iter().any(is_gone_once_read) {
        return Err(usage_error(
            "flag -server-offset: date reads results twice: name files of results",
        ));
    }
    let interrupts = Interrupts::default();
    let inputs = input::open_results(files, &interrupts, dialect.interrupt_grace())?;
    let mut reader = Reader::open(inputs).map_err(|error| encode::unreadable(&error, dialect))?;
    let (mut batch, mut dates) = (Batch::default(), Dates::default());
    // Damage is told by who reads for the report; here counts what came before it.
    while let Ok(Some(item)) = reader.next(&mut batch) {
        if let Item::Hits = item {
            dates.hits(&batch);
        }
    }
    let found = dates.found().map_err(|why| Failed {
        code: ExitCode::Input,
        error: anyhow!("-server-offset=date: {why} in {}", files.join(", ")),
    })?;
    Ok(found)
}

/// The `Date` headers of answers.
#[derive(Debug, Default)]
struct Dates {
    clock: ClockOffset,
    answers: u32,
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
            self.answers += 1;
        }
    }

    /// The other clock is ahead by the estimate: its rows are moved back by it.
    fn found(&self) -> Result<Moved, String> {
        let (ahead, error) = self.clock.estimate().ok_or(
            "no answer's Date header is kept (attack, bench: -keep-headers; Vegeta's files have them)",
        )?;
        // One may be all there is of a clock that was set half way.
        let contradictions = self.clock.contradictions();
        if contradictions > 0 {
            return Err(format!(
                "{contradictions} of {} contradict those before them (several servers, a cache, or a clock that \
                 was set; give the time instead)",
                stdx::counted(self.answers.into(), "Date header")
            ));
        }
        Ok(Moved { by_ns: -ahead, error_ns: Some(error) })
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
    fn answers_tell_the_difference_and_its_error() {
        for ahead_ms in [0, 7_250, -90_000] {
            let mut dates = Dates::default();
            dates.hits(&answers(ahead_ms));
            let Moved { by_ns, error_ns } = dates.found().unwrap();
            let (off, error) = (by_ns + ahead_ms * 1_000_000, error_ns.unwrap());
            assert!(off.abs() <= error && error <= 20_000_000, "{ahead_ms}: {off} within {error}");
        }
    }

    #[test]
    fn contradictions_and_silence_are_refused() {
        let mut dates = Dates::default();
        assert!(dates.found().unwrap_err().contains("-keep-headers"));
        // A clock that was set half way, or two servers one after the other.
        [answers(0), answers(60_000)].iter().for_each(|batch| dates.hits(batch));
        assert!(dates.found().unwrap_err().starts_with("1 of 462 Date headers contradict"));
    }
}
