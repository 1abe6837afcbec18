//! `Zone`: the offset of local time from UTC, as Vegeta stamps it on every row; looked up once a quarter of an hour.

use std::io::Write;

use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

/// The offset of the machine's local time from UTC at this Unix time (ns), in seconds east.
#[must_use]
pub fn zone_offset_s(unix_ns: i64) -> i32 {
    Zone::local().offset_s(unix_ns)
}

/// Local time.
pub(crate) struct Zone {
    zone: TimeZone,
    /// The quarter hour `offset_s` was looked up for.
    quarter: i64,
    offset_s: i32,
}

/// Offsets change on quarter hours only.
const QUARTER_S: i64 = 900;
const SECOND: i64 = 1_000_000_000;

impl Zone {
    /// The machine's zone (`TZ`, `/etc/localtime`); UTC where it has none.
    pub(crate) fn local() -> Self {
        Self::new(TimeZone::system())
    }

    pub(crate) fn new(zone: TimeZone) -> Self {
        Self { zone, quarter: i64::MIN, offset_s: 0 }
    }

    /// The offset at this Unix time (ns), in seconds east of UTC.
    pub(crate) fn offset_s(&mut self, unix_ns: i64) -> i32 {
        let quarter = unix_ns.div_euclid(QUARTER_S * SECOND);
        if quarter != self.quarter {
            self.quarter = quarter;
            self.offset_s = self.zone.to_offset(stamp(unix_ns)).seconds();
        }
        self.offset_s
    }

    /// Writes the time as Go's RFC3339Nano: no trailing zeros, `Z` for UTC.
    pub(crate) fn write(&mut self, unix_ns: i64, to: &mut Vec<u8>) -> std::io::Result<()> {
        let offset_s = self.offset_s(unix_ns);
        let offset = Offset::from_seconds(offset_s).unwrap_or(Offset::UTC);
        let t = offset.to_datetime(stamp(unix_ns));
        let (date, time) = (t.date(), t.time());
        write!(to, "{:04}-{:02}-{:02}", date.year(), date.month(), date.day())?;
        write!(to, "T{:02}:{:02}:{:02}", time.hour(), time.minute(), time.second())?;
        let below = unix_ns.rem_euclid(SECOND);
        if below > 0 {
            write!(to, ".{below:09}")?;
            to.truncate(to.iter().rposition(|byte| *byte != b'0').map_or(0, |last| last + 1));
        }
        let minutes = offset_s / 60;
        if minutes == 0 {
            return to.write_all(b"Z");
        }
        let sign = if minutes < 0 { '-' } else { '+' };
        write!(to, "{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
    }
}

fn stamp(unix_ns: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_nanos(unix_ns)
}

/// The Unix time (ns) of an RFC 3339 text with any offset; held to what 64 bits can say.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let nanos = text.parse::<Timestamp>().ok()?.as_nanosecond();
    Some(nanos.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_as_go_does() {
        let cases = [
            (0, 1_700_000_000_123_456_789, "2023-11-14T22:13:20.123456789Z"),
            (0, 1_700_000_000_100_000_000, "2023-11-14T22:13:20.1Z"),
            (2 * 3600, 1_700_000_000_000_000_000, "2023-11-15T00:13:20+02:00"),
            (-12_600, 1_700_000_000_000_000_001, "2023-11-14T18:43:20.000000001-03:30"),
        ];
        for (offset_s, unix_ns, text) in cases {
            let mut zone = Zone::new(TimeZone::fixed(Offset::from_seconds(offset_s).unwrap()));
            let mut out = Vec::new();
            zone.write(unix_ns, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), text);
            assert_eq!(parse(text), Some(unix_ns));
        }
        assert_eq!(parse("0001-01-01T00:00:00Z"), Some(i64::MIN));
        assert_eq!(parse("yesterday"), None);
    }
}
