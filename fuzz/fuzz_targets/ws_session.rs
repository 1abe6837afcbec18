//! Fuzz target: WebSocket bytes, to both sides, with and without deflate. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/ws_session.rs"]
mod ws_session;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    ws_session::check(data);
});
