//! Fuzz target: a column of another program's file, and the generator's record. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/results_table.rs"]
mod results_table;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = results_table::check(data);
});
