//! The tree of a script: what the parser makes and the machine walks. Chains are flat, so that only brackets make it deep.

use std::sync::Arc;

use super::value::Value;

/// A part of an expression, with the line on which it stands.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) line: u32,
    pub(crate) kind: Kind,
}

/// The kinds of expressions.
#[derive(Debug)]
pub(crate) enum Kind {
    Literal(Value),
    /// A text with expressions in it.
    Template(Vec<Node>),
    Name(Arc<str>),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    /// Values of one level, from left to right.
    Chain(Box<Node>, Vec<(Binary, Node)>),
    /// Truths, until one of them decides.
    Logic(Logic, Vec<Node>),
    Not(Box<Node>),
    Minus(Box<Node>),
    /// `~pattern`, or the bits of a number.
    Tilde(Box<Node>),
    Choice(Box<[Node; 3]>),
    /// The first that counts for true.
    Elvis(Box<[Node; 2]>),
    Assign(Box<Assignment>),
    /// `++` and `--`.
    Count(Box<Node>, Counting),
    /// An operand, and what is looked up and called in it, one after another.
    Path(Box<Node>, Vec<Step>),
    Call(Arc<str>, Vec<Node>),
    Closure(Arc<Function>),
    New(&'static str, Vec<Node>),
    /// An array of zeros.
    Array(Box<Node>, Type),
    Cast(Type, Box<Node>),
    Is(Box<Node>, &'static str),
    /// JEXL's `empty(x)` and JavaScript's `typeof x`, whose operand may be undefined.
    Probe(Probe, Box<Node>),
}

/// An assignment.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) target: Node,
    /// `+` of `+=`; `None` of `=`.
    pub(crate) operator: Option<Binary>,
    pub(crate) value: Node,
}

/// How `++` and `--` count, and which value they have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counting {
    pub(crate) by: i32,
    pub(crate) order: CountOrder,
}

/// Whether the value of a count is that before it or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountOrder {
    Before,
    After,
}

/// Questions about an operand that may be undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    Empty,
    Size,
    TypeOf,
    /// The operand, or nothing.
    Value,
}

/// Which truth decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    And,
    Or,
}

/// A step of a path.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) line: u32,
    pub(crate) reach: StepReach,
    pub(crate) kind: StepKind,
}

/// How a step treats nothing, and lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepReach {
    Plain,
    /// `?.`: nothing stays nothing.
    Safe,
    /// `*.`: of each item.
    Spread,
}

/// The kinds of steps.
#[derive(Debug)]
pub(crate) enum StepKind {
    Member(Arc<str>),
    Method(Arc<str>, Vec<Node>),
    Index(Box<Node>),
    /// A closure that is called.
    Invoke(Vec<Node>),
}

/// Operators of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    ShiftLeft,
    ShiftRight,
    ShiftUnsigned,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    Unequal,
    Same,
    Different,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Compare,
    Find,
    NotFind,
    Match,
    In,
    StartsWith,
    EndsWith,
    Range,
    RangeBelow,
}

/// Types that values are converted to where they are declared or cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Int,
    Long,
    Double,
    Decimal,
    Truth,
    Letter,
    Text,
    List,
    Set,
    Array,
    Short,
    Byte,
    Bytes,
    /// One of Java's own, which is never nothing: `int`, where `Int` is `Integer`.
    Bare(BareType),
    /// No conversion.
    Any,
}

/// A type of Java's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BareType {
    Int,
    Long,
    Double,
    Letter,
    Short,
    Byte,
}

impl BareType {
    /// The class whose values it takes.
    pub(crate) const fn boxed(self) -> Type {
        match self {
            Self::Int => Type::Int,
            Self::Long => Type::Long,
            Self::Double => Type::Double,
            Self::Letter => Type::Letter,
            Self::Short => Type::Short,
            Self::Byte => Type::Byte,
        }
    }

    /// Its name and its class's.
    pub(crate) const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Int => ("int", "Integer"),
            Self::Long => ("long", "Long"),
            Self::Double => ("double", "Double"),
            Self::Letter => ("char", "Character"),
            Self::Short => ("short", "Short"),
            Self::Byte => ("byte", "Byte"),
        }
    }
}

/// A function or a closure.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Vec<Statement>,
    /// Whether it has no parameters of its own: `it` then.
    pub(crate) has_it: bool,
}

/// A parameter.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: Arc<str>,
    pub(crate) kind: Type,
    pub(crate) default: Option<Node>,
}

/// A statement.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) line: u32,
    pub(crate) kind: StatementKind,
}

/// The kinds of statements.
#[derive(Debug)]
pub(crate) enum StatementKind {
    Expression(Node),
    Declare(Vec<Declaration>),
    /// `def (a, b) = list`.
    Unpack(Vec<Arc<str>>, Node),
    Block(Vec<Statement>),
    /// Conditions with what is done, and what else is.
    If(Vec<(Node, Statement)>, Option<Box<Statement>>),
    While(Node, Box<Statement>),
    DoWhile(Box<Statement>, Node),
    For(Box<ForLoop>),
    ForEach(Box<ForEachLoop>),
    Switch(Node, Vec<Case>),
    Try(Box<Attempt>),
    Return(Option<Node>),
    Throw(Node),
    Assert(Node, Option<Node>),
    Break,
    Continue,
    Empty,
}

/// A name that is declared.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub(crate) name: Arc<str>,
    pub(crate) kind: Type,
    pub(crate) value: Option<Node>,
}

/// A loop of Java's form.
#[derive(Debug)]
pub(crate) struct ForLoop {
    pub(crate) begin: Vec<Statement>,
    pub(crate) condition: Option<Node>,
    pub(crate) step: Vec<Node>,
    pub(crate) body: Statement,
}

/// A loop over values.
#[derive(Debug)]
pub(crate) struct ForEachLoop {
    pub(crate) name: Arc<str>,
    pub(crate) kind: Type,
    pub(crate) of: Node,
    /// Whether it goes over keys: JavaScript's `for (x in y)`.
    pub(crate) over_keys: bool,
    pub(crate) body: Statement,
}

/// A case of a `switch`; without a value the default.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) value: Option<Node>,
    pub(crate) body: Vec<Statement>,
}

/// A `try`.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) body: Statement,
    pub(crate) catches: Vec<Catch>,
    pub(crate) finally: Option<Statement>,
}

/// A `catch`: the classes, the name, what is done.
#[derive(Debug)]
pub(crate) struct Catch {
    pub(crate) classes: Vec<&'static str>,
    pub(crate) name: Arc<str>,
    pub(crate) body: Statement,
}
