//! `Request`: a target made ready to be sent, and what a redirect makes of it.

use std::sync::Arc;

use metrics::FailureKind;
use stdx::{names_secret_field, shown_url};
use wire::content::Accepted;
use wire::h1::request::{HeadStyle, RequestError, RequestSpec, RequestTemplate, TargetForm};
use wire::h2::H2Request;
use wire::url::{Scheme, Url};
use workload::{RequestKind, Target};

use crate::failure_reason::FailureReason;
use crate::settings::{Protocol, Settings};

/// What we call ourselves.
const USER_AGENT: &str = concat!("brunt/", env!("CARGO_PKG_VERSION"));

/// Header fields that do not follow a redirect to another scheme, host or port, besides those whose names say that they are secrets.
const PRIVATE_FIELDS: [&str; 6] = [
    "authorization",
    "cookie",
    "cookie2",
    "www-authenticate",
    "proxy-authorization",
    "proxy-authenticate",
];

/// Header fields that speak of a body, which a redirect to GET leaves behind.
const BODY_FIELDS: [&str; 2] = ["content-type", "content-length"];

/// Bytes of a location that an error shows.
const LOCATION_SHOWN_MAX: usize = 1 << 10;

/// A target made ready to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The URL as it was given, but for a password, for texts.
    pub(crate) url_text: String,
    /// A name to group by; may be empty.
    pub(crate) name: String,
    pub(crate) url: Url,
    headers: Vec<(String, String)>,
    body: Arc<[u8]>,
    pub(crate) template: RequestTemplate,
    /// The same for HTTP/2, where that may be spoken; what HTTP/1.1 alone can send fails only where a stream would be opened.
    pub(crate) h2: Option<Result<Box<H2Request>, RequestError>>,
    /// May be sent again when a kept-alive connection turns out to be closed.
    pub(crate) replayable: bool,
    /// It asks the server to switch protocols, as HTTP/1.1 alone can. RFC 9110, 7.8.
    pub(crate) upgrades: bool,
    /// It goes on the channel of this number.
    pub(crate) channel: Option<u32>,
    /// The content codings that it asks for.
    pub(crate) accepted: Accepted,
    /// Nothing is added to its header fields: they name the host and the body's length themselves.
    exact: bool,
}

/// Why a target cannot be sent; each of its hits fails with it.
#[derive(Clone, Debug)]
pub(crate) struct Unsendable {
    pub(crate) kind: FailureKind,
    pub(crate) method: String,
    pub(crate) url_text: String,
    pub(crate) reason: FailureReason,
}

/// What the requests of a run have in common.
#[derive(Clone, Debug)]
pub(crate) struct RequestDefaults {
    pub(crate) attack: String,
    pub(crate) style: HeadStyle,
    pub(crate) keepalive: bool,
    pub(crate) chunked: bool,
    pub(crate) protocol: Protocol,
    /// The head of every request, where it is given.
    head_bytes: Option<Arc<[u8]>>,
    /// The connection is to leave HTTP/1.1.
    pub(crate) upgrades: bool,
    /// The connection is the channel of this number, which speaks HTTP/2 alone.
    pub(crate) channel: Option<u32>,
    /// They are calls of gRPC.
    calls: bool,
}

impl RequestDefaults {
    pub(crate) fn of(attack: &str, settings: &Settings) -> Self {
        Self {
            attack: attack.to_owned(),
            style: settings.head,
            keepalive: settings.keepalive,
            // Calls do not say how long they are, as those of grpc-go.
            chunked: settings.chunked || settings.answers.is_grpc(),
            protocol: settings.protocol,
            head_bytes: settings.head_bytes.clone(),
            upgrades: false,
            channel: None,
            calls: settings.answers.is_grpc(),
        }
    }

    /// The same for requests whose connections are to leave HTTP.
    pub(crate) fn of_upgrades(&self) -> Self {
        Self { upgrades: true, ..self.clone() }
    }

    /// The same for requests of a channel. As those of grpc-go they do not say how long they are.
    pub(crate) fn of_channel(&self, channel: u32) -> Self {
        Self { channel: Some(channel), chunked: true, ..self.clone() }
    }

    /// Whether the request goes through an HTTP proxy's tunnel, also where it is not secret.
    pub(crate) fn wants_tunnel(&self) -> bool {
        self.upgrades || self.channel.is_some() || self.calls
    }
}

/// How the request's head is written for its route.
#[derive(Clone, Debug, Default)]
pub(crate) struct Addressing {
    pub(crate) form: TargetForm,
    pub(crate) proxy_authorization: Option<String>,
}

impl Request {
    /// Makes a target ready. `addressing` gives the form of its address, once its URL is known.
    pub(crate) fn new(
        target: &Target,
        defaults: &RequestDefaults,
        addressing: impl FnOnce(&Url) -> Addressing,
    ) -> Result<Self, Unsendable> {
        let url = Url::parse(&target.url)
            .map_err(|error| unsendable(target, FailureReason::Url(error)))?;
        Self::with_url(target, url, defaults, addressing)
    }

