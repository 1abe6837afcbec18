//! `Jar`: cookies as RFC 6265 keeps them, and as Go's jar does where that leaves a choice: no list of public suffixes, and a
//! cookie is known by its name, domain and path.

use std::cell::RefCell;
use std::rc::Rc;

use stdx::{MemoryShare, Nanos};
use wire::url::{Scheme, Url};

/// A jar that a script, its requests and its VU share.
pub type SharedJar = Rc<RefCell<Jar>>;

/// The most cookies of a jar; the oldest goes for one more.
const COOKIES_MAX: usize = 3_000;
/// The most cookies of a domain; its oldest goes for one more.
const DOMAIN_MAX: usize = 180;
/// The most bytes of a cookie's name and value together; a longer one is not kept. RFC 6265bis, 5.7.
const COOKIE_BYTES_MAX: usize = 4_096;
/// The most bytes of a path; an attribute that is longer is ignored. RFC 6265bis, 5.6.
const ATTRIBUTE_BYTES_MAX: usize = 1_024;

/// Cookies.
#[derive(Debug, Default)]
pub struct Jar {
    cookies: Vec<StoredCookie>,
    made: u64,
    /// Of all cookies' texts.
    bytes: usize,
    memory: MemoryShare,
}

/// A cookie as a server sets it, or a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetCookie {
    /// Its name.
    pub name: String,
    /// Its value, without quotes.
    pub value: String,
    /// The value came in quotes and is sent in quotes.
    pub quoted: bool,
    /// `Domain`, as it was given.
    pub domain: String,
    /// `Path`, as it was given.
    pub path: String,
    /// `Max-Age` in seconds: 0 if the field lacks it, negative if the cookie is expired.
    pub max_age: i64,
    /// `Expires` in seconds since 1970.
    pub expires: Option<i64>,
    /// `Secure`.
    pub secure: bool,
    /// `HttpOnly`.
    pub http_only: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct StoredCookie {
    name: String,
    value: String,
    quoted: bool,
    domain: String,
    host_only: bool,
    path: String,
    secure: bool,
    /// In seconds since 1970; never where `None`.
    until: Option<i64>,
    /// Counts the jar's cookies: the older one is sent first.
    number: u64,
}

/// By their cookies.
impl PartialEq for Jar {
    fn eq(&self, other: &Self) -> bool {
        self.cookies == other.cookies && self.made == other.made
    }
}

impl StoredCookie {
    fn bytes(&self) -> usize {
        let texts = [&self.name, &self.value, &self.domain, &self.path];
        size_of::<Self>() + texts.map(String::len).iter().sum::<usize>()
    }
}

impl Jar {
    /// Whether there is no cookie.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Keeps a cookie that came from a URL at this time since 1970, or forgets the one it ends. RFC 6265, 5.3. One with more
    /// than 4,096 bytes of name and value, or of a folder whose path has more than 1,024, is not kept; nor is one for which no
    /// memory is left.
    pub fn set(&mut self, url: &Url, cookie: SetCookie, now: Nanos) {
        if cookie.name.len() + cookie.value.len() > COOKIE_BYTES_MAX {
            return;
        }
        let host = url.host.to_ascii_lowercase();
        let Some((domain, host_only)) = domain_of(&host, &cookie.domain) else { return };
        let is_path = cookie.path.starts_with('/') && cookie.path.len() <= ATTRIBUTE_BYTES_MAX;
        let path = match is_path {
            true => cookie.path,
            false => default_path(&url.path_and_query).to_owned(),
        };
        if path.len() > ATTRIBUTE_BYTES_MAX {
            return;
        }
        let now = seconds(now);
        let until = match cookie.max_age {
            0 => cookie.expires,
            age if age > 0 => Some(now.saturating_add(age)),
            _ => Some(i64::MIN),
        };
        let same = |known: &StoredCookie| {
            known.name == cookie.name && known.domain == domain && known.path == path
        };
        let at = self.cookies.iter().position(same);
        if until.is_some_and(|until| until <= now) {
            if let Some(at) = at {
                self.remove(at);
            }
            return;
        }
        let number = at.map_or(self.made, |at| self.cookies[at].number);
        let (name, value, quoted, secure) =
            (cookie.name, cookie.value, cookie.quoted, cookie.secure);
        let kept =
            StoredCookie { name, value, quoted, domain, host_only, path, secure, until, number };
        let before = at.map_or(0, |at| self.cookies[at].bytes());
        let bytes = self.bytes - before + kept.bytes();
        if self.memory.resize(bytes).is_err() {
            return;
        }
        self.bytes = bytes;
        match at {
            Some(at) => self.cookies[at] = kept,
            None => {
                self.made += 1;
                self.make_room(&kept.domain);
                self.cookies.push(kept);
            }
        }
    }

