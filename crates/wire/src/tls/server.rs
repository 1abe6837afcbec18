//! A server's side of TLS, set up from its certificate and key.

use std::sync::Arc;

use rustls::ServerConfig;

use super::alpn::ALPN_HTTP_1_1;
use super::error::TlsSetupError;
use super::pem::{certificates, private_key};

/// What a server is set up with.
#[derive(Clone, Debug)]
pub struct ServerSetup {
    /// PEM certificate chain.
    pub cert_pem: Vec<u8>,
    /// PEM private key.
    pub key_pem: Vec<u8>,
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
