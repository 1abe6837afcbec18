//! What a run must measure when the world is known.

use engine::{Renewal, Settings};
use metrics::FailureKind;
use net::sim::{Faults, Span};
use stdx::Nanos;
use workload::{Load, Plan};

use crate::world::{check_oracles, constant, plan, run, server};

#[test]
fn the_rate_is_held_to_the_hit() {
    let outcome = run(
        1,
        Faults::default(),
        server(0, "none"),
        plan(constant(50), 5, &["/"]),
        &Settings::default(),
    );
    check_oracles(&outcome);
    assert_eq!(outcome.total.generator.sent, 250);
    assert_eq!(outcome.total.successes, 250);
    let mut due: Vec<Nanos> =
        outcome.batches.iter().flat_map(|b| &b.samples).map(|s| s.intended).collect();
    due.sort();
    assert_eq!(due.first(), Some(&Nanos::ZERO), "the first is due at the start");
    assert_eq!(due.last(), Some(&Nanos::from_millis(4_980)), "the last before the end");
}

#[test]
fn a_stalled_server_is_seen_from_the_moment_hits_were_due() {
    // wrk2's experiment: 2,000/s for 30 s, and the server stands still for 1.4 s.
    let stall = Span { from: Nanos::from_secs(10), to: Nanos::from_millis(11_400) };
    let faults = Faults { server_stalls: vec![stall], ..Faults::default() };
    let settings = Settings { max_connections: Some(10), ..Settings::default() };
    let outcome = run(2, faults, server(0, "none"), plan(constant(2_000), 30, &["/"]), &settings);
    check_oracles(&outcome);
    // Of 60,000 hits, 2,800 fall into the stall and wait for its end: uniformly 0 to 1.4 s. The 99th percentile leaves
    // 600 of them above it, so it lies 600 / 2,000 s before the longest.
    let p99 = outcome.total.response.quantile(0.99).as_secs_f64();
    assert!((p99 - 1.1).abs() < 0.05 * 1.1, "response p99 {p99}");
    // Only the ten on the connections were at the server when it stopped.
    let service = outcome.total.service.quantile(0.99).as_secs_f64();
    assert!(service < 0.1, "service p99 {service}");
    assert!(outcome.total.service.max().as_secs_f64() > 1.3);
}

/// Hits that would never have been sent are not missed, and those of the warm-up count for no one.
#[test]
fn hits_not_sent_are_those_of_the_plan() {
    let hung = |warmup, hits_max| {
        let Load::Open { shape, .. } = constant(100) else { unreachable!("an open loop") };
        let plan = Plan {
            warmup: Nanos::from_millis(warmup),
            hits_max,
            ..plan(Load::Open { shape, max_in_flight: Some(1) }, 60, &["/hang"])
        };
        let settings = Settings { timeout: Some(Nanos::from_secs(100)), ..Settings::default() };
        let outcome = run(1, Faults::default(), server(0, "none"), plan, &settings);
        check_oracles(&outcome);
        let generator = outcome.total.generator;
        (generator.planned, generator.sent, generator.not_sent, generator.warmup_hits)
    };
    assert_eq!(hung(0, Some(200)), (200, 1, 199, 0));
    assert_eq!(hung(0, None), (6000, 1, 5999, 0));
    // The first 100 fall due before the second is over.
    assert_eq!(hung(1000, None), (5900, 0, 5900, 1));
    assert_eq!(hung(1000, Some(200)), (100, 0, 100, 1));
}

#[test]
fn hits_of_the_warm_up_are_not_held() {
    let Load::Open { shape, .. } = constant(100) else { unreachable!("an open loop") };
    let plan = Plan {
        warmup: Nanos::from_secs(1),
        hits_max: Some(80),
        ..plan(Load::Open { shape, max_in_flight: Some(1) }, 3, &["/slow?ms=20"])
    };
    let outcome = run(1, Faults::default(), server(0, "none"), plan, &Settings::default());
    let generator = outcome.total.generator;
    assert_eq!((generator.warmup_hits, generator.planned, generator.held), (80, 0, 0));
}

