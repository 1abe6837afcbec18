//! `Client`: asks name servers over UDP, and over TCP where an answer was cut off. Blocking: it runs on a resolver
//! thread.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::message::{Answer, Family, Query};

/// Asks name servers in turn.
pub(super) struct Client {
    servers: Vec<SocketAddr>,
    next: AtomicUsize,
    timeout: Duration,
}

/// Why a try at one server gave no addresses.
#[derive(Debug, PartialEq, Eq)]
enum Failure {
    NoSuchHost,
    Misbehaving,
    TimedOut,
    Io(String),
}

/// How long a server may take for one try.
const TRY_TIMEOUT: Duration = Duration::from_secs(2);
/// Tries at least; with more servers than this, each gets one.
const TRIES_MIN: usize = 2;
/// Servers that are asked for one name, at most.
const TRIES_MAX: usize = 8;
/// The longest UDP answer that is read. We do not offer more than 512. // RFC 1035, 4.2.1.
const UDP_LEN_MAX: usize = 4096;
/// Datagrams looked at in one try; a flood of wrong ones ends it.
const DATAGRAMS_MAX: usize = 256;

impl Client {
    /// A client of these servers; there must be one at least.
    pub(super) fn new(servers: Vec<SocketAddr>) -> Self {
        Self::with_timeout(servers, TRY_TIMEOUT)
    }

    /// The same with another limit for a try.
    pub(super) fn with_timeout(servers: Vec<SocketAddr>, timeout: Duration) -> Self {
        assert!(!servers.is_empty(), "a client without servers");
        Self { servers, next: AtomicUsize::new(0), timeout }
    }

    /// The name's addresses, IPv4 first; or why there are none, in Go's words.
    pub(super) fn lookup(&self, name: &str) -> Result<Vec<IpAddr>, String> {
        let bare = name.strip_suffix('.').unwrap_or(name);
        if (Query { name: bare, family: Family::V4, id: 0 }).encode().is_none() {
            return Err(format!("lookup {name}: no such host"));
        }
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let tries = self.servers.len().clamp(TRIES_MIN, TRIES_MAX);
        let mut last = String::new();
        for index in 0..tries {
            let server = self.servers[first.wrapping_add(index) % self.servers.len()];
            match self.ask(server, bare) {
                Ok(found) => return Ok(found),
                Err(Failure::NoSuchHost) => {
                    return Err(format!("lookup {name} on {server}: no such host"));
                }
                Err(failure) => last = format!("lookup {name} on {server}: {}", failure.text()),
            }
        }
        Err(last)
    }

    /// One try: both questions to one server.
    fn ask(&self, server: SocketAddr, name: &str) -> Result<Vec<IpAddr>, Failure> {
        let ids = random_ids();
        let queries = [
            Query { name, family: Family::V4, id: ids.0 },
            Query { name, family: Family::V6, id: ids.1 },
        ];
        let until = Instant::now() + self.timeout;
        let mut answers = ask_udp(server, &queries, until)?;
        for (query, answer) in queries.iter().zip(&mut answers) {
            if *answer == Some(Answer::CutOff) {
                *answer = ask_tcp(server, query, Instant::now() + self.timeout)?;
            }
        }
        merge(answers)
    }
}

impl Failure {
    fn text(&self) -> &str {
        match self {
            Self::NoSuchHost => "no such host",
            Self::Misbehaving => "server misbehaving",
            Self::TimedOut => "i/o timeout",
            Self::Io(text) => text,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::TimedOut,
            io::ErrorKind::ConnectionRefused => Self::Io("connection refused".to_owned()),
            io::ErrorKind::UnexpectedEof => Self::Misbehaving,
            _ => Self::Io(error.to_string()),
        }
    }
}

