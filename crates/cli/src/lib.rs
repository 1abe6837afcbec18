//! The grammar of command lines. It knows no command, opens no file and prints nothing.
//!
//! ```text
//! argv ─▶ parse (Go's flags) ─────────────┐
//!         getopt::parse (-kc5) ───────────┼─▶ Flag::set ─▶ a command's options, and its operands
//!         getopt_long::parse (--count=5) ─┘      ▲
//!                                              value (text to a typed value)
//! rows ─▶ help, man page, completions
//! ```
//!
//! A command describes each of its flags by one [`Flag`]: a [`Row`] for people, and a setter for the parser. The main grammar is
//! that of Go's `flag` package (`-f v`, `-f=v`, `--f v`, `--f=v`; a switch takes a value only with `=`), which no crate of flags
//! offers. [`getopt`] and [`getopt_long`] read the command lines of the tools that use these.

mod flag;
pub mod getopt;
pub mod getopt_long;
pub mod global;
mod parse;
mod suggest;
pub mod value;

pub use flag::{EmptyValue, Flag, Row, Scope, ValueKind};
pub use global::GlobalFlags;
pub use parse::{FlagError, Grammar, Parsed, parse};
pub use suggest::nearest;
pub use value::ValueError;
