//! `Decimal`: numbers with a fixed count of digits after the point, as literals of Groovy are. Exact within 38 digits.

use std::cmp::Ordering;
use std::fmt;

/// A decimal number: `unscaled` / 10^`scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    pub(crate) unscaled: i128,
    pub(crate) scale: u32,
}

/// Digits after the point at most.
const SCALE_MAX: u32 = 30;
/// Digits after the point of a quotient that does not end, at least.
const QUOTIENT_SCALE: u32 = 10;

impl Decimal {
    /// A whole number.
    pub(crate) fn whole(number: i64) -> Self {
        Self { unscaled: i128::from(number), scale: 0 }
    }

    /// The number that a text is.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (text, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let plain = Self::parse_plain(text)?;
        let scale = i64::from(plain.scale) - i64::from(exponent.parse::<i32>().ok()?);
        match u32::try_from(scale) {
            Ok(scale) => (scale <= SCALE_MAX).then_some(Self { scale, ..plain }),
            Err(_) => {
                let factor = power(u32::try_from(-scale).ok()?)?;
                Some(Self { unscaled: plain.unscaled.checked_mul(factor)?, scale: 0 })
            }
        }
    }

    /// The number that a text without an exponent is.
    fn parse_plain(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_number = !(whole.is_empty() && fraction.is_empty())
            && fraction.bytes().all(|digit| digit.is_ascii_digit());
        if !is_number || fraction.len() > SCALE_MAX as usize {
            return None;
        }
        let digits = format!("{whole}{fraction}");
        Some(Self { unscaled: digits.parse().ok()?, scale: fraction.len() as u32 })
    }

    pub(crate) fn of_double(number: f64) -> Option<Self> {
        Self::parse(&format!("{number}"))
    }

    pub(crate) fn double(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// Its whole part.
    pub(crate) fn long(self) -> i64 {
        (self.unscaled / power(self.scale).unwrap_or(i128::MAX)) as i64
    }

    pub(crate) fn is_zero(self) -> bool {
        self.unscaled == 0
    }

    /// Both with the same count of digits after the point.
    fn aligned(self, other: Self) -> Option<(i128, i128, u32)> {
        let scale = self.scale.max(other.scale);
        let one = self.unscaled.checked_mul(power(scale - self.scale)?)?;
        let two = other.unscaled.checked_mul(power(scale - other.scale)?)?;
        Some((one, two, scale))
    }

    pub(crate) fn sum(self, other: Self) -> Option<Self> {
        let (one, two, scale) = self.aligned(other)?;
        Some(Self { unscaled: one.checked_add(two)?, scale })
    }

    pub(crate) fn difference(self, other: Self) -> Option<Self> {
        self.sum(Self { unscaled: other.unscaled.checked_neg()?, scale: other.scale })
    }

    pub(crate) fn product(self, other: Self) -> Option<Self> {
        let scale = self.scale + other.scale;
        let unscaled = self.unscaled.checked_mul(other.unscaled)?;
        (scale <= SCALE_MAX).then_some(Self { unscaled, scale })
    }

    pub(crate) fn remainder(self, other: Self) -> Option<Self> {
        let (one, two, scale) = self.aligned(other)?;
        Some(Self { unscaled: one.checked_rem(two)?, scale })
    }

    /// The quotient: exact where it ends soon, else rounded half up.
    pub(crate) fn quotient(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale).max(QUOTIENT_SCALE);
        let (one, two, _) = self.aligned(other)?;
        let exact = one.checked_mul(power(scale + 1)?)?.checked_div(two)?;
        let rounded = Self { unscaled: exact, scale: scale + 1 }.rounded(scale)?;
        Some(rounded.stripped(self.scale.saturating_sub(other.scale)))
    }

    /// With so many digits after the point, rounded half up.
    pub(crate) fn rounded(self, scale: u32) -> Option<Self> {
        if scale >= self.scale {
            let unscaled = self.unscaled.checked_mul(power(scale - self.scale)?)?;
            return Some(Self { unscaled, scale });
        }
        let divisor = power(self.scale - scale)?;
        let half = divisor / 2 * self.unscaled.signum();
        Some(Self { unscaled: self.unscaled.checked_add(half)? / divisor, scale })
    }

    /// With so many digits after the point, rounded as one of Java's modes says; `None` where it cannot be.
    pub(crate) fn rounded_by(self, scale: u32, mode: &str) -> Option<Self> {
        if scale >= self.scale {
            return self.rounded(scale);
        }
        let divisor = power(self.scale - scale)?;
        let (whole, rest) = (self.unscaled / divisor, (self.unscaled % divisor).abs());
        let half = rest.checked_mul(2)?.cmp(&divisor);
        let is_away = match mode.trim_start_matches("ROUND_") {
            "UP" => rest > 0,
            "DOWN" => false,
            "CEILING" => rest > 0 && self.unscaled > 0,
            "FLOOR" => rest > 0 && self.unscaled < 0,
            "HALF_UP" => half.is_ge(),
            "HALF_DOWN" => half.is_gt(),
            "HALF_EVEN" => half.is_gt() || half.is_eq() && whole % 2 != 0,
            _ if rest > 0 => return None,
            _ => false,
        };
        let unscaled = if is_away { whole + self.unscaled.signum() } else { whole };
        Some(Self { unscaled, scale })
    }

    /// Without zeros at the end, down to so many digits.
    pub(crate) fn stripped(mut self, scale_min: u32) -> Self {
        while self.scale > scale_min && self.unscaled % 10 == 0 {
            self.unscaled /= 10;
            self.scale -= 1;
        }
        self
    }

    pub(crate) fn compare(self, other: Self) -> Ordering {
        match self.aligned(other) {
            Some((one, two, _)) => one.cmp(&two),
            None => self.double().total_cmp(&other.double()),
        }
    }
}

