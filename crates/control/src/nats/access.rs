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
    /// What a file of credentials (`.creds`) holds: a signed user and its seed.
    Credentials(String),
}

/// Without its secrets.
impl fmt::Debug for NatsAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsAccess").field("urls", &self.urls).finish_non_exhaustive()
    }
}

/// What the subjects of answers begin with at a server that is not the fleet's own.
const INBOX: &str = "_INBOX";

impl NatsAccess {
    /// A NATS server that is there already; a user and a password may stand in the URL. `credentials` is the text of a file of them.
    #[must_use]
    pub fn of_server(url: &str, credentials: Option<String>) -> Self {
        let (url, password) = without_user(url);
        let login = credentials.map(Login::Credentials).or(password).unwrap_or(Login::None);
        Self { urls: vec![url], certificate: None, login, inbox: INBOX.to_owned() }
    }

    /// A password goes to another machine, and nothing insists on TLS: `nats://` leaves it to what the server says, or a machine between.
    #[must_use]
    pub fn sends_password_in_clear(&self) -> bool {
        let is_far = |url: &String| {
            let Some(rest) = url.strip_prefix("nats://") else { return false };
            let host = rest.split('/').next().unwrap_or_default();
            let host = match host.strip_prefix('[') {
                Some(host) => host.split(']').next().unwrap_or_default(),
                None => host.rsplit_once(':').map_or(host, |(host, _)| host),
            };
            let address = host.parse::<std::net::IpAddr>();
            host != "localhost" && !address.is_ok_and(|address| address.is_loopback())
        };
        matches!(self.login, Login::Password(..)) && self.urls.iter().any(is_far)
    }

    /// What async-nats connects with.
    pub(super) fn options(&self) -> Result<async_nats::ConnectOptions, TransportError> {
        let options = async_nats::ConnectOptions::new().custom_inbox_prefix(&self.inbox);
        let options = match &self.login {
            Login::None => options,
            Login::Seed(seed) => options.nkey(seed.clone()),
            Login::Password(user, password) => {
                options.user_and_password(user.clone(), password.clone())
            }
            Login::Credentials(text) => options.credentials(text).map_err(|error| {
                let cause = error.into();
                TransportError::Server { action: "reading the credentials", cause }
            })?,
        };
        let Some(certificate) = &self.certificate else { return Ok(options) };
        let tls = tls(certificate).map_err(|cause| TransportError::Server {
            action: "reading the server's certificate",
            cause: cause.into(),
        })?;
        Ok(options.require_tls(true).tls_client_config(tls))
    }
}

/// The URL without its user and password, and how to sign in with these.
fn without_user(url: &str) -> (String, Option<Login>) {
    let (scheme, rest) = url.split_once("://").map_or(("nats", url), |parts| parts);
    let Some((user, host)) = rest.rsplit_once('@') else {
        return (format!("{scheme}://{rest}"), None);
    };
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let login = Login::Password(user.to_owned(), password.to_owned());
    (format!("{scheme}://{host}"), Some(login))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_to_another_machine_needs_tls() {
        for (url, is_in_clear) in [
            ("nats://me:pw@nats.example:4222", true),
            ("me:pw@10.0.0.5", true),
            ("nats://me:pw@[2001:db8::1]:4222", true),
            ("nats://me:pw@127.0.0.1:4222", false),
            ("nats://me:pw@[::1]:4222", false),
            ("nats://me:pw@localhost", false),
            ("tls://me:pw@nats.example:4222", false),
            ("nats://nats.example:4222", false),
        ] {
            let access = NatsAccess::of_server(url, None);
            assert_eq!(access.sends_password_in_clear(), is_in_clear, "{url}");
        }
    }

    #[test]
    fn a_password_does_not_stay_in_the_url() {
        let access = NatsAccess::of_server("tls://me:a:b@h:1", None);
        assert_eq!(access.urls, ["tls://h:1"]);
        assert!(access.login == Login::Password("me".to_owned(), "a:b".to_owned()));
        let access = NatsAccess::of_server("h:4222", Some("text".to_owned()));
        assert_eq!(access.urls, ["nats://h:4222"]);
        assert!(access.login == Login::Credentials("text".to_owned()));
        assert!(NatsAccess::of_server("nats://h", None).login == Login::None);
    }
}
