//! Fuzz target: the response of a Prometheus endpoint. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/prometheus.rs"]
mod prometheus;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = prometheus::check(data);
});
