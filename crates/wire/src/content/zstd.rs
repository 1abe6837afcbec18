//! zstd (RFC 8878), frame after frame. ruzstd reads whole blocks, so a block is gathered first: at most 128 KiB.

use std::io::{self, Write};
use std::{fmt, mem};

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use stdx::MemoryShare;

use super::error::ContentError;
use super::output::Sink;
use super::zstd_block::{BlockBuffers, Sections};

/// The largest window: 8 MiB. RFC 9659 forbids larger ones in HTTP.
const WINDOW_MAX: u64 = 8 << 20;
/// The largest block. RFC 8878, 3.1.1.2.4.
const BLOCK_MAX: usize = 128 << 10;

/// Decodes one body after the other.
pub(super) struct Zstd {
    decoder: FrameDecoder,
    state: State,
    /// The frame ends with a checksum.
    checksum: bool,
    /// The header or block so far.
    pending: Vec<u8>,
    /// The bytes of ruzstd's ring buffer, at most. It keeps its size when a frame with a smaller window follows.
    ring: usize,
    buffers: BlockBuffers,
    /// The window of this frame, in bytes.
    window: usize,
    /// The bytes that a block of this frame may decode to. RFC 8878, 3.1.1.2.4.
    block_max: usize,
    /// What the ring and the buffers take.
    memory: MemoryShare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before or in a frame's header; the body may end where nothing of it came.
    Header,
    Block,
    /// In a skippable frame; bytes left.
    Skip(u64),
}

impl Default for Zstd {
    fn default() -> Self {
        Self {
            decoder: new_decoder(),
            state: State::Header,
            checksum: false,
            pending: Vec::new(),
            ring: 0,
            buffers: BlockBuffers::default(),
            window: 0,
            block_max: 0,
            memory: MemoryShare::default(),
        }
    }
}

impl Zstd {
    pub(super) fn reset(&mut self) {
        self.state = State::Header;
        self.pending.clear();
    }

    pub(super) fn is_finished(&self) -> bool {
        self.state == State::Header && self.pending.is_empty()
    }

    pub(super) fn decode(
        &mut self,
        mut input: &[u8],
        out: &mut Sink<'_>,
    ) -> Result<(), ContentError> {
        while !input.is_empty() {
            if let State::Skip(left) = &mut self.state {
                let n = usize::try_from(*left).map_or(input.len(), |left| left.min(input.len()));
                *left -= n as u64;
                input = &input[n..];
                if *left == 0 {
                    self.state = State::Header;
                }
                continue;
            }
            // What is needed may grow with what came, so it is asked for until it is there.
            loop {
                let needed = self.needed()?;
                let missing = needed.saturating_sub(self.pending.len());
                if missing == 0 {
                    break;
                }
                self.buffers.add_encoded(needed);
                self.take_memory()?;
                // Not more than was counted.
                self.pending.reserve_exact(missing);
                if input.is_empty() {
                    return Ok(());
                }
                let (piece, rest) = input.split_at(missing.min(input.len()));
                self.pending.extend_from_slice(piece);
                input = rest;
            }
            let pending = mem::take(&mut self.pending);
            let outcome = self.handle_item(&pending, out);
            self.pending = pending;
            self.pending.clear();
            // What a broken block has left is of no use, and may be more than a whole one needs.
            outcome.inspect_err(|_| self.free())?;
        }
        Ok(())
    }

    fn take_memory(&mut self) -> Result<(), ContentError> {
        self.memory.resize(self.ring + self.buffers.bytes()).map_err(|_| ContentError::Memory)
    }

    /// Gives back all that the decoder took.
    fn free(&mut self) {
        *self = Self { state: self.state, ..Self::default() };
    }

    /// Bytes of the header or block, as far as they are known.
    fn needed(&self) -> Result<usize, ContentError> {
        match (self.state, self.pending.as_slice()) {
            (State::Header, [a, b, c, d, rest @ ..]) => {
                if is_skippable(u32::from_le_bytes([*a, *b, *c, *d])) {
                    return Ok(8);
                }
                Ok(rest.first().map_or(5, |descriptor| header_len(*descriptor)))
            }
            (State::Header, _) => Ok(4),
            (_, [a, b, c, ..]) => {
                let header = u32::from_le_bytes([*a, *b, *c, 0]);
                let repeated = block_kind(&self.pending) == REPEATED;
                let content = if repeated { 1 } else { (header >> 3) as usize };
                let checksum = if header & 1 == 1 && self.checksum { 4 } else { 0 };
                if content > BLOCK_MAX {
                    return Err(ContentError::Zstd);
                }
                Ok(3 + content + checksum)
            }
            _ => Ok(3),
        }
    }

