//! `Socks5`: the client's side of a SOCKS 5 handshake that opens a tunnel (RFC 1928), with user and password (RFC 1929). It
//! resolves no name: a proxy gets names as they are.

use std::net::{Ipv4Addr, Ipv6Addr};

use thiserror::Error;

/// The version of the protocol. RFC 1928, 3.
const VERSION: u8 = 5;
/// The version of the subnegotiation of user and password. RFC 1929, 2.
const AUTH_VERSION: u8 = 1;
const NO_AUTHENTICATION: u8 = 0;
const USER_AND_PASSWORD: u8 = 2;
/// The longest user, password or name: its length has one byte.
pub(crate) const TEXT_MAX: usize = 255;

/// A handshake under way.
#[derive(Clone, Debug)]
pub struct Socks5 {
    state: State,
    /// What asks for the tunnel.
    request: Vec<u8>,
    credentials: Option<(String, String)>,
    /// The begin of a reply that is not whole; at most the longest reply, of 262 bytes.
    received: Vec<u8>,
}

/// Which reply is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Method,
    Authentication,
    Request,
}

/// Why a proxy opened no tunnel.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Socks5Error {
    /// The reply is of another protocol; its first byte.
    #[error("the proxy does not speak SOCKS 5 (its reply begins with {0:#04x})")]
    Version(u8),
    /// The proxy wants another way of authentication than it was offered.
    #[error(
        "the SOCKS proxy accepts no authentication that was offered (user and password belong in its URL)"
    )]
    Method,
    /// User or password are wrong.
    #[error("the SOCKS proxy refuses user and password")]
    Credentials,
    /// The proxy refuses the request, or could not carry it out; its reply code. RFC 1928, 6.
    #[error("the SOCKS proxy says: {}", reply_text(*.0))]
    Refused(u8),
    /// The address in the reply is of no known type.
    #[error("the SOCKS proxy's reply has an unknown type of address ({0})")]
    Address(u8),
    /// Bytes came before anything was sent through the tunnel.
    #[error("bytes from the SOCKS proxy before the first request")]
    Early,
}

impl Socks5 {
    /// A handshake for a tunnel to `host` (a name, or an address without brackets) at `port`. Texts longer than 255 bytes are
    /// the caller's error.
    #[must_use]
    pub fn new(host: &str, port: u16, credentials: Option<(String, String)>) -> Self {
        let mut request = vec![VERSION, 1, 0];
        let address = host.split('%').next().unwrap_or(host);
        if let Ok(v4) = address.parse::<Ipv4Addr>() {
            request.push(1);
            request.extend(v4.octets());
        } else if let Ok(v6) = address.parse::<Ipv6Addr>() {
            request.push(4);
            request.extend(v6.octets());
        } else {
            request.push(3);
            push_text(host, &mut request);
        }
        request.extend(port.to_be_bytes());
        Self { state: State::Method, request, credentials, received: Vec::new() }
    }

    /// The first message: which ways of authentication there are.
    #[must_use]
    pub fn greeting(&self) -> Vec<u8> {
        match self.credentials {
            Some(_) => vec![VERSION, 2, NO_AUTHENTICATION, USER_AND_PASSWORD],
            None => vec![VERSION, 1, NO_AUTHENTICATION],
        }
    }

