//! The server over real sockets on loopback.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use demo::{Config, Server, ServiceTime, self_signed};
use net::Address;
use stdx::Nanos;

const LIMIT: Duration = Duration::from_secs(10);

fn start(change: impl FnOnce(&mut Config)) -> Server {
    let mut config = Config::default();
    change(&mut config);
    Server::start(config, &[Address::Ip(([127, 0, 0, 1], 0).into())]).expect("starts")
}

fn address(server: &Server) -> SocketAddr {
    match &server.addresses()[0] {
        Address::Ip(address) => *address,
        Address::Unix(path) => panic!("{path:?} is no IP address"),
    }
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(address(server)).expect("connects");
    stream.set_read_timeout(Some(LIMIT)).expect("a timeout");
    stream.set_write_timeout(Some(LIMIT)).expect("a timeout");
    stream
}

fn get(target: &str) -> Vec<u8> {
    format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n").into_bytes()
}

/// Reads until so many bytes came.
fn read_len(stream: &mut impl Read, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    stream.read_exact(&mut bytes).expect("so many bytes");
    bytes
}

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n\r\nHello, world!\n";

#[test]
fn connections_are_kept_and_pipelined() {
    let server = start(|_| ());
    let mut stream = connect(&server);
    for _ in 0..100 {
        stream.write_all(&get("/")).expect("sends");
        assert_eq!(read_len(&mut stream, ANSWER.len()), ANSWER);
    }
    stream.write_all(&get("/").repeat(1000)).expect("sends");
    assert_eq!(read_len(&mut stream, ANSWER.len() * 1000), ANSWER.repeat(1000));
    let stats = server.stop();
    assert_eq!((stats.requests, stats.connections_total), (1100, 1));
}

#[test]
fn a_flood_of_requests_meets_a_slow_reader() {
    let server = start(|_| ());
    let mut stream = connect(&server);
    let mut writer = stream.try_clone().expect("clones");
    let n = 100_000;
    let flood = std::thread::spawn(move || writer.write_all(&get("/").repeat(n)));
    for _ in 0..n {
        assert_eq!(read_len(&mut stream, ANSWER.len()), ANSWER);
    }
    flood.join().expect("no panic").expect("all sent");
}

#[test]
fn long_bodies_arrive_whole() {
    let server = start(|_| ());
    let mut stream = connect(&server);
    stream.write_all(&get("/bytes/30000000")).expect("sends");
    stream.write_all(b"GET /close HTTP/1.1\r\nHost: h\r\n\r\n").expect("sends");
    let mut all = Vec::new();
    stream.read_to_end(&mut all).expect("to the end");
    assert!((30_000_000..30_000_200).contains(&all.len()), "{}", all.len());
}

#[test]
fn faults_reach_the_client() {
    let server = start(|_| ());
    let fault = |target| {
        let mut stream = connect(&server);
        stream.write_all(&get(target)).expect("sends");
        let mut all = Vec::new();
        (stream.read_to_end(&mut all).map_err(|e| e.kind()), all)
    };
    assert_eq!(fault("/reset").0, Err(ErrorKind::ConnectionReset));
    assert_eq!(fault("/close"), (Ok(0), Vec::new()));
    let (end, bytes) = fault("/truncate");
    assert!(end.is_ok() && bytes.ends_with(b"Hello, wor"), "{end:?}");
    let mut endless = connect(&server);
    endless.write_all(&get("/endless")).expect("sends");
    read_len(&mut endless, 20 << 20);
}

#[test]
fn workers_work_in_real_time_and_stand_still_when_frozen() {
    let server = start(|c| c.service = ServiceTime::Fixed(Nanos::from_millis(30)));
    let mut stream = connect(&server);
    let mut timed = |before: &dyn Fn()| {
        let start = Instant::now();
        before();
        stream.write_all(&get("/")).expect("sends");
        read_len(&mut stream, ANSWER.len());
        start.elapsed()
    };
    assert!(timed(&|| ()) >= Duration::from_millis(30));
    // It takes effect before the service can end, whether the request arrives before or after it began.
    let frozen = timed(&|| server.freeze(Duration::from_millis(300)));
    assert!(frozen >= Duration::from_millis(300), "{frozen:?}");
}

#[test]
fn unix_sockets_serve_too_and_stop_closes_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let addresses = [Address::Unix(path.clone()), Address::Ip(([127, 0, 0, 1], 0).into())];
    let server = Server::start(Config::default(), &addresses).expect("starts");
    let mut stream = UnixStream::connect(&path).expect("connects");
    stream.set_read_timeout(Some(LIMIT)).expect("a timeout");
    stream.write_all(&get("/")).expect("sends");
    assert_eq!(read_len(&mut stream, ANSWER.len()), ANSWER);
    drop(server);
    assert_eq!(stream.read(&mut [0; 1]).ok(), Some(0));
    std::fs::remove_file(&path).ok();
}

#[test]
fn what_cannot_be_is_refused() {
    let config = Config { error_rate: 2.0, ..Config::default() };
    let error = Server::start(config, &[]).expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let server = start(|_| ());
    let taken = Address::Ip(address(&server));
    let error = Server::start(Config::default(), &[taken]).expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
}

mod tls {
    use super::*;
    use std::sync::Arc;
    use wire::tls::rustls::pki_types::pem::PemObject;
    use wire::tls::rustls::pki_types::{CertificateDer, ServerName};
    use wire::tls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

    #[test]
    fn the_self_signed_certificate_is_valid_for_this_machine() {
        let identity = self_signed().expect("made");
        let certificate = CertificateDer::from_pem_slice(identity.certificate_pem.as_bytes());
        let mut roots = RootCertStore::empty();
        roots.add(certificate.expect("a certificate")).expect("a root");
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        let config = Arc::new(config);
        let server = start(|c| c.tls = Some(identity));
        for name in ["localhost", "127.0.0.1", "::1"] {
            let name = ServerName::try_from(name).expect("a name");
            let session = ClientConnection::new(Arc::clone(&config), name).expect("a session");
            let mut stream = StreamOwned::new(session, connect(&server));
            stream.write_all(&get("/").repeat(100)).expect("sends");
            assert_eq!(read_len(&mut stream, ANSWER.len() * 100), ANSWER.repeat(100));
            stream.write_all(&get("/bytes/5000000")).expect("sends");
            read_len(&mut stream, 5_000_000);
        }
        assert_eq!(server.stats().connections_total, 3);
    }

    #[test]
    fn plain_bytes_on_a_tls_port_end_the_connection() {
        let server = start(|c| c.tls = Some(self_signed().expect("made")));
        let mut stream = connect(&server);
        stream.write_all(&get("/")).expect("sends");
        let mut all = Vec::new();
        // An alert, and then the end or a reset, since more was sent than was read.
        stream.read_to_end(&mut all).ok();
        assert!(!all.starts_with(b"HTTP"));
    }
}
