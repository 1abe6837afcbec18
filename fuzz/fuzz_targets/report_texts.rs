//! Fuzz target: a text of a server, in every report. The check is the one that the seeds' plain test makes.
#![no_main]

#[path = "../checks/report_texts.rs"]
mod report_texts;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = report_texts::check(data);
});
