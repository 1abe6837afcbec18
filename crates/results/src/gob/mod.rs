//! Go's gob, as far as Vegeta's results need it. `decode` reads any struct with Vegeta's field names, since the types
//! describe themselves; `encode` writes the very bytes that Go 1.26 writes for Vegeta's `Result`.
//!
//! A stream is a row of messages: length (uint), type id (int), then a type's description (id below 0) or a value. A uint
//! below 128 is one byte; others are the negated count of bytes, then the bytes, high first. An int is a uint shifted left
//! by one, complemented where negative. A struct is pairs of (field number minus the one before, value), closed by 0; zero
//! fields are left out. Source: the documentation of Go's `encoding/gob`.

mod decode;
mod encode;
mod types;

pub(crate) use decode::{GobRecords, is_start};
pub(crate) use encode::GobWriter;

/// Seconds from year 1 (Go's time zero) to 1970.
const YEAR_1_TO_1970_S: i64 = 62_135_596_800;
