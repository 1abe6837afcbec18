//! `TlsClient`: a client's side of TLS, set up once a run.

use std::sync::{Arc, OnceLock};

use rustls::client::{WantsClientCert, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::{
    CipherSuite, ClientConfig, ConfigBuilder, RootCertStore, SupportedCipherSuite, WantsVerifier,
};
use serde::{Deserialize, Serialize};

use super::agreed::Agreed;
use super::alpn::{ALPN_H2, ALPN_HTTP_1_1};
use super::error::TlsSetupError;
use super::pem::{certificates, private_key};
use super::verifier::Verifier;

/// Whether the server's certificate is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verification {
    /// Against the roots and the server's name.
    #[default]
    Full,
    /// Not at all; the handshake's signatures still are, as far as the certificate can be read.
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
    /// Whether the client hello carries the server's name.
    pub server_name: ServerNaming,
    /// Receives the sessions' secrets, for tools that decrypt recorded traffic.
    pub key_log: Option<Arc<dyn rustls::KeyLog>>,
}

/// Versions of TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Versions {
    /// 1.2 and 1.3.
    #[default]
    Both,
    /// 1.2 alone.
    Only12,
    /// 1.3 alone.
    Only13,
}

/// Whether the client hello carries the server's name. RFC 6066, 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerNaming {
    /// It does, where it is a name and no address.
    #[default]
    Sent,
    /// It does not.
    Withheld,
}

/// A client made ready, and what its first handshake agreed on. Made once per run.
#[derive(Debug)]
pub struct TlsClient {
    pub(super) config: Arc<ClientConfig>,
    pub(super) agreed: OnceLock<Agreed>,
}

impl TlsClient {
    /// What the first finished handshake agreed on; `None` before it.
    #[must_use]
    pub fn agreed(&self) -> Option<&Agreed> {
        self.agreed.get()
    }

    /// What it is set up with, for a client that brings its own sockets.
    #[must_use]
    pub fn rustls(&self) -> &Arc<ClientConfig> {
        &self.config
    }
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
    let builder = with_verifier(builder, setup, provider)?;
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
    cfg.enable_sni = setup.server_name == ServerNaming::Sent;
    Ok(Arc::new(TlsClient { config: Arc::new(cfg), agreed: OnceLock::new() }))
}

/// Adds the verifier of server certificates.
fn with_verifier(
    builder: ConfigBuilder<ClientConfig, WantsVerifier>,
    setup: &ClientSetup,
    provider: Arc<CryptoProvider>,
) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, TlsSetupError> {
    let verifier = match setup.verification {
        Verification::None => Verifier { provider, chain: None },
        Verification::Full => {
            let roots = Arc::new(root_store(setup)?);
            if roots.is_empty() {
                // No authority is trusted: every server is refused.
                return Ok(builder.with_root_certificates(roots));
            }
            let chain = WebPkiServerVerifier::builder_with_provider(roots, provider.clone())
                .build()
                .map_err(|_| TlsSetupError::NoRoots)?;
            Verifier { provider, chain: Some(chain) }
        }
    };
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)))
}

/// Whether a suite is offered: it is named, or no suite of its version is.
fn is_offered(suite: SupportedCipherSuite, named: &[CipherSuite]) -> bool {
    let rules = named.iter().any(|name| is_13(*name) == is_13(suite.suite()));
    !rules || named.contains(&suite.suite())
}

/// RFC 8446, B.4 numbers the suites of TLS 1.3 from 0x1301 on.
fn is_13(suite: CipherSuite) -> bool {
    u16::from(suite) >> 8 == 0x13
}

/// Servers whose sessions are kept for resumption.
const RESUMED_SERVERS_MAX: usize = 256;

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
