//! `parser`: the parser of each kind of log.

use super::parser::LogSource;
use super::{KindError, Parser, access, json, pattern, rails, rails2};

/// The kinds of logs that are known by name.
pub const KINDS: [&str; 6] = ["rails", "rails2", "nginx", "apache", "lighttpd", "puma"];

/// The parser of a kind of log: one of [`KINDS`], or any other name with a `pattern`, a regular expression with named
/// groups. For `apache` and `lighttpd` the pattern may say what the last column is: `%D` (microseconds, as without a
/// pattern), `%T` (seconds) or `%{ms}T`. `host` is the name of the machine that served the requests.
///
/// # Errors
/// The kind is unknown, or its pattern is not one.
pub fn parser(
    kind: &str,
    pattern: Option<&str>,
    host: &str,
) -> Result<Box<dyn Parser + Send>, KindError> {
    let log = LogSource { host: host.to_owned(), source: kind.to_owned() };
    let access = |column| access::Access::new(log.clone(), column);
    Ok(match (kind, pattern) {
        ("rails" | "rails2" | "nginx" | "puma", Some(_)) => {
            return Err(KindError::NoPattern(kind.to_owned()));
        }
        ("rails", None) => Box::new(rails::Rails::new(log)),
        ("rails2", None) => Box::new(rails2::Rails2::new(log)),
        ("nginx", None) => Box::new(access(access::Column::Fraction(3))),
        ("puma", None) => Box::new(access(access::Column::Fraction(4))),
        ("apache", column) => Box::new(access(access::Column::parse(column)?).timed_at_start()),
        ("lighttpd", column) => Box::new(access(access::Column::parse(column)?)),
        (_, Some(pattern)) => Box::new(pattern::Pattern::new(log, pattern)?),
        (_, None) => return Err(KindError::Unknown(kind.to_owned())),
    })
}

/// The parser of access logs whose lines are JSON, by the names of their fields. It reads no request times, so it is no kind that
/// [`parser`] knows: servers are not watched by it.
#[must_use]
pub fn json_parser() -> Box<dyn Parser + Send> {
    let log = LogSource { host: String::new(), source: "json".to_owned() };
    Box::new(json::Json::new(log))
}
