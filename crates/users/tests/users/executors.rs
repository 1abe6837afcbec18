//! Which user begins which iteration, when, and what ends early.

use stdx::Nanos;
use workload::StopMode;
use workload::executor::{ArrivalKind, Executor, Scenario};

use super::step_user::{Step, Steps};
use super::world::{World, is_near, scenario, seconds};

/// Two requests, and a pause of a second.
const TWO_REQUESTS: [Step; 3] =
    [Step::Get("http://h/a"), Step::Get("http://h/b"), Step::Sleep(1.0)];

#[test]
fn users_share_iterations() {
    let max_duration = seconds(60.0);
    let executor = Executor::SharedIterations { vus: 3, iterations: 10, max_duration };
    for workers in 1..=3 {
        let world =
            World::new(&Steps::new(&TWO_REQUESTS), scenario(executor.clone(), 1.0), workers);
        let ended = world.run();
        assert_eq!((ended.iterations(), ended.sent.len()), ((10, 0), 20), "{workers} workers");
        assert_eq!((ended.sum("iterations"), ended.sum("http_reqs")), (10.0, 20.0));
        assert_eq!((ended.sum("data_sent"), ended.sum("data_received")), (2_000.0, 20_000.0));
        // Three at a time, each a second and two responses of 10 ms.
        assert!(is_near(ended.at, 4.08), "{}", ended.at);
    }
}

#[test]
fn each_user_does_its_iterations() {
    let max_duration = seconds(60.0);
    let executor = Executor::PerVuIterations { vus: 4, iterations: 3, max_duration };
    let world = World::new(&Steps::new(&[Step::Sleep(0.5)]), scenario(executor, 1.0), 2);
    let ended = world.run();
    assert_eq!(ended.iterations(), (12, 0));
    assert!(is_near(ended.at, 1.5), "{}", ended.at);
}

#[test]
fn time_that_is_up_drops_what_was_not_begun() {
    let max_duration = seconds(1.0);
    for (executor, dropped) in [
        (Executor::SharedIterations { vus: 2, iterations: 10, max_duration }, 6.0),
        (Executor::PerVuIterations { vus: 2, iterations: 10, max_duration }, 16.0),
    ] {
        let world = World::new(&Steps::new(&[Step::Sleep(0.7)]), scenario(executor, 5.0), 1);
        let ended = world.run();
        assert_eq!((ended.iterations(), ended.sum("dropped_iterations")), ((4, 0), dropped));
        assert!(is_near(ended.at, 1.4), "{}", ended.at);
    }
}

#[test]
fn iterations_under_way_have_the_graceful_stop() {
    let executor = Executor::ConstantVus { vus: 2, duration: seconds(1.0) };
    for (sleeps, iterations, end) in [(1.2, (2, 0), 1.2), (9.0, (0, 2), 1.5)] {
        let steps = Steps::new(&[Step::Get("http://h/"), Step::Sleep(sleeps - 0.01)]);
        let ended = World::new(&steps, scenario(executor.clone(), 0.5), 2).run();
        assert_eq!(ended.iterations(), iterations, "{sleeps}");
        assert!(is_near(ended.at, end), "{}", ended.at);
        // Bytes of an iteration that was ended count all the same.
        assert_eq!(ended.sum("data_sent"), 200.0, "{sleeps}");
    }
}

#[test]
fn a_response_after_the_graceful_stop_counts_no_more() {
    let executor = Executor::ConstantVus { vus: 3, duration: seconds(1.0) };
    let steps = Steps::new(&[Step::Get("http://h/"), Step::Get("http://h/never")]);
    let mut world = World::new(&steps, scenario(executor, 0.5), 1);
    world.service_time = seconds(5.0);
    let ended = world.run();
    assert_eq!((ended.iterations(), ended.sent.len()), ((0, 3), 3));
    assert!(ended.stats.tally.value("http_reqs").is_none_or(|value| value.count() == 0));
    assert!(ended.lines.is_empty() && is_near(ended.at, 1.5), "{:?}", ended.lines);
}

#[test]
fn a_ramp_begins_and_ends_users() {
    let executor = Executor::RampingVus {
        start: 0,
        stages: vec![(seconds(10.0), 10), (seconds(0.0), 2), (seconds(10.0), 2)],
        graceful_ramp_down: Nanos::ZERO,
    };
    let ended = World::new(&Steps::new(&[Step::Sleep(60.0)]), scenario(executor, 30.0), 2).run();
    // Seven at once when the ramp falls, two at the end of the graceful stop.
    assert_eq!(ended.iterations(), (0, 9));
    assert!(is_near(ended.at, 50.0), "{}", ended.at);
}

fn arrivals(vus: u64, vus_max: u64) -> Vec<Scenario> {
    let stages = vec![(seconds(2.0), 10.0)];
    let kind = ArrivalKind::Constant;
    scenario(Executor::ArrivalRate { kind, start_per_s: 10.0, stages, vus, vus_max }, 5.0)
}

#[test]
fn an_arrival_rate_drops_iterations_and_makes_users() {
    for workers in [1, 2] {
        let ended = World::new(&Steps::new(&[Step::Sleep(0.45)]), arrivals(1, 10), workers).run();
        // Each iteration that finds no free user has one more made: five are enough.
        assert_eq!((ended.iterations(), ended.sum("dropped_iterations")), ((16, 0), 4.0));
        assert!(ended.lines.is_empty(), "{:?}", ended.lines);
        let ended = World::new(&Steps::new(&[Step::Sleep(0.45)]), arrivals(1, 2), workers).run();
        let warning = "Insufficient VUs, reached 2 active VUs and cannot initialize more executor=constant-arrival-rate scenario=s";
        assert_eq!(ended.lines, [warning], "{workers} workers");
    }
}

#[test]
fn iterations_that_take_longer_and_longer_miss_their_time() {
    let steps = Steps::new(&[Step::SleepTwiceAsLong(0.05)]);
    let ended = World::new(&steps, arrivals(1, 1), 1).run();
    // 50, 100, 200, 400, 800 and 1,600 ms; those that were due meanwhile are dropped.
    assert_eq!(ended.iterations(), (6, 0));
    assert_eq!(ended.sum("dropped_iterations"), 14.0);
}

#[test]
fn users_are_stopped_at_once_or_after_their_iteration() {
    let executor = Executor::ConstantVus { vus: 3, duration: seconds(60.0) };
    for (ending, iterations, end) in
        [(StopMode::Immediate, (3, 3), 1.5), (StopMode::Graceful, (6, 0), 2.04)]
    {
        let steps = Steps::new(&TWO_REQUESTS);
        let mut world = World::new(&steps, scenario(executor.clone(), 30.0), 1);
        world.run_until(seconds(1.5));
        world.pools.iter_mut().for_each(|pool| pool.stop(ending));
        let ended = world.run();
        assert_eq!(ended.iterations(), iterations, "{ending:?}");
        assert!(is_near(ended.at, end), "{}", ended.at);
    }
}

#[test]
fn users_are_held_until_they_are_released() {
    let executor = Executor::ConstantVus { vus: 2, duration: seconds(1.0) };
    let mut world = World::new(&Steps::new(&TWO_REQUESTS), scenario(executor, 3.0), 2);
    world.control.hold();
    world.run_until(seconds(5.0));
    assert_eq!((world.control.instance().initialized, world.control.began_at()), (2, None));
    world.control.release(seconds(6.0));
    let ended = world.run();
    assert_eq!(ended.iterations(), (2, 0));
    assert!(is_near(ended.at, 7.02), "{}", ended.at);
}
