//! The layout of hey, and its CSV rows. Response times run from the moment a request was due to the end of its body; what
//! hey does not answer it does not time, and neither are failed requests timed here.

use std::fmt::Write as _;

use metrics::{Batch, FailureKind, Histogram};
use stdx::Nanos;

use crate::escape;
use crate::offered::Measurement;

/// hey's report.
#[must_use]
pub fn text(seen: &Measurement<'_>) -> String {
    let times = &seen.phases.response;
    let mut out = summary(seen, times);
    let _ =
        write!(out, "\nResponse time histogram:\n{}\n\nLatency distribution:", histogram(times));
    if times.count() > 0 {
        for percent in [10, 25, 50, 75, 90, 95, 99] {
            let value = seconds(times.percentile(f64::from(percent)));
            let _ = write!(out, "\n  {percent}% in {value} secs");
        }
    }
    out.push_str("\n\nDetails (average, fastest, slowest):");
    let (none, phases) = (Histogram::default(), seen.phases);
    for (label, times) in [
        ("DNS+dialup", &phases.connect()),
        ("DNS-lookup", &phases.dns()),
        ("req write", &none),
        ("resp wait", &phases.waiting),
        ("resp read", &phases.receiving),
    ] {
        let [mean, min, max] = [times.mean(), times.min(), times.max()].map(seconds);
        let _ = write!(out, "\n  {label}:\t{mean} secs, {min} secs, {max} secs");
    }
    out.push_str("\n\nStatus code distribution:");
    for (status, hits) in seen.summary.status_codes().range(1..) {
        let _ = write!(out, "\n  [{status}]\t{hits} responses");
    }
    out.push_str("\n\n");
    out.push_str(&failures(seen));
    out.push_str("\n\n");
    out
}

fn summary(seen: &Measurement<'_>, times: &Histogram) -> String {
    let finished = seen.summary.requests - seen.stopped();
    let average = match times.count() {
        0 => " NaN".to_owned(),
        _ => seconds(times.mean()),
    };
    let mut out = format!(
        "\nSummary:\n  Total:\t{} secs\n  Slowest:\t{} secs\n  Fastest:\t{} secs\n  Average:\t{average} secs\n  \
         Requests/sec:\t{:.4}\n  \n",
        seconds(seen.elapsed()),
        seconds(times.max()),
        seconds(times.min()),
        seen.per_second(finished as f64)
    );
    let bytes = seen.summary.bytes_in;
    if bytes > 0 {
        let each = bytes / seen.phases.answered.max(1);
        let _ = writeln!(out, "  Total data:\t{bytes} bytes\n  Size/request:\t{each} bytes");
    }
    out
}

