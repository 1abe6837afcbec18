//! HTTP/1.1 and 1.0 (RFC 9112): requests out, responses in, and the server's side of both.

mod body;
pub(crate) mod fields;
mod memo;
pub mod request;
pub mod response;
pub mod server;
mod write;

pub use httparse::Header;
pub use memo::HeadMemo;

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

impl Version {
    /// The version of this minor number, as httparse gives it.
    const fn from_minor(minor: Option<u8>) -> Self {
        match minor {
            Some(1) => Self::Http11,
            _ => Self::Http10,
        }
    }
}
