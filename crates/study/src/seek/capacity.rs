//! What the server can do at most in a second, as far as steps beyond it show. The limit of an objective is no higher: beyond the
//! capacity a queue grows for as long as the load lasts, however well a short step may end.

use super::search::{By, Search};
use super::{BRACKET, Step, pace};

/// A step that achieves less than this share of its load asks for more than the server can do.
const SATURATED: f64 = 0.85;
/// A step that achieves this share of its load does not.
const ACHIEVED: f64 = 0.97;
/// Throughput is the same at two loads if each is as close to their mean as chance (in standard deviations of a Poisson count)
/// and this share allow. A server whose throughput falls under overload has no capacity that this can tell.
const SAME: (f64, f64) = (4.0, 0.05);
/// How far above the mean, in standard deviations, the capacity may still lie.
const ABOVE: f64 = 2.0;

/// The most that any step achieved, where one was beyond it. A guess, for the place of the next step.
pub(super) fn seen(search: &Search, steps: &[Step]) -> Option<f64> {
    let most = valid(search, steps).map(|step| step.achieved_per_s).fold(0.0, f64::max);
    let beyond = valid(search, steps).any(is_saturated);
    (beyond && most > 0.0).then_some(most)
}

/// A rate that the capacity does not exceed, where different loads beyond it achieved the same; no less than the highest load
/// that was achieved.
pub(super) fn bound(search: &Search, steps: &[Step]) -> Option<f64> {
    let beyond = || valid(search, steps).filter(|step| is_saturated(step));
    let loads = || beyond().map(|step| step.load);
    let (least, most) = (loads().reduce(f64::min)?, loads().reduce(f64::max)?);
    let seconds = beyond().map(|step| step.measured.as_secs_f64()).sum::<f64>();
    let done = beyond().map(successes).sum::<f64>();
    let mean = done / seconds;
    let is_same = |step: &Step| {
        let expected = mean * step.measured.as_secs_f64();
        (successes(step) - expected).abs() <= SAME.0 * expected.sqrt() + SAME.1 * expected
    };
    let achieved = valid(search, steps)
        .filter(|step| step.achieved_per_s >= ACHIEVED * step.load && pace::is_long(search, step))
        .map(|step| step.load);
    let is_flat = most > least * BRACKET && done > 0.0 && beyond().all(is_same);
    is_flat.then(|| achieved.fold(mean * (1.0 + ABOVE / done.sqrt()), f64::max))
}

fn valid<'a>(search: &Search, steps: &'a [Step]) -> impl Iterator<Item = &'a Step> {
    let by_rate = search.by == By::Rate;
    steps.iter().filter(move |step| by_rate && step.spoilt.is_none())
}

/// Hits from which on chance does not decide how many of them ended.
const HITS_MIN: u64 = 50;

/// Whether a step asked for more than the server can do, however quick those are that it answers: one that serves kept-alive
/// connections first answers half of the requests as fast as ever.
pub(super) fn is_exceeded(search: &Search, step: &Step) -> bool {
    search.by == By::Rate && step.hits >= HITS_MIN && is_saturated(step)
}

fn is_saturated(step: &Step) -> bool {
    step.achieved_per_s < SATURATED * step.load
}

/// Hits that ended with success while the step was measured.
fn successes(step: &Step) -> f64 {
    step.achieved_per_s * step.measured.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::super::Trial;
    use super::super::tests::{search, wrong};
    use super::*;

    #[test]
    fn throughput_that_is_the_same_beyond_it_is_the_capacity() {
        let search = search("p99<5ms");
        let step = |load: f64, achieved_per_s: f64| {
            let second = Nanos::SECOND;
            let trial = Trial { load, warmup: second, measure: Nanos::from_secs(10) };
            Step { achieved_per_s, ..wrong(trial, 0.0) }
        };
        let check = |steps: &[(f64, f64)], expect: Option<f64>| {
            let steps: Vec<Step> = steps.iter().map(|(load, done)| step(*load, *done)).collect();
            let bound = bound(&search, &steps).map(f64::round);
            assert_eq!(bound, expect, "{steps:?}");
        };
        check(&[(50.0, 50.0), (160.0, 100.0), (125.0, 102.0)], Some(105.0));
        check(&[(110.0, 108.0), (160.0, 100.0), (125.0, 102.0)], Some(110.0));
        check(&[(50.0, 50.0), (160.0, 100.0)], None);
        check(&[(160.0, 60.0), (125.0, 95.0)], None);
        check(&[(10.0, 8.0), (20.0, 16.0), (40.0, 32.0)], None);
        assert_eq!(seen(&search, &[step(160.0, 100.0)]), Some(100.0));
        assert_eq!(seen(&search, &[step(100.0, 99.0)]), None);
    }
}
