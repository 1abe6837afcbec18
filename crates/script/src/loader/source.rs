//! `Source`: a module's text made ready for QuickJS: TypeScript stripped, CommonJS wrapped, what it imports and where its lines
//! come from written down. It reads no file but through [`Files`].

use oxc::allocator::Allocator;
use oxc::parser::{ParseOptions, Parser};
use oxc::span::SourceType;

use crate::host::traits::Files;
use crate::loader::resolve;
use crate::runtime::deep_stack;

use super::source_map::{Place, Places};
use super::typescript_syntax::Import;
use super::{nesting, typescript, typescript_syntax};

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
    pub(crate) places: Places,
}

/// Why a text is no module.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) message: String,
    /// The line and the column, from 1.
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// The whole text.
    pub(crate) text: String,
}

/// What stands before a CommonJS module's text, on its first line.
const WRAP: &str = "export default function(module,exports,require){";

/// The stack of the parser of TypeScript and JavaScript, and what it takes of it for each level at most: 2 GiB for 262,144.
const STACK_BYTES: usize = 2 << 30;
const LEVEL_BYTES: usize = 8 << 10;

/// Makes a module's text ready.
///
/// # Errors
/// It is TypeScript that cannot be parsed, or nested too deep. Other JavaScript is left to QuickJS to refuse.
pub(crate) fn prepare(name: &str, bytes: &[u8], files: &dyn Files) -> Result<Source, Box<Wrong>> {
    let decoded = String::from_utf8_lossy(bytes);
    let text = decoded.strip_prefix('\u{feff}').unwrap_or(&decoded);
    deep_stack::within(STACK_BYTES, |stack_bytes| {
        let levels_max = stack_bytes / LEVEL_BYTES;
        // A level takes a byte at least.
        if text.len() > levels_max && nesting::deepest(text).levels > levels_max {
            return Err(too_deep(text));
        }
        prepared(name, text, files)
    })
}

/// What says that a text is nested too deep, and where.
pub(crate) fn too_deep(text: &str) -> Box<Wrong> {
    let (line, column) = line_and_column(text, nesting::deepest(text).offset);
    Box::new(Wrong { message: "nested too deep".to_owned(), line, column, text: text.to_owned() })
}

fn prepared(name: &str, text: &str, files: &dyn Files) -> Result<Source, Box<Wrong>> {
    if is_typescript(name) {
        return typescript::stripped(name, text).map(wrapped);
    }
    let seen = seen(text);
    // A script on standard input has no name that would say what it is.
    if seen.is_none()
        && name.ends_with("/-")
        && let Ok(source) = typescript::stripped(name, text)
    {
        return Ok(wrapped(source));
    }
    let (kind, imports, exports) = seen.unwrap_or((Kind::Module, Vec::new(), Vec::new()));
    let places = Places::of_javascript(name, text, files);
    Ok(wrapped(Source { text: text.to_owned(), kind, imports, exports, places }))
}

fn is_typescript(name: &str) -> bool {
    let path = name.split(['?', '#']).next().unwrap_or(name);
    [".ts", ".mts", ".cts"].iter().any(|end| path.ends_with(end))
}

/// What can be seen in JavaScript; nothing where it cannot be parsed.
fn seen(text: &str) -> Option<(Kind, Vec<Import>, Vec<String>)> {
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, text, SourceType::mjs()).with_options(options).parse();
    if parsed.panicked || parsed.diagnostics.has_errors() {
        return None;
    }
    let kind = typescript_syntax::kind(&parsed.program, &parsed.module_record);
    let exports = match kind {
        Kind::Module => Vec::new(),
        Kind::CommonJs => typescript_syntax::commonjs_exports(&parsed.program),
    };
    Some((kind, typescript_syntax::imports(&parsed.module_record, text), exports))
}

/// The source with its text wrapped, where it is CommonJS.
fn wrapped(mut source: Source) -> Source {
    if source.kind == Kind::CommonJs {
        let body = match source.text.strip_prefix("#!") {
            Some(rest) => format!("//{rest}"),
            None => source.text,
        };
        source.text = format!("{WRAP}{body}\n}}");
        source.places.first_line_shift = WRAP.len() as u32;
    }
    source
}

impl Source {
    /// How deep it is nested at most.
    pub(crate) fn levels(&self) -> usize {
        nesting::deepest(&self.text).levels
    }

    /// The names that this module imports from `specifier`, sorted, each once; for all of them the exports seen in `target`.
    pub(crate) fn wants(&self, specifier: &str, target: &Self) -> Vec<String> {
        let mut names = Vec::new();
        for import in self.imports.iter().filter(|import| import.specifier == specifier) {
            match &import.name {
                Some(name) => names.push(name.clone()),
                None => names.extend(target.exports.iter().cloned()),
            }
        }
        names.retain(|name| name != "default");
        names.sort();
        names.dedup();
        names
    }

