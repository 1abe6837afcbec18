//! Scripts to trees. What is not read becomes an unreadable statement, and reading goes on behind it.

use super::token::{Token, TokenKind, tokens};
use super::tree::{Expression, Statement, StatementKind};

/// The statements of a script.
pub(super) fn parse(source: &str) -> Vec<Statement> {
    let mut parser = Parser { tokens: tokens(source), at: 0, depth: 0 };
    let mut statements = Vec::new();
    while parser.peek() != &TokenKind::End {
        statements.push(parser.statement());
    }
    statements
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &TokenKind {
        &self.tokens[self.at].kind
    }

    fn line(&self) -> usize {
        self.tokens[self.at].line
    }

    fn advance(&mut self) -> TokenKind {
        let kind = self.peek().clone();
        if kind != TokenKind::End {
            self.at += 1;
        }
        kind
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), TokenKind::Sign(text) if text == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), TokenKind::Name(text) if text == word)
    }

    /// Takes the sign if it comes next.
    fn eat(&mut self, sign: &str) -> Option<()> {
        self.is_sign(sign).then(|| self.at += 1)
    }

    fn name(&mut self) -> Option<String> {
        match self.advance() {
            TokenKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// A statement; an unreadable one if it is none, with all up to the next one taken.
    fn statement(&mut self) -> Statement {
        let (line, start) = (self.line(), self.at);
        if self.eat(";").is_some() {
            return Statement { line, kind: StatementKind::Block(Vec::new()) };
        }
        self.depth += 1;
        let kind = if self.depth > DEPTH_MAX { None } else { self.statement_kind() };
        self.depth -= 1;
        let kind = kind.unwrap_or_else(|| {
            self.at = start;
            self.skip_statement();
            StatementKind::Unreadable
        });
        Statement { line, kind }
    }

    fn statement_kind(&mut self) -> Option<StatementKind> {
        if self.is_sign("{") {
            return self.block().map(StatementKind::Block);
        }
        let word = match self.peek() {
            TokenKind::Name(name) => name.clone(),
            _ => String::new(),
        };
        let kind = match word.as_str() {
            "const" | "let" | "var" => return self.declaration(),
            "if" => return self.condition(),
            "try" => return self.attempt(),
            "return" => {
                self.at += 1;
                let ends =
                    self.is_sign(";") || self.is_sign("}") || self.tokens[self.at].is_first_of_line;
                StatementKind::Return(if ends { None } else { Some(self.expression()?) })
            }
            "function" => {
                self.at += 1;
                let name = self.name()?;
                return Some(StatementKind::Declare(name, self.function_rest()?));
            }
            "for" | "while" | "do" | "switch" | "class" | "throw" | "import" | "export" => {
                return None;
            }
            _ => StatementKind::Expression(self.expression()?),
        };
        self.end_of_statement()?;
        Some(kind)
    }

    fn end_of_statement(&mut self) -> Option<()> {
        let ends = self.eat(";").is_some()
            || self.is_sign("}")
            || self.peek() == &TokenKind::End
            || self.tokens[self.at].is_first_of_line;
        ends.then_some(())
    }

    /// Takes tokens until a statement may begin: behind a semicolon or a block, or at a new line outside of brackets.
    fn skip_statement(&mut self) {
        let mut open = 0_usize;
        loop {
            match self.advance() {
                TokenKind::End => return,
                TokenKind::Sign(sign) => match sign.as_str() {
                    "(" | "[" | "{" => open += 1,
                    ")" | "]" | "}" => open = open.saturating_sub(1),
                    ";" if open == 0 => return,
                    _ => (),
                },
                _ => (),
            }
            if open == 0 && (self.tokens[self.at].is_first_of_line || self.is_sign("}")) {
                return;
            }
        }
    }

    fn block(&mut self) -> Option<Vec<Statement>> {
        self.eat("{")?;
        let mut statements = Vec::new();
        while self.eat("}").is_none() {
            if self.peek() == &TokenKind::End {
                return None;
            }
            statements.push(self.statement());
        }
        Some(statements)
    }

    fn body(&mut self) -> Option<Vec<Statement>> {
        if self.is_sign("{") { self.block() } else { Some(vec![self.statement()]) }
    }

    /// `const a = 1, b = 2` or `const { a, b: c } = d`.
    fn declaration(&mut self) -> Option<StatementKind> {
        self.at += 1;
        let mut all = Vec::new();
        loop {
            let line = self.line();
            if self.is_sign("{") {
                let names = self.destructured()?;
                self.eat("=")?;
                let source = self.assignment()?;
                all.extend(names.into_iter().map(|(member, name)| {
                    let value = Expression::Member(Box::new(source.clone()), member);
                    Statement { line, kind: StatementKind::Declare(name, value) }
                }));
            } else {
                let name = self.name()?;
                let value = if self.eat("=").is_some() {
                    self.assignment()?
                } else {
                    Expression::Undefined
                };
                all.push(Statement { line, kind: StatementKind::Declare(name, value) });
            }
            if self.eat(",").is_none() {
                break;
            }
        }
        self.end_of_statement()?;
        Some(StatementKind::Block(all))
    }

    fn destructured(&mut self) -> Option<Vec<(String, String)>> {
        self.eat("{")?;
        let mut names = Vec::new();
        while self.eat("}").is_none() {
            let member = self.name()?;
            let name = if self.eat(":").is_some() { self.name()? } else { member.clone() };
            names.push((member, name));
            if self.eat(",").is_none() && !self.is_sign("}") {
                return None;
            }
        }
        Some(names)
    }

    fn condition(&mut self) -> Option<StatementKind> {
        self.at += 1;
        self.eat("(")?;
        let condition = self.expression()?;
        self.eat(")")?;
        let then = self.body()?;
        let otherwise = if self.is_word("else") {
            self.at += 1;
            self.body()?
        } else {
            Vec::new()
        };
        Some(StatementKind::If(condition, then, otherwise))
    }

    /// What is tried; the handlers of errors are not needed.
    fn attempt(&mut self) -> Option<StatementKind> {
        self.at += 1;
        let tried = self.block()?;
        if self.is_word("catch") {
            self.at += 1;
            if self.eat("(").is_some() {
                self.name()?;
                self.eat(")")?;
            }
            self.block()?;
        }
        let mut all = tried;
        if self.is_word("finally") {
            self.at += 1;
            all.extend(self.block()?);
        }
        Some(StatementKind::Block(all))
    }

    fn expression(&mut self) -> Option<Expression> {
        self.assignment()
    }

    fn assignment(&mut self) -> Option<Expression> {
        self.depth += 1;
        let made = if self.depth > DEPTH_MAX { None } else { self.assignment_inside() };
        self.depth -= 1;
        made
    }

    fn assignment_inside(&mut self) -> Option<Expression> {
        if self.is_word("async") {
            self.at += 1;
        }
        if let Some(function) = self.arrow() {
            return Some(function);
        }
        let target = self.conditional()?;
        if self.eat("=").is_some() {
            return Some(Expression::Assign(Box::new(target), Box::new(self.assignment()?)));
        }
        if self.eat("+=").is_some() {
            let value = self.assignment()?;
            let sum = Expression::Binary("+".to_owned(), Box::new(target.clone()), Box::new(value));
            return Some(Expression::Assign(Box::new(target), Box::new(sum)));
        }
        Some(target)
    }

    /// `(a, b) => …` or `a => …`, if one begins here.
    fn arrow(&mut self) -> Option<Expression> {
        let start = self.at;
        let parameters =
            if self.is_sign("(") { self.parameters() } else { self.name().map(|name| vec![name]) };
        if parameters.is_none() || self.eat("=>").is_none() {
            self.at = start;
            return None;
        }
        let line = self.line();
        let body = if self.is_sign("{") {
            self.block()?
        } else {
            let value = self.assignment()?;
            vec![Statement { line, kind: StatementKind::Return(Some(value)) }]
        };
        Some(Expression::Function(parameters?, body))
    }

    fn parameters(&mut self) -> Option<Vec<String>> {
        self.eat("(")?;
        let mut names = Vec::new();
        while self.eat(")").is_none() {
            names.push(self.name()?);
            if self.eat(",").is_none() && !self.is_sign(")") {
                return None;
            }
        }
        Some(names)
    }

    fn function_rest(&mut self) -> Option<Expression> {
        let parameters = self.parameters()?;
        Some(Expression::Function(parameters, self.block()?))
    }

    fn conditional(&mut self) -> Option<Expression> {
        let condition = self.binary(0)?;
        if self.eat("?").is_none() {
            return Some(condition);
        }
        let then = self.assignment()?;
        self.eat(":")?;
        let otherwise = self.assignment()?;
        Some(Expression::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise)))
    }

    fn binary(&mut self, level: usize) -> Option<Expression> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        for _ in 0..CHAIN_MAX {
            let sign = match self.peek() {
                TokenKind::Sign(sign) if signs.contains(&sign.as_str()) => sign.clone(),
                _ => return Some(left),
            };
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = Expression::Binary(sign, Box::new(left), Box::new(right));
        }
        None
    }

    fn unary(&mut self) -> Option<Expression> {
        let sign = match self.peek() {
            TokenKind::Sign(sign) if matches!(sign.as_str(), "!" | "-" | "+") => sign.clone(),
            TokenKind::Name(name) if matches!(name.as_str(), "typeof" | "await") => name.clone(),
            _ => return self.postfix(),
        };
        self.at += 1;
        self.depth += 1;
        let operand = if self.depth > DEPTH_MAX { None } else { self.unary() };
        self.depth -= 1;
        let operand = operand?;
        Some(if sign == "await" { operand } else { Expression::Unary(sign, Box::new(operand)) })
    }

    fn postfix(&mut self) -> Option<Expression> {
        let mut value = self.primary()?;
        for _ in 0..CHAIN_MAX {
            if self.eat(".").is_some() || self.eat("?.").is_some() {
                value = Expression::Member(Box::new(value), self.name()?);
            } else if self.is_sign("[") {
                self.at += 1;
                let index = self.expression()?;
                self.eat("]")?;
                value = Expression::Index(Box::new(value), Box::new(index));
            } else if self.is_sign("(") {
                value = Expression::Call(Box::new(value), self.arguments()?);
            } else {
                return Some(value);
            }
        }
        None
    }

    fn arguments(&mut self) -> Option<Vec<Expression>> {
        self.eat("(")?;
        self.list_until(")")
    }

    fn list_until(&mut self, end: &str) -> Option<Vec<Expression>> {
        let mut all = Vec::new();
        while self.eat(end).is_none() {
            all.push(self.assignment()?);
            if self.eat(",").is_none() && !self.is_sign(end) {
                return None;
            }
        }
        Some(all)
    }

    fn primary(&mut self) -> Option<Expression> {
        match self.advance() {
            TokenKind::Number(number) => Some(Expression::Number(number)),
            TokenKind::String(text) => Some(Expression::String(text)),
            TokenKind::Template(texts, sources) => self.template(texts, &sources),
            TokenKind::Pattern => Some(Expression::Pattern),
            TokenKind::Name(name) => match name.as_str() {
                "true" | "false" => Some(Expression::Boolean(name == "true")),
                "null" => Some(Expression::Null),
                "undefined" => Some(Expression::Undefined),
                "function" => {
                    if !self.is_sign("(") {
                        self.name()?;
                    }
                    self.function_rest()
                }
                "new" => self.construction(),
                _ => Some(Expression::Name(name)),
            },
            TokenKind::Sign(sign) => match sign.as_str() {
                "(" => {
                    let inner = self.expression()?;
                    self.eat(")")?;
                    Some(inner)
                }
                "[" => self.list_until("]").map(Expression::Array),
                "{" => self.object(),
                _ => None,
            },
            TokenKind::Unknown | TokenKind::End => None,
        }
    }

    fn construction(&mut self) -> Option<Expression> {
        let mut class = Expression::Name(self.name()?);
        while self.eat(".").is_some() {
            class = Expression::Member(Box::new(class), self.name()?);
        }
        let arguments = if self.is_sign("(") { self.arguments()? } else { Vec::new() };
        Some(Expression::New(Box::new(class), arguments))
    }

    fn object(&mut self) -> Option<Expression> {
        let mut members = Vec::new();
        while self.eat("}").is_none() {
            let key = match self.advance() {
                TokenKind::Name(name) | TokenKind::String(name) => name,
                TokenKind::Number(number) => number.to_string(),
                _ => return None,
            };
            let value = if self.eat(":").is_some() {
                self.assignment()?
            } else if self.is_sign("(") {
                self.function_rest()?
            } else {
                Expression::Name(key.clone())
            };
            members.push((key, value));
            if self.eat(",").is_none() && !self.is_sign("}") {
                return None;
            }
        }
        Some(Expression::Object(members))
    }

    fn template(&self, texts: Vec<String>, sources: &[String]) -> Option<Expression> {
        let mut parts = Vec::new();
        let mut sources = sources.iter();
        for text in texts {
            parts.push(Expression::String(text));
            if let Some(source) = sources.next() {
                let mut inner = Self { tokens: tokens(source), at: 0, depth: self.depth + 1 };
                parts.push(inner.expression()?);
                if inner.peek() != &TokenKind::End {
                    return None;
                }
            }
        }
        Some(Expression::Template(parts))
    }
}

