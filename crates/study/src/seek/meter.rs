//! `Meter` turns the rows of a run into a step. Memory is bounded: rows are counted in cells by the time they were due, and not
//! stored.

use metrics::{Batch, CONDITIONS_MAX, Condition, Histogram, Metric, Reason, Sample, Verdict};
use stdx::Nanos;

use super::level::judge_alone;
use super::{By, Search, Step, Trial, Unit};
use crate::warmup::start_of_steady_state;

/// Cells of a step.
const CELLS: u64 = 100;
/// Where this share of a step's hits is on the wrong side, no more need be seen; and where half of what is allowed beyond
/// this is, if that is more.
const PLAIN_SHARE: f64 = 0.3;
/// A share of slow hits, counted from when they were sent, that is so many times what is allowed is the server's doing, however
/// late the generator was; and so is one half-way from there to all hits.
const SERVERS_DOING: f64 = 2.0;

/// A smaller share than this may be the generator's own late sending of a few hits, whatever is allowed.
const SERVERS_SHARE_MIN: f64 = 0.01;

/// Measures one step.
#[derive(Debug)]
pub struct Meter<'a> {
    search: &'a Search,
    trial: Trial,
    width: Nanos,
    cells: Vec<Cell>,
    /// When the load began, from the rows' zero.
    begun: Nanos,
}

/// What was seen of the hits that were due in one cell.
#[derive(Clone, Debug, Default)]
struct Cell {
    hits: u64,
    errors: u64,
    /// Hits that ended in this cell with success, whenever they were due.
    ended: u64,
    /// Hits on the wrong side of each condition.
    wrong: [u64; CONDITIONS_MAX],
    /// The same, had they been due when they were sent.
    wrong_from_sent: [u64; CONDITIONS_MAX],
    response: Histogram,
}

impl Cell {
    fn add(&mut self, search: &Search, sample: &Sample) {
        self.hits += 1;
        self.errors += u64::from(!sample.is_success());
        self.response.record(sample.response());
        let from_sent = Sample { intended: sample.sent, ..*sample };
        for (at, condition) in search.objective.conditions().iter().enumerate() {
            self.wrong[at] += u64::from(condition.is_passed_by(sample));
            self.wrong_from_sent[at] += u64::from(condition.is_passed_by(&from_sent));
        }
    }

    fn merge(&mut self, other: &Self) {
        self.hits += other.hits;
        self.errors += other.errors;
        self.ended += other.ended;
        for at in 0..CONDITIONS_MAX {
            self.wrong[at] += other.wrong[at];
            self.wrong_from_sent[at] += other.wrong_from_sent[at];
        }
        self.response.merge(&other.response);
    }
}

impl<'a> Meter<'a> {
    /// Measures a step of this search, without its warm-up.
    #[must_use]
    pub fn new(search: &'a Search, trial: Trial) -> Self {
        let width = Nanos((trial.warmup + trial.measure).0.div_ceil(CELLS).max(1));
        Self {
            search,
            trial,
            width,
            cells: vec![Cell::default(); CELLS as usize],
            begun: Nanos::ZERO,
        }
    }

