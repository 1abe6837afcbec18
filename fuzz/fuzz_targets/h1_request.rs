//! Fuzz target: the requests of one connection, as `serve` decodes them. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/h1_request.rs"]
mod h1_request;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = h1_request::check(data);
});
