//! `spectrum`: a histogram's percentiles along HdrHistogram's endless ladder, in the text form of its plotters.

use std::fmt::Write as _;

use metrics::Histogram;
use stdx::Nanos;

/// Steps between two halvings of what is left above.
const STEPS: f64 = 5.0;
/// Rows, whatever the number of values: the ladder reaches it after 2^60 of them.
const ROWS_MAX: usize = 600;

/// The table, times in milliseconds, up to the row that has all values, and the closing lines.
pub(crate) fn spectrum(times: &Histogram) -> String {
    let head = format!(
        "{:>12} {:>12} {:>12} {:>12}",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    );
    let mut out = format!("{head}\n\n");
    let total = times.count();
    let steps = cumulated(times);
    let mut percent = 0.0_f64;
    for _ in 0..ROWS_MAX {
        let rank = ((percent * total as f64 / 100.0).ceil() as u64).max(1);
        let at = steps.partition_point(|(_, upto)| *upto < rank);
        let Some(&(value, count)) = steps.get(at).filter(|(_, upto)| *upto < total) else {
            break;
        };
        let share = percent / 100.0;
        row(&mut out, value.as_millis_f64(), share, count, 1.0 / (1.0 - share));
        let halvings = (100.0 / (100.0 - percent)).log2().floor() + 1.0;
        percent += 100.0 / (STEPS * halvings.exp2());
    }
    row(&mut out, times.max().as_millis_f64(), 1.0, total, f64::INFINITY);
    let ms = |ns: f64| ns / 1e6;
    let mean = ms(times.mean().0 as f64);
    let _ = writeln!(
        out,
        "#[Mean    = {mean:>12.3}, StdDeviation   = {:>12.3}]",
        ms(times.stddev_ns())
    );
    let max = times.max().as_millis_f64();
    let _ = writeln!(out, "#[Max     = {max:>12.3}, Total count    = {total:>12}]");
    let _ = writeln!(out, "#[Buckets = {OCTAVES:>12}, SubBuckets     = {SUB_BUCKETS:>12}]");
    out
}

/// The buckets' greatest values and how many values are not above each.
fn cumulated(times: &Histogram) -> Vec<(Nanos, u64)> {
    let mut upto = 0;
    let step = |(_, high, count): (Nanos, Nanos, u64)| {
        upto += count;
        (high, upto)
    };
    times.buckets().map(step).collect()
}

/// Equal buckets in an octave of [`Histogram`].
const SUB_BUCKETS: usize = 1024;
/// Its octaves.
const OCTAVES: usize = Histogram::BUCKETS / SUB_BUCKETS;

fn row(out: &mut String, value: f64, share: f64, count: u64, inverse: f64) {
    let _ = writeln!(out, "{value:>12.3} {share:>12.6} {count:>12} {inverse:>12.2}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_halves_what_is_left() {
        let mut times = Histogram::new();
        (1..=100).for_each(|ms| times.record(Nanos::from_millis(ms)));
        let text = spectrum(&times);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "       Value   Percentile   TotalCount 1/(1-Percentile)");
        assert_eq!(lines[2], "       1.000     0.000000            1         1.00");
        assert!(text.contains("     0.500000           50         2.00\n"), "{text}");
        assert!(text.contains("     0.550000           55         2.22\n"), "{text}");
        assert!(text.contains("     100.000     1.000000          100          inf\n"), "{text}");
        assert!(text.contains("#[Max     =      100.000, Total count    =          100]\n"));
    }

    #[test]
    fn nothing_seen_is_a_table_too() {
        let text = spectrum(&Histogram::new());
        assert_eq!(text.lines().count(), 6, "{text}");
    }
}
