//! Tunnels: TLS is ended here where the host is recorded, and bytes pass as they are where it is not, or where they are no HTTP.

use std::io::{self, Cursor};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

use super::address::{Scheme, Target};
use super::client::Client;
use crate::limits::{CONNECT_TIME_MAX, FIRST_BYTE_TIME_MAX};

/// The type of a record of TLS's handshake: RFC 8446, 5.1.
const HANDSHAKE: u8 = 0x16;
/// How much of a client's first bytes is read to see what it speaks, in bytes.
const FIRST_BYTES: usize = 4096;

/// What a client speaks in its tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speech {
    Tls,
    Http,
    Other,
}

impl Speech {
    /// A method of HTTP begins with a letter.
    fn of(first: &[u8]) -> Self {
        match first.first() {
            Some(&HANDSHAKE) => Self::Tls,
            Some(byte) if byte.is_ascii_alphabetic() => Self::Http,
            _ => Self::Other,
        }
    }
}

/// The version of HTTP that a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Http1,
    Http2,
}

/// A stream of any kind.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// What is answered here of a tunnel.
pub(super) struct Inside {
    pub(super) stream: Box<dyn Stream>,
    pub(super) scheme: Scheme,
    pub(super) version: Version,
}

/// Carries what a client sends through its tunnel until either side ends it, but for requests: these are returned.
pub(super) async fn carry<S>(client: &Client, mut stream: S, target: &Target) -> Option<Inside>
where
    S: Stream + 'static,
{
    if !client.proxy.recording.covers(&target.host) {
        client.proxy.recording.leave_out(&target.host);
        pass(client, stream, &[], target).await;
        return None;
    }
    let first = first_bytes(&mut stream).await?;
    match Speech::of(&first) {
        Speech::Tls => end_tls(client, put_back(stream, first), target).await,
        Speech::Http => {
            let stream = Box::new(put_back(stream, first));
            Some(Inside { stream, scheme: Scheme::Http, version: Version::Http1 })
        }
        Speech::Other => {
            client.proxy.recording.leave_out(&target.host);
            pass(client, stream, &first, target).await;
            None
        }
    }
}

/// What a client sends first; nothing where the server speaks first, `None` from one that has gone.
async fn first_bytes<S: Stream>(stream: &mut S) -> Option<Vec<u8>> {
    let mut first = vec![0; FIRST_BYTES];
    let len = match timeout(FIRST_BYTE_TIME_MAX, stream.read(&mut first)).await {
        Ok(Ok(0) | Err(_)) => return None,
        Ok(Ok(len)) => len,
        Err(_) => 0,
    };
    first.truncate(len);
    Some(first)
}

/// A stream whose first bytes are read once more.
fn put_back<S>(stream: S, first: Vec<u8>) -> impl AsyncRead + AsyncWrite + Unpin + Send + 'static
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (read, write) = tokio::io::split(stream);
    tokio::io::join(Cursor::new(first).chain(read), write)
}

/// Ends TLS with a certificate of the host's name.
async fn end_tls<S>(client: &Client, stream: S, target: &Target) -> Option<Inside>
where
    S: Stream + 'static,
{
    let stream = match timeout(CONNECT_TIME_MAX, shake_hands(client, stream, target)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) if is_refusal(&error) => {
            client.proxy.recording.add_untrusted(&target.host);
            return None;
        }
        // Browsers open connections that they may need, and close them unused.
        _ => return None,
    };
    let is_h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let version = if is_h2 { Version::Http2 } else { Version::Http1 };
    Some(Inside { stream: Box::new(stream), scheme: Scheme::Https, version })
}

async fn shake_hands<S>(client: &Client, stream: S, target: &Target) -> io::Result<TlsStream<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let start = LazyConfigAcceptor::new(rustls::server::Acceptor::default(), stream).await?;
    let named = start.client_hello().server_name().map(str::to_owned);
    let name = named.unwrap_or_else(|| target.host.clone());
    let config = client.proxy.certificates.config(&name).map_err(io::Error::other)?;
    start.into_stream(config).await
}

/// Whether a client ended the handshake with an alert, as it does for a certificate that it does not trust.
fn is_refusal(error: &io::Error) -> bool {
    let cause = error.get_ref().and_then(|error| error.downcast_ref());
    matches!(cause, Some(rustls::Error::AlertReceived(_)))
}

/// Carries bytes both ways, as they are.
async fn pass<S>(client: &Client, mut stream: S, first: &[u8], target: &Target)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let Ok(mut server) = client.proxy.servers.connect(target).await else { return };
    if server.write_all(first).await.is_ok() {
        // Either side may end it at any time.
        tokio::io::copy_bidirectional(&mut stream, &mut server).await.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_says_what_a_client_speaks() {
        for (first, expect) in [
            (&b"\x16\x03\x01"[..], Speech::Tls),
            (b"GET / HTTP/1.1", Speech::Http),
            (b"\x00\x01", Speech::Other),
            (b"", Speech::Other),
        ] {
            assert_eq!(Speech::of(first), expect, "{first:?}");
        }
    }
}
