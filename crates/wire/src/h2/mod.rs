//! `H2Session`: the client's side of one HTTP/2 connection (RFC 9113): bytes in, events out. Frames, HPACK and flow control
//! are the `h2` crate's, which we run over a pipe in memory; nothing here waits or is waited for.
//!
//! ```text
//! H2Request ──open──▶ H2Session ──poll_transmit──▶ bytes
//! bytes ──handle_bytes──▶ H2Session ──poll_event──▶ head · data · end · failed, of a stream
//! ```

mod error;
mod event;
mod meter;
mod pipe;
mod request;
mod session;
#[cfg(test)]
mod tests;
mod upload;
mod wake;

pub use error::H2Error;
pub use event::StreamEvent;
pub use http::{HeaderMap, StatusCode};
pub use request::H2Request;
pub use session::H2Session;
