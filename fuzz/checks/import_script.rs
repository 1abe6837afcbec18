//! A script that `import` wrote: it parses, and calls nothing but what our own lines call, whatever text of a stranger is in it.

use oxc::allocator::Allocator;
use oxc::ast::ast::{StringLiteral, TemplateElement};
use oxc::ast_visit::Visit;
use oxc::parser::Parser;
use oxc::semantic::SemanticBuilder;
use oxc::span::SourceType;

use import::{FileProblem, Files, Import, Input, Kind, ScriptSettings, write_script};

/// Names that scripts use and do not declare.
const GLOBALS: [&str; 15] = [
    "__ENV",
    "Date",
    "JSON",
    "Math",
    "Object",
    "String",
    "Uint8Array",
    "__VU",
    "decodeURIComponent",
    "encodeURIComponent",
    "isNaN",
    "open",
    "parseInt",
    "undefined",
    "unescape",
];

/// No file may be read.
struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _path: &str) -> Result<Vec<u8>, FileProblem> {
        Err(FileProblem::NotAllowed)
    }
}

/// The text as an input of that kind; none: nothing of it can be used.
pub(crate) fn read(kind: Kind, text: &str) -> Option<Import> {
    let (files, environment, environment_name) = (&NoFiles, None, None);
    let name = "x'\n/*`${evil_7()}";
    let input = Input { name, text, kind, files, environment, tags: &[], environment_name };
    import::import(&input).ok()
}

/// The strings of a script, as they are when it runs.
///
/// # Panics
/// The script does not parse, or names what no script of ours does.
pub(crate) fn strings(script: &str) -> Vec<String> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, script, SourceType::mjs()).parse();
    let wrong = parsed.diagnostics.errors().next();
    assert!(!parsed.panicked && wrong.is_none(), "{wrong:?}\n{script}");
    let scoping = SemanticBuilder::new().build(&parsed.program).semantic.into_scoping();
    for name in scoping.root_unresolved_references().keys() {
        assert!(GLOBALS.contains(&name.as_str()), "{name}\n{script}");
    }
    let mut strings = Strings(Vec::new());
    strings.visit_program(&parsed.program);
    strings.0
}

/// How many requests all kinds together make of a text; each script holds.
///
/// # Panics
/// As [`strings`].
#[allow(dead_code, reason = "one of two checks uses it")]
pub(crate) fn check(bytes: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(bytes).ok()?;
    let imports: Vec<Import> = Kind::ALL.iter().filter_map(|kind| read(*kind, text)).collect();
    for import in &imports {
        strings(&write_script(import, &ScriptSettings::default()));
    }
    Some(imports.iter().map(|import| import.exchanges().count()).sum())
}

/// Collects what strings and parts of templates come to.
struct Strings(Vec<String>);

impl<'a> Visit<'a> for Strings {
    fn visit_string_literal(&mut self, it: &StringLiteral<'a>) {
        self.0.push(it.value.to_string());
    }

    fn visit_template_element(&mut self, it: &TemplateElement<'a>) {
        self.0.extend(it.value.cooked.map(|cooked| cooked.to_string()));
    }
}
