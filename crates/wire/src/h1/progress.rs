//! `Progress`: how far a decoder came.

/// How far a decoder came with the bytes it was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the input that belonged to this message.
    pub consumed: usize,
    /// The message is complete. What was not consumed belongs to the next one.
    pub done: bool,
}
