//! `Limit`: the change of a measure that a comparison reports, such as `p99>+5%`: its grammar, and whether a change stays
//! within it.
//!
//! ```text
//! limit   = measure (">" | "<") ["+" | "-"] number "%"
//! measure = "mean" | "p50" | "p90" | "p99" | "throughput" | "errors", or another of its names, as "latency.p99"
//! ```
//!
//! It names the *unwanted* change: `throughput<-5%` is a throughput that fell by more than 5 %. Errors change by points:
//! `errors>+0.1%` is from 1 % to more than 1.1 %.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::measure::{Change, Finding, Measure, Rules};

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
pub enum LimitVerdict {
    /// The change is not beyond it.
    Within,
    /// It is, and it is a difference.
    Exceeded,
    /// It is, and chance may have done it: the runs are too few for their noise.
    Unclear,
    /// No statement is possible: there are fewer runs than [`RUNS_MIN`](super::RUNS_MIN), or nothing to compare.
    Undecided,
}

/// Why a text is no limit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LimitError {
    /// There is neither `>` nor `<`.
    #[error("\"{0}\" compares nothing (expected such as p99>+5%, throughput<-5%)")]
    Side(String),
    /// The text before it is not a measure.
    #[error("\"{0}\" is no metric (expected mean, p50, p90, p99, throughput or errors)")]
    Measure(String),
    /// The text after it is not a change in percent.
    #[error("\"{0}\" is no change (expected percent, such as +5%)")]
    Bound(String),
}

impl Limit {
    /// Judges a change of this measure. `unproven` is the verdict on a change beyond the limit that may be chance:
    /// [`LimitVerdict::Unclear`], or with too few runs [`LimitVerdict::Undecided`]. A limit below the least change that matters
    /// by the rules replaces that least change: a limit states that the change matters.
    #[must_use]
    pub fn judge(&self, change: &Change, rules: &Rules, unproven: LimitVerdict) -> LimitVerdict {
        debug_assert!(change.measure == self.measure);
        let is_beyond = self.is_beyond(change.change);
        let bound = self.bound.abs();
        let rules = Rules {
            effect_min: rules.effect_min.min(bound),
            errors_min: rules.errors_min.min(bound),
            ..*rules
        };
        match (is_beyond, change.finding(&rules)) {
            (false, _) => LimitVerdict::Within,
            (true, Finding::Better | Finding::Worse | Finding::Differs) => LimitVerdict::Exceeded,
            (true, Finding::Same | Finding::CannotTell) => unproven,
        }
    }

    /// A change in this interval may be beyond the limit.
    #[must_use]
    pub fn is_crossed_within(&self, (low, high): (f64, f64)) -> bool {
        self.is_beyond(low) || self.is_beyond(high)
    }

    fn is_beyond(&self, change: f64) -> bool {
        match self.side {
            Side::Above => change > self.bound,
            Side::Below => change < self.bound,
        }
    }
}

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let at = text.find(['<', '>']).ok_or_else(|| LimitError::Side(text.to_owned()))?;
        let (name, rest) = (text[..at].trim(), text[at + 1..].trim());
        let side = if text[at..].starts_with('>') { Side::Above } else { Side::Below };
        let measure = Measure::named(name).ok_or_else(|| LimitError::Measure(name.to_owned()))?;
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
        // Rounded to a millionth of a percent: 0.05 as a float is not exactly 5 / 100.
        let percent = (self.bound * 1e8).round() / 1e6;
        write!(f, "{}{side}{percent:+}%", self.measure.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change by so much, with an interval of a tenth of it to either side, beyond chance or not.
    fn change(measure: Measure, change: f64, p: f64) -> Change {
        let (low, high) = (change - change.abs() / 10.0, change + change.abs() / 10.0);
        // Where chance is not excluded, the interval reaches to the other side of 0.
        let low = if p <= 0.05 { low } else { low.min(-change.abs() / 2.0) };
        let (centres, interval, floor) = ((1.0, 1.0), Some((low, high)), None);
        let (finding, runs_needed) = (Finding::CannotTell, None);
        let mut change = Change {
            measure,
            centres,
            change,
            interval,
            floor,
            p,
            p_family: p,
            finding,
            runs_needed,
        };
        change.finding = change.finding(&Rules::default());
        change
    }

    #[test]
    fn limits_are_read_and_written() {
        let cases = [
            ("p99>+5%", "latency.p99>+5%"),
            ("latency.mean > 7.5 %", "latency.mean>+7.5%"),
            ("median>5%", "latency.p50>+5%"),
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
    fn what_is_none_is_reported() {
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
        let rules = Rules::default();
        let cases = [
            (0.06, 0.01, Finding::Worse, LimitVerdict::Exceeded),
            (0.06, 0.5, Finding::CannotTell, LimitVerdict::Unclear),
            (0.04, 0.5, Finding::CannotTell, LimitVerdict::Within),
            (0.04, 0.01, Finding::Worse, LimitVerdict::Within),
            (-0.2, 0.01, Finding::Better, LimitVerdict::Within),
        ];
        for (by, p, finding, verdict) in cases {
            let change = change(Measure::P99, by, p);
            assert_eq!(change.finding, finding, "{by}");
            assert_eq!(limit.judge(&change, &rules, LimitVerdict::Unclear), verdict, "{by}");
            let undecided =
                if verdict == LimitVerdict::Unclear { LimitVerdict::Undecided } else { verdict };
            assert_eq!(limit.judge(&change, &rules, LimitVerdict::Undecided), undecided, "{by}");
        }
        let slower: Limit = "throughput<-5%".parse().unwrap();
        let fell = change(Measure::Throughput, -0.06, 0.01);
        assert_eq!(slower.judge(&fell, &rules, LimitVerdict::Unclear), LimitVerdict::Exceeded);
    }

    /// 2 % is the least change that matters, 0.1 points of errors; a limit may ask for less.
    #[test]
    fn a_limit_below_the_least_change_counts_by_itself() {
        let judge = |limit: &str, by: f64, p: f64| {
            let limit: Limit = limit.parse().unwrap();
            let change = change(limit.measure, by, p);
            assert_eq!(change.finding, Finding::Same, "{limit}: {by}");
            limit.judge(&change, &Rules::default(), LimitVerdict::Unclear)
        };
        assert_eq!(judge("p99>+1%", 0.015, 0.01), LimitVerdict::Exceeded);
        assert_eq!(judge("p99>+1%", 0.015, 0.5), LimitVerdict::Unclear);
        assert_eq!(judge("p99>+1%", 0.009, 0.01), LimitVerdict::Within);
        assert_eq!(judge("p99>+0%", 0.001, 0.01), LimitVerdict::Exceeded);
        assert_eq!(judge("throughput<-1%", -0.015, 0.01), LimitVerdict::Exceeded);
        assert_eq!(judge("errors>+0.01%", 0.0005, 0.01), LimitVerdict::Exceeded);
    }
}
