//! `Exchange`: a request of a script on its way: what is sent, its redirects, its samples, and what the script is told.

use std::sync::Arc;

use metrics::tally::{Tags, Tally};
use stdx::Nanos;
use wire::url::Url;
use workload::{Reply, Target};

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
        // k6 asks for no coding of its own accord.
        ask.default_header("Accept-Encoding", "identity");
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

    /// Adds what is seen of this hop to k6's metrics.
    pub(super) fn measure(&self, reply: &Reply<'_>, scenario: &str, tally: &mut Tally) {
        let failure = failure(reply);
        let error_code = failure.as_ref().map_or(0, |failure| failure.code);
        let expected = failure.is_none() && (200..400).contains(&reply.status);
        let tags = HttpTags {
            status: reply.status.to_string(),
            error_code: if error_code == 0 { String::new() } else { error_code.to_string() },
            error: failure.map(|failure| failure.text).unwrap_or_default(),
            name: self.ask.name.as_deref().unwrap_or(&self.url),
            method: &self.method,
            proto: proto(head(reply)),
            expected: if expected { "true" } else { "false" },
            own: &self.ask.tags,
            group: &self.ask.group,
            scenario,
        };
        let timings = timings(reply);
        for (name, time) in [
            ("http_req_duration", timings.duration()),
            ("http_req_blocked", timings.blocked),
            ("http_req_connecting", timings.connecting),
            ("http_req_tls_handshaking", timings.tls_handshaking),
            ("http_req_sending", timings.sending),
            ("http_req_waiting", timings.waiting),
            ("http_req_receiving", timings.receiving),
        ] {
            tally.add(name, time.0 as f64 / 1e6, &tags);
        }
        tally.add("http_reqs", 1.0, &tags);
        tally.add("http_req_failed", f64::from(u8::from(!expected)), &tags);
        tally.add("data_sent", reply.bytes_out as f64, &tags);
        tally.add("data_received", reply.wire_in as f64, &tags);
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

/// The tags of a request's samples.
struct HttpTags<'a> {
    status: String,
    error_code: String,
    error: String,
    name: &'a str,
    method: &'a str,
    proto: &'a str,
    expected: &'a str,
    own: &'a [(String, String)],
    group: &'a str,
    scenario: &'a str,
}

impl Tags for HttpTags<'_> {
    fn tag(&self, name: &str) -> Option<&str> {
        if let Some((_, value)) = self.own.iter().find(|(known, _)| known == name) {
            return Some(value);
        }
        let some = |text: &'_ str| !text.is_empty();
        match name {
            "status" => Some(&self.status),
            "method" => Some(self.method),
            "url" | "name" => Some(self.name),
            "proto" => Some(self.proto),
            "expected_response" => Some(self.expected),
            "error" => Some(self.error.as_str()).filter(|text| some(text)),
            "error_code" => Some(self.error_code.as_str()).filter(|text| some(text)),
            "group" => Some(self.group),
            "scenario" => Some(self.scenario),
            _ => None,
        }
    }
}

fn head<'a>(reply: &'a Reply<'_>) -> &'a [u8] {
    reply.head.as_deref().unwrap_or_default()
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
