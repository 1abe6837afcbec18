//! Searches of servers that pause now and then, whatever the load.

use stdx::Prng;

use super::simulated::{LOADS, Pace, Server, Service};
use super::tests::{SIX, run_mmc, search, seek};
use super::*;

/// Eight workers of 10 ms that pause.
const fn eight(every_s: f64, for_s: f64) -> Server {
    let pace = Pace::Pauses { every_s, for_s };
    Server { workers: 8, service: Service::Exponential(0.01), pace }
}

/// For 200 ms each 10 s.
const EIGHT: Server = eight(10.0, 0.2);

/// The intervals hold the truth, so that those of any two searches meet. Where the objective is missed at the lowest load already,
/// that is said, or that chance decides it.
#[test]
fn searches_of_a_server_that_pauses_agree() {
    const SEEDS: u64 = 12;
    let mut all = 0;
    for (objective, server) in [
        ("p95<100ms", EIGHT),
        ("p95<100ms", eight(4.0, 0.1)),
        ("p99<150ms", EIGHT),
        ("p99<80ms", eight(3.0, 0.1)),
    ] {
        let truth = server.truth(objective);
        let holds = |seed: &u64| match server.searched(objective, *seed).1.answer {
            None => truth <= LOADS[0] * 1.01,
            Some(answer) => answer.low <= truth && answer.high.is_none_or(|high| truth <= high),
        };
        let covered = (0..SEEDS).filter(holds).count();
        assert!(covered >= 10, "{objective} {server:?}, {truth}: {covered} of {SEEDS}");
        all += covered;
    }
    assert!(all >= 45, "{all} of 48");
}

/// 1.2 % of the requests take over 100 ms at any load. Steps of 5 s hold a pause or none.
#[test]
fn an_objective_that_is_missed_at_every_load_has_no_sure_answer() {
    let is_doubted = |seed: &u64| {
        let (search, outcome, steps) = EIGHT.searched("p99<100ms", *seed);
        let floor = floor_of(&search, &steps);
        outcome.answer.is_none() || floor.is_some_and(Floor::is_open)
    };
    let doubted = (0..12).filter(is_doubted).count();
    assert!(doubted >= 10, "{doubted} of 12");
}

/// Two of a hundred requests are slow, whatever the load.
#[test]
fn slow_requests_at_every_load_are_no_limit() {
    for seed in 0..5 {
        let mut rng = Prng::new(seed);
        let search = search("p99<500ms");
        let (outcome, _) = seek(&search, |trial| {
            let step = run_mmc(&search, SIX, trial, &mut rng);
            let slow = (0..step.hits).filter(|_| rng.exponential() < 0.0202).count();
            let share = slow as f64 / step.hits as f64;
            Step { figures: vec![step.figures[0] + share * (1.0 - step.figures[0])], ..step }
        });
        assert_eq!(outcome.answer, None, "seed {seed}");
    }
}
