//! Searches of servers that pause now and then, whatever the load.

use stdx::{Nanos, Prng};

use super::tests::{SIX, run_mmc, search, seek};
use super::*;

/// A server of some workers with exponential service times, that stands still for a while at regular intervals.
#[derive(Clone, Copy, Debug)]
struct Pausing {
    workers: usize,
    service_s: f64,
    every_s: f64,
    pause_s: f64,
}

impl Pausing {
    /// How much of the time until `at` it was at work.
    fn worked(self, at: f64) -> f64 {
        let rounds = (at / self.every_s).floor();
        let runs = self.every_s - self.pause_s;
        rounds * runs + (at - rounds * self.every_s).min(runs)
    }

    /// The time at which it has been at work for so long.
    fn time(self, worked: f64) -> f64 {
        let runs = self.every_s - self.pause_s;
        worked + (worked / runs).floor() * self.pause_s
    }

    /// A step that begins at `from` on the search's clock.
    fn step(self, search: &Search, trial: Trial, from: f64, rng: &mut Prng) -> Step {
        let warmup_s = trial.warmup.as_secs_f64();
        let end = warmup_s + trial.measure.as_secs_f64();
        let mut free = vec![0.0f64; self.workers];
        let (mut now, mut last, mut times) = (0.0, 0.0f64, Vec::new());
        loop {
            now += rng.exponential() / trial.load;
            if now > end {
                break;
            }
            let worker = free.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
            *worker = worker.max(self.worked(from + now)) + rng.exponential() * self.service_s;
            let done = self.time(*worker) - from;
            last = last.max(done);
            if now > warmup_s {
                times.push((done - now, done));
            }
        }
        let limit_s = search.objective.conditions()[0].limit / 1e9;
        let wrong = times.iter().filter(|time| time.0 >= limit_s).count();
        let within = times.iter().filter(|time| time.1 <= end).count();
        let mean = times.iter().map(|time| time.0).sum::<f64>() / times.len().max(1) as f64;
        Step {
            load: trial.load,
            hits: times.len() as u64,
            figures: vec![wrong as f64 / times.len().max(1) as f64],
            achieved_per_s: within as f64 / trial.measure.as_secs_f64(),
            mean: Nanos::from_secs_f64(mean),
            p50: Nanos::from_secs_f64(mean),
            p95: Nanos::from_secs_f64(mean),
            p99: Nanos::from_secs_f64(mean),
            errors: 0.0,
            warmup: trial.warmup,
            measured: trial.measure,
            took: Nanos::from_secs_f64(last.max(end)),
            cut: false,
            spoilt: None,
        }
    }
}

/// Where searches begin.
const LOWEST: f64 = 10.0;

/// A search of two minutes, as the command makes it, of a server that has been up for `since_s`.
fn searched(server: Pausing, objective: &str, seed: u64) -> (Search, SearchOutcome, Vec<Step>) {
    let budget = Nanos::from_secs(120);
    let search = search(objective);
    let Lengths { step, warmup, cooldown, probe } = Lengths::of_budget(budget, &search.objective);
    let search = Search { step, warmup, probe, budget: Some(budget), ..search };
    let (mut rng, mut clock) = (Prng::new(seed), seed as f64 * 0.77);
    let (outcome, steps) = seek(&search, |trial| {
        let step = server.step(&search, trial, clock, &mut rng);
        let took = step.took + cooldown;
        clock += took.as_secs_f64();
        Step { took, ..step }
    });
    (search, outcome, steps)
}

/// The load at which the share of wrong hits of many pauses is the allowed one.
fn truth(server: Pausing, objective: &str) -> f64 {
    let search = search(objective);
    let allowed = search.objective.conditions()[0].allowed().unwrap();
    let share = |load: f64| {
        let (warmup, measure) = (Nanos::from_secs(30), Nanos::from_secs(1_000));
        let trial = Trial { load, warmup, measure };
        server.step(&search, trial, 0.0, &mut Prng::new(1)).figures[0]
    };
    let (mut low, mut high) = (LOWEST, 780.0);
    while high / low > 1.01 {
        let middle = f64::sqrt(low * high);
        if share(middle) < allowed { low = middle } else { high = middle }
    }
    low
}

/// Eight workers of 10 ms that pause 200 ms each 10 s.
const EIGHT: Pausing = Pausing { workers: 8, service_s: 0.01, every_s: 10.0, pause_s: 0.2 };

/// The intervals hold the truth, so that those of any two searches meet. Where the objective is missed at the lowest load already,
/// that is said, or that chance decides it.
#[test]
fn searches_of_a_server_that_pauses_agree() {
    const SEEDS: u64 = 12;
    let mut all = 0;
    for (objective, server) in [
        ("p95<100ms", EIGHT),
        ("p95<100ms", Pausing { every_s: 4.0, pause_s: 0.1, ..EIGHT }),
        ("p99<150ms", EIGHT),
        ("p99<80ms", Pausing { every_s: 3.0, pause_s: 0.1, ..EIGHT }),
    ] {
        let truth = truth(server, objective);
        let holds = |seed: &u64| match searched(server, objective, *seed).1.answer {
            None => truth <= LOWEST,
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
        let (search, outcome, steps) = searched(EIGHT, "p99<100ms", *seed);
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
