//! HTTP/1.1 and 1.0 (RFC 9112): requests out, responses in, and the server's side of both.

mod body;
pub(crate) mod fields;
mod head_buffer;
mod memo;
mod progress;
mod reason;
pub mod request;
mod request_error;
pub mod response;
pub mod server;
mod version;
mod write;

pub use httparse::Header;
pub use memo::HeadMemo;
pub use progress::Progress;
pub use version::Version;
