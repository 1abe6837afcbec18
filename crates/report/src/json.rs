//! The JSON report: Vegeta's keys at the top level in Vegeta's order, ours under `brunt`. The schema is documented in
//! `docs/reference/report-json.md`; a key there is never renamed.

use std::collections::BTreeMap;

use metrics::{Generator, Groups, Histogram, InFlight, Reason, Sends, Summary};
use stdx::Nanos;

use crate::conclusion::Conclusion;
use crate::connections::Connections;
use crate::number::{go_json, rfc3339};
use crate::object::{Object, QUANTILE_KEYS, json_list};
use crate::text::QUANTILES;
use crate::{BucketCounts, Input, assertions, escape, judgement};

/// The whole report as one line.
#[must_use]
pub fn json(input: &Input<'_>) -> String {
    let quantiles = QUANTILES.map(|q| input.summary.response.quantile(q));
    let throughput = input.summary.throughput();
    vegetas_keys(input.summary, input.buckets, (quantiles, throughput))
        .put("brunt", own(input))
        .end()
        + "\n"
}

/// Vegeta's keys, with the quantiles and throughput given.
pub(crate) fn vegetas_keys(
    summary: &Summary,
    buckets: Option<&BucketCounts>,
    (quantiles, throughput): ([Nanos; 4], f64),
) -> Object {
    let times = &summary.response;
    let mut object = Object::new().put("latencies", latencies(times, quantiles));
    if let Some(buckets) = buckets {
        object = object.put("buckets", bucket_counts(buckets));
    }
    // Without requests there are no times; Go's zero time replaces them.
    let moment = |unix_ns: i64| match summary.requests {
        0 => escape::json("0001-01-01T00:00:00Z"),
        _ => escape::json(&rfc3339(unix_ns)),
    };
    let (bytes_in, bytes_out) = (summary.bytes_in, summary.bytes_out);
    object
        .put("bytes_in", total_mean(bytes_in, summary.bytes_in_mean()))
        .put("bytes_out", total_mean(bytes_out, summary.bytes_out_mean()))
        .put("earliest", moment(summary.earliest))
        .put("latest", moment(summary.latest))
        .put("end", moment(summary.end))
        .number("duration", summary.duration().0)
        .number("wait", summary.wait().0)
        .number("requests", summary.requests)
        .float("rate", summary.rate())
        .float("throughput", throughput)
        .float("success", summary.success_ratio())
        .put("status_codes", status_codes(summary))
        .put("errors", list(summary.errors().iter().map(|(error, _)| escape::json(error))))
}

fn latencies(times: &Histogram, [p50, p90, p95, p99]: [Nanos; 4]) -> String {
    Object::new()
        .put("total", times.sum().to_string())
        .number("mean", times.mean().0)
        .number("50th", p50.0)
        .number("90th", p90.0)
        .number("95th", p95.0)
        .number("99th", p99.0)
        .number("max", times.max().0)
        .number("min", times.min().0)
        .end()
}

fn bucket_counts(buckets: &BucketCounts) -> String {
    buckets
        .list()
        .fold(Object::new(), |object, (bound, count)| object.number(&bound.0.to_string(), count))
        .end()
}

fn total_mean(total: u64, mean: f64) -> String {
    Object::new().number("total", total).float("mean", mean).end()
}

/// By the code as text, as Go orders a map's keys.
fn status_codes(summary: &Summary) -> String {
    let codes: BTreeMap<String, u64> =
        summary.status_codes().into_iter().map(|(code, count)| (code.to_string(), count)).collect();
    codes.iter().fold(Object::new(), |object, (code, count)| object.number(code, *count)).end()
}

fn list(items: impl Iterator<Item = String>) -> String {
    json_list(items)
}

