//! `CookieStore`: the cookies of one thread for one cookie manager. RFC 6265, as JMeter's policy `standard` keeps it.

use jmx::{Element, Scope};
use stdx::MemoryShare;
use users::{SetCookie, default_path, is_path_of};
use wire::url::{Scheme, Url};

use crate::plan::property::{flag, text};

/// A cookie.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cookie {
    name: String,
    value: String,
    domain: String,
    /// It is for this host alone.
    host_only: bool,
    path: String,
    secure: bool,
    /// In seconds since 1970; never where `None`.
    until: Option<i64>,
    number: u64,
}

/// The cookies of one thread for one manager.
#[derive(Debug, Default)]
pub(crate) struct CookieStore {
    cookies: Vec<Cookie>,
    bytes: usize,
    share: MemoryShare,
    made: u64,
    /// The manager's own cookies are in it.
    pub(crate) is_filled: bool,
}

/// Cookies at most; the oldest goes for one more.
const COOKIES_MAX: usize = 3_000;
/// Bytes of them all at most, likewise: every request has most of them.
const BYTES_MAX: usize = 512 << 10;
/// Bytes of a cookie's name and value at most.
const COOKIE_BYTES_MAX: usize = 16 << 10;

impl Cookie {
    fn bytes(&self) -> usize {
        let texts = [&self.name, &self.value, &self.domain, &self.path];
        size_of::<Self>() + texts.iter().map(|text| text.len()).sum::<usize>()
    }
}

impl CookieStore {
    /// Puts the manager's own cookies in.
    pub(crate) fn fill(&mut self, manager: &Element, scope: &mut dyn Scope) {
        self.cookies.clear();
        self.bytes = 0;
        self.is_filled = true;
        for one in manager.properties.elements("CookieManager.cookies") {
            let name = text(one, "TestElement.name", scope);
            let domain = text(one, "Cookie.domain", scope).to_ascii_lowercase();
            let expires: i64 = text(one, "Cookie.expires", scope).trim().parse().unwrap_or(0);
            let path = text(one, "Cookie.path", scope);
            let cookie = Cookie {
                value: text(one, "Cookie.value", scope),
                host_only: !domain.starts_with('.'),
                domain: domain.trim_start_matches('.').to_owned(),
                path: if path.is_empty() { "/".to_owned() } else { path },
                secure: flag(one, "Cookie.secure", scope) == Some(true),
                until: (expires > 0).then_some(expires),
                number: 0,
                name,
            };
            self.add(cookie);
        }
    }

    /// Adds a cookie in the place of one like it; whether there is room.
    fn add(&mut self, mut cookie: Cookie) -> bool {
        let is_like_it = |known: &Cookie| {
            known.name == cookie.name && known.domain == cookie.domain && known.path == cookie.path
        };
        if let Some(at) = self.cookies.iter().position(is_like_it) {
            self.take(at);
        }
        let needs = cookie.bytes();
        while self.cookies.len() >= COOKIES_MAX
            || self.bytes + needs > BYTES_MAX && !self.cookies.is_empty()
        {
            self.take(0);
        }
        let bytes = self.bytes + needs;
        if self.share.resize(bytes).is_err() {
            return false;
        }
        self.bytes = bytes;
        self.made += 1;
        cookie.number = self.made;
        self.cookies.push(cookie);
        true
    }

    fn take(&mut self, at: usize) {
        self.bytes -= self.cookies.remove(at).bytes();
    }

