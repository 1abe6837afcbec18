//! The users of a worker, kept busy by the scenarios' executors: `vu_pool` holds them, `users` is what the engine sees, `executors`
//! decide which user begins an iteration, `iterations` carry it through, `wake` says when there is something to do.

pub(crate) mod control;
mod executors;
pub(crate) mod iterations;
pub(crate) mod plan;
mod ramp;
mod scenario_state;
pub(crate) mod slot;
pub(crate) mod users;
mod vu_host;
pub(crate) mod vu_pool;
mod wake;
