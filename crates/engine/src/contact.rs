//! `Contact`: whether a user of a closed loop ever got through to the server.

/// Whether a user of a closed loop ever got through to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Contact {
    /// It was neither answered nor did it wait in vain.
    New,
    /// It waited in vain for each of its answers.
    Never,
    /// It was answered.
    Made,
}
