//! `Client` requests one endpoint repeatedly over one connection. It blocks, so it belongs on a thread of its own; the time it
//! waits and the bytes it reads are bounded.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use wire::h1::response::{Head, RequestMethod, ResponseDecoder, ResponseSink};
use wire::url::{Scheme, Url};

use crate::FetchError;

/// How long connecting may take to each address.
const CONNECT_WITHIN: Duration = Duration::from_secs(2);
/// How long a whole answer may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// Bytes a body may have.
const BODY_MAX: usize = 8 << 20;
/// Bytes taken from the connection at once.
const READ: usize = 64 << 10;

/// Asks one endpoint.
#[derive(Debug)]
pub struct Client {
    url: Url,
    request: Vec<u8>,
    stream: Option<TcpStream>,
    answer: FetchResponse,
    buf: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct FetchResponse {
    /// The response's status.
    pub status: u16,
    /// Its `Date` field; empty where it has none.
    pub date: String,
    /// Its body, of at most 8 MiB.
    pub body: Vec<u8>,
    is_too_large: bool,
}

impl ResponseSink for FetchResponse {
    fn head(&mut self, head: &Head<'_>) {
        self.status = head.status;
        let date = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case("date"));
        if let Some(date) = date {
            self.date.push_str(&String::from_utf8_lossy(date.value));
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        self.is_too_large |= self.body.len() + bytes.len() > BODY_MAX;
        if !self.is_too_large {
            self.body.extend_from_slice(bytes);
        }
    }
}

impl Client {
    /// A client that is not connected yet.
    ///
    /// # Errors
    /// The address is not supported: it needs TLS or a password.
    pub fn new(url: &str) -> Result<Self, FetchError> {
        let url = Url::parse(url)?;
        if url.scheme == Scheme::Https {
            return Err(FetchError::Https);
        }
        if url.userinfo.is_some() {
            return Err(FetchError::Userinfo);
        }
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: brunt/{}\r\nAccept: text/plain;version=0.0.4, */*;q=0.1\r\n\
             Accept-Encoding: identity\r\n\r\n",
            url.path_and_query,
            url.authority,
            env!("CARGO_PKG_VERSION"),
        );
        let (request, answer) = (request.into_bytes(), FetchResponse::default());
        Ok(Self { url, request, stream: None, answer, buf: vec![0; READ] })
    }

    /// Sends a request and waits for the response, of any status. A reused connection that turns out to be closed is opened
    /// again.
    ///
    /// # Errors
    /// The response is incomplete or too large.
    pub fn get(&mut self) -> Result<&FetchResponse, FetchError> {
        let until = Instant::now() + ANSWER_WITHIN;
        let was_kept = self.stream.is_some();
        let mut done = self.attempt(until);
        if was_kept && matches!(done, Err(FetchError::Io(_) | FetchError::Decode(_))) {
            done = self.attempt(until);
        }
        done.map(|()| &self.answer)
    }

    fn attempt(&mut self, until: Instant) -> Result<(), FetchError> {
        self.answer.status = 0;
        self.answer.date.clear();
        self.answer.body.clear();
        self.answer.is_too_large = false;
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => connect(&self.url, until)?,
        };
        stream.set_write_timeout(Some(left(until)?))?;
        stream.write_all(&self.request).map_err(late)?;
        let mut decoder = ResponseDecoder::new();
        decoder.begin(RequestMethod::Other);
        loop {
            stream.set_read_timeout(Some(left(until)?))?;
            let len = match stream.read(&mut self.buf) {
                Ok(len) => len,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(late(error)),
            };
            if len == 0 {
                decoder.handle_eof(&mut self.answer)?;
                break;
            }
            let progress = decoder.handle_bytes(&self.buf[..len], &mut self.answer)?;
            if self.answer.is_too_large {
                return Err(FetchError::TooLarge(BODY_MAX));
            }
            if progress.done {
                let is_clean = decoder.can_reuse() && progress.consumed == len;
                self.stream = is_clean.then_some(stream);
                break;
            }
        }
        Ok(())
    }
}

/// The time that is left.
fn left(until: Instant) -> Result<Duration, FetchError> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(FetchError::Late(ANSWER_WITHIN.as_secs())) } else { Ok(left) }
}

/// What a socket says when its time limit passed.
fn late(error: io::Error) -> FetchError {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => FetchError::Late(ANSWER_WITHIN.as_secs()),
        _ => FetchError::Io(error),
    }
}

/// A connection to the first address that has one.
fn connect(url: &Url, until: Instant) -> Result<TcpStream, FetchError> {
    const ADDRESSES_MAX: usize = 4;
    let mut failed = FetchError::NoAddress;
    for address in (url.host.as_str(), url.port).to_socket_addrs()?.take(ADDRESSES_MAX) {
        match TcpStream::connect_timeout(&address, CONNECT_WITHIN.min(left(until)?)) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => failed = FetchError::Io(error),
        }
    }
    Err(failed)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::net::TcpListener;
    use std::thread::{self, JoinHandle};

    use super::*;

    /// The address of a server that gives each connection these responses, one for each request.
    pub(crate) fn serve(connections: Vec<Vec<String>>) -> (String, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/metrics", listener.local_addr().unwrap());
        let thread = thread::spawn(move || {
            for answers in connections {
                let (mut stream, _) = listener.accept().unwrap();
                for answer in answers {
                    let mut request = Vec::new();
                    while !request.ends_with(b"\r\n\r\n") {
                        let mut byte = [0];
                        if stream.read(&mut byte).unwrap_or(0) == 0 {
                            return;
                        }
                        request.push(byte[0]);
                    }
                    // A client that had enough may be gone.
                    stream.write_all(answer.as_bytes()).ok();
                }
            }
        });
        (url, thread)
    }

    /// An answer with a length.
    pub(crate) fn ok(body: &str) -> String {
        let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
        format!("HTTP/1.1 200 OK\r\n{date}Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn one_connection_for_many_answers_and_a_new_one_when_it_ends() {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n";
        let until_end = "HTTP/1.0 503 No\r\n\r\nthree";
        let answers =
            vec![vec![chunked.to_owned(), ok("two")], vec![until_end.to_owned()], vec![ok("four")]];
        let (url, server) = serve(answers);
        let mut client = Client::new(&url).unwrap();
        for (status, body) in [(200, "one"), (200, "two"), (503, "three"), (200, "four")] {
            let answer = client.get().unwrap();
            assert_eq!((answer.status, answer.body.as_slice()), (status, body.as_bytes()));
        }
        assert_eq!(crate::http_date(&client.answer.date), Some(784_111_777));
        server.join().unwrap();
    }

    #[test]
    fn hostile_answers_are_errors() {
        let huge = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 1u64 << 40);
        let cases = [
            (format!("{huge}{}", "x".repeat(BODY_MAX + 1)), "more than 8388608 bytes"),
            ("garbage\r\n\r\n".to_owned(), "malformed"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort".to_owned(), "ended within"),
        ];
        for (answer, words) in cases {
            let (url, server) = serve(vec![vec![answer]]);
            let error = Client::new(&url).unwrap().get().unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
            server.join().unwrap();
        }
        for url in ["https://h/", "ftp://h/", "http://a:b@h/", "http://"] {
            assert!(Client::new(url).is_err(), "{url}");
        }
    }
}
