//! From measurements at several loads to a model of the server: its capacity, and its behaviour at loads that were not run.
//!
//! ```text
//! Runs ─▶ Sweep::bounded, or measurements from elsewhere
//!   ▼
//! Sweep (throughput and time at each load) ─▶ each model's least squares ─▶ the one that explains most with least
//!        └─▶ Refusal: too few loads, too close, or none fits          └─▶ Fit: parameters, intervals, predict, one worker more
//! ```
//!
//! Loads are users of a closed loop or rates of an open one:
//!
//! | loop | models |
//! |---|---|
//! | users | [`Model::Closed`]: workers, service and delay by mean value analysis; [`Model::Usl`]: the Universal Scalability Law |
//! | rates | [`Model::Open`]: M/M/c, and M/G/c by Allen and Cunneen |
//!
//! A model that does not fit is refused: a curve that misses the measurements predicts nothing.

mod bootstrap;
mod data;
mod fit;
mod model;
mod predict;
mod runs;
mod search;
mod simplex;
mod usl;

pub use data::{LOAD_MAX, OBSERVATIONS_MAX, Observation, RANGE_MIN, Refusal, Sweep};
pub use fit::{ERROR_MAX, Fit, fit};
pub use model::{Estimate, Kind, Model};
pub use predict::{Gain, LowerBound, Prediction};
pub use runs::{RunFigures, by_most, load_of};
pub use usl::Usl;

#[cfg(test)]
mod tests;
