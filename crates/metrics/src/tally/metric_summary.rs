//! `MetricSummary`: the statistics of a script's metric, of the whole test or of one scenario or group, as results have them.

use super::{BUILTIN, Contains, Kind, Tally, Trend, Value};

/// A metric with its statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSummary {
    /// The scenario; empty for all, and for k6's `default`.
    pub scenario: String,
    /// The group, `::outer::inner`; empty for all.
    pub group: String,
    /// The metric, with the selector of a submetric.
    pub metric: String,
    /// Its type.
    pub kind: Kind,
    /// What its values are.
    pub contains: Contains,
    /// Names as in k6's summary with their values; times in ms.
    pub statistics: Vec<(String, f64)>,
    /// The results it is of, where a report has several; else empty. Results do not record it.
    pub run: String,
}

/// The percentiles that every trend has: k6's, and the one that gates limit most.
const PERCENTILES: [f64; 3] = [90.0, 95.0, 99.0];

/// k6's own metrics that a scenario and a group have statistics of, beside those that the script declares.
const OF_PARTS: [&str; 5] =
    ["http_req_duration", "http_req_failed", "http_reqs", "iteration_duration", "iterations"];

impl MetricSummary {
    /// Every metric and submetric of a test that has a value. `percentiles` are those wanted beside k6's.
    #[must_use]
    pub fn of_test(tally: &Tally, seconds: f64, percentiles: &[f64]) -> Vec<Self> {
        let percentiles = [percentiles, &PERCENTILES].concat();
        Self::of(tally, ("", ""), (seconds, &percentiles), |_| true)
    }

    /// A statistic by its name in k6's summary.
    #[must_use]
    pub fn statistic(&self, name: &str) -> Option<f64> {
        self.statistics.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// The name of a percentile, 0 to 100, among the statistics.
    #[must_use]
    pub fn percentile_name(percent: f64) -> String {
        format!("p({percent})")
    }

    /// The metrics of a scenario or a group that have a value: the script's own, and k6's for requests and iterations.
    /// Submetrics are left out.
    #[must_use]
    pub fn of_part(tally: &Tally, part: (&str, &str), seconds: f64) -> Vec<Self> {
        let is_own = |name: &str| !BUILTIN.iter().any(|(known, ..)| *known == name);
        let mut all = Self::of(tally, part, (seconds, &PERCENTILES), |name| {
            is_own(name) || OF_PARTS.contains(&name)
        });
        all.retain(|one| !one.metric.contains('{'));
        all
    }

    fn of(
        tally: &Tally,
        (scenario, group): (&str, &str),
        (seconds, percentiles): (f64, &[f64]),
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<Self> {
        let one = |metric: String, contains: Contains, value: &Value| Self {
            scenario: scenario.to_owned(),
            group: group.to_owned(),
            metric,
            kind: value.kind(),
            contains,
            statistics: statistics(value, seconds, percentiles),
            run: String::new(),
        };
        let mut all = Vec::new();
        for (name, metric) in tally.metrics().filter(|(name, _)| is_wanted(name)) {
            all.push(one(name.to_owned(), metric.contains, &metric.value));
            for sub in &metric.subs {
                let name = format!("{name}{{{}}}", sub.selector);
                all.push(one(name, metric.contains, &sub.value));
            }
        }
        all.retain(|one| !one.statistics.is_empty());
        all
    }
}

/// The statistics of a metric; none without a value.
fn statistics(value: &Value, seconds: f64, percentiles: &[f64]) -> Vec<(String, f64)> {
    if let Value::Trend(trend) = value
        && trend.count() > 0
    {
        return trend_statistics(trend, percentiles);
    }
    let pairs = match value {
        _ if value.count() == 0 => Vec::new(),
        Value::Counter { sum, .. } => vec![("count", *sum), ("rate", sum / seconds.max(1e-9))],
        Value::Gauge { last, min, max, .. } => {
            vec![("value", *last), ("min", *min), ("max", *max)]
        }
        Value::Rate { passes, total } => vec![
            ("rate", *passes as f64 / *total as f64),
            ("passes", *passes as f64),
            ("fails", (total - passes) as f64),
        ],
        Value::Trend(_) => Vec::new(),
    };
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn trend_statistics(trend: &Trend, percentiles: &[f64]) -> Vec<(String, f64)> {
    let mut percentiles = percentiles.to_vec();
    percentiles.sort_by(f64::total_cmp);
    percentiles.dedup();
    let of = |percent: &f64| (MetricSummary::percentile_name(*percent), trend.percentile(*percent));
    let named = [
        ("avg", trend.mean()),
        ("min", trend.min()),
        ("med", trend.percentile(50.0)),
        ("max", trend.max()),
    ];
    let named = named.map(|(name, value)| (name.to_owned(), value));
    let count = ("count".to_owned(), trend.count() as f64);
    named.into_iter().chain(percentiles.iter().map(of)).chain([count]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::MetricId;
    use super::*;

    #[test]
    fn metrics_with_values_have_the_statistics_of_their_type() {
        let mut tally = Tally::default();
        let orders = tally.declare("orders", Kind::Counter, Contains::Default);
        let wait = tally.declare("wait", Kind::Trend, Contains::Time);
        tally.declare("unused", Kind::Rate, Contains::Default);
        tally.declare_sub("wait", "page:a");
        (1..=9).for_each(|n| tally.add(wait, f64::from(n), &()));
        tally.add(wait, 10.0, &[("page", "a")].as_slice());
        tally.add(orders, 6.0, &());
        tally.add(MetricId::CHECKS, 1.0, &());
        let all = MetricSummary::of_test(&tally, 2.0, &[99.9]);
        let names: Vec<&str> = all.iter().map(|one| one.metric.as_str()).collect();
        assert_eq!(names, ["checks", "orders", "wait", "wait{page:a}"]);
        let statistic = |at: usize, name: &str| {
            let found = all[at].statistics.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| *value)
        };
        assert_eq!((statistic(1, "count"), statistic(1, "rate")), (Some(6.0), Some(3.0)));
        assert_eq!((statistic(2, "min"), statistic(2, "max")), (Some(1.0), Some(10.0)));
        let percentiles = ["p(90)", "p(95)", "p(99)", "p(99.9)"].map(|name| statistic(2, name));
        assert!(percentiles.is_sorted() && percentiles[0] > Some(9.0), "{percentiles:?}");
        assert_eq!((statistic(0, "rate"), statistic(0, "fails")), (Some(1.0), Some(0.0)));
        let part = MetricSummary::of_part(&tally, ("buyers", "::cart"), 2.0);
        let names: Vec<&str> = part.iter().map(|one| one.metric.as_str()).collect();
        assert_eq!(names, ["orders", "wait"], "of k6's own only the most telling");
        assert_eq!((part[0].scenario.as_str(), part[0].group.as_str()), ("buyers", "::cart"));
    }
}
