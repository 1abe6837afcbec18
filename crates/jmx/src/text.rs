//! `Text`: a text of a plan with the variables and functions in it, parsed once.

use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::arguments::Arguments;
use crate::functions::{Function, function_of};
use crate::scope::Scope;
use crate::script::Language;

/// A text of a plan.
#[derive(Clone, Debug)]
pub struct Text {
    written: Arc<str>,
    /// `None` where it is what is written.
    parts: Option<Arc<[Part]>>,
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::parse("")
    }
}

/// A piece of a text, for those who write it in another language.
#[derive(Clone, Copy, Debug)]
pub enum TextPiece<'a> {
    /// It stands for itself.
    Literal(&'a str),
    /// The variable of this name.
    Variable(&'a str),
    /// A function's value.
    Call {
        /// Its name, `__time`.
        name: &'static str,
        /// Its arguments.
        arguments: &'a [Text],
    },
}

/// A part of a text.
#[derive(Debug)]
enum Part {
    Literal(String),
    /// A variable; where there is none of this name, the reference stands as it is.
    Variable(String),
    Call(Call),
}

impl Part {
    fn piece(&self) -> TextPiece<'_> {
        match self {
            Self::Literal(literal) => TextPiece::Literal(literal),
            Self::Variable(name) => TextPiece::Variable(name),
            Self::Call(Call { function, arguments, .. }) => {
                TextPiece::Call { name: function.name(), arguments }
            }
        }
    }
}

/// A function with its arguments.
#[derive(Debug)]
struct Call {
    function: Function,
    arguments: Vec<Text>,
    /// Its number among all calls that were parsed.
    number: u64,
    /// How deep it stands in other calls.
    depth: usize,
}

impl Call {
    fn value(&self, scope: &mut dyn Scope) -> String {
        let values = self.arguments.iter().map(|argument| argument.evaluate(scope)).collect();
        let value = self.function.call(&Arguments { values, call: self.number }, scope);
        if self.function.is_evaluated_again() {
            return Text::argument(&value, self.depth + 1).evaluate(scope);
        }
        value
    }
}

/// Texts that functions make of texts are evaluated so deep in one another at most.
const DEPTH_MAX: usize = 64;

static CALLS: AtomicU64 = AtomicU64::new(0);

impl Text {
    /// Parses a text. Whatever is no reference stands for itself; where there is no reference at all, so do escapes.
    #[must_use]
    pub fn parse(written: &str) -> Self {
        let parts = written.contains("${").then(|| Parser::new(written, 0).parts()).flatten();
        let parts = parts.filter(|parts| !matches!(parts[..], [Part::Literal(_)]));
        Self { written: Arc::from(written), parts: parts.map(Arc::from) }
    }

    /// A text that refers to nothing, whatever is written in it.
    #[must_use]
    pub fn constant(written: &str) -> Self {
        Self { written: Arc::from(written), parts: None }
    }

    /// The argument of a function: what escapes in it is resolved, even where it refers to nothing.
    fn argument(written: &str, depth: usize) -> Self {
        if !written.contains('\\') && !written.contains("${") || depth >= DEPTH_MAX {
            return Self::constant(written);
        }
        let parts = Parser::new(written, depth).parts();
        Self { written: Arc::from(written), parts: parts.map(Arc::from) }
    }

