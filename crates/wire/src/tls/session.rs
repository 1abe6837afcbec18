//! `TlsSession`: one connection between plaintext and records.

use std::io::{BufRead as _, Write as _};
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, ProtocolVersion, ServerConfig, ServerConnection};

use super::agreed::{self, Agreed};
use super::alpn::ALPN_H2;
use super::client::TlsClient;
use super::error::TlsError;

/// One TLS connection, of either side.
#[derive(Debug)]
pub struct TlsSession {
    conn: rustls::Connection,
    peer_closed: bool,
    /// How far the peer's records have come.
    records: RecordCount,
    /// Gets what the handshake agreed on.
    client: Option<Arc<TlsClient>>,
}

impl TlsSession {
    /// Plaintext that may wait to be transmitted: 1 MiB.
    pub const SEND_MAX: usize = 1 << 20;

    /// A client's session with the server of this name or address. The first flight is ready to transmit.
    ///
    /// # Errors
    /// The name is no name.
    pub fn client(cfg: &Arc<TlsClient>, server_name: &str) -> Result<Self, TlsError> {
        // The zone of an IPv6 address means something on this machine only.
        let name = server_name.split('%').next().unwrap_or(server_name);
        let name = ServerName::try_from(name.to_owned())
            .map_err(|_| TlsError::ServerName(server_name.to_owned()))?;
        let mut session = Self::new(ClientConnection::new(cfg.config.clone(), name)?.into());
        session.client = Some(Arc::clone(cfg));
        Ok(session)
    }

    /// A server's session with a client that just connected.
    ///
    /// # Errors
    /// The configuration cannot be used.
    pub fn server(cfg: &Arc<ServerConfig>) -> Result<Self, TlsError> {
        Ok(Self::new(ServerConnection::new(cfg.clone())?.into()))
    }

    fn new(mut conn: rustls::Connection) -> Self {
        conn.set_buffer_limit(Some(Self::SEND_MAX));
        Self { conn, peer_closed: false, records: RecordCount::default(), client: None }
    }

    /// Takes records in and appends what they say to `plaintext`: never more bytes than came in with them and with the
    /// unfinished record before (16 KiB). Afterwards there may be something to transmit.
    ///
    /// # Errors
    /// The handshake or a record failed; what was read before it is in `plaintext`.
    pub fn handle_bytes(
        &mut self,
        mut records: &[u8],
        plaintext: &mut Vec<u8>,
    ) -> Result<(), TlsError> {
        self.records.pass(records);
        while !records.is_empty() && !self.peer_closed {
            match self.conn.read_tls(&mut records) {
                Ok(0) => break,
                Ok(_) => {}
                Err(_) => return Err(TlsError::RecordTooLarge),
            }
            let processed = self.conn.process_new_packets();
            self.drain(plaintext);
            self.peer_closed |= processed?.peer_has_closed();
        }
        if !self.conn.is_handshaking()
            && let Some(client) = self.client.take()
        {
            client.agreed.get_or_init(|| Agreed::of(&self.conn));
        }
        Ok(())
    }

    /// Moves what was decrypted, so that nothing of it is held here.
    fn drain(&mut self, plaintext: &mut Vec<u8>) {
        let mut reader = self.conn.reader();
        // rustls returns an error if there is nothing now, or if the peer closed without a close_notify.
        while let Ok(bytes) = reader.fill_buf() {
            if bytes.is_empty() {
                break;
            }
            let len = bytes.len();
            plaintext.extend_from_slice(bytes);
            reader.consume(len);
        }
    }

    /// Appends the records that wait to be sent.
    pub fn poll_transmit(&mut self, out: &mut Vec<u8>) {
        while self.conn.wants_write() {
            if self.conn.write_tls(out).is_err() {
                debug_assert!(false, "a Vec takes every byte");
                break;
            }
        }
    }

    /// Takes plaintext to be sent and gives how much was taken: all, up to [`TlsSession::SEND_MAX`] not yet transmitted.
    /// During the handshake it waits for its end.
    pub fn send(&mut self, plaintext: &[u8]) -> usize {
        self.conn.writer().write(plaintext).unwrap_or(0)
    }

    /// Whether the handshake is under way.
    #[must_use]
    pub fn is_handshaking(&self) -> bool {
        self.conn.is_handshaking()
    }

    /// Whether both sides agreed on HTTP/2, once the handshake is over.
    #[must_use]
    pub fn agreed_on_http2(&self) -> bool {
        self.conn.alpn_protocol() == Some(ALPN_H2)
    }

    /// What the handshake agreed on: the version as `tls1.3`, and the cipher suite by IANA's name.
    #[must_use]
    pub fn terms(&self) -> Option<(&'static str, &'static str)> {
        let version = match self.conn.protocol_version()? {
            ProtocolVersion::TLSv1_3 => "tls1.3",
            _ => "tls1.2",
        };
        self.conn.negotiated_cipher_suite().map(|suite| (version, agreed::iana_name(suite.suite())))
    }

    /// Sends a close_notify: nothing more will be sent.
    pub fn close_notify(&mut self) {
        self.conn.send_close_notify();
    }

    /// Whether the stream may end here: the peer said that it sends nothing more, or its last record is whole. Many servers
    /// close a connection without a close_notify; Go's client and curl take that as the end, as we do.
    #[must_use]
    pub fn may_end(&self) -> bool {
        self.peer_closed || self.records.is_whole()
    }

    /// Whether the peer said that it sends nothing more. An end of the stream without it is a truncation, which HTTP's
    /// own framing detects as well, except for a body that ends with the connection.
    #[must_use]
    pub fn peer_closed(&self) -> bool {
        self.peer_closed
    }
}

/// Where in a record the bytes that came so far end. RFC 8446, 5.1: a record has a type, a version, and in its bytes 3 and 4 the
/// length of what follows.
#[derive(Clone, Copy, Debug, Default)]
struct RecordCount {
    /// Bytes of a record's beginning that have come, while they are not all there.
    head: u8,
    /// What of the record is to come.
    left: usize,
}

impl RecordCount {
    const HEAD_LEN: u8 = 5;

    /// So many bytes more have come.
    fn pass(&mut self, mut bytes: &[u8]) {
        loop {
            if self.head == 0 {
                let part = self.left.min(bytes.len());
                self.left -= part;
                bytes = &bytes[part..];
            }
            let Some((byte, rest)) = bytes.split_first() else { return };
            bytes = rest;
            self.head += 1;
            match self.head {
                4 => self.left = usize::from(*byte) << 8,
                Self::HEAD_LEN => {
                    self.left |= usize::from(*byte);
                    self.head = 0;
                }
                _ => {}
            }
        }
    }

    fn is_whole(self) -> bool {
        self.head == 0 && self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_whole_at_their_ends_alone() {
        let bytes = [23, 3, 3, 0, 2, 1, 2, 21, 3, 3, 1, 0];
        let all: Vec<u8> = bytes.into_iter().chain([7; 256]).collect();
        for piece in [1, 2, 3, 7, all.len()] {
            let mut count = RecordCount::default();
            for (at, part) in all.chunks(piece).enumerate() {
                count.pass(part);
                let end = (at * piece + part.len()).min(all.len());
                assert_eq!(count.is_whole(), matches!(end, 7 | 268), "{end} in pieces of {piece}");
            }
        }
    }
}
