//! Fuzz target: both sides of WebSocket's opening handshake. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/ws_handshake.rs"]
mod ws_handshake;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = ws_handshake::check(data);
});
