//! `Objective`: what a server must keep, such as `p99<250ms, errors<0.1%`: its grammar, and whether figures meet it.
//!
//! ```text
//! objective = condition {"," condition}
//! condition = metric ("<" | "<=" | ">" | ">=") limit
//! metric    = "p50" | "p99.9" | any pNN.N | "mean" | "max" | "errors"; or by another of its names (metric_name)
//! limit     = a Go duration; for errors a share: 0.1% or 0.001
//! ```
//!
//! Latencies are response times, from the moment a hit was due. Errors are hits not answered with success.

use std::fmt;
use std::str::FromStr;

use stdx::{DurationError, Nanos};
use thiserror::Error;

use crate::metric_name::of_latency;
use crate::{Sample, Summary};

/// The most conditions of an objective.
pub const CONDITIONS_MAX: usize = 8;
/// Figures this close to their limit, as a share of it, are at the limit.
const ROUNDING: f64 = 1e-9;

/// What a server must keep: one to [`CONDITIONS_MAX`] conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    conditions: Vec<Condition>,
}

/// One figure and its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Which figure.
    pub metric: Metric,
    /// On which side of the limit it must lie.
    pub op: Op,
    /// The limit: nanoseconds, or for [`Metric::Errors`] a share from 0 to 1.
    pub limit: f64,
}

/// A figure that a condition is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// The response time that this percentage of the hits does not exceed; above 0 and below 100.
    Percentile(f64),
    /// The mean response time.
    Mean,
    /// The longest response time.
    Max,
    /// The share of the hits that were not answered with success.
    Errors,
}

/// On which side of its limit a figure must lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

/// Why a text is no objective. Each names the condition at fault and says what was expected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ObjectiveError {
    /// There is no condition, or nothing between two commas.
    #[error("an empty condition (expected one such as p99<250ms, or several with commas between)")]
    Empty,
    /// There are more than [`CONDITIONS_MAX`] conditions.
    #[error("more than {CONDITIONS_MAX} conditions")]
    TooMany,
    /// A condition has none of `<`, `<=`, `>`, `>=`.
    #[error("\"{0}\" compares nothing (expected <, <=, > or >= as in p99<250ms)")]
    Operator(String),
    /// The text before the comparison is not a metric.
    #[error(
        "\"{metric}\" in \"{part}\" is no metric (expected p50, p99, p99.9, mean, max or errors)"
    )]
    Metric {
        /// The condition.
        part: String,
        /// Its metric.
        metric: String,
    },
    /// A percentile is not between 0 and 100.
    #[error("\"{metric}\" in \"{part}\" is no percentile (expected above p0 and below p100)")]
    Percentile {
        /// The condition.
        part: String,
        /// Its metric.
        metric: String,
    },
    /// The limit of a latency is no duration.
    #[error("\"{part}\": {source}")]
    Duration {
        /// The condition.
        part: String,
        /// What is wrong with its limit.
        source: DurationError,
    },
    /// The limit of a latency is 0.
    #[error("\"{0}\": no answer takes no time (expected a limit above 0)")]
    NoTime(String),
    /// The limit of the errors is no share.
    #[error("\"{limit}\" in \"{part}\" is no share (expected 0% to 100%, or 0 to 1)")]
    Share {
        /// The condition.
        part: String,
        /// Its limit.
        limit: String,
    },
}

impl Objective {
    /// The conditions, in the order they were given.
    #[must_use]
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// The same objective and this condition.
    ///
    /// # Errors
    /// It has [`CONDITIONS_MAX`] already.
    pub fn and(mut self, condition: Condition) -> Result<Self, ObjectiveError> {
        if self.conditions.len() >= CONDITIONS_MAX {
            return Err(ObjectiveError::TooMany);
        }
        self.conditions.push(condition);
        Ok(self)
    }

    /// Whether figures keep every condition. Figures without a hit keep none.
    #[must_use]
    pub fn is_met(&self, summary: &Summary) -> bool {
        self.conditions.iter().all(|condition| condition.is_met(summary))
    }
}

impl Condition {
    /// Whether figures keep it. Figures without a hit do not.
    #[must_use]
    pub fn is_met(&self, summary: &Summary) -> bool {
        summary.requests > 0 && self.op.holds(self.measure(summary), self.limit)
    }

