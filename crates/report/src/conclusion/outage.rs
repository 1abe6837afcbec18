//! `Outage`: the one span of a run in which its failures lie. A server that died, one that came back, and one that fails four
//! requests in ten all the time have the same share of failures.

use metrics::{Cell, Timeline};
use stdx::Nanos;

/// How much likelier failures must be with a span of their own than without one (its logarithm): e^20 leaves one run in some ten
/// thousand to chance, with a hundred thousand spans tried.
const LIKELIER_MIN: f64 = 20.0;
/// The span has so much of the failures, ...
const PART_MIN: f64 = 0.95;
/// ... and requests fail so many times as often in it as elsewhere.
const TIMES_MIN: f64 = 5.0;
/// Cells whose spans are tried; narrower ones are joined.
const CELLS_MAX: usize = 320;
/// So many failures expected and none seen divide a span: by chance, that happens once in e^12 times (Poisson).
const GAP_MIN: f64 = 12.0;

/// A span of a run that has nearly all of its failures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outage {
    /// After the first request was due.
    pub(super) from: Nanos,
    /// Its end; `None` where it lasted until the last request was due.
    pub(super) until: Option<Nanos>,
    /// How long it was.
    pub(super) length: Nanos,
    /// The share of the requests due in it that failed; 1 where all did but for those at its edges.
    pub(super) share: f64,
    /// No request failed outside it.
    pub(super) is_all: bool,
    /// Requests a second that succeeded of those due before and after it.
    pub(super) others_per_s: f64,
}

/// Requests of some cells.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    hits: f64,
    errors: f64,
}

impl Count {
    fn less(self, other: Self) -> Self {
        Self { hits: self.hits - other.hits, errors: self.errors - other.errors }
    }

    fn share(self) -> f64 {
        self.errors / self.hits.max(1.0)
    }

    /// The logarithm of how likely it is with the share of failures that it has.
    fn likelihood(self) -> f64 {
        let part = |count: f64| if count > 0.0 { count * (count / self.hits).ln() } else { 0.0 };
        part(self.errors) + part(self.hits - self.errors)
    }
}

impl Outage {
    /// The likeliest one, in a run whose first and last request were due then (Unix ns).
    pub(super) fn of(timeline: &Timeline, (earliest, latest): (i64, i64)) -> Option<Self> {
        let timeline = narrowed(timeline);
        let cells: Vec<&Cell> = timeline.cells().collect();
        let sums = sums(&cells);
        let (from, to) = likeliest(&cells, &sums)?;
        let (inside, all) = (sums[to].less(sums[from]), *sums.last()?);
        let outside = all.less(inside);
        let share = steady_share(&cells[from..to])?;
        let is_one = inside.errors >= PART_MIN * all.errors
            && outside.hits > outside.errors
            && share >= TIMES_MIN * outside.share();
        let width = timeline.width().0;
        let begin =
            |at: usize| timeline.start().saturating_add_unsigned(width.saturating_mul(at as u64));
        let after = |at: usize| Nanos(begin(at).saturating_sub(earliest).max(0).unsigned_abs());
        let last = cells.iter().rposition(|cell| cell.hits > 0)?;
        let until = (to <= last).then(|| after(to));
        let length = until.unwrap_or(Nanos(latest.abs_diff(earliest))).saturating_sub(after(from));
        let others = Nanos(latest.abs_diff(earliest)).saturating_sub(length).as_secs_f64();
        is_one.then_some(Self {
            from: after(from),
            until,
            length,
            share,
            is_all: outside.errors == 0.0,
            others_per_s: (outside.hits - outside.errors) / others.max(1e-9),
        })
    }

    /// Nothing succeeded in it, and it lasted so long that a reader would call the server down.
    pub(super) fn is_down(&self, min: Nanos) -> bool {
        self.share == 1.0 && self.length >= min
    }
}

/// The same with cells whose spans can all be tried.
fn narrowed(timeline: &Timeline) -> Timeline {
    let times = timeline.cells().len().div_ceil(CELLS_MAX).max(1);
    timeline.widened(Nanos(timeline.width().0.saturating_mul(times as u64)))
}

/// Requests and failures of the cells before each.
fn sums(cells: &[&Cell]) -> Vec<Count> {
    let mut sums = vec![Count::default()];
    sums.extend(cells.iter().scan(Count::default(), |sum, cell| {
        sum.hits += cell.hits as f64;
        sum.errors += cell.errors as f64;
        Some(*sum)
    }));
    sums
}

