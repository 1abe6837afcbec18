//! `Listener`: the small HTTP server of the live page, of `brunt ui`, of the REST API and of the metrics. It refuses requests for a
//! host name that is not this machine's (a web page whose name was pointed here: DNS rebinding). Clients that are slow or idle keep
//! no others out: one thread attends to all connections, and a few others answer requests that came whole. It knows no keep-alive and
//! no chunks.

mod answers;
mod connections;
mod request;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use answers::Answers;
use connections::{Connections, PATIENCE, Returned, Work};
pub use request::{Reply, Request, Response};
use request::{Rules, host_of};

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

/// Requests that are answered at once.
const ANSWERERS: usize = 8;
/// Requests that wait until one of these is free; more are refused.
const WAITING_MAX: usize = 64;

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
        let rules = Rules { names: self.names, body_max };
        let (work, taken) = sync_channel(WAITING_MAX);
        let (connections, returned) =
            Connections::new(self.socket, rules, (self.patience, answers.clone()), work)?;
        let shared = Arc::new((Mutex::new(taken), answer, returned));
        let named = || std::thread::Builder::new().name(thread.to_owned());
        for _ in 0..ANSWERERS {
            let shared = Arc::clone(&shared);
            named().spawn(move || answer_all(&shared.0, &shared.1, &shared.2))?;
        }
        named().spawn(move || connections.attend())?;
        Ok(answers)
    }
}

/// Answers requests until there are no more to come.
fn answer_all(
    taken: &Mutex<Receiver<Work>>,
    answer: &impl Fn(&Request) -> Reply,
    returned: &Returned,
) {
    loop {
        let next = taken.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = next else { return };
        match answer(&work.request) {
            Reply::Whole(response) => returned.give_back(work, &response),
            Reply::Stream(take) => {
                // As it was accepted: who takes it says how it is written.
                if work.client.set_nonblocking(false).is_ok() {
                    take(work.client);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

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
        let rules = |names: Vec<String>| Rules { names, body_max: 0 };
        let judged = |rules: &Rules, fields: &str| {
            rules.judge(&format!("GET / HTTP/1.1\r\n{fields}\r\n\r\n"))
        };
        let (listener, _) = listener();
        let own = rules(listener.names);
        let judge = |fields: &str| judged(&own, fields);
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
            "Host: [::1].evil.example",
            "Host: [::1]evil:6565",
            "Host: localhost:1\r\nOrigin: http://evil.example",
            "Host: localhost:1\r\nOrigin: http://localhost:2",
            "Host: localhost:1\r\nOrigin: null",
            "Origin: http://evil.example",
            "Host:",
        ] {
            assert!(judge(fields).is_err(), "{fields}");
        }
        assert!(judged(&rules(vec!["brunt".to_owned()]), "Host: brunt:8880").is_ok());
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
        // A body that is not read is not an empty one: a note in the store was wiped so.
        for (fields, expect) in [
            ("Transfer-Encoding: chunked", "501"),
            ("Content-Length: 0\r\nContent-Length: 3", "400"),
            ("Host: localhost", "400"),
        ] {
            let head = format!("POST / HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n\r\n");
            let answer = asked(address, &head);
            assert!(answer.starts_with(&format!("HTTP/1.1 {expect} ")), "{answer}");
        }
    }

    #[test]
    fn a_slow_client_holds_up_nobody_and_is_dropped() {
        let address = served(Duration::from_secs(1));
        let mut slow = TcpStream::connect(address).unwrap();
        slow.write_all(b"GET / HT").unwrap();
        for _ in 0..2 * ANSWERERS {
            assert!(asked(address, "GET / HTTP/1.1\r\n\r\n").ends_with("GET / 0"));
        }
        // Nothing comes back, and it need not wait for longer than it has.
        assert_eq!(slow.read(&mut [0; 10]).unwrap(), 0);
    }

    /// Issue 42, F12: eight clients that sent nothing, or read nothing, kept all others out, those who press Stop too.
    #[test]
    fn hundreds_of_idle_clients_keep_nobody_out() {
        let (listener, address) = listener();
        let long = "x".repeat(8 << 20);
        let answer = move |request: &Request| {
            Response::new(
                "text/plain",
                if request.path == "/long" { long.clone() } else { request.path.clone() },
            )
        };
        listener.serve("idle", 10, answer).unwrap();
        let mut idle = Vec::new();
        for number in 0..400 {
            let mut client = TcpStream::connect(address).unwrap();
            // Some send half a request, and some do not read what they asked for.
            let words: &[u8] = match number % 100 {
                0 => b"GET /long HTTP/1.1\r\n\r\n",
                1..50 => b"GET / HT",
                _ => b"",
            };
            // It may have been dropped already.
            client.write_all(words).ok();
            idle.push(client);
            if number % 50 == 49 {
                assert!(asked(address, "POST /stop HTTP/1.1\r\n\r\n").ends_with("/stop"));
            }
        }
        drop(idle);
    }

    #[test]
    fn a_bare_port_is_this_machines_unless_it_is_anothers_tool() {
        let address = |bare| Listener::bind(":0", bare).unwrap().socket.local_addr().unwrap();
        assert!(address(BarePort::Loopback).ip().is_loopback());
        assert!(address(BarePort::AllAddresses).ip().is_unspecified());
    }
}
