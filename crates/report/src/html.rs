//! The HTML report: one page with the verdict, charts and tables. Its charts are pictures that show everything without a script.

use metrics::{Generator, Groups, Histogram, InFlight, Timeline};
use stdx::Nanos;

use crate::caveats::{at_least, at_least_short, caveats};
use crate::conclusion::Conclusion;
use crate::connections::Connections;
use crate::figure::{Axis, Colour, Figure, Scale, Series, Style};
use crate::input::Input;
use crate::number::{duration, grouped, number, rfc3339};
use crate::overlay::{Curve, histogram, percentiles};
use crate::page::{self, charts, push, table};
use crate::server;
use crate::{assertions, attacked, by_target, escape, text};

/// Rows of a table; the rest is counted.
const ROWS_MAX: usize = 200;
/// The report as one self-contained page.
#[must_use]
pub fn html(input: &Input<'_>) -> String {
    let title = if input.title.is_empty() { "Load test" } else { input.title };
    let figures = figures(input);
    let mut body = String::from("<main>\n");
    head(&mut body, input, title);
    assertion_tables(&mut body, input);
    charts(&mut body, &figures);
    tables(&mut body, input);
    push(&mut body, format_args!("<footer>\n{EXPLAINED}\n{}\n</footer>\n", page::HINT));
    body.push_str("</main>");
    page::shell(title, &body, &figures)
}

/// The definitions of the figures.
const EXPLAINED: &str = "<p>Response times count from the moment a request was due, service times from the moment it was sent. \
Success is a status from 200 to 399.</p>";

fn head(out: &mut String, input: &Input<'_>, title: &str) {
    let (summary, valid) = (input.summary, input.verdict.is_valid());
    let (class, word) = if valid { ("good", "VALID") } else { ("bad", "INVALID") };
    let title = escape::xml(title);
    let badge = |(words, kept): (String, bool)| {
        let class = if kept { "good" } else { "bad" };
        format!("<span class=\"badge {class}\">{words}</span>")
    };
    let outcomes: String = assertions::in_words(input.assertions).map(badge).collect();
    let conclusion = Conclusion::of(input);
    let server = conclusion.badge();
    push(
        out,
        format_args!(
            "<header><h1>{title}</h1>{server}<span class=\"badge {class}\">Measurement: {word}</span>{outcomes}</header>\n"
        ),
    );
    out.push_str(&attacked::html(input));
    out.push_str(&crate::provenance::html(input));
    let total = summary.duration().saturating_add(summary.wait());
    if summary.requests > 0 {
        let began = rfc3339(summary.earliest / 1_000_000_000 * 1_000_000_000);
        let began = began.replace('T', " ").replace('Z', " UTC");
        push(out, format_args!("<p class=\"faint\">{began}, {}</p>\n", duration(total)));
    }
    crate::parts::html(out, input);
    conclusion.html(out);
    if let Some(remark) = input.verdict.remark() {
        push(out, format_args!("<p class=\"faint\">Remark: {}.</p>\n", escape::xml(&remark)));
    }
    if !valid {
        out.push_str("<ul class=\"reasons bad\">\n");
        for reason in &input.verdict.reasons {
            push(out, format_args!("<li>{}</li>\n", escape::xml(&reason.to_string())));
        }
        out.push_str("</ul>\n");
        for remedy in input.verdict.remedies() {
            push(out, format_args!("<p>Remedy: {}.</p>\n", escape::xml(remedy)));
        }
    }
    for caveat in caveats(input) {
        push(out, format_args!("<p class=\"faint\">{}</p>\n", escape::xml(&caveat)));
    }
    let times = &summary.response;
    let from = summary.timed_out_from.map(|from| from.0);
    let time = |time: Nanos| escape::xml(&at_least_short(time, from));
    let tiles = [
        ("requests", grouped(summary.requests)),
        ("requests/s", number(summary.rate())),
        ("successes/s", number(summary.throughput())),
        ("success", format!("{:.2}%", summary.success_ratio() * 100.0)),
        ("response p50", time(times.quantile(0.5))),
        ("response p99", time(times.quantile(0.99))),
        ("response max", time(times.max())),
    ];
    out.push_str("<section class=\"tiles\">\n");
    for (name, value) in tiles {
        push(out, format_args!("<div class=\"tile\"><b>{value}</b><span>{name}</span></div>\n"));
    }
    out.push_str("</section>\n");
}

/// The outcomes that are failures.
const FAILURES: [&str; 3] = ["CROSSED", "UNDECIDED", "FAILED"];

