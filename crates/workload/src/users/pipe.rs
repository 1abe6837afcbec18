//! `Pipe`: a connection that has left HTTP, and what comes through it.

/// A connection that has left HTTP: its bytes belong to a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pipe {
    /// Index among the worker's connections; reused after a close.
    pub place: u32,
    /// The connection's number in the run.
    pub serial: u32,
}

/// What came through a [`Pipe`].
#[derive(Clone, Copy, Debug)]
pub enum PipeEvent<'a> {
    /// Bytes, as the server sent them.
    Bytes(&'a [u8]),
    /// The server closed its side, in order. Nothing follows.
    End,
    /// The connection is lost: the name of what went wrong, and its text. Nothing follows.
    Lost(&'static str, &'a str),
}

/// What came through a [stream](super::RequestKind::Stream) before its end, which is its response's.
#[derive(Clone, Copy, Debug)]
pub enum StreamEvent<'a> {
    /// The head of the response: its status, and the status line and the header lines, each ended by CR LF.
    Head(u16, &'a [u8]),
    /// A part of the response's body.
    Data(&'a [u8]),
}

/// Whether a pipe or a stream goes on receiving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backpressure {
    /// It does.
    Continue,
    /// Not before its user resumes it: what comes waits in the system's buffers or the stream's window, and then at the server.
    Pause,
}
