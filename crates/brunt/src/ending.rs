//! Formats of documents.

pub(crate) use cli::Document;
