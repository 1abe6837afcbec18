//! The dialects: each reads one kind of command line, words its errors, and maps its exit codes. A dialect translates and does
//! nothing else.

pub(crate) mod dispatch;
mod guess;
pub(crate) mod k6;
mod load_rules;
mod native;
mod read_rules;
mod validate;
pub(crate) mod vegeta;

pub(crate) use self::load_rules::LoadRules;
pub(crate) use self::read_rules::ReadRules;
pub(crate) use cli::{Dialect, Invocation, ParsedArgs};
