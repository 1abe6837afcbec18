//! `ServiceTime`: the law by which a worker's time for one request is drawn. It reads no file: the command does.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use stdx::{DurationError, Nanos, Prng};
use thiserror::Error;

/// How long a worker is busy with one request.
#[derive(Clone, Debug, PartialEq)]
pub enum ServiceTime {
    /// `none`: no time at all; every request is answered at once.
    None,
    /// `fixed:60ms`: always the same.
    Fixed(Nanos),
    /// `exp:60ms`: exponential, of this mean.
    Exponential(Nanos),
    /// `lognormal:60ms,0.5`: `median * exp(sigma * Z)`, Z standard normal; its mean is `median * exp(sigma^2 / 2)`.
    Lognormal {
        /// Half of the requests take less.
        median: Nanos,
        /// The standard deviation of the logarithm, from 0 to 10.
        sigma: f64,
    },
    /// `file:PATH`: to be read by the caller and given to [`ServiceTime::from_lines`]; no law by itself.
    File(PathBuf),
    /// One of these, each as likely as the other; never empty.
    Sample(Arc<[Nanos]>),
}

/// Why a text is no law.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ServiceTimeError {
    /// The word before the colon is unknown.
    #[error(
        "unknown service time \"{0}\" (expected none, fixed:60ms, exp:60ms, lognormal:60ms,0.5 or file:PATH)"
    )]
    UnknownLaw(String),
    /// The time is no duration.
    #[error("service time \"{text}\": {source}")]
    Duration {
        /// The text as given.
        text: String,
        /// What is wrong with its duration.
        source: DurationError,
    },
    /// Lognormal's second number is missing or out of range.
    #[error(
        "service time \"{0}\": expected a sigma from 0 to 10 after the median, as in lognormal:60ms,0.5"
    )]
    Sigma(String),
    /// `file:` without a path.
    #[error("service time \"file:\": expected a path after the colon")]
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

impl ServiceTime {
    /// Reads `none`, `fixed:60ms`, `exp:60ms`, `lognormal:60ms,0.5` or `file:PATH`.
    ///
    /// # Errors
    /// The text is no law; the message names the text and what was expected.
    pub fn parse(text: &str) -> Result<Self, ServiceTimeError> {
        let (law, rest) = text.split_once(':').unwrap_or((text, ""));
        let duration = |part: &str| {
            Nanos::parse(part)
                .map_err(|source| ServiceTimeError::Duration { text: text.to_owned(), source })
        };
        match law {
            "none" if text == law => Ok(Self::None),
            "fixed" => Ok(Self::Fixed(duration(rest)?)),
            "exp" => Ok(Self::Exponential(duration(rest)?)),
            "lognormal" => {
                let (median, sigma) = rest.split_once(',').unwrap_or((rest, ""));
                let median = duration(median.trim())?;
                let sigma = sigma.trim().parse().ok().filter(|s| (0.0..=10.0).contains(s));
                let sigma = sigma.ok_or_else(|| ServiceTimeError::Sigma(text.to_owned()))?;
                Ok(Self::Lognormal { median, sigma })
            }
            "file" if rest.is_empty() => Err(ServiceTimeError::NoPath),
            "file" => Ok(Self::File(PathBuf::from(rest))),
            _ => Err(ServiceTimeError::UnknownLaw(text.to_owned())),
        }
    }

    /// Reads a file's text: one Go duration a line; empty lines and those that begin with `#` do not count.
    ///
    /// # Errors
    /// A line is no duration (the first such line is named), or there is none.
    pub fn from_lines(text: &str) -> Result<Self, ServiceTimeError> {
        let lines = text.lines().map(str::trim).enumerate();
        let sample = lines
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .map(|(i, line)| {
                Nanos::parse(line).map_err(|source| ServiceTimeError::Line { line: i + 1, source })
            })
            .collect::<Result<Arc<[Nanos]>, _>>()?;
        if sample.is_empty() { Err(ServiceTimeError::NoLines) } else { Ok(Self::Sample(sample)) }
    }

    /// A time by this law. An unread [`ServiceTime::File`] gives zero; [`crate::Machine::new`] refuses it.
    pub fn draw(&self, rng: &mut Prng) -> Nanos {
        match self {
            Self::None | Self::File(_) => Nanos::ZERO,
            Self::Fixed(time) => *time,
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

impl fmt::Display for ServiceTime {
    /// As [`ServiceTime::parse`] reads it; a sample, which has no name any more, says how large it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Fixed(time) => write!(f, "fixed:{time}"),
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
    fn laws_are_read_and_printed_back() {
        let cases = [
            ("none", ServiceTime::None),
            ("fixed:60ms", ServiceTime::Fixed(MS(60))),
            ("exp:1.5s", ServiceTime::Exponential(MS(1500))),
            ("lognormal:60ms,0.5", ServiceTime::Lognormal { median: MS(60), sigma: 0.5 }),
            ("file:a:b.txt", ServiceTime::File("a:b.txt".into())),
        ];
        for (text, law) in cases {
            assert_eq!(law.to_string(), text);
            assert_eq!(ServiceTime::parse(text), Ok(law));
        }
    }

    #[test]
    fn wrong_laws_are_refused_by_kind() {
        use ServiceTimeError as E;
        for text in ["", "none:", "gauss:1ms", "60ms"] {
            assert_eq!(ServiceTime::parse(text), Err(E::UnknownLaw(text.into())), "{text:?}");
        }
        for text in ["lognormal:1ms", "lognormal:1ms,", "lognormal:1ms,-1", "lognormal:1ms,NaN"] {
            assert_eq!(ServiceTime::parse(text), Err(E::Sigma(text.into())), "{text:?}");
        }
        for text in ["fixed", "fixed:", "exp:60", "lognormal:x,0.5"] {
            assert!(matches!(ServiceTime::parse(text), Err(E::Duration { .. })), "{text:?}");
        }
        assert_eq!(ServiceTime::parse("file:"), Err(E::NoPath));
    }

    #[test]
    fn files_are_drawn_from_evenly() {
        let law = ServiceTime::from_lines("# measured\n10ms\n\n 20ms \n30ms").expect("valid");
        assert_eq!(law, ServiceTime::Sample([MS(10), MS(20), MS(30)].into()));
        let mut rng = Prng::new(1);
        let tens = (0..3000).filter(|_| law.draw(&mut rng) == MS(10)).count();
        assert!((900..1100).contains(&tens), "{tens}");
        assert_eq!(ServiceTime::from_lines("# x\n"), Err(ServiceTimeError::NoLines));
        let wrong = ServiceTime::from_lines("1ms\n\nx");
        assert!(matches!(wrong, Err(ServiceTimeError::Line { line: 3, .. })));
    }

    #[test]
    fn draws_have_the_laws_moments() {
        let mean = |text: &str| {
            let (law, mut rng) = (ServiceTime::parse(text).expect("valid"), Prng::new(5));
            (0..200_000).map(|_| law.draw(&mut rng).as_millis_f64()).sum::<f64>() / 200_000.0
        };
        assert!((mean("fixed:60ms") - 60.0).abs() < 1e-9);
        assert!((mean("exp:60ms") / 60.0 - 1.0).abs() < 0.01);
        assert!((mean("lognormal:60ms,0.5") / (60.0 * 0.125f64.exp()) - 1.0).abs() < 0.01);
        assert!(mean("none") == 0.0);
    }
}
