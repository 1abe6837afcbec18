//! `Tally`: k6's metrics (counters, gauges, rates, trends) with their submetrics, checks and groups. Its memory does not depend on
//! the number of samples.

mod assertion;
mod builtin;
mod metric_summary;
mod parts;
mod threshold;
mod trend;
mod value;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use parts::{MetricParts, TallyParts};
use serde::{Deserialize, Serialize};
use stdx::equal;

pub use assertion::{Assertion, ThresholdOutcome};
pub use builtin::{BUILTIN, MetricId};
pub use metric_summary::MetricSummary;
pub use threshold::{Aggregation, Threshold, ThresholdError};
pub use trend::Trend;
pub use value::{Contains, Kind, Value};

/// The tags of a sample.
pub trait Tags {
    /// The value of a tag, if the sample has it. It is called only where a submetric needs it.
    fn tag(&self, name: &str) -> Option<Cow<'_, str>>;
}

/// No tags.
impl Tags for () {
    fn tag(&self, _name: &str) -> Option<Cow<'_, str>> {
        None
    }
}

/// A metric with what was seen of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// What its values are.
    pub contains: Contains,
    /// What was seen.
    pub value: Value,
    /// The same of samples with certain tags, by the text in the braces.
    pub subs: Vec<Submetric>,
}

impl Metric {
    fn add_to_subs(&mut self, value: f64, tags: &impl Tags) {
        for sub in self.subs.iter_mut().filter(|sub| sub.matches(tags)) {
            sub.value.add(value);
        }
    }
}

/// What was seen of a metric's samples with certain tags.
#[derive(Clone, Debug, PartialEq)]
pub struct Submetric {
    /// The text in the braces: `status:200,method:GET`.
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
        self.tags
            .iter()
            .all(|(name, value)| tags.tag(name).is_some_and(|tag| tag == value.as_str()))
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "TallyParts", into = "TallyParts")]
pub struct Tally {
    metrics: Vec<Metric>,
    by_name: BTreeMap<String, MetricId>,
    /// The checks in the order of their first sample.
    pub checks: Vec<Check>,
    /// The index of a check, by its group and its name.
    check_places: HashMap<String, HashMap<String, usize>>,
    /// The check counted last: its successor is probably the next.
    last_check: usize,
    /// The groups' paths in the order of their first sample.
    pub groups: Vec<String>,
    /// Bytes of the names of checks and groups.
    name_bytes: usize,
    /// Samples of checks that count as the last one, and of groups that are left out, since there are too many names.
    pub names_left_out: u64,
}

/// Checks, and groups, at most: further checks count as the last one, further groups are left out.
const NAMES_MAX: usize = 10_000;
/// Bytes of their names at most, and no more than a 128th of what the process may take: each is there several times.
const NAME_BYTES_MAX: usize = 16 << 20;
/// Bytes of the name of a check that is the first of all and fits nowhere.
const FIRST_NAME_MAX: usize = 1 << 10;

/// k6's own metrics are declared.
impl Default for Tally {
    fn default() -> Self {
        let mut tally = Self {
            metrics: Vec::with_capacity(BUILTIN.len()),
            by_name: BTreeMap::new(),
            checks: Vec::new(),
            check_places: HashMap::new(),
            last_check: 0,
            groups: Vec::new(),
            name_bytes: 0,
            names_left_out: 0,
        };
        for (name, kind, contains) in BUILTIN {
            tally.declare(name, *kind, *contains);
        }
        tally
    }
}

impl Tally {
    /// Declares a metric; one that is known already stays as it is. Gives its number.
    pub fn declare(&mut self, name: &str, kind: Kind, contains: Contains) -> MetricId {
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        let id = MetricId(self.metrics.len() as u32);
        self.metrics.push(Metric { contains, value: Value::new(kind), subs: Vec::new() });
        self.by_name.insert(name.to_owned(), id);
        id
    }

    /// How many metrics are declared.
    #[must_use]
    pub fn len(&self) -> usize {
        self.metrics.len()
    }

