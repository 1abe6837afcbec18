//! `Segment`: the part of a test that this process does, where several share it. VUs and iterations have global numbers, and each
//! segment has its own of them, spread as evenly as can be.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The most that denominators may come to together.
const PERIOD_MAX: u64 = 1 << 20;

/// The numbers that are a segment's: so many of each `period`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentSlice {
    /// Which of the first `period` numbers, in their order.
    offsets: Vec<u64>,
    period: u64,
}

impl Default for SegmentSlice {
    /// Every number.
    fn default() -> Self {
        Self { offsets: vec![0], period: 1 }
    }
}

impl SegmentSlice {
    /// How many of the numbers below `all` are ours.
    #[must_use]
    pub fn count(&self, all: u64) -> u64 {
        let (whole, rest) = (all / self.period, all % self.period);
        let in_rest = self.offsets.partition_point(|offset| *offset < rest);
        whole * self.offsets.len() as u64 + in_rest as u64
    }

    /// Whether a number is ours.
    #[must_use]
    pub fn contains(&self, number: u64) -> bool {
        self.offsets.binary_search(&(number % self.period)).is_ok()
    }

    /// The share of all numbers that is ours, 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.offsets.len() as f64 / self.period as f64
    }

    /// Our number `own`, from 0, among all; `u64::MAX` of a segment that has none.
    #[must_use]
    pub fn number(&self, own: u64) -> u64 {
        let len = self.offsets.len() as u64;
        let (Some(whole), Some(rest)) = (own.checked_div(len), own.checked_rem(len)) else {
            return u64::MAX;
        };
        whole.saturating_mul(self.period).saturating_add(self.offsets[rest as usize])
    }

    /// The numbers of the segment at `at` among segments of these lengths: the longest takes its numbers first, each as near
    /// behind its even share as is free.
    fn of(lengths: &[u64], at: usize) -> Self {
        let period: u64 = lengths.iter().sum();
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        order.sort_by_key(|which| std::cmp::Reverse(lengths[*which]));
        let mut taken = vec![false; period as usize];
        for which in order {
            let length = lengths[which];
            let mut offsets = Vec::new();
            for own in 0..length {
                let even = (own * period).div_ceil(length) as usize;
                // There is a free one: the lengths make up the period.
                let free = (even..taken.len()).chain(0..even).find(|offset| !taken[*offset]);
                if let Some(offset) = free {
                    taken[offset] = true;
                    offsets.push(offset as u64);
                }
            }
            if which == at {
                offsets.sort_unstable();
                return Self { offsets, period: period.max(1) };
            }
        }
        Self::default()
    }
}

/// The part of a test that is ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The lengths of all segments, in the same fractions.
    lengths: Vec<u64>,
    /// Which of them is ours.
    at: usize,
    /// What of the VUs is ours.
    vus: SegmentSlice,
}

impl Default for Segment {
    /// All of it.
    fn default() -> Self {
        Self { lengths: vec![1], at: 0, vus: SegmentSlice::default() }
    }
}

/// Why a text is no segment.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SegmentError {
    /// It is no fraction.
    #[error("'{0}' is not a fraction from 0 to 1, as 1/4, 0.25 or 25%")]
    Fraction(String),
    /// Its end does not come after its start.
    #[error("the segment {0} does not start before it ends")]
    Order(String),
    /// The sequence does not go from 0 to 1.
    #[error("the segment sequence {0} does not go from 0 to 1")]
    Sequence(String),
    /// The segment is not part of the sequence.
    #[error("provided segment {0} can't be found in sequence {1}")]
    Missing(String, String),
    /// The fractions have no common denominator that we can count with.
    #[error("the segments of {0} are too fine")]
    Fine(String),
}

/// Numerator and denominator.
type Fraction = (u64, u64);

