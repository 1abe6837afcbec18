//! The grammar of lines: `METHOD URL`, header fields below it, `@file` for the body, blank lines between targets, `#` for
//! comments.
//!
//! Natively a request line ends the header block before it, and `#brunt weight=3 name=home` (a name with blanks in double
//! quotes) says how often the next target is chosen and what it is called. Vegeta's reading turns such a request line into a
//! header field; it is kept in [`Grammar::Vegeta`].

use std::io::BufRead;

use super::lines::{Line, Lines};
use super::url::{is_url, is_web};
use super::{BareTarget, Grammar, Options, Problem, ProblemKind, ReadBody, collect};
use crate::Target;

/// Reads a whole file: its targets, and all that is wrong with it (in Vegeta's grammar, the first thing). No bytes make it
/// panic. Where there are problems, nothing should be sent.
#[must_use]
pub fn parse(
    input: &[u8],
    options: &Options,
    read: &mut ReadBody<'_>,
) -> (Vec<Target>, Vec<Problem>) {
    collect(Stream::new(input, options.clone(), read), options.grammar)
}

/// Targets one by one (`-lazy`), and the problems between them. Ends with the input, or after a problem of the input itself.
pub struct Stream<R, F> {
    lines: Lines<R>,
    options: Options,
    read: F,
    /// Where the last item left off: after a problem, lines up to the next target are skipped.
    skip: bool,
}

impl<R, F> Stream<R, F>
where
    R: BufRead,
    F: FnMut(&str) -> Result<Vec<u8>, String>,
{
    /// Reads from `input`, which may be a `Box<dyn BufRead + Send>`; `read` reads body files.
    pub fn new(input: R, options: Options, read: F) -> Self {
        Self { lines: Lines::scanned(input, options.grammar), options, read, skip: false }
    }

    fn grammar(&self) -> Grammar {
        self.options.grammar
    }

    /// The next target, with the line at fault where there is none.
    fn target(&mut self) -> Result<Option<BareTarget>, (u64, ProblemKind)> {
        let mut given = Given::default();
        let Some(line) = self.request_line(&mut given)? else {
            return Ok(None);
        };
        let (method, url) =
            request(&line.text, self.grammar()).map_err(|kind| (line.number, kind))?;
        let mut target = BareTarget::new(method, url);
        (target.weight, target.name) = (given.weight.unwrap_or(1), given.name);
        if self.block_follows()? {
            self.block(&mut target)?;
        }
        Ok(Some(target))
    }

    /// The next line that is neither blank nor a comment; directives before it go into `given`.
    fn request_line(&mut self, given: &mut Given) -> Result<Option<Line>, (u64, ProblemKind)> {
        while let Some(mut line) = self.next()? {
            let text = line.text.trim();
            let skipped = self.skip && !text.is_empty() && !begins_target(text, self.grammar());
            if let Some(directive) = self.directive(text) {
                given.read(directive).map_err(|kind| (line.number, kind))?;
            } else if !(text.is_empty() || text.starts_with('#') || skipped) {
                line.text = text.to_owned();
                self.skip = false;
                return Ok(Some(line));
            }
            self.skip &= !text.is_empty();
        }
        Ok(None)
    }

    /// What follows `#brunt`; Vegeta's grammar knows comments only.
    fn directive<'t>(&self, text: &'t str) -> Option<&'t str> {
        let rest = text.strip_prefix("#brunt").filter(|_| self.grammar() == Grammar::Native)?;
        (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some(rest)
    }

    /// The line after the request line begins a header block. What is wrong with that line itself is told when it is read.
    fn block_follows(&mut self) -> Result<bool, (u64, ProblemKind)> {
        let grammar = self.grammar();
        let next = self.peek()?;
        Ok(next.is_some_and(|line| {
            let text = line.text.trim();
            !text.is_empty() && !begins_target(text, grammar)
        }))
    }

    /// Reads header fields up to a blank line, a body file, or natively the next target.
    fn block(&mut self, target: &mut BareTarget) -> Result<(), (u64, ProblemKind)> {
        let grammar = self.grammar();
        while let Some(line) = self.peek()? {
            let (number, text) = (line.number, line.text.trim());
            let ends = text.starts_with("#brunt") || begins_target(text, grammar);
            if grammar == Grammar::Native && ends {
                return Ok(());
            }
            let text = text.to_owned();
            self.next()?;
            if text.is_empty() {
                return Ok(());
            }
            if let Some(path) = text.strip_prefix('@') {
                let body = (self.read)(path).map_err(|reason| {
                    self.skip = false;
                    (number, ProblemKind::Body { path: path.to_owned(), reason })
                })?;
                target.body = Some(body.into());
                return Ok(());
            }
            if !text.starts_with('#') {
                target.headers.push(header(&text, grammar).map_err(|kind| (number, kind))?);
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Line>, (u64, ProblemKind)> {
        let line = self.lines.next();
        line.map_err(|kind| (self.lines.number(), kind))
    }

    fn peek(&mut self) -> Result<Option<&Line>, (u64, ProblemKind)> {
        if let Err(kind) = self.lines.peek() {
            return Err((self.lines.number(), kind));
        }
        self.lines.peek().map_err(|kind| (0, kind))
    }
}

impl<R, F> Iterator for Stream<R, F>
where
    R: BufRead,
    F: FnMut(&str) -> Result<Vec<u8>, String>,
{
    type Item = Result<Target, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let grammar = self.grammar();
        match self.target() {
            Ok(target) => Some(Ok(self.options.defaults.apply(target?))),
            // Vegeta's scanner takes a line that is too long for the end of its input, and drops what it was reading.
            Err((_, ProblemKind::LineTooLong)) if grammar == Grammar::Vegeta => None,
            Err((line, kind)) => {
                self.skip = !matches!(kind, ProblemKind::Body { .. });
                Some(Err(Problem { line, grammar, kind }))
            }
        }
    }
}

/// What `#brunt` lines said of the next target.
#[derive(Default)]
struct Given {
    weight: Option<u32>,
    name: String,
}

impl Given {
    fn read(&mut self, directive: &str) -> Result<(), ProblemKind> {
        let mut rest = directive.trim();
        while !rest.is_empty() {
            let (word, after) = split_word(rest);
            let wrong = || ProblemKind::Directive { found: word.to_owned() };
            let (key, value) = word.split_once('=').ok_or_else(wrong)?;
            match key {
                "weight" => {
                    let weight = value.parse().ok().filter(|weight| *weight > 0);
                    self.weight = Some(weight.ok_or_else(wrong)?);
                }
                "name" => self.name = value.replace('"', ""),
                _ => return Err(wrong()),
            }
            rest = after.trim_start();
        }
        Ok(())
    }
}

/// The first word, blanks in double quotes included, and what follows it.
fn split_word(text: &str) -> (&str, &str) {
    let mut quoted = false;
    let end = text.find(|c: char| {
        quoted ^= c == '"';
        c.is_whitespace() && !quoted
    });
    text.split_at(end.unwrap_or(text.len()))
}

/// The line looks like a request line: capitals and a blank. Natively a web address must follow, so that no field is lost.
fn begins_target(line: &str, grammar: Grammar) -> bool {
    let capitals = line.bytes().take_while(u8::is_ascii_uppercase).count();
    let rest = &line[capitals..];
    let begins = capitals > 0 && rest.starts_with(is_blank);
    begins && (grammar == Grammar::Vegeta || is_web(rest.trim_start()))
}

/// A blank as Go's `\s` has it.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0c' | '\r')
}

