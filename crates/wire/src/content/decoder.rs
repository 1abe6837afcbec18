//! `ContentDecoder`: a body's codings undone one after the other, in bounded memory.

use super::brotli::Brotli;
use super::coding::{Coding, Codings};
use super::error::{BOMB_BYTES, BOMB_RATIO, ContentError};
use super::inflate::{Inflate, Wrapper};
use super::output::Sink;
use super::zstd::Zstd;

/// Decodes one body after the other. Holds about 64 KiB once it met gzip or deflate, up to 17 MiB for brotli, up to 9 MiB
/// for zstd (their windows), and keeps that for the next body of the same codings.
#[derive(Debug, Default)]
pub struct ContentDecoder {
    /// The coding that was applied last comes first.
    stages: Vec<Stage>,
    /// Whether `stages` are in use; a body that is not coded leaves them for the next one.
    coded: bool,
    budget: Budget,
}

/// The decoder of one coding.
#[derive(Debug)]
enum Stage {
    Gzip(Inflate),
    Deflate(Inflate),
    Brotli(Box<Brotli>),
    Zstd(Box<Zstd>),
}

impl ContentDecoder {
    /// A decoder for a body with these codings.
    ///
    /// # Errors
    /// A coding is unknown.
    pub fn new(codings: &Codings) -> Result<Self, ContentError> {
        let mut decoder = Self::default();
        decoder.reset(codings)?;
        Ok(decoder)
    }

    /// Whether it decodes these codings without taking memory for them.
    #[must_use]
    pub fn fits(&self, codings: &Codings) -> bool {
        codings.iter().rev().eq(self.stages.iter().map(Stage::coding))
    }

    /// Whether it holds windows of megabytes: those of brotli or zstd.
    #[must_use]
    pub fn is_large(&self) -> bool {
        self.stages.iter().any(|stage| matches!(stage, Stage::Brotli(_) | Stage::Zstd(_)))
    }

    /// Makes ready for another body; keeps the memory if the codings are the same as before.
    ///
    /// # Errors
    /// A coding is unknown; the body must be taken as it is.
    pub fn reset(&mut self, codings: &Codings) -> Result<(), ContentError> {
        self.budget = Budget::default();
        self.coded = !codings.is_identity();
        if !self.coded {
            return Ok(());
        }
        if self.fits(codings) {
            self.stages.iter_mut().for_each(Stage::reset);
            return Ok(());
        }
        self.stages.clear();
        for coding in codings.iter().rev() {
            self.stages.push(Stage::new(coding)?);
        }
        Ok(())
    }

    /// Decodes a part of the body. `out` is called with pieces; none is larger than 9 MiB, most are 16 KiB.
    ///
    /// # Errors
    /// The stream is broken or a bomb; the decoder is of no use until [`ContentDecoder::reset`].
    pub fn decode(&mut self, input: &[u8], out: &mut dyn FnMut(&[u8])) -> Result<(), ContentError> {
        if !self.coded {
            out(input);
            return Ok(());
        }
        self.budget.encoded += input.len() as u64;
        feed(&mut self.stages, &mut self.budget, input, out)
    }

    /// The body ended. A body without a single byte is whole, whatever its coding.
    ///
    /// # Errors
    /// The stream did not.
    pub fn finish(&mut self) -> Result<(), ContentError> {
        if !self.coded || self.budget.encoded == 0 {
            return Ok(());
        }
        let whole = self.stages.iter().all(Stage::is_finished);
        if whole { Ok(()) } else { Err(ContentError::Truncated) }
    }
}

/// Sends bytes through the stages and on to `out`; what every stage gives is counted.
fn feed(
    stages: &mut [Stage],
    budget: &mut Budget,
    input: &[u8],
    out: &mut dyn FnMut(&[u8]),
) -> Result<(), ContentError> {
    let Some((stage, rest)) = stages.split_first_mut() else {
        out(input);
        return Ok(());
    };
    stage.decode(input, &mut |bytes| {
        budget.spend(bytes.len())?;
        feed(rest, budget, bytes, out)
    })
}

impl Stage {
    fn new(coding: Coding) -> Result<Self, ContentError> {
        match coding {
            Coding::Gzip => Ok(Self::Gzip(Inflate::new(Wrapper::Gzip))),
            Coding::Deflate => Ok(Self::Deflate(Inflate::new(Wrapper::ZlibOrNone))),
            Coding::Brotli => Ok(Self::Brotli(Box::default())),
            Coding::Zstd => Ok(Self::Zstd(Box::default())),
            Coding::Unknown => Err(ContentError::Unsupported),
        }
    }

    const fn coding(&self) -> Coding {
        match self {
            Self::Gzip(_) => Coding::Gzip,
            Self::Deflate(_) => Coding::Deflate,
            Self::Brotli(_) => Coding::Brotli,
            Self::Zstd(_) => Coding::Zstd,
        }
    }

    fn reset(&mut self) {
        match self {
            Self::Gzip(inflate) | Self::Deflate(inflate) => inflate.reset(),
            Self::Brotli(brotli) => brotli.reset(),
            Self::Zstd(zstd) => zstd.reset(),
        }
    }

    fn decode(&mut self, input: &[u8], out: &mut Sink<'_>) -> Result<(), ContentError> {
        match self {
            Self::Gzip(inflate) | Self::Deflate(inflate) => inflate.decode(input, out),
            Self::Brotli(brotli) => brotli.decode(input, out),
            Self::Zstd(zstd) => zstd.decode(input, out),
        }
    }

    fn is_finished(&self) -> bool {
        match self {
            Self::Gzip(inflate) | Self::Deflate(inflate) => inflate.is_finished(),
            Self::Brotli(brotli) => brotli.is_finished(),
            Self::Zstd(zstd) => zstd.is_finished(),
        }
    }
}

/// Encoded bytes taken in and decoded bytes given out, those between two stages included.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Budget {
    pub(super) encoded: u64,
    pub(super) decoded: u64,
}

impl Budget {
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), ContentError> {
        self.decoded += bytes as u64;
        let bomb =
            self.decoded > BOMB_BYTES && self.decoded > self.encoded.saturating_mul(BOMB_RATIO);
        if bomb { Err(ContentError::Bomb) } else { Ok(()) }
    }
}
