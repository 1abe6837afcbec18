//! The search for the highest load that meets an objective.
//!
//! [`propose()`] looks at what is searched and at the steps so far, and says what comes next. It remembers nothing, so a search
//! that was interrupted goes on from its steps. It has three phases:
//!
//! 1. *Climb*: from the lowest load, each twice the last, until the objective is missed.
//! 2. *Bisect*: halve what lies between the highest load that met it and the lowest that missed it, until they are
//!    [`BRACKET`] apart. A load near the limit is judged from up to [`level::RUNS_MAX`] runs.
//! 3. *Refine*: steps around the limit as it is known so far (see [`fit`]), until its interval is as narrow as asked for.

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