    /// The text as it is written.
    #[must_use]
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Whether it is the same whenever it is evaluated.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.parts.is_none()
    }

    /// The text in a scope.
    pub fn evaluate(&self, scope: &mut dyn Scope) -> String {
        let Some(parts) = &self.parts else { return self.written.to_string() };
        let mut text = String::new();
        for part in &**parts {
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Variable(name) => match scope.variable(name) {
                    Some(value) => text.push_str(&value),
                    None => text.push_str(&format!("${{{name}}}")),
                },
                Part::Call(call) => text.push_str(&call.value(scope)),
            }
        }
        text
    }

    /// Its pieces in their order.
    #[must_use]
    pub fn pieces(&self) -> Vec<TextPiece<'_>> {
        let Some(parts) = &self.parts else { return vec![TextPiece::Literal(&self.written)] };
        parts.iter().map(Part::piece).collect()
    }

    /// Calls of functions in it that JMeter refuses, and with them the whole plan: too many arguments, too few, or no end.
    #[must_use]
    pub fn wrong_calls(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        self.find_wrong_calls(&mut wrong);
        wrong
    }

    fn find_wrong_calls(&self, wrong: &mut Vec<String>) {
        let Some(parts) = &self.parts else {
            let has_call = self.written.contains("${__");
            if has_call && Parser::new(&self.written, 0).parts().is_none() {
                let shown = stdx::cut_text(&self.written, 120);
                wrong.push(format!("a function's call does not end with )}}: {shown}"));
            }
            return;
        };
        for part in parts.iter() {
            if let Part::Call(call) = part {
                wrong.extend(call.function.misfit(call.arguments.len()));
                call.arguments.iter().for_each(|argument| argument.find_wrong_calls(wrong));
            }
        }
    }
}

impl Text {
    /// Shows the scripts in it that functions have as their arguments.
    pub(crate) fn visit_scripts(&self, see: &mut dyn FnMut(Language, &str)) {
        for part in self.parts.iter().flat_map(|parts| parts.iter()) {
            let Part::Call(call) = part else { continue };
            if let (Some(language), Some(script)) =
                (call.function.language(), call.arguments.first())
            {
                let plain = script.written.replace("\\,", ",");
                see(language, &plain);
            }
            call.arguments.iter().for_each(|argument| argument.visit_scripts(see));
        }
    }
}

