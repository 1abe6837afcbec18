//! Bodies of recorded requests: forms, JSON, uploads whose files the recording lacks.

use dom_query::Document;

use super::correlate::Correlator;
use super::entry::{Entry, Param, Payload};
use super::find::{Sink, SinkPlace};
use crate::percent::encode_form;
use crate::{Body, Content, Encoding, Multipart, Part, Text};

/// What part of a multipart request its boundaries and fields have, about; the rest is the file.
const FORM_BYTES: usize = 600;

/// A body, and what was guessed in it.
pub(super) struct RecordedBody {
    pub(super) body: Body,
    pub(super) notes: Vec<String>,
}

impl Correlator<'_> {
    /// The body of the request.
    pub(super) fn body(&mut self) -> RecordedBody {
        let entry = self.entry();
        let mime = entry.header("content-type").unwrap_or_default().to_owned();
        let kind = mime.to_ascii_lowercase();
        let made = |body| RecordedBody { body, notes: vec![] };
        match &entry.body {
            Payload::None => made(Body::None),
            Payload::Bytes(bytes) => made(Body::Bytes(bytes.clone())),
            Payload::Text(text) if kind.starts_with("multipart/") => self.multipart(text, &mime),
            Payload::Text(text) => made(Body::Text(self.text_body(text, &kind))),
            Payload::Params(params) if kind.starts_with("multipart/") => self.params(params, entry),
            Payload::Params(params) if kind.contains("json") => {
                let json = json_of(params);
                made(Body::Text(self.json(&json)))
            }
            Payload::Params(params) => made(Body::Text(self.form(params))),
            Payload::Missing(bytes) => self.missing(*bytes, &kind),
        }
    }

    fn text_body(&mut self, text: &str, kind: &str) -> Text {
        if kind.starts_with("application/x-www-form-urlencoded") {
            return self.pairs(text, SinkPlace::Field);
        }
        let is_json = text.trim_start().starts_with(['{', '['])
            && serde_json::from_str::<serde_json::Value>(text).is_ok();
        if is_json {
            return self.json(text);
        }
        let shown = format!("the body of {}", self.label());
        self.inner(text, &Sink { name: String::new(), place: SinkPlace::Field, shown })
    }

    fn form(&mut self, params: &[Param]) -> Text {
        let mut text = Text::default();
        for (at, param) in params.iter().enumerate() {
            text.push_str(if at > 0 { "&" } else { "" });
            text.push_str(&encode_form(&param.name));
            text.push_str("=");
            let value = self.field(&param.name, &param.value, SinkPlace::Field);
            text.push(&value.encoded(encode_form, Encoding::UrlForm));
        }
        text
    }

    fn params(&mut self, params: &[Param], entry: &Entry) -> RecordedBody {
        let mut notes = vec![];
        let parts = params.iter().map(|param| {
            let content = match &param.file_name {
                Some(name) if param.value.is_empty() => {
                    notes.push(filler_note(name));
                    Content::Filler { bytes: file_bytes(entry, FORM_BYTES) }
                }
                _ => Content::Text(self.field(&param.name, &param.value, SinkPlace::Field)),
            };
            let kind = param.content_type.clone();
            let has_kind = |kind: &String| !kind.is_empty() && param.file_name.is_some();
            part(&param.name, param.file_name.as_deref(), kind.filter(has_kind), content)
        });
        let parts = parts.collect();
        RecordedBody { body: form_data(parts), notes }
    }

    fn multipart(&mut self, text: &str, mime: &str) -> RecordedBody {
        let raw = raw_parts_of(text, mime);
        if raw.is_empty() {
            return RecordedBody { body: Body::Text(text.into()), notes: vec![] };
        }
        let mut notes = vec![];
        let entry = self.entry();
        let parts = raw.iter().map(|raw| {
            let content = match &raw.file_name {
                Some(name) if raw.content.is_empty() && !name.is_empty() => {
                    notes.push(filler_note(name));
                    Content::Filler { bytes: file_bytes(entry, text.len()) }
                }
                Some(_) => Content::Text(raw.content.into()),
                None => Content::Text(self.field(&raw.name, raw.content, SinkPlace::Field)),
            };
            part(&raw.name, raw.file_name.as_deref(), raw.content_type.clone(), content)
        });
        let parts = parts.collect();
        RecordedBody { body: form_data(parts), notes }
    }

    /// A body that the recording lacks. Of a form it is what the page before had in it; of a file as many bytes.
    fn missing(&mut self, bytes: usize, kind: &str) -> RecordedBody {
        if kind.starts_with("multipart/") || kind.starts_with("application/x-www-form-urlencoded") {
            return self.missing_form(kind);
        }
        let (body, note) = if kind.contains("json") {
            let note = format!(
                "the body ({bytes} bytes of JSON) is not in the recording: an empty object is sent"
            );
            (Body::Text("{}".into()), note)
        } else {
            let note =
                format!("the body is not in the recording: {bytes} bytes are sent in its place");
            (Body::Filler { bytes }, note)
        };
        RecordedBody { body, notes: vec![note] }
    }

    fn missing_form(&mut self, kind: &str) -> RecordedBody {
        let fields = self.form_of_page();
        if fields.is_empty() {
            let note = "the body is not in the recording, and no form of a page before goes there: it is sent empty";
            return RecordedBody { body: Body::None, notes: vec![note.to_owned()] };
        }
        let note = "the body is not in the recording: its fields are those of the form in the page before, what was typed into them is not known";
        let mut made = if kind.starts_with("multipart/") {
            self.params(&fields, self.entry())
        } else {
            RecordedBody { body: Body::Text(self.form(&fields)), notes: vec![] }
        };
        made.notes.insert(0, note.to_owned());
        made
    }

    /// The fields of the latest form whose action is the request's address.
    fn form_of_page(&self) -> Vec<Param> {
        let target = self.entry();
        for unit in self.units[..self.at].iter().rev() {
            let page = &self.entries[unit.chain[unit.chain.len() - 1]];
            if !page.answer.is_html() {
                continue;
            }
            let document = Document::from(page.answer.text.as_str());
            for form in document.select("form").iter().take(500) {
                let action = form.attr("action").unwrap_or_default().to_string();
                let goes_there =
                    page.url.join(&action).is_ok_and(|url| url.path() == target.url.path());
                let is_post =
                    form.attr("method").is_some_and(|method| method.eq_ignore_ascii_case("post"));
                if goes_there && is_post {
                    return fields_of(&form);
                }
            }
        }
        vec![]
    }
}

