//! A study that goes on until it is sure: after which repeats it is judged, and whether it may end there.
//!
//! Every look is one more chance to call equal variants different. So the looks are few, at repeats that grow by half, and each has
//! an equal share of the level ([`Rules::looks`], Bonferroni): together they stay below it, whenever the study ends.

use crate::contrast::{Finding, Measure, RUNS_MIN, Rules, Run, changes};

/// The repeats after which runs are judged: from [`RUNS_MIN`] on, each half as many again as the one before, and the last.
#[must_use]
pub fn looks(repeats_max: usize) -> Vec<usize> {
    let next = |repeats: &usize| Some(repeats + repeats.div_ceil(2));
    let grown = std::iter::successors(Some(RUNS_MIN), next);
    let mut looks: Vec<usize> = grown.take_while(|repeats| *repeats < repeats_max).collect();
    looks.push(repeats_max);
    looks
}

/// Which of these measures the runs of variants do not decide, each against the first: all of them where nothing can be compared.
/// Variants without runs are left out, and a single variant has nothing to decide.
#[must_use]
pub fn undecided(variants: &[Vec<Run>], measures: &[Measure], rules: &Rules) -> Vec<Measure> {
    let Some((first, rest @ [_, ..])) = variants.split_first() else { return Vec::new() };
    let others = rest.iter().filter(|runs| runs.iter().any(Run::counts));
    let primary = rules.primary.or_else(|| Measure::first_of(measures));
    let rules = Rules { comparisons: others.clone().count().max(1), primary, ..*rules };
    let found: Vec<_> = others.filter_map(|runs| changes(first, runs, &rules)).collect();
    if found.is_empty() {
        return measures.to_vec();
    }
    let is_open = |measure: &&Measure| {
        let mut changes = found.iter().flatten();
        changes.any(|one| one.measure == **measure && one.finding == Finding::CannotTell)
    };
    measures.iter().filter(is_open).copied().collect()
}

#[cfg(test)]
mod tests {
    use metrics::Histogram;
    use stdx::{Nanos, Prng, mix};

    use super::*;

    #[test]
    fn looks_are_few_and_end_with_the_last_repeat() {
        let cases: [(usize, &[usize]); 5] = [
            (3, &[3]),
            (4, &[3, 4]),
            (5, &[3, 5]),
            (20, &[3, 5, 8, 12, 18, 20]),
            (200, &[3, 5, 8, 12, 18, 27, 41, 62, 93, 140, 200]),
        ];
        for (most, expect) in cases {
            assert_eq!(looks(most), expect);
        }
    }

    /// A run with noise of 3 % between runs.
    fn run(rng: &mut Prng, slower: f64) -> Run {
        let level = 1e7 * (0.03 * rng.normal() + slower.ln_1p()).exp();
        let mut times = Histogram::default();
        for percent in 1..=20 {
            let share = f64::from(percent) / 20.0;
            times.record_n(Nanos((level * (1.0 + share + 0.01 * rng.normal())) as u64), 50);
        }
        let throughput_per_s = 1e9 / level * (0.002 * rng.normal()).exp();
        Run { times, throughput_per_s, ..Run::default() }
    }

    /// How a study of two variants ends: the repeats it took, and whether it called any measure different.
    fn study(seed: u64, slower: f64, looks: &[usize], shares: usize) -> (usize, bool) {
        let mut rng = Prng::new(mix(seed, 0x10c5));
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let rules = Rules { looks: shares, ..Rules::default() };
        let chosen = [Measure::P50, Measure::Throughput];
        for look in looks {
            while a.len() < *look {
                a.push(run(&mut rng, 0.0));
                b.push(run(&mut rng, slower));
            }
            if undecided(&[a.clone(), b.clone()], &chosen, &rules).is_empty() {
                break;
            }
        }
        let found = changes(&a, &b, &rules).unwrap();
        let different = |finding| matches!(finding, Finding::Better | Finding::Worse);
        (a.len(), found.iter().any(|change| different(change.finding)))
    }

    /// Equal variants, judged after every repeat from 3 to 20: with the whole level at each look the alarms add up, with a share of
    /// it they stay below 5 of 100.
    #[test]
    fn looking_again_and_again_raises_no_more_alarms() {
        let every: Vec<usize> = (3..=20).collect();
        let (rounds, few) = (200, looks(20));
        let alarms = |looks: &[usize], shares: usize| {
            (0..rounds).filter(|seed| study(*seed, 0.0, looks, shares).1).count()
        };
        let (shared, greedy) = (alarms(&few, few.len()), alarms(&every, 1));
        // 10 are the level; the intervals are wide, since they share it among six measures too.
        assert!(shared <= 10, "{shared} of {rounds}");
        assert!(greedy > shared, "{greedy} of {rounds} without sharing");
    }

    /// A large change is decided at the first look or the second, a smaller one later.
    #[test]
    fn it_ends_as_soon_as_it_is_sure() {
        let few = looks(20);
        let ends = |slower: f64| {
            let mut ends: Vec<usize> =
                (0..40).map(|seed| study(seed, slower, &few, few.len()).0).collect();
            ends.sort_unstable();
            ends[20]
        };
        assert!(ends(1.0) <= 5, "{}", ends(1.0));
        assert!((5..=12).contains(&ends(0.2)), "{}", ends(0.2));
        assert!(ends(0.0) >= 8, "{}", ends(0.0));
        assert_eq!(undecided(&[], &[Measure::P50], &Rules::default()), []);
        let one = vec![run(&mut Prng::new(1), 0.0)];
        let open = undecided(&[one.clone(), Vec::new(), one], &[Measure::P50], &Rules::default());
        assert_eq!(open, [Measure::P50], "one run is never sure");
    }
}
