//! The summary of ghz, as text.

use stdx::Nanos;

use super::report::{Bucket, GhzReport};

/// The longest bar of the histogram.
const BAR_MAX: u64 = 40;

/// The summary.
pub(super) fn summary(report: &GhzReport<'_>, name: Option<&str>) -> String {
    let name = name.map(|name| format!("  Name:\t\t{name}\n")).unwrap_or_default();
    let head = format!(
        "\nSummary:\n{name}  Count:\t{}\n  Total:\t{}\n  Slowest:\t{}\n  Fastest:\t{}\n  Average:\t{}\n  Requests/sec:\t{:4.2}\n",
        report.calls.count,
        time(report.total),
        time(report.slowest),
        time(report.fastest),
        time(report.average),
        report.rps,
    );
    let percentiles = report
        .percentiles
        .iter()
        .map(|(percent, latency)| format!("  {percent} % in {} \n", time(*latency)));
    let statuses = report
        .statuses
        .iter()
        .map(|(status, count)| format!("  [{status}]   {count} responses   \n"));
    let mut errors: Vec<_> = report.calls.errors.iter().collect();
    errors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let errors: String =
        errors.iter().map(|(text, count)| format!("  [{count}]   {text}   \n")).collect();
    let errors = match errors.as_str() {
        "" => String::new(),
        errors => format!("Error distribution:\n{errors}"),
    };
    format!(
        "{head}\nResponse time histogram:\n{}\nLatency distribution:\n{}\nStatus code distribution:\n{}\n{errors}\n",
        histogram(&report.buckets),
        percentiles.collect::<String>(),
        statuses.collect::<String>(),
    )
}

fn histogram(buckets: &[Bucket]) -> String {
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0).max(1);
    let marks = |bucket: &Bucket| format!("{:.3}", bucket.mark.0 as f64 / 1e6);
    let counts = |bucket: &Bucket| format!("[{}]", bucket.count);
    let width = |text: &dyn Fn(&Bucket) -> String| {
        buckets.iter().map(|bucket| text(bucket).len()).max().unwrap_or(0)
    };
    let (marks_width, counts_width) = (width(&marks), width(&counts));
    let line = |bucket: &Bucket| {
        let bar = (bucket.count * BAR_MAX + most / 2) / most;
        let bar = "∎".repeat(bar as usize);
        format!("  {:<marks_width$} {:<counts_width$} |{bar}\n", marks(bucket), counts(bucket))
    };
    buckets.iter().map(line).collect()
}

/// A time as ghz writes it: nanoseconds, milliseconds or seconds.
fn time(time: Nanos) -> String {
    match time.0 {
        ns if ns < 10_000 => format!("{ns} ns"),
        ns if ns < 1_000_000_000 => format!("{:4.2} ms", ns as f64 / 1e6),
        ns => format!("{:4.2} s", ns as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_units() {
        for (ns, expect) in [
            (0, "0 ns"),
            (9_999, "9999 ns"),
            (10_000, "0.01 ms"),
            (1_234_000, "1.23 ms"),
            (2_500_000_000, "2.50 s"),
        ] {
            assert_eq!(time(Nanos(ns)), expect);
        }
    }

    #[test]
    fn bars_grow_with_their_counts() {
        let buckets = [(1, 20), (2, 10), (3, 0)]
            .map(|(ms, count)| Bucket { mark: Nanos::from_millis(ms), count });
        let expect = format!(
            "  1.000 [20] |{}\n  2.000 [10] |{}\n  3.000 [0]  |\n",
            "∎".repeat(40),
            "∎".repeat(20)
        );
        assert_eq!(histogram(&buckets), expect);
    }
}
