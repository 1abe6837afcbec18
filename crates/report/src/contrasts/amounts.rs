//! A measure's values and changes as text.

use stdx::Nanos;
use study::contrast::{Measure, Scale};

use crate::number::{duration, number};

/// A measure's value with its unit.
pub(crate) fn value(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Throughput => format!("{}/s", number(value)),
        Measure::Errors => format!("{:.2}%", value * 100.0),
        _ => duration(Nanos(value.max(0.0).round() as u64)),
    }
}

/// A change with its sign: percent, or points of errors.
pub(crate) fn by(measure: Measure, change: f64) -> String {
    let percent = change * 100.0;
    match (measure.scale(), percent.abs() >= 1000.0) {
        (Scale::Difference, _) => format!("{percent:+.2} points"),
        (Scale::Ratio, true) => format!("{percent:+.0}%"),
        (Scale::Ratio, false) => format!("{percent:+.1}%"),
    }
}
