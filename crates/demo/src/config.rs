//! `Config`: what the server is asked to be.

use std::path::PathBuf;

use stdx::{Bytes, Nanos};
use thiserror::Error;

use crate::{Cable, ServiceTime};

/// What the server is asked to be. The default answers everything at once with 200 and a short text.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Workers that do one request at a time each; 0 for as many as needed.
    pub workers: u32,
    /// How long a request keeps its worker.
    pub service: ServiceTime,
    /// How many requests may wait for a worker; one more gets a 503.
    pub queue_limit: usize,
    /// The share of served requests, from 0 to 1, that are answered with 500.
    pub error_rate: f64,
    /// The body's length of a plain answer.
    pub body: Bytes,
    /// What is waited before an answer in addition, while no worker is kept: a long way, not a slow server.
    pub delay: Nanos,
    /// When connections end.
    pub keep_alive: KeepAlive,
    /// All that is random follows from it.
    pub seed: u64,
    /// With it, `/cable` speaks Action Cable.
    pub cable: Option<Cable>,
    /// With it, all TCP listeners speak TLS.
    pub tls: Option<Identity>,
}

/// When a connection ends that the client would keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepAlive {
    /// Never.
    Forever,
    /// With this many requests answered (at least 1); the last answer says `Connection: close`.
    Requests(u32),
}

/// A certificate chain with its private key, both PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The chain, the server's own certificate first.
    pub certificate_pem: String,
    /// The key, PKCS #8, PKCS #1 or SEC 1.
    pub key_pem: String,
}

/// Why a server cannot be as asked.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ConfigError {
    /// The service time's file has not been read.
    #[error("the service time's file {0} has not been read")]
    FileNotRead(PathBuf),
    /// The error rate is no share.
    #[error("error rate {0} is not from 0 to 1")]
    ErrorRate(f64),
    /// A share of the cable's defects is not from 0 to 1.
    #[error("a cable's share of {0} is not from 0 to 1")]
    CableShare(f64),
    /// The cable is to ping all the time.
    #[error("the cable's pings must be at least 1 ms apart")]
    CablePing,
    /// A connection is to end before its first request.
    #[error("connections must live for at least 1 request")]
    KeepAlive,
}

impl Config {
    /// Whether a server can be so.
    ///
    /// # Errors
    /// The first field that cannot be as it is.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if let ServiceTime::File(path) = &self.service {
            return Err(ConfigError::FileNotRead(path.clone()));
        }
        if !(0.0..=1.0).contains(&self.error_rate) {
            return Err(ConfigError::ErrorRate(self.error_rate));
        }
        self.cable.as_ref().map_or(Ok(()), validate_cable)?;
        if self.keep_alive == KeepAlive::Requests(0) {
            return Err(ConfigError::KeepAlive);
        }
        Ok(())
    }
}

fn validate_cable(cable: &Cable) -> Result<(), ConfigError> {
    if let ServiceTime::File(path) = &cable.delay {
        return Err(ConfigError::FileNotRead(path.clone()));
    }
    if cable.ping < Nanos::from_millis(1) {
        return Err(ConfigError::CablePing);
    }
    let wrong = cable.shares().into_iter().find(|share| !(0.0..=1.0).contains(share));
    wrong.map_or(Ok(()), |share| Err(ConfigError::CableShare(share)))
}

impl Default for Config {
    fn default() -> Self {
        Self {
            workers: 0,
            service: ServiceTime::None,
            queue_limit: 100_000,
            error_rate: 0.0,
            body: Bytes(14),
            delay: Nanos::ZERO,
            keep_alive: KeepAlive::Forever,
            seed: 1,
            cable: None,
            tls: None,
        }
    }
}

impl std::fmt::Debug for Identity {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity")
            .field("certificate_pem", &self.certificate_pem)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_refused() {
        let check = |change: fn(&mut Config), expect| {
            let mut config = Config::default();
            change(&mut config);
            assert_eq!(config.validate(), expect);
        };
        check(|_| (), Ok(()));
        check(
            |c| c.service = ServiceTime::File("x".into()),
            Err(ConfigError::FileNotRead("x".into())),
        );
        check(|c| c.error_rate = 1.5, Err(ConfigError::ErrorRate(1.5)));
        check(|c| c.keep_alive = KeepAlive::Requests(0), Err(ConfigError::KeepAlive));
        let cable = Cable { loss: -0.1, ..Cable::default() };
        let config = Config { cable: Some(cable), ..Config::default() };
        assert_eq!(config.validate(), Err(ConfigError::CableShare(-0.1)));
        let cable = Cable { ping: Nanos::ZERO, ..Cable::default() };
        let config = Config { cable: Some(cable), ..Config::default() };
        assert_eq!(config.validate(), Err(ConfigError::CablePing));
        let identity = Identity { certificate_pem: "C".into(), key_pem: "SECRET".into() };
        assert!(!format!("{identity:?}").contains("SECRET"));
    }
}
