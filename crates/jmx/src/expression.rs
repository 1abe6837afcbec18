//! Expressions of JEXL as conditions have them: numbers, texts, comparisons, `&&`, `||`, `!`, `?:`, and `vars.get("x")`.

use crate::scope::Scope;

/// A value of an expression.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Number(f64),
    Text(String),
    Truth(bool),
    Null,
}

impl Value {
    fn text(&self) -> String {
        match self {
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
                format!("{}", *number as i64)
            }
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::Truth(truth) => truth.to_string(),
            Self::Null => String::new(),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Truth(_) | Self::Null => None,
        }
    }

    fn is_true(&self) -> bool {
        match self {
            Self::Truth(truth) => *truth,
            Self::Number(number) => *number != 0.0,
            Self::Text(text) => text == "true",
            Self::Null => false,
        }
    }

    fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Null, _) | (_, Self::Null) => false,
            (Self::Text(one), Self::Text(other)) => one == other,
            _ => match (self.number(), other.number()) {
                (Some(one), Some(other)) => one == other,
                _ => self.text() == other.text(),
            },
        }
    }
}

/// Brackets and operators stand so deep in one another at most.
const DEPTH_MAX: u32 = 100;

/// The value of an expression as a text; `None` where it is none that is understood.
#[must_use]
pub fn evaluate(text: &str, scope: &dyn Scope) -> Option<String> {
    let mut parser = Parser { text, at: 0, depth: 0, scope };
    let value = parser.choice()?;
    parser.space();
    parser.eat(";");
    parser.space();
    (parser.at == text.len()).then(|| value.text())
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    scope: &'a dyn Scope,
}

/// Operators of two values, from those that bind least.
const LEVELS: [&[&str]; 5] = [
    &["||", "or "],
    &["&&", "and "],
    &["==", "!=", "<=", ">=", "=~", "!~", "eq ", "ne ", "lt ", "le ", "gt ", "ge ", "<", ">"],
    &["+", "-"],
    &["*", "/", "%", "div ", "mod "],
];

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, word: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn choice(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let condition = self.operators(0)?;
        let value = if self.eat("?") {
            let one = self.choice()?;
            let other = if self.eat(":") { self.choice()? } else { return None };
            if condition.is_true() { one } else { other }
        } else {
            condition
        };
        self.depth -= 1;
        Some(value)
    }

    fn operators(&mut self, level: usize) -> Option<Value> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.operators(level + 1)?;
        loop {
            let found = operators.iter().find(|operator| self.eat(operator));
            let Some(operator) = found else { return Some(left) };
            let right = self.operators(level + 1)?;
            left = apply(operator.trim_end(), &left, &right)?;
        }
    }

    fn unary(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        self.space();
        let value = if !self.rest().starts_with("!=") && self.eat("!") || self.eat("not ") {
            Value::Truth(!self.unary()?.is_true())
        } else if self.eat("-") {
            Value::Number(-self.unary()?.number()?)
        } else {
            let value = self.operand()?;
            self.methods(value)?
        };
        self.depth -= 1;
        Some(value)
    }

    fn operand(&mut self) -> Option<Value> {
        self.space();
        if self.eat("(") {
            let value = self.choice()?;
            return self.eat(")").then_some(value);
        }
        let first = self.rest().chars().next()?;
        if first == '"' || first == '\'' {
            return self.quoted(first).map(Value::Text);
        }
        if first.is_ascii_digit() {
            let length = self.rest().find(|letter: char| !letter.is_ascii_digit() && letter != '.');
            let length = length.unwrap_or(self.rest().len());
            let number = self.rest()[..length].parse().ok()?;
            self.at += length;
            self.rest()
                .chars()
                .next()
                .filter(|unit| "lLdDfF".contains(*unit))
                .inspect(|_| self.at += 1);
            return Some(Value::Number(number));
        }
        let name = self.name()?;
        match name {
            "true" => Some(Value::Truth(true)),
            "false" => Some(Value::Truth(false)),
            "null" => Some(Value::Null),
            "vars" | "props" => self.look_up(name),
            "empty" => {
                let value = self.unary()?;
                Some(Value::Truth(value.text().is_empty()))
            }
            "size" => {
                let value = self.operand()?;
                Some(Value::Number(value.text().chars().count() as f64))
            }
            // A word that is nothing is null in JEXL.
            _ => Some(Value::Null),
        }
    }

    /// `vars.get("x")`, `props.get("x")`.
    fn look_up(&mut self, of: &str) -> Option<Value> {
        if !self.eat(".") {
            return None;
        }
        let method = self.name()?;
        if method != "get" && method != "getProperty" || !self.eat("(") {
            return None;
        }
        let key = self.choice()?.text();
        let found =
            if of == "vars" { self.scope.variable(&key) } else { self.scope.property(&key) };
        self.eat(")").then_some(found.map_or(Value::Null, Value::Text))
    }

    fn name(&mut self) -> Option<&'a str> {
        self.space();
        let rest = self.rest();
        let length = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let length = length.unwrap_or(rest.len());
        self.at += length;
        (length > 0).then(|| &rest[..length])
    }

    fn quoted(&mut self, quote: char) -> Option<String> {
        let mut text = String::new();
        let mut letters = self.rest().char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => text.extend(letters.next().map(|(_, escaped)| escaped)),
                letter if letter == quote => {
                    self.at += at + quote.len_utf8();
                    return Some(text);
                }
                letter => text.push(letter),
            }
        }
        None
    }

    /// Methods of Java's strings on a value.
    fn methods(&mut self, mut value: Value) -> Option<Value> {
        while self.rest().starts_with('.') {
            self.at += 1;
            let method = self.name()?;
            if !self.eat("(") {
                return None;
            }
            let mut arguments = Vec::new();
            while !self.eat(")") {
                arguments.push(self.choice()?);
                if !self.eat(",") && !self.rest().trim_start().starts_with(')') {
                    return None;
                }
            }
            value = method_value(&value, method, &arguments)?;
        }
        Some(value)
    }
}