    /// The same where the URL is known already; the target's is for texts alone.
    pub(crate) fn with_url(
        target: &Target,
        url: Url,
        defaults: &RequestDefaults,
        addressing: impl FnOnce(&Url) -> Addressing,
    ) -> Result<Self, Unsendable> {
        let addressing = addressing(&url);
        let upgrades = defaults.upgrades;
        let spec = RequestSpec {
            method: &target.method,
            url: &url,
            headers: &target.headers,
            body: Arc::clone(&target.body),
            style: defaults.style,
            keepalive: defaults.keepalive || upgrades,
            chunked: defaults.chunked,
            attack_name: &defaults.attack,
            target_form: addressing.form,
            proxy_authorization: addressing.proxy_authorization,
            user_agent: USER_AGENT,
        };
        let refuse = |error: RequestError| unsendable(target, FailureReason::Request(error));
        let template = match &defaults.head_bytes {
            Some(head) => RequestTemplate::verbatim(head, &target.method, Arc::clone(&target.body)),
            None => RequestTemplate::new(&spec).map_err(refuse)?,
        };
        let may_stream = match defaults.protocol {
            _ if defaults.channel.is_some() => true,
            Protocol::Http1 => false,
            _ if upgrades => false,
            Protocol::Alpn => url.scheme == Scheme::Https,
            Protocol::PriorKnowledge => true,
        };
        let h2 = may_stream.then(|| H2Request::new(&spec).map(Box::new));
        let safe = matches!(target.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE");
        Ok(Self {
            method: target.method.clone(),
            url_text: shown_url(&target.url).into_owned(),
            name: shown_url(&target.name).into_owned(),
            url,
            headers: target.headers.clone(),
            body: Arc::clone(&target.body),
            h2,
            replayable: safe && target.body.is_empty(),
            upgrades,
            channel: defaults.channel,
            accepted: accepted(target, &template),
            template,
            exact: matches!(defaults.style, HeadStyle::Exact(_)),
        })
    }

    /// Whether it was made for requests of this kind.
    pub(crate) fn is_of(&self, kind: RequestKind) -> bool {
        self.upgrades == kind.is_upgrade() && self.channel == kind.channel()
    }

    /// The target that a redirect with this status to `location` leads to, and its URL: the target's own text of it
    /// masks a password. RFC 9110, 15.4; as Go's client does it, but that credentials stay with scheme, host and port.
    pub(crate) fn redirected(
        &self,
        status: u16,
        location: &str,
    ) -> Result<(Target, Url), Unsendable> {
        let url = self.url.join(location).map_err(|error| Unsendable {
            kind: FailureKind::Target,
            method: self.method.clone(),
            url_text: shown_location(location),
            reason: FailureReason::Url(error),
        })?;
        let keeps_method = matches!(status, 307 | 308);
        let method = match self.method.as_str() {
            _ if keeps_method => self.method.clone(),
            "HEAD" => "HEAD".to_owned(),
            _ => "GET".to_owned(),
        };
        let keeps_private = self.url.shares_credentials(&url);
        let mut headers: Vec<(String, String)> = self
            .headers
            .iter()
            .filter(|(name, _)| keeps_private || !is_private(name))
            .filter(|(name, _)| !is_one_of(name, &["referer"]))
            .filter(|(name, _)| self.exact || !is_one_of(name, &["host"]))
            .filter(|(name, _)| keeps_method || !is_one_of(name, &BODY_FIELDS))
            .map(|(name, value)| match is_one_of(name, &["host"]) {
                true => (name.clone(), url.authority.clone()),
                false => (name.clone(), value.clone()),
            })
            .collect();
        headers.extend(self.url.referer(&url).map(|referer| ("Referer".to_owned(), referer)));
        let body = if keeps_method { Arc::clone(&self.body) } else { Arc::from([]) };
        let name = String::new();
        Ok((Target { method, url: url.to_string(), headers, body, weight: 1, name }, url))
    }
}

/// What a server leads to, as far as an error shows it.
pub(crate) fn shown_location(location: &str) -> String {
    stdx::cut_text(&shown_url(location), LOCATION_SHOWN_MAX).into_owned()
}

/// The content codings that a target asks for, or that we ask for where it says nothing of them.
fn accepted(target: &Target, template: &RequestTemplate) -> Accepted {
    if template.asks_gzip() {
        return Accepted::GZIP;
    }
    let mut accepted = Accepted::default();
    for (_, value) in
        target.headers.iter().filter(|(name, _)| is_one_of(name, &["accept-encoding"]))
    {
        accepted.push_field(value.as_bytes());
    }
    accepted
}

fn unsendable(target: &Target, reason: FailureReason) -> Unsendable {
    Unsendable {
        kind: FailureKind::Target,
        method: target.method.clone(),
        url_text: shown_url(&target.url).into_owned(),
        reason,
    }
}

fn is_private(name: &str) -> bool {
    is_one_of(name, &PRIVATE_FIELDS) || names_secret_field(name)
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|other| name.eq_ignore_ascii_case(other))
}

