//! Fuzz target: URLs, redirects and `NO_PROXY`. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/url.rs"]
mod url;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = url::check(data);
});
