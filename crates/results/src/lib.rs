//! the result stream: one row schema, many encodings.
