//! `CapturedResponse`: the parts of a response that are kept for its row and its user.

use std::sync::Arc;

use stdx::{MemoryShare, OutOfMemory};

/// The parts of the response that are kept for the row.
#[derive(Debug, Default)]
pub(crate) struct CapturedResponse {
    /// The reason phrase of a status outside 200..400.
    pub(crate) reason: Vec<u8>,
    /// The start of the decoded body.
    pub(crate) body: Vec<u8>,
    body_memory: MemoryShare,
    head_memory: MemoryShare,
    /// More of the body was wanted than [`crate::Capture::BODY_MAX`] or the memory of the process allows.
    pub(crate) body_cut: bool,
    /// The header lines.
    pub(crate) headers: Vec<u8>,
    /// The trailer lines, where a user waits for the response.
    pub(crate) trailers: Vec<u8>,
    /// The status line and the header lines, where a user waits for the response.
    pub(crate) head: Option<Arc<[u8]>>,
}

/// Room an idle connection keeps in each buffer for its next hit: 64 KiB. Thousands of idle connections must not each hold
/// the largest body, head or request they ever saw.
pub(crate) const IDLE_MAX: usize = 64 << 10;

impl CapturedResponse {
    /// Adds a piece of the body, where there is memory for it.
    pub(crate) fn add_body(&mut self, piece: &[u8]) {
        // What follows a piece that is missing is no part of the body's start.
        if self.body_cut {
            return;
        }
        match self.body_memory.make_room(&self.body, piece.len()) {
            Ok(()) => self.body.extend_from_slice(piece),
            Err(_) => self.body_cut = true,
        }
    }

    /// Counts the header lines, the copy of them that users share, and the trailer lines.
    ///
    /// # Errors
    /// The memory of the process leaves no room for them.
    pub(crate) fn count_head(&mut self) -> Result<(), OutOfMemory> {
        self.head_memory.resize(2 * self.headers.capacity() + self.trailers.capacity())
    }

    /// Gives back what a large body or head took.
    pub(crate) fn trim(&mut self) {
        for buffer in [&mut self.reason, &mut self.body, &mut self.headers, &mut self.trailers] {
            if buffer.capacity() > IDLE_MAX {
                *buffer = Vec::new();
            }
        }
        // Less always fits.
        self.body_memory.resize(self.body.capacity()).ok();
        // As `count_head` counts, so that a connection with the same head again changes nothing that threads share.
        self.head_memory.resize(2 * self.headers.capacity() + self.trailers.capacity()).ok();
    }

    pub(crate) fn clear(&mut self) {
        self.reason.clear();
        self.body.clear();
        self.body_cut = false;
        self.headers.clear();
        self.trailers.clear();
        self.head = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 19: the head was counted twice with its response and once without, which touched what all threads share twice a request.
    #[test]
    fn a_head_counts_alike_with_its_response_and_after_it() {
        let mut captured = CapturedResponse::default();
        captured.headers.reserve_exact(40 << 10);
        captured.count_head().unwrap();
        let taken = captured.head_memory.taken();
        assert!(taken >= 80 << 10, "{taken}");
        captured.trim();
        assert_eq!(captured.head_memory.taken(), taken);
        captured.headers.reserve_exact(IDLE_MAX + 1);
        captured.trim();
        assert_eq!(captured.head_memory.taken(), 0, "a large one is given back");
    }
}
