//! `PartedBody`: the body of a request that is sent in parts, before its stream is open.

/// The body of a request that is sent in parts.
#[derive(Debug, Default)]
pub(crate) struct PartedBody {
    /// What waits for its stream to be opened.
    pub(crate) waiting: Vec<Vec<u8>>,
    pub(crate) waiting_bytes: usize,
    pub(crate) has_ended: bool,
    /// Parts were handed to a stream: they cannot be sent on another.
    pub(crate) is_begun: bool,
    /// Bytes of all parts.
    pub(crate) bytes: u64,
}

impl PartedBody {
    /// Whether the request can be sent once more.
    pub(crate) const fn is_whole(&self) -> bool {
        !self.is_begun
    }
}
