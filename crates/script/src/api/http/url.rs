//! Where requests go: addresses as written, and `` http.url`…` ``, which metrics know by what stays the same.

use std::rc::Rc;

use rquickjs::function::Rest;
use rquickjs::{Ctx, Object, Result, Value};
use users::masked;
use wire::url::{Url, UrlError};

use super::malformed::malformed;
use super::read::{ReadError, ReadResult};
use crate::api::inspect::inspect;
use crate::runtime::ffi::ascii;
use crate::runtime::known_urls::KnownUrls;
use crate::runtime::values::string_of;

/// `` url`http://host/${id}` ``: the URL, called by what stands there.
pub(super) fn tagged<'js>(
    ctx: Ctx<'js>,
    parts: Vec<String>,
    values: Rest<Value<'js>>,
) -> Result<Object<'js>> {
    let (mut url, mut name) = (String::new(), String::new());
    let mut values = values.0.iter();
    for (at, part) in parts.iter().enumerate() {
        url.push_str(part);
        name.push_str(part);
        if let Some(value) = values.next().filter(|_| at + 1 < parts.len()) {
            url.push_str(&string_of(value)?);
            name.push_str("${}");
        }
    }
    let tagged = Object::new(ctx)?;
    tagged.set("name", name)?;
    tagged.set("clean_url", masked(&url).unwrap_or_else(|| url.clone()))?;
    tagged.set("url", url)?;
    Ok(tagged)
}

/// A request's URL, and its name where that is another.
pub(super) fn of(value: &Value<'_>, known: &KnownUrls) -> ReadResult<(Rc<str>, Option<String>)> {
    // What is redacted may have changed since it was kept.
    if let Some(known) = ascii(value).and_then(|url| known.get(url)) {
        let name = stdx::redacted_query(&known);
        return Ok((known, name));
    }
    let (url, name) = match value.as_object() {
        Some(tagged) if tagged.contains_key("url")? && tagged.contains_key("name")? => {
            let (url, name): (String, String) = (tagged.get("url")?, tagged.get("name")?);
            (url, Some(stdx::shown_url(&name).into_owned()))
        }
        None if value.is_string() => (string_of(value)?, None),
        _ => {
            let shown = if value.is_undefined() { "<nil>".to_owned() } else { inspect(value)? };
            return Err(ReadError::Refused(INVALID_URL, format!("invalid URL: '#{shown}'")));
        }
    };
    if url.len() <= URL_MAX && is_plain(&url) {
        let name = name.or_else(|| stdx::redacted_query(&url));
        return Ok((known.keep(&url), name));
    }
    require_url(&url)?;
    let name = name.or_else(|| masked(&url));
    Ok((url.into(), name))
}

/// Refuses a text that is not a URL.
fn require_url(url: &str) -> ReadResult<()> {
    if url.len() > URL_MAX {
        let text = format!("invalid URL: it has {} bytes (at most {URL_MAX})", url.len());
        return Err(ReadError::Refused(INVALID_URL, text));
    }
    // A URL of another scheme fails when it is requested, and counts; a text that is not a URL is not requested.
    if let Some(reason) = malformed(url) {
        return Err(ReadError::Refused(INVALID_URL, format!("invalid URL: {reason}")));
    }
    if let Err(
        error @ (UrlError::Host(_)
        | UrlError::HostTooLong(_)
        | UrlError::LocationTooLong(_)
        | UrlError::Port(_)
        | UrlError::Escape(_)
        | UrlError::Control),
    ) = Url::parse(url)
    {
        let text = format!("invalid URL: parse {:?}: {error}", stdx::shown_url(url));
        return Err(ReadError::Refused(INVALID_URL, text));
    }
    Ok(())
}

/// Bytes of a URL, at most: names, errors and rows have it, and a script may have another one in each iteration. Servers take no more
/// than a few KiB.
const URL_MAX: usize = 64 << 10;

/// k6's number for a text that is not a URL.
const INVALID_URL: u16 = 1020;

/// Whether a URL needs no closer look: a host of letters and digits, perhaps a port, and nothing that has to be escaped.
fn is_plain(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")) else {
        return false;
    };
    let end = rest.bytes().position(|byte| matches!(byte, b'/' | b'?' | b'#'));
    let (authority, path) = rest.split_at(end.unwrap_or(rest.len()));
    let colon = authority.bytes().position(|byte| byte == b':');
    let (host, port) =
        colon.map_or((authority, "80"), |at| (&authority[..at], &authority[at + 1..]));
    !host.is_empty() && are(host, IN_HOST) && port.parse::<u16>().is_ok() && are(path, IN_PATH)
}

/// Whether all characters are of a class.
fn are(text: &str, class: u8) -> bool {
    text.bytes().fold(class, |all, byte| all & CLASSES[usize::from(byte)]) != 0
}

/// Classes of characters: those of a plain host, and those of what follows it.
const IN_HOST: u8 = 1;
const IN_PATH: u8 = 2;
/// The classes of each byte. A URL is looked at for each request, so that its bytes are not compared one after the other.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        let in_host = byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
        // An `@` may be that of another URL.
        let in_path = byte.is_ascii_graphic() && !matches!(byte, b'%' | b'@');
        classes[byte as usize] =
            if in_host { IN_HOST } else { 0 } | if in_path { IN_PATH } else { 0 };
        byte += 1;
    }
    classes
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_urls_are_known_at_a_glance() {
        for url in ["http://h/", "https://a-b.c:80/x?y=z&a#f", "http://127.0.0.1"] {
            assert!(is_plain(url) && Url::parse(url).is_ok(), "{url}");
        }
        for url in ["h/x", "http://h:x/", "http:///", "http://h/%zz", "http://h/a b", "http://u@h/"]
        {
            assert!(!is_plain(url), "{url}");
        }
    }
}
