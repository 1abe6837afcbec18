//! Header lines as a WebSocket handshake: as a server's answer to each kind of client, and as a client's request. And each line as
//! the list of extensions in an answer that is right but for it.

use wire::ws::{DeflateAnswer, DeflateOffer, HandshakeError, Offer, Protocols, Refusal, accept};

/// What a client with both compression and subprotocols makes of an answer, and a server of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Handshake {
    /// Whether the client took it for an answer, and its subprotocol.
    pub(crate) answer: Result<Option<String>, HandshakeError>,
    /// Whether the server took it for a request, and its subprotocol.
    pub(crate) request: Result<Option<String>, Refusal>,
    /// Lines that are an answer's list of extensions.
    pub(crate) lists: usize,
}

/// The answer to the key that is made of these random bytes, as the seeds have it.
const RANDOM: [u8; 16] = *b"the sample nonce";
/// RFC 6455, 1.3.
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
const OFFERS: [DeflateOffer; 3] =
    [DeflateOffer::None, DeflateOffer::Plain, DeflateOffer::NoTakeover];

/// Gives the lines to clients and servers of every kind.
///
/// # Panics
/// What was not offered is agreed upon, or a server's answer holds more than it should.
pub(crate) fn check(bytes: &[u8]) -> Handshake {
    let offer = |deflate| {
        let protocols = vec!["a".to_owned(), "graphql-ws".to_owned()];
        Offer::new(RANDOM, protocols, deflate).expect("two tokens")
    };
    let mut answers = OFFERS.map(|deflate| {
        let answer = offer(deflate).check_head(101, bytes);
        if let Ok(agreed) = &answer {
            assert!(deflate != DeflateOffer::None || agreed.deflate.is_none());
            assert!(matches!(agreed.protocol.as_deref(), None | Some("a" | "graphql-ws")));
        }
        answer.map(|agreed| agreed.protocol)
    });
    let mut lists = 0;
    for line in bytes.split(|byte| *byte == b'\n').take(100) {
        let head = head_with_extensions(line);
        lists += usize::from(offer(DeflateOffer::NoTakeover).check_head(101, &head).is_ok());
    }
    let request = check_request(bytes);
    let [_, _, answer] = std::mem::replace(&mut answers, OFFERS.map(|_| Ok(None)));
    Handshake { answer, request, lists }
}

fn head_with_extensions(list: &[u8]) -> Vec<u8> {
    let before = format!(
        "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {ACCEPT}\r\nSec-WebSocket-Extensions: "
    );
    [before.as_bytes(), list, b"\r\n\r\n"].concat()
}

/// Takes the lines for a client's request; an answer to it must be one message with nothing of the client's making.
fn check_request(bytes: &[u8]) -> Result<Option<String>, Refusal> {
    let lines = || bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let fields = || {
        lines().filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
        })
    };
    let servers = [
        (Protocols::Of(&["a", "b"]), DeflateAnswer::Refuse),
        (Protocols::Of(&[]), DeflateAnswer::AcceptNoTakeover),
        (Protocols::Any, DeflateAnswer::Accept),
    ];
    let mut last = Err(Refusal::Upgrade);
    for (protocols, deflate) in servers {
        let answer = accept(fields(), protocols, deflate);
        if let Ok((response, agreed)) = &answer {
            let text = std::str::from_utf8(response).expect("an answer in ASCII");
            assert!(text.ends_with("\r\n\r\n") && text.matches("\r\n\r\n").count() == 1);
            assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
            assert!(text.lines().count() <= 7, "{text}");
            assert!(deflate != DeflateAnswer::Refuse || agreed.deflate.is_none());
        }
        last = answer.map(|(_, agreed)| agreed.protocol);
    }
    last
}
