//! The search for the limit of a server whose limit is known: six workers of exponential 60 ms and Poisson arrivals are
//! M/M/6, and Erlang says where its p99 reaches half a second.

use engine::Settings;
use metrics::{Summary, Verdict};
use net::sim::Faults;
use stdx::{Nanos, mix};
use study::queueing::Mmc;
use study::seek::{Answer, By, Meter, Next, Search, Step, Subject, Trial, propose};
use workload::arrival::{Rate, Shape};
use workload::{Load, Plan};

use crate::world::{plan, run, server};

const SEEDS: u64 = 20;
/// Each step is long enough to forget how it began some fifteen times.
const STEP: Nanos = Nanos::from_secs(60);
const WARMUP: Nanos = Nanos::from_secs(15);

fn search() -> Search {
    Search {
        objective: "p99<500ms, errors<1%".parse().expect("an objective"),
        by: By::Rate,
        subject: Subject::Requests,
        from: 10.0,
        to: None,
        step: STEP,
        warmup: WARMUP,
        probe: 1.0,
        precision: 0.015,
        steps_max: 40,
        budget: None,
    }
}

/// One step in a world of its own.
fn step(search: &Search, trial: Trial, seed: u64) -> Step {
    let mut meter = Meter::new(search, trial);
    let rate = Rate { hits: (trial.load * 1000.0).round() as u64, per: Nanos::from_secs(1000) };
    let plan = Plan {
        load: Load::Open { shape: Shape::Poisson { rate }, max_in_flight: None },
        duration: Some(meter.duration()),
        seed: mix(seed, 1),
        ..plan(Load::Closed { users: 1 }, 1, &["/"])
    };
    let config = demo::Config { seed: mix(seed, 2), ..server(6, "exp:60ms") };
    let outcome = run(seed, Faults::default(), config, plan, &Settings::default());
    let mut summary = Summary::new();
    for batch in &outcome.batches {
        summary.add(batch);
        meter.add(batch);
    }
    let verdict = Verdict::new(&summary, Some(&outcome.total.generator), &[]);
    meter.finish(&verdict, None)
}

fn seek(seed: u64) -> (Answer, usize) {
    let (search, mut steps) = (search(), Vec::new());
    loop {
        match propose(&search, &steps) {
            Next::Run(trial) => {
                steps.push(step(&search, trial, mix(seed, steps.len() as u64)));
            }
            Next::Done(outcome) => {
                return (outcome.answer.expect("the limit was bracketed"), steps.len());
            }
        }
    }
}

#[test]
fn the_limit_is_erlangs_in_every_world() {
    let truth = Mmc { workers: 6, service_s: 0.06 }.rate_for(0.5, 0.01);
    let halves = [0, 1].map(|half| (half..SEEDS).step_by(2));
    // Two threads, since the searches are long and know nothing of one another.
    std::thread::scope(|scope| {
        for seeds in halves {
            scope.spawn(move || {
                for seed in seeds {
                    let (answer, steps) = seek(seed);
                    let off = answer.load / truth - 1.0;
                    println!("seed {seed}: {answer:?} after {steps} steps, off by {off:.4}");
                    assert!(off.abs() < 0.05, "seed {seed}: {answer:?}, in truth {truth}");
                }
            });
        }
    });
}

#[test]
fn the_same_world_is_searched_alike() {
    let search = search();
    let trial = Trial { load: 80.0, warmup: WARMUP, measure: Nanos::from_secs(5) };
    assert_eq!(step(&search, trial, 3), step(&search, trial, 3));
}
