//! Gates of what only a script has: its thresholds, its checks, and requests with a tag (`scenario`, `group`,
//! `expected_response`, a script's own), which rows have only where results are read. They are judged from k6's metrics of these requests.

use super::{Gap, Gate, GateMetric, GateUnit, Gates, JudgedRun, Selector, Statistic};
use crate::tally::{Assertion, MetricSummary};

/// A time this close below the shortest timeout is at the timeout: a script's times are known to one part in a thousand.
const AT_TIMEOUT: f64 = 0.998;
/// Nanoseconds per millisecond, in which a script's times are.
const NS_PER_MS: f64 = 1e6;

impl Gates {
    /// The submetrics that must be counted for gates by tag: the metric, and its selector in k6's form.
    #[must_use]
    pub fn submetrics(&self) -> Vec<(&'static str, String)> {
        let tagged = self.list().iter().filter(|gate| gate.selector.has_tags());
        let counted = |gate: &Gate| Some((metric_of(gate)?, gate.selector.of_metric()));
        tagged.filter_map(counted).collect()
    }

    /// The percentiles of gates by tag, which a summary of the metrics must have.
    #[must_use]
    pub fn percentiles(&self) -> Vec<f64> {
        let tagged = self.list().iter().filter(|gate| gate.selector.has_tags());
        let percentile = |gate: &Gate| match gate.metric {
            GateMetric::Response(Statistic::Percentile(percent)) => Some(percent),
            _ => None,
        };
        tagged.filter_map(percentile).collect()
    }

    /// The first gate that only a script can have.
    #[must_use]
    pub fn of_script(&self) -> Option<&Gate> {
        let is_script = |gate: &&Gate| {
            gate.selector.has_tags()
                || matches!(gate.metric, GateMetric::Thresholds | GateMetric::Checks)
        };
        self.list().iter().find(is_script)
    }
}

impl Selector {
    /// Whether it selects by a tag of a script.
    #[must_use]
    pub fn has_tags(&self) -> bool {
        !self.tags.is_empty()
    }

    /// As the selector of a metric.
    fn of_metric(&self) -> String {
        let pairs: Vec<String> =
            self.pairs().iter().map(|(name, value)| format!("{name}:{value}")).collect();
        pairs.join(",")
    }

    /// Every tag that a request must have; k6 has name and method as tags as well.
    fn pairs(&self) -> Vec<(&str, &str)> {
        let of_rows = [("name", &self.name), ("method", &self.method)];
        let of_rows =
            of_rows.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        let own = self.tags.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        of_rows.chain(own).collect()
    }

    /// How a metric is of just these requests; `None` if it is not.
    fn fits(&self, metric: &str, one: &MetricSummary) -> Option<Fit> {
        let pairs = self.pairs();
        let is_of_all = one.scenario.is_empty() && one.group.is_empty();
        match one.metric.strip_prefix(metric).map(|rest| rest.strip_prefix('{')) {
            Some(Some(inside)) => {
                let theirs: Vec<(&str, &str)> =
                    inside.trim_end_matches('}').split(',').filter_map(pair).collect();
                let is_same =
                    theirs.len() == pairs.len() && pairs.iter().all(|pair| theirs.contains(pair));
                (is_of_all && is_same).then_some(Fit::Submetric)
            }
            Some(None) if one.metric == metric && !is_of_all => {
                is_part(&pairs, one).then_some(Fit::Part)
            }
            _ => None,
        }
    }
}

/// How a metric is of the requests that a gate selects. A run that has the gate has both for a scenario.
#[derive(Clone, Copy, PartialEq)]
enum Fit {
    /// By the selector in its name.
    Submetric,
    /// By its scenario and its group.
    Part,
}

