//! A forward proxy that records what passes through it, for scripts made from a person's steps in a browser.
//!
//! ```text
//! client ─▶ proxy::accept ─┬─ absolute form ─────────────────────────────▶ forward ─▶ upstream (pool, TLS verified)
//!                          └─ CONNECT ─▶ tunnel ─┬─ TLS ended (Authority) ─▶   │
//!                                                └─ bytes as they are (other hosts)
//!                  heads, copies of bodies, messages ──▶ Recording (Scope, limits, marks) ──▶ Record ──▶ write_har
//! ```
//!
//! Entry points: [`Authority::open`], [`Recorder::start`], [`Recording`], [`write_har`]. It changes nothing that passes but what belongs to a
//! connection alone, and keeps nothing of hosts outside of its [`Scope`], which it does not even decrypt.

mod authority;
mod certificates;
mod error;
mod exchange;
mod har;
mod limits;
mod line;
mod proxy;
mod recording;
mod scope;
mod secret_words;

pub use authority::{Authority, folder};
pub use error::{AuthorityError, RecorderError};
pub use exchange::{Body, Direction, Exchange, Mark, Message, Payload, RequestHead, ResponseHead};
pub use har::{HarLosses, Secrets, write_har};
pub use limits::{
    BODY_BYTES_MAX, CONNECTIONS_MAX, EXCHANGES_MAX, Limits, MESSAGE_BYTES_MAX, RECORDING_BYTES_MAX,
};
pub use line::Line;
pub use proxy::{Recorder, Settings};
pub use recording::{ExchangeId, Losses, Record, Recording};
pub use scope::Scope;