/// Reads references out of a text.
struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, depth: usize) -> Self {
        Self { rest: text.chars().peekable(), depth }
    }

    /// The parts; `None` where a function's call does not end as it must: the text stands for itself then.
    fn parts(mut self) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        while let Some(letter) = self.rest.next() {
            match letter {
                '\\' => match self.rest.next() {
                    Some(escaped @ ('$' | ',' | '\\')) => literal.push(escaped),
                    Some(other) => literal.extend(['\\', other]),
                    None => literal.push('\\'),
                },
                '$' if self.rest.peek() == Some(&'{') => {
                    self.rest.next();
                    if !literal.is_empty() {
                        parts.push(Part::Literal(std::mem::take(&mut literal)));
                    }
                    parts.push(self.reference()?);
                }
                other => literal.push(other),
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Some(parts)
    }

    /// A variable or a function, after its `${`.
    fn reference(&mut self) -> Option<Part> {
        let mut name = String::new();
        let mut before = ' ';
        while let Some(letter) = self.rest.next() {
            match letter {
                '\\' => {
                    name.push(self.rest.next().unwrap_or('\\'));
                    before = ' ';
                }
                '(' if before != ' ' => match function_of(name.trim_matches(|c| c <= ' ')) {
                    Some(function) => return self.called(function),
                    None => name.push('('),
                },
                '}' => {
                    return Some(match function_of(&name) {
                        Some(function) => self.call(function, &[]),
                        None => Part::Variable(name),
                    });
                }
                other => {
                    name.push(other);
                    before = other;
                }
            }
        }
        // It has no end.
        Some(Part::Literal(name))
    }

    /// A function after its `(`. Blanks may stand between its `)` and its `}`.
    fn called(&mut self, function: Function) -> Option<Part> {
        let arguments = self.arguments();
        let call = self.call(function, &arguments);
        let is_blank = |letter: &char| letter.is_whitespace() && !letter.is_control();
        while self.rest.next_if(is_blank).is_some() {}
        (self.rest.next() == Some('}')).then_some(call)
    }

    fn call(&self, function: Function, arguments: &[String]) -> Part {
        let depth = self.depth + 1;
        let arguments = arguments.iter().map(|argument| Text::argument(argument, depth)).collect();
        let number = CALLS.fetch_add(1, Ordering::Relaxed);
        Part::Call(Call { function, arguments, number, depth })
    }

    /// The arguments of a function as written, after its `(`.
    fn arguments(&mut self) -> Vec<String> {
        let mut arguments = Vec::new();
        let mut argument = String::new();
        let (mut references, mut brackets) = (0_u32, 0_u32);
        let mut before = ' ';
        while let Some(letter) = self.rest.next() {
            match letter {
                '\\' => {
                    argument.push('\\');
                    argument.push(self.rest.next().unwrap_or('\\'));
                    before = ' ';
                    continue;
                }
                ',' if references == 0 => {
                    arguments.push(std::mem::take(&mut argument));
                    continue;
                }
                ')' if references == 0 && brackets == 0 => {
                    if !(argument.is_empty() && arguments.is_empty()) {
                        arguments.push(argument);
                    }
                    return arguments;
                }
                '{' if before == '$' => references += 1,
                '}' if references > 0 => references -= 1,
                '(' if references == 0 => brackets += 1,
                ')' if references == 0 => brackets -= 1,
                _ => {}
            }
            argument.push(letter);
            before = letter;
        }
        arguments.push(argument);
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::MemoryScope;

    fn scope() -> MemoryScope {
        let mut scope = MemoryScope::default();
        for (name, value) in
            [("a", "1"), ("b", "${a}"), ("x_1", "one"), ("n", "1"), ("w", "C:\\\\x\\,y")]
        {
            scope.variables.insert(name.to_owned(), value.to_owned());
        }
        scope.properties.insert("host".to_owned(), "h".to_owned());
        scope
    }

    #[test]
    fn references_are_replaced_and_others_stand() {
        for (written, expect) in [
            ("", ""),
            ("plain \\$ \\,", "plain \\$ \\,"),
            ("${a}", "1"),
            ("<${a}|${none}>", "<1|${none}>"),
            ("${b}", "${a}"),
            ("\\${a} ${a} \\, \\n", "${a} 1 , \\n"),
            ("${__P(host)}", "h"),
            ("${__P(port,80)}${__P(port)}", "801"),
            ("${__V(x_${n})}", "one"),
            ("${__V(x_${n}", "${__V(x_${n}"),
            ("${__nosuch(1)}", "${__nosuch(1)}"),
            ("${__P(a\\,b,c\\,d)}", "c,d"),
            ("${__P(x,(1,2))}", "(1"),
            ("${", "${"),
            ("x${", "x"),
            ("${a", "${a"),
            ("x${a", "xa"),
            ("${a\\", "${a\\"),
            ("$${a}", "$1"),
            ("\\${a}", "\\${a}"),
            ("\\\\${a}", "\\1"),
            ("C:\\dir\\\\x \\$", "C:\\dir\\\\x \\$"),
            ("C:\\dir\\\\x \\$${a}", "C:\\dir\\x $1"),
            ("${ a }", "${ a }"),
            ("${${a}}", "${${a}}"),
            ("${}", "${}"),
            ("${ __P(host) }", "h"),
            ("${__P (host)}", "${__P (host)}"),
            ("${__P(host)\n}", "${__P(host)\n}"),
            ("${__eval(\\\\\\\\)}", "\\"),
            ("${__eval(\\\\,)}", "\\"),
            ("${__evalVar(w)}", "C:\\x,y"),
        ] {
            assert_eq!(Text::parse(written).evaluate(&mut scope()), expect, "{written}");
        }
    }

    #[test]
    fn a_thousand_brackets_are_bounded() {
        let deep = format!("{}1{}", "${__eval(".repeat(5_000), ")}".repeat(5_000));
        let text = Text::parse(&deep);
        text.evaluate(&mut scope());
        assert_eq!(text.wrong_calls(), [""; 0]);
    }
}
