//! The body of a request: raw, a form, a file, or several parts.

use super::charset::encode;
use super::fields::{Argument, Fields, FileArgument};
use super::form;
use crate::thread::scope::Thread;
use crate::world::Base;

/// A body with the type that it has where no header names one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    pub(crate) content_type: Option<String>,
    /// The same as results show it, where it is not the bytes.
    pub(crate) shown: Option<String>,
    /// The type is the body's own: no header replaces it.
    pub(crate) is_multipart: bool,
}

/// A file that is to be sent is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MissingFile(pub(crate) String);

/// Bytes of a body at most: 256 MiB.
const BODY_MAX: usize = 256 << 20;

/// What a body is made of.
pub(crate) struct BodyParts<'a> {
    pub(crate) fields: &'a Fields<'a>,
    pub(crate) arguments: &'a [Argument],
    pub(crate) charset: &'a str,
    pub(crate) method: &'a str,
    pub(crate) is_java: bool,
}

impl BodyParts<'_> {
    /// The body.
    pub(crate) fn body(&self, thread: &mut Thread) -> Result<Body, MissingFile> {
        let files = self.fields.files(thread);
        let wants_parts = self.fields.flag("HTTPSampler.DO_MULTIPART_POST", thread);
        if let [file] = &files[..]
            && file.name.is_empty()
            && !(wants_parts && self.method == "POST")
        {
            return file_body(file, thread);
        }
        if self.method == "POST" && (wants_parts || !files.is_empty()) {
            return self.parts(&files, thread);
        }
        if is_raw(self.fields, self.arguments, thread) {
            return Ok(self.raw());
        }
        let text = form::form(self.arguments, self.charset);
        let content_type = match self.is_java {
            true => "application/x-www-form-urlencoded".to_owned(),
            false => format!("application/x-www-form-urlencoded; charset={}", self.charset),
        };
        Ok(Body { bytes: text.into_bytes(), content_type: Some(content_type), ..Body::default() })
    }

    /// The values, joined.
    fn raw(&self) -> Body {
        let values = self.arguments.iter().map(|one| match one.is_encoded {
            true => form::escape(&one.value, self.charset),
            false => one.value.clone(),
        });
        let text: String = values.collect();
        let content_type = format!("text/plain; charset={}", self.charset);
        Body {
            bytes: encode(&text, self.charset),
            content_type: Some(content_type),
            ..Body::default()
        }
    }

    /// RFC 7578, as Apache's client writes it.
    fn parts(&self, files: &[FileArgument], thread: &mut Thread) -> Result<Body, MissingFile> {
        let browser = self.fields.flag("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART", thread);
        let boundary = boundary(thread);
        let (mut bytes, mut shown) = (Vec::new(), String::new());
        for one in self.arguments.iter().filter(|one| !one.name.is_empty()) {
            let head = field_head(one, self.charset, browser);
            push_part(&mut bytes, &boundary, &head, &encode(&one.value, self.charset));
            shown.push_str(&format!("--{boundary}\r\n{head}\r\n{}\r\n", one.value));
        }
        for file in files {
            let content = read(file, thread)?;
            let head = file_head(file, browser);
            push_part(&mut bytes, &boundary, &head, &content);
            shown.push_str(&format!(
                "--{boundary}\r\n{head}\r\n<actual file content, not shown here>\r\n"
            ));
        }
        bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        shown.push_str(&format!("--{boundary}--\r\n"));
        let content_type =
            format!("multipart/form-data; boundary={boundary}; charset={}", self.charset);
        Ok(Body { bytes, content_type: Some(content_type), shown: Some(shown), is_multipart: true })
    }
}

/// Whether the arguments are a body as they are: the sampler says so, or none of them has a name.
pub(crate) fn is_raw(fields: &Fields<'_>, arguments: &[Argument], thread: &mut Thread) -> bool {
    fields.flag("HTTPSampler.postBodyRaw", thread)
        || !arguments.is_empty() && arguments.iter().all(|one| one.name.is_empty())
}

fn file_body(file: &FileArgument, thread: &mut Thread) -> Result<Body, MissingFile> {
    let bytes = read(file, thread)?;
    let content_type = (!file.content_type.is_empty()).then(|| file.content_type.clone());
    let shown = Some("<actual file content, not shown here>".to_owned());
    Ok(Body { bytes, content_type, shown, is_multipart: false })
}

fn read(file: &FileArgument, thread: &Thread) -> Result<Vec<u8>, MissingFile> {
    let found = thread.world.plan.disk.read(&file.path, Base::Plan);
    found.filter(|bytes| bytes.len() <= BODY_MAX).ok_or_else(|| MissingFile(file.path.clone()))
}

fn push_part(bytes: &mut Vec<u8>, boundary: &str, head: &str, content: &[u8]) {
    bytes.extend_from_slice(format!("--{boundary}\r\n{head}\r\n").as_bytes());
    bytes.extend_from_slice(content);
    bytes.extend_from_slice(b"\r\n");
}

fn field_head(one: &Argument, charset: &str, browser: bool) -> String {
    let name = &one.name;
    if browser {
        return format!("Content-Disposition: form-data; name=\"{name}\"\r\n");
    }
    let content_type = if one.content_type.is_empty() { "text/plain" } else { &one.content_type };
    format!(
        "Content-Disposition: form-data; name=\"{name}\"\r\nContent-Type: {content_type}; charset={charset}\r\nContent-Transfer-Encoding: 8bit\r\n"
    )
}

fn file_head(file: &FileArgument, browser: bool) -> String {
    let name = file.path.rsplit(['/', '\\']).next().unwrap_or_default();
    let content_type = match file.content_type.as_str() {
        "" => "application/octet-stream",
        given => given,
    };
    let coding = if browser { "" } else { "Content-Transfer-Encoding: binary\r\n" };
    let field = &file.name;
    format!(
        "Content-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\nContent-Type: {content_type}\r\n{coding}"
    )
}

/// A boundary of 40 letters by chance.
fn boundary(thread: &mut Thread) -> String {
    const LETTERS: &[u8] = b"-_1234567890abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    (0..40).map(|_| char::from(LETTERS[thread.random.below(LETTERS.len())])).collect()
}
