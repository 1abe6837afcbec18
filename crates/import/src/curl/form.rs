//! `-F` and `--form-string` as parts of a multipart body.

use super::options::FormField;
use super::session::Session;
use crate::{Content, Header, Multipart, Part, Text};

pub(super) fn multipart(session: &mut Session<'_, '_>, fields: &[FormField]) -> Multipart {
    let is_nested = |field: &&FormField| {
        let value = field.value.trim_start();
        field.option == "form" && (value.starts_with("=(") || value.starts_with("=)"))
    };
    if fields.iter().any(|field| is_nested(&field)) {
        session.note("parts within parts, `=(` and `=)`, are not carried out: sent one by one");
    }
    let flat = fields.iter().filter(|field| !is_nested(field));
    let parts = flat.map(|field| part(session, field)).collect();
    Multipart { subtype: "form-data".to_owned(), parts }
}

fn part(session: &mut Session<'_, '_>, field: &FormField) -> Part {
    let (name, value) = field.value.split_once('=').unwrap_or((&field.value, ""));
    let name = session.values.text(name);
    if field.option == "form-string" {
        let content = Content::Text(session.values.text(value));
        return Part { name, file_name: None, content_type: None, headers: vec![], content };
    }
    match value.chars().next() {
        Some('@') => uploaded(session, name, &value[1..]),
        Some('<') => {
            let (path, settings) = settings(&value[1..]);
            let content = if path == "-" { stdin(session) } else { Content::File { path } };
            settings.part(session, name, content)
        }
        _ => {
            let (text, settings) = settings(value);
            let content = Content::Text(session.values.text(&text));
            settings.part(session, name, content)
        }
    }
}

fn stdin(session: &mut Session<'_, '_>) -> Content {
    let text = session.stdin();
    Content::Text(session.values.text(&text))
}

/// One file, or several with commas between them.
fn uploaded(session: &mut Session<'_, '_>, name: Text, value: &str) -> Part {
    let mut files = vec![];
    let mut rest = value;
    loop {
        let (path, settings, after) = file(rest);
        let is_stdin = path == "-";
        let content = if is_stdin { stdin(session) } else { Content::File { path: path.clone() } };
        let base = path.rsplit('/').next().unwrap_or(&path).to_owned();
        let mut part = settings.part(session, Text::default(), content);
        if part.file_name.is_none() && !is_stdin {
            part.file_name = Some(session.values.text(&base));
        }
        if part.content_type.is_none() && !is_stdin {
            part.content_type = Some(guessed_type(&base).to_owned());
        }
        files.push(part);
        match after {
            Some(after) => rest = after,
            None => break,
        }
    }
    if let [one] = files.as_mut_slice() {
        one.name = name;
        return files.remove(0);
    }
    Part {
        name,
        file_name: None,
        content_type: None,
        headers: vec![],
        content: Content::Mixed(files),
    }
}

/// What follows a value behind semicolons.
#[derive(Debug, Default)]
struct Settings {
    content_type: Option<String>,
    file_name: Option<String>,
    headers: Vec<String>,
    encoder: Option<String>,
}

impl Settings {
    fn part(self, session: &mut Session<'_, '_>, name: Text, content: Content) -> Part {
        let lines: Vec<String> =
            self.headers.iter().flat_map(|line| header_lines(session, line)).collect();
        let mut headers: Vec<Header> = lines
            .iter()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| Header {
                name: name.trim().to_owned(),
                value: session.values.text(value.trim()),
            })
            .collect();
        let content = match (self.encoder.as_deref(), content) {
            (Some("base64"), Content::File { path }) => Content::FileAsBase64 { path },
            (Some(encoder), Content::Text(text)) => encoded(session, encoder, text),
            (Some("8bit" | "7bit" | "binary") | None, content) => content,
            (Some(encoder), content) => {
                session.note(format!("the encoder {encoder} of a file is not carried out"));
                content
            }
        };
        if let Some(encoder) = self.encoder {
            headers.push(Header {
                name: "Content-Transfer-Encoding".to_owned(),
                value: encoder.into(),
            });
        }
        let file_name = self.file_name.map(|name| session.values.text(&name));
        Part { name, file_name, content_type: self.content_type, headers, content }
    }

    fn set(&mut self, key: &str, value: String) {
        match key {
            "type" => self.content_type = Some(value),
            "filename" => self.file_name = Some(value),
            "headers" => self.headers.push(value),
            "encoder" => self.encoder = Some(value),
            _ => {}
        }
    }
}

/// A header field, or with `@` those of a file.
fn header_lines(session: &mut Session<'_, '_>, line: &str) -> Vec<String> {
    let Some(path) = line.strip_prefix('@').or_else(|| line.strip_prefix('<')) else {
        return vec![line.to_owned()];
    };
    let text = session.read_text(path).unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with('#')).map(str::to_owned).collect()
}

