//! Parquet, with Snappy. It can be read only from its end, so a pipe is first copied to a file without a name.

mod checksums;
mod pages;
mod read;
mod spool;
mod write;

pub(crate) use read::ParquetSource;
pub(crate) use write::ParquetWriter;
