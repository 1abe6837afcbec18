//! `Context`: what the parts of a script share while it is written: helpers, constants, files, notes.

use std::collections::{BTreeMap, BTreeSet};

use jmx::Element;

use super::library::Helper;
use crate::quote;

/// Something of a plan that is another one in the script, or not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanNote {
    /// The names from the plan down to the element.
    pub path: String,
    /// What became of it, and why.
    pub text: String,
}

/// What the parts of a script share.
#[derive(Debug, Default)]
pub(super) struct Context {
    pub(super) helpers: BTreeSet<Helper>,
    pub(super) notes: Vec<PlanNote>,
    /// The constants of properties, by property and default.
    properties: BTreeMap<(String, String), String>,
    /// Files that are opened: their paths and how, and the constants' lines.
    files: BTreeMap<String, (String, String)>,
    taken: BTreeSet<String>,
    /// Names of `k6` that are used.
    pub(super) imports: BTreeSet<&'static str>,
    /// The folder of the files, from that of the script.
    open_prefix: String,
    /// The modules around what is written, against those that hold each other.
    pub(super) modules: Vec<String>,
    /// How many elements modules have put into the script, each time counted.
    pub(super) module_elements: usize,
    /// Numbers for names of variables of loops.
    loops: usize,
}

impl Context {
    /// Of a script whose files lie in this folder, from its own.
    pub(super) fn new(open_prefix: &str) -> Self {
        Self { open_prefix: open_prefix.to_owned(), ..Self::default() }
    }

    /// Notes what became of an element; returns the comment for its place.
    pub(super) fn note(&mut self, element: &Element, text: impl Into<String>) -> String {
        let note = PlanNote { path: element.path.to_string(), text: text.into() };
        let comment = format!(
            "// {}: {}",
            quote::comment(element.name.written()),
            quote::comment(&note.text)
        );
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
        comment
    }

    /// The call of a helper.
    pub(super) fn helper(&mut self, helper: Helper) {
        self.helpers.insert(helper);
    }

    /// A name that nothing else has.
    pub(super) fn unique(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}{number}");
            number += 1;
        }
        name
    }

    /// A name for the variable of a loop.
    pub(super) fn loop_name(&mut self) -> String {
        self.loops += 1;
        format!("n{}", self.loops)
    }

    /// The name that was made last.
    pub(super) fn last_loop_name(&self) -> String {
        format!("n{}", self.loops)
    }

    /// The constant of a property.
    pub(super) fn property(&mut self, name: &str, default: &str) -> String {
        let key = (name.to_owned(), default.to_owned());
        if let Some(known) = self.properties.get(&key) {
            return known.clone();
        }
        let constant = self.unique(&quote::constant(name));
        self.properties.insert(key, constant.clone());
        constant
    }

    /// The constant of a file that `open` reads; `line` makes its line from its name and the string of its path.
    pub(super) fn file(
        &mut self,
        path: &str,
        kind: &str,
        line: impl FnOnce(&str, &str) -> String,
    ) -> String {
        let key = format!("{kind}:{path}");
        if let Some((known, _)) = self.files.get(&key) {
            return known.clone();
        }
        let stem = path.rsplit(['/', '\\']).next().unwrap_or(path).split('.').next();
        let name = self.unique(&quote::identifier(stem.unwrap_or_default()));
        let at = quote::string(&self.opened(path));
        let line = line(&name, &at);
        self.files.insert(key, (name.clone(), line));
        name
    }

    fn opened(&self, path: &str) -> String {
        match (path.starts_with('/'), self.open_prefix.as_str()) {
            (true, _) | (_, "") => path.to_owned(),
            (false, prefix) => format!("{prefix}/{path}"),
        }
    }

    /// The lines of all constants.
    pub(super) fn constants(&self) -> String {
        let property = |((name, default), constant): (&(String, String), &String)| {
            let value = format!("__ENV{}", quote::member(name));
            format!("const {constant} = {value} || {};\n", quote::string(default))
        };
        let properties: String = self.properties.iter().map(property).collect();
        let files: String = self.files.values().map(|(_, line)| format!("{line}\n")).collect();
        match properties.as_str() {
            "" => files,
            _ => format!(
                "// JMeter's properties: -e NAME=VALUE in place of -JNAME=VALUE.\n{properties}{files}"
            ),
        }
    }
}
