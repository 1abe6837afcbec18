//! Bodies of `.http` requests: text, forms over several lines, files, multipart and GraphQL.

use crate::postman::graphql_text;
use crate::variables::Variables;
use crate::{Body, Content, Files, Header, Multipart, Part, Source, Text};

/// What a body is made with.
pub(super) struct BodyContext<'a> {
    pub variables: &'a mut Variables,
    pub files: &'a dyn Files,
    /// What is left out.
    pub notes: Vec<String>,
}

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyForm {
    Plain,
    GraphQl,
}

impl BodyContext<'_> {
    /// The body of these lines; a multipart one takes the `Content-Type` out of the header fields.
    pub(super) fn body(
        &mut self,
        lines: &[String],
        form: BodyForm,
        headers: &mut Vec<Header>,
    ) -> Body {
        if lines.is_empty() {
            return Body::None;
        }
        let type_at =
            headers.iter().position(|header| header.name.eq_ignore_ascii_case("content-type"));
        let content_type = type_at
            .map(|at| crate::variables::with_defaults(&headers[at].value))
            .unwrap_or_default();
        let short = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if form == BodyForm::GraphQl {
            if content_type.is_empty() {
                headers.push(Header {
                    name: "Content-Type".to_owned(),
                    value: Text::literal("application/json"),
                });
            }
            return Body::Text(self.graphql(lines));
        }
        if let [line] = lines
            && let Some((path, FileUse::AsIs)) = file_line(line)
        {
            return Body::File { path: self.path(&path) };
        }
        if let Some(subtype) = short.strip_prefix("multipart/") {
            if let (Some(parts), Some(at)) = (self.parts(lines, &content_type), type_at) {
                headers.remove(at);
                return Body::Multipart(Multipart { subtype: subtype.to_owned(), parts });
            }
            self.notes.push(
                "the multipart body has no boundary that fits; it is sent as it stands".to_owned(),
            );
            return Body::Text(self.text(lines, "\r\n"));
        }
        if short == "application/x-www-form-urlencoded" {
            return Body::Text(self.form(lines));
        }
        let mut text = self.text(lines, "\n");
        // Each line of such a body has an end, the last one as well.
        if LINE_TYPES.contains(&short.as_str()) {
            text.push_str("\n");
        }
        Body::Text(text)
    }

    /// The name of a file, with its variables replaced.
    fn path(&mut self, path: &str) -> String {
        crate::variables::with_defaults(&self.variables.substitute(path))
    }

    /// Lines with the content of files at their places.
    fn text(&mut self, lines: &[String], line_end: &str) -> Text {
        let mut plain: Vec<&str> = Vec::new();
        let mut made = Text::default();
        for (index, line) in lines.iter().enumerate() {
            let is_last = index + 1 == lines.len();
            if let Some((path, how)) = file_line(line) {
                let before =
                    plain.drain(..).map(|line| format!("{line}{line_end}")).collect::<String>();
                made.push(&self.variables.substitute(&before));
                made.push(&self.file(&path, how));
                made.push_str(if is_last { "" } else { line_end });
            } else {
                plain.push(line);
            }
        }
        // Variables may reach over lines, so that the lines are joined first.
        let rest = plain.join(line_end);
        made.push(&self.variables.substitute(&rest));
        made
    }

    /// The content of a file within a body.
    fn file(&mut self, path: &str, how: FileUse) -> Text {
        let path = self.path(path);
        if how == FileUse::WithVariables {
            match self.files.read(&path) {
                Ok(bytes) => return self.variables.substitute(&String::from_utf8_lossy(&bytes)),
                Err(problem) => {
                    self.notes.push(format!("{path} {problem}: its variables are not replaced"));
                }
            }
        }
        Text::value(Source::File { path })
    }

    /// A form over several lines is one line.
    fn form(&mut self, lines: &[String]) -> Text {
        let has_file = lines.iter().any(|line| file_line(line).is_some());
        if has_file {
            return self.text(lines, "\n");
        }
        let joined: String = lines.iter().map(|line| line.trim()).collect();
        self.variables.substitute(&joined.replace(" & ", "&").replace("& ", "&").replace(" &", "&"))
    }

    /// The query, and its variables behind an empty line.
    fn graphql(&mut self, lines: &[String]) -> Text {
        let begins = |line: &String| line.trim_start().starts_with('{');
        let split =
            (1..lines.len()).find(|at| lines[at - 1].trim().is_empty() && begins(&lines[*at]));
        let (query, variables) = lines.split_at(split.unwrap_or(lines.len()));
        let query_text = query.join("\n");
        let query = self.variables.substitute(query_text.trim_end());
        let values = self.variables.substitute(variables.join("\n").trim());
        graphql_text(&query, &Text::default(), &values)
    }

    /// The parts of a multipart body.
    fn parts(&mut self, lines: &[String], content_type: &str) -> Option<Vec<Part>> {
        let boundary =
            content_type.split("boundary=").nth(1)?.split(';').next()?.trim().trim_matches('"');
        let mark = format!("--{boundary}");
        let end = format!("{mark}--");
        if boundary.is_empty() {
            return None;
        }
        let mut parts = Vec::new();
        let mut current: Option<Vec<String>> = None;
        for line in lines {
            let trimmed = self.plain_line(line);
            if trimmed == mark || trimmed == end {
                if let Some(part) = current.take() {
                    parts.push(self.part(&part)?);
                }
                current = (trimmed == mark).then(Vec::new);
            } else if let Some(part) = &mut current {
                part.push(line.clone());
            }
        }
        if let Some(part) = current {
            parts.push(self.part(&part)?);
        }
        (!parts.is_empty()).then_some(parts)
    }

    /// A line that may be a boundary, with its variables replaced.
    fn plain_line(&mut self, line: &str) -> String {
        let trimmed = line.trim_end();
        if trimmed.starts_with("--") && trimmed.contains("{{") {
            return crate::variables::with_defaults(&self.variables.substitute(trimmed));
        }
        trimmed.to_owned()
    }

    fn part(&mut self, lines: &[String]) -> Option<Part> {
        let empty = lines.iter().position(|line| line.trim().is_empty()).unwrap_or(lines.len());
        let mut part = Part {
            name: Text::default(),
            file_name: None,
            content_type: None,
            headers: Vec::new(),
            content: Content::Text(Text::default()),
        };
        for line in &lines[..empty] {
            let (name, value) = line.split_once(':')?;
            let (name, value) = (name.trim(), value.trim());
            match name.to_ascii_lowercase().as_str() {
                "content-disposition" => {
                    part.name =
                        self.variables.substitute(&disposition(value, "name").unwrap_or_default());
                    part.file_name =
                        disposition(value, "filename").map(|name| self.variables.substitute(&name));
                }
                "content-type" => {
                    part.content_type =
                        Some(crate::variables::with_defaults(&self.variables.substitute(value)));
                }
                "content-length" => (),
                _ => part.headers.push(Header {
                    name: name.to_owned(),
                    value: self.variables.substitute(value),
                }),
            }
        }
        let content = lines.get(empty + 1..).unwrap_or_default();
        part.content =
            match content.iter().map(|line| file_line(line)).collect::<Vec<_>>().as_slice() {
                [Some((path, FileUse::AsIs))] => Content::File { path: self.path(path) },
                _ => Content::Text(self.text(content, "\r\n")),
            };
        Some(part)
    }
}

/// Media types of a document of JSON a line.
const LINE_TYPES: [&str; 4] =
    ["application/x-ndjson", "application/ndjson", "application/x-jsonlines", "application/jsonl"];

/// What is done with a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileUse {
    AsIs,
    WithVariables,
}

/// `< path`, `<@ path` and `<@latin1 path`.
fn file_line(line: &str) -> Option<(String, FileUse)> {
    let rest = line.strip_prefix('<')?;
    let (rest, how) = match rest.strip_prefix('@') {
        Some(rest) => {
            let encoding = rest.find(char::is_whitespace)?;
            (&rest[encoding..], FileUse::WithVariables)
        }
        None => (rest, FileUse::AsIs),
    };
    let path = rest.strip_prefix([' ', '\t'])?.trim();
    (!path.is_empty()).then(|| (path.to_owned(), how))
}

/// A parameter of `Content-Disposition`.
fn disposition(value: &str, name: &str) -> Option<String> {
    value.split(';').skip(1).find_map(|parameter| {
        let (key, value) = parameter.split_once('=')?;
        let value = value.trim();
        let bare =
            value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        key.trim().eq_ignore_ascii_case(name).then(|| bare.to_owned())
    })
}
