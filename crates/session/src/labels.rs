//! The labels that rows name their targets by.

use std::borrow::Cow;
use std::sync::Arc;

use metrics::{By, PlannedLabels, TargetTable};
use stdx::{TextList, shown_url};
use workload::{Plan, TargetTexts};

/// The labels of a plan's targets, in the order of the targets; passwords in URLs are left out, also where such a URL is a name.
/// The texts are the plan's own where there is nothing to leave out.
#[must_use]
pub fn target_labels(plan: &Plan) -> TargetTable {
    let TargetTexts { urls, names, methods, method_of } = plan.targets.list().texts();
    let attack = stdx::shown_text(&plan.name).into_owned();
    let (urls, names) = (shown(urls), shown(names));
    TargetTable::from(PlannedLabels { attack, urls, names, methods, method_of })
}

/// URLs without their passwords.
fn shown(texts: Arc<TextList>) -> Arc<TextList> {
    let is_shown = |text: &str| matches!(shown_url(text), Cow::Borrowed(shown) if shown == text);
    if texts.iter().all(is_shown) {
        return texts;
    }
    let mut list = TextList::default();
    texts.iter().for_each(|text| list.push(&shown_url(text)));
    Arc::new(list)
}

/// By what a view groups requests: by name where targets have names, and in scripts, whose requests have names and no targets.
pub(crate) fn grouping(targets: &TargetTable) -> By {
    let has_names = targets.iter().any(|label| !label.name.is_empty());
    if has_names || targets.is_empty() { By::Name } else { By::Target }
}
