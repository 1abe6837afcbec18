//! Bodies of recorded requests: forms, JSON, uploads whose files the recording lacks.

use dom_query::Document;

use super::correlate::Correlator;
use super::entry::{Entry, Param, Sent};
use super::find::{Sink, SinkPlace};
use crate::percent::encode_form;
use crate::{Body, Content, Encoding, Multipart, Part, Text};

/// What part of a multipart request its boundaries and fields have, about; the rest is the file.
const FORM_BYTES: usize = 600;

/// A body, and what was guessed in it.
pub(super) struct Made {
    pub(super) body: Body,
    pub(super) notes: Vec<String>,
}

impl Correlator<'_> {
    /// The body of the request.
    pub(super) fn body(&mut self) -> Made {
        let entry = self.entry();
        let mime = entry.header("content-type").unwrap_or_default().to_owned();
        let kind = mime.to_ascii_lowercase();
        let made = |body| Made { body, notes: vec![] };
        match &entry.body {
            Sent::None => made(Body::None),
            Sent::Bytes(bytes) => made(Body::Bytes(bytes.clone())),
            Sent::Text(text) if kind.starts_with("multipart/") => self.multipart(text, &mime),
            Sent::Text(text) => made(Body::Text(self.text_body(text, &kind))),
            Sent::Params(params) if kind.starts_with("multipart/") => self.params(params, entry),
            Sent::Params(params) if kind.contains("json") => {
                let json = json_of(params);
                made(Body::Text(self.json(&json)))
            }
            Sent::Params(params) => made(Body::Text(self.form(params))),
            Sent::Missing(bytes) => self.missing(*bytes, &kind),
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

    fn params(&mut self, params: &[Param], entry: &Entry) -> Made {
        let mut parts = vec![];
        let mut notes = vec![];
        for param in params {
            let content = match &param.file_name {
                Some(name) if param.value.is_empty() => {
                    notes.push(filler_note(name));
                    Content::Filler { bytes: file_bytes(entry, FORM_BYTES) }
                }
                _ => Content::Text(self.field(&param.name, &param.value, SinkPlace::Field)),
            };
            parts.push(Part {
                name: param.name.as_str().into(),
                file_name: param.file_name.as_deref().map(Text::from),
                content_type: param
                    .content_type
                    .clone()
                    .filter(|kind| !kind.is_empty() && param.file_name.is_some()),
                headers: vec![],
                content,
            });
        }
        Made { body: form_data(parts), notes }
    }

    fn multipart(&mut self, text: &str, mime: &str) -> Made {
        let boundary = mime.split(';').find_map(|part| {
            let (key, value) = part.trim().split_once('=')?;
            key.eq_ignore_ascii_case("boundary").then(|| value.trim_matches('"'))
        });
        let boundary = boundary.or_else(|| text.strip_prefix("--")?.lines().next());
        let raw = boundary.map(|boundary| raw_parts(text, boundary)).unwrap_or_default();
        if raw.is_empty() {
            return Made { body: Body::Text(text.into()), notes: vec![] };
        }
        let mut notes = vec![];
        let entry = self.entry();
        let parts = raw
            .iter()
            .map(|raw| {
                let content = match &raw.file_name {
                    Some(name) if raw.content.is_empty() && !name.is_empty() => {
                        notes.push(filler_note(name));
                        Content::Filler { bytes: file_bytes(entry, text.len()) }
                    }
                    Some(_) => Content::Text(raw.content.into()),
                    None => Content::Text(self.field(&raw.name, raw.content, SinkPlace::Field)),
                };
                Part {
                    name: raw.name.as_str().into(),
                    file_name: raw.file_name.as_deref().map(Text::from),
                    content_type: raw.content_type.clone(),
                    headers: vec![],
                    content,
                }
            })
            .collect();
        Made { body: form_data(parts), notes }
    }

    /// A body that the recording lacks. Of a form it is what the page before had in it; of a file as many bytes.
    fn missing(&mut self, bytes: usize, kind: &str) -> Made {
        let is_multipart = kind.starts_with("multipart/");
        if is_multipart || kind.starts_with("application/x-www-form-urlencoded") {
            let fields = self.form_of_page();
            if fields.is_empty() {
                let note = "the body is not in the recording, and no form of a page before goes there: it is sent empty";
                return Made { body: Body::None, notes: vec![note.to_owned()] };
            }
            let note = "the body is not in the recording: its fields are those of the form in the page before, what was typed into them is not known";
            let mut made = if is_multipart {
                self.params(&fields, self.entry())
            } else {
                Made { body: Body::Text(self.form(&fields)), notes: vec![] }
            };
            made.notes.insert(0, note.to_owned());
            return made;
        }
        if kind.contains("json") {
            let note = format!(
                "the body ({bytes} bytes of JSON) is not in the recording: an empty object is sent"
            );
            return Made { body: Body::Text("{}".into()), notes: vec![note] };
        }
        let note = format!("the body is not in the recording: {bytes} bytes are sent in its place");
        Made { body: Body::Filler { bytes }, notes: vec![note] }
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
    let mut fields = vec![];
    for input in
        form.select("input[name], textarea[name], select[name], button[name]").iter().take(500)
    {
        let kind = input.attr("type").unwrap_or_default().to_string().to_ascii_lowercase();
        let is_checkable = matches!(kind.as_str(), "checkbox" | "radio");
        if (is_checkable && !input.has_attr("checked"))
            || matches!(kind.as_str(), "reset" | "button" | "image")
        {
            continue;
        }
        let name = input.attr("name").unwrap_or_default().to_string();
        let value = if input.is("textarea") {
            input.text().to_string()
        } else if input.is("select") {
            let chosen = input.select("option[selected]");
            let option = if chosen.exists() { chosen } else { input.select("option") };
            option.first().attr("value").unwrap_or_default().to_string()
        } else {
            input.attr("value").unwrap_or_default().to_string()
        };
        let is_typed = matches!(kind.as_str(), "" | "text" | "search");
        let value = if value.is_empty() && is_typed { name.clone() } else { value };
        let file_name = (kind == "file").then(|| "file.txt".to_owned());
        let content_type = file_name.as_ref().map(|_| "text/plain".to_owned());
        let value = if file_name.is_some() { String::new() } else { value };
        fields.push(Param { name, value, file_name, content_type });
    }
    fields
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

fn raw_parts<'a>(text: &'a str, boundary: &str) -> Vec<RawPart<'a>> {
    let delimiter = format!("--{boundary}");
    text.split(delimiter.as_str())
        .skip(1)
        .filter_map(|part| {
            let part = part.strip_prefix("\r\n").or_else(|| part.strip_prefix('\n'))?;
            let (head, content) = match part.split_once("\r\n\r\n") {
                Some(split) => split,
                None => part.split_once("\n\n")?,
            };
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
        })
        .collect()
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