#[test]
fn a_frozen_generator_is_reported() {
    let stall = Span { from: Nanos::from_millis(1_000), to: Nanos::from_millis(1_300) };
    let faults = Faults { worker_stalls: vec![stall], ..Faults::default() };
    let outcome =
        run(3, faults, server(0, "none"), plan(constant(1_000), 3, &["/"]), &Settings::default());
    check_oracles(&outcome);
    let generator = &outcome.total.generator;
    assert!(generator.stalls >= 1, "{generator:?}");
    assert!(generator.stall_longest >= Nanos::from_millis(250), "{}", generator.stall_longest);
    assert!(generator.lag.max() >= Nanos::from_millis(250));
    assert_eq!(generator.not_sent, 0, "what was late was sent all the same");
}

/// An answer's end is when it came: a worker that wakes late, or stands still, changes no service time where the kernel stamps.
#[test]
fn stamped_answers_end_when_they_came() {
    // While the hit of the first second is under way.
    let stall = Span { from: Nanos::from_micros(1_000_100), to: Nanos::from_millis(1_300) };
    for stamps in [true, false] {
        let faults = Faults {
            worker_stalls: vec![stall],
            oversleep: Nanos::from_micros(80),
            stamps,
            ..Faults::default()
        };
        let plan = plan(constant(1_000), 3, &["/"]);
        let outcome = run(7, faults, server(1, "fixed:100us"), plan, &Settings::default());
        check_oracles(&outcome);
        let generator = &outcome.total.generator;
        let samples = || outcome.batches.iter().flat_map(|batch| &batch.samples);
        // Two ways of 50 µs, and the server.
        let exact = Nanos::from_micros(200);
        let alike = samples().filter(|sample| sample.done - sample.sent == exact).count();
        let late = samples().filter(|s| s.done - s.sent > Nanos::from_millis(200)).count();
        if stamps {
            assert_eq!(generator.kernel_times, 3_000);
            assert!(
                alike > 2_600,
                "{alike}: others waited behind those that fell due in the stall"
            );
            assert_eq!(late, 0, "none stood still");
        } else {
            assert_eq!((generator.kernel_times, alike), (0, 0));
            assert!(late >= 1, "what was under way when the worker stood still");
        }
        assert!(samples().all(|s| s.sent <= s.first_byte && s.first_byte <= s.done));
    }
}

#[test]
fn what_fell_due_in_a_long_pause_is_not_sent() {
    let stall = Span { from: Nanos::from_millis(1_000), to: Nanos::from_millis(3_500) };
    let faults = Faults { worker_stalls: vec![stall], ..Faults::default() };
    let settings = Settings { stall_max: Some(Nanos::SECOND), ..Settings::default() };
    let outcome = run(3, faults, server(0, "none"), plan(constant(1_000), 5, &["/"]), &settings);
    check_oracles(&outcome);
    let generator = &outcome.total.generator;
    assert_eq!(generator.planned, 5_000);
    assert!((2_490..=2_510).contains(&generator.not_sent), "{} not sent", generator.not_sent);
    assert!(generator.lag.max() < Nanos::from_millis(100), "none is sent late");
}

#[test]
fn a_rate_beyond_the_machine_is_not_hidden() {
    // Every call costs 50 µs: no more than some 7,000 hits a second can be sent.
    let faults = Faults { call_cost: Nanos::from_micros(50), ..Faults::default() };
    let outcome =
        run(4, faults, server(0, "none"), plan(constant(50_000), 2, &["/"]), &Settings::default());
    check_oracles(&outcome);
    let generator = &outcome.total.generator;
    assert_eq!(generator.planned, 100_000);
    assert!(generator.not_sent > 50_000, "{} not sent", generator.not_sent);
}

