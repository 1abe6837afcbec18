//! `Open`: a worker's share of a schedule, and of what is offered in its place once the load was changed.

use stdx::Nanos;
use workload::arrival::{Cursor, Numbers, Rate, Shape, Shard};
use workload::{Load, Plan};

use crate::load_change::LoadChange;
use crate::place::Place;

/// A worker's share of a schedule.
#[derive(Debug)]
pub(crate) struct Open {
    /// The plan's.
    cursor: Cursor,
    /// This worker's among those that take part.
    pub(crate) place: Place,
    /// What is offered since the first change of the load.
    changed: Option<Box<OtherLoad>>,
    /// The most hits of this worker under way at once.
    pub(crate) in_flight_max: usize,
    /// What falls due within this time is sent together; zero for exact pacing.
    tick: Nanos,
}

/// What is offered since the first change of the load. The plan's cursor goes on beside it, so that the plan ends when it was
/// to end and is taken up again where it then is.
#[derive(Debug)]
struct OtherLoad {
    /// Numbers of the hits: without gaps, whatever the plan's cursor passes over.
    numbers: Numbers,
    /// Numbers from this one on were used by no worker before the last change.
    unused: u64,
    is_paused: bool,
    /// This worker has no part in the load.
    is_idle: bool,
    other_rate: Option<OtherRate>,
}

/// A rate in place of the plan's.
#[derive(Debug)]
struct OtherRate {
    rate: Rate,
    /// Its schedule, whose times count from `since`.
    cursor: Cursor,
    since: Nanos,
}

impl Open {
    /// The plan's schedule, of which the worker in this place has its share.
    pub(crate) fn new(cursor: Cursor, place: Place, in_flight_max: usize, tick: Nanos) -> Self {
        let changed = place
            .is_idle()
            .then(|| Box::new(OtherLoad::new(Numbers::new(place.shard(), None), place)));
        Self { cursor, place, changed, in_flight_max, tick }
    }

    /// The next hit's number, and when it is due: at no time while the load is paused. `None` when the schedule is over.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(u64, Nanos)> {
        match &self.changed {
            None => self.cursor.peek(),
            Some(changed) => changed.peek(&self.cursor),
        }
    }

    /// Goes on to the next hit.
    #[inline]
    pub(crate) fn advance(&mut self) {
        match &mut self.changed {
            None => self.cursor.advance(),
            Some(changed) => changed.advance(&mut self.cursor),
        }
    }

    /// When the next hit is to be begun: when it is due, or at the tick's end.
    pub(crate) fn next_begin(&self) -> Option<Nanos> {
        let (_, due) = self.peek()?;
        if self.tick == Nanos::ZERO {
            return Some(due);
        }
        Some(Nanos(due.0.div_ceil(self.tick.0).saturating_mul(self.tick.0)))
    }

    /// How many hits, from the next one on, are due until then and have a number below `max`.
    pub(crate) fn count_until_below(&self, until: Nanos, max: Option<u64>) -> u64 {
        let Some(changed) = &self.changed else {
            return self.cursor.count_until_below(until, max);
        };
        let below = max.map_or(u64::MAX, |max| changed.numbers.count_below(max));
        changed.count_until(until, &self.cursor).min(below)
    }

    /// Passes over what the plan had for the time until now, where something else is offered.
    pub(crate) fn follow(&mut self, now: Nanos) {
        if self
            .changed
            .as_ref()
            .is_some_and(|changed| changed.rests() || changed.other_rate.is_some())
        {
            pass_over(&mut self.cursor, now);
        }
    }

    /// Offers another load from this moment of a run of this plan.
    pub(crate) fn change(&mut self, at: Nanos, change: LoadChange, plan: &Plan) {
        let next = self.peek().map_or(self.place.shard().first, |(number, _)| number);
        let unused = self.unused_at(at, plan);
        let before = self.place;
        if let LoadChange::Rate(rate) = change {
            self.place = before.at(rate);
        }
        let first = match self.place.is_beside(before) {
            true => next,
            false => unused + self.place.shard().first,
        };
        let shard = self.place.shard();
        let numbers = Numbers::new(Shard { first, step: shard.step }, None);
        let changed =
            self.changed.get_or_insert_with(|| Box::new(OtherLoad::new(numbers.clone(), before)));
        (changed.numbers, changed.unused, changed.is_idle) =
            (numbers, unused, self.place.is_idle());
        let rate = match change {
            LoadChange::Rate(rate) => Some(rate),
            _ => changed.other_rate.as_ref().map(|other| other.rate),
        };
        changed.other_rate = rate.map(|rate| OtherRate::new(rate, at, shard, plan));
        match change {
            LoadChange::Pause => changed.is_paused = true,
            LoadChange::Resume => changed.is_paused = false,
            LoadChange::Rate(_) | LoadChange::Users(_) => {}
        }
        pass_over(&mut self.cursor, at);
    }

    /// The first number that no worker can have used before this moment. Each worker finds the same one.
    fn unused_at(&self, at: Nanos, plan: &Plan) -> u64 {
        let changed = self.changed.as_deref();
        let (before, expected) = match changed.map(|changed| (changed, &changed.other_rate)) {
            Some((changed, Some(_))) if changed.is_paused => return changed.unused,
            Some((changed, Some(other))) => (changed.unused, other.expected_until(at)),
            _ => (0, planned_until(plan, at)),
        };
        before + self.place.number_past(expected)
    }
}

