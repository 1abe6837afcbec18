//! ab's report as text and as HTML tables, and its table of percentages as CSV.

use std::fmt::Write as _;

use super::figures::Figures;
use super::setting::Setting;
use super::times::{Part, Ranked, Stats};
use crate::escape;

/// The report from `Server Software` to the percentages.
#[must_use]
pub fn text(setting: &Setting, figures: &Figures) -> String {
    let mut out = String::new();
    for (index, group) in groups(setting, figures).into_iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        for line in group {
            match line {
                Line::Pair(label, value) => pair(&mut out, label, &escape::terminal(&value)),
                Line::Failures => failures(&mut out, figures),
            }
        }
    }
    if figures.complete == 0 {
        return out;
    }
    rates(&mut out, setting, figures);
    times(&mut out, setting, figures);
    if figures.complete > 1 && !setting.no_percentages {
        percentages(&mut out, &figures.times.totals());
    }
    out
}

/// A line of the report's first part.
enum Line {
    Pair(&'static str, String),
    /// The reasons for what failed.
    Failures,
}

/// The setting and the counts.
fn groups(setting: &Setting, figures: &Figures) -> [Vec<Line>; 3] {
    let mut server = vec![
        Line::Pair("Server Software:", figures.software().to_owned()),
        Line::Pair("Server Hostname:", setting.hostname.clone()),
        Line::Pair("Server Port:", setting.port.to_string()),
    ];
    if let Some(tls) = &setting.tls {
        let lines = [
            ("SSL/TLS Protocol:", &tls.protocol),
            ("Server Temp Key:", &tls.temporary_key),
            ("TLS Server Name:", &tls.server_name),
        ];
        let known = lines.into_iter().filter(|(_, value)| !value.is_empty());
        server.extend(known.map(|(label, value)| Line::Pair(label, value.clone())));
    }
    let length = match setting.variable_length {
        true => "Variable".to_owned(),
        false => format!("{} bytes", figures.document_length()),
    };
    let document = vec![
        Line::Pair("Document Path:", setting.path.clone()),
        Line::Pair("Document Length:", length),
    ];
    [server, document, counts(setting, figures)]
}

fn counts(setting: &Setting, figures: &Figures) -> Vec<Line> {
    let mut lines = vec![
        Line::Pair("Concurrency Level:", setting.concurrency.to_string()),
        Line::Pair("Time taken for tests:", format!("{:.3} seconds", setting.taken.as_secs_f64())),
        Line::Pair("Complete requests:", figures.complete.to_string()),
        Line::Pair("Failed requests:", figures.failed().to_string()),
    ];
    if figures.failed() > 0 {
        lines.push(Line::Failures);
    }
    let mut where_any = |label, count: u64| {
        if count > 0 {
            lines.push(Line::Pair(label, count.to_string()));
        }
    };
    where_any("Write errors:", figures.write_errors);
    where_any("Non-2xx responses:", figures.non_2xx);
    if setting.keep_alive {
        lines.push(Line::Pair("Keep-Alive requests:", figures.kept_alive().to_string()));
    }
    lines.push(Line::Pair("Total transferred:", format!("{} bytes", figures.bytes)));
    if let Some(sent) = setting.bytes_sent {
        lines.push(Line::Pair("Total body sent:", sent.to_string()));
    }
    lines.push(Line::Pair("HTML transferred:", format!("{} bytes", figures.body_bytes)));
    lines
}

/// One line; values start in column 24.
fn pair(out: &mut String, label: &str, value: &str) {
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(out, "{label:<24}{value}");
}

fn failures(out: &mut String, figures: &Figures) {
    let Figures { connect, receive, length, exceptions, .. } = figures;
    let _ = writeln!(
        out,
        "   (Connect: {connect}, Receive: {receive}, Length: {length}, Exceptions: {exceptions})"
    );
}

/// Rates per second.
struct Rates {
    requests: f64,
    received_kib: f64,
    sent_kib: Option<f64>,
}

impl Rates {
    fn of(setting: &Setting, figures: &Figures) -> Self {
        let seconds = seconds(setting);
        let kib = |bytes: u64| bytes as f64 / 1024.0 / seconds;
        Self {
            requests: figures.complete as f64 / seconds,
            received_kib: kib(figures.bytes),
            sent_kib: setting.bytes_sent.map(kib),
        }
    }
}

/// How long it took; never 0, which nothing may be divided by.
fn seconds(setting: &Setting) -> f64 {
    setting.taken.as_secs_f64().max(1e-9)
}

fn rates(out: &mut String, setting: &Setting, figures: &Figures) {
    let rates = Rates::of(setting, figures);
    let each_ms = seconds(setting) * 1000.0 / figures.complete as f64;
    let user_ms = each_ms * setting.concurrency as f64;
    pair(out, "Requests per second:", &format!("{:.2} [#/sec] (mean)", rates.requests));
    pair(out, "Time per request:", &format!("{user_ms:.3} [ms] (mean)"));
    let across = "(mean, across all concurrent requests)";
    pair(out, "Time per request:", &format!("{each_ms:.3} [ms] {across}"));
    pair(out, "Transfer rate:", &format!("{:.2} [Kbytes/sec] received", rates.received_kib));
    if let Some(sent) = rates.sent_kib {
        pair(out, "", &format!("{sent:.2} kb/s sent"));
        pair(out, "", &format!("{:.2} kb/s total", rates.received_kib + sent));
    }
}

/// The label of a row, and what a warning calls it.
const fn names(part: Part) -> (&'static str, &'static str) {
    match part {
        Part::Connect => ("Connect:", "the initial connection time"),
        Part::Processing => ("Processing:", "the processing time"),
        Part::Waiting => ("Waiting:", "the waiting time"),
        Part::Total => ("Total:", "the total time"),
    }
}

fn times(out: &mut String, setting: &Setting, figures: &Figures) {
    out.push_str("\nConnection Times (ms)\n");
    out.push_str(match setting.plain_times {
        true => "              min   avg   max\n",
        false => "              min  mean[+/-sd] median   max\n",
    });
    let rows = Part::ALL.map(|part| (names(part), Millis::of(&figures.times.stats(part))));
    for ((label, _), ms) in &rows {
        let Millis { min, mean, deviation, median, max } = ms;
        let _ = match setting.plain_times {
            true => writeln!(out, "{label:<12}{min:>5} {mean:>5}{max:>5}"),
            false => {
                writeln!(out, "{label:<12}{min:>5} {mean:>4} {deviation:>5.1} {median:>6} {max:>7}")
            }
        };
    }
    if !setting.plain_times {
        rows.iter().for_each(|((_, what), ms)| out.push_str(&ms.warning(what)));
    }
}

/// Statistics in whole milliseconds, the deviation excepted.
struct Millis {
    min: u64,
    mean: u64,
    deviation: f64,
    median: u64,
    max: u64,
}

impl Millis {
    fn of(stats: &Stats) -> Self {
        Self {
            min: millis(stats.min),
            mean: millis(stats.mean),
            deviation: stats.deviation / 1000.0,
            median: millis(stats.median),
            max: millis(stats.max),
        }
    }

