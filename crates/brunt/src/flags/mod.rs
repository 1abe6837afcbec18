//! The flags: one row each, from which parsing, help, the man page and the completions are made.
//!
//! ```text
//! argv ─▶ parse ─▶ ParsedArgs (what was typed; nothing read, nothing opened)
//! rows ─▶ help, man, completions
//! ```
//!
//! The grammar is Go's (`-f v`, `-f=v`, `--f v`, `--f=v`; a switch takes a value only with `=`), which no flag crate offers;
//! `letters` reads getopt's and `options` getopt_long's for the dialects that have them.

pub(crate) mod ab;
pub(crate) mod attack;
pub(crate) mod bench;
pub(crate) mod cable;
pub(crate) mod compare;
pub(crate) mod fit;
pub(crate) mod global;
pub(crate) mod hey;
pub(crate) mod letters;
pub(crate) mod oha;
pub(crate) mod options;
mod parse;
pub(crate) mod perfer;
pub(crate) mod results;
mod row;
pub(crate) mod run;
pub(crate) mod scheduler;
pub(crate) mod seek;
pub(crate) mod serve;
pub(crate) mod study;
mod suggest;
pub(crate) mod value;
pub(crate) mod watch;
pub(crate) mod wrk;

pub(crate) use parse::{FlagError, Grammar, parse};
pub(crate) use row::{Flag, Kind, Row, Scope};
pub(crate) use suggest::nearest;
pub(crate) use value::Wrong;
