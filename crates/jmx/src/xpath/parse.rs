//! Reads expressions.

use super::XPathError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Text(String),
    Number(f64),
    Variable(String),
    Binary(&'static str, Box<Self>, Box<Self>),
    Minus(Box<Self>),
    Call(String, Vec<Self>),
    List(Vec<Self>),
    If(Box<Self>, Box<Self>, Box<Self>),
    /// `for $x in a return b`.
    For(String, Box<Self>, Box<Self>),
    Path(Begin, Vec<Step>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Begin {
    Root,
    Here,
    At(Box<Expression>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Axis(Axis, Test, Vec<Expression>),
    /// `(//a)[1]`: of all that were found.
    Predicate(Expression),
    /// `a/string()`: of each that was found.
    Each(Expression),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    Parent,
    Ancestor,
    AncestorOrSelf,
    Own,
    Attribute,
    Following,
    FollowingSibling,
    Preceding,
    PrecedingSibling,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    Name(Option<String>, String),
    /// `*`, or `p:*`.
    Any(Option<String>),
    Text,
    Comment,
    Instruction,
    Node,
}

const AXES: [(&str, Axis); 12] = [
    ("child", Axis::Child),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("descendant", Axis::Descendant),
    ("parent", Axis::Parent),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("ancestor", Axis::Ancestor),
    ("self", Axis::Own),
    ("attribute", Axis::Attribute),
    ("following-sibling", Axis::FollowingSibling),
    ("following", Axis::Following),
    ("preceding-sibling", Axis::PrecedingSibling),
    ("preceding", Axis::Preceding),
];

/// Expressions stand in one another so deep at most.
const DEPTH_MAX: u32 = 60;
/// Operators of an expression at most.
const OPERATORS_MAX: u32 = 200;

/// Operators of two values, from those that bind least.
const LEVELS: [&[&str]; 7] = [
    &["or"],
    &["and"],
    &["!=", "<=", ">=", "=", "<", ">", "eq", "ne", "lt", "le", "gt", "ge"],
    &["||"],
    &["to"],
    &["+", "-"],
    &["*", "div", "idiv", "mod"],
];

pub(super) struct Parser {
    letters: Vec<char>,
    at: usize,
    depth: u32,
    /// Operators so far: each of them stands around those before it.
    operators: u32,
}

impl Parser {
    pub(super) fn whole(written: &str) -> Result<Expression, XPathError> {
        let mut parser = Self { letters: written.chars().collect(), at: 0, depth: 0, operators: 0 };
        let expression = parser.list()?;
        parser.space();
        match parser.at == parser.letters.len() {
            true => Ok(expression),
            false => parser.fail(),
        }
    }

    fn fail<T>(&self) -> Result<T, XPathError> {
        Err(XPathError::Malformed { at: self.at })
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    /// Whether a word or a sign comes next; a word must end there.
    fn sees(&mut self, word: &str) -> bool {
        self.space();
        let end = self.at + word.chars().count();
        let here = self.letters.get(self.at..end);
        here.is_some_and(|here| here.iter().copied().eq(word.chars()))
            && !(word.ends_with(|last: char| last.is_ascii_alphabetic())
                && self.letters.get(end).is_some_and(|next| is_name(*next)))
    }

    fn eat(&mut self, word: &str) -> bool {
        let seen = self.sees(word);
        self.at += if seen { word.chars().count() } else { 0 };
        seen
    }

    fn expect(&mut self, word: &str) -> Result<(), XPathError> {
        if self.eat(word) { Ok(()) } else { self.fail() }
    }

    fn list(&mut self) -> Result<Expression, XPathError> {
        let first = self.single()?;
        if !self.sees(",") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.eat(",") {
            all.push(self.single()?);
        }
        Ok(Expression::List(all))
    }

    fn single(&mut self) -> Result<Expression, XPathError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.fail();
        }
        let begin = self.at;
        let expression = if self.eat("if") && self.eat("(") {
            let condition = self.list()?;
            self.expect(")")?;
            self.expect("then")?;
            let one = self.single()?;
            self.expect("else")?;
            Expression::If(Box::new(condition), Box::new(one), Box::new(self.single()?))
        } else {
            self.at = begin;
            if self.eat("for") && self.eat("$") {
                let name = self.name()?;
                self.expect("in")?;
                let list = self.single()?;
                self.expect("return")?;
                Expression::For(name, Box::new(list), Box::new(self.single()?))
            } else {
                self.at = begin;
                self.operators(0)?
            }
        };
        self.depth -= 1;
        Ok(expression)
    }

    fn operators(&mut self, level: usize) -> Result<Expression, XPathError> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.operators(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.eat(operator)) {
            let right = self.operators(level + 1)?;
            left = self.binary(operator, left, right)?;
        }
        Ok(left)
    }

    fn binary(
        &mut self,
        operator: &'static str,
        left: Expression,
        right: Expression,
    ) -> Result<Expression, XPathError> {
        self.operators += 1;
        if self.operators > OPERATORS_MAX {
            return self.fail();
        }
        Ok(Expression::Binary(operator, Box::new(left), Box::new(right)))
    }

    fn unary(&mut self) -> Result<Expression, XPathError> {
        let mut minus = 0;
        while self.eat("-") {
            minus += 1;
        }
        let mut value = self.path()?;
        while !self.sees("||") && self.eat("|") || self.eat("union") {
            let right = self.path()?;
            value = self.binary("|", value, right)?;
        }
        Ok(if minus % 2 == 1 { Expression::Minus(Box::new(value)) } else { value })
    }

    fn path(&mut self) -> Result<Expression, XPathError> {
        let mut steps = Vec::new();
        let begin = if self.eat("//") {
            steps.push(Step::Axis(Axis::DescendantOrSelf, Test::Node, Vec::new()));
            Begin::Root
        } else if self.eat("/") {
            self.space();
            if !self.peek().is_some_and(|letter| is_name(letter) || "*@.".contains(letter)) {
                return Ok(Expression::Path(Begin::Root, steps));
            }
            Begin::Root
        } else {
            match self.primary()? {
                Some(primary) => {
                    while self.sees("[") {
                        steps.push(Step::Predicate(self.predicate()?));
                    }
                    if steps.is_empty() && !self.sees("/") {
                        return Ok(primary);
                    }
                    Begin::At(Box::new(primary))
                }
                None => Begin::Here,
            }
        };
        if !matches!(begin, Begin::At(_)) {
            steps.push(self.step()?);
        }
        loop {
            if self.eat("//") {
                steps.push(Step::Axis(Axis::DescendantOrSelf, Test::Node, Vec::new()));
            } else if !self.eat("/") {
                return Ok(Expression::Path(begin, steps));
            }
            steps.push(self.step()?);
        }
    }

    /// A value that begins a path, where it is no step.
    fn primary(&mut self) -> Result<Option<Expression>, XPathError> {
        self.space();
        Ok(Some(match self.peek() {
            Some(quote @ ('"' | '\'')) => Expression::Text(self.quoted(quote)?),
            Some('$') => {
                self.at += 1;
                Expression::Variable(self.name()?)
            }
            Some('(') => {
                self.at += 1;
                if self.eat(")") {
                    return Ok(Some(Expression::List(Vec::new())));
                }
                let inner = self.list()?;
                self.expect(")")?;
                inner
            }
            Some(letter) if letter.is_ascii_digit() || self.begins_fraction() => self.number()?,
            _ => return self.call(),
        }))
    }

    fn begins_fraction(&self) -> bool {
        self.peek() == Some('.') && self.letters.get(self.at + 1).is_some_and(char::is_ascii_digit)
    }

    fn number(&mut self) -> Result<Expression, XPathError> {
        let begin = self.at;
        while self.peek().is_some_and(|letter| letter.is_ascii_digit() || letter == '.') {
            self.at += 1;
        }
        let digits: String = self.letters[begin..self.at].iter().collect();
        digits.parse().map(Expression::Number).or_else(|_| self.fail())
    }

    /// Quotes in a text are doubled.
    fn quoted(&mut self, quote: char) -> Result<String, XPathError> {
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.peek() {
                None => return self.fail(),
                Some(letter) if letter == quote => {
                    self.at += 1;
                    if self.peek() != Some(quote) {
                        return Ok(text);
                    }
                    text.push(quote);
                }
                Some(letter) => text.push(letter),
            }
            self.at += 1;
        }
    }

    fn name(&mut self) -> Result<String, XPathError> {
        self.space();
        let begin = self.at;
        while self.peek().is_some_and(is_name) {
            self.at += 1;
        }
        if begin == self.at || self.letters[begin].is_ascii_digit() {
            return self.fail();
        }
        Ok(self.letters[begin..self.at].iter().collect())
    }

    /// A function's call; `None` where it is a step.
    fn call(&mut self) -> Result<Option<Expression>, XPathError> {
        let begin = self.at;
        let Ok(mut name) = self.name() else {
            self.at = begin;
            return Ok(None);
        };
        if self.peek() == Some(':') && self.letters.get(self.at + 1) != Some(&':') {
            self.at += 1;
            match self.name() {
                Ok(local) => name = local,
                Err(_) => {
                    self.at = begin;
                    return Ok(None);
                }
            }
        }
        let is_test = ["text", "node", "comment", "processing-instruction"].contains(&&*name);
        if is_test || !self.eat("(") {
            self.at = begin;
            return Ok(None);
        }
        let mut arguments = Vec::new();
        if !self.eat(")") {
            arguments.push(self.single()?);
            while self.eat(",") {
                arguments.push(self.single()?);
            }
            self.expect(")")?;
        }
        Ok(Some(Expression::Call(name, arguments)))
    }

    fn predicate(&mut self) -> Result<Expression, XPathError> {
        self.expect("[")?;
        let expression = self.list()?;
        self.expect("]")?;
        Ok(expression)
    }

    fn step(&mut self) -> Result<Step, XPathError> {
        self.space();
        let (axis, test) = if self.eat("..") {
            (Axis::Parent, Test::Node)
        } else if self.eat(".") {
            (Axis::Own, Test::Node)
        } else if self.eat("@") {
            (Axis::Attribute, self.test()?)
        } else {
            let named = AXES.iter().find(|(name, _)| {
                let begin = self.at;
                let found = self.eat(name) && self.eat("::");
                self.at = if found { self.at } else { begin };
                found
            });
            if named.is_none()
                && let Some(call) = self.call()?
            {
                return Ok(Step::Each(call));
            }
            (named.map_or(Axis::Child, |(_, axis)| *axis), self.test()?)
        };
        let mut predicates = Vec::new();
        while self.sees("[") {
            predicates.push(self.predicate()?);
        }
        Ok(Step::Axis(axis, test, predicates))
    }

    fn test(&mut self) -> Result<Test, XPathError> {
        if self.eat("*") {
            if self.peek() == Some(':') {
                self.at += 1;
                return Ok(Test::Name(Some("*".to_owned()), self.name()?));
            }
            return Ok(Test::Any(None));
        }
        let name = self.name()?;
        if self.peek() == Some(':') && self.letters.get(self.at + 1) != Some(&':') {
            self.at += 1;
            return match self.eat("*") {
                true => Ok(Test::Any(Some(name))),
                false => Ok(Test::Name(Some(name), self.name()?)),
            };
        }
        if !self.sees("(") {
            return Ok(Test::Name(None, name));
        }
        self.expect("(")?;
        if name == "processing-instruction" && !self.sees(")") {
            self.primary()?;
        }
        self.expect(")")?;
        match &*name {
            "text" => Ok(Test::Text),
            "node" => Ok(Test::Node),
            "comment" => Ok(Test::Comment),
            "processing-instruction" => Ok(Test::Instruction),
            _ => self.fail(),
        }
    }
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.')
}