/// What was asked of the test comes first: it is why the test was run.
fn assertion_tables(out: &mut String, input: &Input<'_>) {
    for (title, mut heads, mut rows) in assertions::judged_tables(input.assertions) {
        let more = rows.len().saturating_sub(ROWS_MAX);
        // Failures come first, so that they are not cut.
        rows.sort_by_key(|row| !FAILURES.iter().any(|word| row[3].starts_with(word)));
        rows.truncate(ROWS_MAX);
        // The outcome stands beside the name, where a narrow screen shows it.
        heads[1..].rotate_right(1);
        rows.iter_mut().for_each(|row| row[1..].rotate_right(1));
        table(out, title, &heads, &rows, more);
    }
}

/// The metrics of a script: many rows, so they stand below the charts.
fn metric_table(out: &mut String, input: &Input<'_>) {
    if let Some((title, heads, mut rows)) = assertions::metric_table(input.assertions) {
        let more = rows.len().saturating_sub(ROWS_MAX);
        rows.truncate(ROWS_MAX);
        table(out, title, &heads, &rows, more);
    }
}

fn fleet_table(out: &mut String, input: &Input<'_>) {
    let mut rows = crate::fleet::agent_rows(input.assertions);
    if !rows.is_empty() {
        let more = rows.len().saturating_sub(ROWS_MAX);
        rows.truncate(ROWS_MAX);
        table(out, "Fleet", &crate::fleet::AGENT_HEADS, &rows, more);
    }
}

fn event_table(out: &mut String, input: &Input<'_>) {
    let mut rows = crate::events::event_rows(input);
    if !rows.is_empty() {
        let more = rows.len().saturating_sub(ROWS_MAX);
        rows.truncate(ROWS_MAX);
        table(out, "Events", &crate::events::EVENT_HEADS, &rows, more);
    }
}

/// The page's figures in their order.
fn figures(input: &Input<'_>) -> Vec<Figure> {
    let summary = input.summary;
    let response = Curve { label: "Response (from due)", times: &summary.response };
    let service = crate::input::service(summary);
    let service = service.map(|times| Curve { label: "Service (from sent)", times });
    let curves: Vec<Curve<'_>> = std::iter::once(response).chain(service).collect();
    let mut figures = Vec::new();
    let fitted = input.timeline.map(Timeline::fitted);
    if let Some(timeline) = fitted.as_ref().filter(|timeline| timeline.cells().len() > 1) {
        figures.push(latency_over_time(timeline));
        figures.push(rate_over_time(timeline));
    }
    let width = fitted.map_or(Nanos::SECOND, |timeline| timeline.width());
    let in_flight = input.traffic.map(|traffic| traffic.in_flight.widened(width));
    if let Some(in_flight) = in_flight.filter(|in_flight| in_flight.cells().len() > 1) {
        let users = crate::input::users_at_work(input).unwrap_or(0);
        figures.push(under_way(&in_flight, users));
    }
    if let Some(timeline) = input.timeline {
        crate::events::draw(&mut figures, input, timeline);
    }
    if let Some(sends) = crate::input::sends(input) {
        let gaps = Curve { label: "Time to the next send", times: &sends.gaps };
        let mut figure = histogram("Spacing of sends", &[gaps]);
        (figure.x.label, figure.y.label) =
            ("Time between sends (ms)".to_owned(), "Share of sends (%)".to_owned());
        figures.push(figure);
    }
    if summary.requests > 0 {
        figures.push(percentiles("Latency by percentile", &curves));
        figures.push(histogram("Latency histogram", &curves));
    }
    if let Some(server) = input.server {
        let client = (summary.requests > 0).then_some(&summary.response);
        figures.push(server::percentiles("Client and server by percentile", client, server.side));
        figures.extend(server::over_time("", input.timeline, server.side).figures);
        figures.retain(|figure| !figure.series.is_empty());
    }
    figures
}

fn over_time(title: &str, y: (&str, Scale), series: Vec<Series>) -> Figure {
    Figure {
        title: title.to_owned(),
        x: Axis { label: "Seconds elapsed".to_owned(), scale: Scale::Linear },
        y: Axis { label: y.0.to_owned(), scale: y.1 },
        series,
        notes: Vec::new(),
    }
}

/// The same as far as requests were due: the cells after them have responses alone.
fn cells_due(timeline: &Timeline, of: impl Fn(&metrics::Cell) -> f64) -> Vec<(f64, f64)> {
    let last =
        timeline.cells().enumerate().filter(|(_, cell)| cell.hits > 0).map(|(at, _)| at).last();
    let mut points = cells(timeline, of);
    points.truncate(last.map_or(0, |at| at + 1));
    points
}

