//! `TlsSession`: TLS 1.2 and 1.3 between plaintext and records, over rustls. Opens no socket, reads no file. rustls reads
//! the time of day for the validity of certificates; nothing here does.

mod agreed;

use std::io::{BufRead as _, Write as _};
use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, CipherSuite, ClientConfig, ClientConnection, DigitallySignedStruct,
    InvalidMessage, ProtocolVersion, RootCertStore, ServerConfig, ServerConnection,
    SignatureScheme, SupportedCipherSuite,
};
use thiserror::Error;

pub use agreed::{Agreed, suite_of_iana, suites_named};
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

/// The protocols a client offers, the best first. RFC 7301.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offer {
    /// `http/1.1` alone.
    #[default]
    Http1,
    /// `h2`, then `http/1.1`.
    Http2,
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
    /// The protocols offered.
    pub offer: Offer,
    /// The versions that are offered.
    pub versions: Versions,
    /// The cipher suites that are offered; of a version none is named of, all are.
    pub suites: Vec<CipherSuite>,
    /// Whether the server is told the name that is asked for.
    pub server_name: ServerNaming,
    /// Who hears the sessions' secrets, for tools that read what was recorded of them.
    pub key_log: Option<Arc<dyn rustls::KeyLog>>,
}

/// Versions of TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Versions {
    /// 1.2 and 1.3.
    #[default]
    Both,
    /// 1.2 alone.
    Only12,
    /// 1.3 alone.
    Only13,
}

/// Whether the server is told the name that is asked for. RFC 6066, 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerNaming {
    /// It is, where it is a name and no address.
    #[default]
    Told,
    /// It is not.
    Withheld,
}

/// A client made ready, and what its first handshake agreed on. Made once per run.
#[derive(Debug)]
pub struct TlsClient {
    config: Arc<ClientConfig>,
    agreed: OnceLock<Agreed>,
}

impl TlsClient {
    /// What the first finished handshake agreed on; `None` before it.
    #[must_use]
    pub fn agreed(&self) -> Option<&Agreed> {
        self.agreed.get()
    }
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
    /// No certificate is trusted.
    #[error("tls: no root certificate is trusted")]
    NoRoots,
    /// rustls does not take them.
    #[error("tls: {0}")]
    Rustls(#[from] rustls::Error),
}

/// What is known of a certificate that was refused, or of a peer that speaks no TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is signed by nobody known.
    UnknownAuthority,
    /// It is another's.
    OtherName,
    /// What came was no TLS record.
    NotTls,
}

impl TlsError {
    /// What is known of it, where it is one of those.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        let Self::Rustls(error) = self else { return None };
        match error {
            rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
                Some(Refusal::UnknownAuthority)
            }
            rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            ) => Some(Refusal::OtherName),
            // A root that serves itself. The error is of a crate that rustls does not show.
            rustls::Error::InvalidCertificate(CertificateError::Other(other))
                if other.to_string().contains("CaUsedAsEndEntity") =>
            {
                Some(Refusal::UnknownAuthority)
            }
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
                Some(Refusal::NotTls)
            }
            _ => None,
        }
    }
}

/// Why a session failed. Send what [`TlsSession::poll_transmit`] still gives (the alert), then close.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TlsError {
    /// The server's name is neither a DNS name nor an address.
    #[error("tls: invalid server name \"{0}\"")]
    ServerName(String),
    /// A record or handshake message is larger than TLS allows.
    #[error("tls: oversized record received")]
    RecordTooLarge,
    /// The handshake or a record failed.
    #[error("tls: {0}")]
    Rustls(#[from] rustls::Error),
}

