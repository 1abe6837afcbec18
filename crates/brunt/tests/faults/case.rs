//! `Case`: one command under one fault. Cases run a few at a time, and each prints a line.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Instant;

/// Cases at a time: most of their time is waiting.
const AT_A_TIME: usize = 6;

/// One command under one fault.
pub(crate) struct Case {
    name: String,
    check: Box<dyn FnOnce() + Send>,
}

impl Case {
    pub(crate) fn new(name: impl Into<String>, check: impl FnOnce() + Send + 'static) -> Self {
        Self { name: name.into(), check: Box::new(check) }
    }
}

/// What `cargo xtask faults` asks for.
fn variable(name: &str) -> Option<String> {
    std::env::var(format!("BRUNT_FAULTS_{name}")).ok()
}

/// Everything is asked for, not the short form.
pub(crate) fn is_full() -> bool {
    variable("MOMENTS").is_some()
}

/// The seed of random moments.
pub(crate) fn seed() -> u64 {
    variable("SEED").map_or(1, |seed| seed.parse().expect("a seed"))
}

/// At how many moments a process is killed.
pub(crate) fn moments() -> usize {
    variable("MOMENTS").map_or(6, |moments| moments.parse().expect("a number of moments"))
}

/// Runs all cases of a fault, or those whose name holds the word that was asked for; fails if one failed.
pub(crate) fn run_all(fault: &str, cases: Vec<Case>) {
    assert!(!cases.is_empty(), "{fault} has no cases");
    let only = variable("ONLY").unwrap_or_default();
    let names = cases.into_iter().map(|case| (format!("{fault}: {}", case.name), case.check));
    let waiting: Mutex<VecDeque<_>> =
        Mutex::new(names.filter(|(name, _)| name.contains(&only)).collect());
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().unwrap().pop_front();
                    let Some((name, check)) = next else { break };
                    let outcome = outcome(name, check);
                    failed.lock().unwrap().extend(outcome);
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} failed: {failed:#?}", failed.len());
}

/// Runs a case and prints its line; gives its name if it failed.
fn outcome(name: String, check: Box<dyn FnOnce() + Send>) -> Option<String> {
    let begin = Instant::now();
    let ended = catch_unwind(AssertUnwindSafe(check));
    let seconds = begin.elapsed().as_secs_f64();
    let word = if ended.is_ok() { "passed" } else { "FAILED" };
    println!("fault {word} {name} ({seconds:.1} s)");
    ended.is_err().then_some(name)
}
