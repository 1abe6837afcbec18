//! Were two variants offered the same? A latency under one user says nothing beside one under eighty.

use crate::stats::Tally;

/// The load that one run was offered, as far as its results have it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Users of a closed loop, streams and pipelined requests included; 0 in an open one, or where it is not known.
    pub users: f64,
    /// Hits per second of the plan; 0 in a closed loop, or where it is not known.
    pub rate_per_s: f64,
    /// Hits per second begun.
    pub begun_per_s: f64,
    /// Hits under way on average.
    pub in_flight: f64,
    /// Connections made; 0 where it is not known. In an open loop the server's speed decides how many it takes.
    pub connections: f64,
    /// Hits begun; 0 where it is not known.
    pub hits: f64,
    /// Worker threads of the generators; 0 where it is not known.
    pub workers: f64,
    /// Generator processes: the files that the run was read from.
    pub processes: f64,
    /// Seconds from the first hit due to the last due.
    pub seconds: f64,
}

/// A difference between the loads of two variants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unequal {
    /// One has a closed loop and the other a rate.
    OpenAndClosed,
    /// A figure of the load, with its medians over the runs of both.
    Figure(What, f64, f64),
}

/// A figure of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Users.
    Users,
    /// Planned hits per second.
    Rate,
    /// Hits started per second, where the plan is not known.
    Begun,
    /// Hits under way, where the plan is not known.
    InFlight,
    /// Connections that users share.
    Connections,
    /// Worker threads.
    Workers,
    /// Generator processes.
    Processes,
    /// Seconds.
    Seconds,
}

/// Loads further apart than this share are unequal.
const TOLERANCE: f64 = 0.05;
/// Lengths and connections made vary more by themselves.
const WIDE_TOLERANCE: f64 = 0.25;

