//! Experiments and inference: which run comes next, and what follows from the runs so far.
//!
//! ```text
//! Search ─┐
//! Steps ──┴▶ seek::propose ──▶ Next::Run(Trial) ──▶ (the caller runs it) ──▶ Meter ──▶ Step ──▶ back to Steps
//!                          └─▶ Next::Done(SearchOutcome)
//! Histograms of runs ──▶ compare::compare ──▶ Comparison (shift, its interval, p, distance)
//! Runs of two variants ──▶ contrast::contrast ──▶ Contrast (a finding for each measure)
//! Cells, repeats, seed ──▶ plan::order ──▶ Slots ──▶ plan::next ──▶ (the caller runs it)
//! Observations at several loads ──▶ scaling::fit ──▶ Fit (a model, its intervals, what it predicts) or why there is none
//! ```
//!
//! It proposes, and never starts anything: no I/O, no clock, no threads. Its results follow from its arguments alone.

pub mod change_points;
pub mod compare;
pub mod contrast;
pub mod plan;
pub mod queueing;
pub mod scaling;
pub mod seek;
pub mod stats;
pub mod warmup;
