//! What a command reads.

pub(crate) use cli::input::{announce_stdin, is_stdin, read_regular, read_whole};
pub(crate) use cli::{INTERRUPT_CHECK_INTERVAL as LOOK_EVERY, Interrupts, reason};
