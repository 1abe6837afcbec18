//! Addresses as curl completes them.

use super::command::Values;

/// Letters and digits stay, all else is percent-encoded.
pub(super) fn percent_encoded(text: &str) -> String {
    percent_encoded_bytes(text.as_bytes())
}

/// The same, of bytes that may be no text.
pub(super) fn percent_encoded_bytes(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|&byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

/// The same, a space as `+`.
pub(super) fn form_encoded(text: &str) -> String {
    percent_encoded(text).replace("%20", "+")
}

/// Percent-encoding taken off.
pub(super) fn percent_decoded(text: &str) -> String {
    let mut bytes = vec![];
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = |byte: u8| char::from(byte).to_digit(16);
        match after {
            [a, b, after @ ..] if *first == b'%' => match (hex(*a), hex(*b)) {
                (Some(a), Some(b)) => {
                    bytes.push((a * 16 + b) as u8);
                    rest = after;
                    continue;
                }
                _ => bytes.push(*first),
            },
            _ => bytes.push(*first),
        }
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// An address in its parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Url {
    /// With `://`; empty where a value stands in its place.
    pub(super) scheme: String,
    pub(super) user: Option<String>,
    pub(super) host: String,
    pub(super) path: String,
    pub(super) query: Option<String>,
}

/// `https:/host` and `https:///host` are taken for `https://host`.
fn with_two_slashes(url: &str) -> String {
    for scheme in ["http:", "https:"] {
        let begins = url.get(..scheme.len()).is_some_and(|text| text.eq_ignore_ascii_case(scheme));
        let rest = url.get(scheme.len()..).unwrap_or_default();
        let host = rest.trim_start_matches('/');
        if begins && (1..=3).contains(&(rest.len() - host.len())) {
            return format!("{scheme}//{host}");
        }
    }
    url.to_owned()
}

/// An address without a scheme gets one. Its fragment goes, dot segments are walked unless they stay as they are.
pub(super) fn parse(values: &Values, url: &str, default_scheme: &str) -> Url {
    let url = url.split('#').next().unwrap_or(url);
    let url = with_two_slashes(url);
    let url = url.as_str();
    let begins_with_value = url.chars().next().is_some_and(|char| values.get(char).is_some());
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(['/', '?']) => {
            (format!("{}://", scheme.to_ascii_lowercase()), rest)
        }
        _ if begins_with_value => (String::new(), url),
        _ => (format!("{default_scheme}://"), url),
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user.to_owned()), host),
        None => (None, authority),
    };
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, Some(query.to_owned())),
        None => (rest, None),
    };
    // A value alone may be a whole address with a path.
    let path = if path.is_empty() && !(begins_with_value && host.chars().count() == 1) {
        "/"
    } else {
        path
    };
    Url { scheme, user, host: host.to_owned(), path: path.to_owned(), query }
}

/// A path without `.` and `..`, also if they are percent-encoded.
pub(super) fn without_dots(path: &str) -> String {
    let mut out: Vec<&str> = vec![];
    let parts: Vec<&str> = path.split('/').collect();
    for (i, part) in parts.iter().enumerate() {
        let is_last = i + 1 == parts.len();
        match part.to_ascii_lowercase().replace("%2e", ".").as_str() {
            "." | ".." => {
                if part.to_ascii_lowercase().replace("%2e", ".") == ".." && out.len() > 1 {
                    out.pop();
                }
                if is_last {
                    out.push("");
                }
            }
            _ => out.push(part),
        }
    }
    out.join("/")
}
