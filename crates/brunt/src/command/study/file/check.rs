//! What must hold between the parts of a study: names that are told apart and make folders, placeholders that stand for
//! something, variants that there are.

use std::path::Path;

use cli::nearest;
use stdx::Nanos;

use super::sheet::{Placed, Table};
use super::{Family, Filling, Variant, words};
use crate::command::study::command_lines::CommandLines;

/// What a name must be, since folders are named after it.
pub(super) const NAME: &str = "is no name for a folder (letters, digits, and . _ - within)";
/// Characters of a name, at most.
const NAME_MAX: usize = 60;
/// What placeholders stand for in every variant.
pub(super) const ALWAYS: [&str; 4] = ["study", "out", "run", "generator"];
/// The same where no run is near: in what a variant requires.
pub(super) const BEFOREHAND: [&str; 1] = ["study"];
/// The same in its values, which all load generators share.
const IN_VALUES: [&str; 3] = ["study", "out", "run"];
/// Those that `cable` fills itself.
const CABLES: [&str; 2] = ["user", "token"];

/// It can name a folder.
#[must_use]
pub(super) fn is_name(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let starts = text.chars().next().is_some_and(|first| first.is_ascii_alphanumeric());
    starts && text.len() <= NAME_MAX && text.chars().all(inside)
}

/// Names that make folders, each once.
pub(super) fn names(tables: &[Table<'_, '_>]) {
    let mut seen: Vec<String> = Vec::new();
    for table in tables {
        let Some(name) = table.text_again("name") else { continue };
        if !is_name(&name.text) {
            table.wrong("name", name.at, NAME);
        } else if seen.contains(&name.text) {
            table.wrong("name", name.at, "is the name of another one too");
        }
        seen.push(name.text);
    }
}

/// `values`, none of them called as a placeholder that is there anyway, and filled with what there is before them.
pub(super) fn values(table: &Table<'_, '_>) -> Vec<(String, String)> {
    let values = table.pairs("values");
    for (name, text) in &values {
        let key = format!("values.{}", name.escape_debug());
        if ALWAYS.contains(&name.as_str()) {
            table.wrong(&key, text.at, format!("{{{name}}} stands for something already"));
        } else if words::placeholders(&format!("{{{name}}}")).next() != Some(name.as_str()) {
            table.wrong(&key, text.at, "is no name for a placeholder (a-z, 0-9 and _)");
        }
    }
    filled(table, values.iter().map(|(_, text)| text), (&IN_VALUES, &CABLES));
    values.into_iter().map(|(name, text)| (name, text.text)).collect()
}

/// The names of the values that stand for something where no run is near.
pub(super) fn beforehand(values: &[(String, String)]) -> Vec<&str> {
    let is_there = |text: &str| words::placeholders(text).all(|name| BEFOREHAND.contains(&name));
    let there = values.iter().filter(|(_, text)| is_there(text));
    there.map(|(name, _)| name.as_str()).collect()
}

/// Placeholders of a variant stand for something: one of `always`, or of the values that are `known`.
pub(super) fn filled<'p>(
    table: &Table<'_, '_>,
    texts: impl IntoIterator<Item = &'p Placed>,
    (always, known): (&[&str], &[&str]),
) {
    for text in texts {
        for name in words::placeholders(&text.text) {
            if always.contains(&name) || known.contains(&name) {
                continue;
            }
            let meant = nearest(name, always.iter().chain(known).copied());
            let meant =
                meant.map_or(String::new(), |meant| format!(" (did you mean {{{meant}}}?)"));
            table.wrong_here(text.at, format!("{{{name}}} stands for nothing{meant}"));
        }
    }
}

/// What is watched beside every variant is filled with values that each of them has.
pub(super) fn watched(table: &Table<'_, '_>, key: &str, texts: &[Placed], variants: &[Variant]) {
    for text in texts {
        for name in words::placeholders(&text.text).filter(|name| !ALWAYS.contains(name)) {
            let lacks = |one: &&Variant| one.values.iter().all(|(known, _)| known != name);
            let without: Vec<&Variant> = variants.iter().filter(lacks).collect();
            let Some(first) = without.first() else { continue };
            let values = variants.iter().flat_map(|one| &one.values).map(|(known, _)| &known[..]);
            let nothing = if without.len() < variants.len() {
                format!("{{{name}}} stands for nothing in variant \"{}\"", first.name)
            } else if let Some(meant) = nearest(name, ALWAYS.into_iter().chain(values)) {
                format!("{{{name}}} stands for nothing (did you mean {{{meant}}}?)")
            } else {
                format!("{{{name}}} stands for nothing")
            };
            table.wrong(key, text.at, nothing);
        }
    }
}

