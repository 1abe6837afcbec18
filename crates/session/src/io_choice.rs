//! The value of `--io`.

use cli::{ValueError, value};
use engine::IoChoice;

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
