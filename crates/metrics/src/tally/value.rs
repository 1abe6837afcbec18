//! What a metric is, and what was seen of it.

use serde::{Deserialize, Serialize};

use super::Trend;

/// What k6 calls a metric's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A sum.
    Counter,
    /// The last value, the least and the greatest.
    Gauge,
    /// How many of the values are not 0.
    Rate,
    /// A distribution.
    Trend,
}

impl Kind {
    /// k6's word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Rate => "rate",
            Self::Trend => "trend",
        }
    }
}

/// What a metric's values are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Contains {
    /// Numbers.
    #[default]
    Default,
    /// Milliseconds.
    Time,
    /// Bytes.
    Data,
}

impl Contains {
    /// k6's word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Time => "time",
            Self::Data => "data",
        }
    }
}

/// What was seen of a metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// The sum, and how many values it has.
    Counter {
        /// Their sum.
        sum: f64,
        /// How many there were.
        count: u64,
    },
    /// A state.
    Gauge {
        /// The last value.
        last: f64,
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
        /// How many there were.
        count: u64,
    },
    /// A share.
    Rate {
        /// Values other than 0.
        passes: u64,
        /// All values.
        total: u64,
    },
    /// A distribution.
    Trend(Trend),
}

impl Value {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        match kind {
            Kind::Counter => Self::Counter { sum: 0.0, count: 0 },
            Kind::Gauge => Self::Gauge { last: 0.0, min: 0.0, max: 0.0, count: 0 },
            Kind::Rate => Self::Rate { passes: 0, total: 0 },
            Kind::Trend => Self::Trend(Trend::default()),
        }
    }

    /// Its type.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Counter { .. } => Kind::Counter,
            Self::Gauge { .. } => Kind::Gauge,
            Self::Rate { .. } => Kind::Rate,
            Self::Trend(_) => Kind::Trend,
        }
    }

    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: f64) {
        match self {
            Self::Counter { sum, count } => {
                *sum += value;
                *count += 1;
            }
            Self::Gauge { last, min, max, count } => {
                (*min, *max) =
                    if *count == 0 { (value, value) } else { (min.min(value), max.max(value)) };
                *last = value;
                *count += 1;
            }
            Self::Rate { passes, total } => {
                *passes += u64::from(value != 0.0);
                *total += 1;
            }
            Self::Trend(trend) => trend.add(value),
        }
    }

    /// Takes the place of what was seen; a value of another type is left out.
    pub(super) fn replace(&mut self, value: Self) {
        if self.kind() == value.kind() {
            *self = value;
        }
    }

    /// Adds what another of the same type saw; of gauges the other's last value counts as the later one.
    pub fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::Counter { sum, count }, Self::Counter { sum: more, count: n }) => {
                *sum += more;
                *count += n;
            }
            (gauge @ Self::Gauge { .. }, Self::Gauge { last, min, max, count }) if *count > 0 => {
                for value in [*min, *max, *last] {
                    gauge.add(value);
                }
            }
            (Self::Rate { passes, total }, Self::Rate { passes: more, total: n }) => {
                *passes += more;
                *total += n;
            }
            (Self::Trend(trend), Self::Trend(other)) => trend.merge(other),
            _ => {}
        }
    }

    /// How many values there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::Counter { count, .. } | Self::Gauge { count, .. } => *count,
            Self::Rate { total, .. } => *total,
            Self::Trend(trend) => trend.count(),
        }
    }
}
