//! The text report: the conclusion, Vegeta's lines byte for byte, then ours in the same columns, the server's result and the
//! verdict last.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use metrics::{By, Generator, Groups, Histogram, Summary};
use stdx::Nanos;

use crate::caveats::{at_least, caveats};
use crate::columns::Columns;
use crate::conclusion::Conclusion;
use crate::connections::{self, Connections};
use crate::number::duration;
use crate::{
    Input, assertions, attacked, by_target, escape, events, fleet, intervals, judgement, parts,
    provenance,
};

/// The whole report. `Latencies` are response times, from the moment a hit was due; `Service` are times from the moment its
/// request was written.
#[must_use]
pub fn text(input: &Input<'_>) -> String {
    let conclusion = Conclusion::of(input);
    let about = attacked::text(input) + &provenance::text(input);
    let mut out = parts::text(input) + &conclusion.text() + &about + "\n";
    out.push_str(&vegetas_lines(
        input.summary,
        input.summary.throughput(),
        &marked(&input.summary.response, input.summary.timed_out_from.map(|from| from.0)),
    ));
    out.push('\n');
    out.push_str(&own_lines(input));
    out.push_str(&by_target::text(input));
    if let Some(groups) = input.groups {
        let _ = write!(out, "\n{}", group_rows(groups));
    }
    out.push_str(&fleet::text(input.assertions));
    out.push_str(&assertions::text(input.assertions));
    out.push_str(&events::text(input));
    if let Some(section) = input.server.map(|server| server.text()).filter(|text| !text.is_empty())
    {
        let _ = write!(out, "\n{section}");
    }
    out + "\n" + &closing_lines(&conclusion, input)
}

/// The conclusion, the server's result and the verdict, for output that has a report of its own.
#[must_use]
pub fn brief(input: &Input<'_>) -> String {
    let conclusion = Conclusion::of(input);
    conclusion.text() + "\n" + &closing_lines(&conclusion, input)
}

/// The server's result and the verdict on the measurement.
fn closing_lines(conclusion: &Conclusion, input: &Input<'_>) -> String {
    format!("{}Measurement: {}", conclusion.server_line(), judgement::text(input.verdict))
}

/// Vegeta's lines, with the throughput and latencies given.
pub(crate) fn vegetas_lines(summary: &Summary, throughput: f64, latencies: &str) -> String {
    let total = summary.duration().saturating_add(summary.wait());
    let mut out = String::new();
    line(
        &mut out,
        "Requests",
        "[total, rate, throughput]",
        format_args!("{}, {:.2}, {throughput:.2}", summary.requests, summary.rate()),
    );
    line(
        &mut out,
        "Duration",
        "[total, attack, wait]",
        format_args!(
            "{}, {}, {}",
            duration(total),
            duration(summary.duration()),
            duration(summary.wait())
        ),
    );
    line(&mut out, "Latencies", LATENCIES, format_args!("{latencies}"));
    let (bytes_in, bytes_out) = (summary.bytes_in, summary.bytes_out);
    line(
        &mut out,
        "Bytes In",
        "[total, mean]",
        format_args!("{bytes_in}, {:.2}", summary.bytes_in_mean()),
    );
    line(
        &mut out,
        "Bytes Out",
        "[total, mean]",
        format_args!("{bytes_out}, {:.2}", summary.bytes_out_mean()),
    );
    let ratio = summary.success_ratio() * 100.0;
    line(&mut out, "Success", "[ratio]", format_args!("{ratio:.2}%"));
    line(&mut out, "Status Codes", "[code:count]", format_args!("{}", status_codes(summary)));
    out.push_str("Error Set:\n");
    for (error, _) in summary.errors() {
        out.push_str(&escape::terminal(error));
        out.push('\n');
    }
    out
}

pub(crate) const LATENCIES: &str = "[min, mean, 50, 90, 95, 99, max]";

/// One line; the columns are as wide as Vegeta's widest label and two spaces.
pub(crate) fn line(out: &mut String, name: &str, labels: &str, values: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{name:<14}{labels:<34}{values}");
}

/// The quantiles of Vegeta's reports.
pub(crate) const QUANTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

pub(crate) fn latencies(times: &Histogram) -> String {
    seven(times, QUANTILES.map(|q| times.quantile(q)))
}

