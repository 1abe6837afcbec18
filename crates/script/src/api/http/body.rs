//! The bodies of requests: text, bytes, forms with and without files, compressed where that is wanted.

use rquickjs::function::Opt;
use rquickjs::{Ctx, Exception, Object, Result, Value};
use users::{HttpRequest, Level};
use wire::content::Coding;

use super::read::{ReadError, ReadResult, refuse};
use crate::runtime::current::{on_worker_stack, vu_of};
use crate::runtime::ffi::{array_buffer, copied};
use crate::runtime::values::string_of;

/// How a form is encoded (HTML, 4.10.21.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FormEncoding {
    /// As multipart where it has a file, else as a query.
    #[default]
    ByContent,
    Multipart,
    Plain,
}

impl FormEncoding {
    /// What a form's `enctype` asks for.
    pub(super) fn of(enctype: &str) -> Self {
        match enctype.trim().to_ascii_lowercase().as_str() {
            "multipart/form-data" => Self::Multipart,
            "text/plain" => Self::Plain,
            _ => Self::ByContent,
        }
    }
}

/// The body: bytes as they are, a string, an object as a form.
pub(super) fn set<'js>(
    ctx: &Ctx<'js>,
    body: &Value<'js>,
    encoding: FormEncoding,
    request: &mut HttpRequest,
) -> ReadResult<()> {
    if body.is_null() || body.is_undefined() {
        return Ok(());
    }
    if let Some(bytes) = bytes_of(body)? {
        request.body = Some(bytes.into());
        return Ok(());
    }
    let object = body.as_object().filter(|_| !body.is_array() && !body.is_function());
    let Some(object) = object else {
        return refuse(format!("unknown request body type {}", body.type_name()));
    };
    let fields = fields(ctx, object)?;
    let has_file = fields.iter().any(|(_, field)| matches!(field, Field::File(_)));
    let (bytes, kind) = match encoding {
        FormEncoding::Plain if !has_file => (plain(&fields).into_bytes(), "text/plain".to_owned()),
        FormEncoding::ByContent if !has_file => {
            (form(&fields).into_bytes(), "application/x-www-form-urlencoded".to_owned())
        }
        _ => multipart(&fields),
    };
    request.default_header("Content-Type", &kind);
    request.body = Some(bytes.into());
    Ok(())
}

/// The bytes of a string, a buffer or a view of one; `None` of anything else.
fn bytes_of(value: &Value<'_>) -> Result<Option<Vec<u8>>> {
    if value.is_string() {
        return string_of(value).map(|text| Some(text.into_bytes()));
    }
    if let Some(buffer) = array_buffer(value) {
        return Ok(Some(copied(&buffer)));
    }
    let Some(object) = value.as_object() else { return Ok(None) };
    let buffer = object.get::<_, Option<Value<'_>>>("buffer")?;
    let Some(buffer) = buffer.as_ref().and_then(array_buffer) else { return Ok(None) };
    let (from, len): (usize, usize) = (object.get("byteOffset")?, object.get("byteLength")?);
    let bytes = copied(&buffer);
    Ok(bytes.get(from..from.saturating_add(len)).map(<[u8]>::to_vec))
}

/// The fields of an object as a query.
pub(super) fn query<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Result<String> {
    match fields(ctx, object) {
        Ok(fields) => Ok(form(&fields)),
        Err(ReadError::Thrown(error)) => Err(error),
        Err(ReadError::Refused(_, text)) => Err(Exception::throw_message(ctx, &text)),
    }
}

/// A field of a form.
enum Field {
    Text(String),
    File(File),
}

struct File {
    data: Vec<u8>,
    /// `None` of a field that has a content type of its own, and is no file.
    filename: Option<String>,
    content_type: String,
}

/// The fields of an object, sorted by name; an array is a field for each of its values.
fn fields<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> ReadResult<Vec<(String, Field)>> {
    let mut fields = Vec::new();
    for field in object.props::<String, Value<'js>>() {
        let (name, value) = field?;
        match value.as_array() {
            Some(values) => {
                for value in values.iter::<Value<'js>>() {
                    fields.push((name.clone(), field_of(ctx, &name, &value?)?));
                }
            }
            None => {
                let value = field_of(ctx, &name, &value)?;
                fields.push((name, value));
            }
        }
    }
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(fields)
}

