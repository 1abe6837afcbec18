//! HTTP/1.1 and 1.0 (RFC 9112): requests out, responses in, and the server's side of both.

pub mod request;
pub mod response;
pub mod server;

pub use httparse::Header;

/// How far a decoder came with the bytes it was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the input that belonged to this message.
    pub consumed: usize,
    /// The message is complete. What was not consumed belongs to the next one.
    pub done: bool,
}

/// The minor version of HTTP/1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    Http11,
}
