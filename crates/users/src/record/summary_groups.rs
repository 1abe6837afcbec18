//! `SummaryGroups`: tallies of each scenario and each group, beside the tally of the whole test. k6's full summary has them.

use std::collections::BTreeMap;

use metrics::tally::{MetricId, Tags, Tally};
use stdx::MemoryShare;

use crate::host::execution::Stage;
use crate::pool::plan::VuPoolPlan;
use crate::record::vu_stats::{GroupTallies, merge_part};

/// Groups beyond this have no figures of their own: they count in the whole alone.
const PARTS_MAX: usize = 1_000;
/// What a metric of a part takes: its values, a few bins of a histogram among them, and once more while parts are merged.
const METRIC_BYTES: usize = 4 << 10;
/// The scenario that k6 does not name, since a script without scenarios has no other.
const UNNAMED: &str = "default";

/// Counts samples by scenario and group.
pub(crate) struct SummaryGroups {
    /// A tally in which nothing is counted yet.
    empty: Tally,
    /// The scenarios' names, each with its groups, by their number.
    scenarios: Vec<(String, BTreeMap<String, Tally>)>,
    count: usize,
    /// What is full of parts takes no more.
    is_full: bool,
    memory: MemoryShare,
}

/// Which part samples belong to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupKey<'a> {
    /// The scenario's number.
    pub(crate) work: usize,
    /// The group's path; empty outside of any.
    pub(crate) group: &'a str,
    /// The check, and whether it held.
    pub(crate) check: Option<(&'a str, bool)>,
}

impl SummaryGroups {
    /// `None` where the plan does not want them.
    pub(crate) fn new(plan: &VuPoolPlan) -> Option<Self> {
        let name = |name: &String| match plan.work.stage {
            Stage::Iteration if name != UNNAMED => name.clone(),
            _ => String::new(),
        };
        let scenarios = plan.work.scenarios.iter().map(|of| (name(&of.name), BTreeMap::new()));
        plan.samples.parts.then(|| Self {
            empty: plan.samples.tally.clone(),
            scenarios: scenarios.collect(),
            count: 0,
            is_full: false,
            memory: MemoryShare::default(),
        })
    }

    /// Counts values in the scenario and in the very group that they are of; those around it are independent, as k6 has it.
    pub(crate) fn add(&mut self, of: GroupKey<'_>, values: &[(MetricId, f64)], tags: &impl Tags) {
        let is_named = !self.scenarios[of.work].0.is_empty();
        let paths = [is_named.then_some(""), Some(of.group).filter(|group| !group.is_empty())];
        for path in paths.into_iter().flatten() {
            let Some(tally) = self.part(of.work, path) else { continue };
            for (metric, value) in values {
                tally.add(*metric, *value, tags);
            }
            if let Some((name, passed)) = of.check {
                tally.check("", name, passed);
            }
        }
    }

    fn part(&mut self, work: usize, path: &str) -> Option<&mut Tally> {
        if !self.scenarios[work].1.contains_key(path) {
            let bytes = (self.count + 1) * self.empty.len() * METRIC_BYTES;
            self.is_full |= self.count == PARTS_MAX || self.memory.resize(bytes).is_err();
            if self.is_full {
                return None;
            }
            // The groups around it are named in the summary, though they may have nothing of their own.
            if let Some((outer, _)) = path.rsplit_once("::").filter(|(outer, _)| !outer.is_empty())
            {
                self.part(work, outer)?;
            }
            self.count += 1;
            let empty = self.empty.clone();
            self.scenarios[work].1.insert(path.to_owned(), empty);
        }
        self.scenarios[work].1.get_mut(path)
    }

    /// All that was counted.
    pub(crate) fn tallies(&self) -> GroupTallies {
        let parts = self.scenarios.iter().flat_map(|(scenario, groups)| {
            groups.iter().map(|(path, tally)| ((scenario.clone(), path.clone()), tally.clone()))
        });
        let mut tallies = GroupTallies::new();
        parts.for_each(|(at, tally)| merge_part(&mut tallies, at, &tally));
        tallies
    }
}