fn method_value(value: &Value, method: &str, arguments: &[Value]) -> Option<Value> {
    let text = value.text();
    let first = arguments.first().map(Value::text).unwrap_or_default();
    let place = |at: usize| arguments.get(at).and_then(Value::number).map(|place| place as usize);
    Some(match method {
        "length" | "size" => Value::Number(text.chars().count() as f64),
        "isEmpty" => Value::Truth(text.is_empty()),
        "equals" => Value::Truth(value.equals(arguments.first()?)),
        "equalsIgnoreCase" => Value::Truth(text.eq_ignore_ascii_case(&first)),
        "contains" => Value::Truth(text.contains(&first)),
        "startsWith" => Value::Truth(text.starts_with(&first)),
        "endsWith" => Value::Truth(text.ends_with(&first)),
        "toUpperCase" => Value::Text(text.to_uppercase()),
        "toLowerCase" => Value::Text(text.to_lowercase()),
        "trim" => Value::Text(text.trim().to_owned()),
        "toString" => Value::Text(text),
        "concat" => Value::Text(text + &first),
        "replace" => Value::Text(text.replace(&first, &arguments.get(1)?.text())),
        "indexOf" => Value::Number(text.find(&first).map_or(-1.0, |at| at as f64)),
        "substring" => {
            let end = place(1).unwrap_or(text.len());
            Value::Text(text.get(place(0)?..end)?.to_owned())
        }
        _ => return None,
    })
}

fn apply(operator: &str, left: &Value, right: &Value) -> Option<Value> {
    let numbers = || Some((left.number()?, right.number()?));
    let compared = || match (left, right) {
        (Value::Text(one), Value::Text(other)) => Some(one.cmp(other)),
        _ => numbers().and_then(|(one, other)| one.partial_cmp(&other)),
    };
    Some(match operator {
        "||" | "or" => Value::Truth(left.is_true() || right.is_true()),
        "&&" | "and" => Value::Truth(left.is_true() && right.is_true()),
        "==" | "eq" => Value::Truth(left.equals(right)),
        "!=" | "ne" => Value::Truth(!left.equals(right)),
        "<" | "lt" => Value::Truth(compared()?.is_lt()),
        "<=" | "le" => Value::Truth(compared()?.is_le()),
        ">" | "gt" => Value::Truth(compared()?.is_gt()),
        ">=" | "ge" => Value::Truth(compared()?.is_ge()),
        "+" => match numbers() {
            Some((one, other)) => Value::Number(one + other),
            None => Value::Text(left.text() + &right.text()),
        },
        "-" => numbers().map(|(one, other)| Value::Number(one - other))?,
        "*" => numbers().map(|(one, other)| Value::Number(one * other))?,
        "/" | "div" => {
            let (one, other) = numbers().filter(|(_, other)| *other != 0.0)?;
            // Whole numbers are divided as whole numbers.
            let whole = one.fract() == 0.0 && other.fract() == 0.0;
            Value::Number(if whole { (one / other).trunc() } else { one / other })
        }
        "%" | "mod" => numbers()
            .filter(|(_, other)| *other != 0.0)
            .map(|(one, other)| Value::Number(one % other))?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::MemoryScope;

    #[test]
    fn expressions_have_values() {
        let mut scope = MemoryScope::default();
        scope.set_variable("x", "5".to_owned());
        for (text, expect) in [
            ("1 + 2 * 3", Some("7")),
            ("(1 + 2) * 3 - 1", Some("8")),
            ("7 / 2", Some("3")),
            ("7 % 4", Some("3")),
            ("\"a\" == 'a' && 3 > 2", Some("true")),
            ("5 == \"5\"", Some("true")),
            ("!(1 < 2) || false", Some("false")),
            ("vars.get(\"x\") >= 5", Some("true")),
            ("vars.get('y') == null", Some("true")),
            ("1 < 2 ? 'yes' : 'no'", Some("yes")),
            ("'abc'.contains('b') and 'abc'.length() eq 3", Some("true")),
            ("-3 + 1", Some("-2")),
            ("true", Some("true")),
            ("", None),
            ("1 +", None),
            ("1 1", None),
        ] {
            assert_eq!(evaluate(text, &scope).as_deref(), expect, "{text}");
        }
        let deep = "(".repeat(100_000);
        assert_eq!(evaluate(&deep, &scope), None);
    }
}
