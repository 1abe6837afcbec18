//! What a command line needs: the grammar of its flags, its inputs and outputs, its errors and exit codes. It knows no command.
//!
//! ```text
//! argv ─▶ parse (Go's flags) ─────────────┐
//!         getopt::parse (-kc5) ───────────┼─▶ Flag::set ─▶ ParsedArgs: a command's options, and its operands
//!         getopt_long::parse (--count=5) ─┘      ▲
//!                                              value (text to a typed value)
//! rows ─▶ help, man page, completions
//! CommandSpec::run(Invocation) ─▶ ExitCode or CommandError
//! ```
//!
//! A command describes each of its flags by one [`Flag`]: a [`Row`] for people, and a setter for the parser. The main grammar is
//! that of Go's `flag` package (`-f v`, `-f=v`, `--f v`, `--f=v`; a switch takes a value only with `=`), which no crate of flags
//! offers. [`getopt`] and [`getopt_long`] read the command lines of the tools that use these.
//!
//! [`Output`] and [`input`] open what a command line names, [`Interrupts`] counts the signals that ask to stop, and an
//! [`ExitError`] carries the exit code of a failure to `main`.

mod document;
mod error;
mod exit_code;
mod flag;
pub mod getopt;
pub mod getopt_long;
pub mod global;
pub mod input;
mod internal_error;
mod interrupts;
mod invocation;
mod job_summary;
mod output;
mod parse;
mod results_input;
mod results_option;
pub mod screen;
mod shared_file;
mod spec;
mod stderr;
mod system_text;
pub mod terminal;
mod terminal_writer;
pub mod value;
mod whole_file;

pub use document::Document;
pub use error::{ASKS_FOR_HELP, CommandError, CommandResult, ExitError, OrExit, usage_error};
pub use exit_code::ExitCode;
pub use flag::{EmptyValue, Flag, Row, Scope, ValueKind, flag_count, joined};
pub use global::GlobalFlags;
pub use internal_error::or_internal;
pub use interrupts::{INTERRUPT_CHECK_INTERVAL, Interrupts, survive_file_size_limit};
pub use invocation::{Dialect, INTERRUPT_GRACE, Invocation, ParsedArgs};
pub use job_summary::{annotate_failure, append_job_summary, has_job_summary};
pub use output::{OpenOutput, Output, is_closed_pipe, stdout_is_terminal};
pub use parse::{FlagError, Grammar, Parsed, parse};
pub use results_input::{NamedInput, open_results};
pub use results_option::{NoFile, RESULTS, ResultsOption, WATCH, take_results};
pub use spec::{CommandSpec, NO_FLAGS, Registry, ToolSpec, rows_of};
pub use stderr::{eprint_line, log_time, record_lines, recorded_lines};
pub use stdx::nearest;
pub use system_text::{reason, system_text};
pub use terminal_writer::TerminalWriter;
pub use value::ValueError;
pub use whole_file::{Replacement, replace_file};
