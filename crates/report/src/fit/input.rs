//! `FitInput`: what a report of a fit is made of.

use study::scaling::{Fit, Refusal, Sweep};

/// A sweep and its fit.
#[derive(Clone, Copy, Debug)]
pub struct FitInput<'a> {
    /// What was measured.
    pub sweep: &'a Sweep,
    /// What fits it, or why nothing does.
    pub found: &'a Result<Fit, Refusal>,
    /// Further loads to predict; above 0.
    pub at: &'a [f64],
    /// What must be known of the measurements, one sentence each.
    pub notes: &'a [String],
}