/// The object under `brunt`.
fn own(input: &Input<'_>) -> String {
    let (summary, verdict) = (input.summary, input.verdict);
    let conclusion = Conclusion::of(input);
    let reasons = verdict.reasons.iter().map(|reason: &Reason| escape::json(&reason.to_string()));
    let mut object = Object::new()
        .text("verdict", if verdict.is_valid() { "VALID" } else { "INVALID" })
        .put("reasons", list(reasons))
        .put("remedies", judgement::json_remedies(verdict))
        .put("remark", judgement::json_remark(verdict))
        .put("blind", if verdict.blind { "true" } else { "false" })
        .put("conclusion", conclusion.json())
        .text("outcome", conclusion.outcome_name())
        .put("losses", list(input.losses.iter().map(|loss| escape::json(loss))))
        .put("response", times(&summary.response))
        .put("service", crate::input::service(summary).map_or("null".to_owned(), times))
        .number("successes", summary.successes)
        .number("failed", summary.failed())
        .number("wire_in", summary.wire_in)
        .float("concurrency", summary.concurrency())
        .put("failures", failures(summary))
        .put("errors", errors(summary))
        .number("errors_more", summary.errors_more);
    let about = [
        ("outcomes", outcomes(summary)),
        ("connections", Connections::of(input).map(|connections| connections.json())),
        ("parts", crate::parts::json(input)),
        ("attacked", crate::attacked::json(input)),
        ("provenance", crate::provenance::json(input)),
        ("intervals", crate::intervals::json(input)),
        ("selected", (!input.selected.is_empty()).then(|| escape::json(input.selected))),
    ];
    for (key, part) in about {
        object = part.into_iter().fold(object, |object, part| object.put(key, part));
    }
    if summary.apart > stdx::Nanos::ZERO {
        object = object.number("apart", summary.apart.0);
    }
    if let Some((response, service)) = summary.timed_out_from {
        let from = Object::new().number("response", response.0).number("service", service.0);
        object = object.put("timed_out_from", from.end());
    }
    if let Some(censored) = crate::caveats::censored(summary) {
        object = object.put("censored", censored);
    }
    if let Some(off) = crate::input::off_by(input) {
        object = object.put("little", little(input, off));
    }
    if let Some(traffic) = input.traffic {
        object = object.put("in_flight", in_flight(&traffic.in_flight));
    }
    if let Some(sends) = crate::input::sends(input) {
        object = object.put("sends", self::sends(&sends));
    }
    if let Some(generator) = input.generator {
        object = object.put("generator", self::generator(generator));
    }
    if let Some(targets) = crate::by_target::json(input) {
        object = object.put("targets", targets);
    }
    if let Some(groups) = input.groups {
        object = object.put("groups", self::groups(groups));
    }
    if let Some(server) = input.server {
        object = object.put("server", server.json());
    }
    recorded(object, input).end()
}

/// Hits by the text of their error.
fn errors(summary: &Summary) -> String {
    let of_text = |(text, hits): &(String, u64)| {
        Object::new().text("text", text).number("count", *hits).end()
    };
    list(summary.errors().iter().map(of_text))
}

/// Hits by outcome, by its name; `None` where all are statuses of HTTP.
fn outcomes(summary: &Summary) -> Option<String> {
    let all = crate::input::other_outcomes(summary)?.into_iter();
    let object = all
        .fold(Object::new(), |object, (outcome, hits)| object.number(&outcome.to_string(), hits));
    Some(object.end())
}

/// What results have of the run as a whole: agents, events, gates, thresholds, checks and metrics.
fn recorded(mut object: Object, input: &Input<'_>) -> Object {
    if let Some(fleet) = crate::fleet::json(input.assertions) {
        object = object.put("fleet", fleet);
    }
    if let Some(events) = crate::events::json(input) {
        object = object.put("events", events);
    }
    if let Some(gates) = crate::gates::json(input.assertions) {
        object = object.put("gates", gates);
    }
    if let Some(thresholds) = assertions::thresholds_json(input.assertions) {
        object = object.put("thresholds", thresholds);
    }
    if let Some(checks) = assertions::checks_json(input.assertions) {
        object = object.put("checks", checks);
    }
    if let Some(metrics) = crate::script_metrics::json(input.assertions) {
        object = object.put("metrics", metrics);
    }
    object
}

/// Little's law: planned users against the measured `X R`.
fn little(input: &Input<'_>, off: f64) -> String {
    let summary = input.summary;
    Object::new()
        .number("users", input.generator.map_or(0, |generator| generator.users))
        .float("rate", summary.completions())
        .number("response", summary.response.mean().0)
        .float("concurrency", summary.concurrency())
        .float("off", off)
        .end()
}