    /// Takes a whole header or block.
    fn handle_item(&mut self, item: &[u8], out: &mut Sink<'_>) -> Result<(), ContentError> {
        if self.state == State::Header {
            return self.handle_header(item);
        }
        if block_kind(item) == COMPRESSED {
            self.take_sections(item)?;
        }
        let finished = self
            .decoder
            .decode_blocks(item, BlockDecodingStrategy::UptoBlocks(1))
            .map_err(|_| ContentError::Zstd)?;
        self.take_memory()?;
        let mut writer = SinkWriter { out, fault: None };
        let collected = self.decoder.collect_to_writer(&mut writer);
        if let Some(fault) = writer.fault {
            return Err(fault);
        }
        collected.map_err(|_| ContentError::Zstd)?;
        if finished {
            let stored = self.decoder.get_checksum_from_data();
            if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
                return Err(ContentError::Zstd);
            }
            self.state = State::Header;
        }
        Ok(())
    }

    /// Takes memory for a compressed block. ruzstd does not refuse all that decode to more than a block may.
    fn take_sections(&mut self, item: &[u8]) -> Result<(), ContentError> {
        let sections = item.get(3..).and_then(Sections::parse).ok_or(ContentError::Zstd)?;
        if sections.decoded_least() > self.block_max {
            return Err(ContentError::Zstd);
        }
        self.buffers.add_sections(sections);
        // A block that is broken may be more than the ring of sound ones has room for.
        let ring = ring_max(self.window, 2).max(self.ring);
        self.memory.resize(ring + self.buffers.bytes()).map_err(|_| ContentError::Memory)
    }

    fn handle_header(&mut self, item: &[u8]) -> Result<(), ContentError> {
        let word = |at: usize| {
            item.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes)
        };
        if word(0).is_some_and(is_skippable) {
            let left = word(4).ok_or(ContentError::Zstd)?;
            self.state = if left == 0 { State::Header } else { State::Skip(u64::from(left)) };
            return Ok(());
        }
        let window = window_of(item);
        self.block_max = window.min(BLOCK_MAX);
        self.window = window;
        self.ring = ring_max(window, 1).max(self.ring);
        self.take_memory()?;
        self.checksum = item.get(4).is_some_and(|descriptor| descriptor & 4 != 0);
        self.decoder.reset(item).map_err(|_| ContentError::Zstd)?;
        self.state = State::Block;
        Ok(())
    }
}

impl fmt::Debug for Zstd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Zstd").field("state", &self.state).finish_non_exhaustive()
    }
}

fn new_decoder() -> FrameDecoder {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(WINDOW_MAX);
    decoder
}

/// The bytes of ruzstd's ring buffer, at most, once frames of this window were decoded: it holds the window, a block, and a byte that is
/// always free, and grows to a power of two; beyond the room of two blocks, to a power of two and that room. `blocks` is how much of a block it
/// holds: ruzstd notices only behind a compressed one that its last sequence has copied more than a block may hold, which is at most
/// one more.
const fn ring_max(window: usize, blocks: usize) -> usize {
    let block = blocks * if window < BLOCK_MAX { window } else { BLOCK_MAX };
    let (needed, room) = (window + block + 1, 2 * BLOCK_MAX);
    if needed <= room {
        return needed.next_power_of_two() + 1;
    }
    (needed - room).next_power_of_two() + room + 1
}

/// The kind of a block, from its header. RFC 8878, 3.1.1.2.2.
fn block_kind(block: &[u8]) -> u8 {
    block.first().map_or(0, |first| first >> 1 & 3)
}

/// A block of one byte, repeated.
const REPEATED: u8 = 1;
const COMPRESSED: u8 = 2;

/// RFC 8878, 3.1.2.
const fn is_skippable(magic: u32) -> bool {
    magic & 0xffff_fff0 == 0x184d_2a50
}

/// The length of a frame header, magic number included, from its descriptor. RFC 8878, 3.1.1.1.1.
const fn header_len(descriptor: u8) -> usize {
    let single_segment = descriptor & 0x20 != 0;
    let window = if single_segment { 0 } else { 1 };
    let dictionary = [0, 1, 2, 4][(descriptor & 3) as usize];
    let content_size = match descriptor >> 6 {
        0 if single_segment => 1,
        0 => 0,
        1 => 2,
        2 => 4,
        _ => 8,
    };
    5 + window + dictionary + content_size
}

/// The bytes of the window that a frame's header asks for; more than [`WINDOW_MAX`] is refused elsewhere. RFC 8878, 3.1.1.1.2.
fn window_of(header: &[u8]) -> usize {
    let descriptor = header.get(4).copied().unwrap_or_default();
    let is_single_segment = descriptor & 0x20 != 0;
    let window = if is_single_segment {
        let dictionary = [0, 1, 2, 4][(descriptor & 3) as usize];
        let mut size = [0; 8];
        let field = header.get(5 + dictionary..).unwrap_or_default();
        let len = field.len().min(size.len());
        size[..len].copy_from_slice(&field[..len]);
        // A size of two bytes begins at 256. RFC 8878, 3.1.1.1.4.
        let begin = if descriptor >> 6 == 1 { 256 } else { 0 };
        u64::from_le_bytes(size).saturating_add(begin)
    } else {
        let byte = u64::from(header.get(5).copied().unwrap_or_default());
        let base = 1 << (10 + (byte >> 3));
        base + base / 8 * (byte & 7)
    };
    window.min(WINDOW_MAX) as usize
}