#[test]
fn a_closed_loop_obeys_littles_law() {
    let users = 30;
    let outcome = run(
        5,
        Faults::default(),
        server(6, "exp:60ms"),
        plan(Load::Closed { users }, 60, &["/"]),
        &Settings::default(),
    );
    check_oracles(&outcome);
    // N = X R: the users are the throughput times the mean response time.
    let throughput = outcome.total.successes as f64 / 60.0;
    let in_system = throughput * outcome.total.response.mean().as_secs_f64();
    assert!((in_system - users as f64).abs() < 0.05 * users as f64, "{in_system} users");
    // Six workers of 60 ms are busy all the time.
    assert!((throughput - 100.0).abs() < 5.0, "{throughput}/s");
}

#[test]
fn users_think_between_answers() {
    // Ten users, each 90 ms of thought and 10 ms of service: the interactive response time law, X = N / (Z + R).
    let mut plan = plan(Load::Closed { users: 10 }, 20, &["/"]);
    plan.think = stdx::Distribution::Exponential(Nanos::from_millis(90));
    let world = server(0, "fixed:10ms");
    let outcome = run(10, Faults::default(), world, plan, &Settings::default());
    check_oracles(&outcome);
    let throughput = outcome.total.successes as f64 / 20.0;
    let response = outcome.total.response.mean().as_secs_f64();
    let expected = 10.0 / (0.09 + response);
    assert!((throughput / expected - 1.0).abs() < 0.04, "{throughput}/s of {expected}/s");
    // A hit is due when the thought ends, so a loop that is late is seen.
    assert!(outcome.total.generator.lag.count() > 0);
}

#[test]
fn a_thought_without_end_is_no_hurry() {
    let mut plan = plan(Load::Closed { users: 3 }, 1, &["/"]);
    plan.think = stdx::Distribution::Fixed(Nanos::MAX);
    let outcome = run(12, Faults::default(), server(0, "none"), plan, &Settings::default());
    check_oracles(&outcome);
    assert_eq!(outcome.total.hits(), 3, "each user's first, and none after it");
}

#[test]
fn a_warm_up_is_sent_and_not_counted() {
    let mut by_time = plan(Load::Closed { users: 4 }, 3, &["/"]);
    by_time.warmup = Nanos::from_secs(1);
    let mut by_number = by_time.clone();
    (by_number.duration, by_number.hits_max) = (None, Some(100));
    for (plan, hits) in [(by_time, 780..=801), (by_number, 100..=100)] {
        let world = server(0, "fixed:10ms");
        let outcome = run(11, Faults::default(), world, plan, &Settings::default());
        let generator = &outcome.total.generator;
        assert!(hits.contains(&outcome.total.hits()), "{}", outcome.total.hits());
        assert_eq!(generator.sent, outcome.total.hits());
        assert!((380..=404).contains(&generator.warmup_hits), "{}", generator.warmup_hits);
        let first = outcome.batches.iter().flat_map(|b| &b.samples).map(|s| s.intended).min();
        assert!(first >= Some(Nanos::SECOND), "{first:?}");
    }
}

#[test]
fn pipelined_requests_share_a_connection_and_stay_distinct() {
    // One worker of 10 ms behind 2 connections with 4 unanswered requests each: eight users wait for each other.
    let settings = Settings { max_connections: Some(2), pipeline: 4, ..Settings::default() };
    let load = Load::Closed { users: 8 };
    let world = server(1, "fixed:10ms");
    let outcome = run(9, Faults::default(), world, plan(load, 10, &["/"]), &settings);
    check_oracles(&outcome);
    let total = &outcome.total;
    assert_eq!(total.generator.connections, 2);
    assert_eq!(total.hits(), total.successes);
    let throughput = total.successes as f64 / 10.0;
    assert!((throughput - 100.0).abs() < 2.0, "{throughput}/s");
    let in_system = throughput * total.response.mean().as_secs_f64();
    assert!((in_system - 8.0).abs() < 0.3, "{in_system} users");
    let apart: std::collections::HashSet<Nanos> =
        outcome.batches.iter().flat_map(|b| &b.samples).map(|s| s.done).collect();
    assert!(apart.len() as u64 > total.hits() * 9 / 10, "each answer has a moment of its own");
}

