//! The run: one worker per core drives arrivals, connections and recorders.
//!
//! ```text
//! Plan + Settings ─▶ Run ─▶ Worker (one a core: THE loop) ─▶ Recorder ─▶ Run::next_event ─▶ the command
//!                            │  schedule: when   origin, conn: where to       wire: bytes
//!                            └─ hit: what is under way ─ finish: rows and counts
//! ```
//!
//! It formats nothing for people, writes no file and knows no encoding. A failed request is data.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use engine::{Run, RunEvent, Settings};
//! # fn plan() -> workload::Plan { unimplemented!() }
//!
//! let run = Run::start(plan(), &Settings::default(), None)?;
//! loop {
//!     match run.next_event(Duration::from_secs(1)) {
//!         Some(RunEvent::Rows(batch)) => run.recycle(batch),
//!         Some(RunEvent::Progress(snapshot)) => println!("{} hits", snapshot.hits()),
//!         Some(RunEvent::Finished(_)) => break,
//!         None => {}
//!     }
//! }
//! # Ok::<(), engine::StartError>(())
//! ```

mod captured;
mod conn;
mod contact;
mod cut;
mod deadlines;
mod decoders;
mod dial_addresses;
mod empty_schedule;
mod endpoint_rotation;
mod error;
mod failure;
mod failure_reason;
mod hit;
mod host_policy;
mod ids;
mod lazy;
mod list;
mod load_change;
mod merge;
mod named_by;
mod open_schedule;
mod orders;
mod origin;
mod origins;
mod parted_body;
mod place;
mod prepared;
mod promptness;
mod record;
mod request;
mod response_handler;
mod route;
mod run;
mod schedule;
mod self_metrics;
mod serials;
mod settings;
mod share;
mod simulate;
mod start_gate;
mod streams;
mod thread;
mod unsent;
mod work_budget;
mod worker;
mod worker_count;
mod worker_demand;
mod worker_io;

pub use cut::{CutError, cut};
pub use empty_schedule::measure_empty_schedule;
pub use error::{CertificateRole, StartError};
pub use failure_reason::{FailedHit, FailureReason, FailureText};
pub use host_policy::{HostPolicy, HostRule, IpRange};
pub use lazy::LazyTargets;
pub use load_change::{LoadChange, LoadChangeError};
pub use run::{ReadyRun, Run, RunEvent, Stopper};
pub use settings::{
    AddressFamily, AllProxy, AnswerClock, AnswerForm, Capture, CapturedHeaders, ClientIdentity,
    DnsPick, DnsTtl, FirstAddress, HeadStyle, HttpVersion, IoChoice, Protocol, ProxySettings,
    Redirects, Renewal, RowDelivery, Settings, TlsSettings,
};
pub use simulate::{Simulation, SimulationResult, simulate};
pub use worker::sample_of;