    /// ab's warning of a mean far from its median; empty where they are close.
    fn warning(&self, what: &str) -> String {
        let apart = self.mean.abs_diff(self.median) as f64;
        if apart > 2.0 * self.deviation {
            return format!(
                "ERROR: The median and mean for {what} are more than twice the standard\n       \
                 deviation apart. These results are NOT reliable.\n"
            );
        }
        if apart > self.deviation {
            return format!(
                "WARNING: The median and mean for {what} are not within a normal deviation\n        \
                 These results are probably not that reliable.\n"
            );
        }
        String::new()
    }
}

fn millis(micros: u64) -> u64 {
    (micros + 500) / 1000
}

/// The percentages of the text report; the slowest request follows.
const PERCENTAGES: [u64; 8] = [50, 66, 75, 80, 90, 95, 98, 99];

fn percentages(out: &mut String, totals: &Ranked<'_>) {
    out.push_str("\nPercentage of the requests served within a certain time (ms)\n");
    for percent in PERCENTAGES {
        let time = millis(totals.at(totals.len() * percent / 100));
        let _ = writeln!(out, "{percent:>4}%  {time:>5}");
    }
    let _ = writeln!(out, " 100%  {:>5} (longest request)", millis(totals.at(u64::MAX)));
}

/// The report of `-e`: the time within which each whole percentage of the requests was served; empty without requests.
#[must_use]
pub fn csv(figures: &Figures) -> String {
    let mut out = String::from("Percentage served,Time in ms\n");
    let totals = figures.times.totals();
    let n = totals.len();
    for percent in (0..=100).filter(|_| n > 0) {
        let rank = match percent {
            100 => n - 1,
            percent => (0.5 + n as f64 * percent as f64 / 100.0) as u64,
        };
        let time_ms = totals.at(if percent == 0 { 0 } else { rank }) as f64 / 1000.0;
        let _ = writeln!(out, "{percent},{time_ms:.3}");
    }
    out
}

/// The attributes of the HTML report, as they were typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Of the table (`-x`).
    pub table: String,
    /// Of its rows (`-y`).
    pub row: String,
    /// Of its cells (`-z`).
    pub cell: String,
}

