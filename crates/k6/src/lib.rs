//! The host of k6 scripts: the commands `run`, `inspect`, `archive`, `lint`, `vendor` and `new`, with k6's flags, options' order of precedence,
//! outputs, summary, REST API and exit codes.
//!
//! ```text
//! ParsedArgs ─▶ config (options in order of precedence, script compiled) ─▶ stage (setup, scenarios, teardown: a session each)
//!                                                                   │
//!            console, rest, outputs ◀── what users do ──────────────┘──▶ judge ─▶ summary ─▶ exit code
//! ```
//!
//! What scripts can call is crate `script`'s; how load is offered is crate `session`'s.

mod announcement;
mod archive;
mod arguments;
mod beginning;
mod config;
mod console;
mod dashboard;
mod error;
mod fetch;
mod flag_checks;
pub mod flags;
mod fleet;
mod import_span;
mod judge;
mod lint;
mod look_clock;
mod module_lock;
mod network;
mod option_layers;
mod outputs;
mod project;
mod repeated_warnings;
mod reserved_folders;
mod rest;
mod rest_client;
mod run;
mod script_variables;
mod search;
mod secrets;
mod setup_totals;
mod source;
mod stage;
mod summary;
mod summary_mode;
mod tar;
mod variables;
mod vendor;
mod vu_count;
mod waits;
mod watch;
mod writes;

pub use archive::{archive, inspect, new};
pub use flags::script_variable;
pub use fleet::run_part;
pub use lint::lint;
pub use project::Readable;
pub use rest_client::remote;
pub use run::{operands, run, validate};
pub use search::{ScriptSource, ScriptTrial, SearchedScript, TrialLoad, TrialOutcome};
pub use vendor::vendor;
pub use writes::{Opening, Writes};