/// Whether a status asks for another request. RFC 9110, 15.4; 300 and 304 do not.
pub(crate) const fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::HttpVersion;

    fn request(url: &str, headers: &[(&str, &str)]) -> Request {
        let target = Target {
            method: "GET".to_owned(),
            url: url.to_owned(),
            headers: headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
            body: Arc::from([]),
            weight: 1,
            name: String::new(),
        };
        Request::new(&target, &defaults(), |_| Addressing::default()).expect("a request")
    }

    fn defaults() -> RequestDefaults {
        RequestDefaults::of("", &Settings::default())
    }

    fn follow(from: &Request, location: &str) -> String {
        let (target, url) = from.redirected(302, location).expect("a target");
        let request = Request::with_url(&target, url, &defaults(), |_| Addressing::default());
        let mut head = Vec::new();
        request.expect("a request").template.render(0, &mut head);
        String::from_utf8(head).expect("text")
    }

    #[test]
    fn a_redirect_keeps_the_password_and_shows_it_nowhere() {
        let from = request("http://user:secret@a/x", &[("Cookie", "c=1")]);
        let same = follow(&from, "/y");
        let authorization = wire::h1::request::basic_authorization("user:secret");
        assert!(same.contains(&format!("\r\nAuthorization: {authorization}\r\n")), "{same}");
        assert!(same.contains("\r\nReferer: http://a/x\r\n"), "{same}");
        assert!(same.contains("\r\nCookie: c=1\r\n"), "{same}");
        let other = follow(&from, "http://b/y");
        assert!(!other.contains("Authorization") && !other.contains("Cookie"), "{other}");
        let clear = follow(&request("https://a/x", &[]), "http://a/y");
        assert!(!clear.contains("Referer"), "{clear}");
    }

    #[test]
    fn credentials_stay_with_scheme_host_and_port() {
        let fields = [
            ("Authorization", "Bearer t"),
            ("Cookie", "c=1"),
            ("Proxy-Authorization", "Basic x"),
            ("Proxy-Authenticate", "Basic"),
            ("X-Api-Key", "k"),
            ("X-Auth-Token", "k"),
            ("X", "y"),
        ];
        let names = |from: &str, to: &str| {
            let (target, _) = request(from, &fields).redirected(307, to).expect("a target");
            target.headers.iter().filter(|(name, _)| name != "Referer").count()
        };
        assert_eq!(names("http://a/x", "/y"), 7);
        assert_eq!(names("http://a/x", "http://a:80/y"), 7);
        assert_eq!(names("http://a/x", "https://a/y"), 7, "the same host, now in secret");
        for to in ["http://a:81/y", "http://b/y", "http://sub.a/y", "https://a:444/y"] {
            assert_eq!(names("http://a/x", to), 1, "{to}");
        }
        assert_eq!(names("https://a/x", "http://a/y"), 1);
    }

    #[test]
    fn codings_are_asked_for_before_they_are_decoded() {
        let of = |headers: &[(&str, &str)]| request("http://a/", headers).accepted;
        assert_eq!(of(&[]), Accepted::GZIP, "we ask for it");
        assert_eq!(of(&[("Range", "bytes=0-1")]), Accepted::default());
        let mut both = Accepted::default();
        both.push_field(b"br, zstd");
        assert_eq!(of(&[("accept-encoding", "br"), ("Accept-Encoding", "zstd")]), both);
        assert_eq!(of(&[("Accept-Encoding", "identity")]), Accepted::default());
    }

    /// The server's protocol is unknown before the handshake.
    #[test]
    fn what_http2_cannot_send_is_no_fault_of_http1() {
        let wide = "x".repeat(70_000);
        let from = request(&format!("https://a/{wide}"), &[]);
        assert!(matches!(&from.h2, Some(Err(RequestError::Target(_)))), "{:?}", from.h2);
        assert!(matches!(request("https://a/?q=\"b\"", &[]).h2, Some(Ok(_))));
    }

    #[test]
    fn an_exact_head_names_the_new_host_and_no_old_body() {
        let fields = [("Host", "a"), ("Content-Length", "1"), ("X", "y")];
        let target = Target {
            method: "POST".to_owned(),
            url: "http://a/x".to_owned(),
            headers: fields.map(|(n, v)| (n.to_owned(), v.to_owned())).into(),
            body: Arc::from(*b"b"),
            weight: 1,
            name: String::new(),
        };
        let exact = RequestDefaults { style: HeadStyle::Exact(HttpVersion::Http11), ..defaults() };
        let from = Request::new(&target, &exact, |_| Addressing::default()).expect("a request");
        let (to, _) = from.redirected(302, "http://b:81/y").expect("a target");
        let fields: Vec<(&str, &str)> =
            to.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(fields, [("Host", "b:81"), ("X", "y"), ("Referer", "http://a/")]);
        let (to, _) = from.redirected(307, "/y").expect("a target");
        assert_eq!((to.headers[0].1.as_str(), to.headers[1].1.as_str()), ("a", "1"));
    }
}
