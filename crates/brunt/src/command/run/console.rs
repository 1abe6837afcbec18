//! The log on standard error, in k6's two forms: for a terminal, and for a file.

use std::io::IsTerminal as _;
use std::time::Instant;

use script::Level;

use crate::output;

/// Writes a line of a script's log.
pub(super) fn log(began: Instant, level: Level, source: &str, text: &str) {
    let word = match level {
        Level::Debug => return,
        Level::Info => "info",
        Level::Warn => "warning",
        Level::Error => "error",
    };
    if std::io::stderr().is_terminal() {
        let short = &word.to_uppercase()[..4];
        let seconds = began.elapsed().as_secs();
        output::complain(&format!("{short}[{seconds:04}] {text:<44} source={source}"));
    } else {
        output::complain(&format!("{} source={source}", line(word, text)));
    }
}

/// Writes a line of our own.
pub(super) fn complain(level: &str, text: &str) {
    output::complain(&line(level, text));
}

fn line(level: &str, text: &str) -> String {
    let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
    format!("time=\"{time}\" level={level} msg={}", quoted(text))
}

/// A text as Go quotes it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            letter if letter.is_control() => {
                quoted.push_str(&format!("\\x{:02x}", u32::from(letter)));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_as_go_does() {
        assert_eq!(quoted("a \"b\"\n\\\tü\u{1}"), "\"a \\\"b\\\"\\n\\\\\\tü\\x01\"");
    }
}
