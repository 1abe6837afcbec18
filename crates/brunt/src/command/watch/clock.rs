//! The offset of another machine's clock, measured by its `Date` header on a thread of its own, and written as a row.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::anyhow;
use cli::{ExitCode, ExitError};
use metrics::server::Incident;
use monitor::{Client, ClockOffset, http_date};

/// Answers asked for; each halves the doubt, which is a second at first.
const ANSWERS_MAX: u32 = 12;
/// Doubt with which we are content.
const ERROR_ENOUGH: i64 = 2_000_000;

/// A measurement under way.
pub(super) struct Measuring {
    /// Receives the result.
    found: Receiver<String>,
    /// What is known so far.
    so_far: Arc<Mutex<ClockOffset>>,
    source: String,
    host: String,
}

impl Measuring {
    /// Begins to measure; the row comes in some ten seconds.
    ///
    /// # Errors
    /// The address cannot be requested, or no thread can be started.
    pub(super) fn start(url: &str, host: &str) -> Result<Self, ExitError> {
        let client = Client::new(url).map_err(|error| ExitError {
            code: ExitCode::Usage,
            error: anyhow!("flag -date: \"{url}\": {error}"),
        })?;
        let (give, found) = sync_channel(1);
        let so_far = Arc::new(Mutex::new(ClockOffset::default()));
        let clock = Arc::clone(&so_far);
        let work = move || {
            // The receiver may be gone: the watch has ended.
            give.send(measured(client, &clock)).ok();
        };
        let started = thread::Builder::new().name("clock".to_owned()).spawn(work);
        started.map_err(|error| ExitError::from(anyhow!("-date: starting a thread: {error}")))?;
        Ok(Self { found, so_far, source: format!("clock {url}"), host: host.to_owned() })
    }

    /// The result as an incident, once it is there.
    pub(super) fn take(&self) -> Option<Incident> {
        self.found.try_recv().ok().map(|what| self.incident(what))
    }

    /// The result at the end, unless it was reported before.
    pub(super) fn finish(&self) -> Incident {
        self.take().unwrap_or_else(|| {
            let what =
                offset_text(&lock(&self.so_far)).unwrap_or_else(|| "not measured".to_owned());
            self.incident(format!("{what} (the watch ended before)"))
        })
    }

    fn incident(&self, what: String) -> Incident {
        let (host, source) = (self.host.clone(), self.source.clone());
        Incident { at: session::unix_ns(), host, source, what }
    }
}

fn lock(clock: &Mutex<ClockOffset>) -> MutexGuard<'_, ClockOffset> {
    // An estimate is whole at any moment.
    clock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result, in words. A response that fails ends the measurement; the result so far is reported.
fn measured(mut client: Client, clock: &Mutex<ClockOffset>) -> String {
    for _ in 0..ANSWERS_MAX {
        let (estimate, wait) = {
            let clock = lock(clock);
            (clock.estimate(), clock.wait(session::unix_ns()))
        };
        if estimate.is_some_and(|(_, error)| error <= ERROR_ENOUGH) {
            break;
        }
        thread::sleep(Duration::from(wait));
        let sent = session::unix_ns();
        let date = match client.get() {
            Ok(answer) => http_date(&answer.date),
            Err(error) => {
                return offset_text(&lock(clock))
                    .unwrap_or_else(|| format!("cannot be asked: {error}"));
            }
        };
        let Some(date) = date else { break };
        lock(clock).add(sent, session::unix_ns(), date);
    }
    offset_text(&lock(clock)).unwrap_or_else(|| "says no date".to_owned())
}

/// `offset +1.234567 s, error 0.001000 s`; nothing before the first answer.
fn offset_text(clock: &ClockOffset) -> Option<String> {
    let (offset, error) = clock.estimate()?;
    let seconds = |ns: i64| ns as f64 / 1e9;
    let mut text = format!("offset {:+.6} s, error {:.6} s", seconds(offset), seconds(error));
    match clock.contradictions() {
        0 => {}
        n => {
            let answers = stdx::counted(n.into(), "answer");
            let verb = if n == 1 { "contradicts" } else { "contradict" };
            text.push_str(&format!(" ({answers} {verb} those before)"));
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_reported_with_its_error() {
        let mut clock = ClockOffset::default();
        assert_eq!(offset_text(&clock), None);
        clock.add(0, 0, 2);
        assert_eq!(offset_text(&clock).unwrap(), "offset +2.500000 s, error 0.500000 s");
        clock.add(0, 0, 9);
        assert!(offset_text(&clock).unwrap().ends_with("(1 answer contradicts those before)"));
    }

    /// A measurement that has this result, or none yet.
    fn measuring(says: Option<&str>, clock: ClockOffset) -> Measuring {
        let (give, found) = sync_channel(1);
        says.into_iter().for_each(|what| give.send(what.to_owned()).unwrap());
        let so_far = Arc::new(Mutex::new(clock));
        Measuring { found, so_far, source: "clock u".into(), host: "h".into() }
    }

    #[test]
    fn a_watch_that_ends_early_reports_the_offset_so_far() {
        let mut known = ClockOffset::default();
        known.add(0, 0, 2);
        for (says, clock, expected) in [
            (None, ClockOffset::default(), "not measured (the watch ended before)"),
            (None, known, "offset +2.500000 s, error 0.500000 s (the watch ended before)"),
            (Some("offset"), ClockOffset::default(), "offset"),
        ] {
            assert_eq!(measuring(says, clock).finish().what, expected);
        }
    }

    #[test]
    fn an_endpoint_that_goes_away_leaves_what_was_measured() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        drop(listener);
        let (client, mut known) = (Client::new(&url).unwrap(), ClockOffset::default());
        known.add(0, 0, 2);
        let what = measured(client, &Mutex::new(known));
        assert_eq!(what, "offset +2.500000 s, error 0.500000 s");
        let never = measured(Client::new(&url).unwrap(), &Mutex::new(ClockOffset::default()));
        assert!(never.starts_with("cannot be asked: "), "{never}");
    }
}
