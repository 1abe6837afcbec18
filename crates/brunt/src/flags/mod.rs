//! The flags of each command, and of each other tool whose command line is understood. Their grammar is crate `cli`'s.

pub(crate) mod cluster;
pub(crate) mod fleet;
pub(crate) mod import;
pub(crate) mod jitter;
pub(crate) mod load_value;
pub(crate) mod record;
pub(crate) mod serve;
pub(crate) mod study;
pub(crate) mod watch;
