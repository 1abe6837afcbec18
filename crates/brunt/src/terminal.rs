//! The terminal a command draws on.

pub(crate) use cli::terminal::{DrawnLines as Drawn, width};