    /// Whether none is; k6's own always are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.metrics.is_empty()
    }

    /// Declares a submetric; returns whether its metric is known.
    pub fn declare_sub(&mut self, name: &str, selector: &str) -> bool {
        let Some(id) = self.by_name.get(name) else { return false };
        let metric = &mut self.metrics[id.0 as usize];
        if !metric.subs.iter().any(|sub| sub.selector == selector) {
            metric.subs.push(Submetric::new(selector, metric.value.kind()));
        }
        true
    }

    /// Adds a value to a declared metric and to those of its submetrics that its tags match.
    #[inline]
    pub fn add(&mut self, id: MetricId, value: f64, tags: &impl Tags) {
        let Some(metric) = self.metrics.get_mut(id.0 as usize) else { return };
        metric.value.add(value);
        if !metric.subs.is_empty() {
            metric.add_to_subs(value, tags);
        }
    }

    /// Forgets what was seen of a metric.
    pub fn forget(&mut self, id: MetricId) {
        let Some(metric) = self.metrics.get_mut(id.0 as usize) else { return };
        let kind = metric.value.kind();
        metric.value = Value::new(kind);
        metric.subs.iter_mut().for_each(|sub| sub.value = Value::new(kind));
    }

    /// Counts a check.
    pub fn check(&mut self, group: &str, name: &str, passed: bool) {
        let (passes, fails) = (u64::from(passed), u64::from(!passed));
        self.count_check(group, name, passes, fails);
    }

    fn count_check(&mut self, group: &str, name: &str, passes: u64, fails: u64) {
        // An iteration's checks mostly follow each other in the same order.
        let next = if self.last_check + 1 < self.checks.len() { self.last_check + 1 } else { 0 };
        let is = |check: &Check| equal(&*check.name, name) && equal(&*check.group, group);
        let is_next = self.checks.get(next).is_some_and(is);
        let at = if is_next { next } else { self.place_of_check(group, name) };
        self.last_check = at;
        self.checks[at].passes += passes;
        self.checks[at].fails += fails;
    }

    fn place_of_check(&mut self, group: &str, name: &str) -> usize {
        let known = self.check_places.get(group).and_then(|names| names.get(name));
        if let Some(at) = known {
            return *at;
        }
        let at = self.checks.len();
        if at == NAMES_MAX || !self.has_room_for(group.len() + name.len()) {
            self.names_left_out += 1;
            if at > 0 {
                return at - 1;
            }
            // What is shown of it tells which it was.
            let name = format!("{}…", &name[..name.floor_char_boundary(FIRST_NAME_MAX)]);
            self.checks.push(Check { group: String::new(), name, passes: 0, fails: 0 });
            return at;
        }
        self.name_bytes += group.len() + name.len();
        let (group, name) = (group.to_owned(), name.to_owned());
        self.check_places.entry(group.clone()).or_default().insert(name.clone(), at);
        self.checks.push(Check { group, name, passes: 0, fails: 0 });
        at
    }

    /// Notes that there is a group, and those around it.
    pub fn group(&mut self, path: &str) {
        if path.is_empty() || self.groups.iter().rev().any(|known| known == path) {
            return;
        }
        if self.groups.len() == NAMES_MAX || !self.has_room_for(path.len()) {
            self.names_left_out += 1;
            return;
        }
        if let Some((outer, _)) = path.rsplit_once("::") {
            self.group(outer);
        }
        self.name_bytes += path.len();
        self.groups.push(path.to_owned());
    }

    fn has_room_for(&self, bytes: usize) -> bool {
        self.name_bytes.saturating_add(bytes) <= stdx::within_memory(NAME_BYTES_MAX, 128)
    }

    /// Adds what another saw; metrics are the same by their names.
    pub fn merge(&mut self, other: &Self) {
        for (name, theirs) in other.metrics() {
            let id = self.declare(name, theirs.value.kind(), theirs.contains);
            let ours = &mut self.metrics[id.0 as usize];
            ours.value.merge(&theirs.value);
            for sub in &theirs.subs {
                match ours.subs.iter_mut().find(|known| known.selector == sub.selector) {
                    Some(known) => known.value.merge(&sub.value),
                    None => ours.subs.push(sub.clone()),
                }
            }
        }
        for check in &other.checks {
            self.count_check(&check.group, &check.name, check.passes, check.fails);
        }
        other.groups.iter().for_each(|path| self.group(path));
        self.names_left_out += other.names_left_out;
    }

    /// Every metric, in the order of the names.
    pub fn metrics(&self) -> impl Iterator<Item = (&str, &Metric)> {
        self.by_name.iter().map(|(name, id)| (name.as_str(), &self.metrics[id.0 as usize]))
    }

    /// The metric of this name.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.by_name.get(name).map(|id| &self.metrics[id.0 as usize])
    }

    /// A metric, or a submetric by its whole name `metric{tag:value}`.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Value> {
        match name.split_once('{') {
            None => self.metric(name).map(|metric| &metric.value),
            Some((metric, selector)) => {
                let selector = selector.strip_suffix('}')?;
                let subs = &self.metric(metric)?.subs;
                subs.iter().find(|sub| sub.selector == selector).map(|sub| &sub.value)
            }
        }
    }
}

impl From<Tally> for TallyParts {
    fn from(tally: Tally) -> Self {
        let of_sub = |sub: &Submetric| (sub.selector.clone(), sub.value.clone());
        let of_metric = |(name, metric): (&str, &Metric)| MetricParts {
            name: name.to_owned(),
            contains: metric.contains,
            value: metric.value.clone(),
            subs: metric.subs.iter().map(of_sub).collect(),
        };
        let metrics = tally.metrics().map(of_metric).collect();
        let of_check = |check: Check| (check.group, check.name, check.passes, check.fails);
        let checks = tally.checks.into_iter().map(of_check).collect();
        Self { metrics, checks, groups: tally.groups, names_left_out: tally.names_left_out }
    }
}

