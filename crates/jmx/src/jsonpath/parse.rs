//! Reads paths.

use super::filter::{Comparison, Condition, Operand, Operator};
use super::function::Function;
use super::{Path, PathError, Step};
use crate::pattern::Pattern;

/// Conditions and paths stand in one another so deep at most.
const DEPTH_MAX: u32 = 50;

pub(super) struct Parser {
    letters: Vec<char>,
    at: usize,
    depth: u32,
}

impl Parser {
    pub(super) fn new(written: &str) -> Self {
        Self { letters: written.chars().collect(), at: 0, depth: 0 }
    }

    pub(super) fn whole(mut self) -> Result<Path, PathError> {
        let path = self.path()?;
        match self.at == self.letters.len() {
            true => Ok(path),
            false => self.fail("unexpected letter"),
        }
    }

    fn fail<T>(&self, reason: &'static str) -> Result<T, PathError> {
        Err(PathError::Malformed { reason, at: self.at })
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = word.chars().enumerate().all(|(offset, letter)| {
            self.letters.get(self.at + offset).is_some_and(|other| *other == letter)
        });
        self.at += if found { word.chars().count() } else { 0 };
        found
    }

    fn space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    /// A path from its `$` or `@` on, to the first letter that belongs to none.
    fn path(&mut self) -> Result<Path, PathError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.fail("conditions stand too deep in one another");
        }
        self.at += 1;
        let mut steps = Vec::new();
        loop {
            match self.peek() {
                Some('[') => steps.push(self.bracket()?),
                Some('.') => {
                    self.at += 1;
                    if self.eat(".") {
                        steps.push(Step::Below);
                        if self.peek() == Some('[') {
                            continue;
                        }
                    } else if self.peek() == Some('[') {
                        continue;
                    }
                    steps.push(self.name()?);
                }
                _ => break,
            }
        }
        if steps.last() == Some(&Step::Below) {
            return self.fail("a path must not end with ..");
        }
        self.depth -= 1;
        Ok(Path { steps })
    }

    /// A name after a point, a wildcard, or a function.
    fn name(&mut self) -> Result<Step, PathError> {
        if self.eat("*") {
            return Ok(Step::All);
        }
        let begin = self.at;
        while self.peek().is_some_and(|letter| !" .[]()=<>!&|,~\t\n".contains(letter)) {
            self.at += 1;
        }
        let name: String = self.letters[begin..self.at].iter().collect();
        if name.is_empty() {
            return self.fail("a name is missing");
        }
        if self.peek() != Some('(') {
            return Ok(Step::Names(vec![name]));
        }
        self.at += 1;
        let begin = self.at;
        while self.peek().is_some_and(|letter| letter != ')') {
            self.at += 1;
        }
        let argument: String = self.letters[begin..self.at].iter().collect();
        if !self.eat(")") {
            return self.fail("a function has no end");
        }
        match Function::of(&name, argument.trim()) {
            Some(function) => Ok(Step::Function(function)),
            None => self.fail("an unknown function"),
        }
    }

    fn bracket(&mut self) -> Result<Step, PathError> {
        self.at += 1;
        self.space();
        let step = match self.peek() {
            Some('*') => {
                self.at += 1;
                Step::All
            }
            Some('?') => {
                self.at += 1;
                self.space();
                if !self.eat("(") {
                    return self.fail("a condition must stand in brackets");
                }
                let condition = self.any()?;
                self.space();
                if !self.eat(")") {
                    return self.fail("a condition has no end");
                }
                Step::Filter(condition)
            }
            Some('\'' | '"') => Step::Names(self.names()?),
            _ => self.indices()?,
        };
        self.space();
        if self.eat("]") { Ok(step) } else { self.fail("a bracket has no end") }
    }

    fn names(&mut self) -> Result<Vec<String>, PathError> {
        let mut names = vec![self.quoted()?];
        loop {
            self.space();
            if !self.eat(",") {
                return Ok(names);
            }
            self.space();
            names.push(self.quoted()?);
        }
    }

    fn quoted(&mut self) -> Result<String, PathError> {
        let Some(quote @ ('\'' | '"')) = self.peek() else {
            return self.fail("a quoted name is missing");
        };
        self.at += 1;
        let mut text = String::new();
        while let Some(letter) = self.peek() {
            self.at += 1;
            match letter {
                '\\' => {
                    match self.peek() {
                        Some('n') => text.push('\n'),
                        Some('t') => text.push('\t'),
                        other => text.extend(other),
                    }
                    self.at += 1;
                }
                letter if letter == quote => return Ok(text),
                letter => text.push(letter),
            }
        }
        self.fail("a quoted text has no end")
    }

    fn number(&mut self) -> Option<i64> {
        self.space();
        let begin = self.at;
        self.eat("-");
        while self.peek().is_some_and(|letter| letter.is_ascii_digit()) {
            self.at += 1;
        }
        let text: String = self.letters[begin..self.at].iter().collect();
        self.space();
        text.parse().ok()
    }

    fn indices(&mut self) -> Result<Step, PathError> {
        let first = self.number();
        if self.eat(":") {
            return Ok(Step::Slice(first, self.number()));
        }
        let Some(first) = first else { return self.fail("an index is missing") };
        let mut indices = vec![first];
        while self.eat(",") {
            match self.number() {
                Some(index) => indices.push(index),
                None => return self.fail("an index is missing"),
            }
        }
        Ok(Step::Indices(indices))
    }

    fn any(&mut self) -> Result<Condition, PathError> {
        let mut all = vec![self.all()?];
        loop {
            self.space();
            match self.eat("||") {
                true => all.push(self.all()?),
                false => return Ok(Condition::Any(all)),
            }
        }
    }

    fn all(&mut self) -> Result<Condition, PathError> {
        let mut all = vec![self.one()?];
        loop {
            self.space();
            match self.eat("&&") {
                true => all.push(self.one()?),
                false => return Ok(Condition::All(all)),
            }
        }
    }

    fn one(&mut self) -> Result<Condition, PathError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.fail("conditions stand too deep in one another");
        }
        self.space();
        let condition = if self.eat("!") {
            Condition::Not(Box::new(self.one()?))
        } else if self.eat("(") {
            let condition = self.any()?;
            self.space();
            if !self.eat(")") {
                return self.fail("a bracket has no end");
            }
            condition
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn comparison(&mut self) -> Result<Condition, PathError> {
        let left = self.operand()?;
        self.space();
        let rest: String = self.letters[self.at..].iter().take(10).collect();
        let Some((word, operator)) = Operator::at(&rest) else {
            return Ok(Condition::Exists(left));
        };
        self.at += word.len();
        let right = self.operand()?;
        Ok(Condition::Compares(Box::new(Comparison { left, operator, right })))
    }

    fn operand(&mut self) -> Result<Operand, PathError> {
        self.space();
        match self.peek() {
            Some('@') => Ok(Operand::Here(self.path()?)),
            Some('$') => Ok(Operand::Root(self.path()?)),
            Some('\'') => Ok(Operand::Literal(self.quoted()?.into())),
            Some('/') => self.regex(),
            _ => self.literal(),
        }
    }

    /// `/pattern/i`.
    fn regex(&mut self) -> Result<Operand, PathError> {
        self.at += 1;
        let mut pattern = String::new();
        while let Some(letter) = self.peek().filter(|letter| *letter != '/') {
            self.at += 1;
            pattern.push(letter);
            if letter == '\\' {
                pattern.extend(self.peek());
                self.at += 1;
            }
        }
        if !self.eat("/") {
            return self.fail("a pattern has no end");
        }
        let begin = self.at;
        while self.peek().is_some_and(|letter| "idmsxuU".contains(letter)) {
            self.at += 1;
        }
        let flags: String =
            self.letters[begin..self.at].iter().filter(|flag| "imsx".contains(**flag)).collect();
        let pattern = if flags.is_empty() { pattern } else { format!("(?{flags}){pattern}") };
        match Pattern::of(&pattern) {
            Ok(_) => Ok(Operand::Pattern(pattern)),
            Err(_) => self.fail("a pattern is broken"),
        }
    }

    /// JSON, up to where it ends.
    fn literal(&mut self) -> Result<Operand, PathError> {
        let text: String = self.letters[self.at..].iter().collect();
        if text.starts_with('[') {
            return self.list();
        }
        let mut values = serde_json::Deserializer::from_str(&text).into_iter();
        match values.next() {
            Some(Ok(value)) => {
                self.at += text[..values.byte_offset()].chars().count();
                Ok(Operand::Literal(value))
            }
            _ => self.word(),
        }
    }

    /// What a number is that JSON does not take to its end, or `true)`: up to a blank or a bracket.
    fn word(&mut self) -> Result<Operand, PathError> {
        let begin = self.at;
        while self.peek().is_some_and(|letter| !" )],&|=<>!".contains(letter)) {
            self.at += 1;
        }
        let word: String = self.letters[begin..self.at].iter().collect();
        match serde_json::from_str(&word) {
            Ok(value) => Ok(Operand::Literal(value)),
            Err(_) => self.fail("a value is missing"),
        }
    }

    /// `['a', 1]`: a list whose texts may have single quotes.
    fn list(&mut self) -> Result<Operand, PathError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.fail("lists stand too deep in one another");
        }
        self.at += 1;
        let mut values = Vec::new();
        loop {
            self.space();
            if self.eat("]") {
                self.depth -= 1;
                return Ok(Operand::Literal(values.into()));
            }
            match self.operand()? {
                Operand::Literal(value) => values.push(value),
                _ => return self.fail("a list has values alone"),
            }
            self.space();
            self.eat(",");
        }
    }
}
