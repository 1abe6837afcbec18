//! The layouts of wrk and wrk2. Latencies are service times, as in wrk; for wrk2, response times from the moment a request was
//! due. Nothing is corrected afterwards, and no slow response is left out.

use std::fmt::Write as _;

use metrics::{FailureKind, Histogram};
use stdx::Nanos;

use crate::offered::{Measurement, Offered};
use crate::spectrum::spectrum;

/// wrk's options of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrkStyle {
    /// Latencies count from the moment a request was due (wrk2).
    pub from_due: bool,
    /// Print percentiles (`--latency`).
    pub latency: bool,
    /// Print wrk2's percentiles of service times as well (`-U`).
    pub uncorrected: bool,
    /// Answers that took longer are counted as timeouts (`--timeout`); 0 counts none.
    pub timeout: Nanos,
}

/// The two lines that wrk prints before it begins.
#[must_use]
pub fn head(offered: &Offered) -> String {
    let Offered { url, threads, connections, duration, .. } = offered;
    let time = units(duration.as_secs_f64(), 60.0, &["s", "m"], 0);
    let url = crate::escape::terminal(url);
    format!("Running {time} test @ {url}\n  {threads} threads and {connections} connections\n")
}

/// The rest of wrk's report.
#[must_use]
pub fn text(seen: &Measurement<'_>, offered: &Offered, style: WrkStyle) -> String {
    let phases = seen.phases;
    let latency = if style.from_due { &phases.response } else { &phases.service };
    let mut out = String::from("  Thread Stats   Avg      Stdev     Max   +/- Stdev\n");
    stats(&mut out, "Latency", &Stats::of_times(latency), time);
    let rates: Vec<f64> = phases.pulse.rates(seen.summary.end);
    let rates: Vec<f64> = rates.iter().map(|rate| rate / offered.threads.max(1) as f64).collect();
    stats(&mut out, "Req/Sec", &Stats::of(&rates), metric);
    match (style.from_due, style.latency) {
        (false, true) => distribution(&mut out, latency),
        (true, true) => spectra(&mut out, seen, style),
        (_, false) => {}
    }
    let bytes = seen.bytes_read() as f64;
    let elapsed = time(seen.elapsed().0 as f64 / 1e3);
    let _ = writeln!(out, "  {} requests in {elapsed}, {}B read", phases.answered, binary(bytes));
    errors(&mut out, seen, style);
    let _ = writeln!(out, "Requests/sec: {:>9.2}", seen.per_second(phases.answered as f64));
    let _ = writeln!(out, "Transfer/sec: {:>10}B", binary(seen.per_second(bytes)));
    out
}

/// wrk's counts of what went wrong, where something did.
fn errors(out: &mut String, seen: &Measurement<'_>, style: WrkStyle) {
    let connect = seen.failed(CONNECT);
    let read = seen.failed(READ);
    let late = match style.timeout {
        Nanos::ZERO => 0,
        limit => seen.phases.service.count() - seen.phases.service.count_below(limit),
    };
    let timeout = seen.failed(&[FailureKind::Timeout]) + late;
    if connect + read + timeout > 0 {
        let _ = writeln!(
            out,
            "  Socket errors: connect {connect}, read {read}, write 0, timeout {timeout}"
        );
    }
    let statuses = seen.summary.status_codes();
    let bad: u64 = statuses.range(400..).map(|(_, hits)| hits).sum();
    if bad > 0 {
        let _ = writeln!(out, "  Non-2xx or 3xx responses: {bad}");
    }
}

/// Failures before a connection was there.
const CONNECT: &[FailureKind] = &[
    FailureKind::Dns,
    FailureKind::Refused,
    FailureKind::Dial,
    FailureKind::DescriptorsExhausted,
    FailureKind::PortsExhausted,
    FailureKind::Proxy,
    FailureKind::Target,
];

/// Failures on a connection.
const READ: &[FailureKind] = &[
    FailureKind::Tls,
    FailureKind::Reset,
    FailureKind::Eof,
    FailureKind::Truncated,
    FailureKind::Malformed,
    FailureKind::TooLarge,
    FailureKind::Decode,
    FailureKind::Redirects,
];

/// `--latency` of wrk.
fn distribution(out: &mut String, latency: &Histogram) {
    out.push_str("  Latency Distribution\n");
    for percent in [50.0, 75.0, 90.0, 99.0] {
        let value = latency.percentile(percent).0 as f64 / 1e3;
        let _ = writeln!(out, "{percent:>7.0}%{}", padded(&time(value), 10));
    }
}

/// `--latency` and `-U` of wrk2.
fn spectra(out: &mut String, seen: &Measurement<'_>, style: WrkStyle) {
    let rule = "-".repeat(58);
    let recorded = "Recorded Latency";
    let _ = writeln!(out, "{}{rule}", spectrum_titled(recorded, &seen.phases.response));
    if style.uncorrected {
        let title = "Uncorrected Latency (measured without taking delayed starts into account)";
        let _ = writeln!(out, "\n{}{rule}", spectrum_titled(title, &seen.phases.service));
    }
}

fn spectrum_titled(title: &str, times: &Histogram) -> String {
    let mut out = format!("  Latency Distribution (HdrHistogram - {title})\n");
    for percent in [50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0] {
        let value = times.percentile(percent).0 as f64 / 1e3;
        let _ = writeln!(out, "{percent:>7.3}%{}", padded(&time(value), 10));
    }
    let _ = write!(out, "\n  Detailed Percentile spectrum:\n{}", spectrum(times));
    out
}

