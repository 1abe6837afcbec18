//! `MemoryShare`: what of the process' memory is taken by things whose size others decide: servers, files, scripts. One limit holds
//! for all of them; what does not fit is refused, and the refusals are counted.
//!
//! Only what is large is counted ([`COUNTED_FROM`]): small things have bounds of their own, and taking them shares nothing between
//! threads.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use thiserror::Error;

/// Sizes below this many bytes are not counted: 32 KiB.
const COUNTED_FROM: usize = 32 << 10;
/// Shares of less than [`STEP`] grow in steps of this many bytes: 64 KiB.
const SMALL_STEP: usize = 64 << 10;
/// Shares grow in steps of this many bytes, so that growing bit by bit is cheap: 1 MiB.
const STEP: usize = 1 << 20;
/// Of the limit, what is left for all that is not counted: a quarter, and at most 256 MiB.
const UNCOUNTED_MAX: usize = 256 << 20;

static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
static TAKEN: AtomicUsize = AtomicUsize::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);

/// Limits what the process takes, in bytes: a quarter of it, at most 256 MiB, is left for what is not counted, all shares together
/// take the rest. There is no limit before the first call.
pub fn limit_memory(bytes: usize) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// The limit, in bytes.
#[must_use]
pub fn memory_limit() -> usize {
    LIMIT.load(Ordering::Relaxed)
}

/// The limit in words, by the flag that sets it.
#[must_use]
pub fn memory_limit_in_words() -> String {
    format!("-memory-limit: {} MiB", memory_limit() >> 20)
}

/// What is left for shares, in bytes.
#[must_use]
pub fn memory_left() -> usize {
    shared_limit().saturating_sub(TAKEN.load(Ordering::Relaxed))
}

/// A bound for things of which a few copies are made on their way, such as a message: `max` bytes, and no more than the limit by
/// `parts`.
#[must_use]
pub fn within_memory(max: usize, parts: usize) -> usize {
    max.min(memory_limit() / parts)
}

/// What all shares together may take.
fn shared_limit() -> usize {
    let limit = memory_limit();
    limit - (limit / 4).min(UNCOUNTED_MAX)
}

/// How often a share was refused so far.
#[must_use]
pub fn memory_refusals() -> u64 {
    REFUSED.load(Ordering::Relaxed)
}

/// No memory is left within the limit of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no memory is left (-memory-limit)")]
pub struct OutOfMemory;

/// A share of the memory, which goes back when it is dropped.
#[derive(Debug, Default)]
pub struct MemoryShare {
    taken: usize,
}

impl MemoryShare {
    /// What it takes of the limit, in bytes.
    #[must_use]
    pub const fn taken(&self) -> usize {
        self.taken
    }

    /// Takes as much as a thing of this size needs, more or less than before.
    ///
    /// # Errors
    /// The limit of the process leaves no room; the share is as it was.
    #[inline]
    pub fn resize(&mut self, bytes: usize) -> Result<(), OutOfMemory> {
        let to = in_steps(bytes);
        if to == self.taken { Ok(()) } else { self.change(to) }
    }

    /// Takes as much as a thing of this size needs that is there already, whatever the limit: what comes next finds less room.
    #[inline]
    pub fn hold(&mut self, bytes: usize) {
        let to = in_steps(bytes);
        if to > self.taken {
            TAKEN.fetch_add(to - self.taken, Ordering::Relaxed);
        } else if to < self.taken {
            TAKEN.fetch_sub(self.taken - to, Ordering::Relaxed);
        }
        self.taken = to;
    }

    /// Takes what a vector needs that is to grow by so many bytes: one that has no room left doubles.
    ///
    /// # Errors
    /// As [`MemoryShare::resize`].
    #[inline]
    pub fn make_room(&mut self, bytes: &Vec<u8>, more: usize) -> Result<(), OutOfMemory> {
        let (len, room) = (bytes.len() + more, bytes.capacity());
        self.resize(if len > room { len.max(2 * room) } else { room })
    }

    #[cold]
    fn change(&mut self, to: usize) -> Result<(), OutOfMemory> {
        if to <= self.taken {
            TAKEN.fetch_sub(self.taken - to, Ordering::Relaxed);
            self.taken = to;
            return Ok(());
        }
        let (more, limit) = (to - self.taken, shared_limit());
        let grown = |taken: usize| taken.checked_add(more).filter(|sum| *sum <= limit);
        match TAKEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown) {
            Ok(_) => {
                self.taken = to;
                Ok(())
            }
            Err(_) => {
                REFUSED.fetch_add(1, Ordering::Relaxed);
                Err(OutOfMemory)
            }
        }
    }
}

/// What is taken for a thing of this size.
const fn in_steps(bytes: usize) -> usize {
    let step = if bytes < STEP { SMALL_STEP } else { STEP };
    if bytes < COUNTED_FROM { 0 } else { bytes.div_ceil(step).saturating_mul(step) }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        TAKEN.fetch_sub(self.taken, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, since all share the process' limit.
    #[test]
    fn shares_stay_within_the_limit() {
        const MIB: usize = 1 << 20;
        let mut small = MemoryShare::default();
        assert_eq!((small.resize(COUNTED_FROM - 1), small.taken), (Ok(()), 0));
        assert_eq!((small.resize(COUNTED_FROM), small.taken), (Ok(()), SMALL_STEP));
        drop(small);
        // Ten are left beside the quarter.
        limit_memory(40 * MIB / 3);
        let (mut one, mut other) = (MemoryShare::default(), MemoryShare::default());
        assert_eq!((one.resize(4 * MIB + 1), one.taken), (Ok(()), 5 * MIB));
        assert_eq!(one.resize(5 * MIB), Ok(()), "within its step");
        assert_eq!(other.resize(5 * MIB), Ok(()));
        let before = memory_refusals();
        assert_eq!((other.resize(5 * MIB + 1), other.taken), (Err(OutOfMemory), 5 * MIB));
        assert_eq!(other.resize(usize::MAX), Err(OutOfMemory));
        assert_eq!(memory_refusals(), before + 2);
        assert_eq!(one.resize(10), Ok(()));
        assert_eq!(other.resize(10 * MIB), Ok(()), "what was given back");
        assert_eq!(
            (memory_left(), within_memory(MIB, 8), within_memory(64 * MIB, 4)),
            (0, MIB, 10 * MIB / 3)
        );
        // What is there is there.
        one.hold(2 * MIB);
        assert_eq!((one.taken, memory_left(), memory_refusals()), (2 * MIB, 0, before + 2));
        assert_eq!(other.resize(9 * MIB), Ok(()));
        assert_eq!(other.resize(10 * MIB), Err(OutOfMemory));
        one.hold(0);
        assert_eq!(memory_left(), MIB);
        drop(other);
        assert_eq!(one.resize(10 * MIB), Ok(()));
        drop(one);
        assert_eq!(TAKEN.load(Ordering::Relaxed), 0);
        limit_memory(usize::MAX);
    }
}
