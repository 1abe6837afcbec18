//! How far another machine's clock is from ours: asked through the `Date` header, on a thread of its own, and told as a row.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::anyhow;
use metrics::server::{Incident, Row};
use monitor::{Client, ClockOffset, http_date};

use super::meant::unix_ns;
use crate::exit_code::{ExitCode, Failed};

/// Answers asked for; each halves the doubt, which is a second at first.
const ANSWERS_MAX: u32 = 12;
/// Doubt with which we are content.
const ERROR_ENOUGH: i64 = 2_000_000;

/// Begins to measure; the row comes in some ten seconds.
///
/// # Errors
/// The address is none that can be asked, or there is no thread.
pub(super) fn measure(url: &str, host: &str) -> Result<Receiver<Row>, Failed> {
    let client = Client::new(url).map_err(|error| Failed {
        code: ExitCode::Usage,
        error: anyhow!("flag -date: \"{url}\": {error}"),
    })?;
    let (give, rows) = sync_channel(1);
    let (url, host) = (url.to_owned(), host.to_owned());
    let work = move || {
        let what = found(client);
        let source = format!("clock {url}");
        // Whoever waited may have ended.
        give.send(Row::Incident(Incident { at: unix_ns(), host, source, what })).ok();
    };
    let started = thread::Builder::new().name("clock".to_owned()).spawn(work);
    started.map_err(|error| Failed::from(anyhow!("-date: a thread: {error}")))?;
    Ok(rows)
}

/// What came of it, in words.
fn found(mut client: Client) -> String {
    let mut clock = ClockOffset::default();
    for _ in 0..ANSWERS_MAX {
        if clock.estimate().is_some_and(|(_, error)| error <= ERROR_ENOUGH) {
            break;
        }
        thread::sleep(Duration::from(clock.wait(unix_ns())));
        let sent = unix_ns();
        let date = match client.get() {
            Ok(answer) => http_date(&answer.date),
            Err(error) => return format!("cannot be asked: {error}"),
        };
        let Some(date) = date else { return "says no date".to_owned() };
        clock.add(sent, unix_ns(), date);
    }
    told(&clock)
}

/// `offset +1.234567 s, error 0.001000 s`.
fn told(clock: &ClockOffset) -> String {
    let Some((offset, error)) = clock.estimate() else { return "says no date".to_owned() };
    let seconds = |ns: i64| ns as f64 / 1e9;
    let mut text = format!("offset {:+.6} s, error {:.6} s", seconds(offset), seconds(error));
    match clock.contradictions() {
        0 => {}
        n => text.push_str(&format!(" ({n} answers contradict those before)")),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_told_with_its_error() {
        let mut clock = ClockOffset::default();
        assert_eq!(told(&clock), "says no date");
        clock.add(0, 0, 2);
        assert_eq!(told(&clock), "offset +2.500000 s, error 0.500000 s");
        clock.add(0, 0, 9);
        assert!(told(&clock).ends_with("(1 answers contradict those before)"));
    }
}
