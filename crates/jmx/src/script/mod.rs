//! Scripts of plans: the common part of Groovy, BeanShell, JEXL and JavaScript, interpreted. No file, process or class of a
//! machine is within a script's reach; its steps, its depth and its memory are bounded.
//!
//! ```text
//!   text ─▶ lexer ─▶ parse ─▶ tree ─▶ Script ──run(ScriptContext, Bindings)──▶ Value
//!             └──────────┴─▶ ScriptProblem: named by its line, before anything runs
//! ```

mod bindings;
pub(crate) mod context;
mod error;
mod lexer;
pub(crate) mod library;
mod parse;
mod quoted;
pub(crate) mod run;
#[cfg(test)]
mod tests;
mod token;
mod tree;
pub(crate) mod value;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

pub use bindings::Bindings;
pub use context::{Action, Field, Host, ScopeContext, ScriptContext, Store};
pub use error::{ScriptError, ScriptLimit, ScriptProblem};
pub use value::Value;

use parse::Program;

/// A language of scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Groovy.
    Groovy,
    /// BeanShell, and Java's own statements.
    BeanShell,
    /// JEXL, second version.
    Jexl2,
    /// JEXL, third version.
    Jexl3,
    /// JavaScript.
    JavaScript,
}

impl Language {
    /// The language of a name as plans have it, `groovy` or `beanshell`; `None` of one that is not known.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "groovy" => Some(Self::Groovy),
            "beanshell" | "bsh" | "java" => Some(Self::BeanShell),
            "jexl" | "jexl3" => Some(Self::Jexl3),
            "jexl2" => Some(Self::Jexl2),
            "javascript" | "js" | "ecmascript" | "nashorn" | "rhino" => Some(Self::JavaScript),
            _ => None,
        }
    }

    pub(crate) fn is_jexl(self) -> bool {
        matches!(self, Self::Jexl2 | Self::Jexl3)
    }

    /// Whether the end of a line may end a statement.
    pub(crate) fn has_lines(self) -> bool {
        self == Self::Groovy
    }
}

/// A script, ready to run in any thread.
#[derive(Clone, Debug)]
pub struct Script {
    language: Language,
    program: Arc<Program>,
}

/// Scripts that a thread keeps at most, and letters of them all; then it begins anew.
const KNOWN_MAX: usize = 300;
const KNOWN_LETTERS_MAX: usize = 4 << 20;

/// Scripts by their language and their text.
type KnownScripts = HashMap<(Language, String), Result<Script, Vec<ScriptProblem>>>;

thread_local! {
    static KNOWN: RefCell<KnownScripts> = RefCell::default();
}

/// Letters of a script at most.
pub const SCRIPT_BYTES_MAX: usize = 1 << 20;

impl Script {
    /// Parses a script.
    ///
    /// # Errors
    /// What is not understood: what is written otherwise than the language has it, and the classes that are not known.
    pub fn parse(language: Language, text: &str) -> Result<Self, Vec<ScriptProblem>> {
        if text.len() > SCRIPT_BYTES_MAX {
            return Err(vec![ScriptProblem::Long]);
        }
        let program = Arc::new(parse::parse(text, language)?);
        Ok(Self { language, program })
    }

    /// A script by its text, parsed once for each thread.
    ///
    /// # Errors
    /// As [`Script::parse`].
    pub fn of(language: Language, text: &str) -> Result<Self, Vec<ScriptProblem>> {
        KNOWN.with_borrow_mut(|known| {
            let key = (language, text.to_owned());
            if let Some(script) = known.get(&key) {
                return script.clone();
            }
            let letters: usize = known.keys().map(|(_, text)| text.len()).sum();
            if known.len() >= KNOWN_MAX || letters > KNOWN_LETTERS_MAX {
                known.clear();
            }
            let script = Self::parse(language, text);
            known.insert(key, script.clone());
            script
        })
    }

    /// The problems of a script of a plan whose references `${...}` are not evaluated yet: each stands for a number.
    #[must_use]
    pub fn check(language: Language, written: &str) -> Vec<ScriptProblem> {
        let whole = Self::parse(language, written).err();
        let Some(problems) = whole else { return Vec::new() };
        match written.contains("${") {
            true => Self::parse(language, &without_references(written)).err().unwrap_or_default(),
            false => problems,
        }
    }

    /// Runs it. Names that it assigns without a declaration are in `bindings` afterwards.
    ///
    /// # Errors
    /// What it throws and does not catch, and limits that it comes to.
    pub fn run(
        &self,
        context: &mut dyn ScriptContext,
        bindings: &mut Bindings,
    ) -> Result<Value, ScriptError> {
        run::run(&self.program, self.language, context, bindings)
    }
}

/// A text with `0` in the place of each reference.
fn without_references(written: &str) -> String {
    let mut text = String::new();
    let mut rest = written;
    while let Some(begin) = rest.find("${") {
        text.push_str(&rest[..begin]);
        let mut depth = 0_i32;
        let end = rest[begin..].find(|letter: char| {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            letter == '}' && depth == 0
        });
        text.push('0');
        let Some(end) = end else { return text };
        rest = &rest[begin + end + 1..];
    }
    text + rest
}
