//! Fuzz target: a script, a source map, or its mappings. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/source_map.rs"]
mod source_map;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = source_map::check(data);
});
