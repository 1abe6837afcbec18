//! `Arc<[T]>` for serde, as the list that it is.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes the list.
///
/// # Errors
/// Those of the format.
pub fn serialize<T: Serialize, S: Serializer>(list: &Arc<[T]>, to: S) -> Result<S::Ok, S::Error> {
    list.as_ref().serialize(to)
}

/// Reads a list.
///
/// # Errors
/// Those of the format.
pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Arc<[T]>, D::Error> {
    Vec::deserialize(from).map(Into::into)
}
