//! Bytes of an HTTP/2 server, given to a client with streams open, whole and in pieces: every stream ends, and the server has no
//! more of our memory or of our bytes than it sent.

use std::sync::Arc;

use stdx::{Prng, mix};
use wire::h1::request::{HeadStyle, RequestSpec, TargetForm};
use wire::h2::{H2Request, H2Session, StreamEvent};
use wire::url::Url;

/// Streams that are open when the bytes come, one of them with a body, and one that was given up.
const STREAMS: usize = 4;
/// The body that one of the streams sends.
const BODY_BYTES: usize = 4096;
/// What one byte of the server may have us send: a PING of 17 bytes has an answer of 17, a frame of 9 a RST_STREAM of 13.
const ANSWER_RATIO: usize = 3;
/// What a list of header fields may be, in bytes, with room for what the crate counts otherwise.
const FIELDS_BYTES_MAX: usize = 512 << 10;

/// What became of the streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StreamTotals {
    /// Heads that came.
    pub(crate) heads: usize,
    /// Bytes of bodies.
    pub(crate) body_bytes: usize,
    /// Responses that came whole.
    pub(crate) ends: usize,
    /// Streams that failed.
    pub(crate) failures: usize,
    /// What the session sent.
    out_bytes: usize,
}

/// Feeds the bytes to a client with streams open, whole and in pieces. Gives what became of the streams when they came whole.
///
/// # Panics
/// A stream does not end, or a bound is passed.
pub(crate) fn check(bytes: &[u8]) -> StreamTotals {
    let seed = bytes.iter().fold(0, |seed, byte| mix(seed, u64::from(*byte)));
    let mut rng = Prng::new(seed);
    feed(bytes, &mut || 1 + rng.below(200) as usize);
    feed(bytes, &mut || bytes.len().max(1))
}

fn feed(bytes: &[u8], piece_len: &mut dyn FnMut() -> usize) -> StreamTotals {
    let mut session = H2Session::client();
    let mut totals = StreamTotals::default();
    let mut numbers = open_streams(&mut session);
    drain(&mut session, &mut totals, &mut numbers);
    let before = totals.out_bytes;
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(piece_len().min(rest.len()));
        if session.handle_bytes(piece).is_err() {
            break;
        }
        drain(&mut session, &mut totals, &mut numbers);
        rest = after;
    }
    // What a server makes us send beyond its answers is the body it gave us the window for.
    let answers = (totals.out_bytes - before).saturating_sub(2 * BODY_BYTES);
    assert!(answers <= 1024 + ANSWER_RATIO * bytes.len(), "{answers} bytes of answers");
    session.handle_eof();
    drain(&mut session, &mut totals, &mut numbers);
    assert_eq!(session.streams_open(), 0, "a stream has no end");
    assert!(numbers.is_empty() && !session.can_open() && session.is_closing());
    assert!(totals.body_bytes <= bytes.len(), "more body than bytes");
    let metered: u64 = (0..STREAMS as u32).map(|stream| session.take_wire_bytes(stream)).sum();
    assert!(metered <= bytes.len() as u64, "{metered} bytes metered");
    totals
}

/// Opens the streams; gives the numbers of those that were not given up.
fn open_streams(session: &mut H2Session) -> Vec<u32> {
    let url = Url::parse("http://a/b?c").expect("a URL");
    let request = |body: Vec<u8>| {
        let spec = RequestSpec {
            method: if body.is_empty() { "GET" } else { "POST" },
            url: &url,
            headers: &[],
            body: Arc::from(body),
            style: HeadStyle::Go,
            keepalive: true,
            chunked: false,
            attack_name: "",
            target_form: TargetForm::Origin,
            proxy_authorization: None,
            user_agent: "brunt",
        };
        H2Request::new(&spec).expect("a request")
    };
    let (get, post) = (request(Vec::new()), request(vec![b'x'; BODY_BYTES]));
    let mut numbers = Vec::new();
    for hit in 0..STREAMS as u64 {
        assert!(session.can_open(), "100 streams before the server's settings");
        let request = if hit == 1 { &post } else { &get };
        numbers.push(session.open(request, hit).expect("a stream"));
    }
    // Its answers, which the bytes may hold, come late.
    session.cancel(numbers.remove(2));
    numbers
}

/// Takes all events and all bytes to send.
fn drain(session: &mut H2Session, totals: &mut StreamTotals, numbers: &mut Vec<u32>) {
    let mut out = Vec::new();
    loop {
        while let Some((number, event)) = session.poll_event() {
            assert!(numbers.contains(&number), "an event of a stream that has ended");
            match event {
                StreamEvent::Head { headers, .. } => {
                    let lens =
                        headers.iter().map(|(name, value)| name.as_str().len() + value.len());
                    let fields: usize = lens.sum();
                    assert!(fields <= FIELDS_BYTES_MAX, "{fields} bytes of fields");
                    totals.heads += 1;
                }
                StreamEvent::Data(data) => totals.body_bytes += data.len(),
                StreamEvent::End { .. } => {
                    totals.ends += 1;
                    numbers.retain(|other| *other != number);
                }
                StreamEvent::Failed(_) => {
                    totals.failures += 1;
                    numbers.retain(|other| *other != number);
                }
            }
        }
        if !session.poll_transmit(&mut out) {
            break;
        }
    }
    totals.out_bytes += out.len();
}
