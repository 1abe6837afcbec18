//! Times and durations as JSON has them.

use stdx::{date_of_day, days_since_1970};

/// Seconds of a duration at most, either way.
const DURATION_MAX: i64 = 315_576_000_000;
/// The first and the last second of a timestamp: years 1 to 9999.
const TIMESTAMPS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;
const DAY_S: i64 = 86_400;

/// Seconds and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) seconds: i64,
    pub(super) nanos: i32,
}

/// `1.5s`, with up to nine digits behind the point.
pub(super) fn parse_duration(text: &str) -> Option<Moment> {
    let text = text.strip_suffix('s')?;
    let (text, sign) = match text.strip_prefix('-') {
        Some(rest) => (rest, -1),
        None => (text.strip_prefix('+').unwrap_or(text), 1),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !text.bytes().any(|byte| byte.is_ascii_digit())
        || !all_digits(whole)
        || !all_digits(fraction)
    {
        return None;
    }
    if fraction.len() > 9 || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    let seconds: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let nanos: i32 = format!("{fraction:0<9}").parse().ok()?;
    (seconds <= DURATION_MAX)
        .then_some(Moment { seconds: seconds * sign, nanos: nanos * sign as i32 })
}

/// `1.500s`; `None` where it is out of range.
pub(super) fn format_duration(of: Moment) -> Option<String> {
    let Moment { seconds, nanos } = of;
    let is_in_range = seconds.unsigned_abs() <= DURATION_MAX.unsigned_abs()
        && nanos.unsigned_abs() < 1_000_000_000;
    let has_two_signs = (seconds > 0 && nanos < 0) || (seconds < 0 && nanos > 0);
    if !is_in_range || has_two_signs {
        return None;
    }
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    Some(format!("{sign}{}{}s", seconds.unsigned_abs(), fraction(nanos.unsigned_abs())))
}

/// RFC 3339, with up to nine digits behind the point.
pub(super) fn parse_timestamp(text: &str) -> Option<Moment> {
    let bytes = text.as_bytes();
    if !text.is_ascii() || bytes.len() < 20 {
        return None;
    }
    let number = |from: usize, to: usize| -> Option<i64> {
        let part = &text[from..to];
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if marks.iter().any(|(at, mark)| bytes[*at] != *mark) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let is_time = hour < 24 && minute < 60 && second < 60;
    if !is_time || !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    let rest = &text[19..];
    let zone_at = rest.find(['Z', '+', '-'])?;
    let nanos = match rest[..zone_at].strip_prefix('.') {
        None if zone_at == 0 => 0,
        Some(digits) if (1..=9).contains(&digits.len()) => {
            let are_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
            are_digits.then(|| format!("{digits:0<9}").parse().ok())??
        }
        _ => return None,
    };
    let seconds = days_since_1970(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second
        - zone_s(&rest[zone_at..])?;
    TIMESTAMPS.contains(&seconds).then_some(Moment { seconds, nanos })
}

/// How far a zone is ahead of UTC, in seconds.
fn zone_s(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let sign = if text.starts_with('+') { 1 } else { -1 };
    let (hours, minutes) = text[1..].split_once(':')?;
    let two = |text: &str| -> Option<i64> {
        let is = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        is.then(|| text.parse().ok())?
    };
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    (hours <= 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// RFC 3339 in UTC; `None` where it is out of range.
pub(super) fn format_timestamp(of: Moment) -> Option<String> {
    let Moment { seconds, nanos } = of;
    if !TIMESTAMPS.contains(&seconds) || !(0..1_000_000_000).contains(&nanos) {
        return None;
    }
    let (year, month, day) = date_of_day(seconds.div_euclid(DAY_S));
    let second = seconds.rem_euclid(DAY_S);
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}{}Z",
        second / 3600,
        second / 60 % 60,
        second % 60,
        fraction(nanos.unsigned_abs())
    ))
}

/// 0, 3, 6 or 9 digits behind the point.
fn fraction(nanos: u32) -> String {
    match nanos {
        0 => String::new(),
        _ if nanos.is_multiple_of(1_000_000) => format!(".{:03}", nanos / 1_000_000),
        _ if nanos.is_multiple_of(1000) => format!(".{:06}", nanos / 1000),
        _ => format!(".{nanos:09}"),
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_go_both_ways() {
        for (text, expect) in [
            ("2024-01-01T00:00:00Z", Some("2024-01-01T00:00:00Z")),
            ("2024-01-01T01:02:03.5+01:00", Some("2024-01-01T00:02:03.500Z")),
            ("1970-01-01T00:00:00.000000001Z", Some("1970-01-01T00:00:00.000000001Z")),
            ("0001-01-01T00:00:00.123400Z", Some("0001-01-01T00:00:00.123400Z")),
            ("9999-12-31T23:59:59Z", Some("9999-12-31T23:59:59Z")),
            ("2023-02-29T00:00:00Z", None),
            ("0001-01-01T00:00:00+01:00", None),
            ("10000-01-01T00:00:00Z", None),
            ("2024-01-01T00:00:00.1234567890Z", None),
            ("2024-01-01 00:00:00Z", None),
            ("2024-01-01T24:00:00Z", None),
            ("yesterday", None),
        ] {
            let out = parse_timestamp(text).and_then(format_timestamp);
            assert_eq!(out.as_deref(), expect, "{text}");
        }
        for days in (-719_162..2_932_896).step_by(997) {
            let (year, month, day) = date_of_day(days);
            assert_eq!(days_since_1970(year, month, day), days);
        }
    }

    #[test]
    fn durations_go_both_ways() {
        for (text, expect) in [
            ("1.5s", Some("1.500s")),
            ("-0.000000001s", Some("-0.000000001s")),
            ("3s", Some("3s")),
            ("315576000000s", Some("315576000000s")),
            ("315576000001s", None),
            ("1.0000000001s", None),
            ("1m", None),
            ("s", None),
        ] {
            let out = parse_duration(text).and_then(format_duration);
            assert_eq!(out.as_deref(), expect, "{text}");
        }
    }
}
