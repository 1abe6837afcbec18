//! A session is one load test carried out, from its opened outputs to its outcome. It has the only loop over the events of a
//! run.
//!
//! ```text
//! ResultsFile (open) ┐
//! Plan, Settings ────┼─▶ Session::start ─▶ Session::run ─▶ SessionOutcome
//! SessionOptions ────┘                        │  ▲
//!              RunEvent::Rows ◀── Execution ──┤  └── Control: drain, abort
//!                  │              (a Run, or a Simulation in tests)
//!                  ├─▶ every Observer: RunFigures, PrometheusExporter, MultiplexingCheck, a command's own
//!                  └─▶ ResultsWriter (bounded queue) ◀── MonitorSidecar: rows of the server's side
//! ```
//!
//! It names no command and prints no report. A failure is a [`SessionError`], which becomes an error with an exit code; what
//! is no failure is a warning on standard error.

mod abort;
mod clock;
mod descriptors;
mod error;
mod execution;
mod figures;
mod gates;
pub mod go_words;
mod io_choice;
mod labels;
mod limits;
mod listener;
mod monitor_config;
pub mod monitor_flags;
mod multiplexing;
mod observer;
mod progress;
mod prometheus;
mod provenance;
mod quota;
mod recipe;
mod report_files;
mod results_file;
mod results_writer;
pub mod save;
mod session;
mod sidecar;
mod start_error;
mod stop;
mod ticker;
mod token;
pub mod tui;
mod warning;
pub mod web;

pub use abort::{ABORT_CONDITIONS, ABORT_WHEN, AbortObserver, AbortWhen};
pub use clock::unix_ns;
pub use descriptors::warn_descriptor_limit;
pub use error::{ObserverError, SessionError};
pub use execution::Execution;
pub use figures::{OnCutOff, RunFigures};
pub use gates::{
    FAIL_ON, FAIL_ON_INVALID, GateObserver, OnInvalid, conclude_gates, conclude_shown_run,
    gates_of, read_gates,
};
pub use io_choice::{CLOCK_CHOICES, IO_CHOICES, clock_choice, io_choice};
pub use labels::target_labels;
pub use limits::WORKERS_MAX;
pub use listener::{Answers, BarePort, Listener, Reply, Request, Response};
pub use monitor_config::{Monitor, MonitorConfig};
pub use multiplexing::{MultiplexingCheck, Serialized};
pub use observer::{Control, Observer};
pub use progress::Progress;
pub use prometheus::{METRICS_DOCS, PrometheusExporter};
pub use provenance::{provenance, provenance_row};
pub use recipe::{
    Displays, LoadOnPage, MetricsRequest, OpenDisplays, PageOpened, PageRequest, RunOutcome,
    RunPlace, RunRequest, StartedRun, TakenAddress, TerminalView,
};
pub use report_files::ReportFiles;
pub use results_file::{ResultsFile, format_of};
pub use results_writer::OpenResults;
pub use session::{POLL_EVERY, Session, SessionOptions, SessionOutcome};
pub use sidecar::incident_line;
pub use start_error::with_flag;
pub use stop::{Deadline, DeadlineKind, OnInterrupt, StopPolicy};
pub use ticker::SampleTicker;
pub use token::Token;
pub use warning::warn;
