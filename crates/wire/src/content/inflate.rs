//! gzip (RFC 1952) and deflate (RFC 1950, or RFC 1951 bare): the wrapper is ours, the inflating is flate2's, so that one
//! decoder serves body after body without allocation.

use flate2::{Crc, Decompress, FlushDecompress, Status};

use stdx::MemoryShare;

use super::error::ContentError;
use super::output::{Sink, output_buffer};

/// What stands around the deflate data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapper {
    /// One gzip member after the other.
    Gzip,
    /// zlib, or nothing at all: the first two bytes decide.
    ZlibOrNone,
}

/// Decodes one stream after the other.
#[derive(Debug)]
pub(super) struct Inflate {
    wrapper: Wrapper,
    state: State,
    decompress: Decompress,
    crc: Crc,
    output: Box<[u8]>,
    memory: MemoryShare,
}

/// What an [`Inflate`] takes, about: the window, tables and room for output.
const BYTES: usize = 64 << 10;

#[derive(Clone, Copy, Debug)]
enum State {
    /// Before the first two bytes of a deflate body; the first one, if it came.
    Sniff(Option<u8>),
    /// In a gzip header. `begun` is false between two members, where the body may end.
    Header {
        part: Part,
        begun: bool,
    },
    Data,
    /// The checksum and size after a gzip member, and how much of them came.
    Trailer([u8; 8], usize),
    /// After a deflate stream, which has no successor.
    End,
}

/// The part of a gzip header that the next byte belongs to. RFC 1952, 2.3.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// The first ten bytes; how many came, and the flags among them.
    Fixed {
        at: u8,
        flags: u8,
    },
    /// The length of the extra field: low byte, then high byte.
    ExtraLen {
        at: u8,
        len: u16,
        flags: u8,
    },
    Extra {
        left: u16,
        flags: u8,
    },
    Name {
        flags: u8,
    },
    Comment {
        flags: u8,
    },
    /// The header's checksum, which is not checked: the data's own follows.
    Crc {
        at: u8,
    },
}

const FHCRC: u8 = 1 << 1;
const FEXTRA: u8 = 1 << 2;
const FNAME: u8 = 1 << 3;
const FCOMMENT: u8 = 1 << 4;

const MEMBER_START: State = State::Header { part: Part::Fixed { at: 0, flags: 0 }, begun: false };

impl Inflate {
    pub(super) fn new(wrapper: Wrapper) -> Self {
        Self {
            wrapper,
            state: start(wrapper),
            decompress: Decompress::new(false),
            crc: Crc::new(),
            output: output_buffer(),
            memory: MemoryShare::default(),
        }
    }

    pub(super) fn reset(&mut self) {
        self.state = start(self.wrapper);
        self.decompress.reset(false);
        self.crc.reset();
    }

    pub(super) fn is_finished(&self) -> bool {
        matches!(self.state, State::Header { begun: false, .. } | State::End)
    }

    pub(super) fn decode(
        &mut self,
        mut input: &[u8],
        out: &mut Sink<'_>,
    ) -> Result<(), ContentError> {
        self.memory.resize(BYTES).map_err(|_| ContentError::Memory)?;
        while let Some((byte, after)) = input.split_first() {
            match self.state {
                State::Data => input = self.inflate(input, out)?,
                State::Sniff(first) => {
                    self.sniff(first, *byte, out)?;
                    input = after;
                }
                State::Header { part, .. } => {
                    self.handle_header_byte(part, *byte)?;
                    input = after;
                }
                State::Trailer(bytes, len) => {
                    self.handle_trailer_byte(bytes, len, *byte)?;
                    input = after;
                }
                State::End => return Err(self.fault()),
            }
        }
        Ok(())
    }

    /// Decides between zlib and bare deflate: in zlib the method is 8 and the two bytes are a multiple of 31 (RFC 1950, 2.2).
    fn sniff(
        &mut self,
        first: Option<u8>,
        byte: u8,
        out: &mut Sink<'_>,
    ) -> Result<(), ContentError> {
        let Some(first) = first else {
            self.state = State::Sniff(Some(byte));
            return Ok(());
        };
        let zlib = first & 15 == 8 && u16::from_be_bytes([first, byte]).is_multiple_of(31);
        self.decompress.reset(zlib);
        self.state = State::Data;
        let both = [first, byte];
        let rest = self.inflate(&both, out)?;
        if rest.is_empty() { Ok(()) } else { Err(self.fault()) }
    }

