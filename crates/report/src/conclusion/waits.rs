//! `Waits`: what requests wait for inside the application, beside views, database and CPU, by its log and its processes.

use metrics::server::{Log, SourceSummary};
use stdx::Nanos;

use crate::server::{Capacity, ServerSide};

/// Inside the application a request waits mostly for something else from this share of its time on.
const OTHER_MIN: f64 = 0.5;
/// Requests wait for each other where their mean time is as many times that of the quickest.
const GROWN_MIN: f64 = 1.5;

/// The time of a request inside the application.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Waits {
    /// All of it, on average.
    pub(super) own: Nanos,
    /// What of it is neither views, database, CPU nor the wait for a core.
    pub(super) other: Nanos,
    /// The quickest request's, by endpoint: alone in the application it waits for no other.
    pub(super) quickest: Nanos,
    /// The log says how long views and database took.
    pub(super) knows_database: bool,
    /// How long threads waited for a core is known, and no part of `other`.
    pub(super) knows_cores: bool,
}

impl Waits {
    /// `None` where the CPU time of a request is not known.
    pub(super) fn of(server: &ServerSide<'_>, log: &Log, capacity: &Capacity) -> Option<Self> {
        let requests = log.total.count().max(1) as f64;
        let own = own_mean(server, log).unwrap_or(log.total.mean());
        let cpu_s = capacity.cpu_per_request_s.or(capacity.machine_per_request_s())?;
        let waited_s = waited_s(server);
        let sum = |times: &metrics::Histogram| times.sum() as f64 / requests / 1e9;
        let accounted = sum(&log.views) + sum(&log.database) + cpu_s;
        let accounted = accounted + waited_s.unwrap_or(0.0) / requests;
        Some(Self {
            own,
            other: own.saturating_sub(Nanos::from_secs_f64(accounted)),
            quickest: quickest(log),
            knows_database: log.database.count() > 0,
            knows_cores: waited_s.is_some(),
        })
    }

    /// Most of a request's time is this wait.
    pub(super) fn is_most(&self) -> bool {
        self.other.0 as f64 >= OTHER_MIN * self.own.0.max(1) as f64
    }

    /// Requests wait for each other: for a lock, or for one of few connections. One that takes its time whatever else goes on
    /// waits for something outside.
    pub(super) fn is_for_each_other(&self) -> bool {
        self.is_most() && self.own.0 as f64 >= GROWN_MIN * self.quickest.0 as f64
    }
}

/// The mean time of a request while requests were due: those after it have fewer to wait for.
fn own_mean(server: &ServerSide<'_>, log: &Log) -> Option<Nanos> {
    let client = server.client?;
    let cells = log.over_time().filter(|(at, _)| (client.earliest..client.latest).contains(at));
    let (count, sum) = cells.fold((0, 0.0), |(count, sum), (_, cell)| {
        (count + cell.total.count(), sum + cell.total.sum() as f64)
    });
    (count > 0).then(|| Nanos((sum / count as f64) as u64))
}

/// The least time of each endpoint, weighted by its requests.
fn quickest(log: &Log) -> Nanos {
    let timed = || log.endpoints().iter().filter(|(_, one)| one.total.count() > 0);
    let all: u64 = timed().map(|(_, one)| one.total.count()).sum();
    if all == 0 {
        return log.total.min();
    }
    let least = |(_, one): &(_, metrics::server::Endpoint)| {
        one.total.min().0 as f64 * one.total.count() as f64
    };
    Nanos((timed().map(least).sum::<f64>() / all as f64) as u64)
}

/// How long the threads of all watched processes waited for a core; `None` where it is not known of each.
fn waited_s(server: &ServerSide<'_>) -> Option<f64> {
    let processes = server.side.sources().iter().filter(|one| one.source.starts_with("process "));
    let waited = |one: &SourceSummary| one.measure("cpu.waiting").map(|waiting| waiting.integral);
    let mut sum = None;
    for process in processes {
        sum = Some(sum.unwrap_or(0.0) + waited(process)?);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_for_each_other_where_times_grow() {
        let ms = Nanos::from_millis;
        let waits = |own, other, quickest| Waits {
            own: ms(own),
            other: ms(other),
            quickest: ms(quickest),
            ..Waits::default()
        };
        let pool = waits(256, 247, 55);
        assert!(pool.is_most() && pool.is_for_each_other());
        let service = waits(103, 100, 100);
        assert!(service.is_most() && !service.is_for_each_other());
        let queries = waits(256, 20, 55);
        assert!(!queries.is_most() && !queries.is_for_each_other());
    }
}
