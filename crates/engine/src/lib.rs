//! The run: one worker per core drives arrivals, connections and recorders.
//!
//! ```text
//! Plan + Settings ─▶ Run ─▶ Worker (one a core: THE loop) ─▶ Recorder ─▶ Run::next_event ─▶ the command
//!                            │  pace: when       origin, conn: where to       wire: bytes
//!                            └─ hit: what is under way ─ finish: rows and counts
//! ```
//!
//! It formats nothing for people, writes no file and knows no encoding. A failed request is data.

mod burst;
mod conn;
mod decoders;
mod exchange;
mod failure;
mod gate;
mod hit;
mod list;
mod machine;
mod merge;
mod origin;
mod pace;
mod prepared;
mod record;
mod request;
mod run;
mod settings;
mod simulate;
mod streams;
mod watch;
mod worker;

pub use gate::{Gate, HostRule, Net};
pub use run::{LazyTargets, Run, RunEvent, StartError, Stopper, measure_empty_schedule};
pub use settings::{
    AddressFamily, Capture, ClientIdentity, DnsPick, DnsTtl, FirstAddress, HeadStyle, HttpVersion,
    IoChoice, KeptHeaders, Protocol, ProxySettings, Redirects, Settings, TlsSettings,
};
pub use simulate::{Outcome, simulate};
