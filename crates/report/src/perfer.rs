//! The layouts of perfer, of 1.2, 1.3 and 1.5. Latencies are service times, from a request written to its answer read.

use std::fmt::Write as _;

use metrics::Histogram;
use stdx::Nanos;

use crate::escape;
use crate::offered::{Measurement, Offered};

/// The version of perfer that a layout is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PerferVersion {
    /// 1.2, which printed the seed of this project's comparisons: few lines, connections by thread.
    V12,
    /// 1.3: one line more.
    V13,
    /// 1.5.
    #[default]
    V15,
}

/// perfer's options of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PerferStyle {
    /// The version of perfer that the layout is of.
    pub version: PerferVersion,
    /// Percentages of the latency spread (`-l`); none prints the median instead.
    pub spread: Vec<f64>,
    /// Columns and rows of the graph (`-g`).
    pub graph: Option<(usize, usize)>,
    /// As JSON (`-j`).
    pub json: bool,
    /// The host that its complaints name.
    pub host: String,
}

/// perfer's report.
#[must_use]
pub fn text(seen: &Measurement<'_>, offered: &Offered, style: &PerferStyle) -> String {
    if style.json {
        return json(seen, offered, style);
    }
    let mut out = complaints(seen, style);
    out.push_str("Benchmarks for:\n");
    match style.version {
        PerferVersion::V15 => current(&mut out, seen, offered, style),
        PerferVersion::V12 | PerferVersion::V13 => former(&mut out, seen, offered, style),
    }
    out
}

/// What went wrong, before all else.
fn complaints(seen: &Measurement<'_>, style: &PerferStyle) -> String {
    let (mut out, host) = (String::new(), escape::terminal(&style.host));
    let (errors, unanswered) = (errors(seen), seen.stopped());
    if errors > 0 {
        let _ = writeln!(out, "{host} encountered {errors} errors.");
    }
    if unanswered > 0 {
        let _ = writeln!(out, "{host} did not respond to {unanswered} requests.");
    }
    out
}

fn errors(seen: &Measurement<'_>) -> u64 {
    seen.summary.failed() - seen.stopped()
}

/// One line; the values start in column 19 in 1.5, in column 22 before.
fn line(out: &mut String, width: usize, label: &str, value: impl std::fmt::Display) {
    let _ = writeln!(out, "  {label:<width$}{value}");
}

/// The layout of 1.5.
fn current(out: &mut String, seen: &Measurement<'_>, offered: &Offered, style: &PerferStyle) {
    const WIDTH: usize = 17;
    let duration = seen.elapsed().as_secs_f64();
    line(out, WIDTH, "URL:", escape::terminal(&offered.url));
    line(out, WIDTH, "Threads:", offered.threads);
    line(out, WIDTH, "Connections:", offered.connections);
    line(out, WIDTH, "Duration:", format_args!("{duration:.1} seconds"));
    line(out, WIDTH, "Keep-Alive:", offered.keepalive);
    out.push_str("Results:\n");
    if errors(seen) > 0 {
        line(out, WIDTH, "Failures:", errors(seen));
    }
    let (established, answered) = (established(seen), seen.phases.answered);
    line(out, WIDTH, "Connections:", format_args!("{established} connection established"));
    line(out, WIDTH, "Requests:", format_args!("{answered} requests"));
    let megabytes = seen.bytes_read() as f64 / 1024.0 / 1024.0;
    let rate = seen.per_second(megabytes);
    line(out, WIDTH, "Received:", format_args!("{megabytes:.3} MB ({rate:.3} MB/sec)"));
    line(out, WIDTH, "Throughput:", format_args!("{} requests/second", throughput(seen)));
    let times = &seen.phases.service;
    line(out, WIDTH, "Average Latency:", average(times));
    if style.spread.is_empty() {
        line(out, WIDTH, "Mean Latency:", ms(times.quantile(0.5)));
    } else {
        out.push_str("  Latency Spread:\n");
    }
    for percent in &style.spread {
        let value = ms(times.percentile(*percent));
        let _ = writeln!(out, "      {percent:.2}%:      {value} msecs");
    }
    if let Some((columns, rows)) = style.graph {
        out.push_str(&graph(times, columns, rows));
    }
    out.push('\n');
}