fn fields_of(form: &dom_query::Selection<'_>) -> Vec<Param> {
    let inputs = form.select("input[name], textarea[name], select[name], button[name]");
    inputs.iter().take(500).filter_map(|input| field_of(&input)).collect()
}

/// What a form sends for a field as the page has it; none: nothing.
fn field_of(input: &dom_query::Selection<'_>) -> Option<Param> {
    let kind = input.attr("type").unwrap_or_default().to_ascii_lowercase();
    let is_checkable = matches!(kind.as_str(), "checkbox" | "radio");
    let is_button = matches!(kind.as_str(), "reset" | "button" | "image");
    if is_button || (is_checkable && !input.has_attr("checked")) {
        return None;
    }
    let name = input.attr("name").unwrap_or_default().to_string();
    if kind == "file" {
        let (file_name, content_type) = (Some("file.txt".into()), Some("text/plain".into()));
        return Some(Param { name, value: String::new(), file_name, content_type });
    }
    let value = value_of(input);
    let is_typed = matches!(kind.as_str(), "" | "text" | "search");
    let value = if value.is_empty() && is_typed { name.clone() } else { value };
    Some(Param { name, value, ..Param::default() })
}

fn value_of(input: &dom_query::Selection<'_>) -> String {
    if input.is("textarea") {
        return input.text().to_string();
    }
    if !input.is("select") {
        return input.attr("value").unwrap_or_default().to_string();
    }
    let chosen = input.select("option[selected]");
    let option = if chosen.exists() { chosen } else { input.select("option") };
    option.first().attr("value").unwrap_or_default().to_string()
}

fn part(
    name: &str,
    file_name: Option<&str>,
    content_type: Option<String>,
    content: Content,
) -> Part {
    let file_name = file_name.map(Text::from);
    Part { name: name.into(), file_name, content_type, headers: vec![], content }
}

fn form_data(parts: Vec<Part>) -> Body {
    Body::Multipart(Multipart { subtype: "form-data".to_owned(), parts })
}

