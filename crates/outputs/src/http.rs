//! Payloads over HTTP: a POST each, on a connection that stays open.

use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use ureq::Agent;
use ureq::http::{HeaderMap, StatusCode};
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig, TlsProvider};

use crate::delivery::{SendError, Transport};
use crate::error::OutputError;
use crate::proxy::proxy_of;

/// How long a server may take to answer.
pub(crate) const TIME_MAX: Duration = Duration::from_secs(5);
/// Bytes of an answer that an error shows.
const SHOWN_MAX: u64 = 200;

/// What TLS is set up with.
#[derive(Clone, Debug, Default)]
pub(crate) struct TlsFiles {
    /// Whether any certificate is taken.
    pub(crate) is_insecure: bool,
    /// PEM certificates that are trusted besides the machine's.
    pub(crate) roots: Option<Vec<u8>>,
    /// The client's certificates and key, as PEM.
    pub(crate) client: Option<(Vec<u8>, Vec<u8>)>,
}

/// Posts payloads to a URL.
pub(crate) struct HttpTransport {
    agent: Agent,
    url: String,
    headers: Vec<(String, String)>,
    first: Option<String>,
}

impl HttpTransport {
    pub(crate) fn new(
        url: &str,
        headers: Vec<(String, String)>,
        tls: &TlsFiles,
    ) -> Result<Self, OutputError> {
        let is_http = url.starts_with("http://") || url.starts_with("https://");
        let parsed: Result<ureq::http::Uri, _> = url.parse();
        if !is_http || parsed.is_err() {
            return Err(OutputError::Address(stdx::shown_url(url).into_owned()));
        }
        let config = Agent::config_builder()
            .proxy(proxy_of(url)?)
            .tls_config(tls_config(tls)?)
            .timeout_global(Some(TIME_MAX))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("brunt/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self { agent: config.into(), url: url.to_owned(), headers, first: None })
    }

    /// The same; before the first payload it posts to this URL, by which the payloads' place is made.
    pub(crate) fn after(self, first: String) -> Self {
        Self { first: Some(first), ..self }
    }

    /// Has the payloads' place made. It may exist already, or be forbidden: writing shows whether it is there.
    ///
    /// # Errors
    /// The server gave no answer, or one that says that it cannot answer yet.
    fn make_place(&self, url: &str) -> Result<(), SendError> {
        let mut request = self.agent.post(url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let answered = request.send_empty();
        let response = answered.map_err(|error| self.error(true, None, &error.to_string()))?;
        let (status, pause) = (response.status(), retry_after(response.headers()));
        match is_passing(status) {
            true => Err(self.error(true, pause, &format!("the server answers {status}"))),
            false => Ok(()),
        }
    }

    fn error(&self, is_passing: bool, pause: Option<Duration>, text: &str) -> SendError {
        let url = stdx::shown_url(&self.url);
        let url = url.split('?').next().unwrap_or_default();
        SendError::new(is_passing, pause, &format!("{url}: {text}"))
    }
}

impl Transport for HttpTransport {
    fn send(&mut self, payload: &[u8]) -> Result<(), SendError> {
        // A place that was not made, since the server was busy or just starting, is asked for again with the payload.
        if let Some(first) = &self.first {
            self.make_place(first)?;
        }
        let mut request = self.agent.post(&self.url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let answered = request.send(payload);
        let mut response = answered.map_err(|error| self.error(true, None, &error.to_string()))?;
        let (status, pause) = (response.status(), retry_after(response.headers()));
        let mut body = Vec::new();
        let read = response.body_mut().as_reader().take(SHOWN_MAX).read_to_end(&mut body);
        if status.is_success() {
            self.first = None;
            return Ok(());
        }
        let body = String::from_utf8_lossy(if read.is_ok() { &body } else { &[] }).into_owned();
        let line: String = body.chars().map(|c| if stdx::steers(c) { ' ' } else { c }).collect();
        let text = format!("the server answers {status} {}", line.trim());
        // A server that is just starting may say that it has made the place, and not have it yet.
        let is_unplaced = self.first.is_some() && status == StatusCode::NOT_FOUND;
        Err(self.error(is_unplaced || is_passing(status), pause, text.trim_end()))
    }
}

/// Whether the same request may be answered well later.
fn is_passing(status: StatusCode) -> bool {
    status.is_server_error() || [408, 429].contains(&status.as_u16())
}

/// Seconds to wait. RFC 9110, 10.2.3; a date is left out.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("retry-after")?.to_str().ok()?;
    text.trim().parse().ok().map(Duration::from_secs)
}

fn tls_config(files: &TlsFiles) -> Result<TlsConfig, OutputError> {
    let tls = |error: ureq::Error| OutputError::Tls(error.to_string());
    let native = rustls_native_certs::load_native_certs().certs;
    let mut roots: Vec<Certificate<'static>> =
        native.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    if let Some(pem) = &files.roots {
        roots.push(Certificate::from_pem(pem).map_err(tls)?);
    }
    let client = match &files.client {
        None => None,
        Some((chain, key)) => {
            let key = PrivateKey::from_pem(key).map_err(tls)?;
            Some(ClientCert::new_with_certs(&[Certificate::from_pem(chain).map_err(tls)?], key))
        }
    };
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .disable_verification(files.is_insecure)
        .client_cert(client)
        .build())
}
