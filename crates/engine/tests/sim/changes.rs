//! The load is changed while the run goes on.

use demo::ServerMachine;
use engine::{LoadChange, LoadChangeError, RunEvent, Settings, Simulation, SimulationResult};
use metrics::Snapshot;
use net::Address;
use net::sim::{Faults, World};
use stdx::Nanos;
use workload::arrival::Rate;
use workload::{Load, Plan};

use crate::world::{SERVER, check_oracles, constant, plan, server};

/// Runs a plan against a server that takes 10 ms, and changes its load at these moments, in milliseconds.
fn changed(plan: Plan, changes: &[(u64, LoadChange)]) -> SimulationResult {
    changed_by(plan, changes, Settings::default())
}

fn changed_by(plan: Plan, changes: &[(u64, LoadChange)], settings: Settings) -> SimulationResult {
    let mut world = World::new(3, Faults::default());
    let address = Address::Ip(SERVER.parse().expect("an address"));
    let machine = ServerMachine::new(server(64, "fixed:10ms")).expect("a server");
    world.add_peer(address, Box::new(machine));
    let settings = Settings { rows: true, load_may_change: true, ..settings };
    let mut run = Simulation::new(world, plan, &settings).expect("the settings are sound");
    let mut result = SimulationResult { batches: Vec::new(), total: Snapshot::new() };
    let mut left = changes.iter().peekable();
    let mut is_over = false;
    while !is_over {
        let until = left.peek().map_or(Nanos::MAX, |(ms, _)| Nanos::from_millis(*ms));
        match run.next_event(until.saturating_sub(run.elapsed())) {
            Some(RunEvent::Rows(batch)) => result.batches.push(batch),
            Some(RunEvent::Progress(counts)) => take(&mut result.total, &counts),
            Some(RunEvent::Finished(counts)) => {
                take(&mut result.total, &counts);
                is_over = true;
            }
            None => {}
        }
        if let Some((_, change)) = left.next_if(|_| run.elapsed() >= until) {
            run.change_load(*change).expect("a change of this load");
        }
    }
    check_oracles(&result);
    result
}

fn take(total: &mut Snapshot, counts: &Snapshot) {
    total.generator.clear();
    total.in_flight = 0;
    total.merge(counts);
    total.generator = counts.generator.clone();
}

/// Hits that fell due in each second.
fn due(result: &SimulationResult) -> Vec<usize> {
    let samples = || result.batches.iter().flat_map(|batch| &batch.samples);
    let last = samples().map(|sample| sample.intended.0 / 1_000_000_000).max().unwrap_or(0);
    (0..=last).map(|at| samples().filter(|s| s.intended.0 / 1_000_000_000 == at).count()).collect()
}

#[test]
fn a_rate_changes_from_one_moment_on() {
    let rate = |n| LoadChange::Rate(Rate::per_second(n));
    let changes = [
        (2_000, rate(40)),
        (4_000, LoadChange::Pause),
        (6_000, rate(20)),
        (7_000, LoadChange::Resume),
    ];
    let result = changed(plan(constant(100), 9, &["/"]), &changes);
    let seconds = due(&result);
    for (second, expect) in [100, 100, 40, 40, 0, 0, 0, 20, 20].into_iter().enumerate() {
        let seen = seconds.get(second).copied().unwrap_or(0);
        assert!(seen.abs_diff(expect) <= 2, "second {second}: {seconds:?}");
    }
    let generator = &result.total.generator;
    assert_eq!(generator.not_sent, 0, "a change leaves nothing out");
    let mean = generator.planned as f64 / 9.0;
    assert!((generator.rate_per_s - mean).abs() < 0.1 * mean, "{} {mean}", generator.rate_per_s);
    let mut numbers: Vec<u64> =
        result.batches.iter().flat_map(|batch| &batch.samples).map(|sample| sample.seq).collect();
    numbers.sort_unstable();
    assert!(numbers.iter().copied().eq(0..generator.sent), "numbers without gaps");
}

