//! Lines of a reader, one at a time, with a bound on their length and one line of sight ahead.

use std::io::{BufRead, ErrorKind, Read};

use super::grammar::{Grammar, LINE_MAX};
use super::problem::ProblemKind;

/// The longest line Vegeta's scanner takes; a longer one ends its input.
const VEGETA_LINE_MAX: usize = 65_535;

/// A line without its end.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) text: String,
    /// A newline stood behind it.
    pub(super) ended: bool,
}

/// Lines of a reader. After a problem of the input itself there are no more.
pub(super) struct Lines<R> {
    input: R,
    ahead: Option<Line>,
    number: u64,
    /// The input is not to be read any further.
    over: bool,
    max: usize,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, ahead: None, number: 0, over: false, max: LINE_MAX }
    }

    /// As Vegeta's scanner has it for the grammar of lines.
    pub(super) fn scanned(input: R, grammar: Grammar) -> Self {
        let max = match grammar {
            Grammar::Native => LINE_MAX,
            Grammar::Vegeta => VEGETA_LINE_MAX,
        };
        Self { max, ..Self::new(input) }
    }

    /// The number of the line read last.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The next line; it stays the next line.
    pub(super) fn peek(&mut self) -> Result<Option<&Line>, ProblemKind> {
        if self.ahead.is_none() {
            self.ahead = self.read()?;
        }
        Ok(self.ahead.as_ref())
    }

    pub(super) fn next(&mut self) -> Result<Option<Line>, ProblemKind> {
        match self.ahead.take() {
            Some(line) => Ok(Some(line)),
            None => self.read(),
        }
    }

    fn read(&mut self) -> Result<Option<Line>, ProblemKind> {
        if self.over {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let read = (&mut self.input).take(self.max as u64 + 1).read_until(b'\n', &mut bytes);
        match read {
            Ok(0) => {
                self.over = true;
                return Ok(None);
            }
            Ok(_) if self.number == 0 && stdx::is_utf_16(&bytes) => {
                self.over = true;
                return Err(ProblemKind::Input {
                    reason: "it is UTF-16 (expected UTF-8)".to_owned(),
                });
            }
            Ok(_) => {
                if self.number == 0 {
                    let mark = bytes.len() - stdx::without_byte_order_mark(&bytes).len();
                    bytes.drain(..mark);
                }
                self.number += 1;
            }
            Err(error) => {
                self.over = true;
                let reason = match error.kind() {
                    ErrorKind::InvalidData => "it is damaged".to_owned(),
                    _ => error.to_string(),
                };
                return Err(ProblemKind::Input { reason });
            }
        }
        let ended = bytes.last() == Some(&b'\n');
        if ended {
            bytes.pop();
        } else if bytes.len() > self.max {
            self.over = true;
            return Err(ProblemKind::LineTooLong);
        }
        let text = String::from_utf8(bytes).map_err(|_| ProblemKind::NotText)?;
        Ok(Some(Line { number: self.number, text, ended }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_issue_41_a_byte_order_mark_is_no_part_of_the_first_line() {
        let mut lines = Lines::new(&b"\xef\xbb\xbfGET http://h/\n\xef\xbb\xbfx\n"[..]);
        let text = |line: Option<Line>| line.map(|line| line.text);
        assert_eq!(text(lines.next().expect("a line")).as_deref(), Some("GET http://h/"));
        assert_eq!(text(lines.next().expect("a line")).as_deref(), Some("\u{feff}x"));
        let mut wide = Lines::new(&b"\xff\xfeG\0\n\0"[..]);
        assert!(wide.next().is_err() && wide.next().is_ok_and(|line| line.is_none()));
    }
}
