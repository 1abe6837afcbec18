//! The time as manifests have it.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The time: RFC 3339, UTC, with milliseconds.
pub(crate) fn now() -> String {
    of_unix_ms(Timestamp::now().as_millisecond())
}

/// A Unix time in the same way; a time that no calendar has is 1970.
pub(crate) fn of_unix_ms(millis: i64) -> String {
    let moment = Timestamp::from_millisecond(millis).unwrap_or_default();
    moment.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}
