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

mod action;
mod commonjs;
mod crew;
mod deep;
mod event_loop;
mod exception;
mod globals;
mod go_json;
mod head;
mod host;
mod http_options;
mod inspect;
mod jar;
mod loading;
mod modules;
mod options;
mod program;
mod raw;
mod realm;
mod registry;
mod resolve;
mod seat;
mod socket;
mod source;
mod standing;
mod store;
mod summary;
mod timers;
mod vu;

pub use action::{
    Action, Answer, Asked, Auth, Expects, HttpAnswer, HttpAsk, HttpFailure, OwnCookie, Statuses,
    Ticket, Timings,
};
pub use crew::{
    Clock, Control, CrewPlan, Debug, Earlier, Emit, HttpPlan, Live, Log, Outcome, Pace,
    PartTallies, Point, PointTags, SCRIPT_HINT, SystemTag, SystemTags, crew,
};
pub use exception::Exception;
pub use host::{Files, Host, HttpRules, Instance, Level, LogFields, Secrets};
pub use http_options::{DnsOptions, HttpOptions, TlsIdentity};
pub use jar::{Jar, SetCookie, SharedJar};
pub use options::{
    Fields, Format, Options, OptionsError, Rule, ToldOptions, VARIABLES, end, merged, overridden,
    time_of,
};
pub use program::{CompileError, Env, Program};
pub use realm::Realm;
pub use registry::{Declared, Registry};
pub use seat::{Sample, Stage, TagList};
pub use socket::{
    CableCommand, CableEvent, Opened, SocketAsk, SocketDo, SocketEvent, SocketOrder, Speaker, Told,
};
pub use standing::{Halt, Role, Standing};
pub use summary::{Document, documents};
pub use vu::{Call, Turn, Vu};