impl Default for Attributes {
    /// ab's.
    fn default() -> Self {
        let cell = "bgcolor=white".to_owned();
        Self { table: String::new(), row: String::new(), cell }
    }
}

/// The report as one HTML table (`-w`).
#[must_use]
pub fn html(setting: &Setting, figures: &Figures, attributes: &Attributes) -> String {
    let Attributes { table, row, cell } = attributes;
    let mut out = format!("\n\n<table {table}>\n");
    // What secured the connections has no place in it.
    let plain = Setting { tls: None, ..setting.clone() };
    for line in groups(&plain, figures).into_iter().flatten() {
        match line {
            Line::Pair(label, value) => html_pair(&mut out, attributes, label, &value),
            Line::Failures => {
                let Figures { connect, length, exceptions, .. } = figures;
                let _ = writeln!(
                    out,
                    "<tr {row}><td colspan=4 {cell} >   (Connect: {connect}, Length: {length}, \
                     Exceptions: {exceptions})</td></tr>"
                );
            }
        }
    }
    if figures.complete > 0 {
        html_rates(&mut out, attributes, setting, figures);
    }
    html_times(&mut out, attributes, figures);
    out.push_str("</table>\n");
    out
}

fn html_pair(out: &mut String, attributes: &Attributes, label: &str, value: &str) {
    let Attributes { row, cell, .. } = attributes;
    let value = escape::xml(value);
    let _ = writeln!(
        out,
        "<tr {row}><th colspan=2 {cell}>{label}</th><td colspan=2 {cell}>{value}</td></tr>"
    );
}

fn html_rates(out: &mut String, attributes: &Attributes, setting: &Setting, figures: &Figures) {
    let Attributes { row, cell, .. } = attributes;
    let rates = Rates::of(setting, figures);
    html_pair(out, attributes, "Requests per second:", &format!("{:.2}", rates.requests));
    let received = format!("{:.2} kb/s received", rates.received_kib);
    html_pair(out, attributes, "Transfer rate:", &received);
    let Some(sent) = rates.sent_kib else { return };
    for (value, what) in [(sent, "sent"), (rates.received_kib + sent, "total")] {
        let _ = writeln!(
            out,
            "<tr {row}><td colspan=2 {cell}>&nbsp;</td><td colspan=2 {cell}>{value:.2} kb/s \
             {what}</td></tr>"
        );
    }
}

fn html_times(out: &mut String, attributes: &Attributes, figures: &Figures) {
    let Attributes { row, cell, .. } = attributes;
    let _ = writeln!(out, "<tr {row}><th {cell} colspan=4>Connection Times (ms)</th></tr>");
    let _ = writeln!(
        out,
        "<tr {row}><th {cell}>&nbsp;</th> <th {cell}>min</th>   <th {cell}>avg</th>   <th \
         {cell}>max</th></tr>"
    );
    for part in [Part::Connect, Part::Processing, Part::Total] {
        let Millis { min, mean, max, .. } = Millis::of(&figures.times.stats(part));
        let _ = writeln!(
            out,
            "<tr {row}><th {cell}>{}</th><td {cell}>{min:>5}</td><td {cell}>{mean:>5}</td><td \
             {cell}>{max:>5}</td></tr>",
            names(part).0
        );
    }
}
