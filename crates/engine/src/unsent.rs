//! `UnsentBytes`: bytes that wait for room in a socket.

use stdx::{MemoryShare, OutOfMemory};

/// Bytes that wait for room. Sending a part moves the rest only where that is the smaller part, so that taking all of them in
/// small pieces costs time in proportion to them.
#[derive(Debug, Default)]
pub(crate) struct UnsentBytes {
    pub(crate) bytes: Vec<u8>,
    /// So many of them are sent.
    sent: usize,
    memory: MemoryShare,
}

impl UnsentBytes {
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    pub(crate) fn len(&self) -> usize {
        self.as_slice().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    /// Takes memory for so many bytes more, until nothing waits.
    ///
    /// # Errors
    /// None is left.
    pub(crate) fn make_room(&mut self, more: usize) -> Result<(), OutOfMemory> {
        self.memory.make_room(&self.bytes, more)
    }

    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The first `len` bytes are sent.
    pub(crate) fn consume(&mut self, len: usize) {
        self.sent += len;
        if self.sent > self.bytes.len() / 2 {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// Gives back what room there is beyond `max`; to be called where nothing waits.
    pub(crate) fn trim(&mut self, max: usize) {
        if self.bytes.capacity() > max {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_sent_in_order_and_moved_seldom() {
        let all: Vec<u8> = (0..1_000_000_u32).map(|number| (number % 251) as u8).collect();
        let (mut unsent, mut sent, mut moves) = (UnsentBytes::default(), Vec::new(), 0);
        unsent.extend(&all[..600_000]);
        while !unsent.is_empty() {
            let len = unsent.len().min(100);
            sent.extend_from_slice(&unsent.as_slice()[..len]);
            unsent.consume(len);
            moves += usize::from(unsent.sent == 0);
            if sent.len() == 1_000 {
                unsent.extend(&all[600_000..]);
            }
        }
        assert_eq!(sent, all);
        assert!(moves < 30, "{moves}");
    }
}
