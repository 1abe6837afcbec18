//! `HeadBuffer`: gathers a message's head that comes in pieces, for both sides.

use stdx::MemoryShare;

/// The bytes of a head so far. A head that comes whole is parsed where it lies, and never copied here.
#[derive(Debug, Default)]
pub(super) struct HeadBuffer {
    bytes: Vec<u8>,
    memory: MemoryShare,
}

impl HeadBuffer {
    /// Takes a head or a part of one, and returns how many bytes of `input` belonged to it. `parse` returns the length of a
    /// complete head; it runs again only where a line ended, at most once per header field, so that a peer that sends byte by
    /// byte does not cost the square of its head. A head of `max` bytes that is not complete fails with `too_large`, as does one for which no memory is left.
    pub(super) fn take<E>(
        &mut self,
        input: &[u8],
        max: usize,
        too_large: impl FnOnce() -> E,
        mut parse: impl FnMut(&[u8]) -> Result<Option<usize>, E>,
    ) -> Result<usize, E> {
        let before = self.bytes.len();
        if before == 0 {
            if let Some(len) = parse(input)? {
                return Ok(len);
            }
            if input.len() >= max {
                return Err(too_large());
            }
            return if self.extend(input) { Ok(input.len()) } else { Err(too_large()) };
        }
        let piece = &input[..input.len().min(max - before)];
        if !self.extend(piece) {
            return Err(too_large());
        }
        let full = self.bytes.len() >= max;
        if !full && !piece.contains(&b'\n') {
            return Ok(piece.len());
        }
        match parse(&self.bytes)? {
            Some(len) => {
                self.bytes.clear();
                debug_assert!(len > before, "the head was complete before this piece");
                Ok(len.saturating_sub(before))
            }
            None if full => Err(too_large()),
            None => Ok(piece.len()),
        }
    }

    /// Adds a piece, where there is memory for it.
    fn extend(&mut self, piece: &[u8]) -> bool {
        let has_room = self.memory.make_room(&self.bytes, piece.len()).is_ok();
        if has_room {
            self.bytes.extend_from_slice(piece);
        }
        has_room
    }

    /// The bytes so far.
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether no part of a head waits for the rest.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Drops what came; keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Gives the memory back where it is more than `bytes_max`.
    pub(super) fn trim(&mut self, bytes_max: usize) {
        if self.bytes.capacity() > bytes_max {
            (self.bytes, self.memory) = (Vec::new(), MemoryShare::default());
        }
    }
}