/// One value per cell, at the cell's begin.
fn cells(timeline: &Timeline, of: impl Fn(&metrics::Cell) -> f64) -> Vec<(f64, f64)> {
    let width = timeline.width().as_secs_f64();
    timeline.cells().enumerate().map(|(n, cell)| (n as f64 * width, of(cell))).collect()
}

fn latency_over_time(timeline: &Timeline) -> Figure {
    let lines = [
        ("p50", 0.5, Colour::RESPONSE),
        ("p95", 0.95, Colour::RESPONSE_P95),
        ("p99", 0.99, Colour::RESPONSE_P99),
    ];
    let series = lines.map(|(label, q, colour)| Series {
        label: label.to_owned(),
        style: Style::Line,
        colour,
        points: cells_due(timeline, |cell| match cell.hits {
            0 => f64::NAN,
            _ => cell.response.quantile(q).as_millis_f64(),
        }),
    });
    over_time("Response time", ("Latency (ms)", Scale::Log), series.into())
}

fn rate_over_time(timeline: &Timeline) -> Figure {
    let width = timeline.width().as_secs_f64();
    let rate = |label: &str, style, colour, points| Series {
        label: label.to_owned(),
        style,
        colour,
        points,
    };
    let answered = cells(timeline, |cell| cell.answered as f64 / width);
    let due = cells_due(timeline, |cell| cell.hits as f64 / width);
    let errors = cells_due(timeline, |cell| cell.errors as f64 / width);
    let series = vec![
        rate("Answered", Style::Area, Colour::RESPONSE, answered),
        rate("Due", Style::Line, Colour::ASKED, due),
        rate("Errors", Style::Area, Colour::ERRORS, errors),
    ];
    over_time("Rate and errors", ("Per second", Scale::Linear), series)
}

/// Hits under way, and in a closed loop the planned number of users.
fn under_way(in_flight: &InFlight, users: u64) -> Figure {
    let width = in_flight.width().as_secs_f64();
    let at = |cell: usize| cell as f64 * width;
    let points: Vec<(f64, f64)> =
        in_flight.cells().enumerate().map(|(n, mean)| (at(n), mean)).collect();
    let planned = points.iter().map(|point| (point.0, users as f64)).collect();
    let line = |label: &str, style, colour, points| Series {
        label: label.to_owned(),
        style,
        colour,
        points,
    };
    let mut series = vec![line("Under way", Style::Area, Colour::RESPONSE, points)];
    if users > 0 {
        series.push(line("Users asked for", Style::Line, Colour::ASKED, planned));
    }
    over_time("Requests under way", ("Requests", Scale::Linear), series)
}

fn tables(out: &mut String, input: &Input<'_>) {
    let summary = input.summary;
    let row = |name: &str, times: &Histogram, from: Option<Nanos>| {
        let quantiles = [0.5, 0.9, 0.95, 0.99, 0.999].map(|q| at_least(times.quantile(q), from));
        let mut row = vec![name.to_owned(), duration(times.min()), duration(times.mean())];
        row.extend(quantiles);
        row.push(at_least(times.max(), from));
        row
    };
    let (response_from, service_from) = summary.timed_out_from.unzip();
    let mut rows = vec![row("Response (from due)", &summary.response, response_from)];
    let service = crate::input::service(summary);
    rows.extend(service.map(|times| row("Service (from sent)", times, service_from)));
    rows.extend(input.generator.map(|generator| row("Schedule lag", &generator.lag, None)));
    rows.extend(crate::input::sends(input).map(|sends| row("Between sends", &sends.gaps, None)));
    let heads = ["", "min", "mean", "p50", "p90", "p95", "p99", "p99.9", "max"];
    table(out, "Latencies", &heads, &rows, 0);
    crate::intervals::html(out, input);
    by_target::html(out, input);
    if let Some(groups) = input.groups {
        group_table(out, groups);
    }
    metric_table(out, input);
    fleet_table(out, input);
    event_table(out, input);
    if let Some(server) = input.server {
        server.html(out);
    }
    out.push_str("<div class=\"pair\">\n");
    let failures = summary.failures_in_words().into_iter();
    let rows: Vec<Vec<String>> =
        failures.map(|(why, count)| vec![why.to_owned(), grouped(count)]).collect();
    if !rows.is_empty() {
        table(out, "Failures", &["reason", "requests"], &rows, 0);
    }
    if !summary.errors().is_empty() {
        error_table(out, input);
    }
    let all = summary.requests.max(1) as f64;
    let codes = summary.status_codes();
    let rows: Vec<Vec<String>> = codes
        .iter()
        .map(|(code, count)| {
            let share = format!("{:.2}%", *count as f64 / all * 100.0);
            let code = if *code == 0 { "0 (no answer)".to_owned() } else { code.to_string() };
            vec![code, grouped(*count), share]
        })
        .collect();
    table(out, "Status codes", &["code", "requests", "share"], &rows, 0);
    if let Some(outcomes) = crate::input::other_outcomes(summary) {
        let share = |count: u64| format!("{:.2}%", count as f64 / all * 100.0);
        let rows: Vec<Vec<String>> = outcomes
            .iter()
            .map(|(outcome, count)| vec![outcome.to_string(), grouped(*count), share(*count)])
            .collect();
        table(out, "Outcomes", &["outcome", "requests", "share"], &rows, 0);
    }
    bytes_table(out, input);
    if let Some(connections) = Connections::of(input) {
        table(out, "Connections", &["", ""], &connections.rows(), 0);
    }
    if let Some(generator) = input.generator {
        table(out, "Generator", &["", ""], &generator_rows(generator), 0);
    }
    out.push_str("</div>\n");
}

