//! What stands between a virtual user and whoever runs it: what a script asks for and what comes back, what it needs of the world,
//! and what it is told of its test. Data and traits only; nothing of JavaScript.

pub(crate) mod action;
pub(crate) mod cookie_jar;
pub(crate) mod execution;
pub(crate) mod http;
pub(crate) mod metrics;
pub(crate) mod response_head;
pub(crate) mod sample;
pub(crate) mod socket;
pub(crate) mod system_tags;
pub(crate) mod traits;
