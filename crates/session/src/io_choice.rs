//! The values of `--io` and `-answer-clock`.

use cli::{ValueError, value};
use engine::{AnswerClock, IoChoice};

/// The words of `--io`. `mio`, which `poll` was once called, is taken as well.
pub const IO_CHOICES: &[&str] = &["auto", "poll", "uring"];

/// The mechanism that waits for sockets.
///
/// # Errors
/// The text names no such mechanism.
pub fn io_choice(text: &str) -> Result<IoChoice, ValueError> {
    if text == "mio" {
        return Ok(IoChoice::Reactor);
    }
    Ok(match value::word(text, IO_CHOICES)?.as_str() {
        "poll" => IoChoice::Reactor,
        "uring" => IoChoice::Uring,
        _ => IoChoice::Auto,
    })
}

/// The words of `-answer-clock`.
pub const CLOCK_CHOICES: &[&str] = &["auto", "worker"];

/// By whose clock the end of an answer is taken in an open loop.
///
/// # Errors
/// The text names no such clock.
pub fn clock_choice(text: &str) -> Result<AnswerClock, ValueError> {
    Ok(match value::word(text, CLOCK_CHOICES)?.as_str() {
        "worker" => AnswerClock::Worker,
        _ => AnswerClock::Auto,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_name_is_taken() {
        for (text, choice) in [
            ("auto", IoChoice::Auto),
            ("poll", IoChoice::Reactor),
            ("mio", IoChoice::Reactor),
            ("uring", IoChoice::Uring),
        ] {
            assert_eq!(io_choice(text), Ok(choice), "{text}");
        }
        assert!(io_choice("epoll").is_err_and(|error| error.native.contains("poll")));
    }
}
