//! One response of a connection, decoded whole and in pieces: both must come to the same.

use stdx::{Prng, mix};
use wire::h1::response::{DecodeError, Head, RequestMethod, ResponseDecoder, ResponseSink};

/// What a response came to: its status and body, and how many bytes it had on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decoded {
    /// The status.
    pub(crate) status: u16,
    /// The body without framing.
    pub(crate) body: Vec<u8>,
    /// Bytes of the connection that belonged to the response.
    pub(crate) consumed: usize,
    heads: u32,
}

impl ResponseSink for Decoded {
    fn head(&mut self, head: &Head<'_>) {
        self.status = head.status;
        self.heads += 1;
    }
    fn body(&mut self, bytes: &[u8]) {
        assert_eq!(self.heads, 1, "a body before its head");
        self.body.extend_from_slice(bytes);
    }
}

/// Decodes the bytes as the answer to each kind of request, whole and in pieces. Gives what the answer to a GET was.
///
/// # Panics
/// The pieces make a difference, or the decoder breaks its word.
pub(crate) fn check(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    for method in [RequestMethod::Head, RequestMethod::Connect] {
        // Only the comparison counts here; whether it is a response is asked below.
        let _ = compare(bytes, method);
    }
    compare(bytes, RequestMethod::Other)
}

fn compare(bytes: &[u8], method: RequestMethod) -> Result<Decoded, DecodeError> {
    let whole = decode(bytes, method, &mut || bytes.len().max(1));
    let bytewise = decode(bytes, method, &mut || 1);
    let seed = bytes.iter().fold(0, |seed, byte| mix(seed, u64::from(*byte)));
    let mut rng = Prng::new(seed);
    let cut = decode(bytes, method, &mut || 1 + rng.below(40) as usize);
    for pieces in [bytewise, cut] {
        assert_eq!(pieces.is_ok(), whole.is_ok(), "{whole:?} {pieces:?}");
        if let (Ok(whole), Ok(pieces)) = (&whole, &pieces) {
            assert_eq!(whole, pieces);
        }
    }
    whole
}

/// Decodes pieces of these lengths until the response is complete or the bytes end.
fn decode(
    bytes: &[u8],
    method: RequestMethod,
    piece_len: &mut dyn FnMut() -> usize,
) -> Result<Decoded, DecodeError> {
    let (mut decoder, mut decoded) = (ResponseDecoder::new(), Decoded::default());
    decoder.begin(method);
    let mut rest = bytes;
    while !rest.is_empty() {
        let piece = &rest[..piece_len().min(rest.len())];
        let progress = decoder.handle_bytes(piece, &mut decoded)?;
        assert!(progress.consumed <= piece.len());
        decoded.consumed += progress.consumed;
        if progress.done {
            assert_eq!(decoded.heads, 1, "a response without a head");
            assert_eq!(decoder.status(), decoded.status);
            return Ok(decoded);
        }
        assert_eq!(progress.consumed, piece.len(), "it stopped early without being done");
        rest = &rest[piece.len()..];
    }
    decoder.handle_eof(&mut decoded)?;
    assert!(!decoder.can_reuse(), "the connection has ended");
    Ok(decoded)
}
