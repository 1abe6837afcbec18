//! gRPC without I/O: what stands in the bodies, headers and trailers of its calls.
//!
//! ```text
//! .proto files ─▶ Definitions::load ─┐
//! a protoset   ─▶ ::load_protoset   ─┼─▶ Method{input, output} ─▶ json::decode ─▶ bytes ─▶ frame::encode ─▶ a request's body
//! a server     ─▶ Reflection        ─┘                        ◀─ json::encode ◀─ bytes ◀─ Deframer       ◀─ a response's body
//!                                                                 CallOutcome  ◀─ status, head and trailers
//! ```
//!
//! It refuses to open files, sockets or clocks: definitions are read through a [`ProtoSource`], bytes are handed in. What a
//! server sends is bounded before memory is taken for it.

mod call;
mod definitions;
mod details;
mod frame;
pub mod health;
pub mod json;
mod metadata;
mod reader;
mod reflection;
mod status;
mod wire;

pub use call::{CallOutcome, CallRequest, Reply, ReplyHead};
pub use definitions::{Definitions, DefinitionsError, Method, MethodSummary, ProtoSource};
pub use details::details_json;
pub use frame::{Deframer, FrameError, RECEIVE_MAX, compress_frames, encode_frame};
pub use metadata::{Metadata, MetadataError, encode_binary, timeout_text};
pub use reader::ResponseReader;
pub use reflection::{Reflection, ReflectionError, ReflectionVersion};
pub use status::{Code, Status};
