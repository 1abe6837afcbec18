//! `Exchange`: a request of a script on its way: what is sent, its redirects, and what the script is told.

use std::borrow::Cow;
use std::sync::Arc;

use stdx::Nanos;
use wire::url::Url;
use workload::{Reply, Target};

use super::system::{SystemTag, SystemTags};
use super::{CrewPlan, TIMEOUT};
use crate::action::{Expects, HttpAnswer, HttpAsk, HttpFailure, Timings};

/// A request on its way.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    ask: HttpAsk,
    /// The URL of this hop.
    url: String,
    /// The method of this hop.
    method: String,
    body: Arc<[u8]>,
    redirects_left: u32,
}

impl Exchange {
    pub(super) fn new(mut ask: HttpAsk, plan: &CrewPlan) -> Self {
        if plan.discard_bodies && ask.expects == Expects::Unsaid {
            ask.expects = Expects::Nothing;
        }
        ask.default_header("User-Agent", &plan.user_agent);
        let redirects_left = ask.redirects.unwrap_or(plan.max_redirects);
        let (url, method) = (ask.url.clone(), ask.method.clone());
        let body = ask.body.take().unwrap_or_default().into();
        Self { ask, url, method, body, redirects_left }
    }

    pub(super) fn target(&self) -> Target {
        Target {
            method: self.method.clone(),
            url: self.url.clone(),
            headers: self.ask.headers.clone(),
            body: Arc::clone(&self.body),
            weight: 1,
            name: String::new(),
        }
    }

    pub(super) fn timeout(&self) -> Nanos {
        self.ask.timeout.unwrap_or(TIMEOUT)
    }

    /// What was asked for.
    pub(super) fn ask(&self) -> &HttpAsk {
        &self.ask
    }

    /// What k6's metrics want of this hop.
    pub(super) fn seen<'a>(&'a self, reply: &'a Reply<'a>) -> Seen<'a> {
        let failure = failure(reply);
        let expected = failure.is_none() && (200..400).contains(&reply.status);
        Seen {
            status: reply.status,
            error_code: failure.as_ref().map_or_else(|| status_code(reply.status), |f| f.code),
            error: failure.map(|failure| failure.text).unwrap_or_default(),
            name: self.ask.name.as_deref().unwrap_or(&self.url),
            method: &self.method,
            proto: proto(head(reply)),
            tls_version: "",
            ip: "",
            expected: Some(expected),
            timings: timings(reply),
        }
    }

    /// The next hop, where the response redirects and the script follows. RFC 9110, 15.4.
    pub(super) fn redirected(&self, reply: &Reply<'_>) -> Option<Self> {
        if !matches!(reply.status, 301 | 302 | 303 | 307 | 308) || self.redirects_left == 0 {
            return None;
        }
        let (_, location) =
            fields(head(reply)).find(|(name, _)| name.eq_ignore_ascii_case("location"))?;
        let url = Url::parse(&self.url).ok()?.join(&location).ok()?;
        let mut next = self.clone();
        next.url = url.to_string();
        next.redirects_left -= 1;
        if !matches!(reply.status, 307 | 308) {
            next.method = if self.method == "HEAD" { "HEAD" } else { "GET" }.to_owned();
            next.body = Arc::from([]);
            next.ask.headers.retain(|(name, _)| !name.to_ascii_lowercase().starts_with("content-"));
        }
        Some(next)
    }

    /// What the script is told.
    pub(super) fn answer(&self, reply: &Reply<'_>) -> Box<HttpAnswer> {
        let keeps = self.ask.expects != Expects::Nothing && reply.failure.is_none();
        Box::new(HttpAnswer {
            status: reply.status,
            status_text: status_text(head(reply)),
            proto: proto(head(reply)).to_owned(),
            url: self.url.clone(),
            headers: fields(head(reply)).collect(),
            body: keeps.then(|| reply.body.to_vec()),
            timings: timings(reply),
            failure: failure(reply),
            ..HttpAnswer::default()
        })
    }
}

/// What k6's metrics want of a request.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    pub(super) status: u16,
    /// k6's number; 0 for none.
    pub(super) error_code: u16,
    pub(super) error: String,
    /// What it is called in metrics.
    pub(super) name: &'a str,
    pub(super) method: &'a str,
    pub(super) proto: &'a str,
    /// `tls1.3`; empty without TLS.
    pub(super) tls_version: &'a str,
    /// The address that answered.
    pub(super) ip: &'a str,
    /// Whether the response is one that the script expects; `None` where it does not say at all.
    pub(super) expected: Option<bool>,
    pub(super) timings: Timings,
}

