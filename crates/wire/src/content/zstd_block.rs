//! What blocks of zstd make a decoder hold, read off the headers of their sections before they are decoded. It decodes nothing.

/// The bytes of the two sections' headers that were understood. RFC 8878, 3.1.1.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sections {
    /// Bytes of literals, decoded.
    pub(super) literals: usize,
    pub(super) sequences: usize,
}

impl Sections {
    /// The sections of a compressed block; `None` where it ends before their headers do.
    pub(super) fn parse(block: &[u8]) -> Option<Self> {
        let (literals, rest) = parse_literals(block)?;
        Some(Self { literals, sequences: parse_sequences(rest)? })
    }

    /// Bytes that the block decodes to, at least: a sequence copies three or more. RFC 8878, 3.1.1.3.2.1.1.
    pub(super) const fn decoded_least(self) -> usize {
        self.literals + 3 * self.sequences
    }
}

/// The bytes of literals, and what follows their section. RFC 8878, 3.1.1.3.1.1.
fn parse_literals(block: &[u8]) -> Option<(usize, &[u8])> {
    let first = *block.first()?;
    let (kind, format) = (first & 3, first >> 2 & 3);
    let is_compressed = kind >= 2;
    // The header's bytes, the place of the size and the bits of it.
    let (len, at, bits) = match (is_compressed, format) {
        (false, 0 | 2) => (1, 3, 5),
        (false, 1) => (2, 4, 12),
        (false, _) => (3, 4, 20),
        (true, 0 | 1) => (3, 4, 10),
        (true, 2) => (4, 4, 14),
        (true, _) => (5, 4, 18),
    };
    let mut header = [0; 8];
    header[..len].copy_from_slice(block.get(..len)?);
    let header = u64::from_le_bytes(header);
    let number = |at: u32| (header >> at & ((1 << bits) - 1)) as usize;
    let size = number(at);
    let stored = match kind {
        0 => size,
        1 => 1,
        _ => number(at + bits),
    };
    Some((size, block.get(len + stored..)?))
}

/// The number of sequences. RFC 8878, 3.1.1.3.2.1.
fn parse_sequences(section: &[u8]) -> Option<usize> {
    let byte = |at: usize| section.get(at).map(|byte| usize::from(*byte));
    match byte(0)? {
        few @ 0..128 => Some(few),
        255 => Some(byte(1)? + (byte(2)? << 8) + 0x7f00),
        high => Some(((high - 128) << 8) + byte(1)?),
    }
}

/// What a decoder holds for blocks beside its ring, in bytes. Its buffers keep the size of the largest block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockBuffers {
    encoded: usize,
    literals: usize,
    sequences: usize,
}

/// The bytes of a sequence in ruzstd's list.
const SEQUENCE_BYTES: usize = 12;

impl BlockBuffers {
    /// Adds a block that is to come, of so many encoded bytes: they are gathered here, and ruzstd has a copy of them.
    pub(super) fn add_encoded(&mut self, bytes: usize) {
        self.encoded = self.encoded.max(2 * bytes);
    }

    pub(super) fn add_sections(&mut self, sections: Sections) {
        self.literals = self.literals.max(sections.literals);
        self.sequences = self.sequences.max(sections.sequences * SEQUENCE_BYTES);
    }

    pub(super) const fn bytes(self) -> usize {
        self.encoded + self.literals + self.sequences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_read_off_their_headers() {
        let check = |block: &[u8], expected: Option<(usize, usize)>| {
            let found = Sections::parse(block).map(|found| (found.literals, found.sequences));
            assert_eq!(found, expected, "{block:?}");
        };
        // As they are: 5, 12 and 20 bits.
        check(&[2 << 3, b'a', b'b', 7], Some((2, 7)));
        check(&[0x14, 0, b'a', 0], Some((1, 0)));
        check(&[0x0d | 0xf0, 0xff, 0xff, b'a', 128, 5], Some((0xf_ffff, 5)));
        // Compressed: 10, 14 and 18 bits of each size.
        check(&[0xf2, 0x7f, 0, b'x', 254, 1], Some((0x3ff, 0x7e01)));
        check(&[0xfa, 0xff, 0x07, 0, b'x', 255, 1, 2], Some((0x3fff, 0x8101)));
        check(&[0xfe, 0xff, 0x7f, 0, 0, b'x', 3], Some((0x3_ffff, 3)));
        for cut in [&[][..], &[2 << 3, b'a'], &[2 << 3, b'a', b'b'], &[0x14], &[8, b'a', 255, 1]] {
            check(cut, None);
        }
    }
}
