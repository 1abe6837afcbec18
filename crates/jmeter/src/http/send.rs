//! A request on the wire: the header as JMeter writes it, and the result that it begins.

use std::rc::Rc;

use jmx::Class;
use stdx::{Nanos, names_secret_field};
use users::{Auth, HttpRequest};
use wire::url::Url;

use super::auth::{Credentials, credentials, with_user};
use super::body::Body;
use super::field::{one_line, value};
use super::headers::{JAVA_USER_AGENT, USER_AGENT, managed};
use super::spec::{HttpSpec, SpecError, illegal};
use crate::plan::node::{Part, SamplerNode};
use crate::plan::property::text;
use crate::results::sample::SampleResult;
use crate::thread::scope::Thread;

/// One request: the page itself, a redirect, or a resource.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) body: Option<Body>,
    /// A server named the address, by a redirect or a page, and it is not of the sampler's scheme, host and port.
    pub(crate) is_away: bool,
}

/// A request that is ready, and the result that it begins.
pub(crate) struct ReadyRequest {
    pub(crate) request: Box<HttpRequest>,
    pub(crate) sample: SampleResult,
    pub(crate) at: Nanos,
}

/// Makes a request ready.
pub(crate) fn request(
    node: &SamplerNode,
    spec: &HttpSpec,
    ask: &Ask,
    thread: &mut Thread,
) -> Result<ReadyRequest, SpecError> {
    // Java's own client makes no `java.net.URI` of an address, and sends it as it is.
    if let Some(error) = illegal(&ask.url).filter(|_| !spec.is_java) {
        return Err(error);
    }
    let url = Url::parse(&ask.url).map_err(|error| SpecError {
        class: "java.net.URISyntaxException",
        message: format!("{error}: {}", ask.url),
        url: ask.url.clone(),
    })?;
    let fields = fields_of(node, ask, thread);
    let closes =
        value(&fields, "Connection").is_some_and(|word| word.eq_ignore_ascii_case("close"));
    let cookies = cookies(node, &url, &fields, thread);
    // A field of the plan's own goes before what a manager says.
    let has_own = value(&fields, "Authorization").is_some();
    let credentials = match ask.is_away || has_own {
        true => None,
        false => credentials(node, &ask.url, thread),
    };
    let fields = HeadFields { spec, ask, url: &url, given: fields }.fields(
        &conditions(node, &ask.url, thread),
        cookies.as_deref(),
        credentials.as_ref(),
    );
    if let Some(thrown) = thread.thrown.take() {
        return Err(SpecError::of(thrown, &ask.url));
    }
    let sample = begin(ask, &fields, cookies.unwrap_or_default(), thread);
    let mut request = HttpRequest::new(wire_url(spec, &ask.url, credentials.as_ref()), "".into());
    if let Some(Credentials::Digest(..)) = credentials {
        request.auth = Auth::Digest;
    }
    request.method = ask.method.clone().into();
    request.headers = fields;
    request.body = ask.body.as_ref().map(|body| body.bytes.as_slice().into());
    request.timeout = Some(timeout(spec, thread));
    request.redirects = Some(0);
    request.is_led_away = ask.is_away;
    request.name = Some(thread.sampler.clone());
    request.fresh_connection = std::mem::replace(&mut thread.is_new_user, closes);
    Ok(ReadyRequest { request: Box::new(request), sample, at: thread.host.now() })
}

/// The managers' fields. Credentials among them are for the server that the plan names, and for no other that it leads to.
fn fields_of(node: &SamplerNode, ask: &Ask, thread: &mut Thread) -> Vec<(String, String)> {
    let mut fields = managed(node, thread);
    fields.retain(|(name, _)| !(ask.is_away && names_secret_field(name)));
    fields
}

/// Without a limit of the sampler there is none. One for connecting alone is none: a request here has one limit for all of it.
fn timeout(spec: &HttpSpec, thread: &Thread) -> Nanos {
    let connect = spec.connect_ms.unwrap_or(0);
    let own = spec.response_ms.map(|response| response.saturating_add(connect));
    own.into_iter().chain(thread.sample_timeout_ms).min().map_or(Nanos::MAX, Nanos::from_millis)
}

/// The address as it is asked for: JMeter's client makes one slash of several in its path; Java's only of those at its beginning.
fn wire_url(spec: &HttpSpec, text: &str, credentials: Option<&Credentials>) -> Rc<str> {
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at(end);
    let (path, query) = target.split_at(target.find(['?', '#']).unwrap_or(target.len()));
    let path = match (spec.is_java, path.starts_with("//")) {
        (false, _) => with_single_slashes(path),
        (true, true) => format!("/{}", path.trim_start_matches('/')),
        (true, false) => path.to_owned(),
    };
    let plain = format!("{scheme}://{authority}{path}{query}");
    match credentials {
        Some(Credentials::Digest(user, password)) => with_user(&plain, user, password).into(),
        _ => plain.into(),
    }
}

fn with_single_slashes(path: &str) -> String {
    let mut before = ' ';
    path.chars()
        .filter(|letter| {
            let is_more = before == '/' && *letter == '/';
            before = *letter;
            !is_more
        })
        .collect()
}

struct HeadFields<'a> {
    spec: &'a HttpSpec,
    ask: &'a Ask,
    url: &'a Url,
    given: Vec<(String, String)>,
}

