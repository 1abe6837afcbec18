//! `TerminalWriter`: rows on their way to a terminal, which foreign text in them cannot steer.

use std::io::{self, Write};

/// Replaces what steers a terminal or the text beside it, other than line breaks and tabs, by U+FFFD. What is written is UTF-8; bytes that are not become
/// U+FFFD as well, since terminals take some of them for control characters.
pub struct TerminalWriter<W> {
    terminal: W,
    /// The beginning of a character whose end has not been written yet; three bytes at most.
    begun: Vec<u8>,
}

impl<W: Write> TerminalWriter<W> {
    /// Writes to this terminal.
    pub fn new(terminal: W) -> Self {
        Self { terminal, begun: Vec::new() }
    }
}

impl<W: Write> Write for TerminalWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        self.begun = all.split_off(all.len() - begun_len(&all));
        self.terminal.write_all(neutral(&String::from_utf8_lossy(&all)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.terminal.flush()
    }
}

/// The length of the character that these bytes end in before it is whole.
fn begun_len(bytes: &[u8]) -> usize {
    // The last character alone decides, and begins at most three bytes before the end where it is not whole.
    let from = bytes.len().saturating_sub(3);
    let is_first = |byte: u8| byte & 0xc0 == 0xc0;
    let Some(at) = bytes[from..].iter().rposition(|byte| is_first(*byte)) else { return 0 };
    let last = &bytes[from + at..];
    match std::str::from_utf8(last) {
        Err(error) if error.error_len().is_none() => last.len(),
        _ => 0,
    }
}

fn neutral(text: &str) -> String {
    let is_harmless = |c: char| !stdx::steers(c) || matches!(c, '\n' | '\t');
    text.chars().map(|c| if is_harmless(c) { c } else { '\u{fffd}' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_19_rows_steer_no_terminal_however_they_are_split() {
        let rows = "1,200,\"\u{1b}]0;owned\u{7}\"\n2,\té\u{9b}2J€\u{1f600}\r\n".as_bytes();
        let rows = [rows, b"\x9b2J\xff\xe2\x82x\n"].concat();
        let shown = "1,200,\"\u{fffd}]0;owned\u{fffd}\"\n2,\té\u{fffd}2J€\u{1f600}\u{fffd}\n\u{fffd}2J\u{fffd}\u{fffd}x\n";
        for len in 1..=rows.len() {
            let mut terminal = Vec::new();
            let mut writer = TerminalWriter::new(&mut terminal);
            rows.chunks(len).for_each(|part| writer.write_all(part).unwrap());
            assert_eq!(String::from_utf8(terminal).unwrap(), shown, "{len} bytes at a time");
        }
    }
}
