//! Replay: hits at the moments of a recorded column of timestamps, one a line.
//!
//! A line holds a number, or a Go duration (`1.5s`), or several columns of which the first is taken (split at a comma,
//! semicolon or blank). What a number means follows from the greatest in the column: from 10^17 on Unix nanoseconds, from 10^14
//! Unix microseconds, from 10^11 Unix milliseconds, below that seconds, with or without a fraction. The earliest moment becomes
//! 0 and the lines are sorted. Calendar dates are not read.
//!
//! A file whose first line is `RATExTIME`, as in `-shape=steps:`, is a list of such steps, one a line: the rate of a log by the minute.
//! What follows a `#` in a line is a comment.

use std::sync::Arc;

use stdx::Nanos;
use thiserror::Error;

use super::parse::{ShapeError, step};
use super::shape::Shape;
use super::steps::Step;

/// The most moments of a replay: 10 million, 80 MB.
pub const REPLAY_MAX: usize = 10_000_000;

/// Reads replays.
#[derive(Clone, Copy, Debug)]
pub struct Replay;

/// What is wrong with a column of timestamps.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayProblem {
    /// A line is no timestamp.
    #[error(
        "line {line}: expected a timestamp (seconds, Unix milliseconds or nanoseconds, or a duration), found \"{found}\""
    )]
    NotATime {
        /// The line's number, from 1.
        line: u64,
        /// What stands there, cut to 100 characters.
        found: String,
    },
    /// There are more lines than a replay may have.
    #[error("line {line}: more than {REPLAY_MAX} timestamps")]
    TooMany {
        /// The first line too many, from 1.
        line: u64,
    },
    /// A line of a file of rates is none.
    #[error("line {line}: {source}")]
    NotAStep {
        /// The line's number, from 1.
        line: u64,
        /// What was expected.
        source: ShapeError,
    },
    /// There is no timestamp at all.
    #[error("no timestamps to replay")]
    Empty,
}

impl Replay {
    /// Reads a column of timestamps, one a line; blank lines and lines that begin with `#` are skipped, and so is a first line
    /// that is no timestamp (a heading). All problems are reported; the shape holds the lines that could be read.
    #[must_use]
    pub fn from_lines(text: &str) -> (Shape, Vec<ReplayProblem>) {
        let is_content = |line: &&str| !line.is_empty() && !line.starts_with('#');
        let first = text.lines().map(content).find(is_content);
        if first.is_some_and(|line| step(line).is_ok()) {
            return steps(text);
        }
        let mut column = Column::default();
        for (number, line) in (1..).zip(text.lines()) {
            if !column.read(number, line) {
                break;
            }
        }
        if column.values.is_empty() && column.problems.is_empty() {
            column.problems.push(ReplayProblem::Empty);
        }
        (Shape::Replay(column.moments()), column.problems)
    }
}

/// The steps of a file of rates.
fn steps(text: &str) -> (Shape, Vec<ReplayProblem>) {
    let mut steps: Vec<Step> = Vec::new();
    let mut problems = Vec::new();
    for (line, text) in (1..).zip(text.lines().map(content)).filter(|(_, text)| !text.is_empty()) {
        match step(text) {
            Ok(step) => steps.push(step),
            Err(source) => problems.push(ReplayProblem::NotAStep { line, source }),
        }
        if problems.len() == PROBLEMS_MAX {
            break;
        }
    }
    (Shape::Steps(steps), problems)
}

/// A line without its comment.
fn content(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

/// A timestamp as it stands there; numbers have no unit yet.
#[derive(Clone, Copy)]
enum Stamp {
    /// A number in 10^-9 of its unit.
    Number(i128),
    Duration(Nanos),
}

#[derive(Default)]
struct Column {
    values: Vec<Stamp>,
    problems: Vec<ReplayProblem>,
    /// A line that is neither blank nor a comment was seen.
    begun: bool,
}

impl Column {
    /// Reads a line; `false` where reading must stop.
    fn read(&mut self, line: u64, text: &str) -> bool {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            return true;
        }
        let heading = !self.begun && !text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        self.begun = true;
        match stamp(first_column(text)) {
            Some(_) if self.values.len() == REPLAY_MAX => {
                self.problems.push(ReplayProblem::TooMany { line });
                return false;
            }
            Some(stamp) => self.values.push(stamp),
            None if heading => {}
            None => {
                let found = text.chars().take(100).collect();
                self.problems.push(ReplayProblem::NotATime { line, found });
            }
        }
        self.problems.len() < PROBLEMS_MAX
    }

    /// The moments from the earliest, in order.
    fn moments(&self) -> Arc<[Nanos]> {
        let number = |stamp: &Stamp| match stamp {
            Stamp::Number(number) => Some(number.abs()),
            Stamp::Duration(_) => None,
        };
        let divisor = divisor(self.values.iter().filter_map(number).max().unwrap_or(0));
        let nanos = |stamp: &Stamp| match stamp {
            Stamp::Number(number) => number.div_euclid(divisor),
            Stamp::Duration(nanos) => i128::from(nanos.0),
        };
        let mut moments: Vec<i128> = self.values.iter().map(nanos).collect();
        moments.sort_unstable();
        let first = moments.first().copied().unwrap_or(0);
        let offset = |moment: i128| Nanos(u64::try_from(moment - first).unwrap_or(u64::MAX));
        moments.into_iter().map(offset).collect()
    }
}

