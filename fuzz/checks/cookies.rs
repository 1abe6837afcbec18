//! A URL on the first line, `Set-Cookie` fields and `WWW-Authenticate` challenges on the others: a jar keeps what it may and sends it
//! where it belongs, and no answer breaks a header field.

#[allow(dead_code, unreachable_pub, reason = "its users are in its own crate")]
#[path = "../../crates/users/src/http/cookie_jar.rs"]
mod cookie_jar;
#[allow(dead_code, unreachable_pub, reason = "its users are in its own crate")]
#[path = "../../crates/users/src/http/digest.rs"]
mod digest;

use cookie_jar::{Jar, SetCookie, push_cookie};
use digest::DigestRequest;
use stdx::Nanos;
use wire::url::Url;

/// Lines that are read.
const LINES_MAX: usize = 256;
/// RFC 6265bis, 5.7: what a cookie's name and value may be, with the quotes and signs around them.
const COOKIE_BYTES_MAX: usize = 4096 + 6;
/// When all of it takes place, in seconds since 1970.
const NOW: Nanos = Nanos::from_secs(1_795_300_000);

/// What the fields came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// The `Cookie` field of the next request to the URL.
    pub(crate) cookies: String,
    /// Challenges that have an answer.
    pub(crate) answers: usize,
}

/// Gives the fields to a jar, and to a client with credentials; `None` where the first line is no URL.
///
/// # Panics
/// A cookie is sent where it does not belong, or a field would break a request.
pub(crate) fn check(bytes: &[u8]) -> Option<Exchange> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split('\n').take(LINES_MAX);
    let url = Url::parse(lines.next()?).ok()?;
    let (mut jar, mut exchange) = (Jar::default(), Exchange::default());
    for line in lines {
        if let Some(cookie) = SetCookie::parse(line) {
            jar.set(&url, cookie, NOW);
        }
        exchange.answers += usize::from(answers(line, &url));
    }
    let other = Url::parse("http://elsewhere.test/").expect("a URL");
    if !url.host.to_ascii_lowercase().ends_with("test") {
        assert!(jar.cookies_for(&other, NOW).is_empty(), "cookies of {url} for another host");
    }
    for (name, value, quoted) in jar.cookies_for(&url, NOW) {
        let before = exchange.cookies.len();
        push_cookie(&mut exchange.cookies, name, value, quoted);
        assert!(exchange.cookies.len() - before <= COOKIE_BYTES_MAX);
    }
    assert!(exchange.cookies.bytes().all(|byte| (b' '..0x7f).contains(&byte)));
    // Of a cookie that was set for a domain k6 forgets nothing.
    jar.forget(&url, None, NOW);
    let left = jar.cookies_for(&url, NOW).len();
    jar.forget(&url, None, NOW);
    assert_eq!(jar.cookies_for(&url, NOW).len(), left, "it forgets more each time");
    Some(exchange)
}

fn answers(line: &str, url: &Url) -> bool {
    if !digest::is_challenge(line) {
        return false;
    }
    let request =
        DigestRequest { user: "u", password: "p", method: "GET", uri: &url.path_and_query };
    let Some(answer) = digest::answer(line, &request, NOW) else { return false };
    assert!(!answer.contains(['\r', '\n', '\0']), "{answer:?}");
    assert!(answer.starts_with("Digest username=\"u\", realm=\""), "{answer:?}");
    true
}