    /// Takes bytes of the proxy's, in any split, and appends what is to be sent. Gives whether the tunnel is open.
    ///
    /// # Errors
    /// The proxy opens none.
    pub fn handle_bytes(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<bool, Socks5Error> {
        for (at, byte) in bytes.iter().enumerate() {
            self.received.push(*byte);
            if self.handle_reply(out)? {
                return if at + 1 == bytes.len() { Ok(true) } else { Err(Socks5Error::Early) };
            }
        }
        Ok(false)
    }

    /// Looks at the reply so far; gives whether the tunnel is open.
    fn handle_reply(&mut self, out: &mut Vec<u8>) -> Result<bool, Socks5Error> {
        match (self.state, &self.received[..]) {
            (State::Method | State::Request, [version, ..]) if *version != VERSION => {
                return Err(Socks5Error::Version(*version));
            }
            (State::Method, [_, NO_AUTHENTICATION]) => {
                self.state = State::Request;
                out.extend_from_slice(&self.request);
            }
            (State::Method, [_, USER_AND_PASSWORD]) => {
                let (user, password) = self.credentials.as_ref().ok_or(Socks5Error::Method)?;
                self.state = State::Authentication;
                out.push(AUTH_VERSION);
                push_text(user, out);
                push_text(password, out);
            }
            (State::Method, [_, _]) => return Err(Socks5Error::Method),
            (State::Authentication, [_, 0]) => {
                self.state = State::Request;
                out.extend_from_slice(&self.request);
            }
            (State::Authentication, [_, _]) => return Err(Socks5Error::Credentials),
            (State::Request, [_, code]) if *code != 0 => return Err(Socks5Error::Refused(*code)),
            (State::Request, reply) => return is_whole(reply),
            _ => return Ok(false),
        }
        self.received.clear();
        Ok(false)
    }
}

/// Whether the reply to the request is whole: version, code, a reserved byte, an address and a port. RFC 1928, 6.
fn is_whole(reply: &[u8]) -> Result<bool, Socks5Error> {
    let address = match reply.get(3..) {
        None | Some([]) => return Ok(false),
        Some([1, ..]) => 4,
        Some([4, ..]) => 16,
        Some([3]) => return Ok(false),
        Some([3, len, ..]) => 1 + usize::from(*len),
        Some([other, ..]) => return Err(Socks5Error::Address(*other)),
    };
    Ok(reply.len() == 4 + address + 2)
}

/// Appends a text behind its length; what does not fit is cut, which a proxy's URL never has.
fn push_text(text: &str, out: &mut Vec<u8>) {
    let bytes = &text.as_bytes()[..text.len().min(TEXT_MAX)];
    out.push(bytes.len() as u8);
    out.extend_from_slice(bytes);
}

/// RFC 1928, 6.
fn reply_text(code: u8) -> String {
    match code {
        1 => "general failure",
        2 => "connection not allowed by its rules",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "TTL expired",
        7 => "command not supported",
        8 => "address type not supported",
        _ => return format!("unknown reply {code}"),
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands over the proxy's bytes in pieces of one size; gives what is sent and how it ended.
    fn handshake(
        mut socks: Socks5,
        replies: &[u8],
        piece: usize,
    ) -> (Vec<u8>, Result<bool, Socks5Error>) {
        let mut sent = socks.greeting();
        let mut last = Ok(false);
        for bytes in replies.chunks(piece) {
            last = socks.handle_bytes(bytes, &mut sent);
            if last.is_err() {
                break;
            }
        }
        (sent, last)
    }

    #[test]
    fn a_tunnel_is_opened_in_any_split_of_the_bytes() {
        let user = Some(("us".to_owned(), "pw".to_owned()));
        let replies = [5, 2, 1, 0, 5, 0, 0, 3, 1, b'p', 0, 80];
        for piece in 1..=replies.len() {
            let socks = Socks5::new("a.test", 443, user.clone());
            let (sent, last) = handshake(socks, &replies, piece);
            assert_eq!(last, Ok(true), "{piece}");
            assert_eq!(sent, b"\x05\x02\x00\x02\x01\x02us\x02pw\x05\x01\x00\x03\x06a.test\x01\xbb");
        }
    }

    #[test]
    fn addresses_are_sent_as_addresses() {
        for (host, expect) in [
            ("10.0.0.1", &b"\x05\x01\x00\x05\x01\x00\x01\x0a\x00\x00\x01\x00\x50"[..]),
            ("::1%lo", b"\x05\x01\x00\x05\x01\x00\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x00\x50"),
        ] {
            let (sent, last) = handshake(Socks5::new(host, 80, None), b"\x05\x00", 2);
            assert_eq!((sent.as_slice(), last), (expect, Ok(false)), "{host}");
        }
    }

    #[test]
    fn what_opens_no_tunnel_is_an_error() {
        let user = || Some(("us".to_owned(), "pw".to_owned()));
        for (credentials, replies, expect) in [
            (None, &b"HTTP/1.1 400"[..], Socks5Error::Version(b'H')),
            (None, b"\x05\xff", Socks5Error::Method),
            (None, b"\x05\x02", Socks5Error::Method),
            (user(), b"\x05\x02\x01\x01", Socks5Error::Credentials),
            (None, b"\x05\x00\x05\x05", Socks5Error::Refused(5)),
            (None, b"\x05\x00\x05\x00\x00\x09", Socks5Error::Address(9)),
            (None, b"\x05\x00\x05\x00\x00\x01\0\0\0\0\0\0x", Socks5Error::Early),
        ] {
            let (_, last) = handshake(Socks5::new("a.test", 80, credentials), replies, 1);
            let all = handshake(Socks5::new("a.test", 80, user()), replies, replies.len()).1;
            let expected = Err(expect.clone());
            assert!(last == expected || all == expected, "{expect}: {last:?} {all:?}");
        }
    }
}
