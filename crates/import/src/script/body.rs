//! Bodies as expressions of a script.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::expression::text;
use super::fields;
use super::library::Helper;
use super::names::{FileForm, Names};
use crate::{Body, Content, Exchange, Part, quote};

/// A body as a script has it.
#[derive(Default)]
pub(super) struct WrittenBody {
    /// What stands before the request.
    pub(super) statements: String,
    /// The body itself; none: no body.
    pub(super) expression: Option<String>,
    /// The expression of its `Content-Type`, if the script makes it.
    pub(super) content_type: Option<String>,
}

pub(super) fn write(names: &mut Names, exchange: &Exchange, indent: &str) -> WrittenBody {
    let expression = match &exchange.body {
        Body::None => return WrittenBody::default(),
        Body::Text(content) => text(names, content),
        Body::Bytes(bytes) => bytes_expression(names, bytes),
        Body::Filler { bytes } => format!("'x'.repeat({bytes})"),
        Body::File { path } => names.file(path, FileForm::Bytes),
        Body::Multipart(multipart) => {
            names.helpers.extend([Helper::Multipart, Helper::BytesOf]);
            let name = names.unique("form");
            let inner = format!("{indent}  ");
            let parts: String = multipart
                .parts
                .iter()
                .map(|one| format!("{inner}{},\n", part(names, one)))
                .collect();
            let subtype = fields::multipart_subtype(exchange);
            let subtype = quote::string(subtype.as_deref().unwrap_or(&multipart.subtype));
            return WrittenBody {
                statements: format!(
                    "{indent}const {name} = multipart({subtype}, [\n{parts}{indent}]);\n"
                ),
                expression: Some(format!("{name}.body")),
                content_type: Some(format!("{name}.type")),
            };
        }
    };
    WrittenBody { expression: Some(expression), ..WrittenBody::default() }
}

fn bytes_expression(names: &mut Names, bytes: &[u8]) -> String {
    names.helpers.insert(Helper::Encoding);
    format!("encoding.b64decode('{}')", STANDARD.encode(bytes))
}

fn part(names: &mut Names, part: &Part) -> String {
    let mut members = vec![];
    if !part.name.is_empty() {
        members.push(format!("name: {}", text(names, &part.name)));
    }
    if let Some(name) = &part.file_name {
        members.push(format!("filename: {}", text(names, name)));
    }
    if let Some(kind) = &part.content_type {
        members.push(format!("type: {}", quote::string(kind)));
    }
    if !part.headers.is_empty() {
        let lines: Vec<String> = part
            .headers
            .iter()
            .map(|header| {
                let mut line = crate::Text::literal(format!("{}: ", header.name));
                line.push(&header.value);
                text(names, &line)
            })
            .collect();
        members.push(format!("headers: [{}]", lines.join(", ")));
    }
    members.push(content(names, &part.content));
    format!("{{ {} }}", members.join(", "))
}

fn content(names: &mut Names, content: &Content) -> String {
    match content {
        Content::Text(value) => format!("content: {}", text(names, value)),
        Content::Bytes(bytes) => format!("content: {}", bytes_expression(names, bytes)),
        Content::File { path } => format!("content: {}", names.file(path, FileForm::Bytes)),
        Content::FileAsBase64 { path } => {
            names.helpers.insert(Helper::Encoding);
            let file = names.file(path, FileForm::Bytes);
            format!("content: encoding.b64encode({file}).replace(/(.{{76}})(?=.)/g, '$1\\r\\n')")
        }
        Content::Filler { bytes } => format!("content: 'x'.repeat({bytes})"),
        Content::Mixed(parts) => {
            let parts: Vec<String> = parts.iter().map(|one| part_of_mixed(names, one)).collect();
            format!("files: [{}]", parts.join(", "))
        }
    }
}

/// A file of several in one field has no name of its own.
fn part_of_mixed(names: &mut Names, one: &Part) -> String {
    let nameless = Part { name: crate::Text::default(), ..one.clone() };
    part(names, &nameless)
}
