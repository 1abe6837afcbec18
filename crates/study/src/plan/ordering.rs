//! `Ordering`: an expected order of two variants, `A < B: metric`, and whether the runs confirm it. The result is reported and
//! never enforced.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::Figure;
use crate::contrast::{LEVEL, p_alone};
use crate::stats::Tally;

/// The expected relation of two variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The first has less.
    Less,
    /// The first has more.
    More,
    /// Both have about the same: the medians lie within a tenth.
    About,
}

/// The share by which medians that are "about the same" may differ.
const ABOUT: f64 = 0.1;

/// `A < B: metric`, `A > B: metric` or `A ~ B: metric`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordering {
    /// The variant before the sign.
    pub first: String,
    /// The sign.
    pub relation: Relation,
    /// The variant after the sign.
    pub second: String,
    /// Which figure.
    pub figure: &'static Figure,
}

/// Why a text is no ordering.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OrderingError {
    /// A part is missing.
    #[error("\"{0}\" is not of the form A < B: metric (or >, or ~ for about the same)")]
    Form(String),
    /// The metric is unknown.
    #[error("\"{0}\" is no metric (such as latency.p50, throughput, rtt.p50, server.rss)")]
    Metric(String),
}

/// The result of an ordering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderingOutcome {
    /// The medians over the runs of both.
    pub medians: (f64, f64),
    /// The medians are as expected.
    pub held: bool,
    /// How likely runs of equal variants are at least as far apart; 1 for fewer than three of either.
    pub p: f64,
}

impl OrderingOutcome {
    /// Chance may be ruled out as what sets the variants apart.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.p <= LEVEL
    }
}

impl Ordering {
    /// Judges by this figure in the runs of the first and of the second; `None` where one has none.
    #[must_use]
    pub fn judge(&self, first: &[f64], second: &[f64]) -> Option<OrderingOutcome> {
        if first.is_empty() || second.is_empty() {
            return None;
        }
        let p = p_alone(first, second);
        let (first, second) = (Tally::of_values(first), Tally::of_values(second));
        let medians = (first.median(), second.median());
        let held = match self.relation {
            Relation::Less => medians.0 < medians.1,
            Relation::More => medians.0 > medians.1,
            Relation::About => {
                (medians.0 - medians.1).abs() <= ABOUT * medians.0.abs().max(medians.1.abs())
            }
        };
        Some(OrderingOutcome { medians, held, p })
    }
}

impl Relation {
    const ALL: [(Self, char); 3] = [(Self::Less, '<'), (Self::More, '>'), (Self::About, '~')];

    /// Its sign.
    #[must_use]
    pub fn sign(self) -> char {
        let found = Self::ALL.iter().find(|(relation, _)| *relation == self);
        found.expect("each has one").1
    }
}

impl FromStr for Ordering {
    type Err = OrderingError;

    fn from_str(text: &str) -> Result<Self, OrderingError> {
        let form = || OrderingError::Form(text.to_owned());
        let (both, metric) = text.rsplit_once(':').ok_or_else(form)?;
        let metric = metric.trim();
        let (relation, sign) =
            *Relation::ALL.iter().find(|(_, sign)| both.contains(*sign)).ok_or_else(form)?;
        let (first, second) = both.split_once(sign).ok_or_else(form)?;
        let (first, second) = (first.trim(), second.trim());
        if [first, second].iter().any(|name| name.is_empty() || name.contains(['<', '>', '~'])) {
            return Err(form());
        }
        let figure =
            Figure::named(metric).ok_or_else(|| OrderingError::Metric(metric.to_owned()))?;
        Ok(Self { first: first.to_owned(), relation, second: second.to_owned(), figure })
    }
}

impl fmt::Display for Ordering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, relation, second, figure } = self;
        write!(f, "{first} {} {second}: {}", relation.sign(), figure.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orderings_are_read_and_written() {
        for text in ["nginx < puma: latency.mean", "a > b-1: throughput", "x ~ y: server.rss"] {
            assert_eq!(text.parse::<Ordering>().unwrap().to_string(), text);
        }
        let tight = "nginx<puma:latency.p50".parse::<Ordering>().unwrap();
        assert_eq!((tight.first.as_str(), tight.second.as_str()), ("nginx", "puma"));
        for text in ["", "a < b", "a: errors", "< b: errors", "a < b < c: errors", "a b: errors"] {
            assert_eq!(text.parse::<Ordering>(), Err(OrderingError::Form(text.to_owned())));
        }
        let wrong = "a < b: latency".parse::<Ordering>();
        assert_eq!(wrong, Err(OrderingError::Metric("latency".to_owned())));
    }

    #[test]
    fn orderings_are_judged_by_medians() {
        let judge = |text: &str, a: &[f64], b: &[f64]| {
            let judged = text.parse::<Ordering>().unwrap().judge(a, b)?;
            Some((judged.held, judged.is_certain()))
        };
        let (low, high) = ([1.0, 1.1, 1.2, 1.3], [2.0, 2.1, 2.2, 2.3]);
        assert_eq!(judge("a < b: errors", &low, &high), Some((true, true)));
        assert_eq!(judge("a > b: errors", &low, &high), Some((false, true)));
        assert_eq!(judge("a < b: errors", &low[..2], &high[..2]), Some((true, false)));
        assert_eq!(judge("a ~ b: errors", &low, &[1.12, 1.18, 1.25]), Some((true, false)));
        assert_eq!(judge("a ~ b: errors", &low, &high), Some((false, true)));
        assert_eq!(judge("a < b: errors", &[1.0], &[1.0]), Some((false, false)));
        assert_eq!(judge("a < b: errors", &low, &[]), None);
    }
}
