//! `Users`: users that decide themselves what they send and when, such as a script's.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use stdx::Nanos;

use crate::arrival::Lane;
use crate::plan::Target;

/// Users that decide themselves what they send and when. One worker has one of these, on its own thread.
pub trait Users: fmt::Debug {
    /// Does all that is due by now. What is to be sent is added to `asks`; each is answered once. Gives when to come back at the
    /// latest, though nothing was answered.
    fn poll(&mut self, now: Nanos, asks: &mut Vec<Ask>) -> Option<Nanos>;

    /// What became of a user's request. It is acted on at the next [`poll`](Self::poll).
    fn answer(&mut self, user: u32, reply: &Reply<'_>);

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
