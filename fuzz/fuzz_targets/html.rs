//! Fuzz target: a page and a selector, as `parseHTML` has them. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/html.rs"]
mod html;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = html::check(data);
});
