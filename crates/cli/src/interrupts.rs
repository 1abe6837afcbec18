//! `Interrupts`: how often the user asked the process to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::anyhow;
use net::machine;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

use crate::error::ExitError;
use crate::exit_code::ExitCode;
use crate::screen;

/// The interval of checks for an interrupt, and so the longest delay until one takes effect.
pub const INTERRUPT_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The interrupts (SIGINT, SIGTERM, SIGHUP) since this counter was made. A terminal that goes away sends SIGHUP more than once,
/// which counts once.
#[derive(Clone, Debug, Default)]
pub struct Interrupts(Arc<Counter>);

#[derive(Debug, Default)]
struct Counter {
    total: AtomicUsize,
    /// The first signal's number.
    first: AtomicI32,
    hangups: AtomicUsize,
}

impl Counter {
    /// Counts a signal; returns the interrupts so far.
    fn count(&self, signal: i32) -> usize {
        if signal == SIGHUP && self.hangups.fetch_add(1, Ordering::Relaxed) > 0 {
            return self.total.load(Ordering::Relaxed);
        }
        self.first.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed).ok();
        self.total.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Interrupts {
    /// Counts the process's signals from now on. They no longer end the process, but for the third.
    ///
    /// # Errors
    /// The system refuses the handler.
    pub fn watch() -> Result<Self, ExitError> {
        Self::watch_until(ExitCode::Ok)
    }

    /// The same, where the third interrupt ends the process with this code.
    ///
    /// # Errors
    /// The system refuses the handler.
    pub fn watch_until(last: ExitCode) -> Result<Self, ExitError> {
        let counter = Arc::new(Counter::default());
        // A watcher thread, since the handler itself may only touch a flag, and a flag does not count.
        let mut signals = signal_hook::iterator::Signals::new(stop_signals())
            .map_err(|error| ExitError::from(anyhow!("watching for signals: {error}")))?;
        let counted = Arc::clone(&counter);
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for signal in signals.forever() {
                    if counted.count(signal) >= ENOUGH {
                        screen::release();
                        std::process::exit(i32::from(last as u8));
                    }
                }
            })
            .map_err(|error| ExitError::from(anyhow!("watching for signals: {error}")))?;
        Ok(Self(counter))
    }

    /// The number of interrupts so far.
    #[must_use]
    pub fn seen(&self) -> usize {
        self.0.total.load(Ordering::Relaxed)
    }

    /// Counts a signal that is not the process's own. Returns the interrupts so far.
    pub fn count(&self, signal: i32) -> usize {
        self.0.count(signal)
    }

    /// Counts one as Ctrl-C would have given it, but not the one that ends the process, its reports unwritten.
    pub fn interrupt(&self) {
        if self.seen() + 1 < ENOUGH {
            self.count(SIGINT);
        }
    }

    /// Ends the process as the first signal would have without a handler.
    pub fn end_by_signal(&self) -> ! {
        screen::release();
        let signal = self.0.first.load(Ordering::Relaxed);
        // Where the system refuses, the number that a shell makes of it.
        signal_hook::low_level::emulate_default_handler(signal).ok();
        std::process::exit(128 + signal);
    }
}

/// The signals that ask a process to stop. SIGHUP is left out in a process that `nohup` started.
fn stop_signals() -> Vec<i32> {
    let hangup = (!machine::is_ignored(SIGHUP)).then_some(SIGHUP);
    [SIGINT, SIGTERM].into_iter().chain(hangup).collect()
}

/// A write beyond the limit on the size of files (`ulimit -f`) fails from now on, as on a full disk. Its signal would end the process,
/// and what it has in memory. Programs that are started have the signal as it was.
pub fn survive_file_size_limit() {
    // Where the system refuses, the signal does what it did before.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).ok();
}

/// The interrupt that ends the process at once, in case the reader of its output makes it wait.
const ENOUGH: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hangup_counts_once() {
        let counter = Counter::default();
        let counts = [SIGHUP, SIGHUP, SIGINT, SIGHUP, SIGTERM].map(|signal| counter.count(signal));
        assert_eq!(counts, [1, 1, 2, 2, 3]);
        assert_eq!(counter.first.load(Ordering::Relaxed), SIGHUP);
    }
}