/// Sets up a client. Made once per run.
///
/// # Errors
/// A certificate or key is missing, broken, or they do not belong together.
pub fn client_config(setup: &ClientSetup) -> Result<Arc<TlsClient>, TlsSetupError> {
    let mut provider = rustls::crypto::ring::default_provider();
    provider.cipher_suites.retain(|suite| is_offered(*suite, &setup.suites));
    let provider = Arc::new(provider);
    let versions: &[&rustls::SupportedProtocolVersion] = match setup.versions {
        Versions::Both => rustls::ALL_VERSIONS,
        Versions::Only12 => &[&rustls::version::TLS12],
        Versions::Only13 => &[&rustls::version::TLS13],
    };
    let builder =
        ClientConfig::builder_with_provider(provider.clone()).with_protocol_versions(versions)?;
    let builder = match setup.verification {
        Verification::Full => {
            let roots = Arc::new(root_store(setup)?);
            if roots.is_empty() {
                // Nobody is trusted: every server is refused.
                builder.with_root_certificates(roots)
            } else {
                let chain = WebPkiServerVerifier::builder_with_provider(roots, provider.clone())
                    .build()
                    .map_err(|_| TlsSetupError::NoRoots)?;
                let verifier = Verifier { provider, chain: Some(chain) };
                builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
            }
        }
        Verification::None => {
            let verifier = Verifier { provider, chain: None };
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        }
    };
    let mut cfg = match (&setup.cert_pem, &setup.key_pem) {
        (None, None) => builder.with_no_client_auth(),
        (None, Some(_)) => return Err(TlsSetupError::KeyWithoutCertificate),
        (Some(cert), key) => {
            let key = private_key(key.as_ref().unwrap_or(cert))?;
            builder.with_client_auth_cert(certificates(cert)?, key)?
        }
    };
    cfg.resumption = match setup.resumption {
        Resumption::Off => rustls::client::Resumption::disabled(),
        Resumption::On => rustls::client::Resumption::in_memory_sessions(RESUMED_SERVERS_MAX),
    };
    cfg.alpn_protocols = match setup.offer {
        Offer::Http1 => vec![ALPN_HTTP_1_1.to_vec()],
        Offer::Http2 => vec![ALPN_H2.to_vec(), ALPN_HTTP_1_1.to_vec()],
    };
    if let Some(log) = &setup.key_log {
        cfg.key_log = Arc::clone(log);
    }
    cfg.enable_sni = setup.server_name == ServerNaming::Told;
    Ok(Arc::new(TlsClient { config: Arc::new(cfg), agreed: OnceLock::new() }))
}

/// Whether a suite is among the named ones, or none of its version is.
fn is_offered(suite: SupportedCipherSuite, named: &[CipherSuite]) -> bool {
    let rules = named.iter().any(|name| is_13(*name) == is_13(suite.suite()));
    !rules || named.contains(&suite.suite())
}

/// RFC 8446, B.4 numbers the suites of TLS 1.3 from 0x1301 on.
fn is_13(suite: CipherSuite) -> bool {
    u16::from(suite) >> 8 == 0x13
}

/// Sets up a server. It takes `http/1.1`, or a client that names no protocol.
///
/// # Errors
/// A certificate or key is missing, broken, or they do not belong together.
pub fn server_config(setup: &ServerSetup) -> Result<Arc<ServerConfig>, TlsSetupError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut cfg = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(certificates(&setup.cert_pem)?, private_key(&setup.key_pem)?)?;
    cfg.alpn_protocols = vec![ALPN_HTTP_1_1.to_vec()];
    Ok(Arc::new(cfg))
}

/// Servers whose sessions are kept for resumption.
const RESUMED_SERVERS_MAX: usize = 256;
/// RFC 9113, 3.2.
const ALPN_H2: &[u8] = b"h2";
/// RFC 7301, 6.
const ALPN_HTTP_1_1: &[u8] = b"http/1.1";

/// System stores hold certificates that no verifier reads: those are skipped. A certificate that the user names is not.
fn root_store(setup: &ClientSetup) -> Result<RootCertStore, TlsSetupError> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(setup.roots.iter().cloned());
    for pem in &setup.roots_pem {
        for certificate in certificates(pem)? {
            store.add(certificate)?;
        }
    }
    Ok(store)
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsSetupError> {
    let list: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    list.ok().filter(|list| !list.is_empty()).ok_or(TlsSetupError::NoCertificate)
}

fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, TlsSetupError> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|_| TlsSetupError::NoKey)
}

/// Who is taken for the server.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// What its certificate must lead to. Without one any certificate is taken, but the handshake has to be signed by its key
    /// still, as Go's `InsecureSkipVerify` wants it.
    chain: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Verifier {
    /// Looks at the server's name before the chain of its certificate, as Go does: one that is wrong in both is another's.
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
        chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// One TLS connection, of either side.
#[derive(Debug)]
pub struct TlsSession {
    conn: rustls::Connection,
    peer_closed: bool,
    /// Who is to hear what the handshake agreed on.
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
        Self { conn, peer_closed: false, client: None }
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
        // An error is rustls's way to say that there is nothing now, or that the peer left without goodbye.
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

    /// Says that nothing more will be sent.
    pub fn close_notify(&mut self) {
        self.conn.send_close_notify();
    }

    /// Whether the peer said that it sends nothing more. An end of the stream without it is a truncation, which HTTP's
    /// own framing tells as well, except of a body that ends with the connection.
    #[must_use]
    pub fn peer_closed(&self) -> bool {
        self.peer_closed
    }
}