/// The layout of 1.2 and 1.3.
fn former(out: &mut String, seen: &Measurement<'_>, offered: &Offered, style: &PerferStyle) {
    const WIDTH: usize = 20;
    let duration = seen.elapsed().as_secs_f64();
    line(out, WIDTH, "URL:", escape::terminal(&offered.url));
    line(out, WIDTH, "Threads:", offered.threads);
    line(out, WIDTH, "Connections/thread:", offered.connections);
    line(out, WIDTH, "Duration:", format_args!("{duration:.1} seconds"));
    line(out, WIDTH, "Keep-Alive:", offered.keepalive);
    out.push_str("Results:\n");
    if errors(seen) > 0 {
        line(out, WIDTH, "Failures:", errors(seen));
    }
    if style.version == PerferVersion::V13 {
        let established = established(seen);
        line(out, WIDTH, "Connections:", format_args!("{established} connection established"));
    }
    line(out, WIDTH, "Throughput:", format_args!("{} requests/second", throughput(seen)));
    line(out, WIDTH, "Latency:", average(&seen.phases.service));
}

fn established(seen: &Measurement<'_>) -> u64 {
    seen.generator.map_or(0, |generator| generator.connections)
}

/// Answers a second, cut to a whole number.
fn throughput(seen: &Measurement<'_>) -> u64 {
    seen.per_second(seen.phases.answered as f64) as u64
}

fn average(times: &Histogram) -> String {
    format!("{} +/-{:.3} msecs (and stdev)", ms(times.mean()), times.stddev_ns() / 1e6)
}

fn ms(time: Nanos) -> String {
    format!("{:.3}", time.as_millis_f64())
}

/// How often each latency was seen, from 0 to the 95th percentile: a mark in each column, the highest for the most frequent.
fn graph(times: &Histogram, columns: usize, rows: usize) -> String {
    let step = times.quantile(0.95).0 as f64 / columns as f64;
    let below = |column: usize| times.count_below(Nanos((step * column as f64) as u64));
    let counts: Vec<u64> =
        (0..columns).map(|column| below(column + 1).saturating_sub(below(column))).collect();
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let height = |count: u64| (u128::from(count) * (rows as u128 - 1) / u128::from(most)) as usize;
    let rule = "-".repeat(columns);
    let mut out = format!("\nLatency Distribution\n{rule}\n");
    for row in (0..rows).rev() {
        out.extend(counts.iter().map(|&count| if height(count) == row { '*' } else { ' ' }));
        out.push('\n');
    }
    let _ = writeln!(out, "{rule}\n");
    out
}

