//! Fuzz target: a body in any stack of content codings. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/content.rs"]
mod content;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = content::check(data);
});