/// The figures that [`LATENCIES`] names; those cut off by timeouts, which begin at `from`, are marked.
fn marked(times: &Histogram, from: Option<Nanos>) -> String {
    let [p50, p90, p95, p99] = QUANTILES.map(|q| at_least(times.quantile(q), from));
    let (min, mean, max) = (duration(times.min()), duration(times.mean()), times.max());
    [min, mean, p50, p90, p95, p99, at_least(max, from)].join(", ")
}

/// The figures that [`LATENCIES`] names.
pub(crate) fn seven(times: &Histogram, [p50, p90, p95, p99]: [Nanos; 4]) -> String {
    let all = [times.min(), times.mean(), p50, p90, p95, p99, times.max()];
    all.map(duration).join(", ")
}

/// `code:count`, by the code as text, two spaces after each.
fn status_codes(summary: &Summary) -> String {
    let by_text: BTreeMap<String, u64> =
        summary.status_codes().into_iter().map(|(code, count)| (code.to_string(), count)).collect();
    by_text.iter().fold(String::new(), |mut out, (code, count)| {
        let _ = write!(out, "{code}:{count}  ");
        out
    })
}

/// Our lines, all but the verdict.
fn own_lines(input: &Input<'_>) -> String {
    let summary = input.summary;
    let mut out = String::new();
    let from = summary.timed_out_from.map(|from| from.1);
    let service = crate::input::service(summary)
        .map_or("not recorded".to_owned(), |times| marked(times, from));
    line(&mut out, "Service", LATENCIES, format_args!("{service}"));
    if let Some(bounds) = intervals::text(input) {
        line(&mut out, "Intervals", intervals::LABEL, format_args!("{bounds}"));
    }
    if summary.wire_in > 0 {
        let mean = summary.wire_in as f64 / summary.requests.max(1) as f64;
        let total = summary.wire_in;
        line(&mut out, "Wire In", "[total, mean]", format_args!("{total}, {mean:.2}"));
    }
    if let Some(counts) = crate::input::other_outcomes(summary) {
        let counts = counts.iter().map(|(outcome, count)| format!("{outcome}:{count}"));
        let counts = counts.collect::<Vec<_>>().join("  ");
        line(&mut out, "Outcomes", "[outcome:count]", format_args!("{counts}"));
    }
    if let Some(connections) = Connections::of(input) {
        let figures = connections.figures();
        line(&mut out, "Connections", connections::LABELS, format_args!("{figures}"));
    }
    if summary.errors_more > 0 {
        let more = summary.errors_more;
        line(&mut out, "Errors", "[requests with further texts]", format_args!("{more}"));
    }
    for (at, (why, count)) in summary.failures_in_words().into_iter().enumerate() {
        let name = if at == 0 { "Failures" } else { "" };
        line(&mut out, name, &format!("[{why}]"), format_args!("{count}"));
    }
    traffic_lines(&mut out, input);
    // A stream that was cut off before its first record has but a last one without workers.
    if let Some(generator) = input.generator.filter(|generator| generator.workers > 0) {
        generator_lines(&mut out, generator);
    }
    for loss in input.losses {
        line(&mut out, "Lost", "[in reading]", format_args!("{}", escape::terminal(loss)));
    }
    for caveat in caveats(input) {
        let _ = writeln!(out, "{}", escape::terminal(&caveat));
    }
    let note =
        "Latencies count from the moment a request was due, Service from the moment it was sent.";
    let _ = writeln!(out, "{note}");
    out
}

/// Little's law, `N = X R`, against the planned users; and the time from send to send with its coefficient of variation.
fn traffic_lines(out: &mut String, input: &Input<'_>) {
    let summary = input.summary;
    if let (Some(generator), Some(off)) = (input.generator, crate::input::off_by(input)) {
        let (users, x, r) =
            (generator.users, summary.completions(), duration(summary.response.mean()));
        let (n, off) = (summary.concurrency(), off * 100.0);
        line(
            out,
            "Concurrency",
            "[users, X, R, N = X R, off]",
            format_args!("{users}, {x:.2}/s, {r}, {n:.2}, {off:+.2}%"),
        );
    }
    if let Some(sends) = crate::input::sends(input) {
        let quantiles = [0.5, 0.99].map(|q| duration(sends.gaps.quantile(q)));
        let (mean, [p50, p99]) = (duration(sends.gaps.mean()), quantiles);
        let (max, cv) = (duration(sends.gaps.max()), sends.variation());
        line(
            out,
            "Send Gaps",
            "[mean, 50, 99, max, cv]",
            format_args!("{mean}, {p50}, {p99}, {max}, {cv:.2}"),
        );
        if sends.late > 0 {
            line(out, "", "[sends not in order]", format_args!("{}", sends.late));
        }
    }
}

