//! `NumberHash`: the hasher of maps whose keys are numbers of our own; and a hash of bytes that is as quick.

use std::hash::{BuildHasherDefault, Hasher};

use crate::mix;

/// Hashes numbers in a few instructions, and alike in every process: what goes through such a map comes to the same order each
/// time. It is for keys that no peer chooses, who could choose colliding ones.
pub type NumberHash = BuildHasherDefault<NumberHasher>;

/// Mixes a key's numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
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

/// Mixes bytes into a hash, eight at a time; its upper half is the better one. It is for tables in which keys that collide only
/// displace each other.
#[must_use]
pub fn mix_bytes(hash: u64, bytes: &[u8]) -> u64 {
    let step =
        |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = step(hash, bytes.len() as u64);
    let Some(last) = bytes.last_chunk() else {
        return bytes.iter().fold(hash, |hash, byte| step(hash, u64::from(*byte)));
    };
    let (words, rest) = bytes.as_chunks();
    // The last eight bytes may have some of the word before them.
    let last = (!rest.is_empty()).then_some(last);
    words.iter().chain(last).fold(hash, |hash, word| step(hash, u64::from_le_bytes(*word)))
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn keys_are_hashed_alike_each_time_and_apart() {
        let hash = |key: (u64, u32)| NumberHash::default().hash_one(key);
        assert_eq!(hash((1, 2)), hash((1, 2)));
        let mut hashes: Vec<u64> =
            (0..64).flat_map(|a| (0..64).map(move |b| (a, b))).map(hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 64 * 64);
    }

    #[test]
    fn each_byte_counts() {
        let text = b"http://host/path?query";
        let mut hashes = vec![mix_bytes(1, text)];
        for len in 0..text.len() {
            hashes.push(mix_bytes(0, &text[..len]));
            let mut other = *text;
            other[len] ^= 1;
            hashes.push(mix_bytes(0, &other));
        }
        hashes.push(mix_bytes(0, text));
        let all = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), all);
    }
}