/// What 10^-9 units of the column must be divided by to be nanoseconds, from its greatest number (in 10^-9 units).
fn divisor(greatest: i128) -> i128 {
    const BILLION: i128 = 1_000_000_000;
    match greatest / BILLION {
        100_000_000_000_000_000.. => BILLION,
        100_000_000_000_000.. => 1_000_000,
        100_000_000_000.. => 1_000,
        _ => 1,
    }
}

fn first_column(text: &str) -> &str {
    text.split([',', ';', ' ', '\t']).next().unwrap_or("").trim_matches('"')
}

fn stamp(text: &str) -> Option<Stamp> {
    if let Some(number) = number(text) {
        return Some(Stamp::Number(number));
    }
    Nanos::parse(text).ok().map(Stamp::Duration)
}

/// A decimal number in 10^-9 units; digits beyond the ninth are dropped. At most 20 digits before the point.
fn number(text: &str) -> Option<i128> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || whole.len() > 20 || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let below = fraction.bytes().chain(std::iter::repeat(b'0')).take(9);
    let below = below.fold(0i128, |sum, digit| sum * 10 + i128::from(digit - b'0'));
    let value = whole.parse::<i128>().ok()? * 1_000_000_000 + below;
    Some(if negative { -value } else { value })
}

/// Problems reported of one column; reading stops there.
const PROBLEMS_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrival::Rate;

    fn moments(text: &str) -> Vec<u64> {
        let (shape, problems) = Replay::from_lines(text);
        assert_eq!(problems, [], "{text:?}");
        let Shape::Replay(moments) = shape else { panic!("no replay") };
        moments.iter().map(|moment| moment.0).collect()
    }

    #[test]
    fn units_follow_from_the_greatest_number() {
        let cases: [(&str, &[u64]); 8] = [
            ("0\n0.5\n2", &[0, 500_000_000, 2_000_000_000]),
            ("1500000000.25\n1500000001.5", &[0, 1_250_000_000]),
            ("1500000000250\n1500000001500\n", &[0, 1_250_000_000]),
            ("1500000000250001\n1500000001500000", &[0, 1_249_999_000]),
            ("1500000000000000007\n1500000000000000010", &[0, 3]),
            ("1s\n1.5s\n1m", &[0, 500_000_000, 59_000_000_000]),
            ("time,status\n3,200\n1,500\n# note\n\n\"2\",404", &[0, 1_000_000_000, 2_000_000_000]),
            ("-1\n1", &[0, 2_000_000_000]),
        ];
        for (text, expect) in cases {
            assert_eq!(moments(text), expect, "{text:?}");
        }
    }

    #[test]
    fn every_bad_line_is_named() {
        let (shape, problems) = Replay::from_lines("1\nyesterday\n2\n2026-01-01T00:00:00Z\n");
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(lines[0].starts_with("line 2: expected a timestamp"), "{lines:?}");
        assert!(lines[1].contains("found \"2026-01-01T00:00:00Z\""), "{lines:?}");
        assert_eq!((lines.len(), shape.planned(None)), (2, Some(2)));
        assert_eq!(Replay::from_lines("# nothing\n").1, [ReplayProblem::Empty]);
        assert_eq!(Replay::from_lines(&"x\n".repeat(1000)).1.len(), PROBLEMS_MAX);
    }

    #[test]
    fn a_file_of_rates_is_steps() {
        let text = "# by the minute\n120/mx1m # 10:00Z\n\n0/mx3m\n60/mx1m\n";
        let (shape, problems) = Replay::from_lines(text);
        assert_eq!(problems, []);
        let step = |hits, minutes: u64| Step {
            rate: Rate { hits, per: Nanos::from_secs(60) },
            lasts: Nanos::from_secs(minutes * 60),
        };
        let Shape::Steps(steps) = &shape else { panic!("{shape:?}") };
        assert_eq!((steps[0], steps.len()), (step(120, 1), 3));
        assert_eq!(shape.planned(None), Some(180));
        let (_, problems) = Replay::from_lines("1x1s\n17\n2x\n");
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].to_string().starts_with("line 2: "), "{}", problems[0]);
    }
}
