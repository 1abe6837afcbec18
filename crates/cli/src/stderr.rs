//! Lines on standard error, which people read.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use stdx::terminal_lines;

/// Lines that wait to be taken at most; of more, the newest stay.
const RECORDED_MAX: usize = 500;

/// The lines that [`recorded_lines`] has not returned yet, where they are recorded.
static RECORDED: Mutex<Option<VecDeque<String>>> = Mutex::new(None);

fn recorded() -> MutexGuard<'static, Option<VecDeque<String>>> {
    RECORDED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records what [`eprint_line`] writes from now on, for those who look at the run elsewhere.
pub fn record_lines() {
    recorded().get_or_insert_default();
}

/// The lines since the last call, 500 at most; empty unless they are recorded.
#[must_use]
pub fn recorded_lines() -> Vec<String> {
    recorded().as_mut().map_or_else(Vec::new, |lines| lines.drain(..).collect())
}

fn record(text: &str) {
    let mut recorded = recorded();
    let Some(lines) = &mut *recorded else { return };
    if lines.len() >= RECORDED_MAX {
        lines.pop_front();
    }
    lines.push_back(text.to_owned());
}

/// Writes a line (or a few) to standard error, in which foreign text steers no terminal. Where the screen is taken it waits. A failure to write is ignored: there is no better place to report it.
pub fn eprint_line(text: &str) {
    record(text);
    // Also where it is no terminal: what a pipe or a file gets is shown by one later (`2>&1 | less -R`).
    if let Some(text) = crate::screen::hold(&terminal_lines(text)) {
        writeln!(io::stderr().lock(), "{text}").ok();
    }
}

/// The local time as Go's logger prints it: `2006/01/02 15:04:05`.
#[must_use]
pub fn log_time() -> String {
    jiff::Zoned::now().strftime("%Y/%m/%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_recorded_from_when_it_is_asked_for() {
        eprint_line("before");
        assert_eq!(recorded_lines(), [""; 0]);
        record_lines();
        // Tests beside this one may write lines as well.
        let ours = |lines: Vec<String>| {
            lines.into_iter().filter(|line| line.starts_with("ours ")).collect::<Vec<_>>()
        };
        for number in 0..600 {
            record(&format!("ours {number}"));
        }
        let lines = ours(recorded_lines());
        assert_eq!(lines.last().map(String::as_str), Some("ours 599"));
        assert!((400..=RECORDED_MAX).contains(&lines.len()), "{}", lines.len());
        assert_eq!(ours(recorded_lines()), [""; 0]);
    }

    #[test]
    fn log_time_has_gos_shape() {
        let shape: String =
            log_time().chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(shape, "0000/00/00 00:00:00");
    }
}
