//! Lines of `fleet` on standard output.

use std::io::Write as _;

use anyhow::anyhow;
use cli::{is_closed_pipe, reason};

/// Prints it at once, so that a script that started us can read it.
pub(super) fn print_line(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout();
    let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
    match written {
        Err(error) if !is_closed_pipe(&error) => {
            Err(anyhow!("standard output: {}", reason(&error)))
        }
        _ => Ok(()),
    }
}