impl HeadFields<'_> {
    /// The fields in the order in which JMeter's client writes them.
    fn fields(
        self,
        conditions: &[(String, String)],
        cookies: Option<&str>,
        credentials: Option<&Credentials>,
    ) -> Vec<(String, String)> {
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut push = |name: &str, value: &str| fields.push((name.to_owned(), one_line(value)));
        push("Connection", if self.spec.keeps_alive { "keep-alive" } else { "close" });
        for (name, value) in &self.given {
            let is_ours = ["Content-Length", "Host", "User-Agent", "Cookie", "Content-Type"];
            if !is_ours.iter().any(|ours| ours.eq_ignore_ascii_case(name)) {
                push(name, value);
            }
        }
        conditions.iter().for_each(|(name, value)| push(name, value));
        cookies.into_iter().for_each(|cookies| push("Cookie", cookies));
        if let Some(Credentials::Basic(basic)) = credentials {
            push("Authorization", basic);
        }
        if let Some(length) = self.length() {
            push("Content-Length", &length.to_string());
        }
        if let Some(content_type) = self.content_type() {
            push("Content-Type", &content_type);
        }
        push("Host", &self.host());
        let agent = if self.spec.is_java { JAVA_USER_AGENT } else { USER_AGENT };
        push("User-Agent", value(&self.given, "User-Agent").unwrap_or(agent));
        if self.spec.is_java && value(&self.given, "Accept").is_none() {
            push("Accept", "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2");
        }
        fields
    }

    fn length(&self) -> Option<usize> {
        self.ask.body.as_ref().map(|body| body.bytes.len())
    }

    fn content_type(&self) -> Option<String> {
        let given = value(&self.given, "Content-Type").map(str::to_owned);
        match &self.ask.body {
            Some(body) if body.is_multipart => body.content_type.clone(),
            Some(body) => given.or_else(|| body.content_type.clone()),
            None => given,
        }
    }

    /// A host that a header names gets the address's port.
    fn host(&self) -> String {
        let Some(given) = value(&self.given, "Host") else { return self.url.authority.clone() };
        if given.contains(':') || self.url.port == self.url.scheme.default_port() {
            return given.to_owned();
        }
        format!("{given}:{}", self.url.port)
    }
}

/// The cookie manager in a sampler's scope; none where its policy is to ignore cookies.
pub(super) fn cookie_manager<'n>(node: &'n SamplerNode, thread: &mut Thread) -> Option<&'n Part> {
    let manager = node.configs_of(Class::CookieManager).next()?;
    let policy = text(&manager.element.properties, "CookieManager.policy", thread);
    (policy.trim() != "ignoreCookies").then_some(manager)
}

/// The cookies for an address: the manager's, or those that a header gives where it has none.
fn cookies(
    node: &SamplerNode,
    url: &Url,
    fields: &[(String, String)],
    thread: &mut Thread,
) -> Option<String> {
    let given = value(fields, "Cookie").map(str::to_owned);
    let Some(manager) = cookie_manager(node, thread) else { return given };
    let now_s = thread.unix_s();
    thread.cookie_store(manager).field(url, now_s).or(given)
}

/// The conditions under which an answer that was seen is wanted again.
fn conditions(node: &SamplerNode, url: &str, thread: &mut Thread) -> Vec<(String, String)> {
    let Some(manager) = node.configs_of(Class::CacheManager).next() else { return Vec::new() };
    let Some(entry) = thread.cache_store(manager).get(url) else { return Vec::new() };
    let field =
        |name: &str, value: &Option<String>| value.clone().map(|value| (name.to_owned(), value));
    let since = field("If-Modified-Since", &entry.last_modified);
    since.into_iter().chain(field("If-None-Match", &entry.etag)).collect()
}

fn begin(ask: &Ask, fields: &[(String, String)], cookies: String, thread: &Thread) -> SampleResult {
    let shown = fields.iter().filter(|(name, _)| name != "Cookie");
    let request_headers: String = shown.map(|(name, value)| format!("{name}: {value}\n")).collect();
    let head: usize = fields.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    let path = ask.url.splitn(4, '/').nth(3).map_or(1, |path| path.len() + 1);
    let body = ask.body.as_ref().map_or(0, |body| body.bytes.len());
    let query = match &ask.body {
        Some(body) => {
            body.shown.clone().unwrap_or_else(|| String::from_utf8_lossy(&body.bytes).into_owned())
        }
        None => ask.url.split_once('?').map_or_else(String::new, |(_, query)| query.to_owned()),
    };
    SampleResult {
        start_ms: thread.unix_ms_now(),
        url: ask.url.clone(),
        method: ask.method.clone(),
        sent_bytes: (ask.method.len() + path + 12 + head + 2 + body) as u64,
        request_headers,
        query,
        cookies,
        ..SampleResult::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_of_a_path_are_one() {
        let asked = |is_java: bool, url: &str| {
            wire_url(&HttpSpec { is_java, ..HttpSpec::default() }, url, None).to_string()
        };
        for (url, expect) in [
            ("http://h/u//v", "http://h/u/v"),
            ("http://h//a///b//?c=//d", "http://h/a/b/?c=//d"),
            ("http://h?c=//d", "http://h?c=//d"),
        ] {
            assert_eq!(asked(false, url), expect);
        }
        assert_eq!(asked(true, "http://h//u//v"), "http://h/u//v");
    }
}
