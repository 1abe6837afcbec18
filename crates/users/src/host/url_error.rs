//! Why a text is not a URL that can be asked, in Go's words, which are k6's.

use std::borrow::Cow;

use wire::url::UrlError;

/// Go's words for a control character.
pub const CONTROL: &str = "net/url: invalid control character in URL";

/// Why a URL cannot be asked.
pub fn url_error_text(error: &UrlError) -> Cow<'static, str> {
    match error {
        UrlError::NoHost => "http: no Host in request URL".into(),
        UrlError::Control => CONTROL.into(),
        // The others have the same words.
        error => error.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use wire::url::Url;

    use super::*;

    #[test]
    fn words_are_gos() {
        for (url, expect) in [
            ("http:///x", "http: no Host in request URL"),
            ("http://a/\u{1}", CONTROL),
            ("ftp://a/", "unsupported protocol scheme \"ftp\""),
            ("http://a:b/", "invalid port \":b\" after host"),
        ] {
            assert_eq!(url_error_text(&Url::parse(url).expect_err(url)), expect);
        }
    }
}
