//! What load to offer: arrivals, targets, the plan.
//!
//! ```text
//! targets file ─▶ targets::{http, json} ─▶ Targets ─┐
//! rate, shape  ─▶ arrival::Shape ─▶ Cursor ──────────┴─▶ Plan ─▶ engine
//! ```
//!
//! It knows neither a protocol's bytes nor the engine that runs it; it reads no clock and opens no file.

pub mod arrival;
pub mod executor;
mod plan;
mod poll_budget;
mod segment;
mod target;
mod target_list;
mod target_order;
pub mod targets;
mod users;
mod vu_assignment;
mod vu_reservation;

pub use plan::{Load, Plan};
pub use poll_budget::PollBudget;
pub use segment::{Segment, SegmentError, SegmentSlice};
pub use target::Target;
pub use target_list::{TargetList, TargetRef, TargetTexts};
pub use target_order::Targets;
pub use users::{
    Backpressure, ChannelEnd, ChannelTls, Commands, CustomFailure, CustomOutcome, CustomSample,
    EngineResponse, FailureDetail, Pipe, PipeCommand, PipeEvent, RequestCommand, RequestKind,
    StopMode, StreamCommand, StreamEvent, VirtualUsers, VuFactory,
};
pub use vu_assignment::VuAssignment;
pub use vu_reservation::VuReservation;
