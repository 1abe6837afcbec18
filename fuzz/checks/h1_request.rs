//! The requests of one connection as `serve` gets them, whole and in pieces: both must come to the same requests.

use stdx::{Prng, mix};
use wire::h1::server::{HEADERS_MAX, RequestDecoder, RequestFault, RequestHead, RequestSink};

/// The requests of a connection, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requests {
    /// Each complete request: method, target and body.
    pub(crate) complete: Vec<(String, String, Vec<u8>)>,
    /// Why the bytes are no request any more.
    pub(crate) fault: Option<RequestFault>,
    is_idle: bool,
}

/// The request under way.
#[derive(Debug, Default)]
struct OpenRequest {
    heads: u32,
    request: (String, String, Vec<u8>),
}

impl RequestSink for OpenRequest {
    fn head(&mut self, head: &RequestHead<'_>) {
        assert!(head.headers.len() <= HEADERS_MAX);
        assert!(!head.target.contains(['\r', '\n', ' ']) && !head.method.is_empty());
        self.heads += 1;
        self.request = (head.method.to_owned(), head.target.to_owned(), Vec::new());
    }
    fn body(&mut self, bytes: &[u8]) {
        assert_eq!(self.heads, 1, "a body before its head");
        self.request.2.extend_from_slice(bytes);
    }
}

/// Decodes the bytes whole and in pieces; gives the requests.
///
/// # Panics
/// The pieces make a difference, or the decoder breaks its word.
pub(crate) fn check(bytes: &[u8]) -> Requests {
    // A head that cannot be one is refused at the latest where it ends, so each is made to end.
    let bytes = &[bytes, b"\r\n\r\n"].concat();
    let whole = decode(bytes, &mut || bytes.len());
    let bytewise = decode(bytes, &mut || 1);
    let seed = bytes.iter().fold(0, |seed, byte| mix(seed, u64::from(*byte)));
    let mut rng = Prng::new(seed);
    let pieces = decode(bytes, &mut || 1 + rng.below(40) as usize);
    assert_eq!(whole, bytewise);
    assert_eq!(whole, pieces);
    whole
}

fn decode(bytes: &[u8], piece_len: &mut dyn FnMut() -> usize) -> Requests {
    let (mut decoder, mut requests) = (RequestDecoder::new(), Requests::default());
    let mut open = OpenRequest::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (mut piece, after) = rest.split_at(piece_len().min(rest.len()));
        rest = after;
        while !piece.is_empty() {
            let progress = match decoder.handle_bytes(piece, &mut open) {
                Ok(progress) => progress,
                Err(fault) => {
                    assert_eq!(decoder.handle_bytes(b"x", &mut open), Err(fault), "it goes on");
                    requests.fault = Some(fault);
                    return requests;
                }
            };
            assert!(progress.consumed <= piece.len());
            piece = &piece[progress.consumed..];
            if progress.done {
                let open = std::mem::take(&mut open);
                assert_eq!(open.heads, 1, "a request without a head");
                requests.complete.push(open.request);
            } else {
                assert!(piece.is_empty(), "it stopped early without being done");
            }
        }
    }
    requests.is_idle = decoder.is_idle();
    requests
}
