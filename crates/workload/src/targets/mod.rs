//! Targets as files give them: Vegeta's two grammars, each as Vegeta reads it and as it should be read. Nothing here opens a
//! file: input comes as bytes or as a reader, and body files through a function of the caller's.

pub mod http;
pub mod json;
mod lines;
mod problem;
mod url;
mod vegeta_json;

use std::sync::Arc;

use crate::Target;

pub use lines::LINE_MAX;
pub use problem::{PROBLEMS_MAX, Problem, ProblemKind};

/// How a grammar's rough edges are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grammar {
    /// Nothing is lost or misread: a request line ends the header block before it, a last line needs no newline, lines may be
    /// long, URLs must be `http` or `https`. `#brunt weight=3 name=home` before a request line, `weight` and `name` in JSON.
    #[default]
    Native,
    /// To the letter, surprises included.
    Vegeta,
}

/// How to read targets, and what they have where they do not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How rough edges are read.
    pub grammar: Grammar,
    /// What targets have in common.
    pub defaults: Defaults,
}

/// What targets have in common (`-header`, `-body`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// Header fields that come before a target's own.
    pub headers: Vec<(String, String)>,
    /// The body of a target without one.
    pub body: Arc<[u8]>,
}

/// Reads a body file (`@path`); gives its bytes or why it could not be read.
pub type ReadBody<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

impl Defaults {
    /// The target with the default headers before its own, and the default body where it has none (`None`; an empty body is
    /// a body).
    #[must_use]
    pub fn apply(&self, bare: BareTarget) -> Target {
        let mut headers = self.headers.clone();
        headers.extend(bare.headers);
        Target {
            method: bare.method,
            url: bare.url,
            headers,
            body: bare.body.unwrap_or_else(|| Arc::clone(&self.body)),
            weight: bare.weight,
            name: bare.name,
        }
    }
}

/// A target as its file gives it, before the defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BareTarget {
    /// The method, as given.
    pub method: String,
    /// The URL, as given.
    pub url: String,
    /// Its own header fields in order.
    pub headers: Vec<(String, String)>,
    /// Its own body.
    pub body: Option<Arc<[u8]>>,
    /// How often it is chosen, relative to the others.
    pub weight: u32,
    /// A name to group by; may be empty.
    pub name: String,
}

impl BareTarget {
    fn new(method: &str, url: &str) -> Self {
        Self {
            method: method.to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: None,
            weight: 1,
            name: String::new(),
        }
    }
}

/// Targets and problems of a whole input, from its stream. Vegeta's grammar stops at the first problem.
fn collect(
    stream: impl Iterator<Item = Result<Target, Problem>>,
    grammar: Grammar,
) -> (Vec<Target>, Vec<Problem>) {
    let (mut targets, mut problems) = (Vec::new(), Vec::new());
    for item in stream {
        match item {
            Ok(target) => targets.push(target),
            Err(problem) => problems.push(problem),
        }
        if problems.len() == PROBLEMS_MAX || (grammar == Grammar::Vegeta && !problems.is_empty()) {
            break;
        }
    }
    if targets.is_empty() && problems.is_empty() {
        problems.push(Problem { line: 0, grammar, kind: ProblemKind::NoTargets });
    }
    (targets, problems)
}

/// Name and value are such as a header field may have (RFC 9110, 5.5 and 5.6.2).
fn is_field(name: &str, value: &str) -> bool {
    is_token(name) && !value.bytes().any(|b| (b < b' ' && b != b'\t') || b == 0x7f)
}

/// RFC 9110, 5.6.2.
fn is_token(text: &str) -> bool {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(token)
}
