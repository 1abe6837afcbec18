//! `TlsSession`: TLS 1.2 and 1.3 between plaintext and records, over rustls. Opens no socket, reads no file.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ServerConfig};
use thiserror::Error;

pub use rustls;

/// Whether the server's certificate is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verification {
    /// Against the roots and the server's name.
    #[default]
    Full,
    /// Not at all; the handshake's signatures still are.
    None,
}

/// Whether sessions are resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resumption {
    /// Every handshake is a full one.
    #[default]
    Off,
    /// Tickets and session ids are kept, for at most 256 servers.
    On,
}

/// What a client is set up with.
#[derive(Clone, Debug, Default)]
pub struct ClientSetup {
    /// The trusted roots.
    pub roots: Vec<CertificateDer<'static>>,
    /// PEM certificates that are trusted too; each file must hold one at least.
    pub roots_pem: Vec<Vec<u8>>,
    /// PEM client certificate chain.
    pub cert_pem: Option<Vec<u8>>,
    /// PEM private key; the certificate's bytes where none is given.
    pub key_pem: Option<Vec<u8>>,
    /// Whether the server is checked.
    pub verification: Verification,
    /// Whether sessions are resumed.
    pub resumption: Resumption,
}

/// What a server is set up with.
#[derive(Clone, Debug)]
pub struct ServerSetup {
    /// PEM certificate chain.
    pub cert_pem: Vec<u8>,
    /// PEM private key.
    pub key_pem: Vec<u8>,
}

/// Why TLS cannot be set up.
#[derive(Debug, Error)]
pub enum TlsSetupError {
    /// The bytes hold no certificate, or a broken one.
    #[error("tls: failed to find any PEM certificate in the input")]
    NoCertificate,
    /// The bytes hold no private key, or a broken one.
    #[error("tls: failed to find any PEM private key in the input")]
    NoKey,
    /// A private key is given without a certificate.
    #[error("tls: a private key is given without a certificate")]
    KeyWithoutCertificate,
    /// rustls does not take them.
    #[error("tls: {0}")]
    Rustls(#[from] rustls::Error),
}

/// Why a session failed. Send what [`TlsSession::poll_transmit`] still gives (the alert), then close.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TlsError {
    /// The server's name is neither a DNS name nor an address.
    #[error("tls: invalid server name \"{0}\"")]
    ServerName(String),
    /// The handshake or a record failed.
    #[error("tls: {0}")]
    Rustls(#[from] rustls::Error),
}

/// Sets up a client. Made once per run.
///
/// # Errors
/// A certificate or key is missing, broken, or they do not belong together.
pub fn client_config(_setup: &ClientSetup) -> Result<Arc<ClientConfig>, TlsSetupError> {
    todo!()
}

/// Sets up a server.
///
/// # Errors
/// A certificate or key is missing, broken, or they do not belong together.
pub fn server_config(_setup: &ServerSetup) -> Result<Arc<ServerConfig>, TlsSetupError> {
    todo!()
}

/// One TLS connection, of either side.
#[derive(Debug)]
pub struct TlsSession {
    conn: rustls::Connection,
}

impl TlsSession {
    /// A client's session with the server of this name or address. The first flight is ready to transmit.
    ///
    /// # Errors
    /// The name is no name.
    pub fn client(_cfg: &Arc<ClientConfig>, _server_name: &str) -> Result<Self, TlsError> {
        todo!()
    }

    /// A server's session with a client that just connected.
    ///
    /// # Errors
    /// The configuration cannot be used.
    pub fn server(_cfg: &Arc<ServerConfig>) -> Result<Self, TlsError> {
        todo!()
    }

    /// Takes records in and appends what they say to `plaintext` (never more bytes than `records` and 32 KiB). Afterwards
    /// there may be something to transmit.
    ///
    /// # Errors
    /// The handshake or a record failed.
    pub fn handle_bytes(
        &mut self,
        _records: &[u8],
        _plaintext: &mut Vec<u8>,
    ) -> Result<(), TlsError> {
        todo!()
    }

    /// Appends the records that wait to be sent.
    pub fn poll_transmit(&mut self, _out: &mut Vec<u8>) {
        todo!()
    }

    /// Takes plaintext to be sent and gives how much was taken: all, up to [`TlsSession::SEND_MAX`] not yet transmitted.
    /// During the handshake it waits for its end.
    pub fn send(&mut self, _plaintext: &[u8]) -> usize {
        todo!()
    }

    /// Plaintext that may wait to be transmitted: 1 MiB.
    pub const SEND_MAX: usize = 1 << 20;

    /// Whether the handshake is under way.
    #[must_use]
    pub fn is_handshaking(&self) -> bool {
        self.conn.is_handshaking()
    }

    /// Says that nothing more will be sent.
    pub fn close_notify(&mut self) {
        self.conn.send_close_notify();
    }

    /// Whether the peer said that it sends nothing more. An end of the stream without it is a truncation, which HTTP's
    /// own framing tells as well.
    #[must_use]
    pub fn peer_closed(&self) -> bool {
        todo!()
    }
}
