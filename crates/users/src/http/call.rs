//! `HttpCall`: a request of a script on its way: what is sent, its redirects, and the response for the script.

use std::borrow::Cow;
use std::sync::Arc;

use stdx::{Nanos, names_secret_field, shown_url};
use wire::url::{Scheme, Url};
use workload::{EngineResponse, RequestKind, Target};

use crate::calls::pending::PendingCall;
use crate::calls::stream_state::StreamState;
use crate::host::http::{
    Auth, BodyMemory, Expects, HttpFailure, HttpRequest, HttpResponse, OwnCookie, Statuses, masked,
};
use crate::host::response_head::{self, sets_cookies, values};
use crate::host::traits::Level;
use crate::host::url_error::url_error_text;
use crate::http::call_tags::{CallTags, status_code, timings};
use crate::http::cookie_jar::{SetCookie, push_cookie};
use crate::http::{digest, failure};
use crate::pool::plan::{TIMEOUT, VuPoolPlan};
use crate::pool::slot::RequestOwner;
use crate::sockets::state::PendingSocket;

/// A request on its way: from when the script asked for it until its last hop is answered.
#[derive(Clone, Debug)]
pub(crate) struct HttpCall {
    /// The VU that waits for the response.
    pub(crate) owner: RequestOwner,
    /// The WebSocket that it opens; `None` of a request that opens none.
    pub(crate) socket: Option<Box<PendingSocket>>,
    /// The call of gRPC that it is; `None` of any other request.
    pub(crate) grpc: Option<Box<PendingCall>>,
    /// The request as it is first sent.
    request: Box<HttpRequest>,
    /// The request that a redirect, or a digest challenge, made of it.
    hop: Option<Box<Hop>>,
    redirects_left: u32,
    /// What the hops before took of its time.
    spent: Nanos,
    /// This hop answers a digest challenge.
    answers_challenge: bool,
    /// A redirect has left the scheme, host and port of the URL asked for: no credentials go along from here on, even if
    /// another leads back.
    away: bool,
}

/// A request that follows another.
#[derive(Clone, Debug)]
struct Hop {
    method: String,
    url: String,
    /// The URL with its user and password hidden; `None` if it has none.
    masked: Option<String>,
    headers: Vec<(String, String)>,
    body: Option<Arc<[u8]>>,
}

impl HttpCall {
    /// A request of a script, with the header fields and cookies that it does not say itself.
    pub(crate) fn new(
        owner: RequestOwner,
        mut request: Box<HttpRequest>,
        plan: &VuPoolPlan,
    ) -> Self {
        if plan.http.discard_bodies && request.expects == Expects::Unsaid {
            request.expects = Expects::Nothing;
        }
        if request.headers.is_empty() {
            request.shared_headers = Some(Arc::clone(&plan.http.default_headers));
        } else {
            for (name, value) in &*plan.http.default_headers {
                request.default_header(name, value);
            }
        }
        let redirects_left = request.redirects.unwrap_or(plan.http.max_redirects);
        let own = request.header("Cookie").unwrap_or_default().to_owned();
        if let Some(cookies) = cookies(&request, &request.cookies, &request.url, own, plan) {
            request.set_header("Cookie", cookies);
        }
        let hop = (request.auth == Auth::Digest).then(|| without_user(&mut request)).flatten();
        Self { hop, redirects_left, ..Self::first_hop(owner, request) }
    }

    /// A request exactly as it is.
    pub(crate) fn first_hop(owner: RequestOwner, request: Box<HttpRequest>) -> Self {
        Self {
            owner,
            socket: None,
            grpc: None,
            request,
            hop: None,
            redirects_left: 0,
            spent: Nanos::ZERO,
            answers_challenge: false,
            away: false,
        }
    }

    pub(crate) fn method(&self) -> &str {
        self.hop.as_ref().map_or(&self.request.method, |hop| &hop.method)
    }

