//! The VUs of a worker, kept busy by the scenarios' executors: `pool` holds them, `users` is what the engine sees, `executors` decide
//! which VU begins an iteration, `iterations` carry it through, `http_call` and the `socket_*` files do what scripts ask for.

mod cable;
mod call_tags;
mod control;
mod digest;
mod executors;
mod failure;
mod frames;
mod http_call;
mod http_plan;
mod interner;
mod iterations;
mod live_metrics;
mod output;
mod plan;
mod pool;
mod ramp;
mod recorder;
mod row_tags;
mod scenario_state;
mod slot;
mod socket_commands;
mod socket_events;
mod socket_opening;
mod socket_state;
mod summary_groups;
mod targets;
mod users;
mod vu_host;
mod vu_stats;
mod wake;

pub use self::control::{Control, Paused};
pub use self::http_plan::{HttpDebug, HttpPlan, RateLimit};
pub use self::iterations::SCRIPT_HINT;
pub use self::live_metrics::LiveMetrics;
pub use self::output::{OutputSample, OutputTags, SampleSink};
pub use self::plan::{Clock, Log, PriorStages, VuPoolPlan};
pub use self::pool::vus_that_fit;
pub use self::users::vu_pool;
pub use self::vu_stats::{GroupTallies, VuStats};