/// A [`Write`] that remembers why the sink refused.
struct SinkWriter<'s, 'o> {
    out: &'s mut Sink<'o>,
    fault: Option<ContentError>,
}

impl Write for SinkWriter<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.out)(bytes).map_err(|fault| {
            self.fault = Some(fault);
            io::Error::from(io::ErrorKind::Other)
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of a frame without a checksum, whose window is so many times 1 KiB doubled.
    fn header(doublings: u8) -> [u8; 6] {
        [0x28, 0xb5, 0x2f, 0xfd, 0, doublings << 3]
    }

    /// Blocks of 128 KiB as they are, the last one flagged. RFC 8878, 3.1.1.2.
    fn raw_frame(blocks: usize) -> Vec<u8> {
        let mut frame = header(13).to_vec();
        for number in 1..=blocks {
            let size = (BLOCK_MAX as u32) << 3 | u32::from(number == blocks);
            frame.extend(&size.to_le_bytes()[..3]);
            frame.resize(frame.len() + BLOCK_MAX, b'a');
        }
        frame
    }

    /// Issue 19: the share followed the window of the next frame, and the ring kept the size of the largest.
    #[test]
    fn the_share_does_not_shrink_with_the_window() {
        let mut zstd = Zstd::default();
        zstd.decode(&raw_frame(100), &mut |_| Ok(())).unwrap();
        let large = zstd.memory.taken();
        assert!(large >= ring_max(8 << 20, 1), "{large}");
        zstd.decode(&header(0), &mut |_| Ok(())).unwrap();
        assert_eq!((zstd.memory.taken(), zstd.state), (large, State::Block));
        zstd.reset();
        assert_eq!(zstd.memory.taken(), large, "the next body has the same ring");
        zstd.decode(&raw_frame(1), &mut |_| Err(ContentError::Bomb)).unwrap_err();
        assert_eq!(zstd.memory.taken(), 0, "what is broken is freed");
    }

    /// A block of 43,690 sequences without a literal, each of which copies three bytes.
    const SEQUENCES: [u8; 12] = [76, 0, 0, 0, 255, 0xaa, 0x2b, 0x54, 0, 0, 0, 1];

    /// Issue 19: a block of a few bytes makes lists and literals of up to 2 MiB, which were not counted.
    #[test]
    fn the_share_holds_the_lists_of_blocks() {
        let (eight_bytes, mut decoded) = ([66, 0, 0, b'a'], 0);
        let body = [&header(7)[..], &eight_bytes, &SEQUENCES].concat();
        let mut zstd = Zstd::default();
        zstd.decode(&body, &mut |bytes| {
            decoded += bytes.len();
            Ok(())
        })
        .unwrap();
        assert_eq!(decoded, 6, "the window holds the rest");
        let listed = 12 * 43_690;
        let taken = zstd.memory.taken();
        assert!((ring_max(128 << 10, 1) + listed..1 << 20).contains(&taken), "{taken}");
        // The next block is gathered.
        zstd.decode(&[0, 0, 0x10], &mut |_| Ok(())).unwrap();
        let more = zstd.memory.taken();
        assert!(more >= ring_max(128 << 10, 1) + listed + BLOCK_MAX, "{more}");
    }

    #[test]
    fn blocks_that_decode_to_more_than_a_block_may_are_refused() {
        // A literal, repeated 2^20 - 1 times.
        let literals = [44, 0, 0, 0xfd, 0xff, 0xff, b'a', 0];
        for block in [&literals[..], &SEQUENCES] {
            let mut zstd = Zstd::default();
            // A window of 64 KiB.
            let body = [&header(6)[..], block].concat();
            assert_eq!(zstd.decode(&body, &mut |_| Ok(())), Err(ContentError::Zstd));
            assert_eq!(zstd.memory.taken(), 0);
        }
    }

    #[test]
    fn windows_are_read_off_headers() {
        assert_eq!(window_of(&header(13)), 8 << 20);
        // The size of the content is the window: one byte, two, four.
        assert_eq!(window_of(&[0x28, 0xb5, 0x2f, 0xfd, 0x20, 7]), 7);
        assert_eq!(window_of(&[0x28, 0xb5, 0x2f, 0xfd, 0x60, 7, 1]), 256 + 263);
        assert_eq!(window_of(&[0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 1, 0]), 1 << 16);
    }

    #[test]
    fn a_ring_holds_its_window_and_a_block() {
        for (window, expected) in [
            (1 << 10, (4 << 10) + 1),
            (100_000, (256 << 10) + 1),
            (128 << 10, (256 << 10) + 2),
            (8 << 20, (8 << 20) + (256 << 10) + 1),
            ((4 << 20) + (1 << 19), (8 << 20) + (256 << 10) + 1),
        ] {
            assert_eq!(ring_max(window, 1), expected, "{window}");
        }
    }
}
