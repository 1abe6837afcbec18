//! How a time stands in a message: as a bare number of nanoseconds. `stdx` knows no serde.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stdx::Nanos;

pub(crate) fn serialize<S: Serializer>(time: &Nanos, to: S) -> Result<S::Ok, S::Error> {
    time.0.serialize(to)
}

pub(crate) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Nanos, D::Error> {
    u64::deserialize(from).map(Nanos)
}
