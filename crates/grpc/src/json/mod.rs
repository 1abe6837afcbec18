//! Messages as JSON, as Go's protojson reads and writes it. Unset fields are written.

mod decode;
mod encode;
mod scalar;
mod time;
mod tree;
mod well_known;

pub use decode::decode;
pub use encode::encode;
pub(crate) use encode::encode_any;
pub use tree::JsonError;
