//! Shapes as the command line says them: `linear:10..100`, `steps:10x30s,20x30s`, `sine:100,50,60s,peak`, `poisson`,
//! `replay:FILE`. It opens no file.

use stdx::{DurationError, Nanos};
use thiserror::Error;

use super::rate::{ParsedRate, Rate, RateError};
use super::shape::Shape;
use super::sine::SineStart;
use super::steps::Step;

/// What a shape's text asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeSpec {
    /// A shape, ready to use.
    Shape(Shape),
    /// The moments, or the rates, of this file; the caller reads it, calls [`super::Replay::from_lines`] and scales the shape.
    ReplayFile {
        /// The file, as typed.
        path: String,
        /// How many times as many hits it is to have ([`Shape::scaled`]); above 0.
        scale: f64,
    },
}

/// Why a text is not a shape.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShapeError {
    /// The word before the colon names no shape.
    #[error(
        "unknown shape \"{0}\" (expected constant, linear:10..100, steps:10x30s,20x30s, sine:100,50,60s, poisson or replay:FILE)"
    )]
    Unknown(String),
    /// What follows the colon is not what this shape takes.
    #[error("invalid shape \"{text}\" (expected {expected})")]
    Invalid {
        /// The text as given.
        text: String,
        /// How it should look.
        expected: &'static str,
    },
    /// A rate in it is no rate.
    #[error("invalid shape \"{text}\": {source}")]
    Rate {
        /// The text as given.
        text: String,
        /// What is wrong with the rate.
        source: RateError,
    },
    /// A time in it is no time.
    #[error("invalid shape \"{text}\": {source}")]
    Duration {
        /// The text as given.
        text: String,
        /// What is wrong with the time.
        source: DurationError,
    },
    /// The shape takes its rate from `-rate`, which gives none.
    #[error("shape \"{0}\" needs a -rate above 0")]
    NeedsRate(String),
    /// A sine would go below 0.
    #[error("invalid shape \"{0}\": the amplitude is greater than the mean")]
    Amplitude(String),
}

impl Shape {
    /// Reads `constant`, `linear:FROM..TO`, `steps:RATExTIME,…`, `sine:MEAN,AMPLITUDE,PERIOD[,mean-up|peak|mean-down|trough]`,
    /// `poisson`, `replay:FILE[,3x]`. `rate` is what `-rate` says; `constant` and `poisson` use it.
    ///
    /// # Errors
    /// The text is not a shape; the message says what was expected.
    pub fn parse(text: &str, rate: Option<Rate>) -> Result<ShapeSpec, ShapeError> {
        let (kind, arguments) = text.split_once(':').unwrap_or((text, ""));
        let rate = || {
            rate.filter(|rate| rate.hits > 0).ok_or_else(|| ShapeError::NeedsRate(text.to_owned()))
        };
        let reader = Reader { text };
        let shape = match kind {
            "constant" if arguments.is_empty() => Self::constant(rate()?),
            "poisson" if arguments.is_empty() => Self::Poisson { rate: rate()? },
            "constant" | "poisson" => return Err(reader.invalid("no argument; the rate is -rate")),
            "linear" => reader.linear(arguments)?,
            "steps" => reader.steps(arguments)?,
            "sine" => reader.sine(arguments)?,
            "replay" if arguments.is_empty() => return Err(reader.invalid("replay:FILE")),
            "replay" => return reader.replay(arguments),
            _ => return Err(ShapeError::Unknown(kind.to_owned())),
        };
        Ok(ShapeSpec::Shape(shape))
    }
}

/// A step of a file: `RATExTIME`.
///
/// # Errors
/// The text is none; the message says what was expected.
pub(super) fn step(text: &str) -> Result<Step, ShapeError> {
    Reader { text }.step(text)
}

