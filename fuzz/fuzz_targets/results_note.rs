//! Fuzz target: the note of a row in results. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/results_note.rs"]
mod results_note;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = results_note::check(data);
});
