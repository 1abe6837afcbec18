//! The commands that offer load: `attack`, `bench`, `grpc`, `seek`, `cable` and `jmeter`. Each has its flags and its configuration in a folder of its
//! own; what several of them need stands beside the folders, and knows none of the commands.
//!
//! ```text
//! ParsedArgs<AttackFlags> ─▶ attack::config ─┐
//! ParsedArgs<BenchFlags>  ─▶ bench::config ──┼─▶ targets, settings, outputs ─▶ LoadTest ─▶ run
//! ParsedArgs<GrpcFlags>   ─▶ grpc::config ───┤
//! ParsedArgs<CableFlags>  ─▶ cable::config ──┘
//! ParsedArgs<SeekFlags>   ─▶ seek::config ───▶ targets, settings ─▶ SeekConfig ─▶ a run for each step
//! ```

pub(crate) mod attack;
pub(crate) mod bench;
pub(crate) mod cable;
mod cookies;
mod environment;
pub(crate) mod flags;
mod fleet;
mod gates;
pub(crate) mod grpc;
pub(crate) mod jmeter;
mod load_test;
mod outputs;
pub(crate) mod resume;
mod row_exporter;
mod run;
pub(crate) mod seek;
mod settings;
mod targets;
mod watched;
