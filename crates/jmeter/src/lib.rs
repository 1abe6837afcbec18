//! JMeter's test plans as virtual users: what a plan does, thread by thread, as JMeter 5.6 does it.
//!
//! ```text
//!   jmx::PlanFile ─▶ Program::compile ─▶ Program: groups, controllers, samplers with what is in their scope
//!                                           │
//!   World (stages, properties, files) ──────┤
//!                                           ▼
//!   users::VuPool ─▶ ThreadUser: Walker ─▶ sampler ─▶ HttpRequest ─▶ … ─▶ HttpResponse ─▶ SampleResult ─▶ Sink
//! ```
//!
//! A thread of a plan is a virtual user that does one iteration: it waits for its own start, runs, and ends. The `walk::Walker` keeps
//! the place in every controller and takes a bounded number of steps a turn. The crate does no I/O: a [`Disk`] reads files, a [`Sink`]
//! takes results, the engine sends requests.

mod config;
mod http;
mod objects;
mod plan;
mod program_users;
mod random;
mod results;
mod script;
mod texts;
mod thread;
mod timer;
mod walk;
mod world;

pub use plan::compile::{CompileError, Include, Program};
pub use plan::group::{Group, GroupKind};
pub use program_users::JmeterProgram;
pub use results::csv::{CsvFormat, Timestamp};
pub use results::options::SaveOptions;
pub use results::sample::{AssertionResult, SampleResult};
pub use results::statistics::Statistics;
pub use results::summariser::{Summariser, Totals};
pub use results::xml;
pub use world::{Base, Disk, LogLevel, Sink, Stopping, World, WorldPlan};
