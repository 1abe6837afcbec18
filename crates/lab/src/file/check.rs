//! What must hold between the parts of a study: names are unique and can name folders, placeholders have values.

use cli::nearest;

use super::command_line;
use super::model::Variant;
use super::toml_reader::Table;
use super::toml_values::SpannedText;

/// The problem of a name that cannot name a folder.
pub(crate) const NAME: &str = "is no name for a folder (letters, digits, and . _ - within)";
/// Characters of a name, at most.
const NAME_MAX: usize = 60;
/// The placeholders that every run has.
pub(crate) const ALWAYS: [&str; 5] = ["study", "out", "run", "generator", "brunt"];
/// The placeholders that exist before any run: those of requirements.
pub(crate) const EARLY: [&str; 1] = ["study"];
/// The placeholders in the values of a variant, which all load generators share.
const IN_VALUES: [&str; 3] = ["study", "out", "run"];
/// The placeholders that `cable` replaces itself.
pub(crate) const CABLE: [&str; 2] = ["user", "token"];

/// The text can name a folder.
#[must_use]
pub(crate) fn is_name(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let starts = text.chars().next().is_some_and(|first| first.is_ascii_alphanumeric());
    starts && text.len() <= NAME_MAX && text.chars().all(inside)
}

/// Checks that names are unique and can name folders.
pub(crate) fn names(tables: &[Table<'_, '_>]) {
    let mut seen: Vec<String> = Vec::new();
    for table in tables {
        let Some(name) = table.text_again("name") else { continue };
        if !is_name(&name.text) {
            table.problem("name", name.at, NAME);
        } else if seen.contains(&name.text) {
            table.problem("name", name.at, "is the name of another one too");
        }
        seen.push(name.text);
    }
}

/// Reads `values`. None may have the name of a placeholder of every run.
pub(crate) fn values(table: &Table<'_, '_>) -> Vec<(String, String)> {
    let values = table.pairs("values");
    for (name, text) in &values {
        let key = format!("values.{}", name.escape_debug());
        if ALWAYS.contains(&name.as_str()) {
            table.problem(&key, text.at, format!("{{{name}}} stands for something already"));
        } else if command_line::placeholders(&format!("{{{name}}}")).next() != Some(name.as_str()) {
            table.problem(&key, text.at, "is no name for a placeholder (a-z, 0-9 and _)");
        }
    }
    placeholders(table, values.iter().map(|(_, text)| text), (&IN_VALUES, &CABLE));
    values.into_iter().map(|(name, text)| (name, text.text)).collect()
}

/// The names of the values that can be replaced before any run.
pub(crate) fn available_early(values: &[(String, String)]) -> Vec<&str> {
    let is_early = |text: &str| command_line::placeholders(text).all(|name| EARLY.contains(&name));
    let early = values.iter().filter(|(_, text)| is_early(text));
    early.map(|(name, _)| name.as_str()).collect()
}

/// Checks that each placeholder of a variant is one of `always`, or the name of a value in `known`.
pub(crate) fn placeholders<'p>(
    table: &Table<'_, '_>,
    texts: impl IntoIterator<Item = &'p SpannedText>,
    (always, known): (&[&str], &[&str]),
) {
    for text in texts {
        for name in command_line::placeholders(&text.text) {
            if always.contains(&name) || known.contains(&name) {
                continue;
            }
            let near = nearest(name, always.iter().chain(known).copied());
            let hint = near.map_or(String::new(), |near| format!(" (did you mean {{{near}}}?)"));
            table.problem_here(text.at, format!("{{{name}}} stands for nothing{hint}"));
        }
    }
}

/// Checks that every variant has the values in what the monitor watches.
pub(crate) fn watched(
    table: &Table<'_, '_>,
    key: &str,
    texts: &[SpannedText],
    variants: &[Variant],
) {
    for text in texts {
        for name in command_line::placeholders(&text.text).filter(|name| !ALWAYS.contains(name)) {
            let lacks = |one: &&Variant| one.values.iter().all(|(known, _)| known != name);
            let without: Vec<&Variant> = variants.iter().filter(lacks).collect();
            let Some(first) = without.first() else { continue };
            let values = variants.iter().flat_map(|one| &one.values).map(|(known, _)| &known[..]);
            let problem = if without.len() < variants.len() {
                format!("{{{name}}} stands for nothing in variant \"{}\"", first.name)
            } else if let Some(near) = nearest(name, ALWAYS.into_iter().chain(values)) {
                format!("{{{name}}} stands for nothing (did you mean {{{near}}}?)")
            } else {
                format!("{{{name}}} stands for nothing")
            };
            table.problem(key, text.at, problem);
        }
    }
}