#[test]
fn hits_under_way_are_limited_and_the_wait_counts() {
    let Load::Open { shape, .. } = constant(100) else { unreachable!("constant is open") };
    let load = Load::Open { shape, max_in_flight: Some(4) };
    let outcome = run(
        6,
        Faults::default(),
        server(4, "fixed:80ms"),
        plan(load, 10, &["/"]),
        &Settings::default(),
    );
    check_oracles(&outcome);
    let generator = &outcome.total.generator;
    // Four at a time of 80 ms are 50/s; the other half is not sent.
    assert!((generator.not_sent as f64 - 500.0).abs() < 20.0, "{}", generator.not_sent);
    assert!(generator.held > 400, "{}", generator.held);
    assert!(outcome.total.response.quantile(0.9).as_secs_f64() > 4.0);
    assert!(outcome.total.service.quantile(0.9).as_secs_f64() < 0.1);
    assert!(generator.lag.max() < Nanos::from_millis(10), "the limit was late, not the generator");
}

#[test]
fn a_timeout_ends_a_hit() {
    let settings = Settings { timeout: Some(Nanos::from_millis(100)), ..Settings::default() };
    let outcome = run(
        7,
        Faults::default(),
        server(0, "none"),
        plan(constant(10), 2, &["/hang", "/"]),
        &settings,
    );
    check_oracles(&outcome);
    assert_eq!(outcome.total.failures[FailureKind::Timeout as usize], 10);
    assert_eq!(outcome.total.successes, 10);
    let longest = outcome.total.response.max();
    assert!(longest >= Nanos::from_millis(100) && longest < Nanos::from_millis(110), "{longest}");
}

#[test]
fn same_seed_same_run() {
    let once = || {
        let outcome = run(
            8,
            Faults::random(8),
            server(3, "exp:5ms"),
            plan(constant(300), 2, &["/", "/chunked", "/gzip"]),
            &Settings::default(),
        );
        outcome.batches.into_iter().flat_map(|batch| batch.samples).collect::<Vec<_>>()
    };
    assert_eq!(once(), once());
}

/// Issue 41: a test behind a load balancer never dialled again.
#[test]
fn connections_are_replaced_by_age_and_by_requests() {
    let opened = |renewal: Renewal, pipeline: usize| {
        let settings =
            Settings { max_connections: Some(2), pipeline, renewal, ..Settings::default() };
        let load = Load::Closed { users: 2 * pipeline as u64 };
        let world = server(0, "fixed:10ms");
        let outcome = run(3, Faults::default(), world, plan(load, 10, &["/"]), &settings);
        check_oracles(&outcome);
        assert_eq!(outcome.total.hits(), outcome.total.successes, "none is lost by it");
        (outcome.total.generator.connections, outcome.total.hits())
    };
    assert_eq!(opened(Renewal::default(), 1).0, 2);
    for pipeline in [1, 3] {
        let by_requests = Renewal { requests_max: Some(50), ..Renewal::default() };
        let (connections, hits) = opened(by_requests, pipeline);
        assert!((connections * 50).abs_diff(hits) <= 100, "{connections} for {hits}");
        let by_age = Renewal { age_max: Some(Nanos::SECOND), ..Renewal::default() };
        let (connections, _) = opened(by_age, pipeline);
        assert!((18..=22).contains(&connections), "{connections} in 10 s");
    }
}

/// A connection that grew too old while it was idle takes no further hit.
#[test]
fn an_idle_connection_that_is_too_old_is_replaced() {
    let renewal = Renewal { age_max: Some(Nanos::from_millis(1_500)), ..Renewal::default() };
    let settings = Settings { renewal, ..Settings::default() };
    let world = server(0, "fixed:10ms");
    let outcome = run(4, Faults::default(), world, plan(constant(1), 8, &["/"]), &settings);
    check_oracles(&outcome);
    assert_eq!(outcome.total.successes, 8);
    // At 0 and 1 s by the first one, at 2 and 3 s by the next.
    assert_eq!(outcome.total.generator.connections, 4);
}