/// Operators, the weakest first.
const LEVELS: [&[&str]; 6] = [
    &["||", "??"],
    &["&&"],
    &["===", "!==", "==", "!="],
    &["<", ">", "<=", ">="],
    &["+", "-"],
    &["*", "/", "%"],
];
/// Statements and expressions inside each other.
const DEPTH_MAX: usize = 60;
/// Members, calls or operators in a row, for a tree is as deep as its longest row.
const CHAIN_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn unreadable(source: &str) -> Vec<usize> {
        let is_unreadable = |statement: &&Statement| statement.kind == StatementKind::Unreadable;
        parse(source).iter().filter(is_unreadable).map(|statement| statement.line).collect()
    }

    #[test]
    fn usual_scripts_are_read() {
        let scripts = [
            "const d = pm.response.json();\npm.test(\"x\", function () { pm.expect(d.a[0]['b']).to.be.a('string') })",
            "var a = 1, b = `x${a + 1}y`\nlet { c, d: e } = a\ntests[\"z\"] = responseCode.code === 200;",
            "if (a) { b() } else if (c) d(); else { e() }",
            "pm.sendRequest({url: u, method: 'POST', body: {mode: 'raw', raw: JSON.stringify({a: 1})}}, (err, res) => { pm.x.set('a', res.json().b) })",
            "try { a() } catch (e) { b() } finally { c() }",
            "const m = text.match(/a[/]b\\/(.*)/g); x = m ? m[1] : null",
            "async function f(a, b) { return a ?? b }\nawait f(1, 2)",
        ];
        for script in scripts {
            assert_eq!(unreadable(script), Vec::<usize>::new(), "{script}");
        }
    }

    #[test]
    fn what_is_not_read_is_skipped_alone() {
        assert_eq!(
            unreadable("a()\nfor (const x of y) {\n  z(x);\n}\nb()\nclass C {}\nc()"),
            [2, 6]
        );
        assert_eq!(unreadable("a(\"unclosed)\nb()"), [1]);
    }

    #[test]
    fn hostile_scripts_end() {
        for script in [
            "(".repeat(100_000),
            "!".repeat(100_000),
            "{".repeat(100_000),
            "`${".repeat(50_000),
            "a.".repeat(100_000),
            "if(a)".repeat(50_000),
        ] {
            parse(&script);
        }
    }
}