/// Reads the parts of one shape's text; errors quote the whole of it.
struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn linear(&self, arguments: &str) -> Result<Shape, ShapeError> {
        let (from, to) = arguments
            .split_once("..")
            .ok_or_else(|| self.invalid("linear:FROM..TO, such as linear:10..100"))?;
        let (from, to) = (self.rate(from)?, self.rate(to)?);
        if from.hits == 0 && to.hits == 0 {
            return Err(self.invalid("a rate above 0 at one end at least"));
        }
        Ok(Shape::Linear { from, to })
    }

    fn steps(&self, arguments: &str) -> Result<Shape, ShapeError> {
        arguments.split(',').map(|part| self.step(part)).collect::<Result<_, _>>().map(Shape::Steps)
    }

    fn step(&self, part: &str) -> Result<Step, ShapeError> {
        let (rate, lasts) = part
            .rsplit_once('x')
            .ok_or_else(|| self.invalid("steps:RATExTIME,…, such as steps:10x30s,20x30s"))?;
        Ok(Step { rate: self.rate(rate)?, lasts: self.duration(lasts)? })
    }

    /// A file, and how many times its load behind a comma. A file whose name ends like that needs another name.
    fn replay(&self, arguments: &str) -> Result<ShapeSpec, ShapeError> {
        let scale_of = |tail: &str| tail.strip_suffix('x')?.parse::<f64>().ok();
        let scaled =
            arguments.rsplit_once(',').and_then(|(path, tail)| Some((path, scale_of(tail)?)));
        let (path, scale) = scaled.unwrap_or((arguments, 1.0));
        if path.is_empty() || !(0.001..=1_000_000.0).contains(&scale) {
            return Err(self.invalid("replay:FILE or replay:FILE,3x"));
        }
        Ok(ShapeSpec::ReplayFile { path: path.to_owned(), scale })
    }

    fn sine(&self, arguments: &str) -> Result<Shape, ShapeError> {
        const EXPECTED: &str =
            "sine:MEAN,AMPLITUDE,PERIOD[,START] with START one of mean-up, peak, mean-down, trough";
        let parts: Vec<&str> = arguments.split(',').collect();
        let (&[mean, amplitude, period] | &[mean, amplitude, period, _]) = parts.as_slice() else {
            return Err(self.invalid(EXPECTED));
        };
        let start_at = match parts.get(3) {
            None | Some(&"mean-up") => SineStart::MeanUp,
            Some(&"peak") => SineStart::Peak,
            Some(&"mean-down") => SineStart::MeanDown,
            Some(&"trough") => SineStart::Trough,
            Some(_) => return Err(self.invalid(EXPECTED)),
        };
        let (mean, amplitude, period) =
            (self.rate(mean)?, self.rate(amplitude)?, self.duration(period)?);
        if mean.hits == 0 || period == Nanos::ZERO {
            return Err(self.invalid("a mean and a period above 0"));
        }
        if amplitude.per_s() > mean.per_s() {
            return Err(ShapeError::Amplitude(self.text.to_owned()));
        }
        Ok(Shape::Sine { mean, amplitude, period, start_at })
    }

    /// A rate; 0 is a pause here, not "as fast as possible".
    fn rate(&self, text: &str) -> Result<Rate, ShapeError> {
        match Rate::parse(text.trim()) {
            Ok(ParsedRate::Rate(rate)) => Ok(rate),
            Ok(ParsedRate::AsFastAsPossible) if text.trim().starts_with('0') => {
                Ok(Rate::per_second(0))
            }
            Ok(_) => Err(self.invalid("finite rates")),
            Err(source) => Err(ShapeError::Rate { text: self.text.to_owned(), source }),
        }
    }

    fn duration(&self, text: &str) -> Result<Nanos, ShapeError> {
        Nanos::parse(text.trim())
            .map_err(|source| ShapeError::Duration { text: self.text.to_owned(), source })
    }

    fn invalid(&self, expected: &'static str) -> ShapeError {
        ShapeError::Invalid { text: self.text.to_owned(), expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(hits: u64) -> Rate {
        Rate::per_second(hits)
    }

    #[test]
    fn reads_shapes() {
        let per_minute = Rate { hits: 30, per: Nanos::from_secs(60) };
        let step = |hits, seconds| Step { rate: rate(hits), lasts: Nanos::from_secs(seconds) };
        let sine = |start_at| Shape::Sine {
            mean: rate(100),
            amplitude: rate(50),
            period: Nanos::from_secs(60),
            start_at,
        };
        let cases = [
            ("constant", Shape::Constant { hits: 9, per: Nanos::SECOND }),
            ("poisson", Shape::Poisson { rate: rate(9) }),
            ("linear:10..100", Shape::Linear { from: rate(10), to: rate(100) }),
            ("linear:0..30/m", Shape::Linear { from: rate(0), to: per_minute }),
            ("steps:10x30s,0x5s,20x1m", Shape::Steps(vec![step(10, 30), step(0, 5), step(20, 60)])),
            ("sine:100,50,60s", sine(SineStart::MeanUp)),
            ("sine:100,50,1m,trough", sine(SineStart::Trough)),
        ];
        for (text, shape) in cases {
            assert_eq!(Shape::parse(text, Some(rate(9))), Ok(ShapeSpec::Shape(shape)), "{text}");
        }
        let file = ShapeSpec::ReplayFile { path: "a:b.csv".to_owned(), scale: 1.0 };
        assert_eq!(Shape::parse("replay:a:b.csv", None), Ok(file));
        for (text, path, scale) in [
            ("replay:day.rate,3x", "day.rate", 3.0),
            ("replay:a,b.rate,0.5x", "a,b.rate", 0.5),
            ("replay:a,b", "a,b", 1.0),
        ] {
            let expect = ShapeSpec::ReplayFile { path: path.to_owned(), scale };
            assert_eq!(Shape::parse(text, None), Ok(expect), "{text}");
        }
    }

    #[test]
    fn says_what_was_expected() {
        let cases = [
            ("ramp:1..2", "unknown shape \"ramp\" (expected constant, linear:10..100"),
            ("linear:5", "invalid shape \"linear:5\" (expected linear:FROM..TO"),
            ("linear:0..0", "invalid shape \"linear:0..0\" (expected a rate above 0"),
            ("linear:a..5", "invalid shape \"linear:a..5\": invalid rate \"a\""),
            ("linear:5/0s..infinity", "invalid shape \"linear:5/0s..infinity\" (expected finite"),
            ("steps:10", "invalid shape \"steps:10\" (expected steps:RATExTIME"),
            ("steps:10x5", "invalid shape \"steps:10x5\": missing unit"),
            ("sine:1,2,60s", "invalid shape \"sine:1,2,60s\": the amplitude"),
            ("sine:2,1,60s,up", "invalid shape \"sine:2,1,60s,up\" (expected sine:MEAN"),
            ("sine:0,0,60s", "invalid shape \"sine:0,0,60s\" (expected a mean"),
            ("poisson", "shape \"poisson\" needs a -rate above 0"),
            ("poisson:5", "invalid shape \"poisson:5\" (expected no argument"),
            ("replay:", "invalid shape \"replay:\" (expected replay:FILE)"),
            (
                "replay:a,0x",
                "invalid shape \"replay:a,0x\" (expected replay:FILE or replay:FILE,3x)",
            ),
        ];
        for (text, head) in cases {
            let found = Shape::parse(text, None).map_err(|error| error.to_string());
            assert!(
                found.as_ref().is_err_and(|error| error.starts_with(head)),
                "{text}: {found:?}"
            );
        }
    }
}
