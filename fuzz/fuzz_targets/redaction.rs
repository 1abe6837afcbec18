//! Fuzz target: what `-redact` hides. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/redaction.rs"]
mod redaction;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = redaction::check(data);
});
