//! How many workers a run has, and how many of them take part in its load as planned.

use stdx::Nanos;
use workload::{Load, Plan, SegmentSlice};

use crate::prepared::Prepared;
use crate::settings::Settings;

/// How many workers a plan can use: no more than its users, its limit of hits under way, or of connections, also of idle ones:
/// a worker that may not keep one would connect for each request. And no more than its rate keeps busy, where that stays as it is.
pub(crate) fn worker_count(prepared: &Prepared) -> usize {
    let Prepared { plan, settings, .. } = prepared;
    let most = settings.workers.min(settings.connections).max(1);
    if users_may_grow(plan, settings) {
        return most;
    }
    let limit = match plan.load {
        Load::Open { max_in_flight, .. } => max_in_flight,
        Load::Closed { users } => Some(users),
        Load::Users(ref crew) => Some(crew.users),
    };
    let conns = settings.max_connections.map_or(usize::MAX, |n| n);
    let busy = if settings.load_may_change { u64::MAX } else { busy_workers(prepared) };
    let limit = limit.unwrap_or(u64::MAX).min(busy);
    most.min(usize::try_from(limit).unwrap_or(usize::MAX)).min(conns).max(1)
}

/// How many of a run's workers take part in its load as planned. Where the load may be raised, the others wait until it is. Where the
/// hits under way or the connections are limited, each worker has its share of the limit, and all take part.
pub(crate) fn workers_at_start(prepared: &Prepared, workers: u64) -> u64 {
    if may_lie_idle(prepared) { busy_workers(prepared).min(workers) } else { workers }
}

/// Whether workers may have no part in the load for a while.
pub(crate) fn may_lie_idle(prepared: &Prepared) -> bool {
    let Prepared { plan, settings, .. } = prepared;
    let is_unlimited = matches!(plan.load, Load::Open { max_in_flight: None, .. });
    // Lazy targets are dealt out to all workers in turn.
    let is_lazy = plan.targets.list().is_empty();
    settings.load_may_change && is_unlimited && settings.max_connections.is_none() && !is_lazy
}

/// The workers that the rate of a plan keeps busy; as many as there are where it is unknown.
fn busy_workers(prepared: &Prepared) -> u64 {
    let plan = &prepared.plan;
    let rate_per_s = match &plan.load {
        Load::Open { shape, .. } => shape.rate_max_per_s(),
        Load::Closed { users } => match plan.think.least() {
            Nanos::ZERO => return u64::MAX,
            least => *users as f64 / least.as_secs_f64(),
        },
        // Each user of a script has connections of its own.
        Load::Users(_) => return u64::MAX,
    };
    let own = plan.part.as_ref().map_or(1.0, SegmentSlice::share);
    prepared.demand.workers_at(rate_per_s * own)
}

/// Whether there may be more users later, each with a connection of its own, so that further workers have use.
fn users_may_grow(plan: &Plan, settings: &Settings) -> bool {
    let Load::Closed { users } = plan.load else { return false };
    let each_has_one = settings.max_connections.is_none_or(|conns| conns as u64 == users);
    settings.load_may_change && each_has_one && plan.hits_max.is_none()
}

#[cfg(test)]
mod tests {
    use stdx::Distribution;
    use workload::arrival::{Rate, Shape};

    use super::*;
    use crate::worker_demand::tests::targets;

    fn prepared(plan: Plan, settings: &Settings) -> Prepared {
        Prepared::new(plan, settings.clone()).expect("the settings are sound")
    }

    fn open(rate: Rate) -> Load {
        Load::Open { shape: Shape::constant(rate), max_in_flight: None }
    }

    #[test]
    fn regression_issue_41_no_worker_is_without_an_idle_connection() {
        let one = targets(&[("http://a/", 1)]);
        let check = |load: Load, connections: usize, expect: usize| {
            let settings = Settings { workers: 4, connections, ..Settings::default() };
            let plan = Plan::new(load, one.clone(), 0);
            let count = worker_count(&prepared(plan, &settings));
            assert_eq!(count, expect, "{connections}");
        };
        for (connections, expect) in [(10_000, 4), (4, 4), (3, 3), (1, 1), (0, 1)] {
            check(open(Rate::per_second(1000)), connections, expect);
        }
        check(Load::Closed { users: 8 }, 2, 2);
    }

    #[test]
    fn regression_issue_41_a_low_rate_keeps_one_pool_of_connections() {
        let settings = Settings { workers: 16, ..Settings::default() };
        let one = targets(&[("http://a/", 1)]);
        let count = |load: Load, think: Distribution| {
            let plan = Plan { think, ..Plan::new(load, one.clone(), 0) };
            worker_count(&prepared(plan, &settings))
        };
        let slow = Rate { hits: 10, per: Nanos::from_secs(7) };
        assert_eq!(count(open(slow), Distribution::None), 1);
        assert_eq!(count(open(Rate::per_second(100)), Distribution::None), 1);
        assert_eq!(count(open(Rate::per_second(250)), Distribution::None), 3);
        assert_eq!(count(open(Rate::per_second(50_000)), Distribution::None), 16);
        let think = Distribution::Fixed(Nanos::from_secs(5));
        assert_eq!(count(Load::Closed { users: 300 }, think.clone()), 1);
        assert_eq!(count(Load::Closed { users: 300 }, Distribution::None), 16);
        assert_eq!(count(Load::Closed { users: 5000 }, think), 10);
    }

    #[test]
    fn regression_issue_41_a_load_that_may_change_counts_by_its_present_rate() {
        let steered = Settings { workers: 16, load_may_change: true, ..Settings::default() };
        let slow = Rate { hits: 10, per: Nanos::from_secs(7) };
        let at_start = |rate, settings: &Settings| {
            let plan = Plan::new(open(rate), targets(&[("http://a/", 1)]), 0);
            let prepared = prepared(plan, settings);
            let workers = worker_count(&prepared);
            (workers, workers_at_start(&prepared, workers as u64))
        };
        assert_eq!(at_start(slow, &steered), (16, 1), "it may become higher");
        assert_eq!(at_start(Rate::per_second(500), &steered), (16, 5));
        let limited = Settings { max_connections: Some(40), ..steered.clone() };
        assert_eq!(at_start(slow, &limited), (16, 16), "each has its share of them");
        let fixed = Settings { load_may_change: false, ..steered };
        assert_eq!(at_start(slow, &fixed), (1, 1));
    }
}
