//! `Log`: what brunt and the script print meanwhile, as the live page lists it: the newest lines, without what steers a terminal.

use std::collections::VecDeque;

use serde_json::{Value, json};

/// Lines that are shown at most.
const LINES_MAX: usize = 300;
/// Characters of a line.
const CHARS_MAX: usize = 1000;

/// The newest lines, each with its Unix time in milliseconds.
#[derive(Debug, Default)]
pub(super) struct Log(VecDeque<(i64, String)>);

impl Log {
    /// Adds what was printed at this time (Unix ms). The lines as the page gets them.
    pub(super) fn add(&mut self, at: i64, texts: &[String]) -> Value {
        let lines = texts.iter().flat_map(|text| text.lines()).map(|line| (at, plain(line)));
        let lines: Vec<(i64, String)> = lines.filter(|(_, line)| !line.is_empty()).collect();
        let skipped = lines.len().saturating_sub(LINES_MAX);
        let lines = &lines[skipped..];
        self.0.extend(lines.iter().cloned());
        self.0.drain(..self.0.len().saturating_sub(LINES_MAX));
        json!(lines)
    }

    /// All lines.
    pub(super) fn json(&self) -> Value {
        json!(self.0)
    }
}

/// A line without its colours and other orders to a terminal (ECMA-48, 5.4).
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line.chars();
    while let Some(char) = rest.next() {
        match char {
            '\x1b' if rest.clone().next() == Some('[') => {
                rest.next();
                // Parameters, then a final byte.
                let _ = rest.by_ref().find(|char| ('@'..='~').contains(char));
            }
            '\t' => out.push(' '),
            char if stdx::steers(char) => {}
            char => out.push(char),
        }
        if out.len() >= 4 * CHARS_MAX {
            break;
        }
    }
    out.chars().take(CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_lines_stay() {
        let mut log = Log::default();
        assert_eq!(
            log.add(5, &["one\ntwo".into(), String::new()]),
            json!([[5, "one"], [5, "two"]])
        );
        for number in 0..1000 {
            log.add(6, &[number.to_string()]);
        }
        let all = log.json();
        assert_eq!(all.as_array().unwrap().len(), LINES_MAX);
        assert_eq!(all[LINES_MAX - 1], json!([6, "999"]));
        let many: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        assert_eq!(log.add(7, &many).as_array().unwrap().len(), LINES_MAX);
    }

    #[test]
    fn orders_to_a_terminal_are_left_out() {
        assert_eq!(
            plain("\x1b[33mWARN\x1b[0m[0001] it\x07s \x1b]0;title"),
            "WARN[0001] its ]0;title"
        );
        assert_eq!(plain(&"x".repeat(5000)).len(), CHARS_MAX);
        assert_eq!(plain("\x1b["), "");
    }
}