#[test]
fn a_slow_rate_ends_no_run_before_its_time() {
    let rate = |n| LoadChange::Rate(Rate::per_second(n));
    // Nothing falls due at the slow rate until 7 s; and a plan may have nothing more to do itself.
    let slow = LoadChange::Rate(Rate { hits: 1, per: Nanos::from_secs(60) });
    let changes = [(3_000, slow), (7_000, rate(50))];
    let seconds = due(&changed(plan(constant(100), 9, &["/"]), &changes));
    assert!(seconds.len() >= 9, "{seconds:?}");
    assert!(seconds[3..7].iter().all(|hits| *hits == 0), "{seconds:?}");
    assert!(seconds[7..9].iter().all(|hits| hits.abs_diff(50) <= 1), "{seconds:?}");
    let empty = Load::Open {
        shape: workload::arrival::Shape::constant(Rate { hits: 1, per: Nanos::from_secs(60) }),
        max_in_flight: None,
    };
    let seconds = due(&changed(plan(empty, 9, &["/"]), &[(5_000, rate(50))]));
    assert!(seconds[5..9].iter().all(|hits| hits.abs_diff(50) <= 1), "{seconds:?}");
}

#[test]
fn a_change_leaves_out_nothing_that_a_tick_gathers() {
    let settings = Settings { tick: Nanos::from_millis(100), ..Settings::default() };
    let changes = [(2_097, LoadChange::Rate(Rate::per_second(37))), (4_003, LoadChange::Pause)];
    let result = changed_by(plan(constant(200), 6, &["/"]), &changes, settings);
    let generator = &result.total.generator;
    assert_eq!((generator.not_sent, generator.planned), (0, generator.sent));
    let seconds = due(&result);
    assert!(seconds[0].abs_diff(200) <= 1 && seconds[3].abs_diff(37) <= 1, "{seconds:?}");
}

#[test]
fn users_come_go_and_pause() {
    let changes = [
        (2_000, LoadChange::Users(8)),
        (4_000, LoadChange::Users(1)),
        (6_000, LoadChange::Pause),
        (8_000, LoadChange::Resume),
    ];
    let result = changed(plan(Load::Closed { users: 2 }, 10, &["/"]), &changes);
    let seconds = due(&result);
    let user = seconds[4] as f64;
    for (second, users) in
        [2.0, 2.0, 8.0, 8.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0].into_iter().enumerate()
    {
        let seen = seconds.get(second).copied().unwrap_or(0) as f64;
        assert!((seen - users * user).abs() <= 0.15 * user * users + 2.0, "{second}: {seconds:?}");
    }
    // 2 s each of 2, 8, 1, none and 1.
    assert_eq!(result.total.generator.users, 2, "the mean, 2.4");
}

/// A run that was stopped by hand, on its page or by Ctrl-C, was INVALID for the request that fell due as the stop came.
#[test]
fn issue_39_a_stop_by_hand_leaves_out_nothing() {
    for (tick, stop) in [(100, 550), (100, 601), (0, 505)] {
        let mut world = World::new(3, Faults::default());
        let address = Address::Ip(SERVER.parse().expect("an address"));
        let machine = ServerMachine::new(server(64, "fixed:10ms")).expect("a server");
        world.add_peer(address, Box::new(machine));
        let settings = Settings { tick: Nanos::from_millis(tick), ..Settings::default() };
        let plan = plan(constant(100), 10, &["/"]);
        let mut run = Simulation::new(world, plan, &settings).expect("sound settings");
        let stop_at = Nanos::from_millis(stop);
        while run.elapsed() < stop_at {
            run.next_event(stop_at.saturating_sub(run.elapsed()));
        }
        run.drain();
        let total = loop {
            if let Some(RunEvent::Finished(counts)) = run.next_event(Nanos::MAX) {
                break counts;
            }
        };
        let generator = &total.generator;
        assert!(generator.sent >= 50 && generator.sent < 70, "{}", generator.sent);
        assert_eq!((generator.not_sent, generator.planned), (0, generator.sent), "{tick} {stop}");
    }
}

#[test]
fn what_cannot_change_is_refused() {
    let world = World::new(3, Faults::default());
    let plan = plan(constant(100), 1, &["/"]);
    let run = Simulation::new(world, plan, &Settings::default()).expect("sound settings");
    assert_eq!(run.change_load(LoadChange::Users(3)), Err(LoadChangeError::NoUsers));
    let none = LoadChange::Rate(Rate::per_second(0));
    assert_eq!(run.change_load(none), Err(LoadChangeError::Zero));
    run.drain();
    assert_eq!(run.change_load(LoadChange::Pause), Err(LoadChangeError::Over));
}
