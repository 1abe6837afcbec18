//! `Moments`: the time of a JTL's row as Unix time: milliseconds, or a date and a time as JMeter's formats write it. Dates
//! without a zone are of the machine's.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::zone::{self, Zone};

/// Reads times.
pub(super) struct Moments {
    zone: Zone,
}

const MILLI: i64 = 1_000_000;

impl Default for Moments {
    fn default() -> Self {
        Self { zone: Zone::local() }
    }
}

impl Moments {
    /// The Unix time (ns) of such a text; `None` where it is no time.
    pub(super) fn unix_ns(&mut self, text: &[u8]) -> Option<i64> {
        if let Some(milliseconds) = whole(text) {
            return i64::try_from(milliseconds).ok()?.checked_mul(MILLI);
        }
        let text = std::str::from_utf8(text).ok()?.trim();
        zone::parse(text).or_else(|| self.of_civil(text))
    }

    fn of_civil(&mut self, text: &str) -> Option<i64> {
        let utc = civil(text)?.to_zoned(TimeZone::UTC).ok()?.timestamp().as_nanosecond();
        let utc = i64::try_from(utc).ok()?;
        let offset = |zone: &mut Zone, at: i64| i64::from(zone.offset_s(at)) * 1_000 * MILLI;
        let near = utc.checked_sub(offset(&mut self.zone, utc))?;
        utc.checked_sub(offset(&mut self.zone, near))
    }
}

/// Digits as a number.
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    text.iter().try_fold(0u64, |sum, byte| {
        byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0'))
    })
}

/// `2024/01/31 23:59:59.999`, with `-` or `.` between the date's parts and a `T` before the time as well, and `01/31/24 23:59:59`.
fn civil(text: &str) -> Option<DateTime> {
    let (date, time) = text.split_once([' ', 'T'])?;
    let mut parts = date.split(['/', '-', '.']);
    let [first, second, third] = [parts.next()?, parts.next()?, parts.next()?];
    let number = |text: &str| text.parse::<i16>().ok();
    let (year, month, day) = match first.len() {
        4 => (number(first)?, number(second)?, number(third)?),
        _ if third.len() == 4 => (number(third)?, number(first)?, number(second)?),
        _ => (2_000 + number(third)?, number(first)?, number(second)?),
    };
    let [month, day] = [month, day].map(|part| i8::try_from(part).unwrap_or(0));
    let (clock, below) = time.split_once(['.', ',']).unwrap_or((time, "0"));
    let mut parts = clock.split(':').map(|part| part.parse::<i8>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    DateTime::new(year, month, day, hour, minute, second, nanoseconds(below)?).ok()
}

/// Digits behind a point, as nanoseconds.
fn nanoseconds(below: &str) -> Option<i32> {
    let digits = below.len();
    if digits == 0 || digits > 9 || !below.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let scale = 10_i32.pow(9 - digits as u32);
    below.parse::<i32>().ok()?.checked_mul(scale)
}

#[cfg(test)]
mod tests {
    use jiff::tz::Offset;

    use super::*;

    #[test]
    fn times_are_milliseconds_or_dates() {
        let zone = TimeZone::fixed(Offset::from_seconds(3_600).expect("an hour"));
        let mut moments = Moments { zone: Zone::new(zone) };
        let cases = [
            ("1700000000123", Some(1_700_000_000_123)),
            ("2023/11/14 23:13:20.123", Some(1_700_000_000_123)),
            ("2023-11-14 23:13:20", Some(1_700_000_000_000)),
            ("2023-11-14T23:13:20,5", Some(1_700_000_000_500)),
            ("2023-11-14T22:13:20.123Z", Some(1_700_000_000_123)),
            ("11/14/23 23:13:20", Some(1_700_000_000_000)),
            ("11/14/2023 23:13", Some(1_699_999_980_000)),
            ("yesterday", None),
            ("2023/13/14 23:13:20", None),
            ("", None),
            ("-5", None),
        ];
        for (text, expect) in cases {
            let found = moments.unix_ns(text.as_bytes()).map(|ns| ns / MILLI);
            assert_eq!(found, expect, "{text}");
        }
    }
}
