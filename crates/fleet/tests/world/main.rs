//! A fleet in a simulated world: hundreds of agents, links that lose, double and delay, processes that die, pause and restart,
//! from seeds. `FLEET_SEEDS=1000` runs so many; `FLEET_SEED=7` runs one.

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]

mod load;
mod oracles;
mod plan;
mod world;

use load::SECOND;
use plan::{Fault, Plan};
use world::World;

fn run(seed: u64, plan: Plan) -> World {
    let mut world = World::new(seed, plan);
    world.run();
    oracles::check(&world);
    world
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn every_oracle_holds_for_every_seed() {
    if let Some(seed) = number("FLEET_SEED") {
        println!("{:?}", Plan::of(seed));
        run(seed, Plan::of(seed));
        return;
    }
    let seeds = number("FLEET_SEEDS").unwrap_or(200);
    let failed: Vec<u64> = (0..seeds)
        .filter(|seed| std::panic::catch_unwind(|| run(*seed, Plan::of(*seed))).is_err())
        .collect();
    assert!(failed.is_empty(), "of {seeds} seeds these failed: {failed:?}");
}

#[test]
fn a_calm_run_is_complete_and_starts_together() {
    let world = run(1, Plan::calm(4));
    let outcome = world.oracles.outcome();
    assert_eq!(outcome.cause, None);
    assert!(outcome.agents.iter().all(|agent| agent.complete && agent.unknown == 0));
    assert!(world.oracles.skew() <= 5 * SECOND / 1000, "{} ns", world.oracles.skew());
    assert!(world.oracles.barriers() >= 2, "{}", world.oracles.barriers());
    assert!(world.oracles.barrier_skew() <= 5 * SECOND / 1000);
}

#[test]
fn a_killed_agent_fails_the_run_and_its_open_requests_are_unknown() {
    let faults = vec![(10 * SECOND, Fault::Kill(2))];
    let world = run(2, Plan { seconds: 30, faults, ..Plan::calm(4) });
    let outcome = world.oracles.outcome();
    assert_eq!(outcome.cause.as_deref(), Some("agent-002 is lost: not heard of for 3s"));
    let dead = &outcome.agents[2];
    assert!(dead.lost.is_some() && !dead.complete);
    assert!(outcome.agents.iter().filter(|agent| agent.complete).count() == 3);
}

#[test]
fn a_fleet_may_go_on_without_an_agent() {
    let faults = vec![(10 * SECOND, Fault::Kill(2))];
    let world = run(3, Plan { seconds: 30, goes_on: true, faults, ..Plan::calm(4) });
    let outcome = world.oracles.outcome();
    assert_eq!(outcome.cause, None);
    let full = 30 * 20;
    let planned: Vec<u64> = outcome.agents.iter().map(|agent| agent.counts.planned).collect();
    assert_eq!((planned[0], planned[1], planned[3]), (full, full, full));
    assert!(planned[2] < full, "{planned:?}");
}

#[test]
fn a_paused_agent_does_not_send_what_fell_due() {
    let faults = vec![(10 * SECOND, Fault::Pause(1, 12 * SECOND))];
    let world = run(4, Plan { seconds: 30, goes_on: true, faults, ..Plan::calm(3) });
    let paused = &world.oracles.outcome().agents[1];
    assert!(paused.complete && paused.lost.is_some(), "lost, and back");
    assert_eq!(paused.counts.planned, 30 * 20);
    assert!((200..=260).contains(&paused.counts.not_sent), "{:?}", paused.counts);
    assert!(paused.pauses.longest.0 >= 11 * SECOND, "{:?}", paused.pauses);
}

#[test]
fn agents_keep_the_load_while_the_coordinator_is_away() {
    let faults = vec![(10 * SECOND, Fault::Restart(8 * SECOND)), (20 * SECOND, Fault::TakeOver)];
    let world = run(5, Plan { seconds: 30, faults, ..Plan::calm(4) });
    let outcome = world.oracles.outcome();
    assert_eq!((outcome.cause.as_deref(), world.oracles.restarts), (None, 3));
    assert_eq!(outcome.counts().planned, 4 * 30 * 20);
    assert!(outcome.agents.iter().all(|agent| agent.complete && agent.counts.not_sent == 0));
}

#[test]
fn a_barrier_holds_over_a_coordinators_death_and_without_a_lost_agent() {
    let faults = vec![(8 * SECOND, Fault::Restart(3 * SECOND)), (14 * SECOND, Fault::Kill(1))];
    let world = run(7, Plan { seconds: 40, goes_on: true, faults, ..Plan::calm(4) });
    assert!(world.oracles.barriers() >= 1, "with all of them");
    assert!(world.oracles.last_barrier() > 3, "and without the one that is lost");
}

#[test]
fn a_bus_that_was_away_loses_nothing() {
    let faults = vec![(10 * SECOND, Fault::BusDown(9 * SECOND))];
    let world = run(6, Plan { seconds: 30, faults, ..Plan::calm(4) });
    let outcome = world.oracles.outcome();
    assert_eq!((outcome.cause.as_deref(), outcome.counts().planned), (None, 4 * 30 * 20));
    assert!(outcome.agents.iter().all(|agent| agent.complete && agent.lost.is_none()));
}
