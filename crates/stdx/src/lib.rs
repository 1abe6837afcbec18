//! What std lacks and every room needs: nanoseconds, byte sizes, seeded random numbers.
//!
//! It holds no domain noun: nothing here knows a request, a histogram or a flag. It reads no clock.

mod bytes;
mod prng;
mod time;

pub use bytes::{Bytes, BytesError};
pub use prng::{Prng, mix};
pub use time::{DurationError, Nanos};
