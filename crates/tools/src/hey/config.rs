//! `hey`: workers that send one request at a time, so many in all or for so long, each at a rate or as fast as it is answered.

use cli::{FlagError, GlobalFlags, Grammar, Output, parse};
use engine::{Protocol, Redirects};
use session::go_words;
use stdx::Nanos;
use wire::url::{Url, UrlError};
use workload::Load;

use super::flags::{FLAGS, HeyFlags};
use crate::config::{self, Layout, ToolConfig};
use crate::error::ToolError;
use crate::tool::LoadTool;

/// hey.
pub const HEY: LoadTool = LoadTool { name: "hey", parse: tool_config, validate };

/// Reads a command line of hey's.
///
/// # Errors
/// It is wrong, or asks for help.
fn tool_config(args: &[String]) -> Result<ToolConfig, ToolError> {
    let (flags, url) = read(args)?;
    resolve(&flags, &url)
}

/// Checks a command line; no file is read.
///
/// # Errors
/// It is wrong, or asks for help.
fn validate(args: &[String]) -> Result<(), ToolError> {
    let (flags, url) = read(args)?;
    headers(&flags, &url, &flags.method.to_uppercase(), 0).map(drop)
}

/// The flags and the URL.
fn read(args: &[String]) -> Result<(HeyFlags, String), ToolError> {
    let mut flags = HeyFlags::default();
    let parsed = parse(Grammar::VEGETA, FLAGS, args, &mut flags, &mut GlobalFlags::default());
    let parsed = parsed.map_err(|error| match error {
        FlagError::Help => usage(0, ""),
        error => usage(2, &format!("{}\n", error.go())),
    })?;
    let Some(url) = parsed.operands.first() else { return Err(wrong("")) };
    check_flags(&flags)?;
    let url = Url::parse(url).map(|_| url.clone()).or_else(|error| match error {
        // hey sends such requests and counts how they all fail; so do we.
        UrlError::Scheme(_) | UrlError::NoHost => Ok(url.clone()),
        error => {
            let (url, reason) = (stdx::shown_url(url), go_words::url(&error));
            Err(wrong(&format!("parse \"{url}\": {reason}")))
        }
    })?;
    Ok((flags, url))
}

/// Something is wrong: hey says what, then how it is used.
fn wrong(words: &str) -> ToolError {
    let gap = if words.is_empty() { "" } else { "\n\n" };
    let mut refusal = usage(1, &format!("{words}{gap}"));
    refusal.stderr.push('\n');
    refusal
}

fn usage(code: u8, words: &str) -> ToolError {
    let lines = FLAGS.iter().fold(String::new(), |mut lines, flag| {
        let head = format!("-{} {}", flag.row.name, flag.row.kind.help_text());
        lines.push_str(&format!("  {head:<24} {}\n", flag.row.docs));
        lines
    });
    let stderr = format!("{words}Usage: hey [options...] <url>\n\nOptions:\n{}", lines.trim_end());
    ToolError { code, stderr, ..ToolError::default() }
}

/// What cannot be done.
fn check_flags(flags: &HeyFlags) -> Result<(), ToolError> {
    let timed = flags.duration > Nanos::ZERO;
    let words = match (flags.requests, flags.workers) {
        (_, c) if timed && c < 1 => "-c cannot be smaller than 1.",
        (n, c) if !timed && (n < 1 || c < 1) => "-n and -c cannot be smaller than 1.",
        (n, c) if !timed && n < c => "-n cannot be less than -c.",
        _ if !flags.old_headers.is_empty() => "Flag '-h' is deprecated, please use '-H' instead.",
        _ if !matches!(flags.output.as_str(), "" | "csv") => "-o: brunt hey knows csv alone",
        _ if !is_method(&flags.method) => {
            return Err(wrong(&format!("net/http: invalid method \"{}\"", flags.method)));
        }
        _ => return Ok(()),
    };
    Err(wrong(words))
}

/// RFC 9110, 9.1.
fn is_method(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_!#$%&'*+.^`|~".contains(&b))
}

fn resolve(flags: &HeyFlags, url: &str) -> Result<ToolConfig, ToolError> {
    let body = match flags.body_file.as_str() {
        "" => flags.body.clone().into_bytes(),
        path => std::fs::read(path).map_err(|error| ToolError {
            code: 1,
            stderr: format!("open {path}: {}", cli::reason(&error)),
            ..ToolError::default()
        })?,
    };
    let method = flags.method.to_uppercase();
    let headers = headers(flags, url, &method, body.len())?;
    let workers = flags.workers.unsigned_abs();
    let timed = flags.duration > Nanos::ZERO;
    let load = match flags.rate {
        rate if rate > 0.0 => config::open_load(rate * workers as f64, workers),
        _ => Load::Closed { users: workers },
    };
    let threads = flags.cpus.and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0);
    let mut settings = config::settings(threads.unwrap_or_else(config::cores), workers);
    settings.keepalive = !flags.no_keepalive;
    settings.timeout = u64::try_from(flags.timeout_s).ok().filter(|s| *s > 0).map(Nanos::from_secs);
    settings.redirects = if flags.no_redirects { Redirects::Keep } else { Redirects::Follow(10) };
    settings.tls.insecure = true;
    if flags.http2 {
        // Go's client asks by ALPN, and has as many streams as the server allows.
        (settings.protocol, settings.streams) = (Protocol::Alpn, usize::MAX);
    }
    if !flags.proxy.is_empty() {
        let proxy = Some(flags.proxy.clone());
        (settings.proxy.http, settings.proxy.https) = (proxy.clone(), proxy);
    }
    // Each worker sends the same whole number of requests.
    let requests = flags.requests.unsigned_abs() / workers * workers;
    let (duration, requests) = match timed {
        true => (Some(flags.duration), None),
        false => (None, Some(requests)),
    };
    Ok(ToolConfig {
        plan: config::plan(config::target(&method, url, headers, body), load, duration, requests),
        settings,
        grace: None,
        layout: if flags.output == "csv" { Layout::HeyCsv } else { Layout::Hey },
        place: Output::Stdout,
        notes: Vec::new(),
        probe: None,
    })
}

