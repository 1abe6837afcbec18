//! Runs against hostile servers until there were enough mutated outputs, with what must hold of each run.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::{Duration, Instant};

use engine::{Settings, SimulationResult, simulate};
use metrics::Sample;
use net::sim::{Faults, World};
use net::{Address, Peer};
use stdx::{Nanos, mix};
use workload::Plan;

use crate::hostile::Hostile;
use crate::mutation::{Grammar, Mutator};
use crate::world::{SERVER, check_oracles};

/// Mutated outputs for each protocol, unless `MUTANTS` says another number.
const OUTPUTS: u64 = 3_000;
/// The longest time that a run may take on the simulated clock. Hits have timeouts, and plans a number of hits.
const SIMULATED_MAX: Nanos = Nanos::from_secs(120);
/// The longest time that a run may take on ours.
const TIME_MAX: Duration = Duration::from_secs(20);
/// The most memory that the process may ever have had, in KiB.
const MEMORY_KIB_MAX: u64 = 512 << 10;
/// Memory is looked at after so many runs.
const MEMORY_EVERY: u64 = 64;
/// One of so many runs is done twice, and must come to the same.
const TWICE_ONE_IN: u64 = 8;

/// One run: who answers, and what is offered.
pub(crate) struct Trial {
    pub(crate) grammar: Grammar,
    pub(crate) server: Box<dyn Peer>,
    pub(crate) plan: Plan,
    pub(crate) settings: Settings,
}

/// What a protocol has counted, as text, after the run.
pub(crate) type Counts = Box<dyn FnOnce() -> String>;

/// What is compared of two runs of one seed.
#[derive(Debug, PartialEq)]
struct Outcome {
    samples: Vec<Sample>,
    failures: Vec<u64>,
    changed: u64,
    /// What the protocol's own counts say.
    counts: String,
}

/// Runs trials, the first of them that of `MUTANTS_FROM`, until there were enough mutated outputs. `trial` makes what follows from
/// a seed, and what prints the protocol's own counts after the run.
///
/// # Panics
/// Something does not hold; the seed is printed.
pub(crate) fn run_all(protocol: &str, trial: fn(u64) -> (Trial, Counts)) {
    let wanted = number("MUTANTS", OUTPUTS);
    let from = number("MUTANTS_FROM", 0);
    let (mut seed, mut changed) = (from, 0);
    while changed < wanted {
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let outcome = run(seed, trial);
            if seed.is_multiple_of(TWICE_ONE_IN) {
                assert_eq!(outcome, run(seed, trial), "the same seed, another run");
            }
            outcome.changed
        }));
        let Ok(count) = outcome else { panic!("{protocol}: MUTANTS_FROM={seed} begins with it") };
        assert!(start.elapsed() < TIME_MAX, "{protocol}: seed {seed} took {:?}", start.elapsed());
        changed += count;
        seed += 1;
        if seed.is_multiple_of(MEMORY_EVERY) || changed >= wanted {
            let memory = memory_kib_max();
            assert!(memory < MEMORY_KIB_MAX, "{protocol}: {memory} KiB up to seed {seed}");
        }
        assert!(seed - from < 1_000 + wanted, "{protocol}: hardly anything is mutated");
    }
    let (runs, memory) = (seed - from, memory_kib_max());
    println!("{protocol}: {changed} mutated outputs in {runs} runs, {memory} KiB");
}

fn run(seed: u64, trial: fn(u64) -> (Trial, Counts)) -> Outcome {
    let (trial, counts) = trial(seed);
    let changed = Rc::new(Cell::new(0));
    let mutator = Mutator::new(mix(seed, 0x6d75), trial.grammar);
    let hostile = Hostile::new(trial.server, mutator, Rc::clone(&changed));
    let mut world = World::new(seed, Faults::default());
    world.add_peer(Address::Ip(SERVER.parse().expect("an address")), Box::new(hostile));
    let result = simulate(world, trial.plan, &trial.settings).expect("the settings are sound");
    check(&result);
    let samples = result.batches.into_iter().flat_map(|batch| batch.samples).collect();
    let failures = result.total.failures.to_vec();
    Outcome { samples, failures, changed: changed.get(), counts: counts() }
}

/// Every hit has ended, with an answer or a kind of failure, and so has the run.
fn check(result: &SimulationResult) {
    check_oracles(result);
    let samples = result.batches.iter().flat_map(|batch| &batch.samples);
    let last = samples.map(|sample| sample.done).max().unwrap_or_default();
    assert!(last < SIMULATED_MAX, "the last hit ended after {last}");
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// The peak of this process's memory; 0 where the system does not say.
fn memory_kib_max() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}
