//! Figures as the sentences have them: three significant digits.

use stdx::Nanos;

use crate::number::grouped;

/// A rate: `51/s`, `0.25/s`, `15,400/s`.
pub(super) fn per_s(rate: f64) -> String {
    format!("{}/s", three(rate))
}

/// A figure to three significant digits, without zeros at its end.
pub(super) fn three(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 99.95 => return grouped(value.max(0.0).round() as u64),
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A share in percent; what is not all or nothing never reads as 0% or 100%.
pub(super) fn share(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p == 0.0 || p == 100.0 => format!("{p:.0}%"),
        p if p < 0.01 => "less than 0.01%".to_owned(),
        p if p < 1.0 => format!("{p:.2}%"),
        p if (10.0..90.0).contains(&p) => format!("{p:.0}%"),
        p if p > 99.9 => "more than 99.9%".to_owned(),
        p => format!("{}%", format!("{p:.1}").trim_end_matches(".0")),
    }
}

/// A time: `1.16s`, `401µs`.
pub(super) fn time(time: Nanos) -> String {
    time.to_three_digits().to_string()
}
