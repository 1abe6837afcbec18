//! `Distribution`: what times are drawn from. It reads no file; the caller does.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{DurationError, Nanos, Prng};

/// What times are drawn from, such as service times and think times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Distribution {
    /// `none`: no time at all.
    None,
    /// `fixed:60ms`: always the same.
    Fixed(Nanos),
    /// `uniform:40ms,80ms`: each time between the two as likely as the other.
    Uniform(Nanos, Nanos),
    /// `exp:60ms`: exponential, of this mean.
    Exponential(Nanos),
    /// `lognormal:60ms,0.5`: `median * exp(sigma * Z)`, Z standard normal; its mean is `median * exp(sigma^2 / 2)`.
    Lognormal {
        /// Half of the times are less.
        median: Nanos,
        /// The standard deviation of the logarithm, from 0 to 10.
        sigma: f64,
    },
    /// `file:PATH`: to be read by the caller and given to [`Distribution::from_lines`]; no distribution by itself.
    File(PathBuf),
    /// One of these, each as likely as the other; never empty.
    Sample(#[serde(with = "crate::shared")] Arc<[Nanos]>),
}

/// Why a text is no distribution.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DistributionError {
    /// The word before the colon is unknown.
    #[error(
        "unknown law \"{0}\" (expected none, fixed:60ms, uniform:40ms,80ms, exp:60ms, lognormal:60ms,0.5 or file:PATH)"
    )]
    Unknown(String),
    /// The time is no duration.
    #[error("law \"{text}\": {source}")]
    Duration {
        /// The text as given.
        text: String,
        /// What is wrong with its duration.
        source: DurationError,
    },
    /// Uniform's second time is missing or before the first.
    #[error("law \"{0}\": expected two times, the lesser first, as in uniform:40ms,80ms")]
    Span(String),
    /// Lognormal's second number is missing or out of range.
    #[error(
        "law \"{0}\": expected a sigma from 0 to 10 after the median, as in lognormal:60ms,0.5"
    )]
    Sigma(String),
    /// `file:` without a path.
    #[error("law \"file:\": expected a path after the colon")]
    NoPath,
    /// A line of the file is no duration.
    #[error("line {line}: {source}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it.
        source: DurationError,
    },
    /// The file holds no duration.
    #[error("no durations in the file (expected one a line, such as 60ms)")]
    NoLines,
}

impl Distribution {
    /// The least time that may be drawn.
    #[must_use]
    pub fn least(&self) -> Nanos {
        match self {
            Self::Fixed(time) | Self::Uniform(time, _) => *time,
            Self::Sample(times) => times.iter().min().copied().unwrap_or_default(),
            Self::None | Self::Exponential(_) | Self::Lognormal { .. } | Self::File(_) => {
                Nanos::ZERO
            }
        }
    }

    /// Reads `none`, `fixed:60ms`, `uniform:40ms,80ms`, `exp:60ms`, `lognormal:60ms,0.5` or `file:PATH`.
    ///
    /// # Examples
    /// ```
    /// use stdx::{Distribution, Nanos, Prng};
    ///
    /// let fixed = Distribution::parse("fixed:60ms")?;
    /// assert_eq!(fixed.draw(&mut Prng::new(1)), Nanos::from_millis(60));
    /// # Ok::<(), stdx::DistributionError>(())
    /// ```
    ///
    /// # Errors
    /// The text is no distribution; the message names the text and what was expected.
    pub fn parse(text: &str) -> Result<Self, DistributionError> {
        let (distribution, rest) = text.split_once(':').unwrap_or((text, ""));
        let duration = |part: &str| {
            Nanos::parse(part)
                .map_err(|source| DistributionError::Duration { text: text.to_owned(), source })
        };
        match distribution {
            "none" if text == distribution => Ok(Self::None),
            "fixed" => Ok(Self::Fixed(duration(rest)?)),
            "uniform" => {
                let (from, to) = rest.split_once(',').unwrap_or((rest, rest));
                let (from, to) = (duration(from.trim())?, duration(to.trim())?);
                let holds = rest.contains(',') && from <= to;
                holds
                    .then_some(Self::Uniform(from, to))
                    .ok_or_else(|| DistributionError::Span(text.to_owned()))
            }
            "exp" => Ok(Self::Exponential(duration(rest)?)),
            "lognormal" => {
                let (median, sigma) = rest.split_once(',').unwrap_or((rest, ""));
                let median = duration(median.trim())?;
                let sigma = sigma.trim().parse().ok().filter(|s| (0.0..=10.0).contains(s));
                let sigma = sigma.ok_or_else(|| DistributionError::Sigma(text.to_owned()))?;
                Ok(Self::Lognormal { median, sigma })
            }
            "file" if rest.is_empty() => Err(DistributionError::NoPath),
            "file" => Ok(Self::File(PathBuf::from(rest))),
            _ => Err(DistributionError::Unknown(text.to_owned())),
        }
    }

