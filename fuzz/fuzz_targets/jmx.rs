//! Fuzz target: a test plan of JMeter's. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/jmx_plan.rs"]
mod jmx_plan;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    jmx_plan::check(data);
});
