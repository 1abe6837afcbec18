//! When hits fall due. A [`Shape`] says how the rate goes over time; a [`Cursor`] walks one worker's share of its hits.
//!
//! Every shape but Poisson and replay has an integral `H(t)`, the hits that the rate makes until `t`; hit `k` (from 0) is due when
//! `H` goes past `k`: the first one at the start, and all that are due before the end of the duration `D` belong to the run, so
//! that there are `ceil(H(D))` of them. Vegeta's pacers have as many, each an interval later: the last falls on the end, or
//! behind it. Each file beside this one solves that equation for one shape. Nothing here reads a clock.

mod constant;
mod cursor;
mod linear;
mod numbers;
mod parse;
mod poisson;
mod rate;
mod replay;
mod scale;
mod shape;
mod shard;
mod sine;
mod steps;
#[cfg(test)]
mod tests;

pub use cursor::Cursor;
pub use numbers::Numbers;
pub use parse::{ShapeError, ShapeSpec};
pub use rate::{ParsedRate, RATE_MAX_PER_S, Rate, RateError};
pub use replay::{REPLAY_MAX, Replay, ReplayProblem};
pub use shape::Shape;
pub use shard::Shard;
pub use sine::SineStart;
pub use steps::Step;