/// Hits under way on average, cell by cell, to a thousandth.
fn in_flight(in_flight: &InFlight) -> String {
    let in_flight = in_flight.widened(Nanos::SECOND);
    let cells = in_flight.cells().map(|mean| go_json((mean * 1e3).round() / 1e3));
    Object::new().number("width", in_flight.width().0).put("mean", list(cells)).end()
}

/// The time from send to send.
fn sends(sends: &Sends) -> String {
    Object::new()
        .put("gaps", times(&sends.gaps))
        .float("cv", sends.variation())
        .number("late", sends.late)
        .end()
}

/// A distribution: Vegeta's names, and the quantiles its users miss.
pub(crate) fn times(times: &Histogram) -> String {
    let object = Object::new()
        .number("count", times.count())
        .put("total", times.sum().to_string())
        .number("mean", times.mean().0)
        .float("stddev", times.stddev_ns())
        .number("min", times.min().0);
    let quantiles = QUANTILE_KEYS.into_iter();
    quantiles
        .fold(object, |object, (key, q)| object.number(key, times.quantile(q).0))
        .number("max", times.max().0)
        .end()
}

fn failures(summary: &Summary) -> String {
    let kinds = metrics::FailureKind::ALL.into_iter().zip(summary.failures).skip(1);
    kinds
        .filter(|(_, hits)| *hits > 0)
        .fold(Object::new(), |object, (kind, hits)| object.number(kind.name(), hits))
        .end()
}

pub(crate) fn generator(generator: &Generator) -> String {
    let flag = |set: bool| if set { "true" } else { "false" };
    let mut object = Object::new()
        .number("workers", u64::from(generator.workers))
        .text("io", &generator.io)
        .number("tick", generator.tick.0)
        .number("max_in_flight", generator.max_in_flight)
        .number("users", generator.users);
    for (key, set) in [("self_paced", generator.self_paced), ("real_time", generator.real_time)] {
        if set {
            object = object.put(key, flag(true));
        }
    }
    object
        .float("rate", generator.rate_per_s)
        .number("seed", generator.seed)
        .number("planned", generator.planned)
        .number("sent", generator.sent)
        .number("warmup_hits", generator.warmup_hits)
        .number("not_sent", generator.not_sent)
        .number("held", generator.held)
        .put("lag", times(&generator.lag))
        .number("cpu", generator.cpu.0)
        .float("cpu_busiest", generator.cpu_busiest)
        .number("wall", generator.wall.0)
        .number("stalls", generator.stalls)
        .number("stall_longest", generator.stall_longest.0)
        .number("throttled", generator.throttled.0)
        .text("neighbour", &generator.neighbour)
        .number("neighbour_cpu", generator.neighbour_cpu.0)
        .number("descriptors_exhausted", generator.descriptors_exhausted)
        .number("ports_exhausted", generator.ports_exhausted)
        .number("pauses", generator.pauses)
        .number("redirected", generator.redirected)
        .put(
            "redirect_hosts",
            json_list(generator.redirect_hosts.iter().map(|host| escape::json(host))),
        )
        .number("sent_again", generator.sent_again)
        .put("landings", landings(generator))
        .number("never_answered", generator.never_answered)
        .number("connections", generator.connections)
        .number("rows_dropped", generator.rows_dropped)
        .number("lost_at_end", generator.lost_at_end)
        .number("texts_cut", generator.texts_cut)
        .number("kernel_times", generator.kernel_times)
        .put("interrupted", flag(generator.interrupted))
        .put("finished", flag(generator.finished))
        .end()
}

/// Where redirects led.
fn landings(generator: &Generator) -> String {
    list(generator.landings.iter().map(|one| {
        let object = Object::new().text("from", &one.from).text("to", &one.to);
        object.number("requests", one.requests).end()
    }))
}

fn groups(groups: &Groups) -> String {
    let rows = groups.list().iter().map(|(key, group)| {
        Object::new()
            .text("key", key)
            .number("requests", group.hits)
            .number("successes", group.successes)
            .put("failed_by", crate::by_target::json_reasons(group))
            .number("bytes_in", group.bytes_in)
            .put("response", times(&group.response))
            .end()
    });
    let by = match groups.by() {
        metrics::By::Tag(tag) if !crate::text::is_own_word(tag) => format!("tag:{tag}"),
        _ => crate::text::group_word(groups).to_owned(),
    };
    Object::new().text("by", &by).put("rows", list(rows)).end()
}