pub(crate) fn generator_lines(out: &mut String, generator: &Generator) {
    let lag = [0.5, 0.99].map(|q| duration(generator.lag.quantile(q)));
    line(
        out,
        "Generator",
        "[planned, sent, lag 50, 99, cpu]",
        format_args!(
            "{}, {}, {}, {}, {:.1}%",
            generator.planned,
            generator.sent,
            lag[0],
            lag[1],
            generator.cpu_busiest * 100.0
        ),
    );
    line(
        out,
        "",
        "[backend, workers, pacing]",
        format_args!(
            "{}, {}, {}",
            escape::terminal(&generator.io),
            generator.workers,
            pacing(generator)
        ),
    );
    if generator.kernel_times > 0 {
        let (by, of) = (
            crate::number::grouped(generator.kernel_times),
            crate::number::grouped(generator.sent),
        );
        line(out, "", "[answers' times]", format_args!("by the kernel: {by} of {of}"));
    }
    if generator.stalls > 0 {
        let (stalls, longest) = (generator.stalls, duration(generator.stall_longest));
        line(out, "", "[stalls, longest]", format_args!("{stalls}, {longest}"));
    }
    for (label, count) in troubles(generator) {
        line(out, "", label, format_args!("{count}"));
    }
    if generator.interrupted {
        line(out, "", "[interrupted]", format_args!("yes"));
    }
}

/// How hits were paced: `exact`, `tick 200µs`, `64 users`, `by up to 64 users`.
pub(crate) fn pacing(generator: &Generator) -> String {
    let by = if generator.self_paced { "by up to " } else { "" };
    match (generator.users, generator.tick) {
        (0, Nanos::ZERO) => "exact".to_owned(),
        (0, tick) => format!("tick {tick}"),
        (users, _) => format!("{by}{}", stdx::counted(users, "user")),
    }
}

/// Counts that should be 0, where they are not.
pub(crate) fn troubles(generator: &Generator) -> Vec<(&'static str, u64)> {
    let all = [
        ("[warm-up, not counted]", generator.warmup_hits),
        ("[not sent]", generator.not_sent),
        ("[users never answered]", generator.never_answered),
        ("[held by -max-workers]", generator.held),
        ("[descriptors exhausted]", generator.descriptors_exhausted),
        ("[ports exhausted]", generator.ports_exhausted),
        ("[pauses of 1ms for them]", generator.pauses),
        ("[to other hosts by redirects]", generator.redirected),
        ("[sent again]", generator.sent_again),
        ("[rows dropped]", generator.rows_dropped),
        ("[texts cut]", generator.texts_cut),
    ];
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// The word over the first column of a table of groups.
fn group_title(groups: &Groups) -> String {
    let word = group_word(groups);
    if matches!(groups.by(), By::Tag(tag) if !is_own_word(tag)) {
        return word.to_owned();
    }
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

/// Whether a tag has a word of its own for `-by`.
pub(crate) fn is_own_word(tag: &str) -> bool {
    matches!(tag, "scenario" | "group")
}

/// By what hits are grouped, in a word: that of `-by`, or the name of a tag.
pub(crate) fn group_word(groups: &Groups) -> &str {
    match groups.by() {
        By::Target | By::Request => "target",
        By::Status => "status",
        By::Name => "name",
        By::Connection => "connection",
        By::Agent => "agent",
        By::Tag(tag) => tag,
    }
}

fn group_rows(groups: &Groups) -> String {
    let mut columns = Columns::default().right(&[1, 2, 3, 4, 5, 6, 7]);
    let title = escape::terminal(&group_title(groups));
    let heads = ["requests", "success", "mean", "50", "95", "99", "max"].map(str::to_owned);
    let [h1, h2, h3, h4, h5, h6, h7] = heads;
    columns.row([title, h1, h2, h3, h4, h5, h6, h7]);
    for (key, group) in groups.list() {
        let ratio = group.successes as f64 / group.hits.max(1) as f64 * 100.0;
        let times = &group.response;
        columns.row([
            escape::terminal(key),
            group.hits.to_string(),
            format!("{ratio:.2}%"),
            duration(times.mean()),
            duration(times.quantile(0.5)),
            duration(times.quantile(0.95)),
            duration(times.quantile(0.99)),
            duration(times.max()),
        ]);
    }
    columns.lines()
}
