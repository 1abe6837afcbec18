//! Fuzz target: targets files in both grammars. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = targets::check(targets::Format::Http, data);
});
