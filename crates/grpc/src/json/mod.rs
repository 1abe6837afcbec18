//! Messages as JSON, as Go's protojson reads and writes it. Unset fields are written.

mod decode;
mod depth;
mod encode;
mod scalar;
mod time;
mod tree;
mod well_known;

use prost_reflect::prost::Message as _;

pub use decode::decode;
pub use depth::nests_deeply;
pub use encode::encode;
pub(crate) use encode::encode_any;
pub use prost_reflect::{DynamicMessage, MessageDescriptor};
pub use tree::JsonError;

/// A message as it goes over the wire.
#[must_use]
pub fn encode_bytes(message: &DynamicMessage) -> Vec<u8> {
    message.encode_to_vec()
}

/// A message of this type from the wire; `None` where the bytes are none.
#[must_use]
pub fn decode_bytes(of: &MessageDescriptor, bytes: &[u8]) -> Option<DynamicMessage> {
    DynamicMessage::decode(of.clone(), bytes).ok()
}
