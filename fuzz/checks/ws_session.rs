//! Bytes of a peer, given to sessions of both sides, whole and in pieces: both must come to the same.

use stdx::{Prng, mix};
use wire::ws::{Agreed, DeflateParams, Event, Limits, Role, Takeover, WsError, WsSession};

/// No message is larger than this, in bytes.
const MESSAGE_MAX: usize = 1 << 16;

/// The result of a session that was fed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionOutcome {
    /// The events, printed.
    pub(crate) events: Vec<String>,
    /// The session's bytes to the peer.
    pub(crate) out: Vec<u8>,
    /// Whether the protocol was broken.
    pub(crate) fault: Option<WsError>,
}

/// Feeds the bytes to both sides, with and without deflate. Gives the outcome of a client without deflate.
///
/// # Panics
/// The pieces make a difference, or a limit is passed.
pub(crate) fn check(bytes: &[u8]) -> SessionOutcome {
    for takeover in [Takeover::Kept, Takeover::Dropped] {
        let deflate = Some(DeflateParams { server: takeover, client: takeover });
        for role in [Role::Client, Role::Server] {
            compare(bytes, role, &Agreed { deflate, ..Agreed::default() });
        }
    }
    compare(bytes, Role::Server, &Agreed::default());
    compare(bytes, Role::Client, &Agreed::default())
}

fn compare(bytes: &[u8], role: Role, agreed: &Agreed) -> SessionOutcome {
    let whole = outcome(bytes, role, agreed, &mut || bytes.len().max(1));
    let bytewise = outcome(bytes, role, agreed, &mut || 1);
    let seed = bytes.iter().fold(0, |seed, byte| mix(seed, u64::from(*byte)));
    let mut rng = Prng::new(seed);
    let pieces = outcome(bytes, role, agreed, &mut || 1 + rng.below(40) as usize);
    for cut in [&bytewise, &pieces] {
        // A message may be too long, corrupt and no UTF-8: which of it shows first, and whether before all of it came, is a matter of
        // the pieces, and so is the close code.
        if !is_bad_message(&whole) && !is_bad_message(cut) {
            assert_eq!(&whole, cut);
        }
        assert_eq!(whole.events, cut.events);
    }
    whole
}

fn is_bad_message(outcome: &SessionOutcome) -> bool {
    matches!(outcome.fault, Some(WsError::Inflate | WsError::TooBig(_) | WsError::Utf8))
}

fn outcome(
    bytes: &[u8],
    role: Role,
    agreed: &Agreed,
    piece_len: &mut dyn FnMut() -> usize,
) -> SessionOutcome {
    let limits = Limits { message_bytes_max: MESSAGE_MAX, ..Limits::default() };
    let mut session = WsSession::new(role, agreed, limits, 1);
    let (mut events, mut out, mut rest) = (Vec::new(), Vec::new(), bytes);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(piece_len().min(rest.len()));
        let result = session.handle_bytes(piece, &mut out, &mut |event| {
            if let Event::Text(text) = event {
                assert!(text.len() <= MESSAGE_MAX);
            }
            events.push(format!("{event:?}"));
        });
        if let Err(fault) = result {
            return SessionOutcome { events, out, fault: Some(fault) };
        }
        rest = after;
    }
    assert!(out.len() <= 4 * bytes.len() + 8, "answers are bounded");
    SessionOutcome { events, out, fault: None }
}
