//! The opening handshake: what a client offers and how it checks the answer, and how a server answers. RFC 6455, 4.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest as _, Sha1};
use thiserror::Error;

use super::extension::{DeflateParams, Extension, Takeover, is_token};

/// What the key is hashed with. RFC 6455, 1.3.
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// The only version. RFC 6455, 4.1.
const VERSION: &str = "13";
/// The most bytes of a list field that are looked at: 4 KiB.
const LIST_MAX: usize = 4 << 10;

/// What a client offers about compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeflateOffer {
    /// No extension.
    #[default]
    None,
    /// `permessage-deflate`: the window goes on from message to message.
    Plain,
    /// `permessage-deflate; server_no_context_takeover; client_no_context_takeover`, which k6 sends.
    NoTakeover,
}

/// A client's side of one handshake: its key and what it offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    key: String,
    protocols: Vec<String>,
    deflate: DeflateOffer,
}

/// What both sides agreed upon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// The subprotocol, if one was chosen.
    pub protocol: Option<String>,
    /// permessage-deflate, if it was agreed upon.
    pub deflate: Option<DeflateParams>,
    /// The text of `Sec-WebSocket-Extensions` in the answer; empty without one.
    pub extensions: String,
}

/// A subprotocol that cannot be offered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OfferError {
    /// It is no token (RFC 9110, 5.6.2), or is offered twice.
    #[error("subprotocol {0:?} is not a token, or occurs twice")]
    Protocol(String),
}

/// Why an answer opens no WebSocket. The connection must be closed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HandshakeError {
    /// The status is not 101: it is an answer like any other.
    #[error("handshake refused with status {0}")]
    Status(u16),
    /// `Upgrade` is not `websocket`.
    #[error("no \"Upgrade: websocket\" in the answer")]
    Upgrade,
    /// `Connection` does not say `Upgrade`.
    #[error("no \"Connection: Upgrade\" in the answer")]
    Connection,
    /// `Sec-WebSocket-Accept` is missing, there twice, or not made from our key.
    #[error("wrong Sec-WebSocket-Accept")]
    Accept,
    /// A subprotocol that was not offered.
    #[error("subprotocol {0:?} was not offered")]
    Protocol(String),
    /// An extension that was not offered, or parameters that do not answer what was.
    #[error("extensions {0:?} do not answer what was offered")]
    Extensions(String),
}

/// Why a request is no WebSocket handshake. Answer with [`Refusal::status`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// It asks for no upgrade to WebSocket.
    #[error("not a WebSocket handshake")]
    Upgrade,
    /// Another version than 13.
    #[error("unsupported WebSocket version")]
    Version,
    /// The key is missing, there twice, or not of 16 bytes.
    #[error("bad Sec-WebSocket-Key")]
    Key,
}

/// The subprotocols a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocols<'a> {
    /// Whatever the client names first.
    Any,
    /// The client's first one among these; none if the client offers none of them.
    Of(&'a [&'a str]),
}

/// Whether a server compresses for clients that offer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeflateAnswer {
    /// Never.
    Refuse,
    /// As the client offers.
    Accept,
    /// And drops its own window after each message even where the client does not ask for that.
    AcceptNoTakeover,
}

impl Offer {
    /// An offer with a key of these 16 random bytes.
    ///
    /// # Errors
    /// A subprotocol is no token, or is there twice.
    pub fn new(
        random: [u8; 16],
        protocols: Vec<String>,
        deflate: DeflateOffer,
    ) -> Result<Self, OfferError> {
        for (at, protocol) in protocols.iter().enumerate() {
            if !is_token(protocol) || protocols[..at].contains(protocol) {
                return Err(OfferError::Protocol(protocol.clone()));
            }
        }
        Ok(Self { key: STANDARD.encode(random), protocols, deflate })
    }