    fn remove(&mut self, at: usize) {
        self.bytes -= self.cookies.remove(at).bytes();
        // Less always fits.
        self.memory.resize(self.bytes).ok();
    }

    /// Lets the oldest cookie go where there is no room for another of a domain.
    fn make_room(&mut self, domain: &str) {
        let of_domain = |known: &StoredCookie| known.domain == domain;
        let oldest = if self.cookies.iter().filter(|known| of_domain(known)).count() >= DOMAIN_MAX {
            self.cookies.iter().position(of_domain)
        } else {
            (self.cookies.len() >= COOKIES_MAX).then_some(0)
        };
        if let Some(oldest) = oldest {
            self.remove(oldest);
        }
    }

    /// The names and values of the cookies that a request to a URL carries, in the order they are sent, and whether each is
    /// quoted. RFC 6265, 5.4.
    #[must_use]
    pub fn cookies_for(&self, url: &Url, now: Nanos) -> Vec<(&str, &str, bool)> {
        let (now, host) = (seconds(now), url.host.to_ascii_lowercase());
        let path = url.path_and_query.split('?').next().unwrap_or("/");
        let fits = |cookie: &&StoredCookie| {
            let domain =
                cookie.domain == host || (!cookie.host_only && is_below(&host, &cookie.domain));
            domain
                && is_path_of(path, &cookie.path)
                && (!cookie.secure || is_safe(url))
                && cookie.until.is_none_or(|until| until > now)
        };
        let mut list: Vec<&StoredCookie> = self.cookies.iter().filter(fits).collect();
        list.sort_by_key(|cookie| (std::cmp::Reverse(cookie.path.len()), cookie.number));
        list.into_iter().map(|cookie| (&*cookie.name, &*cookie.value, cookie.quoted)).collect()
    }

    /// Forgets the cookies of a URL, of one name or of all, as k6 does: by having each set anew from that URL, and over.
    pub fn forget(&mut self, url: &Url, name: Option<&str>, now: Nanos) {
        let of = self.cookies_for(url, now);
        let wanted = |known: &&str| name.is_none_or(|name| name == *known);
        let names: Vec<String> =
            of.iter().map(|(known, ..)| *known).filter(wanted).map(str::to_owned).collect();
        for name in names {
            self.set(url, SetCookie { name, max_age: -1, ..SetCookie::default() }, now);
        }
    }
}

impl SetCookie {
    /// Reads the value of a `Set-Cookie` field; `None` if it is malformed. RFC 6265, 5.2, as strict as Go.
    #[must_use]
    pub fn parse(field: &str) -> Option<Self> {
        let mut parts = field.split(';').map(str::trim);
        let (name, value) = parts.next()?.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if name.is_empty() || !name.bytes().all(is_token) {
            return None;
        }
        let bare = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        let (value, quoted) = bare.map_or((value, false), |bare| (bare, true));
        if !value.bytes().all(is_value_byte) {
            return None;
        }
        let (name, value) = (name.to_owned(), value.to_owned());
        let mut cookie = Self { name, value, quoted, ..Self::default() };
        parts.for_each(|part| cookie.set_attribute(part));
        Some(cookie)
    }

    fn set_attribute(&mut self, part: &str) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim();
        match name.trim().to_ascii_lowercase().as_str() {
            "secure" => self.secure = true,
            "httponly" => self.http_only = true,
            "domain" => self.domain = value.to_owned(),
            "path" => self.path = value.to_owned(),
            "expires" => self.expires = parse_date(value).or(self.expires),
            "max-age" => {
                if let Ok(age) = value.parse::<i64>() {
                    self.max_age = if age <= 0 { -1 } else { age };
                }
            }
            _ => {}
        }
    }
}

