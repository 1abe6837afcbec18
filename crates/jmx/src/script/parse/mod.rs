//! From tokens to the tree of a script. Everything that is not understood is a problem with its line.

mod closure;
mod expression;
mod literal;
mod names;
mod operand;
mod path;
mod statement;
mod types;

use std::sync::Arc;

use names::Names;

use super::token::{Token, TokenKind};
use super::tree::Function;
use super::{Language, ScriptProblem, lexer};

/// Brackets, blocks and conditions stand so deep in one another at most.
const DEPTH_MAX: u32 = 40;

/// What a parser makes of a script.
#[derive(Debug)]
pub(super) struct Program {
    /// All of the script, as a function without parameters.
    pub(super) main: Arc<Function>,
    pub(super) functions: Vec<(Arc<str>, Arc<Function>)>,
}

/// Parses a script.
pub(super) fn parse(text: &str, language: Language) -> Result<Program, Vec<ScriptProblem>> {
    let tokens = lexer::tokens(text, language).map_err(|problem| vec![problem])?;
    let mut names = Names::default();
    let mut parser = Parser::new(&tokens, language, &mut names, 0);
    let body = parser.script().map_err(|problem| vec![problem])?;
    let functions = std::mem::take(&mut names.functions);
    let problems = names.problems(language);
    let main = Function { parameters: Vec::new(), body, has_it: false };
    if problems.is_empty() {
        return Ok(Program { main: Arc::new(main), functions });
    }
    Err(problems)
}

/// Reads a tree out of tokens.
struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    language: Language,
    names: &'a mut Names,
    depth: u32,
    /// How many brackets are open, in which the ends of lines do not count.
    brackets: u32,
}

type Parsed<T> = Result<T, ScriptProblem>;

impl<'a> Parser<'a> {
    fn new(tokens: &'a [Token], language: Language, names: &'a mut Names, depth: u32) -> Self {
        Self { tokens, at: 0, language, names, depth, brackets: 0 }
    }

    fn token(&self) -> &'a Token {
        self.ahead(0)
    }

    /// A token further on; the last one where there is none.
    fn ahead(&self, count: usize) -> &'a Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + count).min(last)]
    }

    fn line(&self) -> u32 {
        self.token().line
    }

    fn is_groovy(&self) -> bool {
        self.language == Language::Groovy
    }

    /// Whether a token is a sign.
    fn sign_at(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.ahead(ahead).kind, TokenKind::Sign(found) if found == sign)
    }

    fn is_sign(&self, sign: &str) -> bool {
        self.sign_at(0, sign)
    }

    fn name_at(&self, ahead: usize) -> Option<&'a Arc<str>> {
        match &self.ahead(ahead).kind {
            TokenKind::Name(name) => Some(name),
            _ => None,
        }
    }

    fn is_word(&self, word: &str) -> bool {
        self.name_at(0).is_some_and(|name| **name == *word)
    }

    /// Whether the next token begins a line that ends what is before it.
    fn is_line_end(&self) -> bool {
        self.brackets == 0 && self.language.has_lines() && self.token().opens_line
    }

    fn eat(&mut self, sign: &str) -> bool {
        let is_there = self.is_sign(sign);
        self.at += usize::from(is_there);
        is_there
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is_there = self.is_word(word);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.problem()) }
    }

    fn name(&mut self) -> Parsed<Arc<str>> {
        let name = self.name_at(0).ok_or_else(|| self.problem())?;
        self.at += 1;
        Ok(name.clone())
    }

    /// What is not understood here.
    fn problem(&self) -> ScriptProblem {
        let near = match &self.token().kind {
            TokenKind::Name(name) => name.to_string(),
            TokenKind::Literal(value) => value.to_string().chars().take(30).collect(),
            TokenKind::Template(_) => "\"".to_owned(),
            TokenKind::Regex(_) => "/".to_owned(),
            TokenKind::Sign(sign) => (*sign).to_owned(),
            TokenKind::End => "the end".to_owned(),
        };
        ScriptProblem::Syntax { line: self.line(), near }
    }

    fn refused(&self, what: &'static str) -> ScriptProblem {
        ScriptProblem::Refused { line: self.line(), what }
    }

    /// Parses one level deeper.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH_MAX {
            return Err(ScriptProblem::Deep { line: self.line() });
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Parses something that may be something else: where it is not, the parser stands where it stood.
    fn attempt<T>(&mut self, parse: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (at, brackets) = (self.at, self.brackets);
        let parsed = parse(self);
        if parsed.is_none() {
            (self.at, self.brackets) = (at, brackets);
        }
        parsed
    }

    /// Parses between brackets, where the ends of lines do not count.
    fn bracketed<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.brackets += 1;
        let parsed = self.deeper(parse);
        self.brackets -= 1;
        parsed
    }

    /// Parses a block, where the ends of lines count again.
    fn in_block<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let brackets = std::mem::take(&mut self.brackets);
        let parsed = self.deeper(parse);
        self.brackets = brackets;
        parsed
    }
}
