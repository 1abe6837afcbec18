//! How much of an input is taken.

/// How large an input may be, in bytes.
pub const INPUT_BYTES_MAX: usize = 512 << 20;
/// How many requests a script may hold.
pub const REQUESTS_MAX: usize = 20_000;
/// The longest that a word of a shell becomes by the variables in it, each of which may hold others, in bytes.
pub(crate) const WORD_MAX: usize = 1 << 20;
/// How deep groups, schemas and documents may be nested.
pub const DEPTH_MAX: usize = 64;