    /// Where it imports `specifier`, of it `name` if one is given.
    pub(crate) fn import_place(&self, specifier: &str, name: Option<&str>) -> Option<Place> {
        let wanted = |import: &&Import| {
            import.specifier == specifier && (name.is_none() || import.name.as_deref() == name)
        };
        let import = self.imports.iter().find(wanted)?;
        Some(self.places.of_import(import.line, import.column))
    }

    /// Where it imports `name` from the module of the full name `target`.
    pub(crate) fn import_of(&self, own: &str, name: &str, target: &str) -> Option<Place> {
        let wanted = |import: &&Import| {
            import.name.as_deref() == Some(name)
                && resolve::resolve(own, &import.specifier).as_deref() == Ok(target)
        };
        let import = self.imports.iter().find(wanted)?;
        Some(self.places.of_import(import.line, import.column))
    }
}

/// The line and the column of an offset, both from 1.
pub(super) fn line_and_column(text: &str, offset: usize) -> (u32, u32) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    (line as u32, (before.len() - start + 1) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoFiles;
    impl Files for NoFiles {
        fn read(&self, name: &str) -> Result<Vec<u8>, String> {
            Err(format!("no {name}"))
        }
    }

    fn prepared(name: &str, text: &str) -> Source {
        prepare(name, text.as_bytes(), &NoFiles).expect("it is right")
    }

    #[test]
    fn modules_are_told_from_commonjs() {
        for (text, kind) in [
            ("import a from './a.js'", Kind::Module),
            ("export const a = 1", Kind::Module),
            ("const a = await f()", Kind::Module),
            ("for await (const a of b) f(a)", Kind::Module),
            ("console.log(import.meta.resolve('./x'))", Kind::Module),
            ("async function f() { await 1 }", Kind::CommonJs),
            ("const f = async () => { await 1 }", Kind::CommonJs),
            ("module.exports = 5; // export", Kind::CommonJs),
            ("if (x) return; require('k6')", Kind::CommonJs),
            ("", Kind::CommonJs),
        ] {
            assert_eq!(prepared("file:///a.js", text).kind, kind, "{text}");
        }
    }

    #[test]
    fn exports_of_commonjs_are_seen() {
        for (text, expect) in [
            ("exports.a = 1; module.exports.b = 2; exports['c'] = 3", &["a", "b", "c"][..]),
            ("module.exports = { a, b: 1, 'c': 2, ...d }", &["a", "b", "c"]),
            ("0 && (module.exports = { x });", &["x"]),
            ("Object.defineProperty(exports, 'late', { value: 1 })", &["late"]),
            ("const a = 1", &[]),
        ] {
            assert_eq!(prepared("file:///a.js", text).exports, expect, "{text}");
        }
    }

    #[test]
    fn imports_are_listed_with_their_places() {
        let source = prepared(
            "file:///a.js",
            "import d, { x as y } from './a.js';\nimport * as n from './b.js';\nexport { z } from './c.js';\nexport * from './d.js'; import './e.js';",
        );
        let told: Vec<String> = source
            .imports
            .iter()
            .map(|i| format!("{} {:?} {}:{}", i.specifier, i.name, i.line, i.column))
            .collect();
        let expect = [
            "./a.js Some(\"default\") 1:27",
            "./a.js Some(\"x\") 1:27",
            "./b.js None 2:20",
            "./c.js Some(\"z\") 3:19",
            "./d.js None 4:15",
            "./e.js Some(\"default\") 4:32",
        ];
        assert_eq!(told, expect);
    }

    #[test]
    fn typescript_is_stripped_and_its_lines_known() {
        let text = "import type { T } from './t.ts';\nimport { Unused } from './t.ts';\n\ninterface I { a: number }\nexport enum Kind { Square, Circle = 5 }\nclass P { constructor(private readonly x: number) {} get(): number { return this.x! } }\nnamespace N { export const y = 2 }\nexport const v = { k: Kind.Circle, p: new P(3).get(), y: N.y } satisfies object as any;\n";
        let source = prepared("file:///a.ts", text);
        for gone in ["interface", "import", "satisfies", ": number", "private", "namespace"] {
            assert!(!source.text.contains(gone), "{gone}: {}", source.text);
        }
        let at = source.text.find("const v").expect("it is there");
        let (line, column) = line_and_column(&source.text, at + 6);
        let place = source.places.original(line, column);
        assert_eq!((place.file.as_str(), place.line, place.column), ("file:///a.ts", 8, 14));
        let wrong = prepare("file:///b.ts", b"let a: number = 1;\nlet b: = 2;\n", &NoFiles)
            .expect_err("it is wrong");
        assert_eq!((wrong.line, wrong.column), (2, 8));
    }
}