/// Both families' answers as one. Addresses of one family count even if the other's answer failed or is missing.
fn merge(answers: [Option<Answer>; 2]) -> Result<Vec<IpAddr>, Failure> {
    let mut found = Vec::new();
    let mut failure = None;
    for answer in answers {
        match answer {
            Some(Answer::Addresses(addresses)) => found.extend(addresses),
            Some(Answer::NoSuchHost) => failure = Some(Failure::NoSuchHost),
            Some(Answer::Misbehaving | Answer::CutOff) => failure = Some(Failure::Misbehaving),
            None => failure = Some(Failure::TimedOut),
        }
    }
    match (found.is_empty(), failure) {
        (false, _) => Ok(found),
        (true, Some(failure)) => Err(failure),
        (true, None) => Err(Failure::NoSuchHost),
    }
}

/// Sends both questions from one new port and reads until both are answered or the time is up. Only `server` is heard:
/// the socket is connected to it.
fn ask_udp(
    server: SocketAddr,
    queries: &[Query<'_>; 2],
    until: Instant,
) -> Result<[Option<Answer>; 2], Failure> {
    let socket = UdpSocket::bind(any_address(server))?;
    socket.connect(server)?;
    for query in queries {
        socket.send(&query.encode().ok_or(Failure::NoSuchHost)?)?;
    }
    let mut answers = [None, None];
    let mut buf = [0; UDP_LEN_MAX];
    for _ in 0..DATAGRAMS_MAX {
        let Some(left) = time_left(until) else { break };
        socket.set_read_timeout(Some(left))?;
        let len = match socket.recv(&mut buf) {
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => match Failure::from(error) {
                Failure::TimedOut => break,
                failure => return Err(failure),
            },
        };
        for (query, answer) in queries.iter().zip(&mut answers) {
            if answer.is_none() {
                *answer = query.decode(&buf[..len]);
            }
        }
        if answers.iter().all(Option::is_some) {
            break;
        }
    }
    Ok(answers)
}

/// Asks one question over TCP; the answer has at most 64 KiB by its own length field.
fn ask_tcp(
    server: SocketAddr,
    query: &Query<'_>,
    until: Instant,
) -> Result<Option<Answer>, Failure> {
    let timed_out = || Failure::TimedOut;
    let mut stream = TcpStream::connect_timeout(&server, time_left(until).ok_or_else(timed_out)?)?;
    let message = query.encode().ok_or(Failure::NoSuchHost)?;
    let len = u16::try_from(message.len()).map_err(|_| Failure::NoSuchHost)?;
    stream.set_write_timeout(time_left(until))?;
    stream.write_all(&[&len.to_be_bytes(), message.as_slice()].concat())?;
    let mut len = [0; 2];
    read_until(&mut stream, &mut len, until)?;
    let mut answer = vec![0; usize::from(u16::from_be_bytes(len))];
    read_until(&mut stream, &mut answer, until)?;
    // Over TCP the server was reached for certain: what is no answer to our question is its fault.
    Ok(Some(query.decode(&answer).unwrap_or(Answer::Misbehaving)))
}

/// Fills `buf` before `until`, however slowly the server drips.
fn read_until(stream: &mut TcpStream, mut buf: &mut [u8], until: Instant) -> Result<(), Failure> {
    while !buf.is_empty() {
        stream.set_read_timeout(Some(time_left(until).ok_or(Failure::TimedOut)?))?;
        match stream.read(buf) {
            Ok(0) => return Err(Failure::Misbehaving),
            Ok(len) => buf = &mut buf[len..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The time until then; `None` when it is up (a socket's timeout must not be zero).
fn time_left(until: Instant) -> Option<Duration> {
    Some(until.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
}

fn any_address(server: SocketAddr) -> SocketAddr {
    match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

/// Two different numbers that cannot be guessed: std's hash keys come from the system's random numbers.
fn random_ids() -> (u16, u16) {
    let bits = RandomState::new().build_hasher().finish();
    let (first, second) = (bits as u16, (bits >> 16) as u16);
    (first, if second == first { second.wrapping_add(1) } else { second })
}