impl Seen<'_> {
    /// The names of the tags.
    pub(super) const TAGS: [&'static str; 10] = [
        "status",
        "method",
        "name",
        "url",
        "proto",
        "expected_response",
        "error",
        "error_code",
        "tls_version",
        "ip",
    ];

    /// A tag, if it is one of these, and wanted, and there is a value for it.
    pub(super) fn tag(&self, name: &str, system: SystemTags) -> Option<Cow<'_, str>> {
        let (tag, value) = match name {
            "expected_response" => {
                let word = if self.expected? { "true" } else { "false" };
                (SystemTag::ExpectedResponse, Cow::Borrowed(word))
            }
            "status" => (SystemTag::Status, Cow::Owned(self.status.to_string())),
            "method" => (SystemTag::Method, Cow::Borrowed(self.method)),
            "name" => (SystemTag::Name, Cow::Borrowed(self.name)),
            "url" => (SystemTag::Url, Cow::Borrowed(self.name)),
            "proto" => (SystemTag::Proto, Cow::Borrowed(self.proto)),
            "error" => (SystemTag::Error, Cow::Borrowed(self.error.as_str())),
            "error_code" if self.error_code > 0 => {
                (SystemTag::ErrorCode, Cow::Owned(self.error_code.to_string()))
            }
            "tls_version" => (SystemTag::TlsVersion, Cow::Borrowed(self.tls_version)),
            "ip" => (SystemTag::Ip, Cow::Borrowed(self.ip)),
            _ => return None,
        };
        (system.has(tag) && !value.is_empty()).then_some(value)
    }
}

fn head<'a>(reply: &'a Reply<'_>) -> &'a [u8] {
    reply.head.as_deref().unwrap_or_default()
}

/// k6's number of a status that is an error; 0 for none.
fn status_code(status: u16) -> u16 {
    if status >= 400 { status.saturating_add(1000) } else { 0 }
}

/// The header lines after the status line.
fn fields(head: &[u8]) -> impl Iterator<Item = (String, String)> + '_ {
    let lines = head.split(|byte| *byte == b'\n').skip(1);
    lines.filter_map(|line| {
        let line = String::from_utf8_lossy(line);
        let (name, value) = line.split_once(':')?;
        Some((name.to_owned(), value.trim().to_owned()))
    })
}

fn status_line(head: &[u8]) -> &str {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    std::str::from_utf8(line).unwrap_or_default().trim_end()
}

/// `200 OK` of the status line.
fn status_text(head: &[u8]) -> String {
    status_line(head).split_once(' ').map_or_else(String::new, |(_, text)| text.to_owned())
}

/// The status line's version.
fn proto(head: &[u8]) -> &str {
    status_line(head).split(' ').next().unwrap_or_default()
}

/// k6's parts of the time.
fn timings(reply: &Reply<'_>) -> Timings {
    let Some(sent) = reply.sent else {
        return Timings { blocked: reply.done.saturating_sub(reply.due), ..Timings::default() };
    };
    let first = reply.first_byte.unwrap_or(reply.done);
    Timings {
        blocked: sent.saturating_sub(reply.due),
        connecting: reply.dial,
        tls_handshaking: reply.tls,
        sending: Nanos::ZERO,
        waiting: first.saturating_sub(sent),
        receiving: reply.done.saturating_sub(first),
    }
}

/// What went wrong, with k6's number and text.
fn failure(reply: &Reply<'_>) -> Option<HttpFailure> {
    let (kind, text) = reply.failure.as_ref()?;
    let (code, known) = match *kind {
        "dns" => (1101, Some("lookup: no such host")),
        "refused" => (1212, Some("dial: connection refused")),
        "dial" => (1210, None),
        "timeout" => (1050, Some("request timeout")),
        "reset" => (1220, Some("read: connection reset by peer")),
        "tls" => (1300, None),
        "target" => (1020, None),
        "decode" => (1701, None),
        _ => (1000, None),
    };
    let text = known.map_or_else(|| text.clone(), str::to_owned);
    Some(HttpFailure { code, text })
}
