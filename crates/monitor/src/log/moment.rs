//! Times as logs write them, and the zone of those that do not say theirs. No clock is read.

/// A time read off a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Unix time in nanoseconds.
    Unix(i64),
    /// The same as if the log's zone were UTC: the log does not say which it is.
    Local(i64),
}

/// The zone of a log that does not say it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Zone {
    /// How far local time is ahead of UTC, in nanoseconds; `None` until known.
    ahead: Option<i64>,
}

const SECOND: i64 = 1_000_000_000;
/// Zones are whole quarters of an hour ahead of UTC or behind it.
const QUARTER: i64 = 900 * SECOND;
/// No zone is further ahead of UTC than 14 hours.
const AHEAD_MAX: i64 = 56 * QUARTER;
const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

impl Zone {
    /// The Unix time of a moment. A line is read soon after it is written: without a known zone, it is the quarter of an hour
    /// that brings the line closest to `now`, or else UTC.
    pub(super) fn unix(&mut self, moment: Moment, now: i64) -> i64 {
        let local = match moment {
            Moment::Unix(at) => return at,
            Moment::Local(local) => local,
        };
        let ahead = *self.ahead.get_or_insert_with(|| {
            let apart = local.saturating_sub(now);
            let ahead = apart.saturating_add(QUARTER / 2).div_euclid(QUARTER) * QUARTER;
            if ahead.abs() <= AHEAD_MAX { ahead } else { 0 }
        });
        local.saturating_sub(ahead)
    }

    /// Takes the zone from a time that has it: `local` and `unix` are the same moment.
    pub(super) fn learn(&mut self, text: &[u8]) {
        if let Some((Moment::Unix(unix), _)) = iso(text)
            && let Some((local, _)) = civil(text)
        {
            self.ahead = Some((local - unix) / SECOND * SECOND);
        }
    }
}

/// `2026-11-21T09:24:57.100309+01:00`, with a space for the `T`, without fraction or zone; and what follows it.
pub(super) fn iso(text: &[u8]) -> Option<(Moment, &[u8])> {
    let (local, rest) = civil(text)?;
    match zone(rest) {
        Some((ahead, rest)) => Some((Moment::Unix(local - ahead), rest)),
        None => Some((Moment::Local(local), rest)),
    }
}

/// `21/Nov/2026:09:24:57 +0000`, as access logs write it; and what follows it.
pub(super) fn common(text: &[u8]) -> Option<(Moment, &[u8])> {
    let day = number(text, 2)?;
    let month = text.get(3..6)?;
    let month = MONTHS.iter().position(|name| *name == month)? as i64 + 1;
    let year = number(text.get(7..)?, 4)?;
    if text[2] != b'/' || text[6] != b'/' || text.get(11) != Some(&b':') {
        return None;
    }
    let (of_day, rest) = time_of_day(&text[12..])?;
    let local = days(year, month, day)? * 86_400 * SECOND + of_day;
    match zone(rest) {
        Some((ahead, rest)) => Some((Moment::Unix(local - ahead), rest)),
        None => Some((Moment::Local(local), rest)),
    }
}

/// Any of the two, or Unix time in seconds: the whole of `text`.
pub(super) fn any(text: &[u8]) -> Option<Moment> {
    let whole = |(moment, rest): (Moment, &[u8])| rest.is_empty().then_some(moment);
    iso(text).and_then(whole).or_else(|| common(text).and_then(whole)).or_else(|| {
        let seconds = super::scan::nanos(text, 9)?;
        i64::try_from(seconds.0).ok().map(Moment::Unix)
    })
}

/// Date and time of day without the zone, as nanoseconds.
fn civil(text: &[u8]) -> Option<(i64, &[u8])> {
    let (year, month, day) =
        (number(text, 4)?, number(text.get(5..)?, 2)?, number(text.get(8..)?, 2)?);
    let parts = [*text.get(4)?, *text.get(7)?, *text.get(10)?];
    if !matches!(parts, [b'-', b'-', b'T' | b' ']) {
        return None;
    }
    let (of_day, rest) = time_of_day(&text[11..])?;
    Some((days(year, month, day)? * 86_400 * SECOND + of_day, rest))
}

