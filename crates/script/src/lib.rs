//! The script host: k6 scripts on QuickJS. The virtual users (VUs) of a thread share a realm; each is a fiber of it on a
//! coroutine of its own, so that a blocking `http.get` may wait in the middle of a call while others run.
//!
//! ```text
//! files ─▶ loader ─▶ Program (bytecode, options) ─▶ Realm ─▶ its Vus          Host: time, log
//!
//!                           Call ──▶ ┌───────────────── Vu ─────────────────┐ ──▶ StepResult::Done(value or exception)
//!                                    │ coroutine ▸ QuickJS ▸ script ▸ api   │
//!   ResumeWith(Ticket, ActionResult)▶└───── http.get() suspends here ───────┘ ──▶ StepResult::Waits; Action with its Ticket
//!
//! vus: a VuPool a worker, VirtualUsers to the engine: actions become commands, responses become results
//! ```
//!
//! The crate does no I/O: no socket, no file, no clock. The pool's host carries an [`Action`] out and returns its
//! [`ActionResult`]. docs/design/http-get.md follows one request through all modules.

mod api;
mod compile;
mod loader;
mod options;
mod runtime;
mod vus;

pub use loader::files::{Files, Secrets};
pub use loader::program::{CompileError, Program};
pub use options::{
    ConsolidatedOptions, DnsOptions, Fields, HttpOptions, Options, OptionsError, ThresholdOption,
    TlsIdentity, VARIABLES, ValueFormat, canonical, merged, overridden, time_of,
};
pub use runtime::environment::Env;
pub use runtime::ffi::look_everywhere;
pub use runtime::realm::Realm;
pub use runtime::summary::{Document, documents};
pub use runtime::vu::Vu;
pub use users::{
    AbortReason, Action, ActionResult, Auth, CableCommand, CableEvent, Call, DeclaredMetric,
    Delivery, Exception, ExecutionInfo, Expects, HandshakeResponse, Host, HttpFailure, HttpRequest,
    HttpResponse, HttpRules, Instance, Jar, Level, LogFields, MetricRegistry, OwnCookie, Sample,
    ScenarioInfo, SetCookie, SharedJar, SocketApi, SocketCommand, SocketEvent, SocketRequest,
    Stage, Statuses, StepResult, SystemTag, SystemTags, TagList, Ticket, Timings,
};
pub use vus::{
    Clock, Control, GroupTallies, HttpDebug, HttpPlan, LiveMetrics, Log, OutputSample, OutputTags,
    Paused, PriorStages, RateLimit, SCRIPT_HINT, SampleSink, VuPoolPlan, VuStats, vu_pool,
    vus_that_fit,
};
