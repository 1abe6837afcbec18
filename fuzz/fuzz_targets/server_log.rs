//! Fuzz target: every kind of server's log. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/server_log.rs"]
mod server_log;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = server_log::check(data);
});
