//! `NatsAccess`: where a NATS server is, and how to sign in there.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::transport::TransportError;

/// Where a NATS server is, and how to sign in there.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NatsAccess {
    /// Its addresses, as `tls://HOST:PORT` or `nats://HOST:PORT`; they are tried in turn.
    pub urls: Vec<String>,
    /// The certificate (DER) that it must show, or that has signed that one; absent: the system's authorities.
    pub certificate: Option<Vec<u8>>,
    /// How to sign in.
    pub login: Login,
    /// What the subjects of answers to this client begin with; its permissions name it.
    pub inbox: String,
}

/// How to sign in at a NATS server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Login {
    /// Nothing is asked for.
    None,
    /// The seed of an nkey: a secret.
    Seed(String),
    /// A user and a password.
    Password(String, String),
}

/// Without its secrets.
impl fmt::Debug for NatsAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsAccess").field("urls", &self.urls).finish_non_exhaustive()
    }
}

impl NatsAccess {
    /// What async-nats connects with.
    pub(super) fn options(&self) -> Result<async_nats::ConnectOptions, TransportError> {
        let options = async_nats::ConnectOptions::new().custom_inbox_prefix(&self.inbox);
        let options = match &self.login {
            Login::None => options,
            Login::Seed(seed) => options.nkey(seed.clone()),
            Login::Password(user, password) => {
                options.user_and_password(user.clone(), password.clone())
            }
        };
        let Some(certificate) = &self.certificate else { return Ok(options) };
        let tls = tls(certificate).map_err(|cause| TransportError::Server {
            action: "reading the server's certificate",
            cause: cause.into(),
        })?;
        Ok(options.require_tls(true).tls_client_config(tls))
    }
}

/// A client of TLS that trusts this certificate alone.
fn tls(certificate: &[u8]) -> Result<rustls::ClientConfig, rustls::Error> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.to_vec().into())?;
    let provider = rustls::crypto::ring::default_provider().into();
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