fn field_of<'js>(ctx: &Ctx<'js>, name: &str, value: &Value<'js>) -> Result<Field> {
    if let Some(object) = value.as_object()
        && object.contains_key("content_type")?
        && let Some(data) = bytes_of(&object.get("data")?)?
    {
        let (filename, content_type) = (object.get("filename")?, object.get("content_type")?);
        return Ok(Field::File(File { data, filename, content_type }));
    }
    if value.is_null() || value.is_undefined() || value.is_object() {
        let text = format!("the form's field '{name}' has no plain value and is sent empty");
        vu_of(ctx)?.host.log_event(Level::Warn, &text, &[]);
        return Ok(Field::Text(String::new()));
    }
    string_of(value).map(Field::Text)
}

fn form(fields: &[(String, Field)]) -> String {
    let mut encoded = String::new();
    for (name, field) in fields {
        if !encoded.is_empty() {
            encoded.push('&');
        }
        push_encoded(name, &mut encoded);
        encoded.push('=');
        if let Field::Text(text) = field {
            push_encoded(text, &mut encoded);
        }
    }
    encoded
}

/// The form as text, a line a field (HTML, 4.10.21.8).
fn plain(fields: &[(String, Field)]) -> String {
    let text = |field: &Field| match field {
        Field::Text(text) => text.clone(),
        Field::File(file) => file.filename.clone().unwrap_or_default(),
    };
    fields.iter().map(|(name, field)| format!("{name}={}\r\n", text(field))).collect()
}