fn filler_note(name: &str) -> String {
    format!(
        "the content of the file {name} is not in the recording: as many bytes are sent in its place"
    )
}

/// How large a file was: what the request's length has beyond the text of the recording.
fn file_bytes(entry: &Entry, recorded: usize) -> usize {
    let length = entry.header("content-length").and_then(|length| length.parse::<usize>().ok());
    length.map_or(1000, |length| length.saturating_sub(recorded)).clamp(1, 64 << 20)
}

/// JSON of the fields that chrome-har makes of it.
fn json_of(params: &[Param]) -> String {
    let members: Vec<String> = params
        .iter()
        .map(|param| {
            let value = match serde_json::from_str::<serde_json::Value>(&param.value) {
                Ok(value) if !value.is_string() => param.value.clone(),
                _ => serde_json::Value::from(param.value.as_str()).to_string(),
            };
            format!("{}:{value}", serde_json::Value::from(param.name.as_str()))
        })
        .collect();
    format!("{{{}}}", members.join(","))
}

/// A part of a multipart body as it was recorded.
#[derive(Debug, PartialEq, Eq)]
struct RawPart<'a> {
    name: String,
    file_name: Option<String>,
    content_type: Option<String>,
    content: &'a str,
}

/// The parts of a body by the boundary of its media type, or by that of its first line.
fn raw_parts_of<'a>(text: &'a str, mime: &str) -> Vec<RawPart<'a>> {
    let boundary = mime.split(';').find_map(|part| {
        let (key, value) = part.trim().split_once('=')?;
        key.eq_ignore_ascii_case("boundary").then(|| value.trim_matches('"'))
    });
    let boundary = boundary.or_else(|| text.strip_prefix("--")?.lines().next());
    boundary.map(|boundary| raw_parts(text, boundary)).unwrap_or_default()
}

fn raw_parts<'a>(text: &'a str, boundary: &str) -> Vec<RawPart<'a>> {
    text.split(&format!("--{boundary}")).skip(1).filter_map(raw_part).collect()
}

fn raw_part(part: &str) -> Option<RawPart<'_>> {
    let part = part.strip_prefix("\r\n").or_else(|| part.strip_prefix('\n'))?;
    let (head, content) = part.split_once("\r\n\r\n").or_else(|| part.split_once("\n\n"))?;
    let content = content.strip_suffix('\n').unwrap_or(content);
    let content = content.strip_suffix('\r').unwrap_or(content);
    let field = |wanted: &str| {
        head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim())
        })
    };
    let disposition = field("content-disposition")?;
    Some(RawPart {
        name: parameter(disposition, "name").unwrap_or_default(),
        file_name: parameter(disposition, "filename"),
        content_type: field("content-type").map(str::to_owned),
        content,
    })
}

/// `form-data; name="x"; filename="a;b.txt"`
fn parameter(disposition: &str, wanted: &str) -> Option<String> {
    let at = disposition.find(&format!("; {wanted}="))? + wanted.len() + 3;
    let rest = &disposition[at..];
    Some(match rest.strip_prefix('"') {
        Some(rest) => rest.split('"').next().unwrap_or_default().to_owned(),
        None => rest.split(';').next().unwrap_or_default().trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_cut_at_their_boundary() {
        let text = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n2\r\n--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"s;1.txt\"\r\nContent-Type: text/plain\r\n\r\n\r\n--x--\r\n";
        let parts = raw_parts(text, "x");
        let shown: Vec<_> = parts
            .iter()
            .map(|part| (part.name.as_str(), part.file_name.as_deref(), part.content))
            .collect();
        assert_eq!(shown, [("a", None, "1\r\n2"), ("f", Some("s;1.txt"), "")]);
        assert!(raw_parts("no parts", "x").is_empty());
    }

    #[test]
    fn json_comes_back_from_fields() {
        let param = |name: &str, value: &str| Param {
            name: name.into(),
            value: value.into(),
            ..Param::default()
        };
        assert_eq!(
            json_of(&[param("kind", "sales"), param("year", "2025"), param("o", "{\"a\":1}")]),
            "{\"kind\":\"sales\",\"year\":2025,\"o\":{\"a\":1}}"
        );
    }
}
