//! Protocols as state machines: bytes in, events out. No sockets, no clock, no threads, no files.
//!
//! ```text
//! url, proxy ──▶ h1::RequestTemplate ──render──▶ bytes ──▶ tls::TlsSession ──poll_transmit──▶ net
//! net ──▶ TlsSession::handle_bytes ──▶ h1::ResponseDecoder (or h2::H2Session) ──▶ content::ContentDecoder ──▶ the body
//! an upgraded connection ──▶ ws::WsSession::handle_bytes ──▶ messages; send_text … ──▶ bytes ──▶ net
//! ```
//!
//! `h1::server` is the other side of the wire, for the demo server and for tests of the pair.

pub mod cable;
pub mod content;
pub mod h1;
pub mod h2;
pub mod proxy;
pub mod socks5;
pub mod tls;
pub mod url;
pub mod ws;
