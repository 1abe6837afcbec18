//! `Users`: users that decide themselves what they send and when, such as a script's.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use stdx::Nanos;

use crate::arrival::Lane;
use crate::share::Share;
use crate::target::Target;

/// Users that decide themselves what they send and when. One worker has one of these, on its own thread.
pub trait Users: fmt::Debug {
    /// Does all that is due by now. What is to be done is added to `wishes`; each ask is answered once. Gives when to come back
    /// at the latest, though nothing was answered.
    fn poll(&mut self, now: Nanos, wishes: &mut Wishes) -> Option<Nanos>;

    /// What became of a user's request. It is acted on at the next [`poll`](Self::poll).
    fn answer(&mut self, user: u32, reply: &Reply<'_>);

    /// Something came through a pipe of a user's. It is acted on at the next [`poll`](Self::poll).
    fn received(&mut self, pipe: Pipe, now: Nanos, what: Received<'_>) -> Flow {
        let _ = (pipe, now, what);
        Flow::On
    }

    /// Begins nothing new; with `Ending::Now` what is under way ends as well.
    fn stop(&mut self, ending: Ending);

    /// Whether every user has ended.
    fn is_over(&self) -> bool;
}

/// How users are stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// After what is under way.
    AfterThis,
    /// At once.
    Now,
}

/// A request of a user.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// Whose it is.
    pub user: u32,
    /// What is asked for. Asking for the same `Arc` again is cheaper than for an equal one.
    pub target: Arc<Target>,
    /// How long it may take.
    pub timeout: Nanos,
    /// Whose connections it goes on, where users have their own.
    pub owner: u32,
    /// The connections that its owner has are closed before.
    pub anew: bool,
    /// The connection is to be the user's own once the server has switched protocols: a [`Pipe`]. RFC 9110, 7.8.
    pub upgrades: bool,
    /// A redirect named what is asked for, and it led away from what its user had asked for.
    pub redirected: bool,
}

/// A connection that has left HTTP: its bytes are a user's own affair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pipe {
    /// Its place among the worker's connections; one that is closed leaves it to others.
    pub place: u32,
    /// The connection's number in the run.
    pub serial: u32,
}

/// What came through a [`Pipe`].
#[derive(Clone, Copy, Debug)]
pub enum Received<'a> {
    /// Bytes, as the server sent them.
    Bytes(&'a [u8]),
    /// The server closed its side, in order. Nothing follows.
    End,
    /// The connection is lost: the name of what went wrong, and its text. Nothing follows.
    Lost(&'static str, &'a str),
}

/// Whether a user takes more of what comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It does.
    On,
    /// Not before it [resumes](Wishes::resume) the pipe: what comes waits in the system's buffers, and then at the server.
    Hold,
}

/// What users want done.
#[derive(Debug, Default)]
pub struct Wishes {
    /// How much may be begun in this poll. Who has more to begin says so by the time to come back at.
    pub share: Share,
    /// Requests.
    pub asks: Vec<Ask>,
    /// What is done to pipes, in this order.
    pub orders: Vec<(Pipe, Order)>,
    /// The bytes that are sent through pipes, one after the other.
    pub bytes: Vec<u8>,
    /// Rows of what users measured themselves.
    pub trips: Vec<Trip>,
}

/// What is done to a [`Pipe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// So many of the bytes, the next ones, are sent.
    Send(usize),
    /// It is closed, once all is sent. Nothing more is told of it.
    Close,
    /// What comes is wanted again.
    Resume,
}

impl Wishes {
    /// Sends bytes through a pipe. Those of one turn go together.
    pub fn send(&mut self, pipe: Pipe, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.orders.push((pipe, Order::Send(bytes.len())));
    }

    /// Closes a pipe, once all is sent.
    pub fn close(&mut self, pipe: Pipe) {
        self.orders.push((pipe, Order::Close));
    }

    /// Wants what comes through a pipe again.
    pub fn resume(&mut self, pipe: Pipe) {
        self.orders.push((pipe, Order::Resume));
    }
}