/// Whether these tags are just the scenario, or the group, of a metric, or both. Groups of one name in several scenarios are
/// several, unless the scenario is given.
fn is_part(pairs: &[(&str, &str)], one: &MetricSummary) -> bool {
    let value = |wanted: &str| {
        pairs.iter().find(|(name, _)| *name == wanted).map_or("", |(_, value)| *value)
    };
    let (scenario, group) = (value("scenario"), value("group"));
    let is_only = pairs.iter().all(|(name, _)| matches!(*name, "scenario" | "group"));
    let is_scenario = one.scenario == scenario || scenario.is_empty() && !group.is_empty();
    is_only && is_scenario && one.group == group
}

/// A tag with its value, as thresholds write them.
fn pair(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(':')?;
    Some((name.trim(), value.trim().trim_matches(['"', '\''])))
}

/// k6's metric with a gate's figure, where gates by tag can have it.
pub(super) fn metric_of(gate: &Gate) -> Option<&'static str> {
    match (gate.metric, gate.unit) {
        (GateMetric::Response(_), _) => Some("http_req_duration"),
        (GateMetric::Errors | GateMetric::Success, _) => Some("http_req_failed"),
        (GateMetric::Requests, _) | (GateMetric::Rate, GateUnit::PerSecond) => Some("http_reqs"),
        _ => None,
    }
}

/// The figure of a gate by tag, and whether the true one may be greater.
pub(super) fn by_tag(gate: &Gate, run: &JudgedRun<'_>) -> Result<(f64, bool), Gap> {
    let metric = metric_of(gate).ok_or(Gap::NoTag)?;
    let one = metric_of_requests(metric, gate, run).ok_or(Gap::NoTag)?;
    let value = statistic(gate, one).ok_or(Gap::NoTag)?;
    let timed_out_from = run.summary.timed_out_from.map(|(_, service)| service.0 as f64);
    let is_time = gate.unit == GateUnit::Time && !is_mean(gate);
    Ok((value, is_time && timed_out_from.is_some_and(|from| value >= from * AT_TIMEOUT)))
}

/// How many of the requests that a gate selects succeeded, and of how many; `None` where the metrics do not have it.
pub(super) fn successes(gate: &Gate, run: &JudgedRun<'_>) -> Option<[u64; 2]> {
    let failed = metric_of_requests("http_req_failed", gate, run)?;
    let [failed, succeeded] = ["passes", "fails"].map(|name| failed.statistic(name));
    let (failed, succeeded) = (failed? as u64, succeeded? as u64);
    Some([succeeded, succeeded.saturating_add(failed)])
}

/// k6's metric of this name of just the requests that a gate selects.
fn metric_of_requests<'a>(
    metric: &str,
    gate: &Gate,
    run: &JudgedRun<'a>,
) -> Option<&'a MetricSummary> {
    // Metrics of several results do not add up to one percentile.
    let metrics = run.asserted.iter().filter_map(|one| match one {
        Assertion::Metric(one) => Some(one).filter(|one| one.run.is_empty()),
        _ => None,
    });
    let found: Vec<(Fit, &MetricSummary)> =
        metrics.filter_map(|one| Some((gate.selector.fits(metric, one)?, one))).collect();
    let only = |fit| {
        let mut found = found.iter().filter(|(known, _)| *known == fit).map(|(_, one)| *one);
        found.next().filter(|_| found.next().is_none())
    };
    only(Fit::Submetric).or_else(|| only(Fit::Part))
}

fn is_mean(gate: &Gate) -> bool {
    gate.metric == GateMetric::Response(Statistic::Mean)
}

/// A metric's statistic in the unit of the gate.
fn statistic(gate: &Gate, one: &MetricSummary) -> Option<f64> {
    let of = |name: &str| one.statistic(name);
    let is_share = gate.unit == GateUnit::Share;
    match gate.metric {
        GateMetric::Response(statistic) => {
            let ms = match statistic {
                Statistic::Mean => of("avg"),
                Statistic::Min => of("min"),
                Statistic::Max => of("max"),
                Statistic::Percentile(50.0) => of("med"),
                Statistic::Percentile(percent) => of(&MetricSummary::percentile_name(percent)),
            };
            ms.map(|ms| ms * NS_PER_MS)
        }
        // A request that failed is a true value of the rate.
        GateMetric::Errors if is_share => of("rate"),
        GateMetric::Errors => of("passes"),
        GateMetric::Success if is_share => of("rate").map(|rate| 1.0 - rate),
        GateMetric::Success => of("fails"),
        GateMetric::Requests => of("count"),
        GateMetric::Rate => of("rate"),
        _ => None,
    }
}