    /// Reads a file's text: one Go duration a line; empty lines and those that begin with `#` do not count.
    ///
    /// # Errors
    /// A line is not a duration (the first such line is named), or there is no line.
    pub fn from_lines(text: &str) -> Result<Self, DistributionError> {
        let lines = text.lines().map(str::trim).enumerate();
        let sample = lines
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .map(|(i, line)| {
                Nanos::parse(line).map_err(|source| DistributionError::Line { line: i + 1, source })
            })
            .collect::<Result<Arc<[Nanos]>, _>>()?;
        if sample.is_empty() { Err(DistributionError::NoLines) } else { Ok(Self::Sample(sample)) }
    }

    /// A time drawn from this distribution. An unread [`Distribution::File`] gives zero.
    pub fn draw(&self, rng: &mut Prng) -> Nanos {
        match self {
            Self::None | Self::File(_) => Nanos::ZERO,
            Self::Fixed(time) => *time,
            Self::Uniform(from, to) => *from + scaled(*to - *from, rng.next_f64()),
            Self::Exponential(mean) => scaled(*mean, rng.exponential()),
            Self::Lognormal { median, sigma } => scaled(*median, (sigma * rng.normal()).exp()),
            Self::Sample(sample) => sample[rng.below(sample.len() as u64) as usize],
        }
    }
}

/// `time * by`, to the nanosecond; what does not fit is the longest time.
fn scaled(time: Nanos, by: f64) -> Nanos {
    Nanos((time.0 as f64 * by).round() as u64)
}

impl fmt::Display for Distribution {
    /// As [`Distribution::parse`] reads it; a sample, which has no name any more, shows its size.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Fixed(time) => write!(f, "fixed:{time}"),
            Self::Uniform(from, to) => write!(f, "uniform:{from},{to}"),
            Self::Exponential(mean) => write!(f, "exp:{mean}"),
            Self::Lognormal { median, sigma } => write!(f, "lognormal:{median},{sigma}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Sample(sample) => write!(f, "sample of {} durations", sample.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Nanos = Nanos::from_millis;

    #[test]
    fn distributions_are_read_and_printed_back() {
        let cases = [
            ("none", Distribution::None),
            ("fixed:60ms", Distribution::Fixed(MS(60))),
            ("uniform:40ms,80ms", Distribution::Uniform(MS(40), MS(80))),
            ("exp:1.5s", Distribution::Exponential(MS(1500))),
            ("lognormal:60ms,0.5", Distribution::Lognormal { median: MS(60), sigma: 0.5 }),
            ("file:a:b.txt", Distribution::File("a:b.txt".into())),
        ];
        for (text, distribution) in cases {
            assert_eq!(distribution.to_string(), text);
            assert_eq!(Distribution::parse(text), Ok(distribution));
        }
    }

    #[test]
    fn wrong_distributions_are_refused_by_kind() {
        use DistributionError as E;
        for text in ["", "none:", "gauss:1ms", "60ms"] {
            assert_eq!(Distribution::parse(text), Err(E::Unknown(text.into())), "{text:?}");
        }
        for text in ["lognormal:1ms", "lognormal:1ms,", "lognormal:1ms,-1", "lognormal:1ms,NaN"] {
            assert_eq!(Distribution::parse(text), Err(E::Sigma(text.into())), "{text:?}");
        }
        for text in ["fixed", "fixed:", "exp:60", "lognormal:x,0.5"] {
            assert!(matches!(Distribution::parse(text), Err(E::Duration { .. })), "{text:?}");
        }
        for text in ["uniform:1ms", "uniform:2ms,1ms"] {
            assert_eq!(Distribution::parse(text), Err(E::Span(text.into())), "{text:?}");
        }
        assert_eq!(Distribution::parse("file:"), Err(E::NoPath));
    }

    #[test]
    fn files_are_drawn_from_evenly() {
        let distribution =
            Distribution::from_lines("# measured\n10ms\n\n 20ms \n30ms").expect("valid");
        assert_eq!(distribution, Distribution::Sample([MS(10), MS(20), MS(30)].into()));
        let mut rng = Prng::new(1);
        let tens = (0..3000).filter(|_| distribution.draw(&mut rng) == MS(10)).count();
        assert!((900..1100).contains(&tens), "{tens}");
        assert_eq!(Distribution::from_lines("# x\n"), Err(DistributionError::NoLines));
        let wrong = Distribution::from_lines("1ms\n\nx");
        assert!(matches!(wrong, Err(DistributionError::Line { line: 3, .. })));
    }

    #[test]
    fn draws_have_the_right_moments() {
        let mean = |text: &str| {
            let (distribution, mut rng) = (Distribution::parse(text).expect("valid"), Prng::new(5));
            (0..200_000).map(|_| distribution.draw(&mut rng).as_millis_f64()).sum::<f64>()
                / 200_000.0
        };
        assert!((mean("fixed:60ms") - 60.0).abs() < 1e-9);
        assert!((mean("uniform:40ms,80ms") / 60.0 - 1.0).abs() < 0.01);
        assert!((mean("exp:60ms") / 60.0 - 1.0).abs() < 0.01);
        assert!((mean("lognormal:60ms,0.5") / (60.0 * 0.125f64.exp()) - 1.0).abs() < 0.01);
        assert!(mean("none") == 0.0);
    }
}