/// Ten equal steps from the fastest to the slowest, and the fastest itself.
fn histogram(times: &Histogram) -> String {
    if times.count() == 0 {
        return String::new();
    }
    let (min, max) = (times.min().0 as f64, times.max().0 as f64);
    let marks: Vec<f64> =
        (0..=STEPS).map(|n| min + (max - min) * n as f64 / STEPS as f64).collect();
    let mut counts = [0u64; STEPS + 1];
    for (low, _, hits) in times.buckets() {
        let at = marks.iter().position(|mark| low.0 as f64 <= *mark).unwrap_or(STEPS);
        counts[at] += hits;
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    marks.iter().zip(counts).fold(String::new(), |mut out, (mark, count)| {
        let bar = "■".repeat(((count * 40 + most / 2) / most) as usize);
        let _ = writeln!(out, "  {:.3} [{count}]\t|{bar}", mark / 1e9);
        out
    })
}

/// Steps of the histogram.
const STEPS: usize = 10;

/// The texts of what failed.
fn failures(seen: &Measurement<'_>) -> String {
    let phases = seen.phases;
    if phases.failures().is_empty() {
        return String::new();
    }
    let mut out = String::from("Error distribution:");
    for (text, hits) in phases.failures() {
        // Go names the local address only where the caller has set one, which hey cannot.
        let text = text.replacen("dial tcp 0.0.0.0:0->", "dial tcp ", 1);
        let _ = write!(out, "\n  [{hits}]\t{}", escape::terminal(&text));
    }
    if phases.failures_more > 0 {
        let _ = write!(out, "\n  [{}]\tfurther texts", phases.failures_more);
    }
    out
}

fn seconds(time: Nanos) -> String {
    format!("{:.4}", time.as_secs_f64())
}

/// The first line of hey's CSV.
pub const CSV_HEAD: &str =
    "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n";

/// A row for each answered hit: seconds with four digits. Writing a request is not timed apart: it is in `Response-delay`.
pub fn csv_rows(batch: &Batch, out: &mut String) {
    for sample in batch.samples.iter().filter(|sample| sample.failure == FailureKind::None) {
        let times = [
            sample.response(),
            sample.dns.saturating_add(sample.dial).saturating_add(sample.tls),
            sample.dns,
            Nanos::ZERO,
            sample.first_byte.saturating_sub(sample.sent),
            sample.done.saturating_sub(sample.first_byte),
        ];
        for time in times {
            let _ = write!(out, "{:.4},", time.as_secs_f64());
        }
        let _ = writeln!(out, "{},{:.4}", sample.outcome.code(), sample.intended.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offered::tests::{batch, seen_by};

    #[test]
    fn the_report_is_laid_out_as_heys() {
        let bar = |n: usize| "■".repeat(n);
        assert_eq!(
            seen_by(text),
            format!(
                "\nSummary:\n  Total:\t0.3000 secs\n  Slowest:\t0.0610 secs\n  Fastest:\t0.0120 secs\n  Average:\t0.0345 secs\n  \
                 Requests/sec:\t26.6667\n  \n  Total data:\t2400 bytes\n  Size/request:\t400 bytes\n\n\
                 Response time histogram:\n  0.012 [1]\t|{one}\n  0.017 [0]\t|\n  0.022 [1]\t|{one}\n  0.027 [0]\t|\n  \
                 0.032 [2]\t|{two}\n  0.036 [0]\t|\n  0.041 [0]\t|\n  0.046 [0]\t|\n  0.051 [1]\t|{one}\n  0.056 [0]\t|\n  \
                 0.061 [1]\t|{one}\n\n\nLatency distribution:\n  10% in 0.0120 secs\n  25% in 0.0210 secs\n  \
                 50% in 0.0310 secs\n  75% in 0.0510 secs\n  90% in 0.0610 secs\n  95% in 0.0610 secs\n  99% in 0.0610 secs\n\n\
                 Details (average, fastest, slowest):\n  DNS+dialup:\t0.0002 secs, 0.0000 secs, 0.0005 secs\n  \
                 DNS-lookup:\t0.0000 secs, 0.0000 secs, 0.0000 secs\n  req write:\t0.0000 secs, 0.0000 secs, 0.0000 secs\n  \
                 resp wait:\t0.0325 secs, 0.0100 secs, 0.0590 secs\n  resp read:\t0.0010 secs, 0.0010 secs, 0.0010 secs\n\n\
                 Status code distribution:\n  [200]\t5 responses\n  [404]\t1 responses\n\n\
                 Error distribution:\n  [1]\tGet \"http://h:1/p\": dial tcp 127.0.0.1:1: connect: connection refused\n  \
                 [1]\tread: reset\n\n",
                one = bar(20),
                two = bar(40)
            )
        );
    }

    #[test]
    fn csv_rows_are_those_of_the_answered() {
        let mut rows = String::new();
        csv_rows(&batch(), &mut rows);
        assert_eq!(rows.lines().count(), 6);
        assert_eq!(
            rows.lines().next(),
            Some("0.0120,0.0005,0.0000,0.0000,0.0100,0.0010,200,0.0000")
        );
        let columns = |line: &str| line.trim_end().split(',').count();
        assert!(rows.lines().all(|line| columns(line) == columns(CSV_HEAD)));
    }
}
