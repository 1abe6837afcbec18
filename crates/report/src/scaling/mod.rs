//! A fitted model for people and programs: the table of measured and predicted figures, what one worker more would bring, JSON,
//! the figure with both, and the words of a refusal.

mod figure;
mod json;
mod table;
#[cfg(test)]
mod tests;
mod words;

use study::scaling::{Fit, Observation, Refusal, Sweep};

pub use self::figure::fit_figure;
pub use self::json::fit_json;
pub use self::table::fit_text;
pub(crate) use self::words::fit_sentence;

/// A sweep and what came of it.
#[derive(Clone, Copy, Debug)]
pub struct FitInput<'a> {
    /// What was measured.
    pub sweep: &'a Sweep,
    /// What fits it, or why nothing does.
    pub found: &'a Result<Fit, Refusal>,
    /// Loads asked for beside those measured; above 0.
    pub at: &'a [f64],
    /// What must be known of the measurements, one sentence each.
    pub notes: &'a [String],
}

/// What was measured, load by load.
fn levels(observations: &[Observation]) -> Vec<(f64, Vec<Observation>)> {
    let levels = observations.chunk_by(|a, b| a.load == b.load);
    levels.map(|level| (level[0].load, level.to_vec())).collect()
}
