//! The tree of a script.

/// A statement and the line on which it begins, from 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement {
    pub line: usize,
    pub kind: StatementKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum StatementKind {
    Declare(String, Expression),
    Expression(Expression),
    If(Expression, Vec<Statement>, Vec<Statement>),
    Return(Option<Expression>),
    Block(Vec<Statement>),
    /// Loops, classes, and what the parser does not read.
    Unreadable,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    Number(f64),
    String(String),
    Boolean(bool),
    Null,
    Undefined,
    /// Texts and expressions in turn.
    Template(Vec<Self>),
    Name(String),
    Member(Box<Self>, String),
    Index(Box<Self>, Box<Self>),
    Call(Box<Self>, Vec<Self>),
    New(Box<Self>, Vec<Self>),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
    Unary(String, Box<Self>),
    Binary(String, Box<Self>, Box<Self>),
    Conditional(Box<Self>, Box<Self>, Box<Self>),
    Function(Vec<String>, Vec<Statement>),
    Assign(Box<Self>, Box<Self>),
    /// A regular expression.
    Pattern,
}
