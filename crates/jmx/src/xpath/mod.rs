//! XPath over XML and pages: version 1, and of version 2 what plans use (sequences, `if`, `for`, texts and numbers).
//!
//! ```text
//!   XML or page ─▶ Tree ─┐
//!   "//a[@b]"  ── parse ─┴─ evaluate ─▶ Value ─▶ texts
//! ```

mod evaluate;
mod functions;
mod parse;
mod tree;

use evaluate::{Evaluator, Place};
use tree::Declares;

pub(crate) use evaluate::Value;
pub(crate) use tree::Tree;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum XPathError {
    /// It is no expression.
    #[error("the expression is not understood at position {at}")]
    Malformed {
        /// At which letter.
        at: usize,
    },
    /// It names what is not known.
    #[error("{name} is not known")]
    Unknown {
        /// What it names.
        name: String,
    },
    /// It goes on from something that is no node.
    #[error("a step begins at something that is no node")]
    NoNodes,
    /// A pattern in it is broken.
    #[error("a regular expression is broken")]
    BadPattern,
    /// It looks at more nodes than it may.
    #[error("the expression looks at too many nodes")]
    TooLong,
    /// The test has come to its end meanwhile.
    #[error("the test has ended")]
    Ended,
}

/// What names in an expression mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    /// Prefixes beside those of the document.
    pub(crate) namespaces: &'a [(String, String)],
    /// Whether a name without a prefix means elements of any namespace.
    pub(crate) ignores_namespaces: bool,
}

impl Names<'_> {
    /// What a prefix stands for.
    fn uri<'a>(&'a self, tree: &'a Tree, prefix: &str) -> Option<&'a str> {
        let known = self.namespaces.iter().chain(&tree.namespaces);
        known.into_iter().find(|(name, _)| name == prefix).map(|(_, uri)| uri.as_str())
    }
}

/// The value of an expression on a document.
pub(crate) fn evaluate(tree: &Tree, written: &str, names: Names<'_>) -> Result<Value, XPathError> {
    let expression = parse::Parser::whole(written)?;
    let place = Place { node: 0, position: 1, size: 1 };
    Evaluator::new(tree, names).value(&expression, place)
}

/// How nodes become texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Of elements what JMeter's first XPath extractor takes: their first text.
    FirstText,
    /// All text in them.
    AllText,
    /// Their markup, as the first extractor writes it.
    Markup,
    /// Their markup with its namespaces, as the second extractor writes it.
    DeclaredMarkup,
}

/// The texts of a value's items; `None` for an item without a text.
pub(crate) fn texts(tree: &Tree, value: &Value, shape: Shape) -> Vec<Option<String>> {
    let names = Names { namespaces: &[], ignores_namespaces: true };
    let evaluator = Evaluator::new(tree, names);
    let node_text = |node: usize| match shape {
        Shape::AllText => Some(tree.text_of(node)),
        Shape::Markup => Some(tree.markup(node, Declares::None)),
        Shape::DeclaredMarkup => Some(tree.markup(node, Declares::All)),
        Shape::FirstText => tree.first_text(node),
    };
    let items = evaluator.items(value.clone());
    let (mut texts, mut bytes) = (Vec::new(), 0);
    for item in items {
        if bytes > TEXTS_BYTES_MAX || crate::ending::is_over() {
            break;
        }
        let text = match &item {
            Value::Nodes(nodes) => nodes.first().and_then(|node| node_text(*node)),
            other => Some(evaluator.text(other)),
        };
        bytes += text.as_ref().map_or(0, String::len);
        texts.push(text);
    }
    texts
}

/// Bytes of all texts of a value, at most; nodes may stand in one another. What follows is left out.
const TEXTS_BYTES_MAX: usize = 64 << 20;

/// Namespaces as elements list them: `prefix=uri`, a line each.
pub(crate) fn namespaces_of(list: &str) -> Vec<(String, String)> {
    let lines = list.lines().filter_map(|line| line.split_once('='));
    lines.map(|(prefix, uri)| (prefix.to_owned(), uri.to_owned())).collect()
}

/// Why a text is no XML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum XmlError {
    /// It does not begin with a tag.
    #[error("Content is not allowed in prolog.")]
    Prolog,
    /// It ends before its elements do.
    #[error("XML document structures must start and end within the same entity.")]
    Unfinished,
    /// It has a document type.
    #[error(
        "DOCTYPE is disallowed when the feature \"http://apache.org/xml/features/disallow-doctype-decl\" set to true."
    )]
    DocumentType,
    /// Something else.
    #[error("{reason}")]
    Malformed {
        /// What is wrong.
        reason: roxmltree::Error,
    },
    /// Its elements stand too deep in one another.
    #[error("elements stand too deep in one another")]
    TooDeep,
    /// It declares too many namespaces for its size.
    #[error("too many namespaces are declared")]
    Namespaces,
}

/// Nodes of a text at most.
const NODES_MAX: u32 = 1_000_000;
/// Each name is looked up among the namespaces that are declared around it. Names times declarations at most, a second's work.
const LOOKUPS_MAX: usize = 50_000_000;
/// So many declarations are never too many.
const NAMESPACES_FREE: usize = 50;

/// Whether the namespaces of a text can be looked up in bounded time.
fn bound_namespaces(text: &str) -> Result<(), XmlError> {
    let declarations = text.matches("xmlns").count();
    let names = text.bytes().filter(|byte| matches!(byte, b'<' | b'=')).count();
    match declarations > NAMESPACES_FREE && declarations.saturating_mul(names) > LOOKUPS_MAX {
        true => Err(XmlError::Namespaces),
        false => Ok(()),
    }
}

/// A text as XML.
pub(crate) fn parse_xml(text: &str) -> Result<roxmltree::Document<'_>, XmlError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !text.trim_start().starts_with('<') {
        return Err(XmlError::Prolog);
    }
    crate::document::bound_depth(text).map_err(|_| XmlError::TooDeep)?;
    bound_namespaces(text)?;
    let options = roxmltree::ParsingOptions {
        allow_dtd: false,
        nodes_limit: NODES_MAX,
        ..roxmltree::ParsingOptions::default()
    };
    roxmltree::Document::parse_with_options(text, options).map_err(|reason| match reason {
        roxmltree::Error::DtdDetected => XmlError::DocumentType,
        roxmltree::Error::UnclosedRootNode | roxmltree::Error::UnexpectedEndOfStream => {
            XmlError::Unfinished
        }
        reason => XmlError::Malformed { reason },
    })
}

#[cfg(test)]
mod tests;
