//! The modules that scripts import by name, one file each, and the globals.
#![allow(
    clippy::needless_pass_by_value,
    reason = "what JavaScript calls takes its arguments by value"
)]

mod bytes;
mod cable;
mod crypto;
mod csv;
mod data;
mod encoding;
mod execution;
mod fs;
mod globals;
mod grpc;
mod hash;
mod html;
mod http;
mod inspect;
mod js_builtins;
mod k6;
mod libraries;
mod locale;
mod metrics;
mod random;
mod secrets;
mod socket;
mod streams;
pub(crate) mod table;
mod tags;
mod timers;
mod web;
mod webcrypto;
mod ws;
mod x509;
