//! The native encodings: Arrow IPC stream and Parquet, two containers of the same columns. Every field of a sample has its
//! column; the generator's records are rows of another kind. `docs/reference/results.md` is the schema's description.
//!
//! ```text
//! Batch ──▶ Columns (vectors, dictionaries) ──▶ RecordBatch ──▶ ipc | parquet
//! ipc | parquet ──▶ RecordBatch ──▶ Rows (a cursor) ──▶ Batch
//! ```

mod array;
mod checksum;
mod columns;
mod compression;
mod flatbuffer;
mod guard;
mod ipc;
mod layout;
mod message;
mod parquet;
mod pipe_end;
mod record_batch;
mod rows;
mod schema;

pub(crate) use ipc::{ArrowSource, ArrowWriter};
pub(crate) use parquet::{ParquetSource, ParquetWriter};
