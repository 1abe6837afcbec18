//! Numbers in the formats of people and of Vegeta, for every report.

use stdx::Nanos;

/// A duration as Vegeta prints it: rounded to the next finer unit.
pub(crate) fn duration(time: Nanos) -> String {
    time.rounded().to_string()
}

/// A duration to three significant digits, which is what a histogram knows of it: `164ms`, `1.23s`.
pub(crate) fn duration_short(time: Nanos) -> String {
    let ns = time.0 as f64;
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "\u{b5}s"), (1.0, "ns")];
    let (scale, unit) = units.into_iter().find(|(scale, _)| ns >= *scale).unwrap_or((1.0, "s"));
    let value = ns / scale;
    if value >= 999.5 {
        return duration(time);
    }
    let digits = (2.0 - value.max(1.0).log10().floor()) as usize;
    let text = format!("{value:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

/// A whole number in groups of three: `1,234,567`.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number in groups of three and its noun: `1 hit`, `1,234 hits`.
pub(crate) fn counted(n: u64, noun: &str) -> String {
    format!("{} {}", grouped(n), stdx::plural(n, noun))
}

/// A figure to four significant digits, and no fewer than its whole ones: `0.1234`, `89.48`, `12,345`.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() || value.abs() >= 1e15 {
        return format!("{value}");
    }
    let digits = (3.0 - value.abs().max(1e-3).log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{value:.digits$}");
    match text.split_once('.') {
        Some((whole, below)) if below.bytes().all(|byte| byte == b'0') => whole.to_owned(),
        Some(_) => text,
        None => text.parse().map_or(text, grouped),
    }
}

/// A float as Go's JSON encoder writes it: shortest digits, exponents below 1e-6 and from 1e21. What is not finite is 0.
pub(crate) fn go_json(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() || size == 0.0 {
        return "0".to_owned();
    }
    if (1e-6..1e21).contains(&size) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    if size >= 1e21 { text.replacen('e', "e+", 1) } else { text }
}

/// A moment (Unix time in ns) as RFC 3339 in UTC, with nanoseconds unless they are 0.
pub(crate) fn rfc3339(unix_ns: i64) -> String {
    let (seconds, nanos) = (unix_ns.div_euclid(1_000_000_000), unix_ns.rem_euclid(1_000_000_000));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = stdx::date_of_day(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let fraction = if nanos == 0 {
        String::new()
    } else {
        format!(".{nanos:09}").trim_end_matches('0').to_owned()
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_three() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(grouped(n), text);
        }
    }

    #[test]
    fn figures_to_four_digits() {
        let cases = [
            (0.0, "0"),
            (0.123_456, "0.1235"),
            (10.0, "10"),
            (89.4758, "89.48"),
            (999.96, "1000"),
            (1234.5, "1,234"),
            (12_345.6, "12,346"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn floats_as_go_writes_them() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (50.2, "50.2"),
            (0.000_001, "0.000001"),
            (1.5e-7, "1.5e-7"),
            (1e21, "1e+21"),
            (f64::NAN, "0"),
        ];
        for (value, text) in cases {
            assert_eq!(go_json(value), text);
        }
    }

    #[test]
    fn moments() {
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00Z"),
            (1_700_000_000_120_000_000, "2023-11-14T22:13:20.12Z"),
        ];
        for (unix_ns, text) in cases {
            assert_eq!(rfc3339(unix_ns), text);
        }
    }

    #[test]
    fn tiles_have_three_digits() {
        let cases = [
            (163_709_000, "164ms"),
            (1_234_567_000, "1.23s"),
            (12_040_000, "12ms"),
            (7_250, "7.25\u{b5}s"),
            (100_000_000_000, "100s"),
            (0, "0s"),
            (41, "41ns"),
        ];
        for (ns, text) in cases {
            assert_eq!(duration_short(Nanos(ns)), text);
        }
    }
}
