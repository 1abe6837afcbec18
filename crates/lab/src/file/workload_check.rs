//! The command lines of workloads: brunt must accept them, filled with the values of each variant.

use std::path::Path;

use cli::nearest;
use stdx::Nanos;

use super::check::{ALWAYS, CABLE};
use super::command_family::CommandFamily;
use super::command_line::{self, Placeholders};
use super::model::Variant;
use super::toml_reader::Table;
use super::toml_values::SpannedText;

/// The command lines that brunt accepts, as the crate above knows them.
#[derive(Clone, Debug)]
pub struct CommandLines {
    /// Names of the other tools whose command lines brunt reads.
    pub tools: Vec<&'static str>,
    /// Checks a command line without reading or opening anything; the error is one line.
    pub validate: fn(Vec<String>) -> Result<(), String>,
}

#[cfg(test)]
impl CommandLines {
    /// Accepts the arguments of every command.
    pub(crate) fn for_tests() -> Self {
        Self { tools: vec!["ab", "hey", "wrk"], validate: |_| Ok(()) }
    }
}

impl CommandLines {
    /// The words of a workload's command line, and its family.
    pub(super) fn parse(
        &self,
        table: &Table<'_, '_>,
        key: &str,
        line: &SpannedText,
    ) -> Option<(Vec<String>, CommandFamily)> {
        let Some(words) = command_line::split(&line.text) else {
            table.problem(key, line.at, "has a quote that is not closed");
            return None;
        };
        match CommandFamily::of(&words, &self.tools) {
            Ok(family) => Some((words, family)),
            Err(problem) => {
                table.problem(key, line.at, problem);
                None
            }
        }
    }
}

/// Checks the workloads of a study against its variants.
pub(super) struct WorkloadCheck<'a> {
    pub(super) commands: &'a CommandLines,
    pub(super) variants: &'a [Variant],
}

/// A word of a command line, or the host of its URL, begins with this placeholder: no command has such a one of its own.
fn is_address(line: &str, name: &str) -> bool {
    let placeholder = format!("{{{name}}}");
    let words = command_line::split(line).unwrap_or_default();
    words
        .iter()
        .any(|word| word.starts_with(&placeholder) || word.contains(&format!("://{placeholder}")))
}

impl WorkloadCheck<'_> {
    /// The variants that workloads name exist, and have values for all placeholders.
    pub(super) fn check(&self, tables: &[Table<'_, '_>]) {
        for table in tables {
            let only = table.words("only");
            for name in only.iter().filter(|name| !self.is_variant(&name.text)) {
                self.unknown_variant(table, "only", name.at, &name.text);
            }
            for text in table.words("expect") {
                let Ok(ordering) = text.text.parse::<study::plan::Ordering>() else { continue };
                for name in [&ordering.first, &ordering.second] {
                    if !self.is_variant(name) {
                        self.unknown_variant(table, "expect", text.at, name);
                    }
                }
            }
            let is_for = |variant: &&Variant| {
                only.is_empty() || only.iter().any(|name| name.text == variant.name)
            };
            for key in ["command", "quick"] {
                let Some(line) = table.text_again(key) else { continue };
                let variants = self.variants.iter().filter(is_for);
                let variants: Vec<&Variant> =
                    variants.filter(|one| self.has_values(table, key, &line, one)).collect();
                self.validate(table, key, &line, &variants);
            }
        }
    }

    fn is_variant(&self, name: &str) -> bool {
        self.variants.iter().any(|one| one.name == name)
    }

    fn unknown_variant(&self, table: &Table<'_, '_>, key: &str, at: usize, name: &str) {
        let near = nearest(name, self.variants.iter().map(|variant| variant.name.as_str()));
        let hint = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
        let name = name.escape_debug();
        table.problem(key, at, format!("no variant is called \"{name}\"{hint}"));
    }

    /// A placeholder that some variant has a value for must have one in this variant, and none may be nearly the name of one.
    /// Others belong to the command, such as `{user}` of cable. Returns whether there is no problem.
    fn has_values(
        &self,
        table: &Table<'_, '_>,
        key: &str,
        line: &SpannedText,
        variant: &Variant,
    ) -> bool {
        let has = |one: &Variant, name: &str| one.values.iter().any(|(known, _)| known == name);
        let known =
            || ALWAYS.into_iter().chain(variant.values.iter().map(|(name, _)| name.as_str()));
        let mut has_all = true;
        for name in command_line::placeholders(&line.text) {
            if known().chain(CABLE).any(|known| known == name) {
                continue;
            }
            let text = if self.variants.iter().any(|one| has(one, name)) {
                format!("{{{name}}} stands for nothing in variant \"{}\"", variant.name)
            } else if let Some(near) = nearest(name, known()) {
                format!("{{{name}}} stands for nothing (did you mean {{{near}}}?)")
            } else if is_address(&line.text, name) {
                format!("{{{name}}} stands for nothing: no variant has it among its values")
            } else {
                continue;
            };
            has_all = false;
            table.problem(key, line.at, text);
        }
        has_all
    }

    /// brunt accepts the command line, filled for each of these variants.
    fn validate(
        &self,
        table: &Table<'_, '_>,
        key: &str,
        line: &SpannedText,
        variants: &[&Variant],
    ) {
        let Some(words) = command_line::split(&line.text) else { return };
        // A line of no family is a problem that is known.
        let Ok(family) = CommandFamily::of(&words, &self.commands.tools) else { return };
        let words = family.measured(&words, Path::new("results.arrow"), Nanos::ZERO);
        let problem = |variant: &&Variant| {
            // The folders are not known yet; their names do not matter to a command line.
            let values = ["study", "out", "run"]
                .into_iter()
                .fold(Placeholders::default(), |values, name| values.with(name, format!("/{name}")))
                .with_values(&variant.values)
                .with("generator", "1");
            let text = (self.commands.validate)(values.fill_all(&words)).err()?;
            Some((variant.name.clone(), text))
        };
        let found: Vec<(String, String)> = variants.iter().filter_map(problem).collect();
        let everywhere =
            found.len() == variants.len() && found.windows(2).all(|two| two[0].1 == two[1].1);
        for (variant, text) in &found {
            let of =
                if everywhere { String::new() } else { format!(" (for variant \"{variant}\")") };
            table.problem(key, line.at, format!("{text}{of}"));
        }
    }
}
