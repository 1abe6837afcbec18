//! `HeadMemo`: the last response head, byte for byte, and what it meant. Servers send the same head again and again, often
//! for a whole second; a comparison costs a fiftieth of taking it apart.

use super::Version;
use super::fields::Fields;

/// A longer head is not kept.
const LEN_MAX: usize = 1 << 10;

/// What of a head decides about its response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning {
    pub(super) status: u16,
    pub(super) version: Version,
    pub(super) fields: Fields,
}

/// The last response head of many connections. It holds at most 1 KiB.
#[derive(Debug)]
pub struct HeadMemo {
    head: Vec<u8>,
    meaning: Option<Meaning>,
}

impl Default for HeadMemo {
    /// Nothing is kept yet; the memory for it is there.
    fn default() -> Self {
        Self { head: Vec::with_capacity(LEN_MAX), meaning: None }
    }
}

impl HeadMemo {
    /// What the head at the beginning of `bytes` means and its length, if it is the one that is kept. A whole head
    /// is the same one wherever it stands: no byte after it changes what it means.
    pub(super) fn recall(&self, bytes: &[u8]) -> Option<(Meaning, usize)> {
        let meaning = self.meaning?;
        bytes.starts_with(&self.head).then_some((meaning, self.head.len()))
    }

    /// Recalls nothing until another head is kept.
    pub fn forget(&mut self) {
        self.meaning = None;
    }

    /// Keeps a whole head.
    pub(super) fn keep(&mut self, head: &[u8], meaning: Meaning) {
        self.meaning = None;
        if head.len() <= LEN_MAX {
            self.head.clear();
            self.head.extend_from_slice(head);
            self.meaning = Some(meaning);
        }
    }
}
