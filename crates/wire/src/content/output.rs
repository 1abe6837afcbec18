//! Where the decoders of all codings put their output.

use super::error::ContentError;

/// Where a decoder's output goes.
pub(super) type Sink<'s> = dyn FnMut(&[u8]) -> Result<(), ContentError> + 's;

/// Room for what a decoder gives at once: 16 KiB.
const OUTPUT_BYTES: usize = 16 << 10;

pub(super) fn output_buffer() -> Box<[u8]> {
    vec![0; OUTPUT_BYTES].into_boxed_slice()
}
