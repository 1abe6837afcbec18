//! Figures as k6 writes them. It cuts digits off where others round.

use metrics::tally::{Contains, Trend};
use stdx::Nanos;

/// A statistic of a trend by k6's name; NaN for an unknown name.
pub(super) fn statistic(trend: &Trend, stat: &str) -> f64 {
    match stat {
        "avg" => trend.mean(),
        "min" => trend.min(),
        "med" => trend.percentile(50.0),
        "max" => trend.max(),
        "count" => trend.count() as f64,
        other => {
            let p = other.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
            p.and_then(|p| p.parse().ok()).map_or(f64::NAN, |p| trend.percentile(p))
        }
    }
}

/// Whether trends have a statistic of this name.
#[must_use]
pub fn is_trend_stat(stat: &str) -> bool {
    let mut trend = Trend::default();
    trend.add(1.0);
    statistic(&trend, stat).is_finite()
}

/// A number in the unit of its metric; times in this unit, or in the one that suits them.
pub(super) fn number(value: f64, contains: Contains, time_unit: Option<&str>) -> String {
    match (contains, time_unit) {
        (Contains::Time, Some("s")) => format!("{:.2}s", value / 1e3),
        (Contains::Time, Some("ms")) => format!("{value:.2}ms"),
        (Contains::Time, Some("us")) => format!("{:.2}µs", value * 1e3),
        (Contains::Time, _) => milliseconds(value),
        (Contains::Data, _) => bytes(value),
        (Contains::Default, _) => trimmed(value, 6),
    }
}

/// A time in the unit that suits it, with two digits after the point at most: `1.68ms`, `1m3s`.
fn milliseconds(value: f64) -> String {
    let (sign, ms) = if value < 0.0 { ("-", -value) } else { ("", value) };
    if ms == 0.0 {
        return "0s".to_owned();
    }
    let text = match ms {
        ms if ms < 0.001 => format!("{}ns", (ms * 1e6).trunc()),
        ms if ms < 1.0 => format!("{}µs", cut(ms * 1e3)),
        ms if ms < 1e3 => format!("{}ms", cut(ms)),
        ms if ms < 6e4 => format!("{}s", cut(ms / 1e3)),
        ms => {
            let (minutes, seconds) = ((ms / 6e4).trunc(), (ms % 6e4 / 1e3).trunc());
            if minutes < 60.0 {
                format!("{minutes}m{seconds}s")
            } else {
                format!("{}h{}m{seconds}s", (minutes / 60.0).trunc(), minutes % 60.0)
            }
        }
    };
    format!("{sign}{text}")
}

/// A number with two digits after the point at most, those beyond cut off.
fn cut(value: f64) -> String {
    trimmed((value * 100.0).trunc() / 100.0, 2)
}

/// Bytes in SI units, one digit after the point below 10 of a unit.
pub(super) fn bytes(value: f64) -> String {
    let (mut value, mut unit) = (value, 0);
    while value >= 1000.0 && unit < 4 {
        value /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 10.0);
    format!("{value:.digits$} {}", ["B", "kB", "MB", "GB", "TB"][unit])
}

/// A share with two digits after the point, those beyond cut off.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2}%", (share * 100.0 * 100.0).trunc() / 100.0)
}

/// A number with so many digits after the point at most.
pub(super) fn trimmed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

pub(super) fn seconds(time: Nanos) -> f64 {
    (time.0 as f64 / 1e9).max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_as_k6s() {
        for (ms, text) in [
            (0.0, "0s"),
            (0.0003, "300ns"),
            (0.2485, "248.5µs"),
            (12.5, "12.5ms"),
            (1770.0, "1.77s"),
            (102.999, "102.99ms"),
            (63_000.0, "1m3s"),
            (3_725_000.0, "1h2m5s"),
        ] {
            assert_eq!(milliseconds(ms), text);
        }
        for (unit, text) in [("s", "0.01s"), ("ms", "12.50ms"), ("us", "12500.00µs")] {
            assert_eq!(number(12.5, Contains::Time, Some(unit)), text);
        }
        for (count, text) in
            [(972.0, "972 B"), (3129.8, "3.1 kB"), (72_000.0, "72 kB"), (1_500_000.0, "1.5 MB")]
        {
            assert_eq!(bytes(count), text);
        }
        assert_eq!(
            (trimmed(19.319_94, 6), trimmed(12.0, 6), percent(2.0 / 3.0)),
            ("19.31994".to_owned(), "12".to_owned(), "66.66%".to_owned())
        );
        assert!(is_trend_stat("p(99.9)") && !is_trend_stat("p99"));
    }
}
