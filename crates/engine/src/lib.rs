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
mod captured;
mod conn;
mod decoders;
mod empty_schedule;
mod error;
mod exchange;
mod failure;
mod gate;
mod hit;
mod lazy;
mod list;
mod machine;
mod merge;
mod origin;
mod origins;
mod pace;
mod prepared;
mod record;
mod request;
mod route;
mod run;
mod serials;
mod settings;
mod share;
mod simulate;
mod stop;
mod streams;
mod thread;
mod tries;
mod turns;
mod unsent;
mod watch;
mod worker;

pub use empty_schedule::measure_empty_schedule;
pub use error::StartError;
pub use gate::{Gate, HostRule, Net};
pub use lazy::LazyTargets;
pub use run::{Run, RunEvent, Stopper};
pub use settings::{
    AddressFamily, Capture, ClientIdentity, DnsPick, DnsTtl, FirstAddress, HeadStyle, HttpVersion,
    IoChoice, KeptHeaders, Protocol, ProxySettings, Redirects, Settings, TlsSettings,
};
pub use simulate::{Outcome, simulate};
