//! `Open`: a worker's share of a schedule, and of what is offered in its place once the load was changed.

use stdx::Nanos;
use workload::Plan;
use workload::arrival::{Cursor, Numbers, Rate, Shape, Shard};

use crate::load_change::LoadChange;

/// A worker's share of a schedule.
#[derive(Debug)]
pub(crate) struct Open {
    /// The plan's.
    cursor: Cursor,
    shard: Shard,
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
    is_paused: bool,
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
    pub(crate) fn new(cursor: Cursor, shard: Shard, in_flight_max: usize, tick: Nanos) -> Self {
        Self { cursor, shard, changed: None, in_flight_max, tick }
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
            .is_some_and(|changed| changed.is_paused || changed.other_rate.is_some())
        {
            pass_over(&mut self.cursor, now);
        }
    }

    /// Offers another load from this moment of a run of this plan.
    pub(crate) fn change(&mut self, at: Nanos, change: LoadChange, plan: &Plan) {
        let next = self.peek().map_or(self.shard.first, |(number, _)| number);
        let numbers = Numbers::new(Shard { first: next, step: self.shard.step }, None);
        let changed = self.changed.get_or_insert_with(|| {
            Box::new(OtherLoad { numbers, is_paused: false, other_rate: None })
        });
        let rate = match change {
            LoadChange::Rate(rate) => Some(rate),
            _ => changed.other_rate.as_ref().map(|other| other.rate),
        };
        changed.other_rate = rate.map(|rate| OtherRate::new(rate, at, self.shard, plan));
        match change {
            LoadChange::Pause => changed.is_paused = true,
            LoadChange::Resume => changed.is_paused = false,
            LoadChange::Rate(_) | LoadChange::Users(_) => {}
        }
        pass_over(&mut self.cursor, at);
    }
}

impl OtherLoad {
    fn peek(&self, plan: &Cursor) -> Option<(u64, Nanos)> {
        let due = match &self.other_rate {
            // Once the plan is over, nothing is to be resumed.
            _ if self.is_paused => plan.peek().map(|_| Nanos::MAX)?,
            None => plan.peek()?.1,
            Some(other) => other.cursor.peek()?.1.saturating_add(other.since),
        };
        Some((self.numbers.get(), due))
    }

    fn advance(&mut self, plan: &mut Cursor) {
        if self.is_paused {
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
            _ if self.is_paused => 0,
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
        let is_poisson =
            matches!(plan.load, workload::Load::Open { shape: Shape::Poisson { .. }, .. });
        let shape = if is_poisson { Shape::Poisson { rate } } else { Shape::constant(rate) };
        let interval = Nanos::from_secs_f64(if is_poisson { 0.0 } else { 1.0 / rate.per_s() });
        let since = since.saturating_add(interval);
        let duration = plan.begins_for().map(|end| end.saturating_sub(since));
        Self { rate, cursor: shape.cursor(plan.seed ^ since.0, shard, duration), since }
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
    use workload::{Load, Targets};

    use super::*;

    fn plan(rate: u64) -> Plan {
        let shape = Shape::constant(Rate::per_second(rate));
        let load = Load::Open { shape, max_in_flight: None };
        Plan { duration: Some(Nanos::from_secs(10)), ..Plan::new(load, Targets::default(), 7) }
    }

    /// The hits of a worker, as number and due time in milliseconds; changes are made once all before them are begun.
    fn hits(shard: Shard, changes: &[(u64, LoadChange)]) -> Vec<(u64, u64)> {
        let plan = plan(2);
        let Load::Open { shape, .. } = &plan.load else { panic!("an open loop") };
        let mut open =
            Open::new(shape.cursor(7, shard, plan.duration), shard, usize::MAX, Nanos::ZERO);
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
        let all = hits(Shard::ALL, &[(1_200, pause), (8_700, resume)]);
        assert_eq!(all, [(0, 0), (1, 500), (2, 1000), (3, 9000), (4, 9500)]);
        assert_eq!(hits(Shard::ALL, &[(1_200, pause)]), [(0, 0), (1, 500), (2, 1000)]);
    }

    #[test]
    fn a_rate_stands_until_the_end_or_the_next() {
        let rate = |n| LoadChange::Rate(Rate::per_second(n));
        let all = hits(Shard::ALL, &[(1_200, rate(4)), (1_900, rate(1))]);
        let dues: Vec<u64> = all.iter().map(|(_, due)| *due).collect();
        assert_eq!(dues[..5], [0, 500, 1000, 1450, 1700]);
        assert_eq!((all.len(), all.last()), (13, Some(&(12, 9_900))));
        // What is resumed is what was asked for last.
        let all = hits(
            Shard::ALL,
            &[(600, LoadChange::Pause), (700, rate(1)), (8_000, LoadChange::Resume)],
        );
        assert_eq!(all, [(0, 0), (1, 500), (2, 9000)]);
    }

    #[test]
    fn workers_together_offer_the_whole() {
        let changes = [(1_200, LoadChange::Rate(Rate::per_second(5)))];
        let whole = hits(Shard::ALL, &changes);
        let mut all: Vec<(u64, u64)> =
            (0..3).flat_map(|first| hits(Shard { first, step: 3 }, &changes)).collect();
        all.sort_unstable_by_key(|(_, due)| *due);
        let dues = |hits: &[(u64, u64)]| hits.iter().map(|(_, due)| *due).collect::<Vec<_>>();
        assert_eq!(dues(&all), dues(&whole));
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
        let mut open = Open::new(cursor, Shard::ALL, usize::MAX, Nanos::ZERO);
        let second = Nanos::from_secs;
        open.change(second(2), LoadChange::Rate(Rate::per_second(10)), &plan);
        assert_eq!(open.count_until_below(second(3), None), 10);
        assert_eq!(open.count_until_below(second(10), None), 79);
        assert_eq!(open.count_until_below(second(10), Some(7)), 7);
        open.change(second(4), LoadChange::Pause, &plan);
        assert_eq!(open.count_until_below(second(10), None), 0);
    }
}