/// The fields that Go's client sends for hey, in its order: `Host`, `User-Agent`, the length, the others by name, what the client
/// adds by itself.
fn headers(
    flags: &HeyFlags,
    url: &str,
    method: &str,
    body: usize,
) -> Result<Vec<(String, String)>, ToolError> {
    let parsed = Url::parse(url).ok();
    let mut given = given(flags, parsed.as_ref())?;
    let agent = agent(flags, given.take("User-Agent"));
    // Go takes the host and the length from the request, not from its header fields.
    given.take("Host");
    given.take("Content-Length");
    let host = match flags.host.as_str() {
        "" => parsed.map_or(String::new(), |url| url.authority),
        host => host.to_owned(),
    };
    let mut fields = vec![("Host".to_owned(), host), ("User-Agent".to_owned(), agent)];
    if body > 0 || matches!(method, "POST" | "PUT" | "PATCH") {
        fields.push(("Content-Length".to_owned(), body.to_string()));
    }
    let added = added(flags, method, &given);
    fields.extend(given.sorted());
    fields.extend(added.map(|(name, value)| (name.to_owned(), value.to_owned())));
    Ok(fields)
}

/// The fields that the line asks for.
fn given(flags: &HeyFlags, url: Option<&Url>) -> Result<Fields, ToolError> {
    let mut given = Fields::default();
    given.set("Content-Type", &flags.content_type);
    for text in &flags.headers {
        let (name, value) = header(text).ok_or_else(|| unreadable(text))?;
        given.set(name, value);
    }
    if !flags.accept.is_empty() {
        given.set("Accept", &flags.accept);
    }
    if let Some(authorization) = authorization(flags, url)? {
        given.set("Authorization", &authorization);
    }
    Ok(given)
}

/// `-U`, or the field given, then hey's own name.
fn agent(flags: &HeyFlags, given: Option<String>) -> String {
    match (flags.user_agent.as_str(), given) {
        ("", None) => AGENT.to_owned(),
        ("", Some(given)) => format!("{given} {AGENT}"),
        (agent, _) => format!("{agent} {AGENT}"),
    }
}

/// What Go's client adds by itself.
fn added(
    flags: &HeyFlags,
    method: &str,
    given: &Fields,
) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
    let asks_gzip = !flags.no_compression
        && !given.has("Accept-Encoding")
        && !given.has("Range")
        && method != "HEAD";
    let closes = flags.no_keepalive && !given.has("Connection");
    let gzip = asks_gzip.then_some(("Accept-Encoding", "gzip"));
    gzip.into_iter().chain(closes.then_some(("Connection", "close")))
}

/// What hey calls itself.
const AGENT: &str = "hey/0.0.1";

/// `-a`, or the URL's user.
fn authorization(flags: &HeyFlags, url: Option<&Url>) -> Result<Option<String>, ToolError> {
    let given = match flags.authorization.as_str() {
        "" => None,
        // hey wants two characters of password at least.
        text => match text.rsplit_once(':') {
            Some((user, password)) if !user.is_empty() && password.len() > 1 => {
                Some(text.to_owned())
            }
            _ => return Err(unreadable(text)),
        },
    };
    let user = given.or_else(|| url?.userinfo.clone());
    Ok(user.map(|user| wire::h1::request::basic_authorization(&user)))
}

fn unreadable(text: &str) -> ToolError {
    wrong(&format!("could not parse the provided input; input = {text}"))
}

/// `Name: value`; the name of letters, digits, `_` and `-`.
fn header(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(':')?;
    let valid = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    let value = value.trim();
    (!name.is_empty() && name.bytes().all(valid) && !value.is_empty()).then_some((name, value))
}

/// Header fields as Go keeps them: one a name, the last one given; names in their canonical spelling.
#[derive(Default)]
struct Fields(std::collections::BTreeMap<String, String>);

impl Fields {
    fn set(&mut self, name: &str, value: &str) {
        self.0.insert(canonical(name), value.to_owned());
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    fn sorted(self) -> impl Iterator<Item = (String, String)> {
        self.0.into_iter()
    }
}

/// `content-type` as `Content-Type`.
fn canonical(name: &str) -> String {
    let part = |part: &str| {
        let (first, rest) = part.split_at(part.len().min(1));
        first.to_ascii_uppercase() + &rest.to_ascii_lowercase()
    };
    name.split('-').map(part).collect::<Vec<_>>().join("-")
}
