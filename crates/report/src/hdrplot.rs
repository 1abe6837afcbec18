//! `hdrplot`: response times along a fixed ladder of percentiles, as Vegeta prints them for HdrHistogram's plotter.

use metrics::Summary;
use stdx::Nanos;

use crate::columns::Columns;

/// HdrHistogram's ladder (five steps per halving of the rest), to a millionth; above 0.999991 every millionth.
const LADDER: [f64; 94] = [
    0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.775, 0.8, 0.825, 0.85, 0.875,
    0.8875, 0.9, 0.9125, 0.925, 0.9375, 0.943_75, 0.95, 0.956_25, 0.9625, 0.968_75, 0.971_875,
    0.975, 0.978_125, 0.981_25, 0.984_375, 0.985_938, 0.9875, 0.989_062, 0.990_625, 0.992_188,
    0.992_969, 0.993_75, 0.994_531, 0.995_313, 0.996_094, 0.996_484, 0.996_875, 0.997_266,
    0.997_656, 0.998_047, 0.998_242, 0.998_437, 0.998_633, 0.998_828, 0.999_023, 0.999_121,
    0.999_219, 0.999_316, 0.999_414, 0.999_512, 0.999_561, 0.999_609, 0.999_658, 0.999_707,
    0.999_756, 0.999_78, 0.999_805, 0.999_829, 0.999_854, 0.999_878, 0.999_89, 0.999_902,
    0.999_915, 0.999_927, 0.999_939, 0.999_945, 0.999_951, 0.999_957, 0.999_963, 0.999_969,
    0.999_973, 0.999_976, 0.999_979, 0.999_982, 0.999_985, 0.999_986, 0.999_988, 0.999_989,
    0.999_991, 0.999_992, 0.999_993, 0.999_994, 0.999_995, 0.999_996, 0.999_997, 0.999_998,
    0.999_999, 1.0,
];

/// The value of `1/(1-q)` at the last step.
const LAST: f64 = 10_000_000.0;

/// The percentile table of the response times.
#[must_use]
pub fn hdrplot(summary: &Summary) -> String {
    table(summary, |q| summary.response.quantile(q))
}

/// The table, with each quantile from a function.
pub(crate) fn table(summary: &Summary, quantile: impl Fn(f64) -> Nanos) -> String {
    let total = summary.requests as f64;
    let mut columns = Columns::default();
    columns.row(["Value(ms)", "Percentile", "TotalCount", "1/(1-Percentile)"].map(str::to_owned));
    for q in LADDER {
        let value = quantile(q).as_millis_f64();
        let inverse = if q < 1.0 { 1.0 / (1.0 - q) } else { LAST };
        columns.row([
            format!("{value:.6}"),
            format!("{q:.6}"),
            format!("{}", (q * total + 0.5) as u64),
            format!("{inverse:.6}"),
        ]);
    }
    columns.lines()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_rises() {
        assert!(LADDER.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!((LADDER[0], LADDER[92], LADDER[93]), (0.0, 0.999_999, 1.0));
    }
}