    /// Takes a `Set-Cookie` of an answer of this address. Returns its name and value where it is kept.
    pub(crate) fn set(&mut self, field: &str, url: &Url, now_s: i64) -> Option<(String, String)> {
        let set = SetCookie::parse(field)?;
        if set.name.len() + set.value.len() > COOKIE_BYTES_MAX {
            return None;
        }
        let (domain, host_only) = domain_of(&url.host, &set.domain)?;
        let path = match set.path.starts_with('/') {
            true => set.path.clone(),
            false => default_path(&url.path_and_query).to_owned(),
        };
        let until = match set.max_age {
            0 => set.expires,
            age => Some(now_s.saturating_add(age)),
        };
        let value = if set.quoted { format!("\"{}\"", set.value) } else { set.value.clone() };
        let cookie = Cookie {
            name: set.name.clone(),
            value: value.clone(),
            domain,
            host_only,
            path,
            secure: set.secure,
            until,
            number: 0,
        };
        // An empty value deletes: `CookieManager.delete_null_cookies`, on by default.
        let is_over = value.is_empty() || until.is_some_and(|until| until <= now_s);
        if !self.add(cookie) {
            return None;
        }
        if is_over {
            self.take(self.cookies.len() - 1);
            return None;
        }
        Some((set.name, value))
    }

    /// The value of the field `Cookie` for an address; `None` for none.
    pub(crate) fn field(&self, url: &Url, now_s: i64) -> Option<String> {
        let fits = |cookie: &&Cookie| {
            let domain = cookie.domain == url.host
                || !cookie.host_only && is_below(&url.host, &cookie.domain);
            domain
                && is_path_of(path_of(url), &cookie.path)
                && (!cookie.secure || url.scheme == Scheme::Https)
                && cookie.until.is_none_or(|until| until > now_s)
        };
        let mut cookies: Vec<&Cookie> = self.cookies.iter().filter(fits).collect();
        cookies.sort_by_key(|cookie| (std::cmp::Reverse(cookie.path.len()), cookie.number));
        let pairs = cookies.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value));
        let field = pairs.collect::<Vec<_>>().join("; ");
        (!field.is_empty()).then_some(field)
    }
}

fn domain_of(host: &str, given: &str) -> Option<(String, bool)> {
    let domain = given.trim_start_matches('.').to_ascii_lowercase();
    if domain.is_empty() {
        return Some((host.to_owned(), true));
    }
    (host == domain || is_below(host, &domain)).then_some((domain, false))
}

fn is_below(host: &str, domain: &str) -> bool {
    let is_address = host.parse::<std::net::IpAddr>().is_ok();
    !is_address && host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

fn path_of(url: &Url) -> &str {
    url.path_and_query.split('?').next().unwrap_or("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    #[test]
    fn cookies_go_where_they_belong() {
        let mut store = CookieStore::default();
        let from = url("http://h/dir/x");
        for field in
            ["a=1; Path=/", "b=2", "s=3; Secure; Path=/", "o=4; Path=/other", "d=5; Domain=evil"]
        {
            store.set(field, &from, 0);
        }
        assert_eq!(store.field(&url("http://h/dir/y"), 0).as_deref(), Some("b=2; a=1"));
        assert_eq!(store.field(&url("https://h/"), 0).as_deref(), Some("a=1; s=3"));
        assert_eq!(store.field(&url("http://other/"), 0), None);
        store.set("a=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", &from, 10);
        store.set("b=9; Max-Age=5", &from, 10);
        assert_eq!(store.field(&url("http://h/dir/"), 11).as_deref(), Some("b=9"));
        assert_eq!(store.field(&url("http://h/dir/"), 15), None);
    }

    #[test]
    fn a_store_is_bounded() {
        let mut store = CookieStore::default();
        for number in 0..COOKIES_MAX + 10 {
            store.set(&format!("c{number}=1; Path=/"), &url("http://h/"), 0);
        }
        assert_eq!(store.cookies.len(), COOKIES_MAX);
        for number in 0..600 {
            let value = "v".repeat(3_900);
            store.set(&format!("l{number}={value}; Path=/"), &url("http://h/"), 0);
        }
        assert!(store.bytes <= BYTES_MAX && store.cookies.len() < 140, "{}", store.bytes);
        assert_eq!(store.bytes, store.cookies.iter().map(Cookie::bytes).sum::<usize>());
        assert!(store.field(&url("http://h/"), 0).is_some_and(|field| field.contains("l599=")));
        assert!(
            store
                .set(&format!("big={}", "x".repeat(COOKIE_BYTES_MAX)), &url("http://h/"), 0)
                .is_none()
        );
    }
}
