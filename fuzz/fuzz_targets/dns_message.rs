//! Fuzz target: the answer of a name server. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/dns_message.rs"]
mod dns_message;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = dns_message::check(data);
});
