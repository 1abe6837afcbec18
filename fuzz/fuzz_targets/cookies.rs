//! Fuzz target: cookies and digest challenges of a server. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/cookies.rs"]
mod cookies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = cookies::check(data);
});
