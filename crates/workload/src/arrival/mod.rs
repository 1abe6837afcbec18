//! When hits fall due: to be written.

/// A load shape: to be written.
#[derive(Clone, Debug)]
pub struct Shape {}
