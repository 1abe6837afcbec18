//! Virtual users that decide as they go, such as those of a script.

mod host;

pub use host::action::{Action, ActionResult, Ticket};
pub use host::call::{Call, StepResult};
pub use host::cookie_jar::{Jar, SetCookie, SharedJar, parse_date, push_cookie};
pub use host::exception::{Exception, OUT_OF_MEMORY};
pub use host::execution::{AbortReason, ExecutionInfo, ScenarioInfo, Stage};
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
pub use host::{response_head, url_error};