/// `-j`.
fn json(seen: &Measurement<'_>, offered: &Offered, style: &PerferStyle) -> String {
    let times = &seen.phases.service;
    let mut results: Vec<(&str, String)> = Vec::new();
    if errors(seen) > 0 {
        results.push(("failures", errors(seen).to_string()));
        results.push(("errors", errors(seen).to_string()));
    }
    if seen.stopped() > 0 {
        results.push(("noResponse", seen.stopped().to_string()));
    }
    results.extend([
        ("connections", established(seen).to_string()),
        ("requests", seen.phases.answered.to_string()),
        ("requestsPerSecond", throughput(seen).to_string()),
        ("totalBytes", seen.bytes_read().to_string()),
        ("latencyAverageMilliseconds", ms(times.mean())),
        ("latencyMeanMilliseconds", ms(times.quantile(0.5))),
        ("latencyStdev", format!("{:.3}", times.stddev_ns() / 1e6)),
    ]);
    if !style.spread.is_empty() {
        let row =
            |percent: &f64| format!("      \"{percent:.2}\": {}", ms(times.percentile(*percent)));
        let rows: Vec<String> = style.spread.iter().map(row).collect();
        results.push(("latencySpread", format!("{{\n{}\n    }}", rows.join(",\n"))));
    }
    let options = [
        ("url", escape::json(&offered.url)),
        ("threads", offered.threads.to_string()),
        ("connections", offered.connections.to_string()),
        ("duration", format!("{:.1}", seen.elapsed().as_secs_f64())),
        ("keepAlive", offered.keepalive.to_string()),
    ];
    let object = |pairs: &[(&str, String)]| {
        let lines: Vec<String> =
            pairs.iter().map(|(name, value)| format!("    \"{name}\": {value}")).collect();
        lines.join(",\n")
    };
    format!(
        "{{\n  \"options\": {{\n{}\n  }},\n  \"results\": {{\n{}\n  }}\n}}\n",
        object(&options),
        object(&results)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offered::tests::{offered, seen_by};

    fn report(offered: &Offered, style: &PerferStyle) -> String {
        seen_by(|seen| text(seen, offered, style))
    }

    fn style(version: PerferVersion) -> PerferStyle {
        PerferStyle { version, host: "h".to_owned(), ..PerferStyle::default() }
    }

    #[test]
    fn the_layout_of_1_5() {
        assert_eq!(
            report(&offered(), &style(PerferVersion::V15)),
            "h encountered 2 errors.\n\
             h did not respond to 1 requests.\n\
             Benchmarks for:\n  \
               URL:             http://h:1/p\n  \
               Threads:         2\n  \
               Connections:     4\n  \
               Duration:        0.3 seconds\n  \
               Keep-Alive:      true\n\
             Results:\n  \
               Failures:        2\n  \
               Connections:     2 connection established\n  \
               Requests:        6 requests\n  \
               Received:        0.003 MB (0.010 MB/sec)\n  \
               Throughput:      20 requests/second\n  \
               Average Latency: 33.500 +/-16.768 msecs (and stdev)\n  \
               Mean Latency:    30.015\n\n"
        );
    }

    #[test]
    fn the_layout_of_the_seed() {
        let offered = Offered { url: "h:1/robots.txt".to_owned(), connections: 40, ..offered() };
        let text = report(&offered, &style(PerferVersion::V12));
        let body = text.split_once("Benchmarks").unwrap().1;
        assert_eq!(
            body,
            " for:\n  \
               URL:                h:1/robots.txt\n  \
               Threads:            2\n  \
               Connections/thread: 40\n  \
               Duration:           0.3 seconds\n  \
               Keep-Alive:         true\n\
             Results:\n  \
               Failures:           2\n  \
               Throughput:         20 requests/second\n  \
               Latency:            33.500 +/-16.768 msecs (and stdev)\n"
        );
        let text = report(&offered, &style(PerferVersion::V13));
        assert!(text.contains("\n  Connections:        2 connection established\n"), "{text}");
    }

    #[test]
    fn the_graph_has_its_bottom_row() {
        let mut times = Histogram::new();
        for (ms, n) in [(2, 10), (12, 100), (22, 50), (25, 10)] {
            times.record_n(Nanos::from_millis(ms), n);
        }
        let text = graph(&times, 5, 4);
        let rows: Vec<&str> = text.lines().skip(3).take(4).collect();
        assert_eq!(rows, ["  *  ", "     ", "    *", "** * "], "{text}");
        assert_eq!(graph(&Histogram::new(), 3, 2).lines().nth(4), Some("***"));
    }

    #[test]
    fn spread_and_json() {
        let spread = PerferStyle { spread: vec![50.0, 99.9], ..style(PerferVersion::V15) };
        let text = report(&offered(), &spread);
        let rows = "  Latency Spread:\n      50.00%:      30.015 msecs\n      99.90%:      60.000 msecs\n\n";
        assert!(text.ends_with(rows), "{text}");
        let json = report(&offered(), &PerferStyle { json: true, ..spread });
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["options"]["keepAlive"], true);
        assert_eq!(value["results"]["noResponse"], 1);
        assert_eq!(value["results"]["latencySpread"]["99.90"], 60.0);
        assert!(json.contains("    \"latencySpread\": {\n      \"50.00\": 30.015,\n"), "{json}");
    }
}