impl Segment {
    /// Reads k6's `executionSegment` (`1/4:3/4`; `1/4` is the first quarter) and `executionSegmentSequence` (`0,1/4,3/4,1`).
    ///
    /// # Examples
    /// ```
    /// use workload::Segment;
    ///
    /// let third = Segment::parse("0:1/3", Some("0,1/3,2/3,1"))?;
    /// // Of ten VUs it has the numbers 0, 3, 6 and 9.
    /// assert_eq!((third.vus().count(10), third.vus().number(1)), (4, 3));
    /// # Ok::<(), workload::SegmentError>(())
    /// ```
    ///
    /// # Errors
    /// The texts are malformed, or contradict each other.
    pub fn parse(segment: &str, sequence: Option<&str>) -> Result<Self, SegmentError> {
        let (start, end) = segment.split_once(':').unwrap_or(("0", segment));
        let (start, end) = (fraction(start)?, fraction(end)?);
        if !is_less(start, end) {
            return Err(SegmentError::Order(segment.to_owned()));
        }
        let borders = match sequence.filter(|sequence| !sequence.is_empty()) {
            Some(sequence) => borders(sequence)?,
            None => {
                let mut all = vec![(0, 1), start, end, (1, 1)];
                all.dedup_by(|b, a| !is_less(*a, *b));
                all
            }
        };
        let same = |a: Fraction, b: Fraction| !is_less(a, b) && !is_less(b, a);
        let at = borders.windows(2).position(|pair| same(pair[0], start) && same(pair[1], end));
        let shown = || sequence.unwrap_or_default().to_owned();
        let at = at.ok_or_else(|| SegmentError::Missing(segment.to_owned(), shown()))?;
        let period = borders.iter().try_fold(1, |all, border| common(all, border.1));
        let period = period.ok_or_else(|| SegmentError::Fine(segment.to_owned()))?;
        let place = |border: Fraction| border.0 * (period / border.1);
        let lengths = borders.windows(2).map(|pair| place(pair[1]) - place(pair[0]));
        let lengths = reduced(lengths.collect());
        let vus = SegmentSlice::of(&lengths, at);
        Ok(Self { lengths, at, vus })
    }

    /// What of the VUs is ours.
    #[must_use]
    pub const fn vus(&self) -> &SegmentSlice {
        &self.vus
    }

    /// Our share of the iterations that so many VUs have in common: an instance with more of the VUs carries out more of them.
    #[must_use]
    pub fn shared_by(&self, vus: u64) -> SegmentSlice {
        if self.lengths.len() == 1 {
            return SegmentSlice::default();
        }
        let counts =
            (0..self.lengths.len()).map(|at| SegmentSlice::of(&self.lengths, at).count(vus));
        SegmentSlice::of(&reduced(counts.collect()), self.at)
    }
}

/// The same shares in the smallest numbers, so that a period is short.
fn reduced(lengths: Vec<u64>) -> Vec<u64> {
    let common = lengths.iter().fold(0, |a, b| stdx::greatest_common_divisor(a, *b)).max(1);
    lengths.into_iter().map(|length| length / common).collect()
}

fn borders(sequence: &str) -> Result<Vec<Fraction>, SegmentError> {
    let all = sequence.split(',').map(fraction).collect::<Result<Vec<_>, _>>()?;
    let whole = all.first().is_some_and(|first| first.0 == 0)
        && all.last().is_some_and(|last| last.0 == last.1)
        && all.windows(2).all(|pair| is_less(pair[0], pair[1]));
    if whole { Ok(all) } else { Err(SegmentError::Sequence(sequence.to_owned())) }
}

/// `1/4`, `0.25` or `25%`.
fn fraction(text: &str) -> Result<Fraction, SegmentError> {
    let wrong = || SegmentError::Fraction(text.to_owned());
    let text = text.trim();
    let (numerator, denominator) = match (text.split_once('/'), text.strip_suffix('%')) {
        (Some((a, b)), _) => {
            (a.trim().parse().map_err(|_| wrong())?, b.trim().parse().map_err(|_| wrong())?)
        }
        (None, Some(percent)) => {
            let (a, b) = decimal(percent).ok_or_else(wrong)?;
            (a, b.checked_mul(100).ok_or_else(wrong)?)
        }
        (None, None) => decimal(text).ok_or_else(wrong)?,
    };
    if denominator == 0 || numerator > denominator {
        return Err(wrong());
    }
    let common = stdx::greatest_common_divisor(numerator, denominator).max(1);
    let (numerator, denominator) = (numerator / common, denominator / common);
    if denominator > PERIOD_MAX { Err(wrong()) } else { Ok((numerator, denominator)) }
}

fn decimal(text: &str) -> Option<Fraction> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let denominator = 10_u64.checked_pow(u32::try_from(rest.len()).ok()?)?;
    let number: u64 = format!("{whole}{rest}").parse().ok()?;
    Some((number, denominator))
}

