//! `Servers`: connections to servers, verified and in a pool. The proxy itself is no server.

use std::error::Error;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tower_service::Service;
use wire::tls::{ClientSetup, Offer, TlsSetupError, Verification, client_config};

use super::address::{Scheme, Target, scheme_of};
use super::reply::Reply;
use crate::limits::{CONNECT_TIME_MAX, HEAD_BYTES_MAX};

/// How long an idle connection to a server stays open.
const IDLE_TIME_MAX: Duration = Duration::from_secs(20);
/// Idle connections to one server.
const IDLE_MAX: usize = 16;

type Pool = legacy::Client<Connector, Reply>;

/// Ways to servers.
#[derive(Debug)]
pub(super) struct Servers {
    /// HTTP/2 where the server has it.
    any: Pool,
    /// HTTP/1.1 alone, which WebSockets begin with.
    http1: Pool,
    own: SocketAddr,
}

impl Servers {
    pub(super) fn new(setup: &ClientSetup, own: SocketAddr) -> Result<Self, TlsSetupError> {
        let mut setup = setup.clone();
        if setup.verification == Verification::Full && setup.roots_pem.is_empty() {
            setup.roots = rustls_native_certs::load_native_certs().certs;
        }
        let pool = |offer| -> Result<Pool, TlsSetupError> {
            let setup = ClientSetup { offer, ..setup.clone() };
            let tls = Arc::clone(client_config(&setup)?.rustls());
            Ok(legacy::Client::builder(TokioExecutor::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(IDLE_TIME_MAX)
                .pool_max_idle_per_host(IDLE_MAX)
                .http1_preserve_header_case(true)
                .http1_max_buf_size(HEAD_BYTES_MAX)
                .http2_max_header_list_size(HEAD_BYTES_MAX as u32)
                .build(Connector { tls, own }))
        };
        Ok(Self { any: pool(Offer::Http2)?, http1: pool(Offer::Http1)?, own })
    }

    /// Sends a request in the best version that the server has.
    pub(super) async fn send(
        &self,
        request: Request<Reply>,
    ) -> Result<Response<Incoming>, legacy::Error> {
        self.any.request(request).await
    }

    /// Sends a request that may lead out of HTTP.
    pub(super) async fn upgrade(
        &self,
        request: Request<Reply>,
    ) -> Result<Response<Incoming>, legacy::Error> {
        self.http1.request(request).await
    }

    /// A connection as it is, for a tunnel.
    pub(super) async fn connect(&self, target: &Target) -> io::Result<TcpStream> {
        connect(target, self.own).await
    }
}

/// Why a request got no answer, with all that led to it.
pub(super) fn reason(error: &legacy::Error) -> String {
    let mut words = Vec::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        // An error may be shown by the one above it already.
        if !words.iter().any(|word: &String| word.contains(&text)) {
            words.push(text);
        }
        cause = error.source();
    }
    if words.is_empty() { error.to_string() } else { words.join(": ") }
}

async fn connect(target: &Target, own: SocketAddr) -> io::Result<TcpStream> {
    let connecting = TcpStream::connect((target.host.as_str(), target.port));
    let stream =
        timeout(CONNECT_TIME_MAX, connecting).await.map_err(|_| io::ErrorKind::TimedOut)??;
    if leads_back(stream.local_addr()?, stream.peer_addr()?, own) {
        return Err(io::Error::other("this address is the proxy itself"));
    }
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Whether a connection leads to the proxy itself, which may listen on every address of the machine.
fn leads_back(local: SocketAddr, peer: SocketAddr, own: SocketAddr) -> bool {
    let is_here = own.ip() == peer.ip() || (own.ip().is_unspecified() && local.ip() == peer.ip());
    peer.port() == own.port() && is_here
}

/// Opens connections for a pool.
#[derive(Clone, Debug)]
struct Connector {
    tls: Arc<ClientConfig>,
    own: SocketAddr,
}

impl Connector {
    async fn open(self, uri: Uri) -> io::Result<TokioIo<ServerStream>> {
        let scheme = scheme_of(&uri).ok_or(io::ErrorKind::InvalidInput)?;
        let target = Target::of_uri(&uri, scheme).ok_or(io::ErrorKind::InvalidInput)?;
        let stream = connect(&target, self.own).await?;
        if scheme == Scheme::Http {
            return Ok(TokioIo::new(ServerStream { stream: Box::new(stream), is_h2: false }));
        }
        let name = ServerName::try_from(target.host).map_err(io::Error::other)?;
        let handshake = TlsConnector::from(self.tls).connect(name, stream);
        let stream =
            timeout(CONNECT_TIME_MAX, handshake).await.map_err(|_| io::ErrorKind::TimedOut)??;
        let is_h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok(TokioIo::new(ServerStream { stream: Box::new(stream), is_h2 }))
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<ServerStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().open(uri))
    }
}

/// Bytes both ways.
trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

/// A connection to a server, in TLS or without.
struct ServerStream {
    stream: Box<dyn Duplex>,
    is_h2: bool,
}

impl Connection for ServerStream {
    fn connected(&self) -> Connected {
        if self.is_h2 { Connected::new().negotiated_h2() } else { Connected::new() }
    }
}

impl AsyncRead for ServerStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        ctx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(ctx, buf)
    }
}

impl AsyncWrite for ServerStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        ctx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(ctx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(ctx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(ctx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proxy_is_no_server_of_its_own() {
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        for (local, peer, own, is_loop) in [
            ("127.0.0.1:5", "127.0.0.1:8899", "127.0.0.1:8899", true),
            ("127.0.0.1:5", "127.0.0.1:8899", "0.0.0.0:8899", true),
            ("10.0.0.7:5", "10.0.0.7:8899", "0.0.0.0:8899", true),
            ("10.0.0.7:5", "10.0.0.8:8899", "0.0.0.0:8899", false),
            ("127.0.0.1:5", "127.0.0.1:8899", "127.0.0.2:8899", false),
            ("127.0.0.1:5", "127.0.0.1:80", "127.0.0.1:8899", false),
        ] {
            let leads = leads_back(address(local), address(peer), address(own));
            assert_eq!(leads, is_loop, "{local} {peer} {own}");
        }
    }
}
