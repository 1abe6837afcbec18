//! Users and passwords of the authorization managers in a sampler's scope.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jmx::{Class, Properties};

use crate::plan::node::SamplerNode;
use crate::plan::property::text;
use crate::thread::scope::Thread;

/// How a request authenticates itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Credentials {
    /// RFC 7617, at once: the value of the field.
    Basic(String),
    /// RFC 7616, once the server has asked: user and password.
    Digest(String, String),
}

/// The credentials for an address: those of the longest base address that it begins with.
pub(crate) fn credentials(
    node: &SamplerNode,
    url: &str,
    thread: &mut Thread,
) -> Option<Credentials> {
    let manager = node.configs_of(Class::AuthManager).last()?;
    let mut best: Option<(usize, Credentials)> = None;
    for one in manager.element.properties.elements("AuthManager.auth_list") {
        let base = text(one, "Authorization.url", thread);
        if !covers(&base, url) || best.as_ref().is_some_and(|(length, _)| *length >= base.len()) {
            continue;
        }
        let found = read(one, thread);
        best = Some((base.len(), found));
    }
    best.map(|(_, found)| found)
}

fn read(one: &Properties, thread: &mut Thread) -> Credentials {
    let user = text(one, "Authorization.username", thread);
    let password = text(one, "Authorization.password", thread);
    if text(one, "Authorization.mechanism", thread) == "DIGEST" {
        return Credentials::Digest(user, password);
    }
    Credentials::Basic(format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))))
}

/// Whether an address begins with a base, with or without its default port.
fn covers(base: &str, url: &str) -> bool {
    if base.is_empty() {
        return false;
    }
    let plain = |text: &str| {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let port = if scheme == "https" { ":443" } else { ":80" };
        let end = rest.find('/').unwrap_or(rest.len());
        let host = rest[..end].strip_suffix(port).unwrap_or(&rest[..end]);
        format!("{scheme}://{host}{}", &rest[end..])
    };
    let base = plain(base);
    let url = plain(url);
    // A base without a path ends where the host does: the name of another host may begin with it.
    let has_path = base.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
    url.strip_prefix(&base)
        .is_some_and(|rest| has_path || rest.is_empty() || rest.starts_with(['/', '?', '#']))
}

/// An address with user and password in it, for a digest.
pub(crate) fn with_user(url: &str, user: &str, password: &str) -> String {
    let escape = |text: &str| {
        text.bytes().fold(String::new(), |out, byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => out + &char::from(byte).to_string(),
            other => out + &format!("%{other:02X}"),
        })
    };
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    format!("{scheme}://{}:{}@{rest}", escape(user), escape(password))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_cover_what_is_below() {
        assert!(covers("http://h:80/a", "http://h/a/b"));
        assert!(covers("http://h:8080", "http://h:8080/x"));
        assert!(!covers("http://h/a", "http://h/b"));
        assert!(!covers("", "http://h/b"));
        assert!(covers("http://h", "http://h/x") && covers("http://h", "http://h?x"));
        assert!(!covers("http://h", "http://h.evil.org/x") && !covers("http://h", "http://h@e/"));
        assert!(covers("http://h/a/", "http://h/a/b") && covers("http://h/a", "http://h/ab"));
        assert_eq!(with_user("http://h/x", "a@b", "c:d"), "http://a%40b:c%3Ad@h/x");
    }
}
