//! The VUs of a worker, kept busy by the scenarios' executors.

mod cable;
mod control;
mod digest;
mod exchange;
mod executors;
mod failure;
mod frames;
mod http_plan;
mod interner;
mod iterations;
mod live;
mod outcome;
mod output;
mod parts;
mod plan;
mod pool;
mod ramp;
mod recorder;
mod scenario_state;
mod slot;
mod socket_commands;
mod socket_events;
mod socket_opening;
mod socket_state;
mod targets;
mod users;
mod vu_host;
mod wake;

pub use self::control::Control;
pub use self::http_plan::{Debug, HttpPlan, Pace};
pub use self::iterations::SCRIPT_HINT;
pub use self::live::Live;
pub use self::outcome::{Outcome, PartTallies};
pub use self::output::{Emit, Point, PointTags};
pub use self::plan::{Clock, CrewPlan, Earlier, Log};
pub use self::users::crew;
