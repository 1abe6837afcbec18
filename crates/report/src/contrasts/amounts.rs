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

/// The greatest ratio that is written, in per cent: beyond it one side has all but nothing, as a throughput of 0.
const RATIO_MAX: f64 = 1e6;

/// A change with its sign: percent, or points of errors.
pub(crate) fn by(measure: Measure, change: f64) -> String {
    let percent = change * 100.0;
    match (measure.scale(), percent.abs() >= 1000.0) {
        (Scale::Ratio, _) if percent > RATIO_MAX => format!(">+{RATIO_MAX:.0}%"),
        (Scale::Difference, _) => format!("{percent:+.2} points"),
        (Scale::Ratio, true) => format!("{percent:+.0}%"),
        (Scale::Ratio, false) => format!("{percent:+.1}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_sign_and_an_end() {
        let throughput = |change| by(Measure::Throughput, change);
        assert_eq!([0.05, -0.5, 20.0].map(throughput), ["+5.0%", "-50.0%", "+2000%"]);
        assert_eq!(throughput(3e12), ">+1000000%", "from a throughput of 0");
        assert_eq!(by(Measure::Errors, 0.25), "+25.00 points");
    }
}