    /// The request's header fields; `Host` and all others are the caller's. The request is a GET of HTTP/1.1.
    #[must_use]
    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![
            ("Upgrade", "websocket".to_owned()),
            ("Connection", "Upgrade".to_owned()),
            ("Sec-WebSocket-Key", self.key.clone()),
            ("Sec-WebSocket-Version", VERSION.to_owned()),
        ];
        if !self.protocols.is_empty() {
            fields.push(("Sec-WebSocket-Protocol", self.protocols.join(", ")));
        }
        if let Some(params) = self.deflate.params() {
            fields.push(("Sec-WebSocket-Extensions", params.text()));
        }
        fields
    }

    /// Checks the answer's status and header fields. RFC 6455, 4.1.
    ///
    /// # Errors
    /// What of the answer is not as it must be; the first in the order of [`HandshakeError`].
    pub fn check<'h>(
        &self,
        status: u16,
        headers: impl IntoIterator<Item = (&'h [u8], &'h [u8])>,
    ) -> Result<Agreed, HandshakeError> {
        if status != 101 {
            return Err(HandshakeError::Status(status));
        }
        let found = HandshakeFields::scan(headers);
        if !has_token(&found.upgrade, "websocket") {
            return Err(HandshakeError::Upgrade);
        }
        if !has_token(&found.connection, "upgrade") {
            return Err(HandshakeError::Connection);
        }
        if found.accept != [accept_key(self.key.as_bytes()).as_bytes()] {
            return Err(HandshakeError::Accept);
        }
        let (deflate, extensions) = self.check_extensions(&found)?;
        Ok(Agreed { protocol: self.check_protocol(&found)?, deflate, extensions })
    }

    /// Checks the head of an answer: its status line and its header lines, each ended by CR LF.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_head(&self, status: u16, head: &[u8]) -> Result<Agreed, HandshakeError> {
        self.check(status, fields(head))
    }

    fn check_protocol(
        &self,
        found: &HandshakeFields<'_>,
    ) -> Result<Option<String>, HandshakeError> {
        if found.protocols.is_empty() {
            return Ok(None);
        }
        let text = joined(&found.protocols);
        if self.protocols.contains(&text) {
            Ok(Some(text))
        } else {
            Err(HandshakeError::Protocol(text))
        }
    }

    fn check_extensions(
        &self,
        found: &HandshakeFields<'_>,
    ) -> Result<(Option<DeflateParams>, String), HandshakeError> {
        let text = joined(&found.extensions);
        let wrong = || HandshakeError::Extensions(text.clone());
        let members = Extension::parse_list(&text).ok_or_else(wrong)?;
        match members.as_slice() {
            [] => Ok((None, String::new())),
            [one] if self.deflate != DeflateOffer::None => {
                let params = one.agree().ok_or_else(wrong)?;
                Ok((Some(self.deflate.kept_to(params)), text))
            }
            _ => Err(wrong()),
        }
    }
}

impl DeflateOffer {
    fn params(self) -> Option<DeflateParams> {
        let takeover = match self {
            Self::None => return None,
            Self::Plain => Takeover::Kept,
            Self::NoTakeover => Takeover::Dropped,
        };
        Some(DeflateParams { server: takeover, client: takeover })
    }

    /// What holds after the server's answer: a client that offered to drop its own window may do so in any case.
    fn kept_to(self, answer: DeflateParams) -> DeflateParams {
        match self {
            Self::NoTakeover => DeflateParams { client: Takeover::Dropped, ..answer },
            Self::None | Self::Plain => answer,
        }
    }
}

/// Answers a client's handshake: the whole response, 101, and what was agreed upon. The request must be a GET of HTTP/1.1,
/// which is for the caller to see.
///
/// # Errors
/// The request's header fields are no handshake; answer with the refusal's status instead.
pub fn accept<'h>(
    headers: impl IntoIterator<Item = (&'h [u8], &'h [u8])>,
    protocols: Protocols<'_>,
    deflate: DeflateAnswer,
) -> Result<(Vec<u8>, Agreed), Refusal> {
    let found = HandshakeFields::scan(headers);
    if !has_token(&found.upgrade, "websocket") || !has_token(&found.connection, "upgrade") {
        return Err(Refusal::Upgrade);
    }
    if found.versions != [VERSION.as_bytes()] {
        return Err(Refusal::Version);
    }
    let [key] = found.keys[..] else { return Err(Refusal::Key) };
    if STANDARD.decode(key).map_or(0, |bytes| bytes.len()) != 16 {
        return Err(Refusal::Key);
    }
    let protocol = protocols.choose(&joined(&found.protocols));
    let deflate = deflate.choose(&joined(&found.extensions));
    let extensions = deflate.map(DeflateParams::text).unwrap_or_default();
    let agreed = Agreed { protocol, deflate, extensions };
    Ok((response(&accept_key(key), &agreed), agreed))
}

fn response(accept: &str, agreed: &Agreed) -> Vec<u8> {
    let mut text = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n"
    );
    let protocol = agreed.protocol.as_deref().unwrap_or_default();
    let fields =
        [("Sec-WebSocket-Protocol", protocol), ("Sec-WebSocket-Extensions", &agreed.extensions)];
    for (name, value) in fields.into_iter().filter(|field| !field.1.is_empty()) {
        text.extend([name, ": ", value, "\r\n"]);
    }
    text.push_str("\r\n");
    text.into_bytes()
}

impl Refusal {
    /// The status to answer with. With 426 belongs `Sec-WebSocket-Version: 13` (RFC 6455, 4.4).
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Upgrade | Self::Version => 426,
            Self::Key => 400,
        }
    }
}

