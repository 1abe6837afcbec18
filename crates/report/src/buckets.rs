//! `Buckets` and `hist`: response times counted between bounds the user chose, laid out as Vegeta does.

use metrics::Batch;
use stdx::{DurationError, Nanos};
use thiserror::Error;

use crate::columns::Columns;

/// The most bounds taken.
const BOUNDS_MAX: usize = 10_000;
/// Marks of a bar for all values.
const BAR_MAX: f64 = 75.0;

/// Bounds between which response times are counted: half-open, the first 0, the last bucket without end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    bounds: Vec<Nanos>,
}

/// Why a text is not a list of buckets.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BucketsError {
    /// It is not a list in brackets.
    #[error("bad buckets: {0} (expected a list such as [0,1ms,10ms])")]
    Form(String),
    /// A bound is not a duration.
    #[error("bad buckets: {0}")]
    Bound(#[from] DurationError),
    /// The bounds do not rise.
    #[error("bad buckets: {bound} does not lie above {before}")]
    Order {
        /// The bound at fault.
        bound: Nanos,
        /// The one before it.
        before: Nanos,
    },
    /// There are more than 10,000 bounds.
    #[error("bad buckets: {0} bounds (the limit is 10000)")]
    TooMany(usize),
}

impl BucketsError {
    /// The same in Vegeta's words, as far as it has some.
    #[must_use]
    pub fn go(&self) -> String {
        match self {
            Self::Form(text) => format!("bad buckets: {text}"),
            Self::Bound(error) => error.go(),
            Self::Order { .. } | Self::TooMany(_) => self.to_string(),
        }
    }
}

impl Buckets {
    /// Parses `[b1,b2,…]`; spaces are allowed, bounds are durations. A bound of 0 is added in front if it is missing.
    ///
    /// # Errors
    /// The text is not such a list; the message starts with `bad buckets:`.
    pub fn parse(text: &str) -> Result<Self, BucketsError> {
        let form = || BucketsError::Form(text.to_owned());
        let inner = text.trim().strip_prefix('[').ok_or_else(form)?;
        let inner = inner.strip_suffix(']').ok_or_else(form)?;
        let count = inner.split(',').count();
        if count > BOUNDS_MAX {
            return Err(BucketsError::TooMany(count));
        }
        let mut bounds = Vec::with_capacity(count + 1);
        for part in inner.split(',') {
            let bound = Nanos::parse(part.trim())?;
            match bounds.last() {
                None if bound > Nanos::ZERO => bounds.push(Nanos::ZERO),
                Some(&before) if bound <= before => {
                    return Err(BucketsError::Order { bound, before });
                }
                _ => {}
            }
            bounds.push(bound);
        }
        Ok(Self { bounds })
    }

    /// The bounds, the first always 0.
    #[must_use]
    pub fn bounds(&self) -> &[Nanos] {
        &self.bounds
    }
}

/// Response times counted row by row between bounds: one that lies on a bound belongs to the bucket that begins there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketCounts {
    bounds: Vec<Nanos>,
    counts: Vec<u64>,
}

impl BucketCounts {
    /// Nothing counted yet.
    #[must_use]
    pub fn new(buckets: &Buckets) -> Self {
        let bounds = buckets.bounds.clone();
        Self { counts: vec![0; bounds.len()], bounds }
    }

    /// Counts the response time of every row.
    pub fn add(&mut self, batch: &Batch) {
        for sample in &batch.samples {
            let time = sample.response();
            // The first bound is 0, so that there is one at or below any time.
            let at = self.bounds.partition_point(|bound| *bound <= time);
            self.counts[at - 1] += 1;
        }
    }

    /// Each bucket's lower bound and how many times lie in it.
    pub(crate) fn list(&self) -> impl Iterator<Item = (Nanos, u64)> {
        self.bounds.iter().copied().zip(self.counts.iter().copied())
    }
}

/// The histogram of response times as text, as Vegeta's `-type=hist[…]` prints it.
#[must_use]
pub fn hist(buckets: &BucketCounts) -> String {
    let total: u64 = buckets.counts.iter().sum();
    let mut columns = Columns::default();
    columns.row(["Bucket", "", "#", "%", "Histogram"].map(str::to_owned));
    for (index, (low, count)) in buckets.list().enumerate() {
        let high = buckets.bounds.get(index + 1).map_or("+Inf".to_owned(), Nanos::to_string);
        let ratio = if total == 0 { 0.0 } else { count as f64 / total as f64 };
        columns.row([
            format!("[{low},"),
            format!("{high}]"),
            count.to_string(),
            format!("{:.2}%", ratio * 100.0),
            "#".repeat((ratio * BAR_MAX) as usize),
        ]);
    }
    columns.lines()
}

#[cfg(test)]
mod tests {
    use metrics::Sample;

    use super::*;

    fn bounds(text: &str) -> Vec<u64> {
        Buckets::parse(text).unwrap().bounds().iter().map(|bound| bound.0).collect()
    }

    #[test]
    fn reads_bounds() {
        assert_eq!(bounds("[0,1ms,10ms]"), [0, 1_000_000, 10_000_000]);
        assert_eq!(bounds("[ 1us , 2us ]"), [0, 1_000, 2_000]);
        assert_eq!(bounds("[0]"), [0]);
    }

    #[test]
    fn refuses_the_rest_and_says_so() {
        for text in ["", "0,1ms", "[0,1ms", "[]", "[1ms,,2ms]", "[1]", "[2ms,1ms]", "[x]"] {
            let error = Buckets::parse(text).unwrap_err();
            assert!(error.to_string().starts_with("bad buckets: "), "{text:?}: {error}");
        }
        let many = format!("[{}]", vec!["1ms"; BOUNDS_MAX + 1].join(","));
        assert!(matches!(Buckets::parse(&many), Err(BucketsError::TooMany(_))));
    }

    #[test]
    fn counts_are_half_open_and_add_up() {
        let counted = |bounds: &str, times: &[u64]| {
            let samples = times.iter().map(|ns| Sample { done: Nanos(*ns), ..Sample::default() });
            let mut counts = BucketCounts::new(&Buckets::parse(bounds).unwrap());
            counts.add(&Batch { samples: samples.collect(), ..Batch::default() });
            counts.counts
        };
        assert_eq!(counted("[0,1us,2us]", &[0, 999, 1_000, 1_500, 2_000]), [2, 2, 1]);
        // A histogram's buckets are some 10 us wide there: it does not separate the edge from values just below.
        let edge = 10_000_000;
        assert_eq!(counted("[0,10ms,20ms]", &[edge - 1, edge, edge + 1, 2 * edge]), [1, 2, 1]);
        assert_eq!(counted("[0,10ms]", &[edge, edge, u64::MAX]), [0, 3]);
    }
}