/// Of fractions whose denominators are at most `PERIOD_MAX`.
const fn is_less(a: Fraction, b: Fraction) -> bool {
    a.0 * b.1 < b.0 * a.1
}

/// The least common multiple, up to `PERIOD_MAX`.
fn common(a: u64, b: u64) -> Option<u64> {
    (a / stdx::greatest_common_divisor(a, b)).checked_mul(b).filter(|common| *common <= PERIOD_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(slice: &SegmentSlice, below: u64) -> Vec<u64> {
        (0..slice.count(below)).map(|own| slice.number(own)).collect()
    }

    /// What k6 1.8.1 does with these.
    #[test]
    fn vus_are_striped() {
        for (segment, sequence, expect) in [
            ("0:1/3", None, vec![1, 4]),
            ("1/3:2/3", None, vec![1, 4]),
            ("2/3:1", None, vec![1, 4]),
            ("0:1/3", Some("0,1/3,2/3,1"), vec![0, 3, 6]),
            ("1/3:2/3", Some("0,1/3,2/3,1"), vec![1, 4]),
            ("2/3:1", Some("0,1/3,2/3,1"), vec![2, 5]),
            ("0:1/5", Some("0,1/5,1/2,1"), vec![3]),
            ("1/5:1/2", Some("0,1/5,1/2,1"), vec![1, 5]),
            ("50%:1", Some("0,0.2,0.5,1"), vec![0, 2, 4, 6]),
            ("0:1/7", Some("0,1/7,4/7,6/7,1"), vec![2]),
            ("1/7:4/7", Some("0,1/7,4/7,6/7,1"), vec![0, 3, 5]),
            ("4/7:6/7", Some("0,1/7,4/7,6/7,1"), vec![1, 4]),
            ("1", None, vec![0, 1, 2, 3, 4, 5, 6]),
        ] {
            let of = Segment::parse(segment, sequence).unwrap();
            assert_eq!(numbers(of.vus(), 7), expect, "{segment} of {sequence:?}");
        }
    }

    #[test]
    fn iterations_follow_the_vus() {
        for (segment, sequence, expect) in [
            ("1/4:3/4", "0,1/4,3/4,1", vec![0, 2, 4, 6]),
            ("0:1/3", "", vec![1, 5]),
            ("1/5:1/2", "0,1/5,1/2,1", vec![3, 7]),
            ("1/2:1", "0,1/5,1/2,1", vec![0, 2, 4, 6]),
            ("0:1/5", "0,1/5,1/2,1", vec![1, 5]),
        ] {
            let of = Segment::parse(segment, Some(sequence)).unwrap();
            assert_eq!(numbers(&of.shared_by(4), 8), expect, "{segment} of {sequence}");
        }
        let of = Segment::parse("0:1/3", None).unwrap();
        assert_eq!(numbers(&of.shared_by(5), 20), [1, 3, 6, 8, 11, 13, 16, 18]);
        // Where none of the VUs is ours, no iteration is.
        let none = Segment::parse("0:1/10", None).unwrap();
        assert_eq!((none.vus().count(1), none.shared_by(1).count(100)), (0, 0));
    }

    /// Every number is exactly one segment's.
    #[test]
    fn segments_make_up_the_whole() {
        let borders = ["0", "1/7", "0.25", "1/3", "80%", "1"];
        let sequence = borders.join(",");
        let mut all: Vec<u64> = borders
            .windows(2)
            .flat_map(|pair| {
                let of = Segment::parse(&pair.join(":"), Some(&sequence)).unwrap();
                numbers(of.vus(), 1_000)
            })
            .collect();
        all.sort_unstable();
        assert_eq!(all, (0..1_000).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (segment, sequence, expect) in [
            ("5", None, "not a fraction"),
            ("1/0", None, "not a fraction"),
            ("1/2:1/4", None, "does not start before it ends"),
            ("0:1/4", Some("0,1/2,1"), "can't be found in sequence"),
            ("0:1/2", Some("0,1/2"), "does not go from 0 to 1"),
            ("0:1/1000003", Some("0,1/1000003,1/999983,1"), "too fine"),
        ] {
            let error = Segment::parse(segment, sequence).unwrap_err().to_string();
            assert!(error.contains(expect), "{segment}: {error}");
        }
    }
}
