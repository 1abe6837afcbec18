//! `-by`: each input of a plot as several series, one for each name or value of a tag.

use cli::{CommandError, Interrupts, usage_error};
use metrics::{Batch, By, Groups, Selector, UNNAMED, UNTAGGED};
use results::{Item, Reader, Selection};

use super::operand::Operand;
use crate::dialect::ReadRules;

/// Series of one input, at most: the eye does not follow more of them in one picture.
const SERIES_MAX: usize = 30;

/// The operands with one for each name or value of the tag; inputs are read once to find these.
///
/// # Errors
/// An input cannot be read twice, is damaged, or has too many names or values; or requests are not to be parted so.
pub(super) fn parted(
    operands: Vec<Operand>,
    by: Option<&By>,
    rules: &ReadRules,
) -> Result<Vec<Operand>, CommandError> {
    let Some(by) = by else { return Ok(operands) };
    if !matches!(by, By::Name | By::Tag(_)) {
        return Err(usage_error("-by takes name, scenario, group or tag:NAME here"));
    }
    let mut all = Vec::new();
    for operand in operands {
        if cli::input::is_stdin(&operand.file) || operand.file == "stdin" {
            return Err(usage_error("-by reads its input twice: give files"));
        }
        let keys = keys(&operand, by, rules)?;
        if keys.len() > SERIES_MAX {
            return Err(usage_error(format!(
                "{operand}: -by makes {} series of it, and {SERIES_MAX} are the most",
                keys.len()
            )));
        }
        all.extend(keys.into_iter().map(|key| of_key(&operand, by, key)));
    }
    Ok(all)
}

/// The names or values of one input, in the order they were first seen. Requests without one are named in a warning.
fn keys(operand: &Operand, by: &By, rules: &ReadRules) -> Result<Vec<String>, CommandError> {
    let interrupts = Interrupts::watch()?;
    let file = std::slice::from_ref(&operand.file);
    let inputs = cli::open_results(file, &interrupts, cli::INTERRUPT_GRACE)?;
    let unreadable = |error| (rules.unreadable)(&error);
    let mut reader = Reader::open(inputs).map_err(unreadable)?;
    let mut selection = Selection::of(&operand.selector);
    let (mut batch, mut groups) = (Batch::default(), Groups::new(by.clone()));
    while let Some(item) = reader.next(&mut batch).map_err(unreadable)? {
        if item == Item::Hits {
            if let Some(selection) = &mut selection {
                selection.retain(&mut batch, reader.targets());
            }
            groups.add(&batch, reader.targets());
        }
    }
    let is_key = |key: &str| key != UNNAMED && key != UNTAGGED;
    for (_, group) in groups.list().iter().filter(|(key, _)| !is_key(key)) {
        let requests = stdx::counted(group.hits, "request");
        cli::eprint_line(&format!("brunt plot: {operand}: {requests} without one left out (-by)"));
    }
    let keys = groups.list().iter().map(|(key, _)| key.clone());
    Ok(keys.filter(|key| is_key(key)).collect())
}

/// The requests of an operand with this name or value.
fn of_key(operand: &Operand, by: &By, key: String) -> Operand {
    let label = match operand.label.as_str() {
        "" => key.clone(),
        label => format!("{label} {key}"),
    };
    let mut selector = operand.selector.clone();
    match by {
        By::Tag(tag) => selector.tags.push((tag.clone(), key)),
        _ => selector = Selector { name: Some(key), ..selector },
    }
    Operand { label, selector, ..operand.clone() }
}
