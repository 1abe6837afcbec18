//! What precedes a message in a Rails log: Ruby's formatter, tags, or a custom prefix.

use super::moment::{self, Moment};
use super::scan;

/// A line of a Rails log, taken apart.
#[derive(Debug, PartialEq)]
pub(super) struct Head<'a> {
    /// When it was written, where the log has the time.
    pub(super) at: Option<Moment>,
    /// The process that wrote it, or empty.
    pub(super) pid: &'a [u8],
    /// The request's id, or empty.
    pub(super) id: &'a [u8],
    /// All tags as written, or the id alone after a custom prefix.
    pub(super) tags: &'a [u8],
    /// It was written as fatal.
    pub(super) fatal: bool,
    pub(super) message: &'a [u8],
}

/// What a message of interest begins with.
const MARKS: [&[u8]; 5] = [
    b"Started ",
    b"Processing by ",
    b"Completed ",
    b"ActionController::RoutingError (",
    b"method=",
];
/// Bytes of a custom prefix.
const PREFIX_MAX: usize = 512;

/// Takes a line apart. A prefix that is not Ruby's is one only where a message of interest follows it.
pub(super) fn head(line: &[u8]) -> Head<'_> {
    formatted(line).unwrap_or_else(|| own(line))
}

/// `I, [2026-11-21T09:24:57.100309 #17518]  INFO -- program: message`, as Ruby's own formatter writes it.
fn formatted(line: &[u8]) -> Option<Head<'_>> {
    let [severity @ b'A'..=b'Z', b',', b' ', b'[', rest @ ..] = line else { return None };
    let (at, rest) = moment::iso(rest)?;
    let rest = rest.strip_prefix(b" #")?;
    let (pid, rest) = scan::split(&rest[..rest.len()], b"]")?;
    scan::unsigned(pid)?;
    let (_, rest) = scan::split(rest, b" -- ")?;
    let (_, message) = scan::split(rest, b": ").unwrap_or((rest, b""));
    let (tags, id, message) = tags(message);
    Some(Head { at: Some(at), pid, id, tags, fatal: *severity == b'F', message })
}

/// `[tag] [tag] message`: the tags, the one that is an id, and the message.
fn tags(text: &[u8]) -> (&[u8], &[u8], &[u8]) {
    let (mut rest, mut id) = (text, &b""[..]);
    while let Some(inside) = rest.strip_prefix(b"[")
        && let Some((tag, after)) = scan::split(inside, b"]")
    {
        if id.is_empty() && is_id(tag) {
            id = tag;
        }
        rest = after.strip_prefix(b" ").unwrap_or(after);
    }
    (&text[..text.len() - rest.len()], id, rest)
}

/// A custom prefix, or none.
fn own(line: &[u8]) -> Head<'_> {
    let (prefix, message) = line.split_at(mark(line).unwrap_or(0));
    let text = prefix.strip_prefix(b"[").unwrap_or(prefix);
    let at = moment::iso(text).map(|(at, _)| at);
    let id = words(prefix).find(|word| is_id(word)).unwrap_or(b"");
    Head { at, pid: pid(prefix), id, tags: id, fatal: false, message }
}

/// Where the message of interest begins. What a client sent comes after a quote or a brace, and begins no message.
fn mark(line: &[u8]) -> Option<usize> {
    let end = line.iter().position(|byte| matches!(byte, b'"' | b'{')).unwrap_or(line.len());
    let begins = |at: usize| MARKS.iter().any(|mark| line[at..].starts_with(mark));
    let word = |at: usize| at == 0 || matches!(line[at - 1], b' ' | b']' | b':' | b'|' | b'\t');
    (0..end.min(PREFIX_MAX)).find(|at| word(*at) && begins(*at))
}

fn words(prefix: &[u8]) -> impl Iterator<Item = &[u8]> {
    prefix.split(|byte| matches!(byte, b'[' | b']' | b' ' | b'=' | b'(' | b')' | b'|' | b','))
}

/// `#123`, `pid=123`, `pid:123`, `name[123]` of a prefix.
fn pid(prefix: &[u8]) -> &[u8] {
    for before in [&b"#"[..], b"pid=", b"pid:", b"["] {
        let mut rest = prefix;
        while let Some((_, after)) = scan::split(rest, before) {
            let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let ends =
                after.get(digits).is_none_or(|byte| matches!(byte, b' ' | b']' | b',' | b')'));
            if (1..=10).contains(&digits) && ends {
                return &after[..digits];
            }
            rest = after;
        }
    }
    b""
}

/// Is it an id: at least 16 letters, digits and dashes, one of them a digit, and no date?
fn is_id(tag: &[u8]) -> bool {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (16..=255).contains(&tag.len())
        && tag.iter().all(fits)
        && tag.iter().any(u8::is_ascii_digit)
        && moment::iso(tag).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> [String; 3] {
        let head = head(line.as_bytes());
        [head.pid, head.id, head.message].map(|part| String::from_utf8_lossy(part).into_owned())
    }

    #[test]
    fn prefixes_of_all_sorts() {
        let id = "8b59c433-e75a-4ac8-a12a-e8acf56f38cf";
        let cases = [
            ("Started GET \"/\"", ["", "", "Started GET \"/\""]),
            (
                "I, [2026-11-22T07:26:25.7 #21066]  INFO -- : Completed 200",
                ["21066", "", "Completed 200"],
            ),
            (
                "I, [2026-11-22T07:26:25.7 #7]  INFO -- web: [a] [b] Completed 1",
                ["7", "", "Completed 1"],
            ),
            ("F, [2026-11-22T07:26:25.7 #7] FATAL -- :   ", ["7", "", "  "]),
            ("2026-11-22 07:26:25 INFO pid=12 Started GET", ["12", "", "Started GET"]),
            ("Nov 22 07:26:25 web1 rails[345]: Completed 200 OK", ["345", "", "Completed 200 OK"]),
            ("[web] Processing by X#y", ["", "", "Processing by X#y"]),
            // What a client sent is no message.
            (
                "  Parameters: {\"x\"=>\" Completed 200 OK in 1ms\"}",
                ["", "", "  Parameters: {\"x\"=>\" Completed 200 OK in 1ms\"}"],
            ),
            ("UnCompleted 200", ["", "", "UnCompleted 200"]),
        ];
        for (line, expected) in cases {
            assert_eq!(parts(line), expected, "{line}");
        }
        for line in [
            format!("I, [2026-11-22T07:26:25.756569 #21066]  INFO -- : [{id}] Started"),
            format!("I, [2026-11-22T07:26:25.756569 #21066]  INFO -- : [127.0.0.1] [{id}] Started"),
        ] {
            assert_eq!(parts(&line), ["21066", id, "Started"], "{line}");
        }
        let line = format!("[2026-11-22 07:26:25] [{id}] web.1 Started GET");
        assert_eq!(parts(&line), ["", id, "Started GET"]);
        assert!(head(line.as_bytes()).at.is_some());
    }
}
