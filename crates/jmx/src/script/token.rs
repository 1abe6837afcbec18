//! The tokens of scripts.

use std::sync::Arc;

use super::value::Value;

/// A token, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) line: u32,
    /// Whether it is the first of its line.
    pub(super) opens_line: bool,
    /// Whether a space is before it.
    pub(super) after_space: bool,
}

/// The kinds of tokens.
#[derive(Clone, Debug)]
pub(super) enum TokenKind {
    Name(Arc<str>),
    Literal(Value),
    /// A text with code in it.
    Template(Vec<Piece>),
    /// A regular expression of JavaScript: its pattern with its flags.
    Regex(Arc<str>),
    Sign(&'static str),
    End,
}

/// A piece of a text with code in it.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(String),
    Code(Vec<Token>),
}

/// Signs, the longest first.
pub(super) const SIGNS: &[&str] = &[
    ">>>=", "<=>", "==~", "===", "!==", "**=", "<<=", ">>=", ">>>", "...", "..<", "?.", "*.", "?:",
    "?=", "->", "=>", "::", ".&", ".@", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=",
    "*=", "/=", "%=", "&=", "|=", "^=", "=~", "!~", "=^", "=$", "..", "**", "<<", ">>", "+", "-",
    "*", "/", "%", "=", "<", ">", "!", "?", ":", ";", ",", ".", "(", ")", "[", "]", "{", "}", "&",
    "|",
];

/// Signs of one letter that stand beside the others.
pub(super) const MORE_SIGNS: &[&str] = &["^", "~", "@", "#"];
