//! `Sentence`: one sentence of a conclusion, with its kind and the figures that it rests on.

/// What a sentence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// How much was requested and answered.
    Throughput,
    /// The same, where the server could not keep up.
    Saturation,
    /// Response times.
    Latency,
    /// Failed requests by class.
    Errors,
    /// What else a reader must know of the figures: that another page was measured, or what variants do not have in common.
    Caution,
    /// How a variant differs from another.
    Comparison,
    /// What limits the server, or is nearest to its limit.
    Bottleneck,
    /// How sure all of it is.
    Confidence,
    /// What to do next.
    Advice,
}

impl Kind {
    /// The name in JSON.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Saturation => "saturation",
            Self::Latency => "latency",
            Self::Errors => "errors",
            Self::Caution => "caution",
            Self::Comparison => "comparison",
            Self::Bottleneck => "bottleneck",
            Self::Confidence => "confidence",
            Self::Advice => "advice",
        }
    }
}

/// One sentence, with the figures that it rests on: rates per second, times in nanoseconds, shares from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sentence {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) figures: Vec<(&'static str, f64)>,
}
