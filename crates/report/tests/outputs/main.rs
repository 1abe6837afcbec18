//! The output of the crate for hand-made runs: exact text, whole pages, pictures.

#![allow(clippy::unwrap_used, reason = "these are tests, their shared parts too")]

mod pages;
mod reports;
mod samples;
