//! Fuzz target: an input of `import`, read as every kind. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/import_script.rs"]
mod import_script;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = import_script::check(data);
});