    /// The figure, in the unit of the limit.
    #[must_use]
    pub fn measure(&self, summary: &Summary) -> f64 {
        match self.metric {
            Metric::Percentile(percent) => summary.response.percentile(percent).0 as f64,
            Metric::Mean => summary.response.mean().0 as f64,
            Metric::Max => summary.response.max().0 as f64,
            Metric::Errors => {
                let errors = summary.requests - summary.successes;
                errors as f64 / summary.requests.max(1) as f64
            }
        }
    }

    /// The figure's limit is one from above: the more load, the sooner it is passed.
    #[must_use]
    pub fn is_ceiling(&self) -> bool {
        matches!(self.op, Op::Below | Op::AtMost)
    }

    /// Whether this hit is on the wrong side of a ceiling: it took longer, or it is an error. The mean has no such hits.
    #[must_use]
    pub fn is_passed_by(&self, sample: &Sample) -> bool {
        match self.metric {
            Metric::Percentile(_) | Metric::Max => {
                !self.op.holds(sample.response().0 as f64, self.limit)
            }
            Metric::Errors => !sample.is_success(),
            Metric::Mean => false,
        }
    }

    /// The share of hits that may be on the wrong side of a ceiling, 0 to 1: 1 % for a `p99`. `None` for the mean.
    #[must_use]
    pub fn allowed(&self) -> Option<f64> {
        match self.metric {
            Metric::Percentile(percent) => Some((100.0 - percent) / 100.0),
            Metric::Max => Some(0.0),
            Metric::Errors => Some(self.limit),
            Metric::Mean => None,
        }
    }

    /// Whether a ceiling is met by hits with this share, 0 to 1, on the wrong side (see [`Condition::is_passed_by`]); for the
    /// mean, by hits of this mean in nanoseconds.
    #[must_use]
    pub fn is_kept_by(&self, figure: f64) -> bool {
        let limit = self.allowed().unwrap_or(self.limit);
        // Both were divided, and differ in the last digits where they are the same.
        let figure = if (figure - limit).abs() <= ROUNDING * limit { limit } else { figure };
        match self.metric {
            // The operator already decides which hits are on the wrong side; a p99 leaves out 1 %, so that share is allowed.
            Metric::Percentile(_) | Metric::Max => figure <= limit,
            Metric::Mean | Metric::Errors => self.op.holds(figure, limit),
        }
    }

    /// The limit as a time; `None` for errors.
    #[must_use]
    pub fn limit_time(&self) -> Option<Nanos> {
        (self.metric != Metric::Errors).then_some(Nanos(self.limit as u64))
    }
}

impl Op {
    /// Whether a figure lies on this side of the limit.
    pub(crate) fn holds(self, figure: f64, limit: f64) -> bool {
        match self {
            Self::Below => figure < limit,
            Self::AtMost => figure <= limit,
            Self::Above => figure > limit,
            Self::AtLeast => figure >= limit,
        }
    }
}

impl FromStr for Objective {
    type Err = ObjectiveError;

    fn from_str(text: &str) -> Result<Self, ObjectiveError> {
        let conditions: Vec<Condition> =
            text.split(',').map(|part| part.trim().parse()).collect::<Result<_, _>>()?;
        if conditions.len() > CONDITIONS_MAX {
            return Err(ObjectiveError::TooMany);
        }
        Ok(Self { conditions })
    }
}

impl FromStr for Condition {
    type Err = ObjectiveError;

    fn from_str(part: &str) -> Result<Self, ObjectiveError> {
        if part.is_empty() {
            return Err(ObjectiveError::Empty);
        }
        let at = part.find(['<', '>']).ok_or_else(|| ObjectiveError::Operator(part.to_owned()))?;
        let (metric, rest) = part.split_at(at);
        let (op, limit) = operator(rest);
        let metric = metric_named(part, metric.trim())?;
        let limit = limit_of(part, metric, limit.trim())?;
        Ok(Self { metric, op, limit })
    }
}

/// The comparison that a text begins with, and what follows it.
pub(crate) fn operator(text: &str) -> (Op, &str) {
    let ops = [("<=", Op::AtMost), (">=", Op::AtLeast), ("<", Op::Below)];
    let found = ops.iter().find_map(|(sign, op)| Some((*op, text.strip_prefix(sign)?)));
    found.unwrap_or((Op::Above, text.trim_start_matches('>')))
}

