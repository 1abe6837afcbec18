//! The flags of `run`, `inspect`, `archive`, `lint`, `vendor` and `new`.

#[macro_use]
mod macros;

mod rows;
mod run;
mod run_flags;
mod script_environment;
mod scripts;

pub use self::rows::{archive_rows, inspect_rows, lint_rows, new_rows, run_rows, vendor_rows};
pub(crate) use self::run::RUN;
pub(crate) use self::run_flags::RunFlags;
pub use self::script_environment::script_variable;
pub(crate) use self::scripts::{ARCHIVE, INSPECT, LINT, NEW, NewFlags, VENDOR};
