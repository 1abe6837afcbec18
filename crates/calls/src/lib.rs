//! Calls of gRPC as targets of a run: where methods are known from, what their messages are, and how both are shown.
//!
//! ```text
//! .proto, protoset ─┐
//! reflection ───────┴─▶ Definitions ─▶ find_method ─┬─▶ CallPlan::targets ─▶ targets, or a target for each request (templates)
//!                       JSON, templates, binary ────┘                        ─▶ the engine, as every other load
//!                       Definitions ─▶ listing, describe, json_template
//! ```
//!
//! A call is a request of HTTP/2 with a fixed body, so the engine paces it as any other; what its response says is judged by
//! [`engine::AnswerForm`]. It refuses to offer load itself: the few exchanges of reflection are single requests.

mod call_plan;
mod data;
mod definitions;
mod describe;
mod exchange;
mod json_template;
mod metadata;
mod method;
mod proto_files;
mod request_values;
mod server;
mod template;
mod template_action;
mod template_function;

pub use call_plan::{CallPlan, CallTargets, Coding};
pub use data::CallData;
pub use definitions::{DefinitionSource, load};
pub use describe::{describe, describe_json, listing, message_of};
pub use json_template::json_template;
pub use metadata::parse_metadata;
pub use method::{find_method, find_symbol};
pub use server::Server;
pub use template::Template;