/// WHATWG URL, 5.2: a space is `+`, and all but letters, digits and `*-._` are percent-encoded. Go leaves `~` as it is and
/// encodes `*`; so do we.
fn push_encoded(text: &str, encoded: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            b' ' => encoded.push('+'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
}

/// The form as `multipart/form-data`, and its content type. RFC 7578.
fn multipart(fields: &[(String, Field)]) -> (Vec<u8>, String) {
    let boundary = boundary(fields);
    let mut out = Vec::new();
    for (name, field) in fields {
        out.extend_from_slice(
            format!("--{boundary}\r\nContent-Disposition: form-data; ").as_bytes(),
        );
        out.extend_from_slice(format!("name=\"{}\"", quoted(name)).as_bytes());
        match field {
            Field::Text(text) => {
                out.extend_from_slice(b"\r\n\r\n");
                out.extend_from_slice(text.as_bytes());
            }
            Field::File(file) => {
                let kind = file.content_type.replace(['\r', '\n'], "");
                if let Some(name) = &file.filename {
                    out.extend_from_slice(format!("; filename=\"{}\"", quoted(name)).as_bytes());
                }
                out.extend_from_slice(format!("\r\nContent-Type: {kind}").as_bytes());
                out.extend_from_slice(b"\r\n\r\n");
                out.extend_from_slice(&file.data);
            }
        }
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (out, format!("multipart/form-data; boundary={boundary}"))
}

/// A boundary made from what it keeps apart, with a number that none of the parts holds.
fn boundary(fields: &[(String, Field)]) -> String {
    let mut number = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |bytes: &[u8]| {
        // FNV-1a, over the sizes and the first bytes of each part.
        for byte in bytes.iter().take(64).chain(&bytes.len().to_le_bytes()) {
            number = (number ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for (name, field) in fields {
        mix(name.as_bytes());
        match field {
            Field::Text(text) => mix(text.as_bytes()),
            Field::File(file) => mix(&file.data),
        }
    }
    loop {
        let boundary = format!("----------------------------{number:016x}");
        let holds = |bytes: &[u8]| {
            bytes.windows(boundary.len()).any(|window| window == boundary.as_bytes())
        };
        let met = fields.iter().any(|(_, field)| match field {
            Field::Text(text) => holds(text.as_bytes()),
            Field::File(file) => holds(&file.data),
        });
        if !met {
            return boundary;
        }
        number = number.wrapping_mul(0x0100_0000_01b3).wrapping_add(1);
    }
}

/// What stands between quotes: as Go's `multipart` writes it.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\r', "%0D").replace('\n', "%0A")
}

/// `file(data, filename?, contentType?)`: a part of a multipart form.
pub(super) fn file<'js>(
    ctx: Ctx<'js>,
    data: Value<'js>,
    filename: Opt<Value<'js>>,
    content_type: Opt<Value<'js>>,
) -> Result<Object<'js>> {
    if !data.is_string() && array_buffer(&data).is_none() {
        let text = format!("invalid type {}, expected string or ArrayBuffer", data.type_name());
        return Err(Exception::throw_type(&ctx, &text));
    }
    let given = |value: Opt<Value<'js>>| -> Result<Option<String>> {
        value
            .0
            .filter(|value| !value.is_undefined() && !value.is_null())
            .as_ref()
            .map(string_of)
            .transpose()
    };
    let name = match given(filename)? {
        Some(name) => name,
        // A name that no other file has.
        None => vu_of(&ctx)?.host.unix_time().0.to_string(),
    };
    let file = Object::new(ctx)?;
    file.set("data", data)?;
    file.set("filename", name)?;
    file.set(
        "content_type",
        given(content_type)?.unwrap_or_else(|| "application/octet-stream".to_owned()),
    )?;
    Ok(file)
}

/// Compresses a body with the codings of a list, one after the other.
pub(super) fn compress(ctx: &Ctx<'_>, list: &str, request: &mut HttpRequest) -> ReadResult<()> {
    let mut codings = Vec::new();
    for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match Coding::of_name(name) {
            Some(coding) => codings.push((name, coding)),
            None => {
                return refuse(format!(
                    "unknown compression algorithm {name}, supported algorithms are [gzip deflate zstd br]"
                ));
            }
        }
    }
    let Some(body) = request.body.clone().filter(|_| !codings.is_empty()) else { return Ok(()) };
    let coded = on_worker_stack(ctx, || {
        codings.iter().fold(body.to_vec(), |coded, (_, coding)| coding.encode(&coded))
    });
    request.coded_body = Some(coded.into());
    let names: Vec<&str> = codings.iter().map(|(name, _)| *name).collect();
    let names = names.join(", ");
    if request.header("Content-Encoding").is_some_and(|own| own != names) {
        let text = format!(
            "the body of the {} request for '{}' is compressed otherwise than its own Content-Encoding says",
            request.method, request.url
        );
        vu_of(ctx)?.host.log_event(Level::Warn, &text, &[]);
    }
    request.default_header("Content-Encoding", &names);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exception that stayed behind ended the next VU that was made: "ArrayBuffer object expected".
    #[test]
    fn what_is_no_buffer_leaves_no_exception() {
        let runtime = rquickjs::Runtime::new().unwrap();
        let context = rquickjs::Context::full(&runtime).unwrap();
        context.with(|ctx| {
            let detached = "(() => { const b = new ArrayBuffer(4); b.transfer(); return b })()";
            for source in ["({ a: '1' })", "[1]", "7", "null", detached, "({ buffer: {} })"] {
                let value: Value<'_> = ctx.eval(source).unwrap();
                assert_eq!(bytes_of(&value).unwrap(), None, "{source}");
                assert!(!ctx.has_exception(), "{source}");
            }
            for source in ["new Uint8Array([1, 2]).buffer", "new Uint8Array([1, 2])"] {
                let value: Value<'_> = ctx.eval(source).unwrap();
                assert_eq!(bytes_of(&value).unwrap(), Some(vec![1, 2]), "{source}");
            }
        });
    }

    #[test]
    fn forms_are_encoded_as_go_does() {
        let mut encoded = String::new();
        push_encoded("a b&c=ü~*", &mut encoded);
        assert_eq!(encoded, "a+b%26c%3D%C3%BC~%2A");
    }

    #[test]
    fn parts_are_kept_apart() {
        let file = |data: &str| {
            let (filename, content_type) =
                (Some("q\"\r\n.txt".to_owned()), "text/plain\r\nX: y".to_owned());
            Field::File(File { data: data.as_bytes().to_vec(), filename, content_type })
        };
        let (body, kind) = multipart(&[
            ("a".to_owned(), file("x")),
            ("b".to_owned(), Field::Text("y".to_owned())),
        ]);
        let boundary = kind.strip_prefix("multipart/form-data; boundary=").expect("a boundary");
        let expect = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"a\"; filename=\"q\\\"%0D%0A.txt\"\r\nContent-Type: text/plainX: y\r\n\r\nx\r\n--{boundary}\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\ny\r\n--{boundary}--\r\n"
        );
        assert_eq!(String::from_utf8(body).expect("text"), expect);
    }
}
