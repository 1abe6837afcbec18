//! The search for the highest load that meets an objective.
//!
//! [`propose()`] derives the next step from the search and the steps so far. It has no state, so an interrupted search resumes
//! from its steps. It has three phases:
//!
//! 1. *Climb*: from the lowest load, each twice the last, until the objective is missed.
//! 2. *Bisect*: halve the range between the highest load that met it and the lowest that missed it, until they are
//!    [`BRACKET`] apart. A load near the limit is judged from up to [`level::RUNS_MAX`] runs.
//! 3. *Refine*: steps around the present estimate of the limit (see [`fit`]), until its interval is as narrow as configured.

mod capacity;
mod disagreement;
pub mod fit;
mod floor;
pub mod level;
mod meter;
mod pace;
mod propose;
mod search;
mod steadiness;
mod step;
mod time_left;

pub use disagreement::{Disagreement, disagreement};
pub use fit::Estimate;
pub use floor::Floor;
pub use level::{Judgement, Level, levels};
pub use meter::Meter;
pub use pace::{Lengths, spent};
pub use propose::{DISTURBED_MAX, GROWTH, SPOILT_MAX, floor_of, outcome, propose, steadiness};
pub use search::{
    Answer, BRACKET, By, Next, Search, SearchOutcome, StopReason, Subject, Trial, Unit,
};
pub use steadiness::{Contradiction, Drift, Steadiness};
pub use step::{Step, knee};
pub use time_left::{TimeLeft, time_left};

#[cfg(test)]
mod budget_tests;
#[cfg(test)]
mod coverage;
#[cfg(test)]
mod pause_tests;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;
