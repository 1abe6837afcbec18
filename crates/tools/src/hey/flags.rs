//! The flags of `hey`.

use cli::{Flag, ValueError, ValueKind, switch, text, value};
use stdx::Nanos;

/// The flags as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HeyFlags {
    pub(crate) requests: i64,
    pub(crate) workers: i64,
    pub(crate) rate: f64,
    pub(crate) duration: Nanos,
    pub(crate) output: String,
    pub(crate) method: String,
    pub(crate) headers: Vec<String>,
    pub(crate) old_headers: String,
    pub(crate) timeout_s: i64,
    pub(crate) accept: String,
    pub(crate) body: String,
    pub(crate) body_file: String,
    pub(crate) content_type: String,
    pub(crate) user_agent: String,
    pub(crate) authorization: String,
    pub(crate) proxy: String,
    pub(crate) http2: bool,
    pub(crate) host: String,
    pub(crate) no_compression: bool,
    pub(crate) no_keepalive: bool,
    pub(crate) no_redirects: bool,
    pub(crate) cpus: Option<i64>,
}

impl Default for HeyFlags {
    fn default() -> Self {
        Self {
            requests: 200,
            workers: 50,
            rate: 0.0,
            duration: Nanos::ZERO,
            output: String::new(),
            method: "GET".to_owned(),
            headers: Vec::new(),
            old_headers: String::new(),
            timeout_s: 20,
            accept: String::new(),
            body: String::new(),
            body_file: String::new(),
            content_type: "text/html".to_owned(),
            user_agent: String::new(),
            authorization: String::new(),
            proxy: String::new(),
            http2: false,
            host: String::new(),
            no_compression: false,
            no_keepalive: false,
            no_redirects: false,
            cpus: None,
        }
    }
}

type Hey = HeyFlags;

/// The flags.
pub(crate) const FLAGS: &[Flag<Hey>] = &[
    Flag::new(
        "n",
        ValueKind::Text("N"),
        "200",
        "requests in all, cut to a multiple of -c",
        |t: &mut Hey, v| integer(v).map(|n| t.requests = n),
    ),
    Flag::new(
        "c",
        ValueKind::Text("N"),
        "50",
        "workers, each with one request at a time",
        |t: &mut Hey, v| integer(v).map(|n| t.workers = n),
    ),
    Flag::new(
        "q",
        ValueKind::Text("RATE"),
        "",
        "requests a second of each worker",
        |t: &mut Hey, v| {
            let rate = v.parse().ok().filter(|rate: &f64| rate.is_finite());
            rate.map(|rate| t.rate = rate).ok_or_else(parse_error)
        },
    ),
    Flag::new("z", ValueKind::Duration, "", "how long to send, instead of -n", |t: &mut Hey, v| {
        value::duration(v).map(|d| t.duration = d)
    }),
    text!(Hey, "o", "csv", "a row for each request instead of the report", output),
    text!(Hey, "m", "METHOD", "method, GET unless given", method),
    Flag::new(
        "H",
        ValueKind::Text("'NAME: VALUE'"),
        "",
        "header field; repeat for more",
        |t: &mut Hey, v| {
            t.headers.push(v.to_owned());
            Ok(())
        },
    ),
    text!(Hey, "h", "HEADERS", "given up by hey; use -H", old_headers),
    Flag::new(
        "t",
        ValueKind::Text("SECONDS"),
        "20",
        "limit of a request; 0 is none",
        |t: &mut Hey, v| integer(v).map(|n| t.timeout_s = n),
    ),
    text!(Hey, "A", "TYPE", "Accept field", accept),
    text!(Hey, "d", "BODY", "body", body),
    text!(Hey, "D", "FILE", "file with the body", body_file),
    text!(Hey, "T", "TYPE", "Content-Type field, text/html unless given", content_type),
    text!(Hey, "U", "AGENT", "what User-Agent begins with", user_agent),
    text!(Hey, "a", "USER:PASSWORD", "basic authentication", authorization),
    text!(Hey, "x", "URL", "proxy", proxy),
    switch!(Hey, "h2", "HTTP/2 over TLS where the server takes it", http2),
    text!(Hey, "host", "HOST", "Host field", host),
    switch!(Hey, "disable-compression", "do not ask for gzip", no_compression),
    switch!(Hey, "disable-keepalive", "a connection for each request", no_keepalive),
    switch!(Hey, "disable-redirects", "take a redirect as the answer", no_redirects),
    Flag::new("cpus", ValueKind::Text("N"), "all", "cores to use", |t: &mut Hey, v| {
        integer(v).map(|n| t.cpus = Some(n))
    }),
];

fn parse_error() -> ValueError {
    ValueError::with_go("not a number", "parse error")
}

fn integer(text: &str) -> Result<i64, ValueError> {
    text.parse().map_err(|_| parse_error())
}
