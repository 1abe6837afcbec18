//! Pools of users that are made by hand, in simulated time: executors, HTTP calls and what is counted, without a script.

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]

mod calls;
mod executors;
mod failures;
mod step_user;
mod world;
