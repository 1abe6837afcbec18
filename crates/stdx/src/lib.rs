//! What std lacks and every crate needs: nanoseconds, byte sizes, seeded random numbers and the distributions times are drawn from,
//! counts with their nouns, lists as sentences have them, URLs without their passwords.
//!
//! It holds no domain noun: nothing here knows a request, a histogram or a flag. It reads no clock.

mod bytes;
mod count;
mod distribution;
mod list;
mod memory;
mod prng;
pub mod shared;
mod time;
mod userinfo;

pub use bytes::{Bytes, BytesError};
pub use count::{are, counted, greatest_common_divisor, plural, were};
pub use distribution::{Distribution, DistributionError};
pub use list::{list_and, list_or};
pub use memory::{MemoryShare, OutOfMemory, limit_memory, memory_limit, memory_refusals};
pub use prng::{Prng, mix};
pub use time::{DurationError, Nanos};
pub use userinfo::without_password;
