//! Fuzz target: an HTTP/2 server's bytes, to a client with streams open. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/h2_session.rs"]
mod h2_session;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = h2_session::check(data);
});
