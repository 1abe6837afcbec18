//! The parameters of requests.

use rquickjs::{Class, Ctx, Object, Result, Value};
use stdx::Nanos;
use users::{Auth, Expects, HttpRequest, OwnCookie};

use super::read::{ReadResult, refuse};
use super::{body, cookies, statuses};
use crate::runtime::ffi::Handle;
use crate::runtime::values::{number_of, string_of, truthy};

/// Whether a failure is to be thrown, where the parameters say so.
pub(super) fn throws(params: &Object<'_>) -> Result<Option<bool>> {
    let value: Value<'_> = params.get("throw")?;
    if value.is_undefined() { Ok(None) } else { truthy(&value).map(Some) }
}

/// Reads the parameters of a request.
pub(super) fn set<'js>(
    ctx: &Ctx<'js>,
    params: &Object<'js>,
    request: &mut HttpRequest,
) -> ReadResult<()> {
    let mut compression = None;
    for param in params.props::<String, Value<'js>>() {
        let (name, value) = param?;
        if value.is_undefined() || (value.is_null() && name != "responseCallback") {
            continue;
        }
        match name.as_str() {
            "headers" => set_headers(&value, request)?,
            "cookies" => request.cookies = own_cookies(&value)?,
            "jar" => {
                if let Ok(jar) = Class::<Handle<cookies::JarRef>>::from_value(&value) {
                    request.jar = Some(jar.borrow().0.0.clone());
                }
            }
            "tags" => set_tags(&value, request)?,
            "auth" => request.auth = auth(&string_of(&value)?)?,
            "timeout" => request.timeout = Some(time_of(&value)?),
            "redirects" => {
                let count = number_of(&value).or_else(|| string_of(&value).ok()?.parse().ok());
                request.redirects = count.map(|count| count.max(0.0) as u32);
            }
            "compression" => compression = Some(string_of(&value)?),
            "responseType" => request.expects = expects(&string_of(&value)?)?,
            "responseCallback" => match statuses::of(&value) {
                Some(statuses) => request.expected = statuses,
                None => return refuse("unsupported responseCallback"),
            },
            _ => {}
        }
    }
    match compression {
        Some(list) => body::compress(ctx, &list, request),
        None => Ok(()),
    }
}

/// A header's name as Go writes it: `content-type` is `Content-Type`. What is no name stays as it is.
pub(in crate::api) fn canonical(name: &str) -> String {
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if !name.bytes().all(is_token) {
        return name.to_owned();
    }
    let mut upper = true;
    let letter = |letter: char| {
        let changed = if upper { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
        upper = letter == '-';
        changed
    };
    name.chars().map(letter).collect()
}

/// `{ name: value }`, or `{ name: { value, replace } }`.
fn own_cookies(value: &Value<'_>) -> Result<Vec<OwnCookie>> {
    let Some(object) = value.as_object() else { return Ok(Vec::new()) };
    let cookie = |field: Result<(String, Value<'_>)>| {
        let (name, value) = field?;
        // A cookie that the script has no value for is not sent.
        if value.is_null() || value.is_undefined() {
            return Ok(None);
        }
        Ok(Some(match value.as_object() {
            Some(parts) => {
                let replaces = truthy(&parts.get("replace")?)?;
                let value: Value<'_> = parts.get("value")?;
                OwnCookie { name, value: string_of(&value)?, replaces }
            }
            None => OwnCookie { name, value: string_of(&value)?, replaces: false },
        }))
    };
    object.props::<String, Value<'_>>().filter_map(|field| cookie(field).transpose()).collect()
}

/// Header fields that a request may have of its parameters. Each is looked for among those before it: a million took minutes,
/// in which nothing can end the script.
const HEADERS_MAX: usize = 4096;

fn set_headers(value: &Value<'_>, request: &mut HttpRequest) -> ReadResult<()> {
    let Some(object) = value.as_object() else { return Ok(()) };
    for (count, field) in object.props::<String, Value<'_>>().enumerate() {
        let (name, value) = field?;
        if count >= HEADERS_MAX {
            return refuse(format!("a request may have up to {HEADERS_MAX} headers"));
        }
        request.set_header(&canonical(&name), string_of(&value)?);
    }
    Ok(())
}

fn set_tags(value: &Value<'_>, request: &mut HttpRequest) -> ReadResult<()> {
    let Some(object) = value.as_object() else { return Ok(()) };
    for field in object.props::<String, Value<'_>>() {
        let (name, value) = field?;
        if !(value.is_string() || value.is_bool() || value.is_number()) {
            return refuse(format!(
                "invalid HTTP request metric tags: invalid value for metric tag '{name}': only String, Boolean and Number types are accepted as a metric tag values"
            ));
        }
        // The URL's own name as well, which a script may build of parts.
        let value = stdx::shown_url(&string_of(&value)?).into_owned();
        if name == "name" {
            request.name = Some(value.clone());
        }
        request.tags.push((name, value));
    }
    Ok(())
}

fn auth(word: &str) -> ReadResult<Auth> {
    match word {
        "digest" => Ok(Auth::Digest),
        "ntlm" => refuse("NTLM authentication is not supported"),
        _ => Ok(Auth::Basic),
    }
}

/// A time in milliseconds, or with its unit.
fn time_of(value: &Value<'_>) -> ReadResult<Nanos> {
    if let Some(milliseconds) = number_of(value) {
        return Ok(Nanos::from_secs_f64(milliseconds.max(0.0) / 1e3));
    }
    if value.as_object().is_some() {
        return refuse("invalid timeout value: unable to use an object as a duration value");
    }
    let text = string_of(value)?;
    let bare = || {
        text.parse().ok().map(|milliseconds: f64| Nanos::from_secs_f64(milliseconds.max(0.0) / 1e3))
    };
    match Nanos::parse(&text).ok().or_else(bare) {
        Some(time) => Ok(time),
        None => refuse(format!("invalid timeout value: time: invalid duration {text:?}")),
    }
}

fn expects(word: &str) -> ReadResult<Expects> {
    match word {
        "text" => Ok(Expects::Text),
        "binary" => Ok(Expects::Binary),
        "none" => Ok(Expects::Nothing),
        other => refuse(format!("{other} does not belong to ResponseType values")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_canonical() {
        for (name, expect) in [
            ("content-type", "Content-Type"),
            ("X-REQUEST-ID", "X-Request-Id"),
            ("etag", "Etag"),
            ("a b", "a b"),
        ] {
            assert_eq!(canonical(name), expect);
        }
    }
}
