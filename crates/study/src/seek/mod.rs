//! The search for the highest load that meets an objective.
//!
//! [`propose()`] derives the next step from the search and the steps so far. It has no state, so an interrupted search resumes
//! from its steps. It has three phases:
//!
//! 1. *Climb*: from the lowest load, each twice the last, until the objective is missed.
//! 2. *Bisect*: halve the range between the highest load that met it and the lowest that missed it, until they are
//!    [`BRACKET`] apart. A load near the limit is judged from up to [`level::RUNS_MAX`] runs.
//! 3. *Refine*: steps around the present estimate of the limit (see [`fit`]), until its interval is as narrow as configured.

pub mod fit;
pub mod level;
mod meter;
mod propose;
mod search;
mod step;

pub use fit::Estimate;
pub use level::{Judgement, Level, levels};
pub use meter::Meter;
pub use propose::{DISTURBED_MAX, GROWTH, SPOILT_MAX, outcome, propose};
pub use search::{Answer, BRACKET, By, Next, Search, SearchOutcome, StopReason, Trial};
pub use step::{Step, knee};

#[cfg(test)]
mod tests;
