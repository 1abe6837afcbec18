//! `Listener`: the small HTTP server of the REST API and of the metrics. It refuses requests for a host name that is not this
//! machine's (a web page whose name was pointed here: DNS rebinding), and clients that are slow. It knows no keep-alive and no
//! chunks.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A request, read to its end.
#[derive(Debug, Default)]
pub struct Request {
    /// Its method.
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// The query, without its question mark; empty where there is none.
    pub query: String,
    /// The value of its `Cookie`; empty where there is none.
    pub cookie: String,
    /// Its body, whole.
    pub body: Vec<u8>,
}

/// The answer to a request.
#[derive(Debug)]
pub struct Response {
    /// `200 OK`.
    pub status: &'static str,
    /// The value of `Content-Type`.
    pub kind: &'static str,
    /// Further fields, each with its line end.
    pub fields: String,
    /// The body.
    pub body: String,
}

/// How a request is answered.
pub enum Reply {
    /// By this, and the connection is closed.
    Whole(Response),
    /// By the function, which takes the connection.
    Stream(Box<dyn FnOnce(TcpStream) + Send>),
}

impl Response {
    /// Why a request is refused.
    #[must_use]
    pub fn refusal(status: &'static str, why: &str) -> Self {
        Self { status, ..Self::new("text/plain; charset=utf-8", format!("{why}\n")) }
    }

    /// `200 OK` with this body.
    #[must_use]
    pub fn new(kind: &'static str, body: String) -> Self {
        Self { status: "200 OK", kind, fields: String::new(), body }
    }
}

/// What `:PORT` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarePort {
    /// This machine alone may ask.
    Loopback,
    /// Any machine may, as with the tools that the dialects are of.
    AllAddresses,
}

/// A socket that is listened at.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    /// The host names that a request may have for this machine.
    names: Vec<String>,
    /// How long a request may take to come, and its answer to go.
    patience: Duration,
}

/// How long a request may take to come, and its answer to go.
const PATIENCE: Duration = Duration::from_secs(5);
/// Clients that are served at once; others wait.
const CLIENTS_MAX: usize = 8;
/// The longest head that is read.
const HEAD_MAX: usize = 16 << 10;
/// After the system refused a client (no descriptors are left), so long nothing is asked of it.
const PAUSE: Duration = Duration::from_millis(100);

/// The answers that are being given. One may end the process, which has to wait until it is out.
#[derive(Clone, Default)]
pub struct Answers(Arc<AtomicUsize>);

/// An answer under way.
struct UnderWay<'a>(&'a Answers);

/// So long answers are waited for at most.
const ANSWERS_MAX: Duration = Duration::from_secs(1);