/// Mean, deviation, maximum, and the share of values within one deviation of the mean.
struct Stats {
    mean: f64,
    deviation: f64,
    max: f64,
    within: f64,
}

impl Stats {
    /// Of times, in microseconds.
    fn of_times(times: &Histogram) -> Self {
        let count = times.count() as f64;
        let mean = if count > 0.0 { times.sum() as f64 / count } else { 0.0 };
        // The deviation of a sample, not of the population: s² = σ² n / (n - 1).
        let deviation =
            if count > 1.0 { times.stddev_ns() * (count / (count - 1.0)).sqrt() } else { 0.0 };
        let (low, high) = ((mean - deviation).max(0.0).ceil(), (mean + deviation).floor());
        let inside =
            times.count_below(Nanos(high as u64 + 1)) - times.count_below(Nanos(low as u64));
        let within = if count > 0.0 { inside as f64 / count * 100.0 } else { 0.0 };
        Self {
            mean: mean / 1e3,
            deviation: deviation / 1e3,
            max: times.max().0 as f64 / 1e3,
            within,
        }
    }

    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        if values.is_empty() {
            return Self { mean: 0.0, deviation: 0.0, max: 0.0, within: 0.0 };
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
        let inside = values.iter().filter(|value| (**value - mean).abs() <= deviation).count();
        let max = values.iter().copied().fold(0.0, f64::max);
        Self { mean, deviation, max, within: inside as f64 / count * 100.0 }
    }
}

fn stats(out: &mut String, name: &str, stats: &Stats, format: fn(f64) -> String) {
    let cells = [(stats.mean, 8), (stats.deviation, 10), (stats.max, 9)];
    let cells = cells.map(|(value, width)| padded(&format(value), width)).concat();
    let _ = writeln!(out, "    {name:<10}{cells}{:>8.2}%", stats.within);
}

/// A value to the right of a column, so that the digits of values with units of none, one and two letters are in line.
fn padded(text: &str, width: usize) -> String {
    let letters = text.chars().rev().take(2).filter(char::is_ascii_alphabetic).count();
    let room = width - (2 - letters);
    format!("{text:>room$}{:1$}", "", 2 - letters)
}

/// A time in microseconds.
fn time(us: f64) -> String {
    if us >= 1e6 {
        units(us / 1e6, 60.0, &["s", "m"], 2)
    } else {
        units(us, 1000.0, &["us", "ms"], 2)
    }
}

/// A number in thousands.
fn metric(n: f64) -> String {
    units(n.trunc(), 1000.0, &["", "k", "M", "G", "T"], 2)
}

/// A number of bytes, in 1024s.
fn binary(n: f64) -> String {
    units(n, 1024.0, &["", "K", "M", "G", "T"], 2)
}

/// A number in the unit that brings it below 0.85 of the next one.
fn units(n: f64, scale: f64, names: &[&str], decimals: usize) -> String {
    let (mut amount, mut at) = (n, 0);
    while at + 1 < names.len() && amount >= scale * 0.85 {
        amount /= scale;
        at += 1;
    }
    format!("{amount:.decimals$}{}", names[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offered::tests::{offered, seen_by};

    #[test]
    fn the_report_is_laid_out_as_wrks() {
        let text = seen_by(|seen| {
            let style =
                WrkStyle { latency: true, timeout: Nanos::from_millis(50), ..WrkStyle::default() };
            head(&offered()) + &text(seen, &offered(), style)
        });
        assert_eq!(
            text.lines().collect::<Vec<_>>(),
            [
                "Running 2s test @ http://h:1/p",
                "  2 threads and 4 connections",
                "  Thread Stats   Avg      Stdev     Max   +/- Stdev",
                "    Latency    33.50ms   18.37ms  60.00ms   66.67%",
                "    Req/Sec    10.00      5.00    15.00    100.00%",
                "  Latency Distribution",
                "     50%   30.02ms",
                "     75%   50.00ms",
                "     90%   60.00ms",
                "     99%   60.00ms",
                "  6 requests in 300.00ms, 2.93KB read",
                "  Socket errors: connect 1, read 1, write 0, timeout 2",
                "  Non-2xx or 3xx responses: 1",
                "Requests/sec:     20.00",
                "Transfer/sec:      9.77KB",
            ]
        );
    }

    #[test]
    fn wrk2_counts_from_the_moment_due() {
        let text = seen_by(|seen| {
            let style = WrkStyle {
                from_due: true,
                latency: true,
                uncorrected: true,
                ..WrkStyle::default()
            };
            text(seen, &offered(), style)
        });
        assert!(text.contains("(HdrHistogram - Recorded Latency)\n 50.000%   31.01ms\n"), "{text}");
        assert!(text.contains("(HdrHistogram - Uncorrected Latency"), "{text}");
        assert_eq!(text.matches(&format!("\n{}\n", "-".repeat(58))).count(), 2);
    }

    #[test]
    fn units_change_early_as_wrks_do() {
        for (us, text) in [
            (0.0, "0.00us"),
            (849.0, "849.00us"),
            (850.0, "0.85ms"),
            (999_999.0, "1000.00ms"),
            (1e6, "1.00s"),
            (51e6, "0.85m"),
            (7.2e9, "120.00m"),
        ] {
            assert_eq!(time(us), text, "{us}");
        }
        assert_eq!((metric(42_570.9), binary(871.0)), ("42.57k".into(), "0.85K".into()));
        assert_eq!(
            (padded("1.00s", 10), padded("12.19ms", 9)),
            ("    1.00s ".into(), "  12.19ms".into())
        );
    }
}
