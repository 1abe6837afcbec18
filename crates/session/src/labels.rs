//! The labels that rows name their targets by.

use metrics::{By, TargetLabel, TargetTable};
use workload::Plan;

/// The labels of a plan's targets, in the order of the targets; passwords in URLs are left out, also where such a URL is a name.
#[must_use]
pub fn target_labels(plan: &Plan) -> TargetTable {
    let label = |target: &workload::Target| TargetLabel {
        attack: stdx::shown_text(&plan.name).into_owned(),
        method: target.method.clone(),
        url: stdx::shown_url(&target.url).into_owned(),
        name: stdx::shown_url(&target.name).into_owned(),
        tags: String::new(),
    };
    TargetTable { labels: plan.targets.list().iter().map(label).collect() }
}

/// By what a view groups requests: by name where targets have names, and in scripts, whose requests have names and no targets.
pub(crate) fn grouping(targets: &TargetTable) -> By {
    let has_names = targets.labels.iter().any(|label| !label.name.is_empty());
    if has_names || targets.labels.is_empty() { By::Name } else { By::Target }
}