/// `09:24:57` and a fraction of up to nine digits, as nanoseconds of the day.
fn time_of_day(text: &[u8]) -> Option<(i64, &[u8])> {
    let (hour, minute, second) =
        (number(text, 2)?, number(text.get(3..)?, 2)?, number(text.get(6..)?, 2)?);
    if text[2] != b':' || text[5] != b':' || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let whole = (hour * 3600 + minute * 60 + second) * SECOND;
    let rest = &text[8..];
    let [b'.' | b',', fraction @ ..] = rest else { return Some((whole, rest)) };
    let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (mut below, mut unit) = (0, SECOND);
    for digit in fraction[..digits].iter().take(9) {
        unit /= 10;
        below += i64::from(digit - b'0') * unit;
    }
    if digits == 0 { Some((whole, rest)) } else { Some((whole + below, &fraction[digits..])) }
}

/// `Z`, ` UTC`, `+0100`, `+01:00`, with or without a space before it: nanoseconds ahead of UTC.
fn zone(text: &[u8]) -> Option<(i64, &[u8])> {
    let text = text.strip_prefix(b" ").unwrap_or(text);
    if let Some(rest) = text.strip_prefix(b"Z").or_else(|| text.strip_prefix(b"UTC")) {
        return Some((0, rest));
    }
    let sign = match text.first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours = number(&text[1..], 2)?;
    let rest = &text[3..];
    let rest = rest.strip_prefix(b":").unwrap_or(rest);
    let minutes = number(rest, 2)?;
    let ahead = sign * (hours * 3600 + minutes * 60) * SECOND;
    (hours <= 14 && minutes < 60).then_some((ahead, &rest[2..]))
}

/// The whole number in the first `digits` bytes.
fn number(text: &[u8], digits: usize) -> Option<i64> {
    let text = text.get(..digits)?;
    let value =
        |sum: i64, byte: &u8| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0'));
    text.iter().try_fold(0, value)
}

/// Days since 1970-01-01 in the Gregorian calendar, for years with nanoseconds that fit 64 bits.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=2200).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(stdx::days_since_1970(year, month, day))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIX: i64 = 1_795_253_097;

    #[test]
    fn reads_the_times_of_logs() {
        let unix = |below: i64| Some(Moment::Unix(UNIX * SECOND + below));
        let cases: [(&str, Option<Moment>); 14] = [
            ("2026-11-21T09:24:57.100309Z", unix(100_309_000)),
            ("2026-11-21 09:24:57 +0000", unix(0)),
            ("2026-11-21 10:24:57,5 +0100", unix(500_000_000)),
            ("2026-11-21T05:54:57-03:30", unix(0)),
            ("2026-11-21 09:24:57 UTC", unix(0)),
            ("21/Nov/2026:09:24:57 +0000", unix(0)),
            ("21/Nov/2026:11:24:57 +0200", unix(0)),
            ("1795253097.25", unix(250_000_000)),
            ("2026-11-21T09:24:57", Some(Moment::Local(UNIX * SECOND))),
            ("2024-02-29T00:00:00Z", Some(Moment::Unix(1_709_164_800 * SECOND))),
            ("21/Foo/2026:09:24:57 +0000", None),
            ("2026-13-21T09:24:57Z", None),
            ("2026-11-21T09:24", None),
            ("yesterday", None),
        ];
        for (text, expected) in cases {
            assert_eq!(any(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_zone_unsaid_is_the_one_that_brings_the_line_next_to_now() {
        let local = Moment::Local(UNIX * SECOND);
        for (hours, expected) in [(0, 0), (2, 2), (-7, -7), (14, 14), (30, 0)] {
            let now = (UNIX - hours * 3600 + 1) * SECOND;
            let unix = Zone::default().unix(local, now);
            assert_eq!(unix, (UNIX - expected * 3600) * SECOND, "{hours}");
        }
        let mut zone = Zone::default();
        zone.learn(b"2026-11-21 09:24:57 +0530");
        assert_eq!(zone.unix(local, 0), (UNIX - 19_800) * SECOND);
    }
}
