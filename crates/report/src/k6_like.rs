//! k6's end-of-test summary of HTTP, with all phases. k6's duration of a request starts when it is sent, so these are service
//! times; `http_req_blocked` is the look-up of the host's name alone, and nothing that the generator was late. Metrics that the results lack are left out.

use std::fmt::Write as _;

use metrics::Histogram;
use stdx::Nanos;

use crate::offered::Measurement;

/// A metric's name and the cells of its line.
struct Line {
    name: String,
    cells: Vec<String>,
    /// Times: each cell is as wide as the widest of its column, the last one too.
    trend: bool,
}

/// k6's summary.
#[must_use]
pub fn text(seen: &Measurement<'_>) -> String {
    let (http, network) = (http(seen), network(seen));
    let all = || http.iter().chain(&network);
    let name_width = all().map(|line| line.name.chars().count()).max().unwrap_or(0) + DOTS_MIN;
    let width = |trend: bool, column: usize| {
        let cells =
            all().filter(|line| line.trend == trend).filter_map(|line| line.cells.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut out = String::from("\n  █ TOTAL RESULTS \n");
    for (title, lines) in [("HTTP", &http), ("NETWORK", &network)] {
        let _ = write!(out, "\n    {title}\n");
        for line in lines {
            let dots = ".".repeat(name_width - line.name.chars().count());
            let _ = write!(out, "    {}{dots}:", line.name);
            for (column, cell) in line.cells.iter().enumerate() {
                let last = column + 1 == line.cells.len() && !line.trend;
                let width = if last { 0 } else { width(line.trend, column) };
                let _ = write!(out, " {cell:<width$}");
            }
            out.push('\n');
        }
    }
    out.push_str("\n  data_sent counts request bodies alone.\n");
    out
}

/// The dots after the longest name.
const DOTS_MIN: usize = 3;

fn http(seen: &Measurement<'_>) -> Vec<Line> {
    let (phases, summary) = (seen.phases, seen.summary);
    let durations = if summary.service.count() > 0 { &summary.service } else { &phases.service };
    let requests = summary.requests;
    let mut lines = Vec::new();
    let mut known = |name: &str, times: &Histogram| {
        if times.count() > 0 {
            lines.push(trend(name, times));
        }
    };
    known("http_req_blocked", &phases.blocked);
    known("http_req_connecting", &phases.dial());
    known("http_req_duration", durations);
    known("  { expected_response:true }", &phases.successes);
    let failed = requests - summary.successes;
    let share = if requests > 0 { failed as f64 / requests as f64 * 100.0 } else { 0.0 };
    lines.push(Line {
        name: "http_req_failed".to_owned(),
        cells: vec![format!("{share:.2}%"), format!("{failed} out of {requests}")],
        trend: false,
    });
    let mut known = |name: &str, times: &Histogram| {
        if times.count() > 0 {
            lines.push(trend(name, times));
        }
    };
    known("http_req_receiving", &phases.receiving);
    known("http_req_tls_handshaking", &phases.tls());
    known("http_req_waiting", &phases.waiting);
    lines.push(Line {
        name: "http_reqs".to_owned(),
        cells: vec![requests.to_string(), format!("{:.6}/s", seen.per_second(requests as f64))],
        trend: false,
    });
    lines
}

fn network(seen: &Measurement<'_>) -> Vec<Line> {
    let line = |name: &str, total: u64| Line {
        name: name.to_owned(),
        cells: vec![bytes(total as f64), format!("{}/s", bytes(seen.per_second(total as f64)))],
        trend: false,
    };
    vec![line("data_received", seen.bytes_read()), line("data_sent", seen.summary.bytes_out)]
}

fn trend(name: &str, times: &Histogram) -> Line {
    let cells = [
        ("avg", times.mean()),
        ("min", times.min()),
        ("med", times.quantile(0.5)),
        ("max", times.max()),
        ("p(90)", times.quantile(0.9)),
        ("p(95)", times.quantile(0.95)),
    ];
    let cells = cells.map(|(name, time)| format!("{name}={}", short(time))).into();
    Line { name: name.to_owned(), cells, trend: true }
}

/// A time cut to two decimals of its unit.
fn short(time: Nanos) -> Nanos {
    let step = match time.0 {
        0..1_000 => 1,
        1_000..1_000_000 => 10,
        1_000_000..1_000_000_000 => 10_000,
        _ => 10_000_000,
    };
    Nanos(time.0 / step * step)
}

/// A number of bytes in thousands, with two digits at least.
fn bytes(n: f64) -> String {
    let (mut amount, mut at) = (n, 0);
    while amount >= 1000.0 && at + 1 < UNITS.len() {
        amount /= 1000.0;
        at += 1;
    }
    let decimals = usize::from(at > 0 && (amount * 10.0).round() < 100.0);
    format!("{amount:.decimals$} {}", UNITS[at])
}

const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offered::tests::seen_by;

    #[test]
    fn the_summary_is_laid_out_as_k6s() {
        let text = seen_by(text);
        let lines = [
            "",
            "  █ TOTAL RESULTS ",
            "",
            "    HTTP",
            "    http_req_blocked...............: avg=0s       min=0s   med=0s      max=0s    p(90)=0s    p(95)=0s   ",
            "    http_req_connecting............: avg=111.11µs min=0s   med=0s      max=500µs p(90)=500µs p(95)=500µs",
            "    http_req_duration..............: avg=29ms     min=0s   med=30.01ms max=60ms  p(90)=60ms  p(95)=60ms ",
            "      { expected_response:true }...: avg=28.2ms   min=11ms med=30.01ms max=50ms  p(90)=50ms  p(95)=50ms ",
            "    http_req_failed................: 44.44% 4 out of 9",
            "    http_req_receiving.............: avg=1ms      min=1ms  med=1ms     max=1ms   p(90)=1ms   p(95)=1ms  ",
            "    http_req_tls_handshaking.......: avg=0s       min=0s   med=0s      max=0s    p(90)=0s    p(95)=0s   ",
            "    http_req_waiting...............: avg=32.5ms   min=10ms med=29.01ms max=59ms  p(90)=59ms  p(95)=59ms ",
            "    http_reqs......................: 9      30.000000/s",
            "",
            "    NETWORK",
            "    data_received..................: 3.0 kB 10 kB/s",
            "    data_sent......................: 60 B   200 B/s",
            "",
            "  data_sent counts request bodies alone.",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn sizes_and_times_are_short() {
        for (n, text) in [
            (0.0, "0 B"),
            (600.0, "600 B"),
            (4600.0, "4.6 kB"),
            (9960.0, "10 kB"),
            (1.7e6, "1.7 MB"),
        ] {
            assert_eq!(bytes(n), text);
        }
        for (ns, text) in [
            (0, "0s"),
            (689, "689ns"),
            (775_309, "775.3µs"),
            (22_337_000, "22.33ms"),
            (61_239_000_000, "1m1.23s"),
        ] {
            assert_eq!(short(Nanos(ns)).to_string(), text);
        }
    }
}