impl From<TallyParts> for Tally {
    fn from(parts: TallyParts) -> Self {
        let mut tally = Self::default();
        for MetricParts { name, contains, value, subs } in parts.metrics {
            let id = tally.declare(&name, value.kind(), contains);
            let metric = &mut tally.metrics[id.0 as usize];
            metric.value.replace(value);
            for (selector, value) in subs {
                let mut sub = Submetric::new(&selector, metric.value.kind());
                sub.value.replace(value);
                metric.subs.push(sub);
            }
        }
        for (group, name, passes, fails) in &parts.checks {
            tally.count_check(group, name, *passes, *fails);
        }
        parts.groups.iter().for_each(|path| tally.group(path));
        tally.names_left_out = parts.names_left_out;
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 42, F6: ten thousand names of half a megabyte each took gigabytes.
    #[test]
    fn names_are_bounded_by_their_bytes() {
        let mut tally = Tally::default();
        let long = "n".repeat(NAME_BYTES_MAX / 4);
        for number in 0..10 {
            tally.check("", &format!("{long}{number}"), true);
            tally.group(&format!("::{long}{number}"));
        }
        let bytes: usize = tally.checks.iter().map(|check| check.name.len()).sum();
        let bytes = bytes + tally.groups.iter().map(String::len).sum::<usize>();
        assert!(bytes <= NAME_BYTES_MAX && !tally.checks.is_empty(), "{bytes}");
        let passes: u64 = tally.checks.iter().map(|check| check.passes).sum();
        assert_eq!(passes, 10, "what has no name of its own counts all the same");
        let own = tally.checks.len() + tally.groups.len();
        assert_eq!(tally.names_left_out, 20 - own as u64);
        let mut first = Tally::default();
        first.check("", &"n".repeat(2 * NAME_BYTES_MAX), true);
        assert!(first.checks[0].name.len() < 2 * FIRST_NAME_MAX && first.checks[0].passes == 1);
        assert_eq!(Tally::from(TallyParts::from(tally.clone())), tally);
    }

    #[test]
    fn a_tally_arrives_as_it_was() {
        let mut tally = Tally::default();
        let own = tally.declare("own", Kind::Trend, Contains::Time);
        tally.declare_sub("own", "page:a");
        for (at, value) in [-3.5, 0.0, 1.25, 1e9].into_iter().enumerate() {
            tally.add(own, value, &[("page", "a")].as_slice());
            tally.add(MetricId::VUS, at as f64, &());
        }
        tally.check("::a::b", "holds", true);
        tally.check("::a::b", "holds", false);
        tally.group("::a::b");
        let back = Tally::from(TallyParts::from(tally.clone()));
        for name in ["own", "own{page:a}", "vus"] {
            assert_eq!(back.value(name), tally.value(name), "{name}");
        }
        assert_eq!((back.checks, back.groups), (tally.checks, tally.groups));
    }

    #[test]
    fn a_value_of_another_type_is_left_out() {
        let value = Value::Rate { passes: 1, total: 2 };
        let (name, contains) = ("http_reqs".to_owned(), Contains::Default);
        let metrics = vec![MetricParts { name, contains, value, subs: Vec::new() }];
        let back = Tally::from(TallyParts {
            metrics,
            checks: Vec::new(),
            names_left_out: 0,
            groups: Vec::new(),
        });
        assert_eq!(back.value("http_reqs"), Some(&Value::new(Kind::Counter)));
    }

    impl Tags for &[(&str, &str)] {
        fn tag(&self, name: &str) -> Option<Cow<'_, str>> {
            self.iter().find(|(known, _)| *known == name).map(|(_, value)| Cow::Borrowed(*value))
        }
    }

    #[test]
    fn samples_count_in_the_submetrics_they_match() {
        let mut tally = Tally::default();
        let t = tally.declare("t", Kind::Trend, Contains::Time);
        assert_eq!(t, MetricId::custom(0));
        assert!(tally.declare_sub("t", "status:200, method:\"GET\""));
        assert!(!tally.declare_sub("unknown", "a:b"));
        let tags: &[(&str, &str)] = &[("status", "200"), ("method", "GET")];
        tally.add(t, 1.0, &tags);
        tally.add(t, 2.0, &[("status", "200")].as_slice());
        tally.add(t, 3.0, &());
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
                let id = tally.declare(name, kind, Contains::Default);
                (from..upto).for_each(|n| tally.add(id, f64::from(n % 7), &()));
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
