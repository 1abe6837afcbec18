//! Experiments and inference: which run comes next, and what the runs so far say.
//!
//! ```text
//! Search ─┐
//! Steps ──┴▶ seek::propose ──▶ Next::Run(Trial) ──▶ (somebody above runs it) ──▶ Meter ──▶ Step ──▶ back to Steps
//!                          └─▶ Next::Done(Outcome)
//! Histograms of runs ──▶ compare::compare ──▶ Comparison (ranks, shift, distance)
//! ```
//!
//! It proposes, and never starts anything: no I/O, no clock, no threads. What it says follows from its arguments alone.

pub mod compare;
pub mod queueing;
pub mod seek;
pub mod stats;
pub mod warmup;
