//! Modules at `https://` addresses: fetched before the run, one after the other, by a small blocking client.

use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

/// A module may be this long: 64 MiB.
const LEN_MAX: u64 = 64 << 20;
/// How long it may take to fetch one.
const TIME_MAX: Duration = Duration::from_secs(60);

/// What lies at an address. As k6 does, it is asked for with `_k6=1` first.
///
/// # Errors
/// It cannot be fetched; the text says why.
pub(super) fn fetch(url: &str) -> Result<Vec<u8>, String> {
    let agent = agent(url)?;
    let marked = format!("{url}{}_k6=1", if url.contains('?') { '&' } else { '?' });
    get(&agent, &marked).or_else(|_| get(&agent, url))
}

fn agent(url: &str) -> Result<Agent, String> {
    let proxy = outputs::proxy_of(url).map_err(|error| error.to_string())?;
    // The machine's roots, or those that SSL_CERT_FILE names.
    let roots = rustls_native_certs::load_native_certs().certs;
    if roots.is_empty() {
        return Err("no root certificates were found (see SSL_CERT_FILE)".to_owned());
    }
    let roots: Vec<_> = roots.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .build();
    let config = Agent::config_builder()
        .proxy(proxy)
        .tls_config(tls)
        .https_only(true)
        .timeout_global(Some(TIME_MAX))
        .user_agent(concat!("brunt/", env!("CARGO_PKG_VERSION")))
        .build();
    Ok(config.into())
}

fn get(agent: &Agent, url: &str) -> Result<Vec<u8>, String> {
    let mut response = agent.get(url).call().map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let read = response.body_mut().as_reader().take(LEN_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LEN_MAX {
        return Err(format!("it is longer than {LEN_MAX} bytes"));
    }
    Ok(bytes)
}
