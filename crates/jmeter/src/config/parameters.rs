//! User parameters: variables by the number of the thread; and arguments taken from what an extractor found.

use jmx::{Property, Scope as _};

use crate::plan::node::Part;
use crate::thread::scope::Thread;

/// Before a sampler: those that are not set once a round.
pub(crate) fn before(part: &Part, thread: &mut Thread) {
    if !is_per_round(part, thread) {
        set(part, thread);
    }
}

/// At the beginning of a round: those that are set once in it.
pub(crate) fn begin_round(part: &Part, thread: &mut Thread) {
    if is_per_round(part, thread) {
        set(part, thread);
    }
}

fn is_per_round(part: &Part, thread: &mut Thread) -> bool {
    thread.property_text(&part.element, "UserParameters.per_iteration").trim() == "true"
}

/// Sets the variables to the column of this thread; after the last column the first is next.
fn set(part: &Part, thread: &mut Thread) {
    let columns = part.element.properties.list("UserParameters.thread_values");
    let names: Vec<String> = part
        .element
        .properties
        .texts("UserParameters.names")
        .map(|name| name.evaluate(thread))
        .collect();
    if columns.is_empty() {
        return;
    }
    let at = (thread.number.saturating_sub(1) as usize) % columns.len();
    let Property::List(values) = &columns[at] else { return };
    for (name, value) in names.iter().zip(values) {
        if let Property::Text(text) = value {
            let value = text.evaluate(thread);
            thread.set_variable(name, value);
        }
    }
}

/// The arguments that an extractor of regular expressions found: names in one group, values in another.
pub(crate) fn from_matches(part: &Part, thread: &mut Thread) {
    let mut word = |name: &str| thread.property_text(&part.element, name);
    let reference = word("RegExUserParameters.regex_ref_name");
    let name_group = word("RegExUserParameters.param_names_gr_nr");
    let value_group = word("RegExUserParameters.param_values_gr_nr");
    let count = thread.variable(&format!("{reference}_matchNr"));
    let count: usize = count.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    thread.replacements = (1..=count.min(10_000))
        .filter_map(|at| {
            let name = thread.variable(&format!("{reference}_{at}_g{}", name_group.trim()))?;
            let value = thread.variable(&format!("{reference}_{at}_g{}", value_group.trim()))?;
            Some((name, value))
        })
        .collect();
}