fn power(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.unscaled.unsigned_abs().to_string();
        let scale = self.scale as usize;
        let digits = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let sign = if self.unscaled < 0 { "-" } else { "" };
        match scale {
            0 => write!(out, "{sign}{whole}"),
            _ => write!(out, "{sign}{whole}.{fraction}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_compute_as_written() {
        let of = |text: &str| Decimal::parse(text).expect("a decimal");
        for (value, expect) in [
            (of("1.5").sum(of("0.25")), "1.75"),
            (of("1.10").product(of("2")), "2.20"),
            (of("10").quotient(of("4")), "2.5"),
            (of("1").quotient(of("3")), "0.3333333333"),
            (of("-2").quotient(of("3")), "-0.6666666667"),
            (of("6").quotient(of("2")), "3"),
            (of("0.05").difference(of("1")), "-0.95"),
            (of("2.345").rounded(2), "2.35"),
            (of("7.5").remainder(of("2")), "1.5"),
            (of("2.5").rounded_by(0, "HALF_EVEN"), "2"),
            (of("3.5").rounded_by(0, "HALF_EVEN"), "4"),
            (of("-2.5").rounded_by(0, "HALF_DOWN"), "-2"),
            (of("-2.5").rounded_by(0, "HALF_UP"), "-3"),
            (of("2.11").rounded_by(1, "CEILING"), "2.2"),
            (of("-2.11").rounded_by(1, "FLOOR"), "-2.2"),
            (of("2.19").rounded_by(1, "DOWN"), "2.1"),
            (of("-2.11").rounded_by(1, "UP"), "-2.2"),
            (of("2.1").rounded_by(3, "UNNECESSARY"), "2.100"),
            (Decimal::parse("1e-5"), "0.00001"),
            (Decimal::parse("1.5E+2"), "150"),
        ] {
            assert_eq!(value.map(|value| value.to_string()).as_deref(), Some(expect));
        }
        assert_eq!(of("1").quotient(of("0")), None);
        assert_eq!(of("2.11").rounded_by(1, "UNNECESSARY"), None);
        assert_eq!(
            (Decimal::parse("1e500"), Decimal::parse("."), Decimal::parse("")),
            (None, None, None)
        );
        assert_eq!(of(&"9".repeat(38)).product(of(&"9".repeat(38))), None);
    }
}