/// What a user measured beside its requests, such as a message's way to the server and back: it becomes a row as a hit does.
#[derive(Clone, Debug)]
pub struct Trip {
    /// What it was: a word for what was done, and the address, as `PERFORM ws://host/cable`.
    pub line: Arc<str>,
    /// When it was due.
    pub due: Nanos,
    /// When it was sent.
    pub sent: Nanos,
    /// When it ended.
    pub done: Nanos,
    /// Bytes sent for it.
    pub bytes_out: u64,
    /// Bytes that came back.
    pub bytes_in: u64,
    /// Why it failed: what kind of failure by its name in a report, and its text.
    pub failure: Option<(TripFailure, Arc<str>)>,
    /// The connection that it was made on.
    pub serial: u32,
}

/// How a [`Trip`] fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TripFailure {
    /// Nothing came back in time.
    Timeout,
    /// The connection was lost.
    Lost,
    /// The server said no, or something that nobody understands.
    Refused,
    /// Nobody waited for it any more, since the run was interrupted.
    Stopped,
}

/// What became of an [`Ask`]. Times are offsets from the run's start.
#[derive(Clone, Debug, Default)]
pub struct Reply<'a> {
    /// When it was asked for.
    pub due: Nanos,
    /// When its request was sent; `None` where it never was.
    pub sent: Option<Nanos>,
    /// When the last byte of its request was taken by the system; `None` where the first never was.
    pub all_sent: Option<Nanos>,
    /// When the response began; `None` where it did not.
    pub first_byte: Option<Nanos>,
    /// When it ended.
    pub done: Nanos,
    /// How long connecting took, without the name lookup; 0 on a kept-alive connection.
    pub dial: Nanos,
    /// How long the TLS handshake took.
    pub tls: Nanos,
    /// The status; 0 where there was no response.
    pub status: u16,
    /// The status line and the header lines, each ended by CR LF. Replies with the same head may share it.
    pub head: Option<Arc<[u8]>>,
    /// The decoded body, as much of it as was kept.
    pub body: &'a [u8],
    /// Bytes of the request.
    pub bytes_out: u64,
    /// Bytes of the response on the wire.
    pub wire_in: u64,
    /// The name of what went wrong, and its text.
    pub failure: Option<(&'static str, String)>,
    /// What is known of it beyond its name.
    pub detail: Detail,
    /// Who was asked; `None` where nobody was reached.
    pub remote: Option<SocketAddr>,
    /// What TLS agreed on: its version as `tls1.3`, and the cipher suite by IANA's name.
    pub secured: Option<(&'static str, &'static str)>,
    /// The connection, where the server has switched protocols as was asked for.
    pub pipe: Option<Pipe>,
}

/// What is known of a failure beyond its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Nothing.
    #[default]
    None,
    /// The system's error number.
    Os(i32),
    /// The connection was closed for writing.
    BrokenPipe,
    /// The address is one that must not be asked.
    ForbiddenAddress,
    /// The name is one that must not be asked.
    ForbiddenName,
    /// The certificate is signed by nobody known.
    UnknownAuthority,
    /// The certificate is another's.
    OtherName,
    /// The answer to a handshake was no TLS.
    NotTls,
    /// HTTP/2: the server ended the connection with this code. RFC 9113, 7.
    GoAway(u32),
    /// HTTP/2: the server ended the stream with this code.
    StreamReset(u32),
    /// HTTP/2: the connection broke the protocol with this code.
    BrokenStreams(u32),
}

/// Makes a worker's users, on the worker's thread.
#[derive(Clone)]
pub struct Crew {
    /// How many users there are at most, in all.
    pub users: u64,
    /// Makes the users of one worker of several.
    pub make: Arc<dyn Fn(Lane) -> Box<dyn Users> + Send + Sync>,
}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew").field("users", &self.users).finish_non_exhaustive()
    }
}