/// Adds a cookie to the value of a `Cookie` field, cleaned and quoted as Go does.
pub(crate) fn push_cookie(field: &mut String, name: &str, value: &str, quoted: bool) {
    if !field.is_empty() {
        field.push_str("; ");
    }
    field.extend(name.chars().map(|c| if matches!(c, '\n' | '\r') { '-' } else { c }));
    field.push('=');
    let clean: String = value.bytes().filter(|b| is_value_byte(*b)).map(char::from).collect();
    if quoted || clean.contains([' ', ',']) {
        field.push('"');
        field.push_str(&clean);
        field.push('"');
    } else {
        field.push_str(&clean);
    }
}

fn is_value_byte(b: u8) -> bool {
    (0x20..0x7f).contains(&b) && !matches!(b, b'"' | b';' | b'\\')
}

fn seconds(time: Nanos) -> i64 {
    (time.0 / 1_000_000_000) as i64
}

/// Whether secure cookies may be sent to a host: over TLS, and on this machine, as Go has it.
fn is_safe(url: &Url) -> bool {
    let local = || {
        let name = url.host.strip_suffix("localhost");
        name.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            || url.host.parse().is_ok_and(|ip: std::net::IpAddr| ip.to_canonical().is_loopback())
    };
    url.scheme == Scheme::Https || local()
}

/// The domain that a cookie from a host is for, and whether for that host alone; `None` where the host may not set it.
fn domain_of(host: &str, given: &str) -> Option<(String, bool)> {
    if given.is_empty() {
        return Some((host.to_owned(), true));
    }
    if host.parse::<std::net::IpAddr>().is_ok() {
        return (host == given).then(|| (host.to_owned(), true));
    }
    let domain = given.strip_prefix('.').unwrap_or(given).to_ascii_lowercase();
    let well_formed = !domain.is_empty() && !domain.starts_with('.') && !domain.ends_with('.');
    let allowed = host == domain || is_below(host, &domain);
    (well_formed && allowed).then_some((domain, false))
}

fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.') && rest.len() > 1)
}

/// The path of a cookie that names none. RFC 6265, 5.1.4.
#[must_use]
pub fn default_path(path_and_query: &str) -> &str {
    let path = path_and_query.split('?').next().unwrap_or("/");
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(slash) => &path[..slash],
    }
}

/// Whether a cookie of the second path is sent with the first. RFC 6265, 5.1.4.
#[must_use]
pub fn is_path_of(path: &str, cookie: &str) -> bool {
    path.strip_prefix(cookie)
        .is_some_and(|rest| rest.is_empty() || cookie.ends_with('/') || rest.starts_with('/'))
}