impl Answers {
    fn begin(&self) -> UnderWay<'_> {
        self.0.fetch_add(1, Ordering::SeqCst);
        UnderWay(self)
    }

    /// Waits until none is under way, a second at most.
    pub fn finish(&self) {
        let until = Instant::now() + ANSWERS_MAX;
        while self.0.load(Ordering::SeqCst) > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Listener {
    /// Listens at `HOST:PORT`, or at `:PORT`.
    ///
    /// # Errors
    /// The address is taken, or none.
    pub fn bind(address: &str, bare: BarePort) -> io::Result<Self> {
        let own = match (address.strip_prefix(':'), bare) {
            (Some(port), BarePort::Loopback) => format!("127.0.0.1:{port}"),
            (Some(port), BarePort::AllAddresses) => format!("0.0.0.0:{port}"),
            (None, _) => match address.strip_prefix("localhost:") {
                Some(port) => format!("127.0.0.1:{port}"),
                None => address.to_owned(),
            },
        };
        let socket = TcpListener::bind(own)?;
        // Where there is no such file, the machine is asked by its address.
        let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let names = [host_of(address), machine.trim(), "localhost"].map(str::to_owned);
        let names = names.into_iter().filter(|name| !name.is_empty()).collect();
        Ok(Self { socket, names, patience: PATIENCE })
    }

    /// The address that is listened at.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Serves for as long as the process lives, on a few threads of this name. A body longer than `body_max` bytes is
    /// refused.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn serve(
        self,
        thread: &str,
        body_max: usize,
        answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> io::Result<Answers> {
        self.serve_streams(thread, body_max, move |request| Reply::Whole(answer(request)))
    }

    /// The same where some requests are answered by a stream, whose connection is handed over.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn serve_streams(
        self,
        thread: &str,
        body_max: usize,
        answer: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> io::Result<Answers> {
        let answers = Answers::default();
        let shared = Arc::new((self, answer, answers.clone()));
        for _ in 0..CLIENTS_MAX {
            let shared = Arc::clone(&shared);
            let serve = move || {
                loop {
                    match shared.0.socket.accept() {
                        // A client that disconnects, or sends a malformed request, is not an error of ours.
                        Ok((client, _)) => {
                            shared.0.attend(client, body_max, &shared.1, &shared.2).ok();
                        }
                        Err(_) => std::thread::sleep(PAUSE),
                    }
                }
            };
            std::thread::Builder::new().name(thread.to_owned()).spawn(serve)?;
        }
        Ok(answers)
    }

    fn attend(
        &self,
        client: TcpStream,
        body_max: usize,
        answer: &impl Fn(&Request) -> Reply,
        answers: &Answers,
    ) -> io::Result<()> {
        let until = Instant::now() + self.patience;
        let request = self.read(Timed { client: &client, until }, body_max)?;
        let _under_way = answers.begin();
        let reply = match request {
            Ok(request) => answer(&request),
            Err(refusal) => Reply::Whole(refusal),
        };
        let response = match reply {
            Reply::Whole(response) => response,
            Reply::Stream(take) => {
                take(client);
                return Ok(());
            }
        };
        let mut client = Timed { client: &client, until: Instant::now() + self.patience };
        let Response { status, kind, fields, body } = &response;
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: same-origin\r\nCache-Control: no-store\r\nX-Frame-Options: DENY\r\n{fields}\r\n",
            body.len()
        );
        client.write_all(head.as_bytes())?;
        client.write_all(body.as_bytes())
    }

    /// Reads a request, or finds out why it is refused.
    fn read(
        &self,
        mut client: Timed<'_>,
        body_max: usize,
    ) -> io::Result<Result<Request, Response>> {
        let (mut bytes, mut buf) = (Vec::new(), [0; 4096]);
        let end = loop {
            if let Some(end) = head_end(&bytes) {
                break end;
            }
            if bytes.len() > HEAD_MAX {
                let why = "the head is too long";
                return Ok(Err(Response::refusal("431 Request Header Fields Too Large", why)));
            }
            match client.read(&mut buf)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                len => bytes.extend_from_slice(&buf[..len]),
            }
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        if let Err(why) = self.judge(&head) {
            return Ok(Err(Response::refusal("403 Forbidden", &why)));
        }
        let len = field(&head, "content-length").map_or(Some(0), |len| len.parse().ok());
        let Some(len) = len.filter(|len| *len <= body_max) else {
            let why = "the body is too long";
            return Ok(Err(Response::refusal("413 Content Too Large", why)));
        };
        let mut body = bytes.split_off(end);
        while body.len() < len {
            match client.read(&mut buf)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => body.extend_from_slice(&buf[..read]),
            }
        }
        body.truncate(len);
        let mut words = head.split_ascii_whitespace().map(str::to_owned);
        let method = words.next().unwrap_or_default();
        let target = words.next().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let (path, query) = (path.to_owned(), query.to_owned());
        let cookie = field(&head, "cookie").unwrap_or_default().to_owned();
        Ok(Ok(Request { method, path, query, cookie, body }))
    }

    /// Whether a request was meant for us. A page of the web may have its own name lead here, and then read and change what
    /// it likes; but its requests name it.
    fn judge(&self, head: &str) -> Result<(), String> {
        let Some(host) = field(head, "host") else {
            // No browser leaves it out.
            return match field(head, "origin") {
                Some(_) => Err("there is an Origin and no Host".to_owned()),
                None => Ok(()),
            };
        };
        let name = host_of(host);
        let is_own = name.parse::<IpAddr>().is_ok()
            || self.names.iter().any(|own| own.eq_ignore_ascii_case(name));
        if !is_own {
            return Err(format!(
                "Host {host:?} is neither an IP address nor localhost nor the name that is listened at"
            ));
        }
        match field(head, "origin") {
            Some(origin) if origin.strip_prefix("http://") != Some(host) => {
                Err(format!("Origin {origin:?} is not the one that is asked"))
            }
            _ => Ok(()),
        }
    }
}

