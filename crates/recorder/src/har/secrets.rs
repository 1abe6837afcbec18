//! `Cover`: secrets out of what people keep. Each is replaced by a text of its own wherever it stands, so that a value which an answer
//! gives and a request sends is still one value, and a script can be made of it.

use std::hash::{BuildHasher as _, RandomState};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stdx::names_secret_field;

use super::content::{self, Budget};
use super::places::{self, Place};
use super::search::{Search, SearchBuilder};
use crate::exchange::{Exchange, Payload, ResponseHead};
use crate::recording::Record;
use crate::secret_words::is_searched;

/// What stands in place of secrets; without any, everything is shown.
#[derive(Debug, Default)]
pub(super) struct Cover {
    is_on: bool,
    /// What the texts in their place are made with, which no one can guess.
    key: RandomState,
    /// Those that are looked for everywhere.
    search: Search,
}

impl Cover {
    /// A cover of every secret of a recording.
    pub(super) fn of(record: &Record) -> Self {
        let mut findings = Findings::default();
        record.exchanges.iter().for_each(|exchange| findings.take(exchange));
        let mut cover = Self { is_on: true, ..Self::default() };
        cover.search = findings.search.build(|secret| cover.mark(secret));
        cover
    }

    /// How many secrets are hidden in their own places alone, since there are too many, or they are too long, to be looked for.
    pub(super) fn unsearched(&self) -> u64 {
        self.search.left_out
    }

    /// The text that stands in place of a secret: letters and digits, that mean the same however they are encoded.
    fn mark(&self, secret: &str) -> String {
        format!("hidden{:012x}", self.key.hash_one(secret) >> 16)
    }

    /// A text without the secrets that are known from elsewhere.
    pub(super) fn text(&self, text: &str) -> String {
        self.search.text(text)
    }

    /// The same of bytes that are no text.
    pub(super) fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        self.search.bytes(bytes)
    }

    /// A text without these secrets, and those that are known from elsewhere.
    fn without(&self, text: &str, places: impl Iterator<Item = Place>) -> String {
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        for place in places {
            out.push_str(&self.text(&text[at..place.range.start]));
            out.push_str(&self.mark(&place.secret(text)));
            at = place.range.end;
        }
        out.push_str(&self.text(&text[at..]));
        out
    }

    /// The value of a header.
    pub(super) fn header(&self, name: &str, value: &str) -> String {
        if !self.is_on {
            return value.to_owned();
        }
        match FieldKind::of(name) {
            FieldKind::Cookies => {
                value.split(';').map(|pair| self.cookie(pair)).collect::<Vec<_>>().join(";")
            }
            FieldKind::SetCookie => match value.split_once(';') {
                Some((pair, rest)) => format!("{};{}", self.cookie(pair), self.text(rest)),
                None => self.cookie(value),
            },
            FieldKind::Credentials => match value.split_once(' ') {
                Some((scheme, secret)) => format!("{scheme} {}", self.mark(secret)),
                None => self.mark(value),
            },
            FieldKind::Secret => self.mark(value),
            FieldKind::Address => self.url(value),
            FieldKind::Text => self.without(value, places::of_text(value)),
        }
    }

    fn cookie(&self, pair: &str) -> String {
        match pair.split_once('=') {
            Some((name, value)) if !value.is_empty() => format!("{name}={}", self.mark(value)),
            // Without a name it is all value.
            None if !pair.trim().is_empty() => self.mark(pair.trim()),
            _ => pair.to_owned(),
        }
    }

    /// An address.
    pub(super) fn url(&self, url: &str) -> String {
        if !self.is_on {
            return url.to_owned();
        }
        self.without(url, places::of_address(url).into_iter())
    }

    /// A body or a message: short secrets are replaced in their own place too.
    pub(super) fn body(&self, text: &str, kind: BodyKind) -> String {
        if !self.is_on {
            return text.to_owned();
        }
        self.without(text, kind.places(text))
    }
}

/// The secrets that were found so far.
#[derive(Debug, Default)]
struct Findings {
    search: SearchBuilder,
    decoding: Budget,
}

impl Findings {
    /// Takes the secrets of an exchange by the names of their places.
    fn take(&mut self, exchange: &Exchange) {
        let response = exchange.response.as_ref();
        let fields = exchange.request.headers.iter();
        for (name, value) in fields.chain(response.iter().flat_map(|head| &head.headers)) {
            self.take_field(name, value);
        }
        let url = &exchange.request.url;
        self.take_places(url, places::of_address(url).into_iter());
        let mime = exchange.request.header("content-type").unwrap_or_default();
        self.take_body(&String::from_utf8_lossy(&exchange.sent.bytes), BodyKind::sent(mime));
        if let Some(head) = response.filter(|head| BodyKind::received(head) == BodyKind::Fields) {
            let body = content::decoded(&exchange.received, head, &self.decoding).bytes;
            self.take_body(&String::from_utf8_lossy(&body), BodyKind::Fields);
        }
        for message in &exchange.messages {
            if let Payload::Text(text) = &message.payload {
                self.take_body(text, BodyKind::Fields);
            }
        }
    }

