//! The time as manifests have it.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The time: RFC 3339, UTC, with milliseconds.
pub(crate) fn now() -> String {
    let millis = Timestamp::now().as_millisecond();
    let moment = Timestamp::from_millisecond(millis).unwrap_or_default();
    moment.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}
