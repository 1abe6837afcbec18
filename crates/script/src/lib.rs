//! The script host: k6 scripts on QuickJS. The virtual users (VUs) of a thread share a realm; each is a fiber of it on a
//! coroutine of its own, so that a blocking `http.get` may wait in the middle of a call while others run.
//!
//! ```text
//!              Call ──▶ ┌──────────────── Vu ────────────────┐ ──▶ Turn::Done(value or exception)
//!                       │ coroutine ▸ QuickJS ▸ the script   │
//!   (Ticket, Answer) ──▶└──── http.get() suspends here ──────┘ ──▶ Turn::Waits, Asked(Ticket, Action)
//! files ─▶ Program (bytecode, options) ─▶ Realm ─▶ its Vus                    Host: time, log
//! ```
//!
//! It asks and never does: no socket, no file, no clock. Somebody above carries an [`Action`] out and comes back with its
//! [`Answer`].

mod api;
mod host;
mod loader;
mod options;
mod runtime;
mod vus;

pub use host::action::{
    Action, Answer, Asked, Auth, Expects, HttpAnswer, HttpAsk, HttpFailure, OwnCookie, Statuses,
    Ticket, Timings,
};
pub use host::cookie_jar::{Jar, SetCookie, SharedJar};
pub use host::execution::{Halt, Role, Standing};
pub use host::metrics::{Declared, Registry};
pub use host::socket::{
    CableCommand, CableEvent, Opened, SocketAsk, SocketDo, SocketEvent, SocketOrder, Speaker, Told,
};
pub use host::traits::{Files, Host, HttpRules, Instance, Level, LogFields, Secrets};
pub use loader::program::{CompileError, Env, Program};
pub use options::http::{DnsOptions, HttpOptions, TlsIdentity};
pub use options::{
    Fields, Format, Options, OptionsError, Rule, ToldOptions, VARIABLES, end, merged, overridden,
    time_of,
};
pub use runtime::context::{Sample, Stage, TagList};
pub use runtime::exception::Exception;
pub use runtime::realm::Realm;
pub use runtime::summary::{Document, documents};
pub use runtime::vu::{Call, Turn, Vu};
pub use vus::{
    Clock, Control, CrewPlan, Debug, Earlier, Emit, HttpPlan, Live, Log, Outcome, Pace,
    PartTallies, Point, PointTags, SCRIPT_HINT, SystemTag, SystemTags, crew,
};
