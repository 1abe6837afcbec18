//! What load to offer: arrivals, targets, the plan.
//!
//! ```text
//! targets file ─▶ targets::{http, json} ─▶ Targets ─┐
//! rate, shape  ─▶ arrival::Shape ─▶ Cursor ──────────┴─▶ Plan ─▶ engine
//! ```
//!
//! It knows no protocol's bytes and not who runs it; it reads no clock and opens no file.

pub mod arrival;
pub mod executor;
mod plan;
mod segment;
mod share;
mod staff;
mod target;
pub mod targets;
mod users;

pub use plan::{Load, Plan};
pub use segment::{Segment, SegmentError, Stripe};
pub use share::Share;
pub use staff::Staff;
pub use target::{Target, Targets};
pub use users::{
    Ask, Crew, Detail, Ending, Flow, Order, Pipe, Received, Reply, Trip, TripFailure, Users, Wishes,
};