/// Method and URL of a request line.
fn request(line: &str, grammar: Grammar) -> Result<(&str, &str), ProblemKind> {
    let split = match grammar {
        Grammar::Vegeta => line.split_once(' '),
        Grammar::Native => line.split_once(is_blank).map(|(method, url)| (method, url.trim())),
    };
    let (method, url) = split.ok_or_else(|| ProblemKind::Target { found: line.to_owned() })?;
    let capitals = line.bytes().take_while(u8::is_ascii_uppercase).count();
    if capitals == 0 || !line[capitals..].starts_with(is_blank) {
        return Err(ProblemKind::Method { found: method.to_owned() });
    }
    if !is_url(url, grammar) {
        return Err(ProblemKind::Url { found: url.to_owned() });
    }
    Ok((method, url))
}

/// A header field, both sides trimmed and not empty. Natively the name must be one (RFC 9110, 5.1).
fn header(line: &str, grammar: Grammar) -> Result<(String, String), ProblemKind> {
    let wrong = || ProblemKind::Header { found: line.to_owned() };
    let (name, value) = line.split_once(':').ok_or_else(wrong)?;
    let (name, value) = (name.trim(), value.trim());
    let lawful = grammar == Grammar::Vegeta || super::is_field(name, value);
    if name.is_empty() || value.is_empty() || !lawful {
        return Err(wrong());
    }
    Ok((name.to_owned(), value.to_owned()))
}