impl Protocols<'_> {
    fn choose(self, offered: &str) -> Option<String> {
        let mut names = offered.split(',').map(str::trim).filter(|name| is_token(name));
        let name = match self {
            Self::Any => names.next(),
            Self::Of(ours) => names.find(|name| ours.contains(name)),
        };
        name.map(str::to_owned)
    }
}

impl DeflateAnswer {
    /// The first offer that can be agreed to.
    fn choose(self, offered: &str) -> Option<DeflateParams> {
        let offers = Extension::parse_list(offered)?;
        let params = offers.iter().find_map(Extension::accept)?;
        match self {
            Self::Refuse => None,
            Self::Accept => Some(params),
            Self::AcceptNoTakeover => Some(DeflateParams { server: Takeover::Dropped, ..params }),
        }
    }
}

/// The fields that a handshake is about, as often as they are there.
#[derive(Debug, Default)]
struct HandshakeFields<'h> {
    upgrade: Vec<&'h [u8]>,
    connection: Vec<&'h [u8]>,
    accept: Vec<&'h [u8]>,
    keys: Vec<&'h [u8]>,
    versions: Vec<&'h [u8]>,
    protocols: Vec<&'h [u8]>,
    extensions: Vec<&'h [u8]>,
}

impl<'h> HandshakeFields<'h> {
    fn scan(headers: impl IntoIterator<Item = (&'h [u8], &'h [u8])>) -> Self {
        let mut found = Self::default();
        for (name, value) in headers {
            let list = match name.to_ascii_lowercase().as_slice() {
                b"upgrade" => &mut found.upgrade,
                b"connection" => &mut found.connection,
                b"sec-websocket-accept" => &mut found.accept,
                b"sec-websocket-key" => &mut found.keys,
                b"sec-websocket-version" => &mut found.versions,
                b"sec-websocket-protocol" => &mut found.protocols,
                b"sec-websocket-extensions" => &mut found.extensions,
                _ => continue,
            };
            list.push(value.trim_ascii());
        }
        found
    }
}

