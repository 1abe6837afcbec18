//! brotli (RFC 7932). Large windows, which HTTP does not know, are refused.

use std::fmt;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState};

use super::counted::CountedAlloc;
use super::error::ContentError;
use super::output::{Sink, output_buffer};

/// Decodes one brotli stream after the other.
pub(super) struct Brotli {
    state: BrotliState<CountedAlloc, CountedAlloc, CountedAlloc>,
    output: Box<[u8]>,
    finished: bool,
}

impl Default for Brotli {
    fn default() -> Self {
        Self { state: new_state(), output: output_buffer(), finished: false }
    }
}

impl Brotli {
    pub(super) fn reset(&mut self) {
        self.state = new_state();
        self.finished = false;
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    pub(super) fn decode(&mut self, input: &[u8], out: &mut Sink<'_>) -> Result<(), ContentError> {
        let (mut left, mut at, mut total) = (input.len(), 0, 0);
        while !self.finished {
            let (mut room, mut made) = (self.output.len(), 0);
            let result = BrotliDecompressStream(
                &mut left,
                &mut at,
                input,
                &mut room,
                &mut made,
                &mut self.output,
                &mut total,
                &mut self.state,
            );
            if self.state.alloc_u8.is_refused() || self.state.alloc_hc.is_refused() {
                // Frees what it took.
                self.reset();
                return Err(ContentError::Memory);
            }
            if made > 0 {
                out(&self.output[..made])?;
            }
            match result {
                BrotliResult::NeedsMoreOutput => {}
                BrotliResult::NeedsMoreInput => return Ok(()),
                BrotliResult::ResultSuccess => self.finished = true,
                BrotliResult::ResultFailure => return Err(ContentError::Brotli),
            }
        }
        if left > 0 { Err(ContentError::Brotli) } else { Ok(()) }
    }
}

impl fmt::Debug for Brotli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Brotli").field("finished", &self.finished).finish_non_exhaustive()
    }
}

fn new_state() -> BrotliState<CountedAlloc, CountedAlloc, CountedAlloc> {
    BrotliState::new_strict(
        CountedAlloc::default(),
        CountedAlloc::default(),
        CountedAlloc::default(),
    )
}
