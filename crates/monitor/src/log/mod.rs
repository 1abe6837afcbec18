//! Logs of servers, line by line: each request in a log becomes a row. Lines and times are handed in: nothing here reads a file
//! or a clock.
//!
//! ```text
//! line, now ──▶ Parser ──▶ ServedRequest (a request) · Incident (what the log lacks, once)
//! ```
//!
//! A parser adds nothing to what a log has: a column that is not a request time gives none. Any bytes may come and are data;
//! memory between lines is bounded.

mod access;
mod error;
mod head;
mod json;
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
pub use kind::{KINDS, json_parser, parser};
pub use open_requests::OPEN_MAX;
pub use parser::{LINE_MAX, Parser};
pub use scan::PATH_MAX;