/// The span from a cell with failures to another that makes them likeliest, where it is far likelier than none.
fn likeliest(cells: &[&Cell], sums: &[Count]) -> Option<(usize, usize)> {
    let all = *sums.last()?;
    let with_some: Vec<usize> = (0..cells.len()).filter(|at| cells[*at].errors > 0).collect();
    let likelier = |(from, to): (usize, usize)| {
        let inside = sums[to].less(sums[from]);
        inside.likelihood() + all.less(inside).likelihood() - all.likelihood()
    };
    let spans = with_some
        .iter()
        .enumerate()
        .flat_map(|(at, from)| with_some[at..].iter().map(move |last| (*from, *last + 1)));
    let (span, likelier) = spans
        .map(|span| (span, likelier(span)))
        .max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    (likelier >= LIKELIER_MIN).then_some(span)
}

/// The share of failures of cells that fail alike, which is 1 where only those at the edges have a success; `None` where a part
/// of them has none.
fn steady_share(cells: &[&Cell]) -> Option<f64> {
    let sum = |cells: &[&Cell]| {
        let counts = cells.iter();
        counts.fold(Count::default(), |sum, cell| Count {
            hits: sum.hits + cell.hits as f64,
            errors: sum.errors + cell.errors as f64,
        })
    };
    let whole = sum(cells);
    let share = whole.share();
    let gap = cells.split(|cell| cell.errors > 0).map(|gap| sum(gap).hits).fold(0.0, f64::max);
    let inner = sum(cells.get(1..cells.len().saturating_sub(1)).unwrap_or_default());
    let is_whole = inner.hits > 0.0 && inner.errors == inner.hits;
    let share = if is_whole { 1.0 } else { share };
    (gap * share < GAP_MIN).then_some(share)
}

#[cfg(test)]
mod tests {
    use metrics::{Batch, Outcome, Sample};
    use stdx::Prng;

    use super::*;

    /// 60/s for 18 s, of which those fail for which `fails` holds at its moment (s).
    fn outage(fails: &mut dyn FnMut(f64) -> bool) -> Option<Outage> {
        let mut batch = Batch::default();
        for n in 0..1080_u64 {
            let at = n as f64 / 60.0;
            let status = if fails(at) { 500 } else { 200 };
            let intended = Nanos::from_secs_f64(at);
            let outcome = Outcome::Http(status);
            batch.samples.push(Sample { intended, done: intended, outcome, ..Sample::default() });
        }
        let mut timeline = Timeline::new();
        timeline.add(&batch);
        Outage::of(&timeline, (0, 1079 * 1_000_000_000 / 60))
    }

    fn is_near(time: Nanos, seconds: f64) -> bool {
        (time.as_secs_f64() - seconds).abs() <= 0.13
    }

    #[test]
    fn a_server_that_died_failed_from_a_moment_on() {
        let one = outage(&mut |at| at >= 9.0).expect("an outage");
        assert!(is_near(one.from, 9.0) && one.until.is_none() && one.share == 1.0, "{one:?}");
        assert!(one.is_all && (one.others_per_s - 60.0).abs() < 1.0, "{one:?}");
        assert!(one.is_down(Nanos::SECOND));
    }

    #[test]
    fn a_server_that_came_back_failed_for_a_time() {
        for (from, until) in [(7.0, 11.2), (0.0, 0.5), (3.1, 5.4)] {
            let one = outage(&mut |at| (from..until).contains(&at)).expect("an outage");
            let end = one.until.expect("an end");
            assert!(is_near(one.from, from) && is_near(end, until) && one.share == 1.0, "{one:?}");
        }
    }

    #[test]
    fn some_fail_from_a_moment_on_beside_one_elsewhere() {
        let mut rng = Prng::new(7);
        let mut fails = |at: f64| (at >= 12.0 && rng.next_f64() < 0.4) || (at > 2.0 && at < 2.01);
        let one = outage(&mut fails).expect("an outage");
        assert!(one.until.is_none() && (0.3..0.5).contains(&one.share), "{one:?}");
        assert!((one.from.as_secs_f64() - 12.0).abs() < 0.5 && !one.is_down(Nanos::SECOND));
    }

    #[test]
    fn failures_all_through_a_run_have_no_moment() {
        for share in [0.02, 0.1, 0.4, 0.9] {
            for seed in 0..40 {
                let mut rng = Prng::new(seed);
                assert_eq!(outage(&mut |_| rng.next_f64() < share), None, "{share} {seed}");
            }
        }
        assert_eq!(outage(&mut |_| true), None);
        assert_eq!(outage(&mut |_| false), None);
        // A quota that fills again and again.
        assert_eq!(outage(&mut |at| at % 4.0 > 2.0), None);
    }
}
