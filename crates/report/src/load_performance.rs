//! The report as GitLab's `load_performance` artifact: the few figures of k6's summary that it compares between branches.
//!
//! Source: <https://docs.gitlab.com/ci/testing/load_performance_testing/>; GitLab reads `http_reqs.rate`, `http_req_waiting["p(90)"]`
//! and `["p(95)"]`, `checks.passes` and `checks.fails`, and nothing else.

use metrics::tally::{Assertion, MetricSummary};
use stdx::Nanos;

use crate::Input;
use crate::object::Object;

/// As a document of JSON. The waiting time is a script's `http_req_waiting`; of an attack, which has no histogram of it, the
/// service time. Milliseconds. Without checks, requests that succeeded and that failed stand in their place.
#[must_use]
pub fn load_performance(input: &Input<'_>) -> String {
    let summary = input.summary;
    let ms = |time: Nanos| time.as_secs_f64() * 1e3;
    let waiting = |p: f64, name: &str| {
        let of_script = waiting_of_script(input.assertions, name);
        of_script.unwrap_or_else(|| ms(summary.service.quantile(p)))
    };
    let checks = input.assertions.iter().filter_map(|one| match one {
        Assertion::Check(check) => Some((check.passes, check.fails)),
        _ => None,
    });
    let sum = checks.fold(None, |sum: Option<(u64, u64)>, (passes, fails)| {
        let (all, failed) = sum.unwrap_or_default();
        Some((all.saturating_add(passes), failed.saturating_add(fails)))
    });
    let (passes, fails) = sum.unwrap_or((summary.successes, summary.failed()));
    let metrics = Object::new()
        .put(
            "http_reqs",
            Object::new().number("count", summary.requests).float("rate", summary.rate()).end(),
        )
        .put(
            "http_req_waiting",
            Object::new()
                .float("p(90)", waiting(0.9, "p(90)"))
                .float("p(95)", waiting(0.95, "p(95)"))
                .end(),
        )
        .put("checks", Object::new().number("passes", passes).number("fails", fails).end());
    Object::new().put("metrics", metrics.end()).end() + "\n"
}

/// A statistic of the whole test's `http_req_waiting`.
fn waiting_of_script(all: &[Assertion], statistic: &str) -> Option<f64> {
    let is_whole = |one: &&MetricSummary| {
        one.metric == "http_req_waiting" && one.scenario.is_empty() && one.group.is_empty()
    };
    let metrics = all.iter().filter_map(|one| match one {
        Assertion::Metric(metric) => Some(metric),
        _ => None,
    });
    let found = metrics.into_iter().find(is_whole)?;
    found.statistics.iter().find(|(name, _)| name == statistic).map(|(_, value)| *value)
}
