//! `Tally`: k6's metrics (counters, gauges, rates, trends) with their submetrics, checks and groups. Its memory does not depend on
//! the number of samples.

mod threshold;
mod trend;

use std::collections::BTreeMap;

pub use threshold::{Aggregation, Threshold, ThresholdError};
pub use trend::Trend;

/// What k6 calls a metric's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A sum.
    Counter,
    /// The last value, the least and the greatest.
    Gauge,
    /// How many of the values are not 0.
    Rate,
    /// A distribution.
    Trend,
}

impl Kind {
    /// k6's word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Rate => "rate",
            Self::Trend => "trend",
        }
    }
}

/// What a metric's values are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contains {
    /// Numbers.
    #[default]
    Default,
    /// Milliseconds.
    Time,
    /// Bytes.
    Data,
}

impl Contains {
    /// k6's word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Time => "time",
            Self::Data => "data",
        }
    }
}

/// The tags of a sample.
pub trait Tags {
    /// The value of a tag, if the sample has it.
    fn tag(&self, name: &str) -> Option<&str>;
}

/// No tags.
impl Tags for () {
    fn tag(&self, _name: &str) -> Option<&str> {
        None
    }
}

/// What was seen of a metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The sum, and how many values it has.
    Counter {
        /// Their sum.
        sum: f64,
        /// How many there were.
        count: u64,
    },
    /// A state.
    Gauge {
        /// The last value.
        last: f64,
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
        /// How many there were.
        count: u64,
    },
    /// A share.
    Rate {
        /// Values other than 0.
        passes: u64,
        /// All values.
        total: u64,
    },
    /// A distribution.
    Trend(Trend),
}

impl Value {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        match kind {
            Kind::Counter => Self::Counter { sum: 0.0, count: 0 },
            Kind::Gauge => Self::Gauge { last: 0.0, min: 0.0, max: 0.0, count: 0 },
            Kind::Rate => Self::Rate { passes: 0, total: 0 },
            Kind::Trend => Self::Trend(Trend::default()),
        }
    }

    /// Its type.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Counter { .. } => Kind::Counter,
            Self::Gauge { .. } => Kind::Gauge,
            Self::Rate { .. } => Kind::Rate,
            Self::Trend(_) => Kind::Trend,
        }
    }

    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        match self {
            Self::Counter { sum, count } => {
                *sum += value;
                *count += 1;
            }
            Self::Gauge { last, min, max, count } => {
                (*min, *max) =
                    if *count == 0 { (value, value) } else { (min.min(value), max.max(value)) };
                *last = value;
                *count += 1;
            }
            Self::Rate { passes, total } => {
                *passes += u64::from(value != 0.0);
                *total += 1;
            }
            Self::Trend(trend) => trend.add(value),
        }
    }

    /// Adds what another of the same type saw; of gauges the other's last value counts as the later one.
    pub fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::Counter { sum, count }, Self::Counter { sum: more, count: n }) => {
                *sum += more;
                *count += n;
            }
            (gauge @ Self::Gauge { .. }, Self::Gauge { last, min, max, count }) if *count > 0 => {
                for value in [*min, *max, *last] {
                    gauge.add(value);
                }
            }
            (Self::Rate { passes, total }, Self::Rate { passes: more, total: n }) => {
                *passes += more;
                *total += n;
            }
            (Self::Trend(trend), Self::Trend(other)) => trend.merge(other),
            _ => {}
        }
    }

    /// How many values there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::Counter { count, .. } | Self::Gauge { count, .. } => *count,
            Self::Rate { total, .. } => *total,
            Self::Trend(trend) => trend.count(),
        }
    }
}

/// A metric with what was seen of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// What its values are.
    pub contains: Contains,
    /// What was seen.
    pub value: Value,
    /// The same of samples with certain tags, by what stands in the braces.
    pub subs: Vec<Submetric>,
}

/// What was seen of a metric's samples with certain tags.
#[derive(Clone, Debug, PartialEq)]
pub struct Submetric {
    /// What stands in the braces: `status:200,method:GET`.
    pub selector: String,
    tags: Vec<(String, String)>,
    /// What was seen.
    pub value: Value,
}

impl Submetric {
    /// Tags as thresholds write them.
    fn new(selector: &str, kind: Kind) -> Self {
        let tags = selector.split(',').map(|pair| {
            let (name, value) = pair.split_once(':').unwrap_or((pair, ""));
            (unquoted(name), unquoted(value))
        });
        Self { selector: selector.to_owned(), tags: tags.collect(), value: Value::new(kind) }
    }

    fn matches(&self, tags: &impl Tags) -> bool {
        self.tags.iter().all(|(name, value)| tags.tag(name) == Some(value))
    }
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).to_owned()
}

/// One check's count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its group, `::outer::inner`; empty outside of any.
    pub group: String,
    /// Its name.
    pub name: String,
    /// How often it held.
    pub passes: u64,
    /// How often it did not.
    pub fails: u64,
}

/// k6's metrics of a run, or of one worker's part of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    metrics: BTreeMap<String, Metric>,
    /// The checks in the order of their first sample.
    pub checks: Vec<Check>,
    /// The groups' paths in the order of their first sample.
    pub groups: Vec<String>,
}

/// Checks, and groups, beyond this are not told apart.
const NAMES_MAX: usize = 10_000;

