//! The interface between a virtual user and its host: actions and their results, the trait that the host implements, and
//! what a VU knows of its test. Data and traits only; nothing of JavaScript.

pub(crate) mod action;
pub(crate) mod call;
pub(crate) mod exception;
pub(crate) mod execution;
pub(crate) mod grpc;
pub(crate) mod http;
pub(crate) mod metrics;
pub mod response_head;
pub(crate) mod sample;
pub(crate) mod socket;
pub(crate) mod system_tags;
pub(crate) mod traits;
pub mod url_error;
pub(crate) mod virtual_user;
