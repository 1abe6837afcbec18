//! Shapes as the command line says them: `linear:10..100`, `steps:10x30s,20x30s`, `sine:100,50,60s,peak`, `poisson`,
//! `replay:FILE`. It opens no file.

use stdx::{DurationError, Nanos};
use thiserror::Error;

use super::{ParsedRate, Rate, RateError, Shape, SineStart, Step};

/// What a shape's text asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeSpec {
    /// A shape, ready to use.
    Shape(Shape),
    /// The moments of this file; the caller reads it and calls [`super::Replay::from_lines`].
    ReplayFile(String),
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
    /// `poisson`, `replay:FILE`. `rate` is what `-rate` says; `constant` and `poisson` use it.
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
            "replay" => return Ok(ShapeSpec::ReplayFile(arguments.to_owned())),
            _ => return Err(ShapeError::Unknown(kind.to_owned())),
        };
        Ok(ShapeSpec::Shape(shape))
    }
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
        let step = |part: &str| {
            let (rate, lasts) = part
                .rsplit_once('x')
                .ok_or_else(|| self.invalid("steps:RATExTIME,…, such as steps:10x30s,20x30s"))?;
            Ok(Step { rate: self.rate(rate)?, lasts: self.duration(lasts)? })
        };
        arguments.split(',').map(step).collect::<Result<_, _>>().map(Shape::Steps)
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