fn metric_named(part: &str, metric: &str) -> Result<Metric, ObjectiveError> {
    let named = || (part.to_owned(), metric.to_owned());
    let short = of_latency(metric);
    match short.as_ref() {
        "mean" => return Ok(Metric::Mean),
        "max" => return Ok(Metric::Max),
        "errors" => return Ok(Metric::Errors),
        _ => {}
    }
    let digits = short.strip_prefix('p').filter(|digits| is_decimal(digits)).ok_or_else(|| {
        let (part, metric) = named();
        ObjectiveError::Metric { part, metric }
    })?;
    let percent = digits.parse().ok().filter(|percent| *percent > 0.0 && *percent < 100.0);
    percent.map(Metric::Percentile).ok_or_else(|| {
        let (part, metric) = named();
        ObjectiveError::Percentile { part, metric }
    })
}

/// Digits, with at most one point among them.
pub(crate) fn is_decimal(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && text.bytes().filter(|byte| *byte == b'.').count() <= 1
}

fn limit_of(part: &str, metric: Metric, limit: &str) -> Result<f64, ObjectiveError> {
    if metric == Metric::Errors {
        return share(limit).ok_or_else(|| ObjectiveError::Share {
            part: part.to_owned(),
            limit: limit.to_owned(),
        });
    }
    match Nanos::parse(limit) {
        Ok(Nanos::ZERO) => Err(ObjectiveError::NoTime(part.to_owned())),
        Ok(time) => Ok(time.0 as f64),
        Err(source) => Err(ObjectiveError::Duration { part: part.to_owned(), source }),
    }
}

/// A share from 0 to 1, with or without a percent sign.
pub(crate) fn share(text: &str) -> Option<f64> {
    let (digits, scale) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let share = digits.parse::<f64>().ok().filter(|_| is_decimal(digits))? / scale;
    (0.0..=1.0).contains(&share).then_some(share)
}

