//! `without_password`: a URL as texts may show it. It refuses nothing: a text that is not a URL stays as it is.

use std::borrow::Cow;

/// A URL as rows, reports, labels and messages show it: `user:password@` has become `user:***@`, as Go's client prints it.
/// Everything else stays byte for byte. Requests are sent to the URL itself.
#[must_use]
pub fn without_password(url: &str) -> Cow<'_, str> {
    // RFC 3986, 3.2: the authority stands behind `//` and ends at the path, the query or the fragment.
    let Some(begin) = url.find("//").map(|at| at + 2) else { return Cow::Borrowed(url) };
    let end = url[begin..].find(['/', '?', '#']).map_or(url.len(), |len| begin + len);
    let Some(at) = url[begin..end].rfind('@').map(|len| begin + len) else {
        return Cow::Borrowed(url);
    };
    match url[begin..at].find(':') {
        Some(len) => Cow::Owned(format!("{}:***{}", &url[..begin + len], &url[at..])),
        None => Cow::Borrowed(url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let cases = [
            ("http://u:p@h/x", "http://u:***@h/x"),
            ("GET http://u:p@h:1/?a=b:c@d", "GET http://u:***@h:1/?a=b:c@d"),
            ("http://u:p@w:@h", "http://u:***@h"),
            ("//u:p@h#f", "//u:***@h#f"),
            ("http://:p@h/", "http://:***@h/"),
            ("http://u@h/", "http://u@h/"),
            ("http://h:1/u:p@x", "http://h:1/u:p@x"),
            ("http://h?u:p@x", "http://h?u:p@x"),
            ("mailto:u:p@h", "mailto:u:p@h"),
            ("", ""),
        ];
        for (url, expect) in cases {
            assert_eq!(without_password(url), expect, "{url}");
        }
    }
}