    /// How long the whole step takes.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        self.trial.warmup + self.trial.measure
    }

    /// The load began at this time, from the rows' zero: before it virtual users were made.
    pub fn begin_at(&mut self, begun: Nanos) {
        self.begun = begun;
    }

    /// Counts hits that fell due and were not sent, since so many were under way already: each is as wrong as one can be, whenever
    /// it was due.
    pub fn add_unsent(&mut self, hits: u64) {
        let last = &mut self.cells[CELLS as usize - 1];
        last.hits += hits;
        last.errors += hits;
        for wrong in [&mut last.wrong, &mut last.wrong_from_sent] {
            let of_objective = self.search.objective.conditions().len();
            wrong[..of_objective].iter_mut().for_each(|wrong| *wrong += hits);
        }
    }

    /// Counts rows. Times are offsets from the step's start.
    pub fn add(&mut self, batch: &Batch) {
        for sample in &batch.samples {
            let since = |time: Nanos| self.cell_of(time.saturating_sub(self.begun));
            let (due, ended) = (since(sample.intended), since(sample.done));
            self.cells[due.min(CELLS as usize - 1)].add(self.search, sample);
            if let Some(cell) = self.cells.get_mut(ended)
                && sample.is_success()
            {
                cell.ended += 1;
            }
        }
    }

    fn cell_of(&self, time: Nanos) -> usize {
        (time.0 / self.width.0) as usize
    }

    /// When a cell begins.
    fn time_of(&self, cell: usize) -> Nanos {
        Nanos(self.width.0 * cell as u64)
    }

    /// Whether the objective is missed whatever is still to come, `now` with so many hits under way: a climb past the capacity
    /// need not take as long as a step. Hits of the warm-up do not count, not even while they are under way; those after it
    /// count as on a limit's wrong side once they are under way for longer.
    #[must_use]
    pub fn is_plainly_missed(&self, now: Nanos, in_flight: u64) -> bool {
        let warmup_end = self.time_of(self.warmup_cells());
        // A closed loop builds up no backlog, and its steps are never cut. How many requests a script's iteration has is not known.
        if self.search.unit() != Unit::Requests || now <= warmup_end {
            return false;
        }
        let (warmup, counted) = self.cells.split_at(self.warmup_cells());
        let load = self.trial.load;
        let planned = load * self.duration().saturating_sub(warmup_end).as_secs_f64();
        // Hits of the warm-up that did not end yet are under way, as far as is known: in doubt nothing is plain.
        let ended: u64 = warmup.iter().map(|cell| cell.hits).sum();
        let left = (load * warmup_end.as_secs_f64() - ended as f64).max(0.0);
        let since = now.saturating_sub(warmup_end);
        let conditions = self.search.objective.conditions().iter().enumerate();
        conditions.into_iter().any(|(at, condition)| {
            let wrong: u64 = counted.iter().map(|cell| cell.wrong[at]).sum();
            let allowed = condition.allowed().unwrap_or(0.5);
            let overdue = condition.limit_time().map_or(0.0, |limit| {
                // Twice the limit for a mean, so that half of the hits being so late settles it.
                let limit = if condition.allowed().is_some() { limit } else { limit + limit };
                in_flight as f64 - left - load * limit.min(since).as_secs_f64()
            });
            let share = f64::midpoint(1.0, allowed).min(allowed + PLAIN_SHARE);
            wrong as f64 + overdue.max(0.0) >= share.max(PLAIN_SHARE) * planned
        })
    }

    /// The step; `took` is the time its load took, to which the caller adds the rest. `verdict` is the run's own; `cut` says when it was ended early.
    #[must_use]
    pub fn finish(self, verdict: &Verdict, cut: Option<Nanos>) -> Step {
        let end = cut.unwrap_or(self.duration()).min(self.duration());
        let begin = self.begin(cut);
        let mut all = Cell::default();
        self.cells[begin..].iter().for_each(|cell| all.merge(cell));
        let warmup = self.time_of(begin).min(end);
        let quantile = |q: f64| all.response.quantile(q);
        let step = Step {
            load: self.trial.load,
            hits: all.hits,
            figures: self.figures(&all, &all.wrong),
            achieved_per_s: self.achieved_per_s(begin, cut),
            mean: all.response.mean(),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            errors: all.errors as f64 / all.hits.max(1) as f64,
            warmup,
            measured: end.saturating_sub(warmup),
            took: end,
            cut: cut.is_some(),
            spoilt: None,
        };
        let is_excused = self.is_servers_doing(&all)
            || self.is_met_late(verdict, &step)
            || self.has_good_figures(verdict);
        let spoilt = (!verdict.is_valid() && !is_excused).then(|| reasons(verdict));
        Step { spoilt, ..step }
    }

    /// The objective is met with the generator's own lag in every response time, and lag only adds. A closed loop that is late asks
    /// for less, so that its step is of another load.
    fn is_met_late(&self, verdict: &Verdict, step: &Step) -> bool {
        self.search.by == By::Rate
            && verdict.reasons.iter().all(Reason::is_lateness)
            && judge_alone(&self.search.objective, step).is_met()
    }

    /// The cell at which what counts begins. What was cut has no steady state: all of it counts but the warm-up, and that too
    /// where it was cut before the warm-up was over.
    fn begin(&self, cut: Option<Nanos>) -> usize {
        match cut {
            None => self.steady_from(),
            Some(end) if end > self.time_of(self.warmup_cells()) => self.warmup_cells(),
            Some(_) => 0,
        }
    }

    /// Successes per second from a cell on until the end. After a cut only whole cells: what ended in the rest of the last one
    /// ended after the load did.
    fn achieved_per_s(&self, begin: usize, cut: Option<Nanos>) -> f64 {
        let end = cut.map_or(self.cells.len(), |end| self.cell_of(end));
        let in_time = begin..end.clamp(begin + 1, self.cells.len());
        let seconds = self.time_of(in_time.len()).as_secs_f64();
        self.cells[in_time].iter().map(|cell| cell.ended).sum::<u64>() as f64 / seconds
    }

    /// Cells of the configured warm-up; the last may reach beyond it.
    fn warmup_cells(&self) -> usize {
        (self.trial.warmup.0.div_ceil(self.width.0) as usize).min(self.cells.len() - 1)
    }

    /// The cell at which the steady state starts: after the configured warm-up, and after cells behind it that are clearly not
    /// steady.
    fn steady_from(&self) -> usize {
        let begin = self.warmup_cells();
        let medians: Vec<f64> = self.cells[begin..]
            .iter()
            .filter(|cell| cell.hits > 0)
            .map(|cell| cell.response.quantile(0.5).0 as f64)
            .collect();
        // Cells without a hit say nothing of when the steady state began.
        if medians.len() < self.cells.len() - begin {
            return begin;
        }
        begin + start_of_steady_state(&medians)
    }

    /// The generator was late, but raised none of the figures that the objective is about: a p50 is good where only p99 is not. In a
    /// closed loop lateness asks for less.
    fn has_good_figures(&self, verdict: &Verdict) -> bool {
        let conditions = self.search.objective.conditions();
        self.search.by == By::Rate
            && verdict.reasons.iter().all(Reason::is_lateness)
            && conditions.iter().all(|condition| is_good(condition, verdict))
    }

    fn figures(&self, all: &Cell, wrong: &[u64; CONDITIONS_MAX]) -> Vec<f64> {
        let conditions = self.search.objective.conditions().iter().enumerate();
        let figure = |(at, condition): (usize, &metrics::Condition)| match condition.allowed() {
            Some(_) => wrong[at] as f64 / all.hits.max(1) as f64,
            None => all.response.sum() as f64 / all.hits.max(1) as f64,
        };
        conditions.map(figure).collect()
    }

    /// A latency's limit is missed by far even counted from when hits were sent: then the server is slow, and a generator that
    /// ran out of connections or time is its victim.
    fn is_servers_doing(&self, all: &Cell) -> bool {
        let from_sent = self.figures(all, &all.wrong_from_sent);
        let conditions = self.search.objective.conditions().iter().zip(from_sent);
        conditions.filter(|(condition, _)| condition.limit_time().is_some()).any(
            |(condition, share)| {
                let allowed = condition.allowed();
                allowed.is_some_and(|allowed| {
                    let plain = f64::midpoint(1.0, allowed).min(SERVERS_DOING * allowed);
                    share > plain.max(SERVERS_SHARE_MIN)
                })
            },
        )
    }
}

