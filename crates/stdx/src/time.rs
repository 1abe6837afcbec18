//! `Nanos`: a length of time, or an offset from a run's start, in whole nanoseconds; read and printed as Go does.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A length of time, or an offset from a run's start, in nanoseconds. Range 0 to 2^64-1 (584 years).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Nanos(pub u64);

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DurationError {
    /// The text is empty or has no number where one must be.
    #[error("invalid duration \"{0}\" (expected a number and a unit, such as 500ms, 1.5s or 2m)")]
    Invalid(String),
    /// A number other than 0 stands without a unit.
    #[error("missing unit in duration \"{0}\" (expected ns, us, ms, s, m or h after the number)")]
    MissingUnit(String),
    /// The unit is none of ns, us, µs, ms, s, m, h, d.
    #[error("unknown unit \"{unit}\" in duration \"{text}\" (expected ns, us, ms, s, m or h)")]
    UnknownUnit {
        /// The text as given.
        text: String,
        /// The part that is not a unit.
        unit: String,
    },
    /// The text is a negative duration.
    #[error("negative duration \"{0}\"")]
    Negative(String),
    /// The value does not fit into 64 bits of nanoseconds.
    #[error("duration \"{0}\" is too long")]
    TooLong(String),
}

impl DurationError {
    /// The same in the words of Go's `time.ParseDuration`.
    #[must_use]
    pub fn go(&self) -> String {
        match self {
            Self::MissingUnit(text) => format!("time: missing unit in duration \"{text}\""),
            Self::UnknownUnit { text, unit } => {
                format!("time: unknown unit \"{unit}\" in duration \"{text}\"")
            }
            Self::Negative(text) if text.ends_with(|c: char| c.is_ascii_digit()) => {
                format!("time: missing unit in duration \"{text}\"")
            }
            Self::Invalid(text) | Self::Negative(text) | Self::TooLong(text) => {
                format!("time: invalid duration \"{text}\"")
            }
        }
    }
}

impl Nanos {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest time; used as "never".
    pub const MAX: Self = Self(u64::MAX);
    /// One microsecond.
    pub const MICRO: Self = Self(1_000);
    /// One millisecond.
    pub const MILLI: Self = Self(1_000_000);
    /// One second.
    pub const SECOND: Self = Self(1_000_000_000);

    /// `n` microseconds.
    #[must_use]
    pub const fn from_micros(n: u64) -> Self {
        Self(n * 1_000)
    }

    /// `n` milliseconds.
    #[must_use]
    pub const fn from_millis(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// `n` seconds.
    #[must_use]
    pub const fn from_secs(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }

    /// `s` seconds, rounded to the nearest nanosecond; below zero gives zero.
    #[must_use]
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e9).round().max(0.0) as u64)
    }

    /// This time in seconds.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// This time in milliseconds.
    #[must_use]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// `self - other`, or zero where `other` is the longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `self + other`, or [`Nanos::MAX`] where that does not fit.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The longer of the two.
    #[must_use]
    pub fn at_least(self, other: Self) -> Self {
        self.max(other)
    }

    /// Rounded to three significant digits, for sentences: 401.407µs becomes 401µs. Halves round up.
    #[must_use]
    pub fn to_three_digits(self) -> Self {
        let digits = self.0.checked_ilog10().unwrap_or(0);
        let unit = 10u64.pow(digits.saturating_sub(2));
        Self(self.0.saturating_add(unit / 2) / unit * unit)
    }

    /// Rounded to the next finer unit, as Vegeta prints durations: hours to minutes, minutes to seconds, seconds to
    /// milliseconds, and so on. Halves round up.
    #[must_use]
    pub fn rounded(self) -> Self {
        const STEPS: [(u64, u64); 5] = [
            (3_600_000_000_000, 60_000_000_000),
            (60_000_000_000, 1_000_000_000),
            (1_000_000_000, 1_000_000),
            (1_000_000, 1_000),
            (1_000, 1),
        ];
        for (from, unit) in STEPS {
            if self.0 >= from {
                return Self(self.0.saturating_add(unit / 2) / unit * unit);
            }
        }
        self
    }

    /// Reads a Go duration: `1h30m`, `1.5s`, `500ms`, `10us`, `0`. `d` (24 h) is understood as well.
    ///
    /// # Examples
    /// ```
    /// use stdx::Nanos;
    ///
    /// assert_eq!(Nanos::parse("1.5s"), Ok(Nanos::from_millis(1_500)));
    /// assert!(Nanos::parse("1.5").is_err(), "a unit is missing");
    /// ```
    ///
    /// # Errors
    /// The text is not a duration, is negative, lacks its unit, or does not fit; the message names the text.
    pub fn parse(text: &str) -> Result<Self, DurationError> {
        let rest = text.strip_prefix('+').unwrap_or(text);
        if rest.starts_with('-') {
            return Err(DurationError::Negative(text.to_owned()));
        }
        if rest == "0" {
            return Ok(Self::ZERO);
        }
        if rest.is_empty() {
            return Err(DurationError::Invalid(text.to_owned()));
        }
        let mut total = 0u64;
        let mut rest = rest;
        while !rest.is_empty() {
            let (part, after) = parse_part(text, rest)?;
            total =
                total.checked_add(part).ok_or_else(|| DurationError::TooLong(text.to_owned()))?;
            rest = after;
        }
        Ok(Self(total))
    }
}

