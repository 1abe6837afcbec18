//! Fuzz target: Action Cable's messages in every codec. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/cable.rs"]
mod cable;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    cable::check(data);
});
