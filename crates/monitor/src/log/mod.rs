//! Logs of servers, line by line: each request a log tells of becomes a row. Lines come from outside and times may too:
//! nothing here reads a file or a clock.
//!
//! ```text
//! line, now ──▶ Parser ──▶ ServedRequest (a request) · Incident (what the log cannot tell, said once)
//! ```
//!
//! What a log tells is believed, what it does not tell is not made up: a column that is no request time gives none.
//! Any bytes may come: they are data, kept as they are; what is held between lines is bounded.

mod access;
mod error;
mod head;
mod kind;
mod lograge;
mod moment;
mod open_requests;
mod parser;
mod pattern;
mod rails;
mod rails2;
mod scan;
#[cfg(test)]
mod tests;

pub use error::KindError;
pub use kind::{KINDS, parser};
pub use open_requests::OPEN_MAX;
pub use parser::{LINE_MAX, Parser};
pub use scan::PATH_MAX;
