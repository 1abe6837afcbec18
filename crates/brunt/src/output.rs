//! What a command writes.

pub(crate) use cli::{
    OpenOutput as Outlet, Output as Place, eprint_line as complain, is_closed_pipe, log_time,
    stdout_is_terminal,
};
