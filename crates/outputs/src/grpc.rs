//! Payloads as unary calls of gRPC: HTTP/2 by the `h2` crate on a small runtime of the sending thread.
//! <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>

use std::sync::Arc;

use bytes::{BufMut as _, Bytes, BytesMut};
use h2::client::SendRequest;
use http::{HeaderMap, Request};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_rustls::TlsConnector;
use wire::tls::{ClientSetup, Offer, Verification, client_config};

use crate::delivery::{SendError, Transport};
use crate::error::OutputError;
use crate::http::{TIME_MAX, TlsFiles};

/// Calls one method for each payload.
pub(crate) struct GrpcTransport {
    runtime: Runtime,
    /// `HOST:PORT`.
    place: String,
    path: &'static str,
    headers: Vec<(String, String)>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    open: Option<SendRequest<Bytes>>,
}

impl GrpcTransport {
    pub(crate) fn new(
        place: &str,
        path: &'static str,
        headers: Vec<(String, String)>,
        tls: Option<&TlsFiles>,
    ) -> Result<Self, OutputError> {
        let wrong = || OutputError::Address(stdx::shown_url(place).into_owned());
        let (host, port) = place.trim_end_matches('/').rsplit_once(':').ok_or_else(wrong)?;
        if host.is_empty() || port.parse::<u16>().is_err() {
            return Err(wrong());
        }
        let tls = match tls {
            None => None,
            Some(files) => {
                let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
                let name = ServerName::try_from(host).map_err(|_| wrong())?;
                Some((connector(files)?, name))
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let place = format!("{host}:{port}");
        Ok(Self { runtime, place, path, headers, tls, open: None })
    }
}

fn connector(files: &TlsFiles) -> Result<TlsConnector, OutputError> {
    let (cert_pem, key_pem) = files.client.clone().unzip();
    let setup = ClientSetup {
        roots: rustls_native_certs::load_native_certs().certs,
        roots_pem: files.roots.iter().cloned().collect(),
        cert_pem,
        key_pem,
        verification: if files.is_insecure { Verification::None } else { Verification::Full },
        offer: Offer::Http2,
        ..ClientSetup::default()
    };
    let client = client_config(&setup).map_err(|error| OutputError::Tls(error.to_string()))?;
    Ok(TlsConnector::from(Arc::clone(client.rustls())))
}

impl Transport for GrpcTransport {
    fn send(&mut self, payload: &[u8]) -> Result<(), SendError> {
        let Self { runtime, place, path, headers, tls, open } = self;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let mut request = Request::post(format!("{scheme}://{place}{path}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers");
        for (name, value) in headers {
            request = request.header(name.as_str(), value.as_str());
        }
        let called = runtime.block_on(async {
            let call = async {
                let request = request.body(()).map_err(|error| error.to_string())?;
                let before = open.take();
                let client = match before {
                    Some(client) if client.clone().ready().await.is_ok() => client,
                    _ => connect(place, tls.as_ref()).await?,
                };
                let status = call(client.clone(), request, payload).await?;
                *open = Some(client);
                Ok::<_, String>(status)
            };
            let late = |_| format!("no answer within {TIME_MAX:?}");
            tokio::time::timeout(TIME_MAX, call).await.map_err(late).and_then(|called| called)
        });
        let text = match called {
            Ok(Status { code: 0, .. }) => return Ok(()),
            Ok(Status { code, message }) => {
                let text = format!("grpc://{place}: the server answers status {code} {message}");
                // Cancelled, deadline exceeded, resource exhausted, aborted, out of range, unavailable, data loss. OTLP 1.0,
                // "Failures".
                let is_passing = [1, 4, 8, 10, 11, 14, 15].contains(&code);
                return Err(SendError::new(is_passing, None, &text));
            }
            Err(error) => format!("grpc://{place}: {error}"),
        };
        Err(SendError::new(true, None, &text))
    }
}

/// How a call ended.
struct Status {
    code: u32,
    message: String,
}

async fn connect(
    place: &str,
    tls: Option<&(TlsConnector, ServerName<'static>)>,
) -> Result<SendRequest<Bytes>, String> {
    let stream = TcpStream::connect(place).await.map_err(|error| error.to_string())?;
    match tls {
        None => handshake(stream).await,
        Some((connector, name)) => {
            let stream = connector.connect(name.clone(), stream).await;
            handshake(stream.map_err(|error| error.to_string())?).await
        }
    }
}

async fn handshake<S>(stream: S) -> Result<SendRequest<Bytes>, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (client, connection) =
        h2::client::handshake(stream).await.map_err(|error| error.to_string())?;
    // It runs while a call is waited for, and ends with the connection; a call sees why.
    tokio::spawn(async move { connection.await.ok() });
    Ok(client)
}

async fn call(
    client: SendRequest<Bytes>,
    request: Request<()>,
    payload: &[u8],
) -> Result<Status, String> {
    let text = |error: h2::Error| error.to_string();
    let mut client = client.ready().await.map_err(text)?;
    let (answer, mut body) = client.send_request(request, false).map_err(text)?;
    let mut message = BytesMut::with_capacity(payload.len() + 5);
    // Not compressed, and its length.
    message.put_u8(0);
    message.put_u32(payload.len() as u32);
    message.put_slice(payload);
    body.send_data(message.freeze(), true).map_err(text)?;
    let answer = answer.await.map_err(text)?;
    let (head, mut body) = answer.into_parts();
    if !head.status.is_success() {
        return Err(format!("the server answers {}", head.status));
    }
    while let Some(data) = body.data().await {
        let len = data.map_err(text)?.len();
        body.flow_control().release_capacity(len).map_err(text)?;
    }
    let trailers = body.trailers().await.map_err(text)?;
    // A call that fails at once has its status in the head.
    let status = trailers.as_ref().and_then(status).or_else(|| status(&head.headers));
    status.ok_or_else(|| "the server's answer has no grpc-status".to_owned())
}

fn status(headers: &HeaderMap) -> Option<Status> {
    let code = headers.get("grpc-status")?.to_str().ok()?.parse().ok()?;
    let message = headers.get("grpc-message").and_then(|text| text.to_str().ok());
    Some(Status { code, message: message.unwrap_or_default().to_owned() })
}
