//! The report as Markdown, for a comment on a pull request: what failed first, then the conclusion, the verdict, and tables.

use std::fmt::Write as _;

use metrics::{Groups, Histogram};
use stdx::Nanos;

use crate::caveats::{at_least, caveats};
use crate::conclusion::Conclusion;
use crate::connections::Connections;
use crate::input::Input;
use crate::number::{duration, grouped, number};
use crate::{assertions, attacked, by_target, escape};

/// Error texts shown; the rest is counted.
const ERRORS_SHOWN: usize = 10;
/// Groups shown; the rest is counted.
const GROUPS_SHOWN: usize = 50;

/// The report as Markdown.
#[must_use]
pub fn markdown(input: &Input<'_>) -> String {
    let mut out = String::new();
    write_to(&mut out, input).expect("writing to a String cannot fail");
    out
}

fn write_to(out: &mut String, input: &Input<'_>) -> std::fmt::Result {
    let summary = input.summary;
    let title = if input.title.is_empty() { "Load test" } else { input.title };
    let badge = if input.verdict.is_valid() { "VALID" } else { "INVALID" };
    let outcomes = assertions::in_words(input.assertions);
    let outcome: String = outcomes.map(|(words, _)| format!(", {words}")).collect();
    let conclusion = Conclusion::of(input);
    out.push_str(&assertions::failed_markdown(input.assertions));
    let parts = crate::parts::markdown(input);
    writeln!(out, "### {}\n\n{parts}{}", escape::markdown(title), conclusion.markdown())?;
    out.push_str(&attacked::markdown(input));
    out.push_str(&crate::provenance::markdown(input));
    writeln!(out, "Server: {}\n", conclusion.markdown_result())?;
    writeln!(out, "Measurement: {badge}{outcome}\n")?;
    if let Some(remark) = input.verdict.remark() {
        writeln!(out, "Remark: {}.\n", escape::markdown(&remark))?;
    }
    for reason in &input.verdict.reasons {
        writeln!(out, "- {}", escape::markdown(&reason.to_string()))?;
    }
    if !input.verdict.reasons.is_empty() {
        out.push('\n');
        for remedy in input.verdict.remedies() {
            writeln!(out, "Remedy: {}.\n", escape::markdown(remedy))?;
        }
    }
    let success = summary.success_ratio() * 100.0;
    let (rate, throughput) = (number(summary.rate()), number(summary.throughput()));
    writeln!(out, "| requests | rate | throughput | success | duration |")?;
    writeln!(out, "|---:|---:|---:|---:|---:|")?;
    let total = duration(summary.duration().saturating_add(summary.wait()));
    let requests = grouped(summary.requests);
    writeln!(out, "| {requests} | {rate}/s | {throughput}/s | {success:.2}% | {total} |\n")?;
    writeln!(out, "| | min | mean | 50 | 90 | 95 | 99 | max |")?;
    writeln!(out, "|---|---:|---:|---:|---:|---:|---:|---:|")?;
    let (response_from, service_from) = summary.timed_out_from.unzip();
    writeln!(out, "| response (from due) | {} |", times(&summary.response, response_from))?;
    if let Some(service) = crate::input::service(summary) {
        writeln!(out, "| service (from sent) | {} |", times(service, service_from))?;
    }
    writeln!(out)?;
    if let Some(connections) = Connections::of(input) {
        writeln!(out, "{}\n", connections.sentence())?;
    }
    if let Some(generator) = input.generator {
        let lag = duration(generator.lag.quantile(0.99));
        let cpu = generator.cpu_busiest * 100.0;
        let (planned, sent) = (grouped(generator.planned), grouped(generator.sent));
        writeln!(out, "Generator: {planned} planned, {sent} sent, lag p99 {lag}, CPU {cpu:.1}%\n")?;
    }
    for caveat in caveats(input) {
        writeln!(out, "{}\n", escape::markdown(&caveat))?;
    }
    codes(out, input)?;
    errors(out, input)?;
    out.push_str(&crate::fleet::markdown(input.assertions));
    out.push_str(&assertions::markdown(input.assertions));
    out.push_str(&crate::events::markdown(input));
    out.push_str(&by_target::markdown(input));
    if let Some(groups) = input.groups {
        self::groups(out, groups)?;
    }
    if let Some(server) = input.server {
        out.push_str(&server.markdown());
    }
    Ok(())
}

/// The times of a row; those cut off by timeouts, which begin at `from`, are marked.
fn times(times: &Histogram, from: Option<Nanos>) -> String {
    let quantiles = [0.5, 0.9, 0.95, 0.99].map(|q| at_least(times.quantile(q), from));
    let ([p50, p90, p95, p99], max) = (quantiles, at_least(times.max(), from));
    [duration(times.min()), duration(times.mean()), p50, p90, p95, p99, max].join(" | ")
}

fn codes(out: &mut String, input: &Input<'_>) -> std::fmt::Result {
    let codes = input.summary.status_codes();
    if codes.is_empty() {
        return Ok(());
    }
    let codes: Vec<String> =
        codes.iter().map(|(code, count)| format!("{code}: {}", grouped(*count))).collect();
    writeln!(out, "Status codes: {}", codes.join(", "))?;
    let Some(outcomes) = crate::input::other_outcomes(input.summary) else { return Ok(()) };
    let outcomes =
        outcomes.iter().map(|(outcome, count)| format!("{outcome}: {}", grouped(*count)));
    writeln!(out, "\nOutcomes: {}", outcomes.collect::<Vec<_>>().join(", "))
}

fn errors(out: &mut String, input: &Input<'_>) -> std::fmt::Result {
    let failures = input.summary.failures_in_words();
    if !failures.is_empty() {
        let words = failures.iter().map(|(why, count)| format!("{why}: {}", grouped(*count)));
        writeln!(out, "\nFailures: {}", words.collect::<Vec<_>>().join(", "))?;
    }
    let errors = input.summary.errors();
    if errors.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n| error | count |\n|---|---:|")?;
    for (text, count) in errors.iter().take(ERRORS_SHOWN) {
        writeln!(out, "| {} | {} |", escape::markdown(text), grouped(*count))?;
    }
    let rest = errors.iter().skip(ERRORS_SHOWN).map(|error| error.1).sum::<u64>()
        + input.summary.errors_more;
    if rest > 0 {
        writeln!(out, "| others | {} |", grouped(rest))?;
    }
    Ok(())
}

fn groups(out: &mut String, groups: &Groups) -> std::fmt::Result {
    let title = escape::markdown(crate::text::group_word(groups));
    writeln!(out, "\n| {title} | requests | success | mean | 50 | 95 | 99 | max |")?;
    writeln!(out, "|---|---:|---:|---:|---:|---:|---:|---:|")?;
    for (key, group) in groups.list().iter().take(GROUPS_SHOWN) {
        let success = group.successes as f64 / group.hits.max(1) as f64 * 100.0;
        let times = &group.response;
        let quantiles = [0.5, 0.95, 0.99].map(|q| times.quantile(q));
        let [p50, p95, p99] = quantiles;
        let times = [times.mean(), p50, p95, p99, times.max()].map(duration).join(" | ");
        let (key, hits) = (escape::markdown(key), grouped(group.hits));
        writeln!(out, "| {key} | {hits} | {success:.2}% | {times} |")?;
    }
    let rest = groups.list().len().saturating_sub(GROUPS_SHOWN);
    if rest > 0 {
        writeln!(out, "\n{rest} more are not shown.")?;
    }
    Ok(())
}