/// Reads `Wed, 21 Oct 2035 07:28:00 GMT`, or the same with dashes: seconds since 1970.
pub fn parse_date(text: &str) -> Option<i64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (_, rest) = text.split_once(", ")?;
    let mut words = rest.split([' ', '-']);
    let day: i64 = words.next()?.parse().ok()?;
    let month = words.next().filter(|word| word.len() == 3)?;
    let month = MONTHS.find(month).filter(|at| at % 3 == 0)? as i64 / 3 + 1;
    let year: i64 = words.next().filter(|word| word.len() == 4)?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|word| word.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let zone = words.next()?;
    let sound = (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 61;
    if !sound || clock.next().is_some() || zone.is_empty() {
        return None;
    }
    let days = stdx::days_since_1970(year, month, day);
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Nanos = Nanos::from_secs(1_700_000_000);

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    fn sent(jar: &Jar, to: &str) -> String {
        let mut field = String::new();
        for (name, value, quoted) in jar.cookies_for(&url(to), NOW) {
            push_cookie(&mut field, name, value, quoted);
        }
        field
    }

    fn jar(from: &str, fields: &[&str]) -> Jar {
        let mut jar = Jar::default();
        for field in fields {
            if let Some(cookie) = SetCookie::parse(field) {
                jar.set(&url(from), cookie, NOW);
            }
        }
        jar
    }

    #[test]
    fn cookies_go_where_they_belong() {
        let from = "http://sub.example.com/a/b";
        for (field, to, expect) in [
            ("k=v", "http://sub.example.com/a/c", "k=v"),
            ("k=v", "http://sub.example.com/", ""),
            ("k=v", "http://x.sub.example.com/a/", ""),
            ("k=v; Path=/", "http://sub.example.com/", "k=v"),
            ("k=v; Path=/; Domain=.example.com", "http://x.example.com/", "k=v"),
            ("k=v; Path=/; Domain=other.com", "http://other.com/", ""),
            ("k=v; Path=/; Secure", "http://sub.example.com/", ""),
            ("k=v; Path=/; Secure", "https://sub.example.com/", "k=v"),
            ("k=v; Path=/; Secure; Domain=example.com", "https://example.com/", "k=v"),
            ("k=v; Path=/a", "http://sub.example.com/ab", ""),
            ("k=v; Path=/; Max-Age=0", "http://sub.example.com/", ""),
            ("k=v; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "http://sub.example.com/", ""),
            (
                "k=v; Path=/; Expires=Wed, 21-Oct-2035 07:28:00 GMT",
                "http://sub.example.com/",
                "k=v",
            ),
            ("k=\"a b\"; Path=/", "http://sub.example.com/", "k=\"a b\""),
            ("noequals", "http://sub.example.com/a/c", ""),
            ("=v", "http://sub.example.com/a/c", ""),
        ] {
            assert_eq!(sent(&jar(from, &[field]), to), expect, "{field} to {to}");
        }
    }

    #[test]
    fn longer_paths_and_older_cookies_come_first() {
        let jar =
            jar("http://h/x/y", &["a=1; Path=/", "b=2; Path=/", "a=3; Path=/x", "a=4; Path=/"]);
        assert_eq!(sent(&jar, "http://h/x/z"), "a=3; a=4; b=2");
    }

    #[test]
    fn what_is_forgotten_is_known_by_domain_and_path() {
        let mut jar = jar("http://h/", &["a=1; Path=/", "b=2", "a=3; Path=/x"]);
        jar.forget(&url("http://h/"), Some("a"), NOW);
        assert_eq!(sent(&jar, "http://h/x"), "a=3; b=2");
        jar.forget(&url("http://h/x"), None, NOW);
        assert_eq!(sent(&jar, "http://h/x"), "a=3", "a cookie of the folder /x is another one");
    }

    #[test]
    fn a_hostile_server_fills_no_memory() {
        let mut jar = Jar::default();
        for number in 0..COOKIES_MAX + 10 {
            let cookie = SetCookie { name: number.to_string(), ..SetCookie::default() };
            jar.set(&url(&format!("http://h{}/", number % 100)), cookie, NOW);
        }
        assert_eq!(jar.cookies.len(), COOKIES_MAX);
    }

    #[test]
    fn a_host_fills_neither_the_jar_nor_memory() {
        let mut kept = Jar::default();
        let set = |jar: &mut Jar, host: &str, cookie| jar.set(&url(host), cookie, NOW);
        let named = |name: &str| SetCookie { name: name.to_owned(), ..SetCookie::default() };
        set(&mut kept, "http://other/", named("k"));
        for number in 0..10_000 {
            set(&mut kept, "http://h/", named(&number.to_string()));
        }
        assert_eq!(kept.cookies.len(), DOMAIN_MAX + 1);
        assert_eq!(sent(&kept, "http://other/"), "k=");
        assert!(sent(&kept, "http://h/").starts_with("9820=; 9821=; "), "the newest are kept");

        let long = |value: usize| format!("name={}; Path=/", "v".repeat(value));
        assert_eq!(jar("http://h/", &[&long(4_092)]).cookies.len(), 1);
        assert!(jar("http://h/", &[&long(4_093)]).is_empty());
        let deep = "/x".repeat(600);
        assert_eq!(sent(&jar("http://h/", &[&format!("a=1; Path={deep}")]), "http://h/"), "a=1");
        assert!(jar(&format!("http://h{deep}/"), &["a=1"]).is_empty());
    }

    #[test]
    fn dates_are_read() {
        for (text, expect) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Wed, 21 Oct 2035 07:28:00 GMT", Some(2_076_564_480)),
            ("Thu, 29-Feb-2024 12:00:00 UTC", Some(1_709_208_000)),
            ("nonsense", None),
            ("Thu, 01 Foo 1970 00:00:00 GMT", None),
        ] {
            assert_eq!(parse_date(text), expect, "{text}");
        }
    }
}
