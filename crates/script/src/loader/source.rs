//! `Source`: a module's text made ready for QuickJS, with what it imports and where its lines come from.

use super::builtins::Builtins;
use super::module_name::NO_DEFAULT;
use super::source_map::{SourceMap, SourcePos};
use super::{nesting, resolve};

/// What a module is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An ES module.
    Module,
    /// A CommonJS module: its text is a function's body.
    CommonJs,
}

/// A module's text, ready to be compiled.
#[derive(Debug)]
pub(crate) struct Source {
    /// What QuickJS compiles: an ES module in any case.
    pub(crate) text: String,
    pub(crate) kind: Kind,
    /// What it imports by name.
    pub(crate) imports: Vec<Import>,
    /// Of a CommonJS module, the exports that can be seen in its text.
    pub(crate) exports: Vec<String>,
    pub(crate) places: SourceMap,
}

/// Why a text is no module.
#[derive(Debug)]
pub(crate) struct SourceError {
    pub(crate) message: String,
    /// The line and the column, from 1.
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// The whole text.
    pub(crate) text: String,
}

/// One name that a module imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import {
    /// The module, as it is written.
    pub(crate) specifier: String,
    /// The name; `None` for all of them.
    pub(crate) name: Option<String>,
    /// Where the specifier stands in the text: line and column, from 1.
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Source {
    /// How deep it is nested at most.
    pub(crate) fn levels(&self) -> usize {
        nesting::deepest(&self.text).levels
    }

    /// Whether this module imports everything of `specifier`, or nothing by a name that can be seen, as `import()` does.
    pub(crate) fn wants_all(&self, specifier: &str) -> bool {
        let mut imports = self.imports.iter().filter(|import| import.specifier == specifier);
        let has_name = imports.clone().next().is_some();
        !has_name || imports.any(|import| import.name.is_none())
    }

    /// The names that this module imports from `specifier`, sorted, each once, with `all` where it wants all of them.
    pub(crate) fn wants(&self, specifier: &str, all: &[String]) -> Vec<String> {
        let mut names = Vec::new();
        let of_it = self.imports.iter().filter(|import| import.specifier == specifier);
        names.extend(of_it.filter_map(|import| import.name.clone()));
        if self.wants_all(specifier) {
            names.extend(all.iter().cloned());
        }
        if names.iter().any(|name| name == "default") {
            names.retain(|name| name != "default" && name != NO_DEFAULT);
        }
        names.sort();
        names.dedup();
        names
    }

    /// Where it imports `specifier`, of it `name` if one is given.
    pub(crate) fn import_place(&self, specifier: &str, name: Option<&str>) -> Option<SourcePos> {
        let wanted = |import: &&Import| {
            import.specifier == specifier && (name.is_none() || import.name.as_deref() == name)
        };
        let import = self.imports.iter().find(wanted)?;
        Some(self.places.of_import(import.line, import.column))
    }

    /// Where it imports `name` from the module of the full name `target`, either of which may be cut: the place, and both names whole.
    pub(crate) fn import_of(
        &self,
        builtins: &Builtins,
        own: &str,
        name: &str,
        target: &str,
    ) -> Option<(SourcePos, String, String)> {
        let named = |import: &Import| import.name.clone().filter(|whole| is_begun(whole, name));
        self.imports.iter().find_map(|import| {
            let whole = named(import)?;
            let full = resolve::resolve(builtins, own, &import.specifier).ok()?;
            let place = || self.places.of_import(import.line, import.column);
            is_begun(&full, target).then(|| (place(), whole, full))
        })
    }
}

/// Letters from which on QuickJS cuts a name in its messages, by bytes.
const CUT_FROM: usize = 60;

/// Whether `seen` is this name, or what a message has left of it.
fn is_begun(whole: &str, seen: &str) -> bool {
    // What is left of a character that was cut is no character.
    let left = seen.trim_end_matches(char::REPLACEMENT_CHARACTER);
    whole == seen || (seen.len() >= CUT_FROM && whole.starts_with(left))
}

/// The line and the column of an offset, both from 1.
pub(super) fn line_and_column(text: &str, offset: usize) -> (u32, u32) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    (line as u32, (before.len() - start + 1) as u32)
}