/// How many hits a plan has until then, of all workers.
fn planned_until(plan: &Plan, at: Nanos) -> f64 {
    let Load::Open { shape, .. } = &plan.load else { return 0.0 };
    shape.planned(Some(at)).unwrap_or(0) as f64
}

impl OtherLoad {
    /// What the plan offers, for a worker in this place.
    fn new(numbers: Numbers, place: Place) -> Self {
        let is_idle = place.is_idle();
        Self { numbers, unused: 0, is_paused: false, is_idle, other_rate: None }
    }

    /// Whether nothing falls due for this worker.
    fn rests(&self) -> bool {
        self.is_paused || self.is_idle
    }

    fn peek(&self, plan: &Cursor) -> Option<(u64, Nanos)> {
        let due = match &self.other_rate {
            // Once the plan is over, nothing is to be resumed.
            _ if self.rests() => plan.peek().map(|_| Nanos::MAX)?,
            None => plan.peek()?.1,
            Some(other) => other.cursor.peek()?.1.saturating_add(other.since),
        };
        Some((self.numbers.get(), due))
    }

    fn advance(&mut self, plan: &mut Cursor) {
        if self.rests() {
            return;
        }
        self.numbers.advance();
        match &mut self.other_rate {
            None => plan.advance(),
            Some(other) => other.cursor.advance(),
        }
    }

    fn count_until(&self, until: Nanos, plan: &Cursor) -> u64 {
        match &self.other_rate {
            _ if self.rests() => 0,
            None => plan.count_until(until),
            Some(other) if until < other.since => 0,
            Some(other) => other.cursor.count_until(until.saturating_sub(other.since)),
        }
    }
}

impl OtherRate {
    /// This rate until the plan's end; Poisson arrivals remain such. Even ones begin after an interval: each change of a hand that
    /// turns a knob would send a hit at once.
    fn new(rate: Rate, since: Nanos, shard: Shard, plan: &Plan) -> Self {
        let is_poisson = matches!(plan.load, Load::Open { shape: Shape::Poisson { .. }, .. });
        let shape = if is_poisson { Shape::Poisson { rate } } else { Shape::constant(rate) };
        let interval = Nanos::from_secs_f64(if is_poisson { 0.0 } else { 1.0 / rate.per_s() });
        let since = since.saturating_add(interval);
        let duration = plan.begins_for().map(|end| end.saturating_sub(since));
        Self { rate, cursor: shape.cursor(plan.seed ^ since.0, shard, duration), since }
    }

    /// How many hits of all workers are expected until then.
    fn expected_until(&self, at: Nanos) -> f64 {
        self.rate.per_s() * at.saturating_sub(self.since).as_secs_f64()
    }
}

/// Goes on to the first hit that is not due before then.
fn pass_over(cursor: &mut Cursor, before: Nanos) {
    while cursor.peek().is_some_and(|(_, due)| due < before) {
        cursor.advance();
    }
}

#[cfg(test)]
mod tests {
    use workload::{Target, Targets};

    use super::*;
    use crate::worker_demand::WorkerDemand;

    fn plan(rate: u64) -> Plan {
        let shape = Shape::constant(Rate::per_second(rate));
        let load = Load::Open { shape, max_in_flight: None };
        Plan { duration: Some(Nanos::from_secs(10)), ..Plan::new(load, Targets::default(), 7) }
    }

    /// The place of one of three workers.
    fn place(worker: u64, demand: Option<WorkerDemand>) -> Place {
        Place::of_test(worker, 3, Rate::per_second(2), demand)
    }

    fn alone() -> Place {
        Place::of_test(0, 1, Rate::per_second(2), None)
    }

    /// The hits of a worker, as number and due time in milliseconds; changes are made once all before them are begun.
    fn hits(place: Place, changes: &[(u64, LoadChange)]) -> Vec<(u64, u64)> {
        let (plan, shard) = (plan(2), place.shard());
        let Load::Open { shape, .. } = &plan.load else { panic!("an open loop") };
        let mut open =
            Open::new(shape.cursor(7, shard, plan.duration), place, usize::MAX, Nanos::ZERO);
        let mut hits = Vec::new();
        let mut take = |open: &mut Open, until: Nanos| {
            while let Some((number, due)) = open.peek().filter(|(_, due)| *due < until) {
                hits.push((number, due.0 / 1_000_000));
                open.advance();
            }
        };
        for (ms, change) in changes {
            let at = Nanos::from_millis(*ms);
            take(&mut open, at);
            open.follow(at);
            open.change(at, *change, &plan);
        }
        take(&mut open, Nanos(u64::MAX));
        hits
    }

