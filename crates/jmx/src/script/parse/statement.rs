//! Statements.

use std::sync::Arc;

use super::{Parsed, Parser};
use crate::script::Language;
use crate::script::token::TokenKind;
use crate::script::tree::{
    Attempt, Case, Catch, Declaration, ForEachLoop, ForLoop, Kind, Node, Statement, StatementKind,
    Step, StepKind, Type,
};

impl Parser<'_> {
    /// All of a script.
    pub(super) fn script(&mut self) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        while !matches!(self.token().kind, TokenKind::End) {
            statements.push(self.statement()?);
        }
        Ok(statements)
    }

    /// Statements up to a closing sign.
    pub(super) fn statements(&mut self, end: &str) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        while !self.eat(end) {
            statements.push(self.statement()?);
        }
        Ok(statements)
    }

    /// A statement, and what ends it.
    pub(super) fn statement(&mut self) -> Parsed<Statement> {
        let line = self.line();
        let kind = self.deeper(Self::statement_kind)?;
        Ok(Statement { line, kind })
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind> {
        if self.eat(";") {
            return Ok(StatementKind::Empty);
        }
        if self.is_sign("{") {
            self.at += 1;
            return self.in_block(|parser| parser.statements("}")).map(StatementKind::Block);
        }
        if self.is_sign("@") {
            return self.annotation();
        }
        let word = self.name_at(0).cloned().unwrap_or_else(|| Arc::from(""));
        // A name of the script's own may be a word of another language.
        let is_value = self.sign_at(1, ".") || self.sign_at(1, "=") || self.sign_at(1, ":");
        if !is_value && let Some(kind) = self.keyword(&word)? {
            return Ok(kind);
        }
        self.simple_statement()
    }

    /// A statement that a word begins.
    fn keyword(&mut self, word: &str) -> Parsed<Option<StatementKind>> {
        let parse: fn(&mut Self) -> Parsed<StatementKind> = match word {
            "if" => Self::if_statement,
            "while" => Self::while_statement,
            "do" => Self::do_statement,
            "for" => Self::for_statement,
            "switch" => Self::switch_statement,
            "try" => Self::try_statement,
            "return" => Self::return_statement,
            "throw" => Self::throw_statement,
            "assert" => Self::assert_statement,
            "break" | "continue" => Self::jump_statement,
            "import" | "package" => Self::import_statement,
            "function" if self.language == Language::JavaScript => Self::function_statement,
            "class" | "interface" | "enum" | "trait" => {
                return Err(self.refused("classes of a script's own"));
            }
            "synchronized" => |parser| {
                parser.condition()?;
                parser.statement_kind()
            },
            _ => return Ok(None),
        };
        self.at += 1;
        parse(self).map(Some)
    }

    /// The end of a statement: a semicolon, a line, or what closes its block.
    fn end(&mut self) -> Parsed<()> {
        let ends = self.eat(";")
            || self.is_sign("}")
            || matches!(self.token().kind, TokenKind::End)
            || self.token().opens_line && self.language != Language::BeanShell;
        if ends { Ok(()) } else { Err(self.problem()) }
    }

    /// A condition in brackets.
    fn condition(&mut self) -> Parsed<Node> {
        self.expect("(")?;
        self.bracketed(|parser| {
            let condition = parser.expression()?;
            parser.expect(")")?;
            Ok(condition)
        })
    }

    fn if_statement(&mut self) -> Parsed<StatementKind> {
        let mut branches = Vec::new();
        loop {
            let condition = self.condition()?;
            branches.push((condition, self.statement()?));
            // `else` may stand after a semicolon.
            let has_semicolon =
                self.is_sign(";") && self.name_at(1).is_some_and(|n| **n == *"else");
            self.at += usize::from(has_semicolon);
            if !self.eat_word("else") {
                return Ok(StatementKind::If(branches, None));
            }
            if !self.eat_word("if") {
                let other = self.statement()?;
                return Ok(StatementKind::If(branches, Some(Box::new(other))));
            }
        }
    }

    fn while_statement(&mut self) -> Parsed<StatementKind> {
        let condition = self.condition()?;
        Ok(StatementKind::While(condition, Box::new(self.statement()?)))
    }

    fn do_statement(&mut self) -> Parsed<StatementKind> {
        let body = self.statement()?;
        if !self.eat_word("while") {
            return Err(self.problem());
        }
        let condition = self.condition()?;
        self.end()?;
        Ok(StatementKind::DoWhile(Box::new(body), condition))
    }

    fn for_statement(&mut self) -> Parsed<StatementKind> {
        self.expect("(")?;
        let head = self.attempt(Self::for_each_head);
        if let Some((name, kind, over_keys)) = head {
            let of = self.bracketed(|parser| {
                let of = parser.expression()?;
                parser.expect(")")?;
                Ok(of)
            })?;
            let body = self.statement()?;
            let each = ForEachLoop { name, kind, of, over_keys, body };
            return Ok(StatementKind::ForEach(Box::new(each)));
        }
        self.classic_for()
    }

    /// `int i in`, `x :`; `None` of the other form.
    fn for_each_head(&mut self) -> Option<(Arc<str>, Type, bool)> {
        let parameter = self.parameter_name()?;
        let is_javascript = self.language == Language::JavaScript;
        let is_in = self.eat_word("in");
        let is_each = is_in || self.eat(":") || is_javascript && self.eat_word("of");
        is_each.then_some((parameter.name, parameter.kind, is_in && is_javascript))
    }

    fn classic_for(&mut self) -> Parsed<StatementKind> {
        let head = self.bracketed(|parser| {
            let begin = parser.for_begin()?;
            let condition = if parser.is_sign(";") { None } else { Some(parser.expression()?) };
            parser.expect(";")?;
            Ok((begin, condition, parser.items(")")?))
        });
        let (begin, condition, step) = head?;
        let body = self.statement()?;
        Ok(StatementKind::For(Box::new(ForLoop { begin, condition, step, body })))
    }

    fn for_begin(&mut self) -> Parsed<Vec<Statement>> {
        let line = self.line();
        if self.eat(";") {
            return Ok(Vec::new());
        }
        if let Some(kind) = self.declaration()? {
            self.expect(";")?;
            return Ok(vec![Statement { line, kind }]);
        }
        let nodes = self.items(";")?;
        let of = |node| Statement { line, kind: StatementKind::Expression(node) };
        Ok(nodes.into_iter().map(of).collect())
    }

    fn switch_statement(&mut self) -> Parsed<StatementKind> {
        let value = self.condition()?;
        self.expect("{")?;
        let cases = self.in_block(Self::cases)?;
        Ok(StatementKind::Switch(value, cases))
    }

    fn cases(&mut self) -> Parsed<Vec<Case>> {
        let mut cases: Vec<Case> = Vec::new();
        while !self.eat("}") {
            if self.eat_word("default") {
                self.expect(":")?;
                cases.push(Case { value: None, body: Vec::new() });
            } else if self.eat_word("case") {
                let value = self.case_value()?;
                cases.push(Case { value: Some(value), body: Vec::new() });
            } else {
                let statement = self.statement()?;
                cases.last_mut().ok_or_else(|| self.problem())?.body.push(statement);
            }
        }
        Ok(cases)
    }

    fn case_value(&mut self) -> Parsed<Node> {
        let value = self.unary()?;
        let value = match self.is_sign("..") {
            true => {
                let line = self.line();
                self.at += 1;
                let rest = vec![(crate::script::tree::Binary::Range, self.unary()?)];
                Node { line, kind: Kind::Chain(Box::new(value), rest) }
            }
            false => value,
        };
        self.expect(":")?;
        Ok(value)
    }

    fn try_statement(&mut self) -> Parsed<StatementKind> {
        if self.is_sign("(") {
            return Err(self.refused("try with resources"));
        }
        let body = self.statement()?;
        let mut catches = Vec::new();
        while self.eat_word("catch") {
            catches.push(self.catch()?);
        }
        let finally = if self.eat_word("finally") { Some(self.statement()?) } else { None };
        Ok(StatementKind::Try(Box::new(Attempt { body, catches, finally })))
    }

    fn catch(&mut self) -> Parsed<Catch> {
        self.expect("(")?;
        let mut classes = Vec::new();
        self.eat_word("final");
        while !self.sign_at(1, ")") {
            let found = self.type_name().ok_or_else(|| self.problem())?;
            // An exception that is not known is never thrown here.
            classes.push(self.names.class(&found.name).unwrap_or("UnknownException"));
            self.eat("|");
        }
        let name = self.name()?;
        self.names.declare(&name);
        self.expect(")")?;
        Ok(Catch { classes, name, body: self.statement()? })
    }

    fn return_statement(&mut self) -> Parsed<StatementKind> {
        let is_empty = self.is_sign(";")
            || self.is_sign("}")
            || self.is_line_end()
            || matches!(self.token().kind, TokenKind::End);
        let value = if is_empty { None } else { Some(self.expression()?) };
        self.end()?;
        Ok(StatementKind::Return(value))
    }

    fn throw_statement(&mut self) -> Parsed<StatementKind> {
        let value = self.expression()?;
        self.end()?;
        Ok(StatementKind::Throw(value))
    }

    fn assert_statement(&mut self) -> Parsed<StatementKind> {
        let condition = self.expression()?;
        let has_message = self.eat(":") || self.eat(",");
        let message = if has_message { Some(self.expression()?) } else { None };
        self.end()?;
        Ok(StatementKind::Assert(condition, message))
    }

    fn jump_statement(&mut self) -> Parsed<StatementKind> {
        self.at -= 1;
        let is_break = self.is_word("break");
        self.at += 1;
        if self.name_at(0).is_some() && !self.token().opens_line {
            return Err(self.refused("jumps to a label"));
        }
        self.end()?;
        Ok(if is_break { StatementKind::Break } else { StatementKind::Continue })
    }

    /// An import: classes are known by their names, so that only other names matter.
    fn import_statement(&mut self) -> Parsed<StatementKind> {
        self.eat_word("static");
        let mut last = self.name()?;
        while self.eat(".") {
            if self.eat("*") {
                break;
            }
            last = self.name()?;
        }
        if self.eat_word("as") {
            let alias = self.name()?;
            if let Some(class) = self.names.class(&last) {
                self.names.alias(&alias, class);
            }
        }
        self.end()?;
        Ok(StatementKind::Empty)
    }

    /// `@Field def x = 1`; an annotation of another kind is refused.
    fn annotation(&mut self) -> Parsed<StatementKind> {
        self.at += 1;
        let mut name = self.name()?;
        while self.eat(".") {
            name = self.name()?;
        }
        if matches!(&*name, "Field" | "CompileStatic" | "TypeChecked" | "Override") {
            return self.statement_kind();
        }
        Err(self.refused("annotations such as @Grab"))
    }

    fn function_statement(&mut self) -> Parsed<StatementKind> {
        let name = self.name()?;
        self.function(name)?;
        Ok(StatementKind::Empty)
    }

    fn function(&mut self, name: Arc<str>) -> Parsed<()> {
        let function = self.function_rest()?;
        self.names.functions.push((name, Arc::new(function)));
        Ok(())
    }

    /// A declaration or an expression.
    fn simple_statement(&mut self) -> Parsed<StatementKind> {
        if let Some(name) = self.attempt(Self::function_head) {
            self.function(name)?;
            return Ok(StatementKind::Empty);
        }
        let kind = match self.declaration()? {
            Some(kind) => kind,
            None => StatementKind::Expression(self.command()?),
        };
        self.end()?;
        Ok(kind)
    }

    /// `def name(`, `static String name(`: the name of a function that is declared.
    fn function_head(&mut self) -> Option<Arc<str>> {
        let mut words = 0;
        while let Some("def" | "static" | "public" | "private" | "final" | "protected") =
            self.name_at(0).map(|name| &**name)
        {
            self.at += 1;
            words += 1;
        }
        let has_type = self.attempt(|parser| {
            parser.type_name()?;
            parser.name_at(0)?;
            Some(())
        });
        let is_bare = self.language == Language::BeanShell && words == 0 && has_type.is_none();
        if words == 0 && has_type.is_none() && !is_bare || !self.sign_at(1, "(") {
            return None;
        }
        // A body must follow: else it is a call.
        let end = self.closing(2)?;
        let has_body = self.sign_at(end, "{") || self.ahead(end).kind.is_word("throws");
        let name = self.name().ok()?;
        has_body.then_some(name)
    }

    /// A declaration; `None` where there is none.
    fn declaration(&mut self) -> Parsed<Option<StatementKind>> {
        let Some(kind) = self.attempt(Self::declared_type) else { return Ok(None) };
        if self.is_sign("(") {
            return self.unpacking().map(Some);
        }
        let mut declarations = Vec::new();
        loop {
            let name = self.name()?;
            self.names.declare(&name);
            let mut kind = kind;
            while self.is_sign("[") && self.sign_at(1, "]") {
                self.at += 2;
                kind = Type::Array;
            }
            let value = if self.eat("=") { Some(self.expression()?) } else { None };
            declarations.push(Declaration { name, kind, value });
            if !self.eat(",") {
                return Ok(Some(StatementKind::Declare(declarations)));
            }
        }
    }

    /// What declares: `def`, `final String`, `let`, `int`.
    fn declared_type(&mut self) -> Option<Type> {
        let mut is_declaration = false;
        while let Some(word) = self.name_at(0) {
            let declares = match &**word {
                "def" => self.is_groovy(),
                "final" | "static" => true,
                "var" => self.language != Language::Jexl2,
                "let" | "const" => matches!(self.language, Language::JavaScript | Language::Jexl3),
                _ => false,
            };
            let is_name = self.sign_at(1, "=") || self.sign_at(1, ".");
            if !declares || is_name {
                break;
            }
            self.at += 1;
            is_declaration = true;
        }
        if is_declaration && self.is_sign("(") {
            return Some(Type::Any);
        }
        let typed = self.attempt(|parser| {
            let kind = parser.type_name()?.kind;
            let is_name = parser.name_at(0).is_some() && !parser.is_operator_word();
            (is_name && !parser.token().opens_line).then_some(kind)
        });
        let is_plain = is_declaration && self.name_at(0).is_some();
        typed.or(is_plain.then_some(Type::Any))
    }

    /// Whether a word is next that is an operator here.
    fn is_operator_word(&self) -> bool {
        let words: &[&str] = match self.language {
            Language::Groovy => &["in", "as", "instanceof"],
            Language::Jexl2 | Language::Jexl3 => {
                &["and", "or", "eq", "ne", "lt", "le", "gt", "ge", "div", "mod", "not"]
            }
            _ => &["instanceof"],
        };
        words.iter().any(|word| self.is_word(word))
    }

    /// `(a, b) = list`, after `def`.
    fn unpacking(&mut self) -> Parsed<StatementKind> {
        let parameters = self.parameters().ok_or_else(|| self.problem())?;
        self.expect("=")?;
        let names = parameters.into_iter().map(|parameter| parameter.name).collect();
        Ok(StatementKind::Unpack(names, self.expression()?))
    }

    /// An expression; in Groovy also a call without brackets: `println x`, `log.info "x"`.
    fn command(&mut self) -> Parsed<Node> {
        let node = self.expression()?;
        if !self.is_groovy() || !self.begins_argument() {
            return Ok(node);
        }
        let line = node.line;
        match node.kind {
            Kind::Name(name) => {
                let kind = Kind::Call(name, self.command_arguments()?);
                Ok(Node { line, kind })
            }
            Kind::Path(first, mut steps) => match steps.pop() {
                Some(Step { line: at, reach, kind: StepKind::Member(name) }) => {
                    let kind = StepKind::Method(name, self.command_arguments()?);
                    steps.push(Step { line: at, reach, kind });
                    Ok(Node { line, kind: Kind::Path(first, steps) })
                }
                _ => Err(self.problem()),
            },
            _ => Err(self.problem()),
        }
    }

    /// Whether an argument is next, on the same line.
    fn begins_argument(&self) -> bool {
        let token = self.token();
        let is_argument = match &token.kind {
            TokenKind::Literal(_) | TokenKind::Template(_) => true,
            TokenKind::Name(name) => !matches!(&**name, "else" | "while" | "catch" | "finally"),
            _ => false,
        };
        is_argument && !token.opens_line && token.after_space
    }

    fn command_arguments(&mut self) -> Parsed<Vec<Node>> {
        let mut arguments = vec![self.expression()?];
        while self.eat(",") {
            arguments.push(self.expression()?);
        }
        Ok(arguments)
    }
}

impl TokenKind {
    /// Whether it is a word.
    fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Name(name) if **name == *word)
    }
}
