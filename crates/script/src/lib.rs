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
//! program_users: a pool of `users` a worker, VirtualUsers to the engine: actions become commands, responses become results
//! ```
//!
//! The crate does no I/O: no socket, no file, no clock. The pool of `users` carries an [`Action`] out and
//! returns its [`ActionResult`]. docs/design/http-get.md follows one request through all modules.

mod api;
mod compile;
mod loader;
mod options;
mod program_users;
mod runtime;

pub use loader::files::{Files, Secrets};
pub use loader::prepare::{nests_deeper, with_deep_stack};
pub use loader::program::{CompileError, Program};
pub use options::{
    ConsolidatedOptions, DnsOptions, Fields, HttpOptions, Options, OptionsError, ThresholdOption,
    TlsIdentity, VARIABLES, ValueFormat, canonical, merged, nearest_option, overridden, time_of,
};
pub use program_users::{vu_pool, vus_that_fit};
pub use runtime::environment::Env;
pub use runtime::ffi::look_everywhere;
pub use runtime::realm::Realm;
pub use runtime::summary::{Document, documents};
pub use runtime::vu::Vu;
pub use users::{
    AbortReason, Action, ActionResult, Auth, CableCommand, CableEvent, Call, Clock, Control,
    DeclaredMetric, Delivery, Exception, ExecutionInfo, Expects, GroupTallies, HandshakeResponse,
    Host, HttpDebug, HttpFailure, HttpPlan, HttpRequest, HttpResponse, HttpRules, Instance, Jar,
    Level, LiveMetrics, Log, LogFields, MetricRegistry, OutputSample, OutputTags, OwnCookie,
    Paused, PriorStages, RateLimit, SCRIPT_HINT, Sample, SamplePlan, SampleSink, ScenarioInfo,
    SetCookie, SharedJar, SocketApi, SocketCommand, SocketEvent, SocketRequest, Stage, Statuses,
    StepResult, SystemTag, SystemTags, TagList, Ticket, Timings, VirtualUser, VuPoolPlan, VuStats,
    WorkPlan,
};
