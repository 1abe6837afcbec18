//! Thresholds: read before the run, judged after it.

use metrics::tally::{Assertion, Check, Contains, Kind, Tally, Threshold, ThresholdOutcome};
use script::ThresholdOption;
use stdx::Nanos;

/// A threshold of a metric.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Limit {
    pub(super) metric: String,
    threshold: Threshold,
    /// The test ends when it is crossed, but not before this time of it.
    abort_after: Option<Nanos>,
}

impl Limit {
    /// As it was written.
    pub(super) fn source(&self) -> &str {
        &self.threshold.source
    }
}

/// Declares the submetrics of all thresholds in the tally, also of those with an empty list.
///
/// # Errors
/// There is no such metric; the text says which.
pub(super) fn declare(watched: &[String], tally: &mut Tally) -> Result<(), String> {
    watched.iter().try_for_each(|metric| {
        let wrong = |reason: &str| format!("threshold on {metric}: {reason}");
        if let Some((base, selector)) = selected(metric).map_err(wrong)? {
            tally.declare_sub(base, selector);
        }
        tally.value(metric).map(drop).ok_or_else(|| wrong("there is no such metric"))
    })
}

/// A metric and its selector of samples; `None` without one.
///
/// # Errors
/// The selector is malformed: it would select nothing, and a threshold on nothing guards nothing.
fn selected(metric: &str) -> Result<Option<(&str, &str)>, &'static str> {
    let Some((base, selector)) = metric.split_once('{') else {
        return if metric.contains('}') { Err("the tags have no opening brace") } else { Ok(None) };
    };
    let selector = selector.strip_suffix('}').ok_or("the tags have no closing brace at the end")?;
    let is_pair = |pair: &str| {
        let (name, value) = pair.split_once(':').unwrap_or_default();
        !name.trim().is_empty() && !value.is_empty()
    };
    if !selector.split(',').all(is_pair) {
        return Err("a tag must be written as name:value, and tags with commas between");
    }
    Ok(Some((base, selector)))
}

/// Reads the thresholds, of metrics that were [declared](declare).
///
/// # Errors
/// A text is not a threshold, or its metric is unknown; the error says which.
pub(super) fn read(rules: &[ThresholdOption], tally: &Tally) -> Result<Vec<Limit>, String> {
    rules.iter().map(|rule| limit(rule, tally)).collect()
}

fn limit(rule: &ThresholdOption, tally: &Tally) -> Result<Limit, String> {
    let named = |reason: &dyn std::fmt::Display| format!("threshold on {}: {reason}", rule.metric);
    let threshold = Threshold::parse(&rule.source).map_err(|error| named(&error))?;
    let value = tally.value(&rule.metric).ok_or_else(|| named(&"there is no such metric"))?;
    threshold.suits(value.kind()).map_err(|error| named(&error))?;
    let abort_after = rule.abort.then_some(rule.delay);
    Ok(Limit { metric: rule.metric.clone(), threshold, abort_after })
}

/// Judges the thresholds. A counter without samples has counted 0: nothing went wrong that a script counts when it does.
/// Any other threshold without samples is crossed, since it says nothing of what it was to guard; with `compat` it is judged
/// by zeros, as k6 does, and one of a rate holds.
pub(super) fn judge(
    limits: &[Limit],
    tally: &Tally,
    elapsed: Nanos,
    compat: bool,
) -> Vec<ThresholdOutcome> {
    let outcome = |limit: &Limit| {
        let value = tally.value(&limit.metric);
        let figure = value.and_then(|value| limit.threshold.measure(value, elapsed));
        let kind = value.map(|value| value.kind());
        let (figure, holds) = match figure {
            None if compat && kind == Some(Kind::Rate) => (Some(0.0), true),
            None if compat || kind == Some(Kind::Counter) => {
                (Some(0.0), limit.threshold.holds(0.0))
            }
            None => (None, false),
            Some(figure) => (Some(figure), limit.threshold.holds(figure)),
        };
        let (metric, source) = (limit.metric.clone(), limit.threshold.source.clone());
        ThresholdOutcome { metric, source, figure, holds, run: String::new() }
    };
    limits.iter().map(outcome).collect()
}

/// Bytes of a name that the results keep.
const NAME_MAX: usize = 2048;

/// The outcomes of thresholds and checks, as rows of the results. Very long names are cut.
pub(super) fn assertions(outcome: &[ThresholdOutcome], tally: &Tally) -> Vec<Assertion> {
    let threshold = |outcome: &ThresholdOutcome| {
        let base = outcome.metric.split('{').next().unwrap_or_default();
        let metric = tally.metric(base);
        let outcome = ThresholdOutcome {
            metric: shortened(&outcome.metric),
            source: shortened(&outcome.source),
            ..outcome.clone()
        };
        Assertion::Threshold {
            outcome,
            kind: metric.map_or(Kind::Trend, |metric| metric.value.kind()),
            contains: metric.map_or(Contains::Default, |metric| metric.contains),
        }
    };
    let check = |check: &Check| {
        let (group, name) = (shortened(&check.group), shortened(&check.name));
        Assertion::Check(Check { group, name, ..check.clone() })
    };
    outcome.iter().map(threshold).chain(tally.checks.iter().map(check)).collect()
}

