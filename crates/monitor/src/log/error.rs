//! `KindError`: a kind of log, or its pattern, that makes no parser.

use thiserror::Error;

/// Why there is no parser.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum KindError {
    /// No kind has this name, and no pattern came with it.
    #[error(
        "unknown kind of log \"{0}\" (expected rails, rails2, nginx, apache, lighttpd or puma; any other needs a pattern)"
    )]
    Unknown(String),
    /// This kind takes no pattern.
    #[error("logs of kind \"{0}\" take no pattern")]
    NoPattern(String),
    /// An access log's pattern says what its last column is, and nothing else.
    #[error("\"{0}\" is no column of request times (expected %D, %T or %{{ms}}T)")]
    Column(String),
    /// The pattern is no regular expression, or too large a one.
    #[error("the log's pattern: {0}")]
    Pattern(#[source] regex::Error),
    /// A group has a name that means nothing.
    #[error(
        "the log's pattern names a group \"{0}\" (expected time, method, path, status, total_s, total_ms, total_us, \
         views_ms, database_ms, queue_ms or id)"
    )]
    Group(String),
    /// The pattern has no named group at all.
    #[error("the log's pattern names no group (such as (?<total_ms>[0-9.]+))")]
    NoGroup,
}
