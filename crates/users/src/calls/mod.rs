//! Calls of gRPC: they are made as streams of their user's channel, and counted under k6's names.

pub(crate) mod debug;
pub(crate) mod failure;
pub(crate) mod finish;
pub(crate) mod pending;
pub(crate) mod stream_state;
pub(crate) mod streams;
