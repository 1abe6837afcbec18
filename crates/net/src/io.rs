//! `Io`: what a worker asks of the machine it runs on. The reactor and the simulated world answer it alike.
//!
//! A worker turns in one loop: [`Io::wait`] until the next deadline, then [`Io::next_event`] until there is none, and
//! [`Io::recv`] and [`Io::send`] on what became ready. Nothing here blocks but `wait` and `sleep`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use stdx::Nanos;
use thiserror::Error;

/// A socket of one `Io`. A closed socket's number is never met again in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sock(pub u64);

/// The caller's own number for a socket, given back with each of its events.
pub type Key = u32;

/// Where to connect to or listen on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// An IP address and port.
    Ip(SocketAddr),
    /// A Unix domain socket's path.
    Unix(PathBuf),
}

/// What to connect to, and from where.
#[derive(Clone, Copy, Debug)]
pub struct Dial<'a> {
    /// The peer.
    pub to: &'a Address,
    /// The local IP address to bind to before connecting.
    pub from: Option<IpAddr>,
}

/// What a socket became ready for. `closed` comes with `readable` as well: read on until the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ready {
    /// There may be something to read.
    pub readable: bool,
    /// There may be room to write.
    pub writable: bool,
    /// The peer closed its side, or the socket failed.
    pub closed: bool,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A socket opened by [`Io::open`] is connected.
    Connected(Key),
    /// A socket opened by [`Io::open`] could not be connected. It is closed already.
    Refused(Key, IoFailure),
    /// A connected socket became ready.
    Ready(Key, Ready),
    /// A listener has a new connection; it has no key until [`Io::set_key`] gives it one.
    Accepted {
        /// The listener's key.
        listener: Key,
        /// The new connection.
        sock: Sock,
    },
    /// A name asked for by [`Io::resolve`] is resolved, or is not to be resolved.
    Resolved(Key, Result<Vec<IpAddr>, String>),
    /// Another thread called the waker.
    Woken,
}

/// The result of a read or a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many bytes went through; 0 from `recv` is the end of the stream.
    Bytes(usize),
    /// Nothing now; an event follows.
    Later,
    /// The socket failed; close it.
    Failed(IoFailure),
}

/// Why a socket failed. The texts are the system's (`strerror`), in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum IoFailure {
    /// ECONNREFUSED.
    #[error("connection refused")]
    Refused,
    /// ECONNRESET.
    #[error("connection reset by peer")]
    Reset,
    /// EPIPE.
    #[error("broken pipe")]
    BrokenPipe,
    /// ETIMEDOUT, of the kernel's own.
    #[error("connection timed out")]
    TimedOut,
    /// EMFILE or ENFILE.
    #[error("too many open files")]
    DescriptorsExhausted,
    /// EADDRNOTAVAIL: no local port is left, or the local address is not ours.
    #[error("cannot assign requested address")]
    PortsExhausted,
    /// ENETUNREACH or EHOSTUNREACH.
    #[error("no route to host")]
    Unreachable,
    /// Another error number of the system.
    #[error("{}", system_words(*.0))]
    Other(i32),
}

/// The system's text for an error number, in lower case and without the number.
fn system_words(number: i32) -> String {
    let text = std::io::Error::from_raw_os_error(number).to_string();
    let mut letters = text.split(" (os error").next().unwrap_or_default().chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The machine a worker runs on: real ([`crate::Reactor`]) or simulated ([`crate::sim`]).
pub trait Io {
    /// Time since the run's start, read now.
    fn now(&mut self) -> Nanos;

    /// Starts to connect. [`Event::Connected`] or [`Event::Refused`] follows, unless it fails at once.
    ///
    /// # Errors
    /// The socket could not be made or was refused at once; the failure is the request's, not the run's.
    fn open(&mut self, key: Key, dial: Dial<'_>) -> Result<Sock, IoFailure>;

    /// Gives an accepted socket its key; its events begin.
    fn set_key(&mut self, sock: Sock, key: Key);

    /// Reads what is there, at most `buf.len()` bytes.
    fn recv(&mut self, sock: Sock, buf: &mut [u8]) -> Progress;

    /// When the bytes that the last [`Io::recv`] gave had all come, by the kernel's stamps: no earlier than the last of them came, and
    /// no later than they were read. `None` where the kernel does not say.
    fn arrived(&self) -> Option<Nanos> {
        None
    }

    /// Sleeps until the clock reaches `until`, and gives the time after it. What happens meanwhile need not end the sleep: it comes with
    /// the next [`Io::wait`], and [`Io::arrived`] says when it was.
    fn sleep(&mut self, until: Nanos) -> Nanos {
        self.wait(Some(until))
    }

    /// Stops receiving from this socket until [`Io::resume`], so that it does not keep others from receiving. What has come is
    /// kept, and a little more may come. Where sockets share nothing this does nothing.
    fn pause(&mut self, sock: Sock) {
        let _ = sock;
    }

    /// Receives from this socket again. No event announces what was kept: the caller reads it.
    fn resume(&mut self, sock: Sock) {
        let _ = sock;
    }

    /// Writes what there is room for.
    fn send(&mut self, sock: Sock, bytes: &[u8]) -> Progress;

    /// Closes the socket; no event of it follows.
    fn close(&mut self, sock: Sock);

    /// Closes the socket with a reset (RST) instead of an orderly end.
    fn reset(&mut self, sock: Sock);

    /// Asks for the addresses of a name; [`Event::Resolved`] with `key` follows. Nothing is cached here.
    fn resolve(&mut self, key: Key, name: &str);

    /// Sleeps until something happened or the clock reaches `until`, to the microsecond; less than 15 µs before it there is no
    /// sleep. `None` waits for events alone. Gives the time after it.
    fn wait(&mut self, until: Option<Nanos>) -> Nanos;

    /// The next thing that happened; `None` when there is nothing more.
    fn next_event(&mut self) -> Option<Event>;
}
