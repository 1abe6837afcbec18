//! Fuzz target: paths in JSON, as `res.json(path)` has them. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/gjson.rs"]
mod gjson;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = gjson::check(data);
});