/// The host of `HOST:PORT`, without brackets.
fn host_of(address: &str) -> &str {
    if let Some(rest) = address.strip_prefix('[') {
        return rest.split(']').next().unwrap_or(rest);
    }
    address.split(':').next().unwrap_or(address)
}

/// Where the body begins, once the head is whole.
fn head_end(bytes: &[u8]) -> Option<usize> {
    let ends = [b"\r\n\r\n".as_slice(), b"\n\n"].into_iter().filter_map(|end| {
        let at = bytes.windows(end.len()).position(|window| window == end)?;
        Some(at + end.len())
    });
    ends.min()
}

/// The first value of a field, by its name in small letters.
fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    let mut values = fields.filter(|(known, _)| known.trim().eq_ignore_ascii_case(name));
    values.next().map(|(_, value)| value.trim())
}

/// A client that has until a moment for all it sends or takes.
struct Timed<'a> {
    client: &'a TcpStream,
    until: Instant,
}

impl Timed<'_> {
    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.client.set_read_timeout(Some(self.left()?))?;
        self.client.read(buf)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.client.set_write_timeout(Some(self.left()?))?;
        self.client.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener() -> (Listener, SocketAddr) {
        let listener = Listener::bind("127.0.0.1:0", BarePort::Loopback).unwrap();
        let address = listener.socket.local_addr().unwrap();
        (listener, address)
    }

    fn served(patience: Duration) -> SocketAddr {
        let (mut listener, address) = listener();
        listener.patience = patience;
        let echo = |request: &Request| {
            Response::new(
                "text/plain",
                format!("{} {} {}", request.method, request.path, request.body.len()),
            )
        };
        listener.serve("echo", 10, echo).unwrap();
        address
    }

    fn asked(address: SocketAddr, request: &str) -> String {
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn strangers_are_sent_away() {
        let (listener, _) = listener();
        let judge = |fields: &str| listener.judge(&format!("GET / HTTP/1.1\r\n{fields}\r\n\r\n"));
        for fields in [
            "Host: 127.0.0.1:6565",
            "host: [::1]:6565",
            "Host: LOCALHOST",
            "Host: localhost:1\r\nOrigin: http://localhost:1",
            "User-Agent: nc",
        ] {
            assert_eq!(judge(fields), Ok(()), "{fields}");
        }
        for fields in [
            "Host: evil.example",
            "Host: evil.example:6565",
            "Host: 127.0.0.1.evil.example",
            "Host: localhost:1\r\nOrigin: http://evil.example",
            "Host: localhost:1\r\nOrigin: http://localhost:2",
            "Host: localhost:1\r\nOrigin: null",
            "Origin: http://evil.example",
            "Host:",
        ] {
            assert!(judge(fields).is_err(), "{fields}");
        }
        let named = Listener { names: vec!["brunt".to_owned()], ..listener };
        assert!(named.judge("GET / HTTP/1.1\nHost: brunt:8880\n\n").is_ok());
    }

    #[test]
    fn requests_are_read_whole() {
        let address = served(PATIENCE);
        let ok = asked(
            address,
            "PATCH /a?b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nxyz",
        );
        assert!(
            ok.starts_with("HTTP/1.1 200 OK\r\n") && ok.ends_with("\r\n\r\nPATCH /a 3"),
            "{ok}"
        );
        let long =
            asked(address, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\n");
        assert!(long.starts_with("HTTP/1.1 413 "), "{long}");
        let evil = asked(address, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
        assert!(evil.starts_with("HTTP/1.1 403 ") && evil.contains("evil.example"), "{evil}");
    }

    #[test]
    fn a_slow_client_holds_up_nobody_and_is_dropped() {
        let address = served(Duration::from_secs(1));
        let mut slow = TcpStream::connect(address).unwrap();
        slow.write_all(b"GET / HT").unwrap();
        for _ in 0..2 * CLIENTS_MAX {
            assert!(asked(address, "GET / HTTP/1.1\r\n\r\n").ends_with("GET / 0"));
        }
        // Nothing comes back, and it need not wait for longer than it has.
        assert_eq!(slow.read(&mut [0; 10]).unwrap(), 0);
    }

    #[test]
    fn a_bare_port_is_this_machines_unless_it_is_anothers_tool() {
        let address = |bare| Listener::bind(":0", bare).unwrap().socket.local_addr().unwrap();
        assert!(address(BarePort::Loopback).ip().is_loopback());
        assert!(address(BarePort::AllAddresses).ip().is_unspecified());
    }
}