/// Whether lateness left this figure as it was: the next quantiles below and above it that a verdict judges are good. Of those beyond
/// all of them, and of a mean, nothing is known; errors do not depend on when a hit began.
fn is_good(condition: &Condition, verdict: &Verdict) -> bool {
    let percent = match condition.metric {
        Metric::Errors => return true,
        Metric::Percentile(percent) => percent,
        Metric::Mean | Metric::Max => return false,
    };
    let late = verdict.reasons.iter().find_map(|reason| match reason {
        Reason::Late { quantiles, .. } => Some(quantiles),
        _ => None,
    });
    let Some(quantiles) = late else { return false };
    // As percentages both are decimal numbers; a share of 1 is not.
    let below = quantiles.iter().rfind(|one| one.q * 100.0 <= percent);
    let above = quantiles.iter().find(|one| one.q * 100.0 >= percent - 1e-9);
    above.is_some_and(|one| !one.raised) && below.is_none_or(|one| !one.raised)
}

/// Why a run is INVALID, in the verdict's words.
fn reasons(verdict: &Verdict) -> String {
    let reasons: Vec<String> = verdict.reasons.iter().map(ToString::to_string).collect();
    reasons.join("; ")
}

#[cfg(test)]
mod tests {
    use metrics::{Generator, LateQuantile, Summary};

    use super::*;
    use crate::seek::Subject;

    fn search(by: By) -> Search {
        Search {
            objective: "p90<100ms, errors<1%, mean<1s".parse().unwrap(),
            by,
            subject: Subject::Requests,
            from: 1.0,
            to: None,
            step: Nanos::from_secs(8),
            warmup: WARMUP,
            probe: 1.0,
            precision: 0.05,
            steps_max: 9,
            budget: None,
        }
    }

    const TRIAL: Trial = Trial { load: 100.0, warmup: WARMUP, measure: Nanos::from_secs(8) };
    const WARMUP: Nanos = Nanos::from_secs(2);

