//! `Rate`: hits in a stretch of time, read as Vegeta reads `-rate`.

use std::fmt;

use serde::{Deserialize, Serialize};
use stdx::{DurationError, Nanos};
use thiserror::Error;

/// The highest rate there is, in hits per second: one a nanosecond.
pub const RATE_MAX_PER_S: u64 = 1_000_000_000;

/// `hits` in every `per`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Hits in every `per`; 0 is no hits at all.
    pub hits: u64,
    /// The time they are spread over; not 0.
    pub per: Nanos,
}

/// A rate's text, parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParsedRate {
    /// A rate above 0.
    Rate(Rate),
    /// `0`, or any number in no time: as fast as possible.
    AsFastAsPossible,
    /// The word `infinity`, which Vegeta accepts and ignores: each dialect decides.
    Infinity,
}

/// Why a text is not a rate.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RateError {
    /// There is no whole number before the slash.
    #[error(
        "invalid rate \"{0}\" (expected requests, or requests per time, such as 50, 50/1s or 120/m)"
    )]
    Invalid(String),
    /// What follows the slash is neither a unit nor a duration.
    #[error("invalid rate \"{text}\": {source}")]
    Per {
        /// The text as given.
        text: String,
        /// What is wrong with the part behind the slash.
        source: DurationError,
    },
    /// The rate is over one hit a nanosecond.
    #[error("rate \"{0}\" is too high (the highest is 1000000000/1s)")]
    TooHigh(String),
}

impl Rate {
    /// `hits` in every second.
    #[must_use]
    pub const fn per_second(hits: u64) -> Self {
        Self { hits, per: Nanos::SECOND }
    }

    /// Reads `50`, `50/1s`, `120/m`, `7/250ms`, `0`, `infinity`.
    ///
    /// # Examples
    /// ```
    /// use stdx::Nanos;
    /// use workload::arrival::{ParsedRate, Rate};
    ///
    /// let rate = Rate { hits: 120, per: Nanos::from_secs(60) };
    /// assert_eq!(Rate::parse("120/m"), Ok(ParsedRate::Rate(rate)));
    /// ```
    ///
    /// # Errors
    /// The text is not a rate, or is over 10^9 hits per second; the message names the text.
    pub fn parse(text: &str) -> Result<ParsedRate, RateError> {
        if text == "infinity" {
            return Ok(ParsedRate::Infinity);
        }
        let (hits, per) = text.split_once('/').unwrap_or((text, "1s"));
        let hits: u64 = match hits.strip_prefix('+').unwrap_or(hits) {
            digits if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) => {
                return Err(RateError::Invalid(text.to_owned()));
            }
            digits => digits.parse().map_err(|_| RateError::TooHigh(text.to_owned()))?,
        };
        if hits == 0 {
            return Ok(ParsedRate::AsFastAsPossible);
        }
        let per = match per {
            "ns" | "us" | "µs" | "ms" | "s" | "m" | "h" | "d" => Nanos::parse(&format!("1{per}")),
            per => Nanos::parse(per),
        };
        let per = per.map_err(|source| RateError::Per { text: text.to_owned(), source })?;
        if per == Nanos::ZERO {
            return Ok(ParsedRate::AsFastAsPossible);
        }
        if hits > per.0 {
            return Err(RateError::TooHigh(text.to_owned()));
        }
        Ok(ParsedRate::Rate(Self { hits, per }))
    }

    /// The rate in hits per second; 0 where `per` is 0.
    #[must_use]
    pub fn per_s(self) -> f64 {
        if self.per == Nanos::ZERO { 0.0 } else { self.hits as f64 / self.per.as_secs_f64() }
    }
}

impl fmt::Display for Rate {
    /// `50/s`, `120/1m0s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.per {
            Nanos::SECOND => write!(f, "{}/s", self.hits),
            per => write!(f, "{}/{per}", self.hits),
        }
    }
}

/// The hits that are due before an integral has come to so much: hit `k` is due at `k`. What rounding added (up to 10^-6 of a
/// hit) makes none.
pub(super) fn due_before(hits: f64) -> u64 {
    (hits - 1e-6).ceil().max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rates() {
        let rate = |hits, per| Ok(ParsedRate::Rate(Rate { hits, per: Nanos(per) }));
        let cases = [
            ("50/1s", rate(50, 1_000_000_000)),
            ("6", rate(6, 1_000_000_000)),
            ("120/m", rate(120, 60_000_000_000)),
            ("7/250ms", rate(7, 250_000_000)),
            ("1000000000", rate(1_000_000_000, 1_000_000_000)),
            ("1/ns", rate(1, 1)),
            ("0", Ok(ParsedRate::AsFastAsPossible)),
            ("0/1s", Ok(ParsedRate::AsFastAsPossible)),
            ("5/0s", Ok(ParsedRate::AsFastAsPossible)),
            ("infinity", Ok(ParsedRate::Infinity)),
        ];
        for (text, expect) in cases {
            assert_eq!(Rate::parse(text), expect, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_rate() {
        for text in ["", "/s", "fast", "-1", "1.5", "5x"] {
            assert_eq!(Rate::parse(text), Err(RateError::Invalid(text.to_owned())), "{text}");
        }
        for text in ["1000000001", "2/ns", "99999999999999999999"] {
            assert_eq!(Rate::parse(text), Err(RateError::TooHigh(text.to_owned())), "{text}");
        }
        let error = Rate::parse("5/parsec").map_err(|error| error.to_string());
        assert!(error.is_err_and(|text| text.starts_with("invalid rate \"5/parsec\": ")));
    }

    #[test]
    fn prints_rates() {
        assert_eq!(Rate::per_second(50).to_string(), "50/s");
        assert_eq!(Rate { hits: 120, per: Nanos::from_secs(60) }.to_string(), "120/1m0s");
    }
}
