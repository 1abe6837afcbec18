//! A URL on the first line, a list of `NO_PROXY` on the second, references to join to it on the others: what is read as a URL
//! breaks no request, shows no password, and reads back as itself.

use wire::proxy::NoProxy;
use wire::url::{Scheme, Url, UrlError};

/// Lines that are read.
const LINES_MAX: usize = 16;

/// What the lines came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UrlOutcome {
    /// The first line.
    pub(crate) url: Result<Url, UrlError>,
    /// The references, joined one after the other, as a chain of redirects is; shown as people see them.
    pub(crate) chain: Vec<String>,
    /// Whether the list has the URL asked without a proxy.
    pub(crate) is_direct: bool,
}

/// Reads the lines; bytes that are no UTF-8 are replaced, as the readers of targets and of fields do.
///
/// # Panics
/// What is read as a URL is none that can be asked.
pub(crate) fn check(bytes: &[u8]) -> UrlOutcome {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split('\n').take(LINES_MAX);
    let url = Url::parse(lines.next().unwrap_or_default());
    let no_proxy = NoProxy::parse(lines.next().unwrap_or_default());
    let (mut chain, mut is_direct) = (Vec::new(), false);
    if let Ok(url) = &url {
        check_url(url);
        is_direct = no_proxy.is_direct(url);
        let mut here = url.clone();
        for line in lines {
            let Ok(next) = here.join(line) else { break };
            check_url(&next);
            if here.shares_credentials(&next) {
                assert!(here.host.eq_ignore_ascii_case(&next.host), "{here} {next}");
                assert!(here.scheme == next.scheme || next.scheme == Scheme::Https);
            }
            chain.push(next.to_string());
            here = next;
        }
    }
    UrlOutcome { url, chain, is_direct }
}

fn check_url(url: &Url) {
    assert!(url.path_and_query.starts_with('/'), "{url:?}");
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    assert!(is_plain(&url.path_and_query) && is_plain(&url.authority), "{url:?}");
    assert!(!url.path_and_query.contains('#') && !url.host.is_empty(), "{url:?}");
    assert!(url.shares_credentials(url));
    let scheme = match url.scheme {
        Scheme::Http => "http",
        Scheme::Https => "https",
    };
    let text = format!("{scheme}://{}{}", url.authority, url.path_and_query);
    let again = Url::parse(&text).expect("what goes on the wire is a URL");
    // The zone of an address means something on this machine alone. RFC 6874, 1.
    if !url.host.contains('%') {
        assert_eq!(again, Url { userinfo: None, ..url.clone() });
    }
    let shown = url.to_string();
    assert!(!shown.contains(char::is_control), "{shown:?}");
    let wire = &text[scheme.len() + 3..];
    match url.userinfo.as_deref().and_then(|info| info.split_once(':')) {
        None => assert_eq!(shown, text),
        Some((_, "")) => assert!(shown.ends_with(&format!("@{wire}")), "{shown}"),
        Some(_) => assert!(shown.ends_with(&format!(":***@{wire}")), "{shown}"),
    }
}
