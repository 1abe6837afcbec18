//! Fuzz target: a tar archive of a run. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/store_archive.rs"]
mod store_archive;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = store_archive::check(data);
});