/// The differences between the loads that the runs of two variants were offered. Consequences of a load, such as the
/// connections that an open loop needed or the time that a number of requests took, are not compared.
#[must_use]
pub fn unequal(a: &[Load], b: &[Load]) -> Vec<Unequal> {
    let pair = |of: fn(&Load) -> f64| {
        let median =
            |loads: &[Load]| Tally::of_values(&loads.iter().map(of).collect::<Vec<_>>()).median();
        (median(a), median(b))
    };
    let mut found = Vec::new();
    let mut check = |what: What, (of_a, of_b): (f64, f64), tolerance: f64| {
        // A figure that one or both lack cannot be compared.
        let apart = of_a.min(of_b) > 0.0 && (of_a / of_b).ln().abs() > tolerance;
        found.extend(apart.then_some(Unequal::Figure(what, of_a, of_b)));
        apart
    };
    let (users, rates) = (pair(|load| load.users), pair(|load| load.rate_per_s));
    let closed = (users.0 > 0.0, users.1 > 0.0);
    let mixed = (closed.0 && rates.1 > 0.0) || (closed.1 && rates.0 > 0.0);
    check(What::Users, users, TOLERANCE);
    check(What::Rate, rates, TOLERANCE);
    let is_known = (closed.0 || rates.0 > 0.0) && (closed.1 || rates.1 > 0.0);
    if !is_known {
        let in_flight = pair(|load| load.in_flight);
        let begun = pair(|load| load.begun_per_s);
        // One rate with other times is how an open loop sees a slower server, and one number of hits under way with other
        // rates is how a closed loop does: only both together are another load.
        let both = [in_flight, begun].iter().all(|(a, b)| (a / b).ln().abs() > TOLERANCE);
        if both {
            check(What::InFlight, in_flight, TOLERANCE);
            check(What::Begun, begun, TOLERANCE);
        }
    }
    // Users may share fewer connections than they are; more are made where connections do not last.
    check(What::Connections, pair(|load| load.connections.min(load.users)), WIDE_TOLERANCE);
    check(What::Workers, pair(|load| load.workers), TOLERANCE);
    check(What::Processes, pair(|load| load.processes), TOLERANCE);
    let hits = pair(|load| load.hits);
    // Users with a fixed number of requests take as long as they take.
    let by_count = closed == (true, true) && hits.0 > 0.0 && hits.0 == hits.1;
    if !by_count {
        check(What::Seconds, pair(|load| load.seconds), WIDE_TOLERANCE);
    }
    if mixed {
        found.insert(0, Unequal::OpenAndClosed);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(users: f64) -> Load {
        Load {
            users,
            in_flight: users,
            begun_per_s: 100.0,
            connections: users,
            workers: 2.0,
            processes: 1.0,
            seconds: 10.0,
            ..Load::default()
        }
    }

    fn open(rate: f64) -> Load {
        Load {
            rate_per_s: rate,
            begun_per_s: rate,
            in_flight: 3.0,
            ..Load { users: 0.0, ..closed(40.0) }
        }
    }

    #[test]
    fn like_for_like_is_silent() {
        let slower = Load { in_flight: 30.0, ..open(100.0) };
        assert_eq!(unequal(&[open(100.0), open(100.0)], &[slower]), []);
        let quicker = Load { begun_per_s: 400.0, ..closed(16.0) };
        assert_eq!(unequal(&[closed(16.0)], &[quicker]), []);
        assert_eq!(unequal(&[], &[]), []);
    }

    /// Seed 003 sets one connection beside eighty.
    #[test]
    fn one_connection_beside_eighty_is_reported() {
        let found = unequal(&[closed(1.0)], &[closed(80.0)]);
        assert_eq!(found[0], Unequal::Figure(What::Users, 1.0, 80.0));
        assert!(found.contains(&Unequal::Figure(What::Connections, 1.0, 80.0)));
    }

    #[test]
    fn each_figure_is_looked_at() {
        let base = closed(64.0);
        let cases = [
            (Load { processes: 4.0, ..base }, What::Processes),
            (Load { workers: 1.0, ..base }, What::Workers),
            (Load { seconds: 60.0, ..base }, What::Seconds),
            (Load { connections: 2.0, ..base }, What::Connections),
        ];
        for (other, expect) in cases {
            let found = unequal(&[base], &[other]);
            let [Unequal::Figure(what, ..)] = found[..] else { panic!("{found:?}") };
            assert_eq!(what, expect);
        }
        assert_eq!(unequal(&[open(100.0)], &[closed(40.0)]), [Unequal::OpenAndClosed]);
        let found = unequal(&[open(100.0)], &[open(120.0)]);
        assert_eq!(found, [Unequal::Figure(What::Rate, 100.0, 120.0)]);
    }

    /// A slower server takes more connections at one rate, and one that closes them makes users open new ones.
    #[test]
    fn what_came_of_an_offer_is_no_part_of_it() {
        let slower = Load { connections: 40.0, in_flight: 30.0, ..open(100.0) };
        assert_eq!(unequal(&[Load { connections: 3.0, ..open(100.0) }], &[slower]), []);
        let closing = Load { connections: 10_000.0, ..closed(64.0) };
        assert_eq!(unequal(&[closed(64.0)], &[closing]), []);
        let counted = |seconds, hits| Load { seconds, hits, ..closed(4.0) };
        assert_eq!(unequal(&[counted(2.0, 200.0)], &[counted(12.0, 200.0)]), [], "200 each");
        let longer = unequal(&[counted(2.0, 200.0)], &[counted(12.0, 1200.0)]);
        assert_eq!(longer, [Unequal::Figure(What::Seconds, 2.0, 12.0)]);
    }

    /// Foreign formats lack the plan.
    #[test]
    fn without_a_record_both_rate_and_hits_under_way_must_differ() {
        let foreign = |begun_per_s, in_flight| Load { begun_per_s, in_flight, ..Load::default() };
        assert_eq!(unequal(&[foreign(42.0, 1.0)], &[foreign(42.1, 8.0)]), [], "an open loop");
        assert_eq!(unequal(&[foreign(42.0, 8.0)], &[foreign(279.0, 8.0)]), [], "a closed loop");
        assert_eq!(unequal(&[foreign(42.0, 1.0)], &[foreign(1476.0, 40.0)]).len(), 2);
    }
}
