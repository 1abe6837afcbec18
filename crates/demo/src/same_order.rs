//! The hasher of maps that are gone through: a seed decides everything here, and so the order is the same in every process. It
//! is for keys that no client chooses.

use std::hash::{BuildHasherDefault, Hasher};

use stdx::mix;

/// Hashes alike in every process, unlike std's default.
pub(crate) type SameOrder = BuildHasherDefault<Mixer>;

/// Mixes a key's numbers.
#[derive(Default)]
pub(crate) struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix(self.0, number);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