fn bytes_table(out: &mut String, input: &Input<'_>) {
    let summary = input.summary;
    let requests = summary.requests.max(1) as f64;
    let all = [
        ("Response bodies, decoded", summary.bytes_in),
        ("Responses on the wire", summary.wire_in),
        ("Request bodies", summary.bytes_out),
    ];
    let rows: Vec<Vec<String>> = all
        .into_iter()
        .filter(|(name, total)| *total > 0 || name.starts_with("Re") && !name.contains("wire"))
        .map(|(name, total)| {
            vec![name.to_owned(), grouped(total), format!("{:.2}", total as f64 / requests)]
        })
        .collect();
    table(out, "Bytes", &["", "total", "per request"], &rows, 0);
}

fn error_table(out: &mut String, input: &Input<'_>) {
    let errors = input.summary.errors();
    let mut rows: Vec<Vec<String>> = errors
        .iter()
        .take(ROWS_MAX)
        .map(|(text, count)| vec![text.clone(), grouped(*count)])
        .collect();
    if input.summary.errors_more > 0 {
        rows.push(vec!["(further texts)".to_owned(), grouped(input.summary.errors_more)]);
    }
    table(out, "Errors", &["text", "count"], &rows, errors.len().saturating_sub(ROWS_MAX));
}

fn group_table(out: &mut String, groups: &Groups) {
    let title = format!("By {}", text::group_word(groups));
    let rows: Vec<Vec<String>> = groups
        .list()
        .iter()
        .take(ROWS_MAX)
        .map(|(key, group)| {
            let ratio = group.successes as f64 / group.hits.max(1) as f64 * 100.0;
            let times = &group.response;
            let quantiles = [0.5, 0.95, 0.99].map(|q| duration(times.quantile(q)));
            let mut row = vec![key.clone(), grouped(group.hits), format!("{ratio:.2}%")];
            row.push(duration(times.mean()));
            row.extend(quantiles);
            row.push(duration(times.max()));
            row
        })
        .collect();
    let heads = ["", "requests", "success", "mean", "p50", "p95", "p99", "max"];
    table(out, &title, &heads, &rows, groups.list().len().saturating_sub(ROWS_MAX));
}

fn generator_rows(generator: &Generator) -> Vec<Vec<String>> {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        row("planned", grouped(generator.planned)),
        row("sent", grouped(generator.sent)),
        row("connections", grouped(generator.connections)),
        row("busiest worker", format!("{:.1}% CPU", generator.cpu_busiest * 100.0)),
        row("CPU time", duration(generator.cpu)),
        row("workers", generator.workers.to_string()),
        row("backend", generator.io.clone()),
        row("pacing", text::pacing(generator)),
        row("seed", generator.seed.to_string()),
    ];
    if generator.rate_per_s > 0.0 {
        rows.insert(0, row("rate asked", format!("{:.2}/s", generator.rate_per_s)));
    }
    for (label, count) in text::troubles(generator) {
        rows.push(row(label.trim_matches(['[', ']']), grouped(count)));
    }
    if generator.stalls > 0 {
        rows.push(row("stalls", grouped(generator.stalls)));
        rows.push(row("longest stall", duration(generator.stall_longest.at_least(Nanos(1)))));
    }
    rows
}
