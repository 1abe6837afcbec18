//! Fuzz target: a run's manifest. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/store_manifest.rs"]
mod store_manifest;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = store_manifest::check(data);
});