    fn take_field(&mut self, name: &str, value: &str) {
        match FieldKind::of(name) {
            FieldKind::Address => self.take_places(value, places::of_address(value).into_iter()),
            FieldKind::Text => self.take_places(value, places::of_text(value)),
            FieldKind::Credentials => {
                let secret = value.split_once(' ').map_or(value, |(_, secret)| secret);
                self.add(secret);
                self.add(&password_of_basic(secret).unwrap_or_default());
            }
            kind => kind.secrets(value).into_iter().for_each(|secret| self.add(secret)),
        }
    }

    fn take_body(&mut self, text: &str, kind: BodyKind) {
        self.take_places(text, kind.places(text));
    }

    fn take_places(&mut self, text: &str, places: impl Iterator<Item = Place>) {
        places.for_each(|place| self.add(&place.secret(text)));
    }

    fn add(&mut self, secret: &str) {
        if is_searched(secret) {
            self.search.add(secret);
        }
    }
}

/// The password in a value of basic credentials: RFC 7617, 2.
fn password_of_basic(secret: &str) -> Option<String> {
    let pair = String::from_utf8(STANDARD.decode(secret).ok()?).ok()?;
    pair.split_once(':').map(|(_, password)| password.to_owned())
}

/// The form of a body, by which the places of its secrets are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyKind {
    /// Parameters, as queries have them.
    Form,
    /// Several parts, as forms with files have them.
    Parts,
    /// Names with values, in any form: JSON, XML, a text.
    Fields,
    /// A page, or what it is made of: its names are those of its own code.
    Page,
}

impl BodyKind {
    /// Of what is sent, by its media type.
    pub(super) fn sent(mime: &str) -> Self {
        let mime = mime.trim_start().to_ascii_lowercase();
        if mime.starts_with(FORM) {
            Self::Form
        } else if mime.starts_with(MULTIPART) {
            Self::Parts
        } else {
            Self::Fields
        }
    }

    /// Of an answer. One without a type may be anything.
    pub(super) fn received(head: &ResponseHead) -> Self {
        let mime = head.media_type();
        if mime.starts_with(FORM) {
            Self::Form
        } else if OF_PAGES.iter().any(|part| mime.contains(part)) {
            Self::Page
        } else {
            Self::Fields
        }
    }

    fn places(self, text: &str) -> Box<dyn Iterator<Item = Place> + '_> {
        match self {
            Self::Form => Box::new(places::of_form(text)),
            Self::Parts => Box::new(places::of_parts(text)),
            Self::Fields => Box::new(places::of_text(text)),
            Self::Page => Box::new(std::iter::empty()),
        }
    }
}

/// The start of the media type of a form.
const FORM: &str = "application/x-www-form-urlencoded";
/// The start of those of forms with files.
const MULTIPART: &str = "multipart/";
/// Parts of those of pages and of what they are made of.
const OF_PAGES: [&str; 7] = ["html", "script", "css", "image/", "font", "audio/", "video/"];

/// What the value of a header holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldKind {
    Cookies,
    SetCookie,
    /// A scheme and a secret.
    Credentials,
    /// Nothing but a secret.
    Secret,
    Address,
    Text,
}

