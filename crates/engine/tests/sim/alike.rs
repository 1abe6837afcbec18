//! What `compare` says of runs against a server in the simulated world: equal variants are hardly ever called different, and
//! a server that is 5 % or 10 % slower is found.

use std::thread;

use engine::Settings;
use metrics::Summary;
use net::sim::Faults;
use stdx::{Nanos, mix};
use study::contrast::{Contrast, Finding, Measure, Rules, Run, contrast};
use workload::{Load, Plan};

use crate::world::{plan, run, server};

const PAIRS: u64 = 100;
const REPEATS: u64 = 10;
const REQUESTS: u64 = 400;
/// How much slower the second of a pair is, in percent: not at all, then as much as has to be found.
const SLOWER: [u64; 3] = [0, 5, 10];

/// One run of eight users against four workers, in a world of its own.
fn repeat(seed: u64, slower_percent: u64) -> Run {
    let plan = Plan {
        hits_max: Some(REQUESTS),
        duration: None,
        seed: mix(seed, 1),
        ..plan(Load::Closed { users: 8 }, 1, &["/"])
    };
    let service = format!("lognormal:{}us,0.4", 100 * (100 + slower_percent));
    let config = demo::Config { seed: mix(seed, 2), ..server(4, &service) };
    let outcome = run(mix(seed, 3), Faults::default(), config, plan, &Settings::default());
    let mut summary = Summary::new();
    outcome.batches.iter().for_each(|batch| summary.add(batch));
    Run {
        throughput_per_s: summary.throughput(),
        errors: 1.0 - summary.success_ratio(),
        times: summary.response,
        ..Run::default()
    }
}

fn variant(seed: u64, slower_percent: u64) -> Vec<Run> {
    (0..REPEATS).map(|number| repeat(mix(seed, number), slower_percent)).collect()
}

fn is_called(found: &Contrast, measure: Measure, expect: Finding) -> bool {
    found.changes.iter().any(|change| change.measure == measure && change.finding == expect)
}

/// Of one pair: whether any measure differs between equal servers, and whether the mean is worse on each slower one.
fn pair(number: u64) -> [bool; 3] {
    let base = variant(mix(number, 100), 0);
    SLOWER.map(|slower| {
        let other = variant(mix(number, 200 + slower), slower);
        let found = contrast(&base, &other, &Rules::default()).expect("runs with requests");
        if slower > 0 {
            return is_called(&found, Measure::Mean, Finding::Worse);
        }
        let differs = [Finding::Better, Finding::Worse];
        Measure::ALL.iter().any(|of| differs.iter().any(|what| is_called(&found, *of, *what)))
    })
}

#[test]
fn equal_servers_are_called_equal_and_slower_ones_slower() {
    let halves = [0, 1]
        .map(|half| thread::spawn(move || (half..PAIRS).step_by(2).map(pair).collect::<Vec<_>>()));
    let pairs: Vec<[bool; 3]> =
        halves.into_iter().flat_map(|half| half.join().expect("no panic")).collect();
    let [alarms, found_5, found_10] =
        [0, 1, 2].map(|which| pairs.iter().filter(|pair| pair[which]).count());
    println!(
        "called different: {alarms}; 5 % found: {found_5}; 10 % found: {found_10}; of {PAIRS}"
    );
    // Of a hundred pairs at a level of 5 %, more than ten are called different in one of a hundred draws.
    assert!(alarms <= 10, "{alarms} of {PAIRS} equal pairs were called different");
    assert!(found_5 >= 95 && found_10 >= 99, "5 %: {found_5}, 10 %: {found_10} of {PAIRS}");
}

#[test]
fn a_pair_has_the_same_end_each_time() {
    assert_eq!(repeat(5, 0), repeat(5, 0));
    assert!(repeat(5, 0).times.sum() > 0 && Nanos(1) < repeat(5, 0).times.max());
}
