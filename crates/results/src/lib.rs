//! The result stream: one row schema, many encodings.
//!
//! ```text
//! Batch, Generator ──▶ Sink (queue, thread) ──▶ Writer ──▶ bytes: arrow, parquet, csv, json, gob
//! bytes ──▶ encoding told by content ──▶ one source an input ──▶ Reader (merged by time) ──▶ Batch, Generator
//! ```
//!
//! Entry points: [`writer`], [`Sink::start`], [`Reader::open`]. It computes no statistics and opens no file of the user's.

mod encoding;
mod error;
mod read;
mod sink;
mod write;

pub use encoding::Encoding;
pub use error::{ReadError, WriteError};
pub use read::{Input, Item, Reader};
pub use sink::{Sink, SinkReport};
pub use write::{Detail, StreamInfo, Writer, writer};