    #[test]
    fn a_pause_does_not_move_the_end() {
        let (pause, resume) = (LoadChange::Pause, LoadChange::Resume);
        let all = hits(alone(), &[(1_200, pause), (8_700, resume)]);
        assert_eq!(all, [(0, 0), (1, 500), (2, 1000), (3, 9000), (4, 9500)]);
        assert_eq!(hits(alone(), &[(1_200, pause)]), [(0, 0), (1, 500), (2, 1000)]);
    }

    #[test]
    fn a_rate_stands_until_the_end_or_the_next() {
        let rate = |n| LoadChange::Rate(Rate::per_second(n));
        let all = hits(alone(), &[(1_200, rate(4)), (1_900, rate(1))]);
        let dues: Vec<u64> = all.iter().map(|(_, due)| *due).collect();
        assert_eq!(dues[..5], [0, 500, 1000, 1450, 1700]);
        assert_eq!((all.len(), all.last()), (13, Some(&(12, 9_900))));
        // What is resumed is what was asked for last.
        let all =
            hits(alone(), &[(600, LoadChange::Pause), (700, rate(1)), (8_000, LoadChange::Resume)]);
        assert_eq!(all, [(0, 0), (1, 500), (2, 9000)]);
    }

    #[test]
    fn workers_together_offer_the_whole() {
        let changes = [(1_200, LoadChange::Rate(Rate::per_second(5)))];
        let whole = hits(alone(), &changes);
        let mut all: Vec<(u64, u64)> =
            (0..3).flat_map(|worker| hits(place(worker, None), &changes)).collect();
        all.sort_unstable_by_key(|(_, due)| *due);
        let dues = |hits: &[(u64, u64)]| hits.iter().map(|(_, due)| *due).collect::<Vec<_>>();
        assert_eq!(dues(&all), dues(&whole));
        let mut numbers: Vec<u64> = all.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), whole.len(), "each number once");
    }

    #[test]
    fn regression_issue_41_workers_take_part_as_the_rate_wants_them() {
        let target = Target {
            method: "GET".to_owned(),
            url: "http://a/".to_owned(),
            headers: Vec::new(),
            body: [].into(),
            weight: 1,
            name: String::new(),
        };
        let demand = WorkerDemand::of(&Targets::new(vec![target]));
        let rate = |n| LoadChange::Rate(Rate::per_second(n));
        let changes = [
            (500, LoadChange::Pause),
            (1_500, LoadChange::Resume),
            (2_000, rate(250)),
            (3_000, LoadChange::Pause),
            (3_200, LoadChange::Resume),
            (4_000, rate(150)),
            (5_000, rate(3)),
        ];
        let whole = hits(alone(), &changes);
        let of: Vec<_> = (0..3).map(|worker| hits(place(worker, Some(demand)), &changes)).collect();
        let due = |worker: usize, from: u64, until: u64| {
            of[worker].iter().filter(|(_, due)| (from..until).contains(due)).count()
        };
        assert_eq!((due(1, 0, 2_000), due(2, 0, 2_000)), (0, 0), "2/s keep one worker busy");
        assert!((0..3).all(|worker| due(worker, 2_000, 3_000).abs_diff(83) <= 1), "{of:?}");
        assert!((0..2).all(|worker| due(worker, 4_000, 5_000).abs_diff(75) <= 1), "{of:?}");
        assert_eq!((due(2, 4_000, 10_000), due(1, 5_000, 10_000)), (0, 0), "2, then 1 of them");
        let mut all: Vec<(u64, u64)> = of.concat();
        all.sort_unstable_by_key(|(_, due)| *due);
        let dues = |hits: &[(u64, u64)]| hits.iter().map(|(_, due)| *due).collect::<Vec<_>>();
        assert_eq!(dues(&all), dues(&whole), "together the whole");
        let mut numbers: Vec<u64> = all.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), whole.len(), "each number once");
    }

    #[test]
    fn what_is_left_is_counted() {
        let plan = plan(1000);
        let shape = Shape::constant(Rate::per_second(1000));
        let cursor = shape.cursor(7, Shard::ALL, plan.duration);
        let mut open = Open::new(cursor, alone(), usize::MAX, Nanos::ZERO);
        let second = Nanos::from_secs;
        open.change(second(2), LoadChange::Rate(Rate::per_second(10)), &plan);
        assert_eq!(open.count_until_below(second(3), None), 10);
        assert_eq!(open.count_until_below(second(10), None), 79);
        assert_eq!(open.count_until_below(second(10), Some(7)), 7);
        open.change(second(4), LoadChange::Pause, &plan);
        assert_eq!(open.count_until_below(second(10), None), 0);
    }
}
