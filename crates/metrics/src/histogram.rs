//! `Histogram`: to be written.

/// To be written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {}
