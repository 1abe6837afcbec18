//! Standard output as ab uses it.

use std::io::Write as _;

/// Prints a text at once. A reader that closed the pipe is no error.
pub(super) fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).ok();
}
