//! The result stream: one row schema, many encodings.
//!
//! ```text
//! Batch, Generator ──▶ Sink (queue, thread) ──▶ Writer ──▶ bytes: arrow, parquet, csv, json, gob
//! bytes ──▶ form detected ──▶ one source an input ──▶ Reader (merged by time) ──▶ Batch, Generator
//! ```
//!
//! A [`ReadAhead`] is a reader on a thread of its own. A [`Table`] is another program's: one column of times, no stream.
//!
//! Entry points: [`writer`], [`Sink::start`], [`Reader::open`], [`ReadAhead::start`]. It computes no statistics and opens no
//! file of the user's.

mod assertion;
mod create;
mod csv;
mod detect;
mod encoding;
mod error;
mod feed;
mod fill;
mod format;
mod gob;
mod headers;
mod json;
mod jtl;
mod labels;
mod native;
mod note;
mod observed;
mod pace;
mod read;
mod read_ahead;
mod selection;
mod sink;
mod source;
mod table;
mod write;
mod zone;

pub use create::writer;
pub use encoding::{Encoding, InputForm};
pub use error::{ReadError, WriteError};
pub use format::{Format, MisleadingEnding, UnknownEnding};
pub use note::{decode as decode_generator, encode as encode_generator};
pub use pace::Pace;
pub use read::{Input, Item, Reader};
pub use read_ahead::ReadAhead;
pub use selection::Selection;
pub use sink::{ASSERTIONS_MAX, Observer, Sink, SinkReport};
pub use table::{Table, TableError, TimeUnit, names_column};
pub use write::{Bodies, Detail, StreamInfo, Writer};
pub use zone::zone_offset_s;
