//! Turns what people already have into load: curl lines, HARs, OpenAPI documents, Postman collections and `.http` files become
//! a k6 script or Vegeta targets.
//!
//! ```text
//! Input ─▶ Kind::detect ─▶ curl | har | openapi | postman | http_file ─▶ Import { groups of steps, notes }
//!              Files ──(what the input names, if it may be read)──┘             │
//!                                                              write_script ◀───┴───▶ write_targets
//! ```
//!
//! A test plan of JMeter's has code and a load model: [`write_plan`] makes a script of it at once.
//!
//! An access log is no list of requests but traffic: a [`Traffic`] counts its lines, and has targets with weights and a rate by the minute.
//!
//! All of it is a stranger's text: what reaches a script goes through `quote`, and a file is read only if [`Files`] gives it.
//! The crate does no I/O and reads no clock. Entry points: [`import`], [`write_script`], [`write_targets`].

mod curl;
mod error;
mod har;
mod http_file;
mod input;
mod kind;
mod limits;
mod media;
mod model;
mod openapi;
mod percent;
mod plan;
mod postman;
mod quote;
mod script;
mod snippet;
mod targets;
mod text;
mod traffic;
mod variables;

pub use error::{ImportError, Place};
pub use input::{FileProblem, Files, Input};
pub use kind::Kind;
pub use limits::{DEPTH_MAX, INPUT_BYTES_MAX, REQUESTS_MAX};
pub use model::{
    Auth, Between, Body, Check, Content, Conversation, Cookies, Decoding, Exchange, Extraction,
    Find, Group, Header, Hearing, Import, JsonStep, Multipart, Note, Part, Polling, RedirectRules,
    Redirects, Reply, Step,
};
pub use openapi::DocumentError;
pub use plan::{PlanNote, PlanScript, write_plan};
pub use script::{ScriptSettings, write_script};
pub use targets::{TargetsError, write_targets};
pub use text::{Digest, DigestAlgorithm, DigestForm, Encoding, Piece, Source, Text, Value};
pub use traffic::{LogRequest, Traffic, unescape};

/// Reads `input` as what its kind is.
///
/// # Errors
/// If nothing of the input can be used: it is no input of its kind, or larger or deeper than the bounds. What can be used in
/// part comes back, with a note for each part that cannot.
pub fn import(input: &Input<'_>) -> Result<Import, ImportError> {
    if input.text.len() > INPUT_BYTES_MAX {
        return Err(ImportError::TooLarge { name: input.name.into(), bytes: input.text.len() });
    }
    let import = match input.kind {
        Kind::Curl => curl::import(input),
        Kind::Har => har::import(input),
        Kind::OpenApi => openapi::import(input),
        Kind::Postman => postman::import(input),
        Kind::Http => http_file::import(input),
    }?;
    match import.exchanges().count() {
        0 => Err(ImportError::NoRequests { name: input.name.into(), kind: input.kind }),
        count if count > REQUESTS_MAX => {
            Err(ImportError::TooManyRequests { name: input.name.into(), count })
        }
        _ => Ok(import),
    }
}
