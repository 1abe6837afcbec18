//! What load to offer: arrivals, targets, the plan.
//!
//! ```text
//! targets file ─▶ targets::{http, json} ─▶ Targets ─┐
//! rate, shape  ─▶ arrival::Shape ─▶ Cursor ──────────┴─▶ Plan ─▶ engine
//! ```
//!
//! It knows no protocol's bytes and not who runs it; it reads no clock and opens no file.

pub mod arrival;
mod plan;
pub mod targets;

pub use plan::{Load, Plan, Target, Targets};
