//! HTTPS through the proxy, in both versions of HTTP, and servers and clients that trust nothing.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use http::{Request, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, ServerConnection, StreamOwned};
use wire::tls::{ClientSetup, Offer, ServerSetup, Verification, client_config, server_config};

use super::site::{Site, answer, read_head, read_request};
use super::{PATIENCE, Proxied};
use crate::limits::Limits;
use crate::proxy::reply::Reply;
use crate::scope::Scope;

/// A server with TLS and a certificate that no client trusts but those given it.
fn secure_site() -> (Site, String) {
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let pem = made.cert.pem();
    let setup = ServerSetup {
        cert_pem: pem.clone().into_bytes(),
        key_pem: made.signing_key.serialize_pem().into_bytes(),
    };
    let config = server_config(&setup).unwrap();
    let site = Site::serve(move |stream, seen| {
        let conn = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = StreamOwned::new(conn, stream);
        while let Ok(request) = read_request(&mut stream) {
            seen.lock().unwrap().push(request);
            if stream.write_all(&answer("text/html", "", "secure")).is_err() {
                return;
            }
        }
    });
    (site, pem)
}

fn trusting(pem: &str, offer: Offer) -> Arc<ClientConfig> {
    let setup =
        ClientSetup { roots_pem: vec![pem.as_bytes().to_vec()], offer, ..ClientSetup::default() };
    Arc::clone(client_config(&setup).unwrap().rustls())
}

fn secured(stream: TcpStream, pem: &str) -> StreamOwned<ClientConnection, TcpStream> {
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let conn = ClientConnection::new(trusting(pem, Offer::Http1), name).unwrap();
    StreamOwned::new(conn, stream)
}

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";

#[test]
fn tls_is_ended_with_a_certificate_of_the_authority() {
    let (site, _) = secure_site();
    let proxied = Proxied::new(Scope::FirstPage);
    let mut stream = secured(proxied.tunnel(site.port), &proxied.pem);
    stream.write_all(GET).unwrap();
    let head = read_head(&mut stream).unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let mut body = [0; 6];
    stream.read_exact(&mut body).unwrap();
    assert_eq!(&body, b"secure");
    let record = proxied.finish(1);
    assert_eq!(record.exchanges[0].request.url, format!("https://127.0.0.1:{}/a", site.port));
    assert_eq!(record.exchanges[0].received.bytes, b"secure");
}

#[test]
fn a_server_that_proves_nothing_is_refused() {
    let (site, _) = secure_site();
    let proxied = Proxied::with(Scope::FirstPage, Limits::default(), Verification::Full);
    let mut stream = secured(proxied.tunnel(site.port), &proxied.pem);
    stream.write_all(GET).unwrap();
    let head = read_head(&mut stream).unwrap();
    assert!(head.starts_with("HTTP/1.1 502"), "{head}");
    let record = proxied.finish(1);
    let failure = record.exchanges[0].failure.as_ref().unwrap();
    assert!(failure.contains("certificate"), "{failure}");
    assert!(site.requests().is_empty());
}

#[test]
fn a_host_that_is_left_out_is_not_even_decrypted() {
    let (site, pem) = secure_site();
    let proxied = Proxied::new(Scope::named(&["shop.example".to_owned()]));
    let mut stream = secured(proxied.tunnel(site.port), &pem);
    stream.write_all(GET).unwrap();
    assert!(read_head(&mut stream).unwrap().starts_with("HTTP/1.1 200"));
    let record = proxied.finish(0);
    assert_eq!((record.exchanges.len(), record.left_out["127.0.0.1"]), (0, 1));
}

#[test]
fn a_client_that_does_not_trust_the_authority_is_counted() {
    let (site, pem) = secure_site();
    let proxied = Proxied::new(Scope::FirstPage);
    let mut stream = secured(proxied.tunnel(site.port), &pem);
    assert!(
        stream
            .write_all(GET)
            .and_then(|()| stream.flush())
            .and_then(|()| stream.read(&mut [0]))
            .is_err()
    );
    let begin = std::time::Instant::now();
    while proxied.recording.untrusted() == 0 {
        assert!(begin.elapsed() < PATIENCE);
        std::thread::yield_now();
    }
    assert_eq!(proxied.finish(0).untrusted["127.0.0.1"], 1);
}

#[test]
fn a_browser_speaks_http2() {
    let (site, _) = secure_site();
    let proxied = Proxied::new(Scope::FirstPage);
    let (tunnel, config) = (proxied.tunnel(site.port), trusting(&proxied.pem, Offer::Http2));
    tunnel.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let uri = format!("https://127.0.0.1:{}/h2", site.port);
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::from_std(tunnel).unwrap();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let stream = tokio_rustls::TlsConnector::from(config).connect(name, stream).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let io = TokioIo::new(stream);
        let (mut send, conn) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
        tokio::spawn(conn);
        let request = Request::builder().uri(uri).header("cookie", "a=1").header("cookie", "b=2");
        let request = request.version(Version::HTTP_2).body(Reply::empty()).unwrap();
        assert_eq!(send.send_request(request).await.unwrap().status(), 200);
    });
    drop(runtime);
    let seen = site.requests();
    assert!(
        seen[0].contains("ookie: a=1; b=2") && seen[0].to_lowercase().contains("host: "),
        "{seen:?}"
    );
    let record = proxied.finish(1);
    let request = &record.exchanges[0].request;
    assert_eq!((request.version, request.header("cookie")), ("h2", Some("a=1; b=2")));
    assert!(request.header("host").is_some());
}