impl Tally {
    /// Declares a metric; one that is known already stays as it is.
    pub fn declare(&mut self, name: &str, kind: Kind, contains: Contains) {
        if !self.metrics.contains_key(name) {
            let metric = Metric { contains, value: Value::new(kind), subs: Vec::new() };
            self.metrics.insert(name.to_owned(), metric);
        }
    }

    /// Declares a submetric of a known metric; gives whether it is known.
    pub fn declare_sub(&mut self, name: &str, selector: &str) -> bool {
        let Some(metric) = self.metrics.get_mut(name) else { return false };
        if !metric.subs.iter().any(|sub| sub.selector == selector) {
            metric.subs.push(Submetric::new(selector, metric.value.kind()));
        }
        true
    }

    /// Adds a value to a declared metric and to those of its submetrics that its tags match.
    pub fn add(&mut self, name: &str, value: f64, tags: &impl Tags) {
        let Some(metric) = self.metrics.get_mut(name) else { return };
        metric.value.add(value);
        for sub in metric.subs.iter_mut().filter(|sub| sub.matches(tags)) {
            sub.value.add(value);
        }
    }

    /// Counts a check.
    pub fn check(&mut self, group: &str, name: &str, passed: bool) {
        let known = self.checks.iter().position(|check| check.name == name && check.group == group);
        let at = known.unwrap_or_else(|| {
            if self.checks.len() < NAMES_MAX {
                let (group, name) = (group.to_owned(), name.to_owned());
                self.checks.push(Check { group, name, passes: 0, fails: 0 });
            }
            self.checks.len() - 1
        });
        self.checks[at].passes += u64::from(passed);
        self.checks[at].fails += u64::from(!passed);
    }

    /// Notes that there is a group, and those around it.
    pub fn group(&mut self, path: &str) {
        if path.is_empty()
            || self.groups.iter().any(|known| known == path)
            || self.groups.len() == NAMES_MAX
        {
            return;
        }
        if let Some((outer, _)) = path.rsplit_once("::") {
            self.group(outer);
        }
        self.groups.push(path.to_owned());
    }

    /// Adds what another saw.
    pub fn merge(&mut self, other: &Self) {
        for (name, theirs) in &other.metrics {
            match self.metrics.get_mut(name) {
                Some(ours) => {
                    ours.value.merge(&theirs.value);
                    for sub in &theirs.subs {
                        match ours.subs.iter_mut().find(|known| known.selector == sub.selector) {
                            Some(known) => known.value.merge(&sub.value),
                            None => ours.subs.push(sub.clone()),
                        }
                    }
                }
                None => drop(self.metrics.insert(name.clone(), theirs.clone())),
            }
        }
        for check in &other.checks {
            self.check(&check.group, &check.name, true);
            let known =
                self.checks.iter_mut().find(|c| c.name == check.name && c.group == check.group);
            if let Some(known) = known {
                known.passes += check.passes;
                known.passes -= 1;
                known.fails += check.fails;
            }
        }
        other.groups.iter().for_each(|path| self.group(path));
    }

    /// Every metric by name.
    pub fn metrics(&self) -> impl Iterator<Item = (&str, &Metric)> {
        self.metrics.iter().map(|(name, metric)| (name.as_str(), metric))
    }

    /// A metric, or a submetric by its whole name `metric{tag:value}`.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Value> {
        match name.split_once('{') {
            None => self.metrics.get(name).map(|metric| &metric.value),
            Some((metric, selector)) => {
                let selector = selector.strip_suffix('}')?;
                let subs = &self.metrics.get(metric)?.subs;
                subs.iter().find(|sub| sub.selector == selector).map(|sub| &sub.value)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Tags for &[(&str, &str)] {
        fn tag(&self, name: &str) -> Option<&str> {
            self.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
        }
    }

    #[test]
    fn samples_count_in_the_submetrics_they_match() {
        let mut tally = Tally::default();
        tally.declare("t", Kind::Trend, Contains::Time);
        assert!(tally.declare_sub("t", "status:200, method:\"GET\""));
        assert!(!tally.declare_sub("unknown", "a:b"));
        let tags: &[(&str, &str)] = &[("status", "200"), ("method", "GET")];
        tally.add("t", 1.0, &tags);
        tally.add("t", 2.0, &[("status", "200")].as_slice());
        tally.add("t", 3.0, &());
        assert_eq!(tally.value("t").map(Value::count), Some(3));
        assert_eq!(tally.value("t{status:200, method:\"GET\"}").map(Value::count), Some(1));
    }

    #[test]
    fn parts_merge_to_the_whole() {
        let whole = |from: u32, upto: u32| {
            let mut tally = Tally::default();
            for (name, kind) in
                [("c", Kind::Counter), ("g", Kind::Gauge), ("r", Kind::Rate), ("t", Kind::Trend)]
            {
                tally.declare(name, kind, Contains::Default);
                (from..upto).for_each(|n| tally.add(name, f64::from(n % 7), &()));
            }
            (from..upto).for_each(|n| tally.check("::a::b", "even", n % 2 == 0));
            tally.group("::a::b");
            tally
        };
        let mut merged = whole(0, 40);
        merged.merge(&whole(40, 100));
        let all = whole(0, 100);
        assert_eq!(merged.checks, all.checks);
        assert_eq!(
            (merged.groups.as_slice(), all.checks[0].passes),
            (["::a".to_owned(), "::a::b".to_owned()].as_slice(), 50)
        );
        for name in ["c", "r", "t"] {
            assert_eq!(merged.value(name), all.value(name), "{name}");
        }
    }
}