impl FieldKind {
    fn of(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "cookie" => Self::Cookies,
            "set-cookie" => Self::SetCookie,
            "authorization" | "proxy-authorization" => Self::Credentials,
            "referer" | "location" | "content-location" => Self::Address,
            other if names_secret_field(other) => Self::Secret,
            _ => Self::Text,
        }
    }

    /// The secrets in a value that holds nothing but these.
    fn secrets(self, value: &str) -> Vec<&str> {
        fn cookie(pair: &str) -> &str {
            pair.split_once('=').map_or(pair.trim(), |(_, value)| value)
        }
        match self {
            Self::Cookies => value.split(';').map(cookie).collect(),
            Self::SetCookie => value.split(';').take(1).map(cookie).collect(),
            Self::Secret => vec![value],
            Self::Credentials | Self::Address | Self::Text => vec![],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::{Body, RequestHead, ResponseHead};

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn body(text: &str) -> Body {
        Body { bytes: text.as_bytes().to_vec(), len: text.len() as u64 }
    }

    fn cover(request: &[(&str, &str)], sent: &str, received: &str) -> Cover {
        let request = RequestHead { headers: pairs(request), ..RequestHead::default() };
        let headers = pairs(&[
            ("content-type", "application/json"),
            ("set-cookie", "sid=fresh8Jx02Lp; Path=/"),
        ]);
        let response = Some(ResponseHead { status: 200, headers, ..ResponseHead::default() });
        let exchange = Exchange {
            request,
            sent: body(sent),
            response,
            received: body(received),
            ..Exchange::default()
        };
        Cover::of(&Record { exchanges: vec![exchange], ..Record::default() })
    }

    #[test]
    fn a_secret_is_the_same_text_wherever_it_stands() {
        let cover = cover(
            &[("authorization", "Bearer tok9Zq+/7"), ("content-type", FORM)],
            "user=ada&password=engine+1843",
            r#"{"access_token":"tok9Zq+/7"}"#,
        );
        let field = cover.header("Authorization", "Bearer tok9Zq+/7");
        let mark = field.strip_prefix("Bearer ").unwrap();
        assert!(mark.starts_with("hidden") && mark.len() == 18, "{mark}");
        let answer = cover.text(r#"{"access_token":"tok9Zq+/7"}"#);
        assert_eq!(answer, format!(r#"{{"access_token":"{mark}"}}"#));
        assert_eq!(cover.url("/x?t=tok9Zq%2B%2F7&a=1"), format!("/x?t={mark}&a=1"));
        let form = cover.body("user=ada&password=engine+1843", BodyKind::sent(FORM));
        assert!(form.starts_with("user=ada&password=hidden") && !form.contains("1843"), "{form}");
        assert!(!cover.text("signed in with engine 1843").contains("1843"));
        let set = cover.header("set-cookie", "sid=fresh8Jx02Lp; Path=/");
        let sent = cover.header("cookie", "a=; sid=fresh8Jx02Lp");
        assert!(sent.starts_with("a=; sid=hidden"), "{sent}");
        assert_eq!(set, format!("{}; Path=/", sent.strip_prefix("a=; ").unwrap()));
    }

    #[test]
    fn short_secrets_and_words_go_from_their_own_place_alone() {
        let json = r#"{"user":{"password":"password","pin":7,"name":"a"}}"#;
        let cover = cover(&[("cookie", "theme=dark; n=1")], json, "{}");
        let sent = cover.body(json, BodyKind::sent("application/json"));
        assert!(sent.contains(r#""name":"a""#) && !sent.contains(r#":"password""#), "{sent}");
        let page = "<input type=password name=password> dark 1";
        assert_eq!(cover.text(page), page);
        let cookie = cover.header("cookie", "theme=dark; n=1");
        assert!(cookie.starts_with("theme=hidden") && cookie.contains("; n=hidden"), "{cookie}");
        let form = "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nabc\r\n--b\r\n\
                    Content-Disposition: form-data; name=\"title\"\r\n\r\nabc\r\n--b--\r\n";
        let hidden = cover.body(form, BodyKind::sent("Multipart/form-data; boundary=b"));
        assert_eq!(hidden.matches("abc").count(), 1, "{hidden}");
    }

    #[test]
    fn without_a_cover_everything_is_shown() {
        let cover = Cover::default();
        assert_eq!(cover.header("cookie", "a=secret"), "a=secret");
        assert_eq!(cover.body("password=x", BodyKind::Form), "password=x");
        assert_eq!(cover.url("/?token=x"), "/?token=x");
    }

    /// Fault of an attack: these stood in HARs whose secrets were hidden.
    #[test]
    fn secrets_of_any_form_are_hidden() {
        let cover = cover(&[], "", "{}");
        for (text, mime) in [
            (
                r#"{"query":"mutation { login(password: \"S3CRET\") }","variables":{"pw":"S3CRET"}}"#,
                "application/json",
            ),
            ("<a><password>S3CRET</password></a>", "application/xml"),
            (r#"[{"password":"S3CRET"},"#, "application/json"),
            (r#"[{"password":"S3CRET"#, "text/plain"),
            ("pw=S3CRET&session=S3CRET", "Application/X-WWW-Form-Urlencoded"),
        ] {
            let hidden = cover.body(text, BodyKind::sent(mime));
            assert!(!hidden.contains("S3CRET") && hidden.contains("hidden"), "{hidden}");
            assert_eq!(hidden.len() - text.len(), 12 * text.matches("S3CRET").count(), "{hidden}");
        }
        let url = "https://u:S3CRET@h/p;jsessionid=S3CRET?auth=S3CRET&session=S3CRET&key=S3CRET&x=1#access_token=S3CRET";
        let hidden = cover.url(url);
        assert!(!hidden.contains("S3CRET") && hidden.contains("&x=1#"), "{hidden}");
        assert_eq!(cover.header("location", url), hidden);
        let digest = cover.header("www-authenticate", "Digest realm=\"a\", token=\"S3CRET\"");
        assert!(digest.starts_with("Digest realm=\"a\", token=\"hidden"), "{digest}");
    }

    #[test]
    fn a_secret_is_found_in_bytes_and_behind_basic_credentials() {
        let cover = cover(&[("authorization", "Basic dTpwYXNzd29yZDQ3MTE=")], "", "{}");
        assert!(!cover.text("it is password4711").contains("4711"));
        let bytes = cover.bytes(b"\xff\x00password4711\xfe");
        assert!(bytes.starts_with(b"\xff\x00hidden") && bytes.ends_with(b"\xfe"), "{bytes:?}");
    }
}