/// Whether one of a list field's members is this token, in any case.
fn has_token(values: &[&[u8]], token: &str) -> bool {
    let mut members = values.iter().flat_map(|value| value.split(|byte| *byte == b','));
    members.any(|member| member.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

/// A list field's values as one text. RFC 9110, 5.3. It is cut where only a hostile peer gets to.
fn joined(values: &[&[u8]]) -> String {
    let mut bytes = values.join(&b", "[..]);
    bytes.truncate(LIST_MAX);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// RFC 6455, 4.2.2, 5: the key and the GUID, hashed.
fn accept_key(key: &[u8]) -> String {
    STANDARD.encode(Sha1::new().chain_update(key).chain_update(GUID).finalize())
}

/// The header fields of a response's head.
fn fields(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let lines = head.split(|byte| *byte == b'\n').skip(1);
    lines.filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The RFC's key and what it is answered with (RFC 6455, 1.3).
    const NONCE: [u8; 16] = *b"the sample nonce";
    const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
    const GOOD: [(&str, &str); 3] = [
        ("Upgrade", "WebSocket"),
        ("Connection", "keep-alive, Upgrade"),
        ("Sec-WebSocket-Accept", ACCEPT),
    ];

    fn pairs<'h>(fields: &'h [(&'h str, &'h str)]) -> Vec<(&'h [u8], &'h [u8])> {
        fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect()
    }

    fn offer(deflate: DeflateOffer) -> Offer {
        Offer::new(NONCE, vec!["chat".into(), "superchat".into()], deflate).expect("an offer")
    }

    #[test]
    fn the_sample_of_the_rfc() {
        let offer = offer(DeflateOffer::NoTakeover);
        let expect = [
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Protocol", "chat, superchat"),
            (
                "Sec-WebSocket-Extensions",
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
            ),
        ];
        assert_eq!(offer.fields(), expect.map(|(name, value)| (name, value.to_owned())));
        let fields = [&GOOD[..], &[("sec-websocket-protocol", " chat ")]].concat();
        let agreed = offer.check(101, pairs(&fields)).expect("agreed");
        assert_eq!(agreed, Agreed { protocol: Some("chat".into()), ..Agreed::default() });
    }

    #[test]
    fn answers_that_open_nothing() {
        use HandshakeError as E;
        let text = str::to_owned;
        let cases: [(&[(&str, &str)], &[(&str, &str)], E); 9] = [
            (&GOOD[1..], &[], E::Upgrade),
            (&GOOD[1..], &[("Upgrade", "h2c")], E::Upgrade),
            (&GOOD[..1], &[("Connection", "Upgraded")], E::Connection),
            (&GOOD[..2], &[], E::Accept),
            (&GOOD[..2], &[("Sec-WebSocket-Accept", "S3PPLMBITXAQ9KYGZZHZRBK+XOO=")], E::Accept),
            (&GOOD, &[("Sec-WebSocket-Accept", ACCEPT)], E::Accept),
            (&GOOD, &[("Sec-WebSocket-Protocol", "other")], E::Protocol(text("other"))),
            (&GOOD, &[("Sec-WebSocket-Extensions", "x")], E::Extensions(text("x"))),
            (
                &GOOD,
                &[("Sec-WebSocket-Extensions", "permessage-deflate, permessage-deflate")],
                E::Extensions(text("permessage-deflate, permessage-deflate")),
            ),
        ];
        for (some, more, error) in cases {
            let fields = [some, more].concat();
            assert_eq!(
                offer(DeflateOffer::Plain).check(101, pairs(&fields)),
                Err(error),
                "{fields:?}"
            );
        }
        assert_eq!(offer(DeflateOffer::Plain).check(403, []), Err(E::Status(403)));
        let fields = [&GOOD[..], &[("Sec-WebSocket-Extensions", "permessage-deflate")]].concat();
        let unasked = offer(DeflateOffer::None).check(101, pairs(&fields));
        assert_eq!(unasked, Err(E::Extensions(text("permessage-deflate"))));
    }

    #[test]
    fn both_sides_agree() {
        let answers =
            [DeflateAnswer::Refuse, DeflateAnswer::Accept, DeflateAnswer::AcceptNoTakeover];
        for deflate in [DeflateOffer::None, DeflateOffer::Plain, DeflateOffer::NoTakeover] {
            for answer in answers {
                let offer = offer(deflate);
                let asked = offer.fields();
                let asked: Vec<(&str, &str)> =
                    asked.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let (bytes, server) =
                    accept(pairs(&asked), Protocols::Of(&["superchat"]), answer).expect("accepted");
                let mut space = [httparse::EMPTY_HEADER; 16];
                let mut response = httparse::Response::new(&mut space);
                assert_eq!(response.parse(&bytes), Ok(httparse::Status::Complete(bytes.len())));
                let headers =
                    response.headers.iter().map(|field| (field.name.as_bytes(), field.value));
                let client = offer.check(101, headers).expect("agreed");
                assert_eq!(client, server);
                assert_eq!(client.protocol.as_deref(), Some("superchat"));
                let wanted = deflate != DeflateOffer::None && answer != DeflateAnswer::Refuse;
                assert_eq!(client.deflate.is_some(), wanted, "{deflate:?} {answer:?}");
            }
        }
    }

    #[test]
    fn requests_that_are_refused() {
        let good = [
            ("Upgrade", "websocket"),
            ("Connection", "upgrade"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let check = |fields: &[(&str, &str)]| {
            accept(pairs(fields), Protocols::Any, DeflateAnswer::Accept)
                .map(|done| done.1)
                .map_err(Refusal::status)
        };
        assert_eq!(check(&good), Ok(Agreed::default()));
        assert_eq!(check(&good[1..]), Err(426));
        assert_eq!(
            check(&[&good[..2], &good[3..], &[("Sec-WebSocket-Version", "8")]].concat()),
            Err(426)
        );
        assert_eq!(check(&good[..3]), Err(400));
        assert_eq!(check(&[&good[..3], &[("Sec-WebSocket-Key", "c2hvcnQ=")]].concat()), Err(400));
        assert_eq!(check(&[&good[..], &good[3..]].concat()), Err(400));
        let any = check(&[&good[..], &[("Sec-WebSocket-Protocol", "a b, x, y")]].concat());
        assert_eq!(any.expect("accepted").protocol.as_deref(), Some("x"));
    }

    #[test]
    fn subprotocols_are_tokens() {
        for wrong in ["", "a b", "a,b", "a\r\nX: y"] {
            let offer = Offer::new(NONCE, vec![wrong.to_owned()], DeflateOffer::None);
            assert_eq!(offer, Err(OfferError::Protocol(wrong.to_owned())));
        }
        let twice = Offer::new(NONCE, vec!["a".into(), "a".into()], DeflateOffer::None);
        assert_eq!(twice, Err(OfferError::Protocol("a".into())));
    }

    #[test]
    fn fields_are_found_in_a_head() {
        let head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nX:y: z \r\nnone\r\n";
        let expect: [(&[u8], &[u8]); 2] = [(b"Upgrade", b"websocket"), (b"X", b"y: z")];
        assert!(fields(head).eq(expect));
    }
}