/// A workload's command line, as words, and what it is.
pub(super) fn command(
    table: &Table<'_, '_>,
    key: &str,
    line: &Placed,
    lines: &CommandLines,
) -> Option<(Vec<String>, Family)> {
    let Some(words) = words::split(&line.text) else {
        table.wrong(key, line.at, "has a quote that is not closed");
        return None;
    };
    match Family::of(&words, &lines.tools) {
        Ok(family) => Some((words, family)),
        Err(wrong) => {
            table.wrong(key, line.at, wrong);
            None
        }
    }
}

/// Workloads name variants that there are, and fill their placeholders with values that each of these has.
pub(super) fn workloads(tables: &[Table<'_, '_>], variants: &[Variant], lines: &CommandLines) {
    for table in tables {
        let only = table.words("only");
        for name in only.iter().filter(|name| !variants.iter().any(|one| one.name == name.text)) {
            unknown(table, "only", name.at, &name.text, variants);
        }
        for text in table.words("expect") {
            let Ok(ordering) = text.text.parse::<study::plan::Ordering>() else { continue };
            for name in [&ordering.first, &ordering.second] {
                if !variants.iter().any(|one| one.name == **name) {
                    unknown(table, "expect", text.at, name, variants);
                }
            }
        }
        let is_for = |variant: &&Variant| {
            only.is_empty() || only.iter().any(|name| name.text == variant.name)
        };
        for key in ["command", "quick"] {
            let Some(line) = table.text_again(key) else { continue };
            let here = variants.iter().filter(is_for);
            let here: Vec<&Variant> =
                here.filter(|one| valued(table, key, &line, one, variants)).collect();
            accepted((table, key, &line), &here, lines);
        }
    }
}

fn unknown(table: &Table<'_, '_>, key: &str, at: usize, name: &str, variants: &[Variant]) {
    let meant = nearest(name, variants.iter().map(|variant| variant.name.as_str()));
    let meant = meant.map_or(String::new(), |meant| format!(" (did you mean {meant}?)"));
    table.wrong(key, at, format!("no variant is called \"{}\"{meant}", name.escape_debug()));
}

/// A placeholder that some variant has a value for must have one here, and none may be nearly one that has. Others are the
/// command's own, such as cable's `{user}`. Gives whether all is well.
fn valued(
    table: &Table<'_, '_>,
    key: &str,
    line: &Placed,
    here: &Variant,
    all: &[Variant],
) -> bool {
    let has = |variant: &Variant, name: &str| variant.values.iter().any(|(known, _)| known == name);
    let known = || ALWAYS.into_iter().chain(here.values.iter().map(|(name, _)| name.as_str()));
    let mut well = true;
    for name in words::placeholders(&line.text) {
        if known().chain(CABLES).any(|known| known == name) {
            continue;
        }
        let text = if all.iter().any(|one| has(one, name)) {
            format!("{{{name}}} stands for nothing in variant \"{}\"", here.name)
        } else if let Some(meant) = nearest(name, known()) {
            format!("{{{name}}} stands for nothing (did you mean {{{meant}}}?)")
        } else {
            continue;
        };
        well = false;
        table.wrong(key, line.at, text);
    }
    well
}

/// The command line, filled for each of these variants, is one that brunt would take, as far as its words tell.
fn accepted(
    (table, key, line): (&Table<'_, '_>, &str, &Placed),
    here: &[&Variant],
    lines: &CommandLines,
) {
    let Some(words) = words::split(&line.text) else { return };
    // What no family is of was said before.
    let Ok(family) = Family::of(&words, &lines.tools) else { return };
    let words = family.measured(&words, Path::new("results.arrow"), Nanos::ZERO);
    let problem = |variant: &&Variant| {
        // The folders are not known yet; what they are called is all the same to a command line.
        let filling = ["study", "out", "run"]
            .into_iter()
            .fold(Filling::default(), |filling, name| filling.with(name, format!("/{name}")))
            .with_values(&variant.values)
            .with("generator", "1");
        let text = (lines.validate)(filling.fill_all(&words)).err()?;
        Some((variant.name.clone(), text))
    };
    let found: Vec<(String, String)> = here.iter().filter_map(problem).collect();
    let everywhere = found.len() == here.len() && found.windows(2).all(|two| two[0].1 == two[1].1);
    for (variant, text) in &found {
        let of = if everywhere { String::new() } else { format!(" (for variant \"{variant}\")") };
        table.wrong(key, line.at, format!("{text}{of}"));
    }
}
