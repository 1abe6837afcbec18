//! A module's text is made ready for QuickJS: TypeScript stripped, CommonJS wrapped, what it imports and where its lines come from
//! written down. It reads no file but through [`Files`].

use super::source::{Kind, Source, SourceError, line_and_column};
use super::source_map::SourceMap;
use super::{nesting, typescript, typescript_syntax};
use crate::loader::files::Files;
use crate::runtime::deep_stack;

/// What stands before a CommonJS module's text, on its first line.
const WRAP: &str = "export default function(module,exports,require){";

/// The stack of the parser of TypeScript and JavaScript, and what it takes of it for each level at most: 2 GiB for 262,144.
const STACK_BYTES: usize = 2 << 30;
const LEVEL_BYTES: usize = 8 << 10;

/// Makes a module's text ready.
///
/// # Errors
/// It is TypeScript that cannot be parsed, or nested too deep. Other JavaScript is left to QuickJS to refuse.
pub(crate) fn prepare(
    name: &str,
    bytes: &[u8],
    files: &dyn Files,
) -> Result<Source, Box<SourceError>> {
    let plain = stdx::plain_text(bytes.to_vec());
    let decoded = String::from_utf8_lossy(&plain);
    let text = &*decoded;
    with_deep_stack(|levels_max| match nests_deeper(text, levels_max) {
        true => Err(too_deep(text)),
        false => prepared(name, text, files),
    })
}

/// Does something that recurses as deep as a script's text is nested; `body` is handed for how many levels there is room.
pub fn with_deep_stack<T>(body: impl FnOnce(usize) -> T) -> T {
    deep_stack::within(STACK_BYTES, |stack_bytes| body(stack_bytes / LEVEL_BYTES))
}

/// Whether a script's text may be nested deeper than so many levels.
#[must_use]
pub fn nests_deeper(text: &str, levels_max: usize) -> bool {
    // A level takes a byte at least.
    text.len() > levels_max && nesting::deepest(text).levels > levels_max
}

/// What says that a text is nested too deep, and where.
pub(crate) fn too_deep(text: &str) -> Box<SourceError> {
    let (line, column) = line_and_column(text, nesting::deepest(text).offset);
    Box::new(SourceError {
        message: "nested too deep".to_owned(),
        line,
        column,
        text: text.to_owned(),
    })
}

fn prepared(name: &str, text: &str, files: &dyn Files) -> Result<Source, Box<SourceError>> {
    if is_typescript(name) {
        return typescript::stripped(name, text).map(wrapped);
    }
    let seen = typescript_syntax::seen(text);
    // A script on standard input has no file name that shows its language.
    if seen.is_none()
        && name.ends_with("/-")
        && let Ok(source) = typescript::stripped(name, text)
    {
        return Ok(wrapped(source));
    }
    let (kind, imports, exports) = seen.unwrap_or((Kind::Module, Vec::new(), Vec::new()));
    let places = SourceMap::of_javascript(name, text, &|path| files.read(path).ok());
    Ok(wrapped(Source { text: text.to_owned(), kind, imports, exports, places }))
}

fn is_typescript(name: &str) -> bool {
    let path = name.split(['?', '#']).next().unwrap_or(name);
    [".ts", ".mts", ".cts"].iter().any(|end| path.ends_with(end))
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
    fn modules_are_distinguished_from_commonjs() {
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
        let kinds: Vec<String> = source
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
        assert_eq!(kinds, expect);
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
