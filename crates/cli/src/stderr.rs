//! Lines on standard error, which people read.

use std::io::{self, Write};

/// Writes a line (or a few) to standard error. Where the screen is taken it waits. A failure to write is ignored: there is no better place to report it.
pub fn eprint_line(text: &str) {
    if let Some(text) = crate::screen::hold(text) {
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
    fn log_time_has_gos_shape() {
        let shape: String =
            log_time().chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(shape, "0000/00/00 00:00:00");
    }
}