    /// A hundred hits a second for 10 s; `response` says what a hit that is due at this millisecond takes.
    fn batch(response: impl Fn(u64) -> Nanos) -> Batch {
        let sample = |at: u64| {
            let due = Nanos::from_millis(at * 10);
            Sample {
                intended: due,
                sent: due,
                done: due + response(at * 10),
                outcome: metrics::Outcome::Http(if at.is_multiple_of(200) { 500 } else { 200 }),
                ..Sample::default()
            }
        };
        Batch { samples: (0..1000).map(sample).collect(), ..Batch::default() }
    }

    /// The step of these rows, with a verdict about a generator that was late or not.
    fn step(batch: &Batch, late: bool, cut: Option<Nanos>) -> Step {
        let search = search(By::Rate);
        let mut meter = Meter::new(&search, TRIAL);
        meter.add(batch);
        let stalls = u64::from(late);
        let generator = Generator { finished: true, stalls, ..Generator::default() };
        meter.finish(&Verdict::new(&Summary::new(), Some(&generator), &[]), cut)
    }

    #[test]
    fn the_warm_up_does_not_count() {
        let slow_at_first = batch(|ms| Nanos::from_millis(if ms < 1400 { 500 } else { 20 }));
        let step = step(&slow_at_first, false, None);
        assert_eq!((step.hits, step.warmup, step.measured), (800, WARMUP, TRIAL.measure));
        assert_eq!(step.figures, [0.0, 4.0 / 800.0, 2e7]);
        assert_eq!((step.p50, step.p99), (step.p95, step.p95));
        assert!((step.achieved_per_s - 99.5).abs() < 0.5, "{}", step.achieved_per_s);
        assert_eq!((step.cut, step.spoilt), (false, None));
    }

    #[test]
    fn a_longer_start_is_found() {
        let noise = |ms: u64| stdx::mix(5, ms) % 5;
        let slow = batch(|ms| Nanos::from_millis(noise(ms) + if ms < 4000 { 300 } else { 20 }));
        let step = step(&slow, false, None);
        assert!(step.warmup >= Nanos::from_secs(4), "{}", step.warmup);
        assert!(step.warmup <= Nanos::from_secs(6) && step.figures[0] == 0.0, "{step:?}");
    }

    #[test]
    fn a_step_that_was_cut_counts_but_for_its_warm_up() {
        let mut some = batch(|_| Nanos::from_millis(200));
        some.samples.truncate(150);
        let early = step(&some, false, Some(Nanos::from_millis(1500)));
        assert_eq!((early.hits, early.warmup), (150, Nanos::ZERO));
        assert_eq!(
            (early.measured, early.cut, early.figures[0]),
            (Nanos::from_millis(1500), true, 1.0)
        );
        let slow_at_first = batch(|ms| Nanos::from_millis(if ms < 1900 { 500 } else { 20 }));
        let later = step(&slow_at_first, false, Some(Nanos::from_secs(4)));
        assert_eq!((later.hits, later.warmup, later.measured), (800, WARMUP, Nanos::from_secs(2)));
        assert_eq!((later.cut, later.figures[0]), (true, 0.0));
    }

    #[test]
    fn every_cell_counts_for_what_was_achieved() {
        let fast = batch(|_| Nanos::from_millis(5));
        let search = search(By::Rate);
        // A hundred cells are longer than the step by a part of a nanosecond each, and a cut seldom falls between two.
        for (more, cut) in [(50, None), (0, None), (0, Some(Nanos::from_millis(4950)))] {
            let measure = TRIAL.measure + Nanos(more);
            let mut meter = Meter::new(&search, Trial { measure, ..TRIAL });
            meter.add(&fast);
            let step = meter.finish(&Verdict::new(&Summary::new(), None, &[]), cut);
            assert!((step.achieved_per_s - 99.5).abs() < 0.3, "{more} {cut:?}: {step:?}");
        }
    }

    #[test]
    fn a_late_generator_spoils_a_step_that_the_server_did_not() {
        let fast = batch(|_| Nanos::from_millis(20));
        assert_eq!(step(&fast, true, None).spoilt, None, "met with the lag in it");
        // At a low rate a step has fewer requests than prove anything; lag adds to those as well.
        let mut few = batch(|_| Nanos::from_millis(20));
        few.samples.retain(|sample| (sample.intended.0 / 10_000_000).is_multiple_of(40));
        few.samples.iter_mut().for_each(|one| one.outcome = metrics::Outcome::Http(200));
        assert_eq!((step(&few, true, None).hits, step(&few, true, None).spoilt), (20, None));
        let near = batch(|ms| Nanos::from_millis(if ms % 70 == 0 { 130 } else { 90 }));
        assert!(step(&near, true, None).spoilt.unwrap().contains("stood still"));
        let slow = batch(|_| Nanos::from_millis(200));
        let search = Search { objective: "p50<100ms".parse().unwrap(), ..search(By::Rate) };
        let cell = Cell { hits: 100, wrong_from_sent: [80; CONDITIONS_MAX], ..Cell::default() };
        let doing = |cell: &Cell| Meter::new(&search, TRIAL).is_servers_doing(cell);
        assert!(doing(&cell), "80 % where half may be");
        assert!(!doing(&Cell { wrong_from_sent: [70; CONDITIONS_MAX], ..cell }));
        assert_eq!(step(&slow, true, None).spoilt, None, "slow even from when hits were sent");
        let mut held = slow;
        held.samples.iter_mut().for_each(|sample| sample.sent = sample.done);
        assert!(step(&held, true, None).spoilt.is_some(), "slow only since hits were sent late");
    }

