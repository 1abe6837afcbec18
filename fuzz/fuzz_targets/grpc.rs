//! Fuzz target: what a server, a script and a file bring to gRPC. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/grpc.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    check::check(data);
});
