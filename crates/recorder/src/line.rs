//! `Line`: an exchange as a list shows it while the recording goes on.

use stdx::{Nanos, shown_url};

use crate::exchange::{Exchange, ResponseHead};
use crate::limits::LINE_BYTES_MAX;
use crate::secret_words::{is_searched, may_name_secret};

/// What stands in place of what a HAR may hide.
const HIDDEN: &str = "…";
/// The same of the parameters of a part of a path.
const PARAMETERS: &str = ";…";
/// How long the end of a file's name may be that is shown of a hidden one, in bytes.
const FILE_END_BYTES_MAX: usize = 5;

/// A line of the live list: an exchange that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The method.
    pub method: String,
    /// The address; a long one is cut.
    pub url: String,
    /// The status; 0 without an answer.
    pub status: u16,
    /// How long it took until the last byte.
    pub took: Nanos,
    /// The length of the answer's body as it came, in bytes.
    pub bytes: u64,
    /// The media type of the answer; `websocket` of a WebSocket.
    pub media_type: String,
    /// Why there is no answer, or no whole one.
    pub failure: Option<String>,
}

impl Line {
    pub(crate) fn of(exchange: &Exchange) -> Self {
        let response = exchange.response.as_ref();
        let status = response.map_or(0, |response| response.status);
        let media_type = response.map(ResponseHead::media_type).unwrap_or_default();
        Self {
            method: cut(&exchange.request.method),
            url: cut(&exchange.request.url),
            status,
            took: Nanos(exchange.ended.unwrap_or_default().0.saturating_sub(exchange.started.0)),
            bytes: exchange.received.len,
            media_type: if status == 101 { "websocket".to_owned() } else { cut(&media_type) },
            failure: exchange.failure.as_deref().map(cut),
        }
    }

    /// The address without all that a HAR may hide. A value may become known as a secret later, by another request: so nothing is
    /// shown that is long enough to be looked for.
    #[must_use]
    pub fn address(&self) -> String {
        let url = shown_url(&self.url);
        let (rest, fragment) = url.split_once('#').map_or((&*url, None), |(a, b)| (a, Some(b)));
        let (path, query) = rest.split_once('?').map_or((rest, None), |(a, b)| (a, Some(b)));
        let host_len = path.find("://").map_or(0, |at| at + 3);
        let path_at = path[host_len..].find('/').map_or(path.len(), |at| host_len + at);
        let mut shown = path[..path_at].to_owned();
        shown += &path[path_at..].split('/').map(segment).collect::<Vec<_>>().join("/");
        for (sign, part) in [('?', query), ('#', fragment)] {
            let Some(part) = part else { continue };
            shown.push(sign);
            shown += &part.split('&').map(parameter).collect::<Vec<_>>().join("&");
        }
        shown
    }
}

/// A text as far as a list has room for it.
fn cut(text: &str) -> String {
    let end = text.floor_char_boundary(LINE_BYTES_MAX);
    if end < text.len() { format!("{}{HIDDEN}", &text[..end]) } else { text.to_owned() }
}

/// A part of a path. Parameters in it are not shown.
fn segment(text: &str) -> String {
    let (name, parameters) =
        text.split_once(';').map_or((text, ""), |(name, _)| (name, PARAMETERS));
    let end = name.rsplit_once('.').map(|(_, end)| end).filter(|end| is_file_end(end));
    match (is_searched(name), end) {
        (false, _) => format!("{name}{parameters}"),
        (true, Some(end)) => format!("{HIDDEN}.{end}{parameters}"),
        (true, None) => HIDDEN.to_owned(),
    }
}

fn is_file_end(text: &str) -> bool {
    text.len() <= FILE_END_BYTES_MAX && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn parameter(text: &str) -> String {
    match text.split_once('=') {
        Some((name, value)) if may_name_secret(name) || is_searched(value) => {
            format!("{name}={HIDDEN}")
        }
        None if is_searched(text) => HIDDEN.to_owned(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str) -> String {
        let mut exchange = Exchange::default();
        exchange.request.url = url.to_owned();
        Line::of(&exchange).address()
    }

    #[test]
    fn what_a_har_may_hide_is_not_shown() {
        for (url, expect) in [
            ("https://shop.example/login?page=2", "https://shop.example/login?page=2"),
            ("https://shop.example", "https://shop.example"),
            ("https://shop12345.example:8080/a/", "https://shop12345.example:8080/a/"),
            ("/redir?c=tok9Zq+7x&d=1", "/redir?c=…&d=1"),
            ("/reset/tok9Zq+7x/now", "/reset/…/now"),
            ("/p;jsessionid=a1?auth=a&session=b&key=c", "/p;…?auth=…&session=…&key=…"),
            ("/assets/app-3f9a0c51.js?3f9a0c51", "/assets/….js?…"),
            ("/cb#pw=a&x=1", "/cb#pw=…&x=1"),
            ("https://u:geheim@h/x", "https://u:***@h/x"),
        ] {
            assert_eq!(shown(url), expect);
        }
    }

    #[test]
    fn a_long_address_takes_little() {
        let line = |url: &str| shown(url).len();
        assert!(line(&format!("/x?{}", "a=ü&".repeat(50_000))) < 1100);
    }
}
