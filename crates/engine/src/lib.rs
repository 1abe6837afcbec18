//! The run: one worker per core drives arrivals, connections and recorders.

mod run;
mod settings;

pub use run::{LazyTargets, Run, RunEvent, StartError};
pub use settings::{Capture, DnsTtl, HeadStyle, ProxySettings, Redirects, Settings, TlsSettings};