/// The number of crossed thresholds.
pub(super) fn thresholds(run: &JudgedRun<'_>) -> Result<f64, Gap> {
    let all = run.asserted.iter().filter(|one| matches!(one, Assertion::Threshold { .. }));
    let outcomes: Vec<bool> = all.map(Assertion::holds).collect();
    let crossed = outcomes.iter().filter(|holds| !**holds).count();
    if outcomes.is_empty() { Err(Gap::NoThreshold) } else { Ok(crossed as f64) }
}

/// Results of checks that held: their number, or their share of all.
pub(super) fn checks(gate: &Gate, run: &JudgedRun<'_>) -> Result<f64, Gap> {
    let (mut held, mut all) = (0_u64, 0_u64);
    for one in run.asserted {
        if let Assertion::Check(check) = one {
            held = held.saturating_add(check.passes);
            all = all.saturating_add(check.passes).saturating_add(check.fails);
        }
    }
    match gate.unit {
        _ if all == 0 => Err(Gap::NoCheck),
        GateUnit::Share => Ok(held as f64 / all as f64),
        _ => Ok(held as f64),
    }
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::*;
    use crate::tally::{Check, Contains, Kind, ThresholdOutcome};
    use crate::{GateFigures, GateState, Summary};

    fn metric(
        name: &str,
        (scenario, group): (&str, &str),
        statistics: &[(&str, f64)],
    ) -> Assertion {
        let statistics = statistics.iter().map(|(name, value)| ((*name).to_owned(), *value));
        Assertion::Metric(MetricSummary {
            scenario: scenario.to_owned(),
            group: group.to_owned(),
            metric: name.to_owned(),
            kind: Kind::Trend,
            contains: Contains::Time,
            statistics: statistics.collect(),
            run: String::new(),
        })
    }

    /// What a script with two scenarios asserts: `buyers` is slow, and has a group `cart` that is slower.
    fn shop() -> Vec<Assertion> {
        let threshold = |holds| Assertion::Threshold {
            outcome: ThresholdOutcome {
                metric: "m".to_owned(),
                source: "count>1".to_owned(),
                figure: Some(1.0),
                holds,
                run: String::new(),
            },
            kind: Kind::Counter,
            contains: Contains::Default,
        };
        let (group, name) = (String::new(), "is 200".to_owned());
        let times = |p99| [("avg", 100.0), ("med", 90.0), ("p(99)", p99), ("p(99.9)", 999.0)];
        vec![
            threshold(false),
            threshold(true),
            Assertion::Check(Check { group, name, passes: 19, fails: 1 }),
            metric("http_req_duration", ("", ""), &times(400.0)),
            metric("http_req_duration{page:\"a\", scenario:buyers}", ("", ""), &times(700.0)),
            metric("http_req_duration_2", ("buyers", ""), &times(1.0)),
            metric("http_req_duration", ("buyers", ""), &times(500.0)),
            metric("http_req_duration", ("buyers", "::cart"), &times(600.0)),
            metric("http_req_duration", ("readers", "::list"), &times(50.0)),
            metric("http_req_duration", ("buyers", "::list"), &times(50.0)),
            metric(
                "http_req_failed",
                ("buyers", ""),
                &[("rate", 0.1), ("passes", 20.0), ("fails", 180.0)],
            ),
            metric("http_reqs{scenario:buyers}", ("", ""), &[("count", 20.0), ("rate", 5.0)]),
            metric("http_reqs", ("buyers", ""), &[("count", 20.0), ("rate", 5.0)]),
        ]
    }

    fn judged(text: &str, summary: &Summary) -> GateState {
        let figures =
            GateFigures::new(text.parse().unwrap_or_else(|error| panic!("{text}: {error}")));
        let asserted = shop();
        let run = JudgedRun {
            summary,
            is_part: false,
            generator: None,
            has_service_times: true,
            asserted: &asserted,
        };
        figures.outcomes(&run)[0].state
    }

    #[test]
    fn a_gate_by_tag_is_of_the_requests_with_just_these_tags() {
        use GateState::{Crossed, Passed, Undecided};
        let cases = [
            ("p99{scenario:buyers}>450ms", Crossed),
            ("p99{scenario:buyers}>550ms", Passed),
            ("p99{group:::cart}>550ms", Crossed),
            ("p99{scenario:buyers,group:::cart}>650ms", Passed),
            ("p99{page:a,scenario:buyers}>650ms", Crossed),
            ("p99{scenario:buyers,page:a}>750ms", Passed),
            ("p50{scenario:buyers}>80ms", Crossed),
            ("mean{scenario:buyers}>110ms", Passed),
            ("p99.9{scenario:buyers}>900ms", Crossed),
            ("errors{scenario:buyers}>9%", Crossed),
            ("errors{scenario:buyers}>20", Passed),
            ("success{scenario:buyers}<91%", Crossed),
            ("success{scenario:buyers}<180", Passed),
            ("requests{scenario:buyers}<21", Crossed),
            ("rate{scenario:buyers}<5", Passed),
            ("thresholds>0", Crossed),
            ("thresholds>1", Passed),
            ("checks<96%", Crossed),
            ("checks<95%", Passed),
            // Of a group of this name in two scenarios, and of tags and percentiles that are not there.
            ("p99{group:::list}>1us", Undecided(Gap::NoTag)),
            ("p99{page:a}>1us", Undecided(Gap::NoTag)),
            ("p99{scenario:writers}>1us", Undecided(Gap::NoTag)),
            ("p99{scenario:buyers,name:x}>1us", Undecided(Gap::NoTag)),
            ("p98{scenario:buyers}>1us", Undecided(Gap::NoTag)),
            ("errors{scenario:readers}>0", Undecided(Gap::NoTag)),
        ];
        for (text, state) in cases {
            assert_eq!(judged(text, &Summary::new()), state, "{text}");
        }
    }

    #[test]
    fn a_time_at_the_timeout_decides_only_what_its_bound_decides() {
        let timed_out_from = Some((Nanos::from_millis(500), Nanos::from_millis(500)));
        let mut summary = Summary::new();
        summary.timed_out_from = timed_out_from;
        let timed_out = GateState::Undecided(Gap::TimedOut);
        assert_eq!(judged("p99{scenario:buyers}>2s", &summary), timed_out);
        assert_eq!(judged("p99{scenario:buyers}>450ms", &summary), GateState::Crossed);
        assert_eq!(judged("p50{scenario:buyers}>2s", &summary), GateState::Passed);
    }

    #[test]
    fn gates_by_tag_say_which_metrics_they_need() {
        let gates: Gates =
            "p99.9{page:a,name:x}>1s, errors{scenario:b}>1%, requests<5, p50{name:x}>1s"
                .parse()
                .unwrap();
        let expect = [
            ("http_req_duration", "name:x,page:a".to_owned()),
            ("http_req_failed", "scenario:b".to_owned()),
        ];
        assert_eq!(gates.submetrics(), expect);
        assert_eq!(gates.percentiles(), [99.9]);
        assert_eq!(
            gates.of_script().map(|gate| gate.expression.as_str()),
            Some("p99.9{page:a,name:x}>1s")
        );
        assert!("p50{name:x,method:GET}>1s".parse::<Gates>().unwrap().of_script().is_none());
        assert!("thresholds>0".parse::<Gates>().unwrap().of_script().is_some());
    }
}
