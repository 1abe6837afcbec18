//! How deep a text of JavaScript or TypeScript may be nested: never less than it is, often more. Parsers recurse, and know no
//! limit; this looks at the text a byte at a time and keeps a stack of its own.

/// How deep a text may be nested at most, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Deepest {
    /// Brackets that are open, and in each what may be open by operators and keywords.
    pub(super) levels: usize,
    /// The offset of the byte that makes it so deep.
    pub(super) offset: usize,
}

/// Within one pair of brackets.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    /// What may nest until a comma or a semicolon: operators, and words that stand before expressions and types.
    expressions: usize,
    /// What may nest until a semicolon: `if`, `for` and the like, and `<`, whose commas end nothing.
    statements: usize,
    /// Those that a semicolon ended, unless `else` or `while` goes on with them.
    held: usize,
    /// It is code within a template.
    in_template: bool,
}

impl Level {
    const fn depth(&self) -> usize {
        1 + self.expressions + self.statements
    }
}

/// Words that begin a statement within a statement.
const STATEMENTS: [&[u8]; 6] = [b"if", b"else", b"for", b"while", b"do", b"with"];
/// Words that take what follows them into themselves.
const PREFIXES: [&[u8]; 23] = [
    b"new",
    b"typeof",
    b"void",
    b"delete",
    b"await",
    b"yield",
    b"async",
    b"class",
    b"extends",
    b"function",
    b"in",
    b"instanceof",
    b"as",
    b"satisfies",
    b"is",
    b"keyof",
    b"readonly",
    b"unique",
    b"infer",
    b"asserts",
    b"abstract",
    b"case",
    b"throw",
];

/// The deepest place of a text.
pub(super) fn deepest(text: &str) -> Deepest {
    let mut scan = Scan {
        bytes: text.as_bytes(),
        at: 0,
        levels: vec![Level::default()],
        outer: 0,
        deepest: Deepest::default(),
        operand: false,
    };
    while scan.at < scan.bytes.len() {
        scan.step();
    }
    scan.deepest
}

struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Never empty.
    levels: Vec<Level>,
    /// The depths of all levels but the last one.
    outer: usize,
    deepest: Deepest,
    /// What came last may be divided: a slash is no regular expression.
    operand: bool,
}