impl fmt::Display for Objective {
    /// As [`Objective::from_str`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, condition) in self.conditions.iter().enumerate() {
            write!(f, "{}{condition}", if at > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.metric, self.op)?;
        match self.limit_time() {
            Some(time) => write!(f, "{time}"),
            // To nine digits: what multiplying by 100 added in the last one is no part of the limit.
            None => write!(f, "{}%", (self.limit * 1e11).round() / 1e9),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percentile(percent) => write!(f, "p{percent}"),
            Self::Mean => f.write_str("mean"),
            Self::Max => f.write_str("max"),
            Self::Errors => f.write_str("errors"),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Batch;

    #[test]
    fn objectives_are_read_and_printed() {
        let cases = [
            ("p99<250ms", "p99<250ms"),
            ("p99 < 250ms, errors < 0.1%", "p99<250ms, errors<0.1%"),
            (" p99.9<=1s ,mean<30ms,max<2m", "p99.9<=1s, mean<30ms, max<2m0s"),
            ("errors<0.001", "errors<0.1%"),
            ("errors<=0", "errors<=0%"),
            ("errors<7%", "errors<7%"),
            ("p50>10ms,mean>=1us", "p50>10ms, mean>=1µs"),
            ("p05<1ms", "p5<1ms"),
        ];
        for (text, printed) in cases {
            let objective: Objective = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(objective.to_string(), printed);
            assert_eq!(printed.parse(), Ok(objective));
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            ("", "an empty condition"),
            ("p99<1s,", "an empty condition"),
            ("p99=1s", "\"p99=1s\" compares nothing"),
            ("p99", "\"p99\" compares nothing"),
            ("q99<1s", "\"q99\" in \"q99<1s\" is no metric (expected p50"),
            ("p<1s", "\"p\" in \"p<1s\" is no metric"),
            ("p9.9.9<1s", "is no metric"),
            ("<1s", "\"\" in \"<1s\" is no metric"),
            ("p100<1s", "\"p100\" in \"p100<1s\" is no percentile"),
            ("p0<1s", "is no percentile"),
            ("p99<250", "\"p99<250\": missing unit in duration \"250\""),
            ("p99<", "\"p99<\": invalid duration \"\""),
            ("p99<<1s", "invalid duration"),
            ("mean<0", "\"mean<0\": no answer takes no time"),
            ("errors<101%", "\"101%\" in \"errors<101%\" is no share"),
            ("errors<-1", "is no share"),
            ("errors<NaN", "is no share"),
            ("errors<1ms", "is no share"),
            ("max<1s,max<1s,max<1s,max<1s,max<1s,max<1s,max<1s,max<1s,max<1s", "more than 8"),
        ];
        for (text, words) in cases {
            let error = text.parse::<Objective>().expect_err(text).to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    /// A hundred hits of 1 ms to 100 ms, the last one without an answer.
    fn hundred() -> Batch {
        let sample = |ms: u64| Sample {
            done: Nanos::from_millis(ms),
            outcome: crate::Outcome::http(if ms == 100 { 0 } else { 200 }),
            failure: if ms == 100 { crate::FailureKind::Timeout } else { crate::FailureKind::None },
            ..Sample::default()
        };
        Batch { samples: (1..=100).map(sample).collect(), ..Batch::default() }
    }

    #[test]
    fn figures_keep_it_or_not() {
        let mut summary = Summary::new();
        summary.add(&hundred());
        let cases = [
            ("p50<51ms", true),
            ("p50<50ms", false),
            ("p99<=99.1ms, max<=100ms", true),
            ("max<100ms", false),
            ("mean<50.6ms", true),
            ("mean<50ms", false),
            ("errors<=1%", true),
            ("errors<1%", false),
            ("p50>40ms, p99>=99ms", true),
            ("p50<51ms, errors<0.1%", false),
        ];
        for (text, met) in cases {
            let objective: Objective = text.parse().expect(text);
            assert_eq!(objective.is_met(&summary), met, "{text}");
            assert!(!objective.is_met(&Summary::new()), "{text}: nothing was seen");
        }
    }

    #[test]
    fn the_limit_itself_is_kept_as_the_operator_says() {
        let cases = [
            ("errors<=1%", 10.0 / 1000.0, true),
            ("errors<1%", 10.0 / 1000.0, false),
            ("errors<=0.7%", 7.0 / 1000.0, true),
            ("errors<0.7%", 7.0 / 1000.0, false),
            ("errors<1%", 9.0 / 1000.0, true),
            ("errors<=0", 0.0, true),
            ("errors<=0", 1e-6, false),
            ("p99<1s", 10.0 / 1000.0, true),
            ("p99<1s", 11.0 / 1000.0, false),
            ("p99.9<1s", 1.0 / 1000.0, true),
            ("max<1s", 0.0, true),
            ("max<1s", 1e-6, false),
            ("mean<40ms", 4e7, false),
            ("mean<=40ms", 4e7, true),
            ("mean<=40ms", 4.1e7, false),
        ];
        for (text, figure, kept) in cases {
            let condition: Condition = text.parse().expect(text);
            assert_eq!(condition.is_kept_by(figure), kept, "{text} {figure}");
        }
    }

    #[test]
    fn no_condition_is_left_out_in_silence() {
        let errors: Condition = "errors<1%".parse().unwrap();
        let all = |count: usize| vec!["max<1s"; count].join(",").parse::<Objective>().unwrap();
        let added = all(CONDITIONS_MAX - 1).and(errors).unwrap();
        assert_eq!(added.conditions().last(), Some(&errors));
        assert_eq!(all(CONDITIONS_MAX).and(errors), Err(ObjectiveError::TooMany));
    }

    proptest! {
        /// Hits on the wrong side, counted one by one, say the same as the percentile does.
        #[test]
        fn counts_and_percentiles_agree(times in prop::collection::vec(1u64..1000, 1..400), at in 1u64..1000, tenths in 1u32..999) {
            let percent = f64::from(tenths) / 10.0;
            let condition = Condition {
                metric: Metric::Percentile(percent),
                op: Op::AtMost,
                limit: at as f64,
            };
            let samples = times.iter().map(|&ns| Sample { done: Nanos(ns), ..Sample::default() });
            let batch = Batch { samples: samples.collect(), ..Batch::default() };
            let mut summary = Summary::new();
            summary.add(&batch);
            let over = batch.samples.iter().filter(|sample| condition.is_passed_by(sample)).count();
            let share = over as f64 / times.len() as f64;
            let allowed = condition.allowed().unwrap();
            prop_assert_eq!(condition.is_kept_by(share), share <= allowed + 1e-12);
            prop_assume!((share - allowed).abs() > 1e-9);
            prop_assert_eq!(condition.is_met(&summary), share < allowed);
        }

        #[test]
        fn any_text_is_an_objective_or_named(text in "[p0-9.<>=a-z%, ]{0,40}") {
            if let Ok(objective) = text.parse::<Objective>() {
                prop_assert_eq!(objective.to_string().parse::<Objective>(), Ok(objective));
            }
        }
    }
}