pub(super) fn shortened(text: &str) -> String {
    text[..text.floor_char_boundary(NAME_MAX)].to_owned()
}

/// Whether the test is to end, since a threshold that ends it is crossed. One without samples does not.
pub(super) fn ends(limits: &[Limit], tally: &Tally, elapsed: Nanos) -> bool {
    limits.iter().any(|limit| {
        let figure = || limit.threshold.measure(tally.value(&limit.metric)?, elapsed);
        limit.abort_after.is_some_and(|after| elapsed >= after)
            && figure().is_some_and(|figure| !limit.threshold.holds(figure))
    })
}

/// Whether any threshold may end the test.
pub(super) fn may_end(limits: &[Limit]) -> bool {
    limits.iter().any(|limit| limit.abort_after.is_some())
}

/// Names in their order, each once if it comes several times in a row.
pub(super) fn joined_once(names: &[&str]) -> String {
    let mut names = names.to_vec();
    names.dedup();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use metrics::tally::MetricId;

    use super::*;

    fn rule(metric: &str, source: &str, abort: bool) -> ThresholdOption {
        let (metric, source) = (metric.to_owned(), source.to_owned());
        ThresholdOption { metric, source, abort, delay: Nanos::from_secs(5) }
    }

    #[test]
    fn without_samples_a_threshold_is_crossed_or_judged_by_zeros() {
        let tally = Tally::default();
        let rules = [
            rule("http_reqs", "count>0", false),
            rule("http_reqs", "count<1", false),
            rule("http_reqs", "rate<5", false),
            rule("http_req_failed", "rate>0.5", false),
            rule("vus", "value==0", false),
        ];
        let limits = read(&rules, &tally).unwrap();
        let holds = |compat| {
            let outcome = judge(&limits, &tally, Nanos::SECOND, compat);
            outcome.iter().map(|outcome| outcome.holds).collect::<Vec<_>>()
        };
        assert_eq!(holds(false), [false, true, true, false, false]);
        assert_eq!(holds(true), [false, true, true, true, true]);
    }

    #[test]
    fn submetrics_are_declared_and_unknown_metrics_are_named() {
        let mut tally = Tally::default();
        let watched = |metric: &str| [metric.to_owned()];
        assert_eq!(declare(&watched("http_reqs{a:b}"), &mut tally), Ok(()));
        assert!(tally.value("http_reqs{a:b}").is_some());
        for (metric, expect) in [
            ("nope", "threshold on nope: there is no such metric"),
            ("nope{a:b}", "threshold on nope{a:b}: there is no such metric"),
            ("vus{a:b", "threshold on vus{a:b: the tags have no closing brace at the end"),
            ("vus{a:b}x", "threshold on vus{a:b}x: the tags have no closing brace at the end"),
            ("vus}", "threshold on vus}: the tags have no opening brace"),
        ] {
            assert_eq!(declare(&watched(metric), &mut tally), Err(expect.to_owned()));
        }
    }

    #[test]
    fn a_malformed_selector_is_refused() {
        for selector in ["status=200", "status", "", ":200", "name:a,b", "a:", "a:b,", ",a:b", "a"]
        {
            let watched = [format!("http_reqs{{{selector}}}")];
            let error = declare(&watched, &mut Tally::default()).unwrap_err();
            assert!(error.contains("name:value"), "{selector}: {error}");
        }
        for selector in ["a:b", "a:b, c:\"d\"", "url:http://h/x?y={z}", "a:b:c", "a: b"] {
            let watched = [format!("http_reqs{{{selector}}}")];
            assert_eq!(declare(&watched, &mut Tally::default()), Ok(()), "{selector}");
        }
    }

    #[test]
    fn results_keep_thresholds_with_their_units_and_checks() {
        let mut tally = Tally::default();
        declare(&["http_req_duration{a:b}".to_owned()], &mut tally).unwrap();
        let limits = read(&[rule("http_req_duration{a:b}", "max<5", false)], &tally).unwrap();
        tally.check("::group", &"é".repeat(NAME_MAX), false);
        let outcome = judge(&limits, &tally, Nanos::SECOND, false);
        let all = assertions(&outcome, &tally);
        let [Assertion::Threshold { kind, contains, outcome }, Assertion::Check(check)] = &all[..]
        else {
            panic!("{all:?}")
        };
        assert_eq!((*kind, *contains), (Kind::Trend, Contains::Time));
        assert_eq!((outcome.metric.as_str(), outcome.figure), ("http_req_duration{a:b}", None));
        assert_eq!((check.fails, check.name.len(), check.group.as_str()), (1, NAME_MAX, "::group"));
    }

    #[test]
    fn a_test_ends_after_the_delay_and_with_samples_alone() {
        let mut tally = Tally::default();
        let limits = read(&[rule("checks", "rate>0.9", true)], &tally).unwrap();
        assert!(may_end(&limits) && !ends(&limits, &tally, Nanos::from_secs(9)));
        tally.add(MetricId::CHECKS, 0.0, &());
        assert!(!ends(&limits, &tally, Nanos::from_secs(4)));
        assert!(ends(&limits, &tally, Nanos::from_secs(5)));
    }
}
