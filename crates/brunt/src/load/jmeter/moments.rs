//! Moments as JMeter writes them, in local time.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// By how many seconds the local time is ahead of UTC at a moment.
pub(super) fn utc_offset_s(unix_ms: i64) -> i32 {
    let moment = Timestamp::from_millisecond(unix_ms).unwrap_or_default();
    TimeZone::system().to_offset(moment).seconds()
}

/// A moment by a pattern of Java's.
pub(super) fn by_pattern(pattern: &str, unix_ms: i64) -> String {
    jmx::format_date(pattern, unix_ms, utc_offset_s(unix_ms))
}

/// `2026 Nov 27 03:53:03 UTC (1795751583893)`.
pub(super) fn with_number(unix_ms: i64) -> String {
    let moment = Timestamp::from_millisecond(unix_ms).unwrap_or_default();
    let zoned = moment.to_zoned(TimeZone::system());
    format!("{} ({unix_ms})", zoned.strftime("%Y %b %d %H:%M:%S %Z"))
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}
