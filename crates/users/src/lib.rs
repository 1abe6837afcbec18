//! Virtual users that decide as they go, whatever they run: executors keep them busy, and do what they ask for.
//!
//! ```text
//!   UserProgram ─▶ its users, a pool of them a worker             Host: time, log, where a user stands in its test
//!
//!   engine      poll(now), handle_response ─▶ ┌──────────────────────── VuPool ────────────────────────┐
//!   (Virtual-                                 │ executors ▸ Call ─▶ VirtualUser ─▶ StepResult, Actions │
//!    Users)    ◀─ requests, bytes for pipes   │ http, sockets ◀─ Action ┘  ▲ ActionResult              │
//!                                             └──────────────┬─────────────────────────────────────────┘
//!                                                            └─▶ record: Tally, samples for outputs ─▶ VuStats
//! ```
//!
//! [`vu_pool`] makes a pool of what a [`VuPoolPlan`] says; it is compiled for each [`UserProgram`]. The crate knows no language and
//! does no I/O: the engine carries requests out, and the plan has the clock. docs/design/http-get.md follows one request.

mod calls;
mod host;
mod http;
mod pool;
mod record;
mod sockets;

pub use host::action::{Action, ActionResult, Ticket};
pub use host::call::{Call, StepResult};
pub use host::exception::{Exception, OUT_OF_MEMORY};
pub use host::execution::{AbortReason, ExecutionInfo, ScenarioInfo, Stage};
pub use host::grpc::{GrpcKind, GrpcRequest, GrpcResponse, Replies, StreamAction, StreamEvent};
pub use host::http::{
    Auth, BodyMemory, Expects, HttpFailure, HttpRequest, HttpResponse, OwnCookie, Statuses,
    Timings, masked,
};
pub use host::metrics::{DeclareError, DeclaredMetric, MetricRegistry};
pub use host::sample::{Sample, TagList};
pub use host::socket::{
    CableCommand, CableEvent, Delivery, HandshakeResponse, SocketApi, SocketCommand, SocketEvent,
    SocketRequest,
};
pub use host::system_tags::{SystemTag, SystemTags};
pub use host::traits::{Host, HttpRules, Instance, Level, LogFields};
pub use host::virtual_user::{UserProgram, VirtualUser};
pub use host::{response_head, url_error};
pub use http::cookie_jar::{Jar, SetCookie, SharedJar, default_path, is_path_of, parse_date};
pub use http::plan::{HttpDebug, HttpPlan, RateLimit};
pub use pool::control::{Control, Paused};
pub use pool::iterations::SCRIPT_HINT;
pub use pool::plan::{Clock, Log, PriorStages, VuPoolPlan, WorkPlan};
pub use pool::users::vu_pool;
pub use pool::vu_pool::vus_that_fit;
pub use record::live_metrics::LiveMetrics;
pub use record::output::{OutputSample, OutputTags, SampleSink};
pub use record::plan::SamplePlan;
pub use record::vu_stats::{GroupTallies, VuStats};
pub use workload::ChannelTls;
