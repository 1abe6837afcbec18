//! `Tally`: values by size, each with its count.

use metrics::Histogram;

/// Values by rising size, each with its count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    list: Vec<(f64, u64)>,
    count: u64,
}

impl Tally {
    /// The values one by one, in any order; those that are not finite are left out.
    #[must_use]
    pub fn of_values(values: &[f64]) -> Self {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let mut list: Vec<(f64, u64)> = Vec::new();
        for value in sorted {
            match list.last_mut() {
                Some(last) if last.0 == value => last.1 += 1,
                _ => list.push((value, 1)),
            }
        }
        Self { list, count: values.iter().filter(|v| v.is_finite()).count() as u64 }
    }

    /// A histogram's buckets, each value taken for its bucket's middle, in nanoseconds. Values of one bucket are ties.
    #[must_use]
    pub fn of_histogram(histogram: &Histogram) -> Self {
        Self { list: histogram.middles().collect(), count: histogram.count() }
    }

    /// How many values there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The different values by rising size, with their counts.
    #[must_use]
    pub fn list(&self) -> &[(f64, u64)] {
        &self.list
    }

    /// The median; the mean of the two in the middle where the count is even; 0 without values.
    #[must_use]
    pub fn median(&self) -> f64 {
        f64::midpoint(self.at(self.count.div_ceil(2)), self.at(self.count / 2 + 1))
    }

    /// The `rank`-th smallest, counted from 1.
    fn at(&self, rank: u64) -> f64 {
        let mut seen = 0;
        let found = self.list.iter().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        found.or(self.list.last()).map_or(0.0, |(value, _)| *value)
    }
}

/// The different values of both, by rising size, each with its count in either.
pub(super) fn merged<'a>(a: &'a Tally, b: &'a Tally) -> impl Iterator<Item = (f64, u64, u64)> + 'a {
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        let (left, right) = (a.list.get(i), b.list.get(j));
        let value = match (left, right) {
            (None, None) => return None,
            (Some(one), None) | (None, Some(one)) => one.0,
            (Some(one), Some(other)) => one.0.min(other.0),
        };
        let take = |one: Option<&(f64, u64)>, at: &mut usize| match one {
            Some(&(of, count)) if of == value => {
                *at += 1;
                count
            }
            _ => 0,
        };
        let left = take(left, &mut i);
        Some((value, left, take(right, &mut j)))
    })
}
