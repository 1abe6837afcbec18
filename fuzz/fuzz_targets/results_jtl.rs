//! Fuzz target: results of JMeter. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/results_read.rs"]
mod results_read;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = results_read::check(data);
});