    #[test]
    fn issue_40_a_step_counts_whose_own_quantile_is_good() {
        let mut near = batch(|ms| Nanos::from_millis(if ms % 70 == 0 { 130 } else { 90 }));
        // Slow only since they were sent late.
        near.samples.iter_mut().for_each(|sample| sample.sent = sample.done);
        let spoilt = |objective: &str, by: By, reason: Option<Reason>| {
            let late = |q: f64| LateQuantile {
                q,
                response: Nanos::from_millis(130),
                on_time: Nanos::from_millis(90),
                raised: q > 0.96,
            };
            let quantiles = metrics::JUDGED.map(late).to_vec();
            let reasons = [Some(Reason::Late { quantiles, stood_still: false }), reason];
            let verdict =
                Verdict { reasons: reasons.into_iter().flatten().collect(), ..Verdict::default() };
            let search = Search { objective: objective.parse().unwrap(), ..search(by) };
            let mut meter = Meter::new(&search, TRIAL);
            meter.add(&near);
            meter.finish(&verdict, None).spoilt.is_some()
        };
        let rate = |objective| spoilt(objective, By::Rate, None);
        assert!(!rate("p90<100ms, errors<0.1%") && !rate("p95<100ms") && !rate("p93<100ms"));
        assert!(rate("p99<100ms") && rate("p97<100ms") && rate("p99.9<100ms"));
        assert!(rate("mean<50ms") && rate("p90<100ms, p99<100ms"));
        assert!(spoilt("p90<100ms", By::Connections, None), "it asked for less");
        let dropped = Reason::RowsDropped { rows: 9 };
        assert!(spoilt("p90<100ms", By::Rate, Some(dropped)), "no lateness");
    }

    #[test]
    fn what_is_plain_is_seen_early() {
        let check = |by, now, hits: usize, in_flight, plain| {
            let search = search(by);
            let mut meter = Meter::new(&search, TRIAL);
            let mut some = batch(|_| Nanos::from_millis(200));
            some.samples.truncate(hits);
            meter.add(&some);
            let seen = meter.is_plainly_missed(Nanos::from_secs(now), in_flight);
            assert_eq!(seen, plain, "{now} s: {hits} {in_flight}");
        };
        // Of eight hundred hits 320 must be slow: 30 % more than the 10 % that may be. The two hundred before do not count.
        check(By::Rate, 6, 0, 20, false);
        check(By::Rate, 6, 519, 10, false);
        check(By::Rate, 6, 520, 10, true);
        // Of those under way ten were due within the last 100 ms.
        check(By::Rate, 6, 300, 229, false);
        check(By::Rate, 6, 300, 230, true);
        check(By::Connections, 6, 1000, 1000, false);
        // Nothing is answered at all: certain as soon as that is so of 320 after the warm-up, and while it lasts of none.
        check(By::Rate, 2, 0, 200, false);
        check(By::Rate, 5, 0, 500, false);
        check(By::Rate, 6, 0, 600, true);
    }

    #[test]
    fn a_slow_warm_up_cuts_no_step() {
        let search =
            Search { objective: "p99<250ms, errors<1%".parse().unwrap(), ..search(By::Rate) };
        let five = Nanos::from_secs(5);
        let mut meter = Meter::new(&search, Trial { warmup: five, measure: five, ..TRIAL });
        let mut late = batch(|ms| Nanos::from_millis(if ms < 4500 { 500 } else { 20 }));
        late.samples.iter_mut().for_each(|sample| sample.outcome = metrics::Outcome::Http(200));
        meter.add(&late);
        let plain = (1..=10).any(|now| meter.is_plainly_missed(Nanos::from_secs(now), 50));
        assert!(!plain, "what the warm-up leaves out");
        let step = meter.finish(&Verdict::new(&Summary::new(), None, &[]), None);
        assert_eq!((step.figures, step.cut), (vec![0.0, 0.0], false));
    }
}