    /// Inflates until the input or the stream ends, and gives the input that was left.
    fn inflate<'i>(
        &mut self,
        mut input: &'i [u8],
        out: &mut Sink<'_>,
    ) -> Result<&'i [u8], ContentError> {
        loop {
            let before = (self.decompress.total_in(), self.decompress.total_out());
            let status = self
                .decompress
                .decompress(input, &mut self.output, FlushDecompress::None)
                .map_err(|_| self.fault())?;
            let taken = (self.decompress.total_in() - before.0) as usize;
            let made = (self.decompress.total_out() - before.1) as usize;
            input = &input[taken..];
            if made > 0 {
                if self.wrapper == Wrapper::Gzip {
                    self.crc.update(&self.output[..made]);
                }
                out(&self.output[..made])?;
            }
            if status == Status::StreamEnd {
                self.state = match self.wrapper {
                    Wrapper::Gzip => State::Trailer([0; 8], 0),
                    Wrapper::ZlibOrNone => State::End,
                };
                return Ok(input);
            }
            if input.is_empty() && made < self.output.len() {
                return Ok(input);
            }
            if taken == 0 && made == 0 {
                return Err(self.fault());
            }
        }
    }

    fn handle_header_byte(&mut self, part: Part, byte: u8) -> Result<(), ContentError> {
        let next = match part {
            Part::Fixed { at, flags } => {
                let wrong = match at {
                    0 => byte != 0x1f,
                    1 => byte != 0x8b,
                    2 => byte != 8,
                    _ => false,
                };
                if wrong {
                    return Err(ContentError::Gzip);
                }
                let flags = if at == 3 { byte } else { flags };
                if at < 9 { Some(Part::Fixed { at: at + 1, flags }) } else { after_fixed(flags) }
            }
            Part::ExtraLen { at: 0, flags, .. } => {
                Some(Part::ExtraLen { at: 1, len: u16::from(byte), flags })
            }
            Part::ExtraLen { len, flags, .. } => match len | u16::from(byte) << 8 {
                0 => after_extra(flags),
                left => Some(Part::Extra { left, flags }),
            },
            Part::Extra { left: 1, flags } => after_extra(flags),
            Part::Extra { left, flags } => Some(Part::Extra { left: left - 1, flags }),
            Part::Name { flags } if byte == 0 => after_name(flags),
            Part::Comment { flags } if byte == 0 => after_comment(flags),
            Part::Name { .. } | Part::Comment { .. } => Some(part),
            Part::Crc { at: 0 } => Some(Part::Crc { at: 1 }),
            Part::Crc { .. } => None,
        };
        self.state = next.map_or(State::Data, |part| State::Header { part, begun: true });
        Ok(())
    }

    fn handle_trailer_byte(
        &mut self,
        mut bytes: [u8; 8],
        len: usize,
        byte: u8,
    ) -> Result<(), ContentError> {
        bytes[len] = byte;
        if len < 7 {
            self.state = State::Trailer(bytes, len + 1);
            return Ok(());
        }
        // RFC 1952, 2.3.1: the checksum and the length modulo 2^32, little endian.
        let expect = u64::from(self.crc.sum()) | u64::from(self.crc.amount()) << 32;
        if u64::from_le_bytes(bytes) != expect {
            return Err(ContentError::Gzip);
        }
        self.reset();
        Ok(())
    }

    const fn fault(&self) -> ContentError {
        match self.wrapper {
            Wrapper::Gzip => ContentError::Gzip,
            Wrapper::ZlibOrNone => ContentError::Deflate,
        }
    }
}

const fn start(wrapper: Wrapper) -> State {
    match wrapper {
        Wrapper::Gzip => MEMBER_START,
        Wrapper::ZlibOrNone => State::Sniff(None),
    }
}

fn after_fixed(flags: u8) -> Option<Part> {
    if flags & FEXTRA != 0 {
        Some(Part::ExtraLen { at: 0, len: 0, flags })
    } else {
        after_extra(flags)
    }
}

fn after_extra(flags: u8) -> Option<Part> {
    if flags & FNAME != 0 { Some(Part::Name { flags }) } else { after_name(flags) }
}

fn after_name(flags: u8) -> Option<Part> {
    if flags & FCOMMENT != 0 { Some(Part::Comment { flags }) } else { after_comment(flags) }
}

fn after_comment(flags: u8) -> Option<Part> {
    (flags & FHCRC != 0).then_some(Part::Crc { at: 0 })
}
