//! The proxy between real clients and real servers on loopback.

mod hostile;
mod site;
mod sockets;
mod tls;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wire::tls::Verification;

use super::*;
use crate::limits::Limits;
use crate::recording::Record;
use crate::scope::Scope;
use site::Site;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A proxy with an authority of its own.
struct Proxied {
    recorder: Recorder,
    recording: Arc<Recording>,
    /// The authority's certificate.
    pem: String,
    _folder: tempfile::TempDir,
}

impl Proxied {
    fn new(scope: Scope) -> Self {
        Self::with(scope, Limits::default(), Verification::None)
    }

    fn with(scope: Scope, limits: Limits, verification: Verification) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::open(folder.path()).unwrap();
        let pem = authority.pem().to_owned();
        let recording = Arc::new(Recording::new(scope, limits));
        let servers = ClientSetup { verification, ..ClientSetup::default() };
        let settings = Settings { listen: "127.0.0.1:0".parse().unwrap(), authority, servers };
        let recorder = Recorder::start(settings, Arc::clone(&recording)).unwrap();
        Self { recorder, recording, pem, _folder: folder }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.recorder.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes on a connection of their own and returns all that comes back until its end.
    fn exchange(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        let mut back = Vec::new();
        // A server may reset what it has not read.
        stream.read_to_end(&mut back).ok();
        back
    }

    /// The same as text.
    fn ask(&self, text: &str) -> String {
        String::from_utf8(self.exchange(text.as_bytes())).unwrap()
    }

    /// A tunnel to a server.
    fn tunnel(&self, port: u16) -> TcpStream {
        let mut stream = self.connect();
        write!(stream, "CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")
            .unwrap();
        let head = site::read_head(&mut stream).unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        stream
    }

    /// Everything once so many exchanges have ended.
    fn finish(self, ended: usize) -> Record {
        let begin = Instant::now();
        let mut lines = 0;
        while lines < ended {
            assert!(begin.elapsed() < PATIENCE, "{lines} of {ended} exchanges have ended");
            lines += self.recording.take_lines().len();
            std::thread::yield_now();
        }
        let record = self.recording.finish();
        self.recorder.stop();
        record
    }
}

#[test]
fn a_request_and_its_answer_are_recorded_as_they_pass() {
    let site = Site::start(|_| {
        site::answer("text/html", "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n", "<h1>Hi</h1>")
    });
    let proxied = Proxied::new(Scope::FirstPage);
    let port = site.port;
    let back = proxied.ask(&format!(
        "POST http://127.0.0.1:{port}/x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nProxy-Connection: close\r\n\
         Connection: close\r\nX-Mixed: Case\r\nContent-Length: 5\r\n\r\nhello"
    ));
    assert!(back.starts_with("HTTP/1.1 200 OK") && back.ends_with("<h1>Hi</h1>"), "{back}");
    let seen = site.requests();
    assert!(seen[0].starts_with("POST /x?y=1 HTTP/1.1\r\n"), "{seen:?}");
    assert!(seen[0].contains("X-Mixed: Case") && !seen[0].contains("roxy-"), "{seen:?}");
    assert!(seen[0].to_lowercase().contains(&format!("host: 127.0.0.1:{port}")), "{seen:?}");
    let record = proxied.finish(1);
    let one = &record.exchanges[0];
    assert_eq!(one.request.url, format!("http://127.0.0.1:{port}/x?y=1"));
    assert_eq!(
        (one.sent.bytes.as_slice(), one.received.bytes.as_slice()),
        (&b"hello"[..], &b"<h1>Hi</h1>"[..])
    );
    let response = one.response.as_ref().unwrap();
    let cookies = response.headers.iter().filter(|(name, _)| name == "set-cookie").count();
    assert_eq!((response.status, cookies, one.failure.as_deref()), (200, 2, None));
}

#[test]
fn a_server_that_is_not_there_is_an_answer_that_says_so() {
    let proxied = Proxied::new(Scope::FirstPage);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let back = proxied.ask(&format!(
        "GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    ));
    assert!(
        back.starts_with("HTTP/1.1 502") && back.contains("brunt record: no answer: "),
        "{back}"
    );
    let record = proxied.finish(1);
    assert!(record.exchanges[0].failure.as_ref().unwrap().contains("refused"), "{record:?}");
}

#[test]
fn a_phone_gets_the_certificate_from_the_proxy_itself() {
    let proxied = Proxied::new(Scope::FirstPage);
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert!(proxied.ask(&get("/")).contains("href=/authority.pem"));
    let certificate = proxied.ask(&get("/authority.pem"));
    assert!(certificate.contains("x-x509-ca-cert") && certificate.ends_with(&proxied.pem));
    assert!(proxied.ask(&get("/authority.key")).starts_with("HTTP/1.1 404"));
    assert!(proxied.finish(0).exchanges.is_empty());
}

#[test]
fn hosts_outside_of_the_scope_pass_and_are_counted() {
    let site = Site::start(|_| site::answer("text/html", "", "x"));
    let proxied = Proxied::new(Scope::named(&["shop.example".to_owned()]));
    let url = format!("http://127.0.0.1:{}/", site.port);
    let back = proxied.ask(&format!("GET {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    assert!(back.ends_with("\r\n\r\nx"), "{back}");
    let record = proxied.finish(0);
    assert_eq!((record.exchanges.len(), record.left_out["127.0.0.1"]), (0, 1));
}
