//! The JavaScript runtime of virtual users: a realm for each thread, a fiber and a coroutine for each VU, its event loop.

pub(crate) mod caught;
pub(crate) mod context;
pub(crate) mod coroutine;
pub(crate) mod current;
pub(crate) mod deep_stack;
pub(crate) mod environment;
pub(crate) mod event_loop;
pub(crate) mod ffi;
pub(crate) mod frames;
pub(crate) mod go_json;
pub(crate) mod known_urls;
pub(crate) mod realm;
pub(crate) mod run_loop;
pub(crate) mod summary;
pub(crate) mod timers;
pub(crate) mod values;
pub(crate) mod vu;
mod wait;
