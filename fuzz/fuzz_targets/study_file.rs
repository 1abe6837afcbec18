//! Fuzz target: a study's file. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/study_file.rs"]
mod study_file;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = study_file::check(data);
});
