//! Fuzz target: HTTP/1 responses, whole and in pieces. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/h1_response.rs"]
mod h1_response;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = h1_response::check(data);
});