    pub(crate) fn url(&self) -> &str {
        self.hop.as_ref().map_or(&self.request.url, |hop| &hop.url)
    }

    pub(crate) fn headers(&self) -> &[(String, String)] {
        self.hop.as_ref().map_or_else(|| self.request.headers(), |hop| &hop.headers)
    }

    pub(crate) fn body(&self) -> Option<&Arc<[u8]>> {
        match &self.hop {
            Some(hop) => hop.body.as_ref(),
            None => self.request.coded_body.as_ref().or(self.request.body.as_ref()),
        }
    }

    /// What it is called in metrics.
    fn name(&self) -> &str {
        let hop = self.hop.as_ref().map(|hop| hop.masked.as_deref().unwrap_or(&hop.url));
        self.request.name.as_deref().or(hop).unwrap_or(&self.request.url)
    }

    /// What is asked of the engine.
    pub(crate) fn target(&self) -> Target {
        Target {
            method: self.method().to_owned(),
            url: self.url().to_owned(),
            headers: self.headers().to_vec(),
            body: self.body().cloned().unwrap_or_default(),
            weight: 1,
            name: self.given_name().to_owned(),
        }
    }

    /// The name that the script gives it; empty where it gives none.
    pub(crate) fn given_name(&self) -> &str {
        self.request.name.as_deref().unwrap_or_default()
    }

    pub(crate) fn timeout(&self) -> Nanos {
        self.request.timeout.unwrap_or(TIMEOUT).saturating_sub(self.spent)
    }

    /// The bytes that the body of the response may have.
    pub(crate) fn body_max(&self) -> u64 {
        self.grpc.as_ref().map_or(u64::MAX, |call| call.body_max())
    }

    /// How far the stream of gRPC is that it is.
    pub(crate) fn stream_mut(&mut self) -> Option<&mut StreamState> {
        self.grpc.as_mut()?.stream.as_mut()
    }

    /// What it is to its connection.
    pub(crate) fn kind(&self) -> RequestKind {
        match &self.grpc {
            Some(call) => call.request_kind(),
            None if self.socket.is_some() => RequestKind::Upgrade,
            None => RequestKind::Plain,
        }
    }

    /// Whether a server has led it away from the scheme, host and port asked for.
    pub(crate) fn is_away(&self) -> bool {
        self.away || self.request.is_led_away
    }

    /// What was asked for first, as reports group rows, where redirects led to another path.
    pub(crate) fn led_from(&self) -> Option<String> {
        let hop = self.hop.as_ref().filter(|_| !self.answers_challenge)?;
        if path(&hop.url) == path(&self.request.url) {
            return None;
        }
        Some(match self.given_name() {
            "" => {
                let url = stdx::url_without_secrets(&self.request.url);
                format!("{} {url}", self.request.method)
            }
            name => name.to_owned(),
        })
    }

    /// What was asked for, where this is its first hop.
    pub(crate) fn first(&self) -> Option<&HttpRequest> {
        self.hop.is_none().then_some(&*self.request)
    }

    /// What was asked for.
    pub(crate) fn request(&self) -> &HttpRequest {
        &self.request
    }

    /// What was asked for, of a call that is over.
    pub(crate) fn into_request(self) -> Box<HttpRequest> {
        self.request
    }

