//! `Limit`: by how much a measure may change before somebody must be told, such as `p99>+5%`: its grammar, and whether a change
//! keeps it.
//!
//! ```text
//! limit   = measure (">" | "<") ["+" | "-"] number "%"
//! measure = "mean" | "p50" | "p90" | "p99" | "throughput" | "errors", or its whole name as "latency.p99"
//! ```
//!
//! It names what is *not* wanted: `throughput<-5%` is a throughput that fell by more than 5 %. Errors change by points:
//! `errors>+0.1%` is from 1 % to more than 1.1 %.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Change, Finding, Measure};

/// A change that is not wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Of what.
    pub measure: Measure,
    /// Changes above the bound are not wanted, or those below it.
    side: Side,
    /// The bound, as a share.
    pub bound: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Above,
    Below,
}

/// What a change says of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The change is not beyond it.
    Kept,
    /// It is, and it is a difference.
    Passed,
    /// It is, and chance may have done it.
    Unclear,
    /// Nothing can be said: so few runs cannot rule chance out, whatever they show, or there is nothing to compare.
    Undecided,
}

/// Why a text is no limit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LimitError {
    /// There is neither `>` nor `<`.
    #[error("\"{0}\" compares nothing (expected such as p99>+5%, throughput<-5%)")]
    Side(String),
    /// What stands before it is no measure.
    #[error("\"{0}\" is no metric (expected mean, p50, p90, p99, throughput or errors)")]
    Measure(String),
    /// What stands behind it is no change in percent.
    #[error("\"{0}\" is no change (expected percent, such as +5%)")]
    Bound(String),
}

impl Limit {
    /// Whether a change, which must be of this measure, keeps it. Beyond it, `unproven` is what is said of one that chance may
    /// have done: [`Kept::Unclear`], or with too few runs [`Kept::Undecided`].
    #[must_use]
    pub fn judge(&self, change: &Change, unproven: Kept) -> Kept {
        debug_assert!(change.measure == self.measure);
        let is_beyond = match self.side {
            Side::Above => change.change > self.bound,
            Side::Below => change.change < self.bound,
        };
        match (is_beyond, change.finding) {
            (false, _) => Kept::Kept,
            (true, Finding::Better | Finding::Worse | Finding::Differs) => Kept::Passed,
            (true, Finding::Same | Finding::CannotTell) => unproven,
        }
    }
}

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let at = text.find(['<', '>']).ok_or_else(|| LimitError::Side(text.to_owned()))?;
        let (name, rest) = (text[..at].trim(), text[at + 1..].trim());
        let side = if text[at..].starts_with('>') { Side::Above } else { Side::Below };
        let is_called = |measure: &Measure| {
            let whole = measure.name();
            whole == name || whole.strip_prefix("latency.") == Some(name)
        };
        let measure = Measure::ALL.into_iter().find(is_called);
        let measure = measure.ok_or_else(|| LimitError::Measure(name.to_owned()))?;
        let percent = rest.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        let percent = percent.filter(|percent| percent.is_finite());
        let bound = percent.ok_or_else(|| LimitError::Bound(rest.to_owned()))? / 100.0;
        Ok(Self { measure, side, bound })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Above => '>',
            Side::Below => '<',
        };
        // To a millionth of a percent: 5 % is kept as 0.05, which is not quite 5 / 100.
        let percent = (self.bound * 1e8).round() / 1e6;
        write!(f, "{}{side}{percent:+}%", self.measure.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(measure: Measure, change: f64, finding: Finding) -> Change {
        let (medians, interval, floor) = ((1.0, 1.0), None, None);
        Change { measure, medians, change, interval, floor, p: 1.0, p_family: 1.0, finding }
    }

    #[test]
    fn limits_are_read_and_written() {
        let cases = [
            ("p99>+5%", "latency.p99>+5%"),
            ("latency.mean > 7.5 %", "latency.mean>+7.5%"),
            ("throughput<-5%", "throughput<-5%"),
            ("errors>0.1%", "errors>+0.1%"),
        ];
        for (text, shown) in cases {
            let limit: Limit = text.parse().unwrap();
            assert_eq!(limit.to_string(), shown);
            assert_eq!(shown.parse(), Ok(limit));
        }
    }

    #[test]
    fn what_is_none_is_said() {
        let cases = [
            ("", "compares nothing"),
            ("p99+5%", "compares nothing"),
            ("p98>5%", "\"p98\" is no metric"),
            (">5%", "\"\" is no metric"),
            ("p99>5", "\"5\" is no change"),
            ("p99>%", "is no change"),
            ("p99>=5%", "is no change"),
            ("p99>inf%", "is no change"),
        ];
        for (text, words) in cases {
            let error = text.parse::<Limit>().unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn a_limit_is_passed_by_a_difference_alone() {
        let limit: Limit = "p99>+5%".parse().unwrap();
        let cases = [
            (0.06, Finding::Worse, Kept::Passed),
            (0.06, Finding::CannotTell, Kept::Unclear),
            (0.04, Finding::CannotTell, Kept::Kept),
            (0.04, Finding::Worse, Kept::Kept),
            (-0.2, Finding::Better, Kept::Kept),
        ];
        for (by, finding, kept) in cases {
            let change = change(Measure::P99, by, finding);
            assert_eq!(limit.judge(&change, Kept::Unclear), kept, "{by}");
            let undecided = if kept == Kept::Unclear { Kept::Undecided } else { kept };
            assert_eq!(limit.judge(&change, Kept::Undecided), undecided, "{by}");
        }
        let slower: Limit = "throughput<-5%".parse().unwrap();
        let fell = change(Measure::Throughput, -0.06, Finding::Worse);
        assert_eq!(slower.judge(&fell, Kept::Unclear), Kept::Passed);
    }
}