/// A text as its `Content-Transfer-Encoding` says.
fn encoded(session: &mut Session<'_, '_>, encoder: &str, text: Text) -> Content {
    use base64::Engine as _;
    let literal = text.as_literal().map(str::to_owned);
    match (encoder, literal) {
        ("base64", Some(literal)) => {
            let text = base64::engine::general_purpose::STANDARD.encode(literal);
            let lines: Vec<&str> = text
                .as_bytes()
                .chunks(76)
                .map(|line| std::str::from_utf8(line).unwrap_or_default())
                .collect();
            Content::Text(lines.join("\r\n").into())
        }
        ("quoted-printable", Some(literal)) => Content::Text(quoted_printable(&literal).into()),
        ("8bit" | "7bit" | "binary", _) => Content::Text(text),
        _ => {
            session.note(format!("the encoder {encoder} of a text is not carried out"));
            Content::Text(text)
        }
    }
}

/// RFC 2045, 6.7: lines of at most 76 characters.
fn quoted_printable(text: &str) -> String {
    let mut out = String::new();
    let mut width = 0;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let ends_line = bytes[at + 1..].is_empty() || bytes[at + 1..].starts_with(b"\r\n");
        let is_plain = (matches!(byte, b'!'..=b'~') && *byte != b'=')
            || (matches!(byte, b' ' | b'\t') && !ends_line);
        if bytes[at..].starts_with(b"\r\n") || (*byte == b'\n' && at > 0 && bytes[at - 1] == b'\r')
        {
            out.push(char::from(*byte));
            width = 0;
            continue;
        }
        let piece = if is_plain { char::from(*byte).to_string() } else { format!("={byte:02X}") };
        // The last of a line may use the place of the soft line end.
        if width + piece.len() > if ends_line { 76 } else { 75 } {
            out.push_str("=\r\n");
            width = 0;
        }
        width += piece.len();
        out.push_str(&piece);
    }
    out
}

const KEYS: &[&str] = &["type=", "filename=", "headers=", "encoder="];

/// A value that may be quoted up to one of `ends`, and the rest.
fn token<'a>(text: &'a str, ends: &[char]) -> (String, &'a str) {
    let trimmed = text.trim_start();
    if let Some(quoted) = trimmed.strip_prefix('"') {
        let mut out = String::new();
        let mut chars = quoted.char_indices();
        while let Some((at, char)) = chars.next() {
            match char {
                '"' => {
                    let rest = &quoted[at + 1..];
                    let end = rest.find(ends).unwrap_or(rest.len());
                    return (out, &rest[end..]);
                }
                '\\' => out.extend(chars.next().map(|(_, char)| char)),
                char => out.push(char),
            }
        }
    }
    let end = text.find(ends).unwrap_or(text.len());
    (text[..end].trim_end().to_owned(), &text[end..])
}

/// The settings at the start of `rest`, which begins with a semicolon; a type may have parameters of its own.
fn read_settings<'a>(mut rest: &'a str, ends: &[char], settings: &mut Settings) -> &'a str {
    while let Some(after) = rest.strip_prefix(';') {
        let after = after.trim_start();
        let Some(key) = KEYS.iter().find(|key| after.starts_with(**key)) else {
            // `type=text/plain;charset=utf-8`.
            let (value, next) = token(after, ends);
            if let Some(kind) = &mut settings.content_type {
                kind.push_str("; ");
                kind.push_str(&value);
            }
            rest = next;
            continue;
        };
        let (value, next) = token(&after[key.len()..], ends);
        settings.set(key.trim_end_matches('='), value);
        rest = next;
    }
    rest
}

fn settings(value: &str) -> (String, Settings) {
    let mut settings = Settings::default();
    if value.trim_start().starts_with('"') {
        let (text, rest) = token(value, &[';']);
        read_settings(rest, &[';'], &mut settings);
        return (text, settings);
    }
    // Up to any semicolon, as curl has it: what no setting begins is lost.
    let end = value.find(';').unwrap_or(value.len());
    read_settings(&value[end..], &[';'], &mut settings);
    (value[..end].trim_end().to_owned(), settings)
}

fn file(value: &str) -> (String, Settings, Option<&str>) {
    let mut settings = Settings::default();
    let (path, rest) = token(value, &[';', ',']);
    let rest = read_settings(rest, &[';', ','], &mut settings);
    (path, settings, rest.strip_prefix(','))
}

/// The type that curl guesses from a file's name.
fn guessed_type(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    match ending.as_str() {
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "txt" => "text/plain",
        "htm" | "html" => "text/html",
        "pdf" => "application/pdf",
        "xml" => "application/xml",
        _ => "application/octet-stream",
    }
}
