//! The hasher of maps that are gone through: a seed decides everything here, and so the order is the same in every process.

use std::hash::{BuildHasherDefault, DefaultHasher};

/// Hashes alike in every process, unlike std's default.
pub(crate) type SameOrder = BuildHasherDefault<DefaultHasher>;
