//! The grammar of lines: `METHOD URL`, header fields below it, `@file` for the body, blank lines between targets, `#` for
//! comments.
//!
//! Natively a request line ends the header block before it, and `#brunt weight=3 name=home` (a name with blanks in double
//! quotes) says how often the next target is chosen and what it is called. Vegeta's reading turns such a request line into a
//! header field; it is kept in [`Grammar::Vegeta`].

use std::io::BufRead;

use stdx::shown_url;

use super::bare::BareTarget;
use super::collect::collect;
use super::field::is_field;
use super::grammar::Grammar;
use super::lines::{Line, Lines};
use super::options::{Options, ReadBody};
use super::problem::{Problem, ProblemKind};
use super::url::{is_url, is_web};
use crate::target::Target;
use crate::target_list::TargetList;

/// Reads a whole file: its targets, and all that is wrong with it (in Vegeta's grammar, the first thing). No bytes make it
/// panic. Where there are problems, nothing should be sent.
#[must_use]
pub fn parse(
    input: &[u8],
    options: &Options,
    read: &mut ReadBody<'_>,
) -> (TargetList, Vec<Problem>) {
    collect(Stream::new(input, options.clone(), read), options.grammar)
}

/// Targets one by one (`-lazy`), and the problems between them. Ends with the input, or after a problem of the input itself.
pub struct Stream<R, F> {
    lines: Lines<R>,
    options: Options,
    read: F,
    /// The last item was a problem: what still belongs to that target is skipped.
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
        let mut given = Directives::default();
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
    fn request_line(&mut self, given: &mut Directives) -> Result<Option<Line>, (u64, ProblemKind)> {
        while let Some(mut line) = self.next_line()? {
            let text = line.text.trim();
            if let Some(directive) = self.directive(text) {
                given.read(directive).map_err(|kind| (line.number, kind))?;
            } else if !(text.is_empty() || text.starts_with('#') || (self.skip && is_rest(text))) {
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

    /// The line after the request line begins a header block.
    fn block_follows(&mut self) -> Result<bool, (u64, ProblemKind)> {
        let grammar = self.grammar();
        match self.peek_line() {
            Ok(next) => Ok(next.is_some_and(|line| {
                let text = line.text.trim();
                !text.is_empty() && !begins_target(text, grammar)
            })),
            // Vegeta's scanner takes it for the end of the input; the target is whole.
            Err((_, ProblemKind::LineTooLong)) if grammar == Grammar::Vegeta => Ok(false),
            Err(problem) => Err(problem),
        }
    }

    /// Reads header fields up to a blank line, a body file, or natively the next target.
    fn block(&mut self, target: &mut BareTarget) -> Result<(), (u64, ProblemKind)> {
        let grammar = self.grammar();
        while let Some(line) = self.peek_line()? {
            let (number, text) = (line.number, line.text.trim());
            let ends = text.starts_with("#brunt") || begins_target(text, grammar);
            if grammar == Grammar::Native && ends {
                return Ok(());
            }
            let text = text.to_owned();
            self.next_line()?;
            if text.is_empty() {
                return Ok(());
            }
            if let Some(path) = text.strip_prefix('@') {
                let wrong = |reason| ProblemKind::Body { path: path.to_owned(), reason };
                let body = (self.read)(path).map_err(|reason| (number, wrong(reason)))?;
                target.body = Some(body.into());
                return Ok(());
            }
            if !text.starts_with('#') {
                target.headers.push(field(&text, grammar).map_err(|kind| (number, kind))?);
            }
        }
        Ok(())
    }

    fn next_line(&mut self) -> Result<Option<Line>, (u64, ProblemKind)> {
        let line = self.lines.next();
        line.map_err(|kind| (self.lines.number(), kind))
    }

    fn peek_line(&mut self) -> Result<Option<&Line>, (u64, ProblemKind)> {
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
            // In a header block the target is dropped as well.
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
struct Directives {
    weight: Option<u32>,
    name: String,
}

impl Directives {
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
    let (method, url) =
        split.ok_or_else(|| ProblemKind::Target { found: shown_url(line).into_owned() })?;
    let capitals = line.bytes().take_while(u8::is_ascii_uppercase).count();
    if capitals == 0 || !line[capitals..].starts_with(is_blank) {
        return Err(ProblemKind::Method { found: method.to_owned() });
    }
    if !is_url(url, grammar) {
        return Err(ProblemKind::Url { found: shown_url(url).into_owned() });
    }
    Ok((method, url))
}

/// A header field, both sides trimmed. Natively the name must be one (RFC 9110, 5.1), and the value may be empty.
fn header(line: &str, grammar: Grammar) -> Result<(String, String), ProblemKind> {
    let wrong = || ProblemKind::Header { found: line.to_owned() };
    let (name, value) = line.split_once(':').ok_or_else(wrong)?;
    let (name, value) = (name.trim(), value.trim());
    let lawful = match grammar {
        Grammar::Vegeta => !name.is_empty() && !value.is_empty(),
        Grammar::Native => is_field(name, value),
    };
    if !lawful {
        return Err(wrong());
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// What is wrong with a line of a header block: natively one that looks like a request line is one without a URL.
fn field(line: &str, grammar: Grammar) -> Result<(String, String), ProblemKind> {
    header(line, grammar).map_err(|kind| match line.split_once(is_blank) {
        Some((_, url)) if grammar == Grammar::Native && begins_target(line, Grammar::Vegeta) => {
            ProblemKind::Url { found: shown_url(url.trim()).into_owned() }
        }
        _ => kind,
    })
}

/// A line that, after a problem, belongs to the target at fault.
fn is_rest(line: &str) -> bool {
    let begins = begins_target(line, Grammar::Vegeta);
    !begins && (line.starts_with('@') || header(line, Grammar::Native).is_ok())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::targets::Defaults;

    fn options(grammar: Grammar) -> Options {
        Options { grammar, ..Options::default() }
    }

    fn body(path: &str) -> Result<Vec<u8>, String> {
        match path {
            "empty" => Ok(Vec::new()),
            "missing" => Err("open missing: no such file or directory".to_owned()),
            path => Ok(format!("<{path}>").into_bytes()),
        }
    }

    /// A target in one line: `METHOD URL|Name: value|…|=body|*weight|(name)`.
    fn line(target: &Target) -> String {
        let mut text = format!("{} {}", target.method, target.url);
        target.headers.iter().for_each(|(name, value)| text += &format!("|{name}: {value}"));
        if !target.body.is_empty() {
            text += &format!("|={}", String::from_utf8_lossy(&target.body));
        }
        if target.weight != 1 {
            text += &format!("|*{}", target.weight);
        }
        if !target.name.is_empty() {
            text += &format!("|({})", target.name);
        }
        text
    }

    fn check(grammar: Grammar, input: &str, targets: &[&str], problems: &[&str]) {
        let (found, wrong) = parse(input.as_bytes(), &options(grammar), &mut body);
        let found: Vec<String> = found.iter().map(|target| line(&target.to_target())).collect();
        let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        assert_eq!((found, wrong), (owned(targets), owned(problems)), "{grammar:?} {input:?}");
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    const BOTH: [Grammar; 2] = [Grammar::Native, Grammar::Vegeta];

    #[test]
    fn both_read_what_is_plain() {
        let cases: [(&str, &[&str]); 8] = [
            ("GET http://a/", &["GET http://a/"]),
            ("GET http://a/\nGET http://b/\n", &["GET http://a/", "GET http://b/"]),
            ("# one\n\n  GET http://a/\r\n\r\n# two\n", &["GET http://a/"]),
            ("POST http://a/\nX-a:  1 \nX-a: b:c\n", &["POST http://a/|X-a: 1|X-a: b:c"]),
            ("PUT http://a/\n@f 1\nGET http://b/", &["PUT http://a/|=<f 1>", "GET http://b/"]),
            ("PUT http://a/\nA: 1\n# note\nB: 2\n@f\n", &["PUT http://a/|A: 1|B: 2|=<f>"]),
            ("GET http://a/\nA: 1\n\nGET http://b/", &["GET http://a/|A: 1", "GET http://b/"]),
            ("GET http://[::1]:80/%20?q=%zz", &["GET http://[::1]:80/%20?q=%zz"]),
        ];
        for (input, targets) in cases {
            BOTH.iter().for_each(|&grammar| check(grammar, input, targets, &[]));
        }
    }

    #[test]
    fn natively_a_request_line_ends_the_block() {
        let cases: [(&str, &[&str], &[&str]); 3] = [
            (
                "GET http://a/\nX: 1\nGET http://b/\n",
                &["GET http://a/|X: 1", "GET http://b/"],
                &["GET http://a/|X: 1|GET http: //b/"],
            ),
            (
                "GET http://a/\n# note\nGET http://b/\n",
                &["GET http://a/", "GET http://b/"],
                &["GET http://a/|GET http: //b/"],
            ),
            (
                "GET http://a/\n#brunt weight=3 name=\"the cart\"\nGET http://b/\n",
                &["GET http://a/", "GET http://b/|*3|(the cart)"],
                &["GET http://a/|GET http: //b/"],
            ),
        ];
        for (input, native, vegeta) in cases {
            check(Grammar::Native, input, native, &[]);
            check(Grammar::Vegeta, input, vegeta, &[]);
        }
    }

    #[test]
    fn vegeta_reports_the_first_problem_in_its_words() {
        let cases = [
            ("GET", "bad target: GET"),
            ("get http://a/", "bad method: get"),
            (
                "GET  http://a/",
                "bad URL:  http://a/, parse \" http://a/\": invalid URI for request",
            ),
            ("GET a/b", "bad URL: a/b, parse \"a/b\": invalid URI for request"),
            ("GET http://a/\nX\nY\n", "bad header: X"),
            ("GET http://a/\nX:\n", "bad header: X:"),
            ("GET http://a/\n@missing\n", "bad body: open missing: no such file or directory"),
            ("# nothing\n\n", "no targets to attack"),
        ];
        for (input, problem) in cases {
            check(Grammar::Vegeta, input, &[], &[problem]);
        }
        check(Grammar::Vegeta, "GET /relative\nOPTIONS *", &["GET /relative", "OPTIONS *"], &[]);
    }

    #[test]
    fn natively_every_problem_has_its_line() {
        let input = "GET\nGET /a\nX: 1\nget http://a/\nA: 1\nGET http://b/\nno field\n\nGET http://c/\nGET /d\n\
                     PUT http://e/\n@missing\n#brunt weight=0\nGET http://f/\n";
        let problems = [
            "line 1: expected \"METHOD URL\", found \"GET\"",
            "line 2: expected a URL, such as http://host:port/path, found \"/a\"",
            "line 4: expected a method in capitals, such as GET, found \"get\"",
            "line 7: expected \"Name: value\", \"@file\", or a blank line, found \"no field\"",
            "line 10: expected a URL, such as http://host:port/path, found \"/d\"",
            "line 12: reading the body \"missing\": open missing: no such file or directory",
            "line 13: expected weight=N (1 or more) or name=TEXT, found \"weight=0\"",
        ];
        check(Grammar::Native, input, &["GET http://f/"], &problems);
        check(Grammar::Native, "", &[], &["no targets to attack"]);
        let (_, problems) = parse(b"GET http://\xff/\n", &options(Grammar::Native), &mut body);
        assert_eq!(problems[0].to_string(), "line 1: expected UTF-8 text");
        let many = "x\n".repeat(1000);
        let (_, problems) = parse(many.as_bytes(), &options(Grammar::Native), &mut body);
        assert_eq!(problems.len(), crate::targets::PROBLEMS_MAX);
    }

    #[test]
    fn long_lines_are_lost_in_vegeta_only() {
        let long = format!("GET http://a/{}", "x".repeat(70_000));
        let input = format!("GET http://b/\n{long}\nGET http://c/\n");
        check(Grammar::Native, &input, &["GET http://b/", &long, "GET http://c/"], &[]);
        check(Grammar::Vegeta, &input, &["GET http://b/"], &[]);
        let field = format!("GET http://b/\n\nGET http://a/\nX: 1\nY: {}\n", "y".repeat(70_000));
        check(Grammar::Vegeta, &field, &["GET http://b/"], &[]);
    }

    #[test]
    fn defaults_come_first() {
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let defaults = Defaults { headers: vec![field("A", "0")], body: Arc::from(*b"both") };
        let options = Options { defaults, ..Options::default() };
        let input = b"GET http://a/\nA: 1\n\nGET http://b/\n@empty\n";
        let (targets, problems) = parse(input, &options, &mut body);
        assert_eq!(problems, []);
        let [first, second] = [0, 1].map(|at| targets.get(at).expect("a target"));
        assert_eq!(first.headers, [field("A", "0"), field("A", "1")]);
        assert_eq!((&first.body[..], &second.body[..]), (&b"both"[..], &b""[..]));
    }

    #[test]
    fn a_stream_needs_no_more_than_a_line_ahead() {
        let input: Box<dyn BufRead + Send> = Box::new(&b"GET http://a/\nX\n\nGET http://b/"[..]);
        let mut stream = Stream::new(input, Options::default(), body);
        assert!(stream.next().is_some_and(|item| item.is_err_and(|problem| problem.line == 2)));
        assert!(
            stream.next().is_some_and(|item| item.is_ok_and(|target| target.url == "http://b/"))
        );
        assert!(stream.next().is_none());
    }

    #[test]
    fn regression_issue_41_values_may_be_empty_natively() {
        let text = "GET http://a/\nX-Tenant:\nUser-Agent: \n";
        check(Grammar::Native, text, &["GET http://a/|X-Tenant: |User-Agent: "], &[]);
        let (_, problems) = parse(text.as_bytes(), &options(Grammar::Vegeta), &mut body);
        assert!(!problems.is_empty());
    }
}
