//! Requests and their answers: what is read of a connection, and who may ask.

use std::net::{IpAddr, TcpStream};

/// A request, read to its end.
#[derive(Debug, Default)]
pub struct Request {
    /// Its method.
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// The query, without its question mark; empty where there is none.
    pub query: String,
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

impl Response {
    /// What is sent.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let Self { status, kind, fields, body } = self;
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: strict-origin\r\nCache-Control: no-store\r\nX-Frame-Options: DENY\r\n{fields}\r\n",
            body.len()
        );
        [head.as_bytes(), body.as_bytes()].concat()
    }
}

/// The longest head that is read.
const HEAD_MAX: usize = 16 << 10;

/// Which requests are read.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// The host names that a request may have for this machine.
    pub(super) names: Vec<String>,
    /// Bytes of a body, at most.
    pub(super) body_max: usize,
}

/// What is known of a request once some of it has come.
#[derive(Debug)]
pub(super) enum Arrived {
    /// It is not all there.
    Begun,
    Whole(Request),
    Refused(Response),
}

impl Rules {
    /// What these bytes are, which a connection began with.
    pub(super) fn read(&self, bytes: &[u8]) -> Arrived {
        let Some(end) = head_end(bytes) else {
            if bytes.len() <= HEAD_MAX {
                return Arrived::Begun;
            }
            let why = "the head is too long";
            return Arrived::Refused(Response::refusal("431 Request Header Fields Too Large", why));
        };
        let head = String::from_utf8_lossy(&bytes[..end]);
        if let Err(why) = self.judge(&head) {
            return Arrived::Refused(Response::refusal("403 Forbidden", &why));
        }
        if let Err(refusal) = framing(&head) {
            return Arrived::Refused(refusal);
        }
        let len = field(&head, "content-length").map_or(Some(0), |len| len.parse().ok());
        let Some(len) = len.filter(|len| *len <= self.body_max) else {
            let why = "the body is too long";
            return Arrived::Refused(Response::refusal("413 Content Too Large", why));
        };
        let Some(body) = bytes[end..].get(..len) else { return Arrived::Begun };
        let mut words = head.split_ascii_whitespace().map(str::to_owned);
        let method = words.next().unwrap_or_default();
        let target = words.next().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let (path, query) = (path.to_owned(), query.to_owned());
        Arrived::Whole(Request { method, path, query, body: body.to_owned() })
    }

    /// Whether a request was meant for us. A page of the web may have its own name lead here, and then read and change what
    /// it likes; but its requests name it.
    pub(super) fn judge(&self, head: &str) -> Result<(), String> {
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

/// Whether the head says once, and by its length, what body follows: a body that was not read must not count as an empty one.
fn framing(head: &str) -> Result<(), Response> {
    if field(head, "transfer-encoding").is_some() {
        let why = "a body is read by its Content-Length alone";
        return Err(Response::refusal("501 Not Implemented", why));
    }
    for name in ["host", "content-length"] {
        if values(head, name).nth(1).is_some() {
            let why = format!("the request has two fields {name}");
            return Err(Response::refusal("400 Bad Request", &why));
        }
    }
    Ok(())
}

/// The host of `HOST:PORT`, without brackets.
pub(super) fn host_of(address: &str) -> &str {
    if let Some((inside, after)) = address.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        // `[::1].evil` is a name.
        return if after.is_empty() || after.starts_with(':') { inside } else { address };
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
    values(head, name).next()
}

/// All values of a field, by its name in small letters.
fn values<'a>(head: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    let of_name = fields.filter(move |(known, _)| known.trim().eq_ignore_ascii_case(name));
    of_name.map(|(_, value)| value.trim())
}
