//! Postman collections 2.0 and 2.1: folders as groups, variables, inherited credentials, and what simple scripts set, send and test.
//! Saved responses are left out, and scripts are never copied.

mod auth;
mod body;
mod folder;
mod request;
mod url;
mod value;

use serde_json::Value;

pub(crate) use body::graphql_text;
pub(crate) use url::with_scheme;

use self::folder::Folder;
use self::value::{text, value_text};
use crate::snippet::{self, Phase};
use crate::variables::Variables;
use crate::{Exchange, Group, Import, ImportError, Input, Kind, Place, Step};

/// Reads a collection.
pub(crate) fn import(input: &Input<'_>) -> Result<Import, ImportError> {
    let place = input.place(0);
    let text = input.text.trim_start_matches('\u{feff}');
    let root: Value = serde_json::from_str(text)
        .map_err(|source| ImportError::NotJson { place: input.place(source.line()), source })?;
    let collection = root.get("collection").filter(|inner| inner.is_object()).unwrap_or(&root);
    if collection.get("item").is_none() {
        return Err(ImportError::Missing { place, field: "item", kind: Kind::Postman });
    }
    let mut walk = Walk {
        place,
        variables: Variables::default(),
        import: Import {
            inputs: vec![(input.name.to_owned(), Kind::Postman)],
            ..Import::default()
        },
    };
    walk.give(collection.get("variable"));
    walk.give_environment(input.environment)?;
    let top = Folder { names: Vec::new(), auth: None, scripts: Vec::new(), behaviour: Vec::new() };
    walk.folder(collection, &top, 0);
    walk.note_variables();
    Ok(walk.import)
}

/// A walk through the collection in the order of its requests, for what one sets the next may use.
struct Walk {
    place: Place,
    variables: Variables,
    import: Import,
}

impl Walk {
    /// Takes variables as collections and folders have them.
    fn give(&mut self, variables: Option<&Value>) {
        for variable in variables.and_then(Value::as_array).into_iter().flatten() {
            let is_off = variable.get("disabled") == Some(&Value::Bool(true));
            let name = text(variable, "key").or_else(|| text(variable, "id"));
            if let (Some(name), false) = (name, is_off) {
                self.variables.give(name, &value_text(variable.get("value")));
            }
        }
    }

    fn give_environment(&mut self, environment: Option<&str>) -> Result<(), ImportError> {
        let Some(content) = environment else { return Ok(()) };
        let place = Place::new("the environment", 0);
        let root: Value = serde_json::from_str(content.trim_start_matches('\u{feff}'))
            .map_err(|source| ImportError::NotJson { place, source })?;
        let root = root.get("environment").unwrap_or(&root);
        for variable in root.get("values").and_then(Value::as_array).into_iter().flatten() {
            let is_on = variable.get("enabled") != Some(&Value::Bool(false));
            if let (Some(name), true) = (text(variable, "key"), is_on) {
                self.variables.give(name, &value_text(variable.get("value")));
            }
        }
        Ok(())
    }

    fn folder(&mut self, folder: &Value, outer: &Folder<'_>, depth: usize) {
        let inner = outer.with(folder);
        for item in folder.get("item").and_then(Value::as_array).into_iter().flatten() {
            if item.get("item").is_some() {
                if depth >= crate::DEPTH_MAX {
                    self.import
                        .note(self.place.clone(), "folders deeper than the bound are left out");
                    continue;
                }
                let mut named = inner.clone();
                named.names.push(text(item, "name").unwrap_or("folder"));
                self.give(item.get("variable"));
                self.folder(item, &named, depth + 1);
            } else if item.get("request").is_some() {
                self.item(item, &inner.with(item));
            }
        }
    }

    fn item(&mut self, item: &Value, folder: &Folder<'_>) {
        let name = text(item, "name").unwrap_or("request");
        let mut exchange =
            Exchange { place: self.place.clone(), name: name.to_owned(), ..Exchange::default() };
        let mut steps = self.scripts(name, folder, Phase::Before, &mut exchange);
        let request = &item["request"];
        if let Err(problem) = request::fill(&mut self.variables, request, folder, &mut exchange) {
            self.note_at(name, &problem.to_string());
        }
        for note in std::mem::take(&mut exchange.remarks) {
            self.note_at(name, &note);
            exchange.remarks.push(note);
        }
        let after = self.scripts(name, folder, Phase::After, &mut exchange);
        steps.push(Step::Exchange(Box::new(exchange)));
        steps.extend(after);
        let group = folder.names.join(" / ");
        match self.import.groups.last_mut().filter(|last| last.name == group) {
            Some(last) => last.steps.extend(steps),
            None => self.import.groups.push(Group { name: group, steps }),
        }
    }

    /// Carries out the scripts of a phase, from the collection's inwards.
    fn scripts(
        &mut self,
        name: &str,
        folder: &Folder<'_>,
        phase: Phase,
        exchange: &mut Exchange,
    ) -> Vec<Step> {
        let (listen, word) = match phase {
            Phase::Before => ("prerequest", "pre-request script"),
            Phase::After => ("test", "test script"),
        };
        let mut steps = Vec::new();
        for event in &folder.scripts {
            if text(event, "listen") != Some(listen)
                || event.get("disabled") == Some(&Value::Bool(true))
            {
                continue;
            }
            let source = source_of(event.get("script"));
            if source.len() > SCRIPT_BYTES_MAX {
                self.note_at(name, &format!("a {word} of {} bytes is left out", source.len()));
                continue;
            }
            let outcome = snippet::run(&source, phase, &mut self.variables, exchange);
            steps.extend(outcome.steps);
            for (line, note) in outcome.notes {
                self.note_at(name, &format!("{word}, line {line}: {note}"));
                let source = source.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
                exchange.remarks.push(format!("Left out of the {word}: {source}"));
            }
        }
        steps
    }

    fn note_at(&mut self, name: &str, text: &str) {
        self.import.note(self.place.clone(), format!("{}: {text}", stdx::terminal_line(name)));
    }

    fn note_variables(&mut self) {
        note_variables(&self.variables, &self.place, &mut self.import);
    }
}

/// Notes the names that nothing defines or that have no value, and those for which a made-up text goes out.
pub(crate) fn note_variables(variables: &Variables, place: &Place, import: &mut Import) {
    for name in &variables.unknown {
        let name = stdx::terminal_line(name);
        import.note(
            place.clone(),
            format!("nothing defines {{{{{name}}}}}: give it by -e {name}=VALUE"),
        );
    }
    for name in &variables.empty {
        let name = stdx::terminal_line(name);
        let text = format!("{{{{{name}}}}} has no value in the input: give it by -e {name}=VALUE");
        import.note(place.clone(), text);
    }
    for name in &variables.guessed {
        let name = stdx::terminal_line(name);
        import.note(place.clone(), format!("{{{{{name}}}}} becomes a word with a random number"));
    }
}

/// The source of a script: lines, or one text.
fn source_of(script: Option<&Value>) -> String {
    match script.and_then(|script| script.get("exec").or(Some(script))) {
        Some(Value::String(source)) => source.clone(),
        Some(Value::Array(lines)) => {
            lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Longer scripts are left out.
const SCRIPT_BYTES_MAX: usize = 256 << 10;
