//! A server for simulated searches: workers before one queue, on a machine that stands still or is slower now and then.

use stdx::{Nanos, Prng};

use super::tests::{search, seek, wrong as wrong_share};
use super::*;

/// Where searches begin, and a rate beyond the limit of each of the servers, in requests a second.
pub(super) const LOADS: [f64; 2] = [10.0, 780.0];

/// How long one request takes a worker of a machine that is as quick as it can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Service {
    /// Exponential, with this mean in seconds.
    Exponential(f64),
    /// Exponential; one request in ten takes so many times the mean of the others.
    TwoKinds { mean_s: f64, times: f64 },
}

impl Service {
    fn draw(self, rng: &mut Prng) -> f64 {
        match self {
            Self::Exponential(mean_s) => mean_s * rng.exponential(),
            Self::TwoKinds { mean_s, times } => {
                let is_long = rng.below(10) == 0;
                mean_s * rng.exponential() * if is_long { times } else { 1.0 }
            }
        }
    }
}

/// How the machine's speed changes; a factor by which everything takes longer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pace {
    Even,
    /// It stands still for `for_s` at the end of each `every_s`.
    Pauses {
        every_s: f64,
        for_s: f64,
    },
    /// It takes this share longer at the end of a search, and less in proportion before.
    Drifts(f64),
    /// A neighbour makes everything take 1.5 times as long for 2 s in each 12 s, at a moment that chance decides.
    Bursts,
    /// Each half minute is at one of two levels by chance, one of which takes this share longer.
    Levels(f64),
}

/// How long a search takes, in seconds.
const SEARCH_S: f64 = 120.0;

/// Workers with one queue, first come first served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Server {
    pub(super) workers: usize,
    pub(super) service: Service,
    pub(super) pace: Pace,
}

impl Server {
    /// The factor by which work takes longer at this moment of the machine's life that `seed` stands for.
    fn slowness(self, at_s: f64, seed: u64) -> f64 {
        let chance = |part: u64| Prng::new(stdx::mix(seed, part)).next_f64();
        match self.pace {
            Pace::Even | Pace::Pauses { .. } => 1.0,
            Pace::Drifts(share) => 1.0 + share * (at_s / SEARCH_S).min(1.0),
            Pace::Bursts => {
                let part = (at_s / 12.0).floor();
                let begin = 12.0 * part + 10.0 * chance(part as u64);
                if (begin..begin + 2.0).contains(&at_s) { 1.5 } else { 1.0 }
            }
            Pace::Levels(share) => {
                if chance((at_s / 30.0) as u64) < 0.5 {
                    1.0 + share
                } else {
                    1.0
                }
            }
        }
    }

    /// How much of the time until `at_s` it did not stand still.
    fn worked(self, at_s: f64) -> f64 {
        let Pace::Pauses { every_s, for_s } = self.pace else { return at_s };
        let rounds = (at_s / every_s).floor();
        let runs = every_s - for_s;
        rounds * runs + (at_s - rounds * every_s).min(runs)
    }

    /// The time at which it has not stood still for so long.
    fn time(self, worked_s: f64) -> f64 {
        let Pace::Pauses { every_s, for_s } = self.pace else { return worked_s };
        worked_s + (worked_s / (every_s - for_s)).floor() * for_s
    }

    /// A step that begins at `from_s` of the machine's life.
    pub(super) fn step(
        self,
        search: &Search,
        trial: Trial,
        (from_s, seed): (f64, u64),
        rng: &mut Prng,
    ) -> Step {
        let warmup_s = trial.warmup.as_secs_f64();
        let end = warmup_s + trial.measure.as_secs_f64();
        let mut free = vec![0.0f64; self.workers];
        let (mut now, mut last, mut times, mut within) = (0.0, 0.0f64, Vec::new(), 0);
        loop {
            now += rng.exponential() / trial.load;
            if now > end {
                break;
            }
            let worker = free.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
            let begin = worker.max(self.worked(from_s + now));
            *worker = begin + self.service.draw(rng) * self.slowness(self.time(begin), seed);
            let done = self.time(*worker) - from_s;
            last = last.max(done);
            within += u32::from(done > warmup_s && done <= end);
            if now > warmup_s {
                times.push(done - now);
            }
        }
        let achieved_per_s = f64::from(within) / trial.measure.as_secs_f64();
        let took = Nanos::from_secs_f64(last.max(end));
        Step { achieved_per_s, took, ..measured(search, trial, &times) }
    }

    /// A search of two minutes, as the command makes it.
    pub(super) fn searched(self, objective: &str, seed: u64) -> (Search, SearchOutcome, Vec<Step>) {
        let budget = Nanos::from_secs_f64(SEARCH_S);
        let search = search(objective);
        let Lengths { step, warmup, cooldown, probe } =
            Lengths::of_budget(budget, &search.objective);
        let search = Search { step, warmup, probe, budget: Some(budget), ..search };
        let (mut rng, mut clock) = (Prng::new(seed), self.birth(seed));
        let (outcome, steps) = seek(&search, |trial| {
            let step = self.step(&search, trial, (clock, seed), &mut rng);
            let took = step.took + cooldown;
            clock += took.as_secs_f64();
            Step { took, ..step }
        });
        (search, outcome, steps)
    }

    /// How long it has been up where the search begins: pauses come at another moment of each.
    fn birth(self, seed: u64) -> f64 {
        if matches!(self.pace, Pace::Drifts(_)) { 0.0 } else { seed as f64 * 0.77 }
    }

    /// The load at which the share of wrong hits is the allowed one over a long time; of a drift, by its middle.
    pub(super) fn truth(self, objective: &str) -> f64 {
        let search = search(objective);
        let allowed = search.objective.conditions()[0].allowed().unwrap();
        let server = match self.pace {
            Pace::Drifts(share) => Self { pace: Pace::Drifts(share / 2.0), ..self },
            _ => self,
        };
        let share = |load: f64| {
            let (warmup, measure) = (Nanos::from_secs(30), Nanos::from_secs(1_500));
            let trial = Trial { load, warmup, measure };
            server.step(&search, trial, (SEARCH_S, 1), &mut Prng::new(1)).figures[0]
        };
        let [mut low, mut high] = LOADS;
        while high / low > 1.005 {
            let middle = f64::sqrt(low * high);
            if share(middle) < allowed { low = middle } else { high = middle }
        }
        low
    }
}

/// The step of hits with these response times, in seconds.
fn measured(search: &Search, trial: Trial, times: &[f64]) -> Step {
    let limit_s = search.objective.conditions()[0].limit / 1e9;
    let wrong = times.iter().filter(|time| **time >= limit_s).count() as f64;
    let count = times.len().max(1) as f64;
    let mean = Nanos::from_secs_f64(times.iter().sum::<f64>() / count);
    let hits = times.len() as u64;
    Step { hits, mean, p50: mean, p95: mean, p99: mean, ..wrong_share(trial, wrong / count) }
}
