//! The names of a script: which are declared, and which classes are used.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::script::library::{class_named, is_reserved};
use crate::script::tree::Function;
use crate::script::{Language, ScriptProblem};

/// Names that elements give to their scripts and that begin as classes do.
const BINDINGS: [&str; 19] = [
    "OUT",
    "Label",
    "FileName",
    "Parameters",
    "SampleResult",
    "SamplerData",
    "ResponseData",
    "ResponseCode",
    "ResponseMessage",
    "ResponseHeaders",
    "RequestHeaders",
    "SampleLabel",
    "IsSuccess",
    "Failure",
    "FailureMessage",
    "AssertionResult",
    "ThreadName",
    "Response",
    "Sampler",
];

/// Names of JavaScript that begin as classes do.
const JAVASCRIPT: [&str; 8] =
    ["JSON", "Number", "Array", "Object", "NaN", "Infinity", "RegExp", "Java"];

/// The names that a parser has seen.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) functions: Vec<(Arc<str>, Arc<Function>)>,
    declared: HashSet<Arc<str>>,
    /// Other names of classes: `import a.B as C`.
    aliases: HashMap<Arc<str>, &'static str>,
    uses: Vec<(Arc<str>, u32)>,
    problems: Vec<ScriptProblem>,
}

impl Names {
    pub(super) fn declare(&mut self, name: &Arc<str>) {
        self.declared.insert(name.clone());
    }

    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.declared.contains(name)
    }

    pub(super) fn alias(&mut self, name: &Arc<str>, class: &'static str) {
        self.aliases.insert(name.clone(), class);
    }

    /// A class by a name of the script.
    pub(super) fn class(&self, name: &str) -> Option<&'static str> {
        self.aliases.get(name).copied().or_else(|| class_named(name))
    }

    /// Notes a name that may be that of a class.
    pub(super) fn note(&mut self, name: &Arc<str>, line: u32) {
        if name.starts_with(char::is_uppercase) {
            self.uses.push((name.clone(), line));
        }
    }

    /// Notes a class that is not known.
    pub(super) fn refuse(&mut self, name: &str, line: u32) {
        let (name, is_reserved) = (name.to_owned(), is_reserved(name));
        let problem = match is_reserved {
            true => ScriptProblem::Reserved { line, name },
            false => ScriptProblem::Class { line, name },
        };
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// The classes that are used and not known.
    pub(super) fn problems(mut self, language: Language) -> Vec<ScriptProblem> {
        for (name, line) in std::mem::take(&mut self.uses) {
            let is_javascript = language == Language::JavaScript && JAVASCRIPT.contains(&&*name);
            let is_known = self.declared.contains(&name)
                || BINDINGS.contains(&&*name)
                || is_javascript
                || self.class(&name).is_some()
                || language.is_jexl();
            if !is_known {
                self.refuse(&name, line);
            }
        }
        self.problems
    }
}