    /// What k6's metrics want of this hop.
    pub(crate) fn tags<'a>(&'a self, reply: &'a EngineResponse<'a>) -> CallTags<'a> {
        let failure = failure::of(reply);
        let expected = match (&failure, &self.request.expected) {
            (_, Statuses::Unasked) => None,
            (Some(_), _) => Some(false),
            // A challenge that will be answered is no failure.
            (None, _) if self.is_challenge(reply) => Some(true),
            (None, statuses) => statuses.judge(reply.status),
        };
        CallTags {
            status: reply.status,
            error_code: failure.as_ref().map_or_else(|| status_code(reply.status), |f| f.code),
            error: failure.map(|failure| failure.text).unwrap_or_default(),
            name: self.name(),
            method: self.method(),
            head: head(reply),
            tls_version: reply.secured.map_or("", |(version, _)| version),
            ip: reply.remote.map(|remote| remote.ip()),
            expected,
            timings: timings(reply),
        }
    }

    /// Whether the response is a digest challenge that is still to be answered.
    fn is_challenge(&self, reply: &EngineResponse<'_>) -> bool {
        let gives_up = self.answers_challenge || self.away;
        self.request.auth == Auth::Digest && reply.status == 401 && !gives_up
    }

    /// The next hop, where there is one. The cookies of this one's response are kept.
    pub(crate) fn next(&self, reply: &EngineResponse<'_>, plan: &VuPoolPlan) -> Option<Self> {
        if reply.status == 0 {
            return None;
        }
        self.keep_cookies(reply, plan);
        if self.is_challenge(reply) {
            return self.answer_challenge(reply);
        }
        if !is_redirect(reply.status) {
            return None;
        }
        if self.redirects_left == 0 {
            if plan.http.warns_of_redirects && self.request.redirects.is_none() {
                let text = format!(
                    "Stopped after {} redirects and returned the redirection; pass {{ redirects: n }} in request params or set global maxRedirects to silence this",
                    plan.http.max_redirects
                );
                (plan.log)(Level::Warn, &text, &[]);
            }
            return None;
        }
        let location = response_head::location(head(reply))?;
        self.redirected(reply, &location, plan)
    }

    pub(crate) fn keep_cookies(&self, reply: &EngineResponse<'_>, plan: &VuPoolPlan) {
        let Some(jar) = self.request.jar.as_ref().filter(|_| sets_cookies(head(reply))) else {
            return;
        };
        let mut set = values(head(reply), "set-cookie")
            .filter_map(|value| SetCookie::parse(&value))
            .peekable();
        if set.peek().is_some()
            && let Ok(url) = Url::parse(self.url())
        {
            set.for_each(|cookie| jar.borrow_mut().set(&url, cookie, plan.unix_time()));
        }
    }

    /// The same request, with the answer to the challenge.
    fn answer_challenge(&self, reply: &EngineResponse<'_>) -> Option<Self> {
        let asked = Url::parse(&self.request.url).ok()?;
        let (user, password) = asked.userinfo.as_deref()?.split_once(':')?;
        let url = Url::parse(self.url()).ok()?;
        let challenge =
            values(head(reply), "www-authenticate").find(|value| digest::is_challenge(value))?;
        let asks = digest::DigestRequest {
            user,
            password,
            method: self.method(),
            uri: &url.path_and_query,
        };
        let value = digest::answer(&challenge, &asks, reply.done)?;
        let mut next = self.clone();
        next.spent = self.spent.saturating_add(reply.done.saturating_sub(reply.due));
        next.answers_challenge = true;
        let hop = next.hop.get_or_insert_with(|| Box::new(self.as_hop()));
        hop.headers.retain(|(name, _)| name != "Authorization");
        hop.headers.push(("Authorization".to_owned(), value));
        Some(next)
    }

    fn as_hop(&self) -> Hop {
        Hop {
            method: self.method().to_owned(),
            url: self.url().to_owned(),
            masked: masked(self.url()),
            headers: self.headers().to_vec(),
            body: self.body().cloned(),
        }
    }

    /// RFC 9110, 15.4, as Go's client does it, but that credentials stay with scheme, host and port.
    fn redirected(
        &self,
        reply: &EngineResponse<'_>,
        location: &str,
        plan: &VuPoolPlan,
    ) -> Option<Self> {
        let from = Url::parse(self.url()).ok()?;
        let to = from.join(location).ok()?;
        let fragment = location.split_once('#').map_or("", |(_, fragment)| fragment);
        let url = whole(&to, fragment);
        let mut hop = self.as_hop();
        if !matches!(reply.status, 307 | 308) {
            hop.method = if self.method() == "HEAD" { "HEAD" } else { "GET" }.to_owned();
            hop.body = None;
            hop.headers.retain(|(name, _)| !name.starts_with("Content-"));
        }
        let away = self.away || !from.shares_credentials(&to);
        let absolute = location.contains("://") || location.starts_with("//");
        hop.headers.retain(|(name, _)| match name.as_str() {
            "Cookie" | "Cookie2" | "Referer" => false,
            "Www-Authenticate" | "Proxy-Authenticate" => !away,
            "Host" => !absolute,
            name => !(away && names_secret_field(name)),
        });
        let own = if away { &[][..] } else { &self.request.cookies };
        if let Some(cookies) = cookies(&self.request, own, &url, String::new(), plan) {
            hop.headers.push(("Cookie".to_owned(), cookies));
        }
        // What the script says of itself is for the origin that it asked.
        let own = self.request.header("Referer").filter(|_| !away && from.is_same_origin(&to));
        if let Some(referer) = own.map(str::to_owned).or_else(|| from.referer(&to)) {
            hop.headers.push(("Referer".to_owned(), referer));
        }
        (hop.masked, hop.url) = (masked(&url), url);
        let mut next = self.clone();
        next.hop = Some(Box::new(hop));
        next.away = away;
        next.redirects_left -= 1;
        next.spent = self.spent.saturating_add(reply.done.saturating_sub(reply.due));
        Some(next)
    }

    /// The response for the script.
    pub(crate) fn response(self, reply: &EngineResponse<'_>) -> Box<HttpResponse> {
        let memory = BodyMemory::of(reply.head.as_ref().map_or(0, |head| head.len()));
        let no_room = || memory.is_err().then(failure::of_long_head);
        let failure = failure::of(reply).or_else(|| self.lost(reply)).or_else(no_room);
        let kept_head = reply.head.clone().filter(|_| memory.is_ok());
        // Of an answer that broke off a script sees what came.
        let has_begun = failure.is_none() || reply.head.is_some();
        let keeps = self.request.expects != Expects::Nothing && has_begun;
        let (head, cut_head) = match &failure {
            None => (kept_head, None),
            Some(_) => (None, kept_head),
        };
        Box::new(HttpResponse {
            status: if failure.is_none() { reply.status } else { 0 },
            head,
            url: self.hop.map(|hop| hop.url),
            remote: reply.remote,
            secured: reply.secured.filter(|_| failure.is_none()),
            body: keeps.then(|| reply.body.to_vec()),
            timings: timings(reply),
            wire_bytes: (reply.bytes_out, reply.wire_in),
            cut_head,
            memory: memory.unwrap_or_default(),
            failure,
            asked: Some(self.request),
        })
    }

    /// Why a redirect leads nowhere, where it does.
    fn lost(&self, reply: &EngineResponse<'_>) -> Option<HttpFailure> {
        if !is_redirect(reply.status) || self.redirects_left == 0 {
            return None;
        }
        let location = response_head::location(head(reply))?;
        let error = Url::parse(self.url()).ok()?.join(&location).err()?;
        let reason = url_error_text(&error);
        let shown = shown_url(&location);
        let shown = stdx::cut_text(&shown, LOCATION_SHOWN_MAX);
        let text = format!("failed to parse Location header {shown:?}: {reason}");
        let whole =
            format!("{} {:?}: {text}", failure::capitalised(self.method()), shown_url(self.url()));
        Some(HttpFailure { code: 1000, text, whole })
    }

    /// Request and response for the log (`httpDebug`): the heads, and with `full` the bodies.
    pub(crate) fn shown(&self, reply: &EngineResponse<'_>, full: bool) -> (String, String) {
        let url = Url::parse(self.url()).ok();
        let path = url.as_ref().map_or("", |url| &url.path_and_query);
        let host = url.as_ref().map_or("", |url| &url.authority);
        let path = stdx::redacted_query(path).map_or(Cow::Borrowed(path), Cow::Owned);
        let mut asked = format!("{} {path} HTTP/1.1\r\nHost: {host}\r\n", self.method());
        for (name, value) in self.headers().iter().filter(|(name, _)| name != "Host") {
            let shown = stdx::redacted_value(name, value.as_bytes());
            let value = shown.as_deref().unwrap_or(value);
            asked.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = self.body() {
            asked.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        asked.push_str("\r\n");
        let lines = stdx::redacted_lines(head(reply));
        let lines = lines.as_deref().unwrap_or_else(|| head(reply));
        let mut answered = String::from_utf8_lossy(lines).into_owned() + "\r\n";
        if full {
            asked.push_str(&String::from_utf8_lossy(self.body().map_or(&[], |body| body)));
            answered.push_str(&String::from_utf8_lossy(reply.body));
        }
        (format!("Request:\n{asked}\n"), format!("Response:\n{answered}\n"))
    }
}

/// The first hop of a request with digest authentication: its URL has no user, since credentials are sent only once challenged.
fn without_user(request: &mut HttpRequest) -> Option<Box<Hop>> {
    let url = Url::parse(&request.url).ok().filter(|url| url.userinfo.is_some())?;
    if request.name.is_some() && request.name == masked(&request.url) {
        request.name = None;
    }
    let fragment = request.url.split_once('#').map_or("", |(_, fragment)| fragment);
    let url = whole(&Url { userinfo: None, ..url }, fragment);
    let body = request.coded_body.clone().or_else(|| request.body.clone());
    let (method, headers) = (request.method.clone().into_owned(), request.headers().to_vec());
    Some(Box::new(Hop { method, url, masked: None, headers, body }))
}

/// The `Cookie` field of a request to a URL: what stands there already, the request's `own` and the jar's. `None` where there
/// is nothing to add.
fn cookies(
    request: &HttpRequest,
    own: &[OwnCookie],
    url: &str,
    mut line: String,
    plan: &VuPoolPlan,
) -> Option<String> {
    let jar = request.jar.as_ref().map(|jar| jar.borrow()).filter(|jar| !jar.is_empty());
    if own.is_empty() && jar.is_none() {
        return None;
    }
    let before = line.len();
    for cookie in own {
        push_cookie(&mut line, &cookie.name, &cookie.value, false);
    }
    if let Some(jar) = jar
        && let Ok(url) = Url::parse(url)
    {
        for (name, value, quoted) in jar.cookies_for(&url, plan.unix_time()) {
            if !own.iter().any(|cookie| cookie.replaces && cookie.name == name) {
                push_cookie(&mut line, name, value, quoted);
            }
        }
    }
    (line.len() > before).then_some(line)
}

/// The text of a URL, its user and password escaped. RFC 3986, 3.2.1.
fn whole(url: &Url, fragment: &str) -> String {
    let scheme = if url.scheme == Scheme::Https { "https" } else { "http" };
    let mut text = format!("{scheme}://");
    if let Some(userinfo) = &url.userinfo {
        for byte in userinfo.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:".contains(&byte) {
                text.push(char::from(byte));
            } else {
                text.push_str(&format!("%{byte:02X}"));
            }
        }
        text.push('@');
    }
    text.push_str(&url.authority);
    text.push_str(&url.path_and_query);
    if !fragment.is_empty() {
        text.push('#');
        text.push_str(fragment);
    }
    text
}

fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

fn head<'a>(reply: &'a EngineResponse<'_>) -> &'a [u8] {
    reply.head.as_deref().unwrap_or_default()
}
/// The path of a URL, which with and without a slash at its end is the same.
fn path(url: &str) -> &str {
    let after = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = after.split(['?', '#']).next().unwrap_or_default();
    path.find('/').map_or("", |at| path[at..].trim_end_matches('/'))
}
/// Bytes of a location that leads nowhere, as far as its error shows it.
const LOCATION_SHOWN_MAX: usize = 1 << 10;