impl Scan<'_> {
    fn step(&mut self) {
        let byte = self.bytes[self.at];
        match byte {
            b'"' | b'\'' => self.skip_string(byte),
            b'`' => self.skip_template(),
            b'/' => self.skip_slash(),
            b'(' | b'[' | b'{' => self.open(false),
            b')' | b']' | b'}' => self.close(),
            b';' => {
                let held = self.level().statements;
                *self.level() =
                    Level { held, in_template: self.level().in_template, ..Level::default() };
                self.next(false);
            }
            b',' => {
                self.level().expressions = 0;
                self.next(false);
            }
            b'<' => {
                self.level().statements += 1;
                self.next(false);
            }
            _ if is_word(byte) => self.skip_word(),
            _ if byte.is_ascii_whitespace() => self.at += 1,
            _ => {
                self.level().expressions += 1;
                self.next(false);
            }
        }
        let levels = self.outer + self.levels.last().map_or(0, Level::depth);
        if levels > self.deepest.levels {
            self.deepest = Deepest { levels, offset: self.at.saturating_sub(1) };
        }
    }

    fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the outermost level is never closed")
    }

    fn next(&mut self, operand: bool) {
        self.at += 1;
        self.operand = operand;
    }

    fn open(&mut self, in_template: bool) {
        self.outer += self.level().depth();
        self.levels.push(Level { in_template, ..Level::default() });
        self.next(false);
    }

    fn close(&mut self) {
        let mut in_template = false;
        if self.levels.len() > 1 {
            in_template = self.levels.pop().is_some_and(|level| level.in_template);
            self.outer -= self.level().depth();
            // A call, an index: `f()()()` is a call of a call of a call.
            self.level().expressions += 1;
        }
        self.next(true);
        if in_template {
            self.skip_template_text();
        }
    }

    fn skip_string(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at) {
            match *byte {
                b'\\' => self.at += 1,
                b'\n' => break,
                byte if byte == quote => break,
                _ => {}
            }
            self.at += 1;
        }
        self.next(true);
    }

    fn skip_template(&mut self) {
        self.level().expressions += 1;
        self.at += 1;
        self.skip_template_text();
    }

    /// To the end of a template, or to the code in it.
    fn skip_template_text(&mut self) {
        while let Some(byte) = self.bytes.get(self.at) {
            match *byte {
                b'\\' => self.at += 1,
                b'`' => break,
                b'$' if self.bytes.get(self.at + 1) == Some(&b'{') => {
                    self.at += 1;
                    return self.open(true);
                }
                _ => {}
            }
            self.at += 1;
        }
        self.next(true);
    }

    fn skip_slash(&mut self) {
        match self.bytes.get(self.at + 1) {
            Some(b'/') => {
                let line = self.bytes[self.at..].iter().position(|byte| *byte == b'\n');
                self.at = line.map_or(self.bytes.len(), |len| self.at + len);
            }
            Some(b'*') => {
                let inner = self.at + 2;
                let end = self.bytes[inner..].windows(2).position(|two| two == b"*/");
                self.at = end.map_or(self.bytes.len(), |len| inner + len + 2);
            }
            _ if self.operand => {
                self.level().expressions += 1;
                self.next(false);
            }
            _ => self.skip_regular_expression(),
        }
    }

    fn skip_regular_expression(&mut self) {
        let mut in_class = false;
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at) {
            match *byte {
                b'\\' => self.at += 1,
                b'\n' => break,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => break,
                _ => {}
            }
            self.at += 1;
        }
        self.next(true);
    }

    fn skip_word(&mut self) {
        let rest = &self.bytes[self.at..];
        let len = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
        let word = &rest[..len];
        self.at += len;
        self.operand = true;
        let level = self.level();
        let held = std::mem::take(&mut level.held);
        if matches!(word, b"else" | b"while") {
            level.statements += held;
        }
        if STATEMENTS.contains(&word) {
            level.statements += 1;
            self.operand = false;
        } else if PREFIXES.contains(&word) {
            level.expressions += 1;
            self.operand = false;
        } else if word == b"return" {
            self.operand = false;
        }
    }
}

/// Letters beyond ASCII are parts of words.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_nesting_is_missed() {
        for part in [
            "(",
            "[",
            "{",
            "!",
            "-",
            "a?a:",
            "if(1)",
            "a=>",
            "a=",
            "`${",
            "function f(){",
            "Array<",
            "A<B,",
            "else ",
            "do ",
            "new ",
            "typeof ",
            "async a=>",
            "l:",
            "a**",
            "a.",
            "f()",
            "a[0]",
            "a``",
            "keyof ",
            "a?.b",
            "if(1)x;else ",
            "({a:",
            "class extends ",
            "/'/.a((",
            "a/b/((",
            "'\\'((' + (",
            "/*(*/(",
            "// (\n(",
            "`\\`${`",
        ] {
            let found = deepest(&part.repeat(1000)).levels;
            assert!(found >= 1000, "{part}: {found}");
        }
    }

    #[test]
    fn what_is_not_nested_does_not_count() {
        for part in [
            "a = !b;\n",
            "f(-1, [2, {a: 1}]);",
            "if (a) { b } else { c };",
            "'((((', ",
            "/[(/]((((((((/, ",
            "`((((`,",
            "// ((((\n;",
            "/* (((( */;",
            "let a = 'it\\'s';",
            "{ a: 1, b: 2, };",
            "if (a) b; else c;\nd;",
            "x(`${`${a}`}`);",
            "type A<B> = C<B>;",
        ] {
            let found = deepest(&part.repeat(1000)).levels;
            assert!(found < 20, "{part}: {found}");
        }
    }

    #[test]
    fn the_deepest_place_is_reported() {
        let text = "a;\n".to_owned() + &"(".repeat(10) + &")".repeat(10) + ";\n((";
        let found = deepest(&text);
        assert_eq!((found.levels, found.offset), (11, 12));
    }
}
