//! `JudgedRun`: what gates are judged by.

use crate::tally::Assertion;
use crate::{Generator, Summary};

/// A run that has ended, as gates judge it.
#[derive(Clone, Copy, Debug)]
pub struct JudgedRun<'a> {
    /// All its requests, or those of a part of it.
    pub summary: &'a Summary,
    /// They are a part of the run: what the generator's record says of all requests is not said of them.
    pub is_part: bool,
    /// The generator's record of itself, which has the planned rate.
    pub generator: Option<&'a Generator>,
    /// Whether it is recorded when requests were sent.
    pub has_service_times: bool,
    /// A script's thresholds, checks and metrics; empty without a script.
    pub asserted: &'a [Assertion],
}
