//! `Action`: what stands between `{{` and `}}`: a field, a literal, or a function with arguments, which may be pipelines.

use std::iter::Peekable;
use std::str::Chars;

use anyhow::{Result, anyhow, bail};
use stdx::nearest;

use crate::request_values::{Field, RequestValues};
use crate::template_function::Function;

/// How many brackets and pipes an expression may have.
const NESTED_MAX: usize = 50;

/// An expression of a template.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Field(Field),
    Literal(String),
    Call(Function, Vec<Self>),
}

#[derive(Clone, Debug, PartialEq)]
enum Word {
    Field(String),
    Literal(String),
    Name(String),
    Open,
    Close,
    Pipe,
}

impl Action {
    /// Reads the inside of an action.
    ///
    /// # Errors
    /// It is empty, or has a name that is not known.
    pub(crate) fn parse(inside: &str) -> Result<Self> {
        let inside = inside.strip_prefix("- ").unwrap_or(inside);
        let inside = inside.strip_suffix(" -").unwrap_or(inside);
        let words = words(inside)?;
        // Each is a call within the last, here and for every request.
        let nested = words.iter().filter(|word| matches!(word, Word::Open | Word::Pipe)).count();
        if nested > NESTED_MAX {
            bail!("an expression with {nested} of ( and | (at most {NESTED_MAX})");
        }
        let mut rest = words.as_slice();
        let action = pipeline(&mut rest)?;
        if rest.is_empty() { Ok(action) } else { bail!("a bracket is closed that is not open") }
    }

    /// Its value for one request.
    ///
    /// # Errors
    /// A function does not take its arguments.
    pub(crate) fn evaluate(&self, values: &mut RequestValues<'_>) -> Result<String> {
        match self {
            Self::Field(field) => Ok(values.field(*field)),
            Self::Literal(text) => Ok(text.clone()),
            Self::Call(function, arguments) => {
                let arguments = arguments.iter().map(|argument| argument.evaluate(values));
                let arguments = arguments.collect::<Result<Vec<String>>>()?;
                function.call(&arguments, &mut values.random)
            }
        }
    }
}

/// Commands joined by `|`: the value of each is the last argument of the next.
fn pipeline(rest: &mut &[Word]) -> Result<Action> {
    let mut action = command(rest, None)?;
    while let Some((Word::Pipe, after)) = rest.split_first() {
        *rest = after;
        action = command(rest, Some(action))?;
    }
    Ok(action)
}

/// A function with its arguments, or a value alone.
fn command(rest: &mut &[Word], piped: Option<Action>) -> Result<Action> {
    if let Some((Word::Name(name), after)) = rest.split_first() {
        *rest = after;
        let function = Function::named(name)?;
        let mut arguments = Vec::new();
        while !matches!(rest.first(), None | Some(Word::Pipe | Word::Close)) {
            arguments.push(operand(rest)?);
        }
        arguments.extend(piped);
        return Ok(Action::Call(function, arguments));
    }
    let value = operand(rest)?;
    match (piped, rest.first()) {
        (Some(_), _) => bail!("what follows | is no function"),
        (None, Some(Word::Pipe | Word::Close) | None) => Ok(value),
        (None, Some(_)) => bail!("a value is followed by another"),
    }
}

fn operand(rest: &mut &[Word]) -> Result<Action> {
    let Some((word, after)) = rest.split_first() else { bail!("it is empty") };
    *rest = after;
    Ok(match word {
        Word::Field(name) => Action::Field(field(name)?),
        Word::Literal(text) => Action::Literal(text.clone()),
        Word::Name(name) => Action::Call(Function::named(name)?, Vec::new()),
        Word::Open => {
            let action = pipeline(rest)?;
            match rest.split_first() {
                Some((Word::Close, after)) => *rest = after,
                _ => bail!("a bracket is not closed"),
            }
            action
        }
        Word::Close | Word::Pipe => bail!("a value is missing"),
    })
}

fn field(name: &str) -> Result<Field> {
    let known = Field::ALL.iter().find(|(known, _)| *known == name);
    known.map(|(_, field)| *field).ok_or_else(|| {
        let near = nearest(name, Field::ALL.iter().map(|(known, _)| *known));
        let hint = near.map(|near| format!(" (did you mean .{near}?)")).unwrap_or_default();
        anyhow!("no field .{name}{hint}")
    })
}

fn words(text: &str) -> Result<Vec<Word>> {
    let mut chars = text.chars().peekable();
    let mut words = Vec::new();
    while let Some(char) = chars.next() {
        words.push(match char {
            char if char.is_whitespace() => continue,
            '(' => Word::Open,
            ')' => Word::Close,
            '|' => Word::Pipe,
            '"' => Word::Literal(quoted(&mut chars, '"')?),
            '`' => Word::Literal(quoted(&mut chars, '`')?),
            '.' => Word::Field(name(&mut chars, String::new())),
            char if char.is_ascii_digit() || char == '-' => {
                Word::Literal(name(&mut chars, char.to_string()))
            }
            char => Word::Name(name(&mut chars, char.to_string())),
        });
    }
    Ok(words)
}

/// The rest of a word without blanks.
fn name(chars: &mut Peekable<Chars<'_>>, mut name: String) -> String {
    while let Some(char) = chars.next_if(|char| !char.is_whitespace() && !"()|".contains(*char)) {
        name.push(char);
    }
    name
}

/// The rest of a text in quotes.
fn quoted(chars: &mut Peekable<Chars<'_>>, end: char) -> Result<String> {
    let mut text = String::new();
    while let Some(char) = chars.next() {
        match char {
            char if char == end => return Ok(text),
            '\\' if end == '"' => text.extend(chars.next().map(unescaped)),
            char => text.push(char),
        }
    }
    bail!("a text is not closed")
}

const fn unescaped(char: char) -> char {
    match char {
        'n' => '\n',
        't' => '\t',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_of_a_depth_without_bound_is_refused() {
        for text in ["(".repeat(100_000), format!("newUUID{}", " | upper".repeat(100_000))] {
            let problem = Action::parse(&text).unwrap_err().to_string();
            assert!(problem.ends_with("(at most 50)"), "{problem}");
        }
        assert!(Action::parse(&format!("newUUID{}", " | upper".repeat(50))).is_ok());
    }
}
