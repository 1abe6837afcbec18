//! Medians, spreads and ratios of repeated measurements. Ratios are taken within a round, since machines drift between
//! rounds, and only then summed up.

/// The middle of several measurements and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    /// The median.
    pub(super) median: f64,
    /// The smallest.
    pub(super) min: f64,
    /// The largest.
    pub(super) max: f64,
}

impl Spread {
    /// Of these values; `None` where there are none.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let even = sorted.len().is_multiple_of(2);
        let median =
            if even { f64::midpoint(sorted[middle - 1], sorted[middle]) } else { sorted[middle] };
        Some(Self { median, min, max })
    }

    /// `median (min–max)` with so many digits.
    pub(super) fn show(self, digits: usize) -> String {
        let Self { median, min, max } = self;
        format!("{median:.digits$} ({min:.digits$}–{max:.digits$})")
    }
}

/// `ours / theirs` of each round that both have a value for. Each value comes with its round.
pub(super) fn ratios(ours: &[(usize, f64)], theirs: &[(usize, f64)]) -> Vec<f64> {
    let same = |round: usize| theirs.iter().find(|(other, _)| *other == round);
    ours.iter()
        .filter_map(|(round, value)| Some((value, same(*round)?.1)))
        .filter(|(_, base)| *base > 0.0)
        .map(|(value, base)| value / base)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]).unwrap().show(1), "2.0 (1.0–3.0)");
        assert_eq!(Spread::of(&[4.0, 1.0]).unwrap().show(2), "2.50 (1.00–4.00)");
    }

    #[test]
    fn ratios_pair_rounds() {
        let found = ratios(&[(0, 2.0), (1, 9.0), (2, 5.0)], &[(2, 10.0), (0, 4.0), (3, 1.0)]);
        assert_eq!(found, [0.5, 0.5]);
        assert_eq!(ratios(&[(0, 1.0)], &[(0, 0.0)]), Vec::<f64>::new());
    }
}