/// Reads one number with its unit; gives its nanoseconds and what follows.
fn parse_part<'a>(text: &str, rest: &'a str) -> Result<(u64, &'a str), DurationError> {
    let invalid = || DurationError::Invalid(text.to_owned());
    let too_long = || DurationError::TooLong(text.to_owned());
    let number_len = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (number, after) = rest.split_at(number_len);
    let unit_len = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
    let (unit, after) = after.split_at(unit_len);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(invalid());
    }
    let scale: u64 = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        "" => return Err(DurationError::MissingUnit(text.to_owned())),
        _ => {
            return Err(DurationError::UnknownUnit {
                text: text.to_owned(),
                unit: unit.to_owned(),
            });
        }
    };
    let whole: u64 =
        if whole.is_empty() { 0 } else { whole.parse::<u64>().map_err(|_| too_long())? };
    let mut nanos = whole.checked_mul(scale).ok_or_else(too_long)?;
    let mut digit_scale = u128::from(scale);
    let mut below = 0u128;
    let mut divisor = 1u128;
    for digit in fraction.bytes().take(18) {
        divisor *= 10;
        below = below * 10 + u128::from(digit - b'0');
    }
    digit_scale = digit_scale * below / divisor;
    nanos = nanos.checked_add(digit_scale as u64).ok_or_else(too_long)?;
    Ok((nanos, after))
}

impl fmt::Display for Nanos {
    /// As Go prints a `time.Duration`: `1h0m0s`, `1m1s`, `1.235s`, `646.301µs`, `0s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            0 => "0s".to_owned(),
            n if n < 1_000 => format!("{n}ns"),
            n if n < 1_000_000 => format!("{}µs", decimal(n, 1_000)),
            n if n < 1_000_000_000 => format!("{}ms", decimal(n, 1_000_000)),
            n => {
                let hours = n / 3_600_000_000_000;
                let minutes = n / 60_000_000_000 % 60;
                let seconds = decimal(n % 60_000_000_000, 1_000_000_000);
                match (hours, minutes) {
                    (0, 0) => format!("{seconds}s"),
                    (0, m) => format!("{m}m{seconds}s"),
                    (h, m) => format!("{h}h{m}m{seconds}s"),
                }
            }
        };
        f.pad(&text)
    }
}

/// `n / unit` as a decimal without trailing zeros; `unit` is a power of ten.
fn decimal(n: u64, unit: u64) -> String {
    let (whole, below) = (n / unit, n % unit);
    if below == 0 {
        return whole.to_string();
    }
    let width = unit.ilog10() as usize;
    let digits = format!("{below:0width$}");
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Nanos {
    type Output = Self;
    fn mul(self, by: u64) -> Self {
        Self(self.0 * by)
    }
}

impl Div<u64> for Nanos {
    type Output = Self;
    fn div(self, by: u64) -> Self {
        Self(self.0 / by)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl From<Nanos> for Duration {
    fn from(n: Nanos) -> Self {
        Self::from_nanos(n.0)
    }
}

impl From<Duration> for Nanos {
    fn from(d: Duration) -> Self {
        Self(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_go_does() {
        let cases = [
            (0, "0s"),
            (7, "7ns"),
            (646_301, "646.301µs"),
            (1_500_000, "1.5ms"),
            (1_235_000_000, "1.235s"),
            (61_000_000_000, "1m1s"),
            (3_600_000_000_000, "1h0m0s"),
            (4_979_996_105, "4.979996105s"),
        ];
        for (nanos, text) in cases {
            assert_eq!(Nanos(nanos).to_string(), text);
        }
    }

    #[test]
    fn rounds_to_the_next_finer_unit() {
        let cases = [
            (4_979_996_105, "4.98s"),
            (1_234_567, "1.235ms"),
            (646_301, "646.301µs"),
            (61_400_000_000, "1m1s"),
            (999, "999ns"),
        ];
        for (nanos, text) in cases {
            assert_eq!(Nanos(nanos).rounded().to_string(), text);
        }
        assert!(Nanos::MAX.rounded() > Nanos(u64::MAX / 2));
    }

    #[test]
    fn sentences_have_three_digits() {
        for (nanos, text) in [
            (0, "0s"),
            (999, "999ns"),
            (401_407, "401µs"),
            (3_295_000, "3.3ms"),
            (99_960_000, "100ms"),
            (61_234_567_890, "1m1.2s"),
        ] {
            assert_eq!(Nanos(nanos).to_three_digits().to_string(), text);
        }
        assert!(Nanos::MAX.to_three_digits() > Nanos(u64::MAX / 2));
    }

    #[test]
    fn reads_go_durations() {
        let cases = [
            ("0", 0),
            ("5s", 5_000_000_000),
            ("1m30s", 90_000_000_000),
            ("1.5h", 5_400_000_000_000),
            ("500ms", 500_000_000),
            (".5us", 500),
            ("10µs", 10_000),
            ("1d", 86_400_000_000_000),
        ];
        for (text, nanos) in cases {
            assert_eq!(Nanos::parse(text), Ok(Nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_duration() {
        assert_eq!(Nanos::parse("5"), Err(DurationError::MissingUnit("5".into())));
        assert_eq!(Nanos::parse("-5s"), Err(DurationError::Negative("-5s".into())));
        assert!(matches!(Nanos::parse("5x"), Err(DurationError::UnknownUnit { .. })));
        for text in ["", "s", ".", "1.2.3s"] {
            assert!(matches!(Nanos::parse(text), Err(DurationError::Invalid(_))), "{text:?}");
        }
        assert!(matches!(Nanos::parse("999999999h"), Err(DurationError::TooLong(_))));
    }
}
