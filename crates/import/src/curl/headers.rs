//! Header fields as curl puts them together.

use super::options::Operation;
use super::session::Session;
use crate::{Header, Text};

/// Header fields: those of `-H`, and curl's own where `-H` has none of that name.
pub(super) struct Headers {
    own: Vec<Header>,
    /// Names in small letters that `-H 'Name:'` takes away.
    removed: Vec<String>,
}

impl Headers {
    /// Those of `-H`.
    pub(super) fn of(session: &mut Session<'_, '_>, operation: &Operation) -> Self {
        let mut lines = vec![];
        for header in &operation.headers {
            match header.strip_prefix('@') {
                Some("-") => lines.extend(session.stdin().lines().map(str::to_owned)),
                Some(path) => lines
                    .extend(session.read_text(path).unwrap_or_default().lines().map(str::to_owned)),
                // Line ends in a text are those of further fields.
                None => lines.extend(header.lines().map(str::to_owned)),
            }
        }
        let mut made = Self { own: vec![], removed: vec![] };
        for line in lines {
            made.line(session, line.trim_end_matches(['\r', '\n']));
        }
        made
    }

    fn line(&mut self, session: &Session<'_, '_>, line: &str) {
        let (name, value) = match (line.find(':'), line.find(';')) {
            (Some(colon), semicolon) if semicolon.is_none_or(|semicolon| colon < semicolon) => {
                let (name, value) = (&line[..colon], line[colon + 1..].trim());
                if value.is_empty() {
                    self.removed.push(name.trim().to_ascii_lowercase());
                    return;
                }
                (name, value)
            }
            (_, Some(semicolon)) if line[semicolon + 1..].is_empty() => (&line[..semicolon], ""),
            _ => return,
        };
        let name = name.trim();
        let lower = name.to_ascii_lowercase();
        if TRANSPORT.contains(&lower.as_str()) {
            return;
        }
        let value = session.values.text(value);
        match self.own.iter_mut().find(|header| header.name.eq_ignore_ascii_case(name)) {
            Some(header) => {
                header.value.push_str(if lower == "cookie" { "; " } else { ", " });
                header.value.push(&value);
            }
            None => self.own.push(Header { name: name.to_owned(), value }),
        }
    }

    /// Whether `-H` has the name, or takes it away.
    pub(super) fn has(&self, name: &str) -> bool {
        self.own.iter().any(|header| header.name.eq_ignore_ascii_case(name))
            || self.removed.contains(&name.to_ascii_lowercase())
    }

    /// A field of curl's own.
    pub(super) fn add_default(&mut self, name: &str, value: &str) {
        self.add_default_text(name, Text::literal(value));
    }

    /// The same, of a text.
    pub(super) fn add_default_text(&mut self, name: &str, value: Text) {
        if !self.has(name) {
            self.own.push(Header { name: name.to_owned(), value });
        }
    }

    /// All of them.
    pub(super) fn list(mut self) -> Vec<Header> {
        // An empty one keeps the script's own from being sent.
        if self.removed.iter().any(|name| name == "user-agent")
            && !self.own.iter().any(|header| header.name.eq_ignore_ascii_case("user-agent"))
        {
            self.own.push(Header { name: "User-Agent".to_owned(), value: Text::default() });
        }
        self.own
    }
}

/// Fields that belong to a connection, which the script's client writes itself.
const TRANSPORT: &[&str] = &[
    "content-length",
    "connection",
    "transfer-encoding",
    "expect",
    "te",
    "keep-alive",
    "proxy-connection",
];
