//! The options of `oha`. The table has those without effect here as well: they are refused with another text than a mistyped
//! option.

use cli::{Flag, ValueError, ValueKind, switch, text, value};
use stdx::Nanos;

/// The options as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OhaFlags {
    pub(crate) requests: u64,
    pub(crate) connections: u64,
    pub(crate) duration: Option<Nanos>,
    pub(crate) wait: bool,
    pub(crate) rate: Option<f64>,
    pub(crate) method: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) proxy_headers: Vec<(String, String)>,
    pub(crate) timeout: Option<Nanos>,
    pub(crate) accept: Option<String>,
    pub(crate) body: Option<String>,
    pub(crate) body_file: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) authorization: Option<String>,
    pub(crate) proxy: Option<String>,
    pub(crate) host: Option<String>,
    pub(crate) redirects: u32,
    pub(crate) no_compression: bool,
    pub(crate) no_keepalive: bool,
    pub(crate) http2: bool,
    pub(crate) streams: u64,
    pub(crate) insecure: bool,
    pub(crate) root_certs: Vec<String>,
    pub(crate) cert: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) connect_to: Vec<(String, String)>,
    pub(crate) unix_socket: Option<String>,
    pub(crate) format: String,
    pub(crate) output: Option<String>,
    pub(crate) version: bool,
    pub(crate) help: bool,
    /// The first option given that nothing here can do.
    pub(crate) refused: Option<&'static str>,
}

impl Default for OhaFlags {
    fn default() -> Self {
        Self {
            requests: 200,
            connections: 50,
            duration: None,
            wait: false,
            rate: None,
            method: None,
            headers: Vec::new(),
            proxy_headers: Vec::new(),
            timeout: None,
            accept: None,
            body: None,
            body_file: None,
            content_type: None,
            authorization: None,
            proxy: None,
            host: None,
            redirects: 10,
            no_compression: false,
            no_keepalive: false,
            http2: false,
            streams: 1,
            insecure: false,
            root_certs: Vec::new(),
            cert: None,
            key: None,
            connect_to: Vec::new(),
            unix_socket: None,
            format: "text".to_owned(),
            output: None,
            version: false,
            help: false,
            refused: None,
        }
    }
}

type Oha = OhaFlags;

/// An option that changes nothing here.
macro_rules! idle {
    ($name:literal, $aliases:expr, $kind:expr) => {
        Flag::new($name, $kind, "", "accepted, no effect", |_: &mut Oha, _| Ok(())).also($aliases)
    };
}

/// An option that cannot be done here.
macro_rules! refused {
    ($name:literal, $aliases:expr, $kind:expr) => {
        Flag::new($name, $kind, "", "not done here", |t: &mut Oha, _| {
            t.refused.get_or_insert($name);
            Ok(())
        })
        .also($aliases)
    };
}

/// The options.
pub(crate) const FLAGS: &[Flag<Oha>] = &[
    Flag::new(
        "n",
        ValueKind::Text("N"),
        "200",
        "requests in all (200, 3k, 1m)",
        |t: &mut Oha, v| count(v).map(|n| t.requests = n),
    ),
    Flag::new(
        "c",
        ValueKind::Text("N"),
        "50",
        "connections, each with one request at a time",
        |t: &mut Oha, v| value::count(v).map(|n| t.connections = n),
    ),
    Flag::new("z", ValueKind::Duration, "", "how long to send, instead of -n", |t: &mut Oha, v| {
        value::duration(v).map(|d| t.duration = Some(d))
    }),
    switch!(Oha, "wait-ongoing-requests-after-deadline", "with -z, wait for those under way", wait)
        .also(&["w"]),
    Flag::new("q", ValueKind::Text("RATE"), "", "requests a second in all", |t: &mut Oha, v| {
        let rate = v.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
        t.rate = Some(rate.ok_or_else(|| ValueError::new(format!("\"{v}\" is not a rate")))?);
        Ok(())
    }),
    idle!("latency-correction", &[], ValueKind::Switch),
    text!(Oha, "method", "METHOD", "method, GET unless given", method).also(&["m"]),
    Flag::new(
        "H",
        ValueKind::Text("'NAME: VALUE'"),
        "",
        "header field; repeat for more",
        |t: &mut Oha, v| value::header(v).map(|field| t.headers.push(field)),
    ),
    Flag::new(
        "proxy-header",
        ValueKind::Text("'NAME: VALUE'"),
        "",
        "header field for the proxy",
        |t: &mut Oha, v| value::header(v).map(|field| t.proxy_headers.push(field)),
    ),
    Flag::new(
        "t",
        ValueKind::Duration,
        "",
        "limit of a request; none unless given",
        |t: &mut Oha, v| value::duration(v).map(|d| t.timeout = Some(d)),
    ),
    text!(Oha, "A", "TYPE", "Accept field", accept),
    text!(Oha, "d", "BODY", "body", body),
    text!(Oha, "D", "FILE", "file with the body", body_file),
    text!(Oha, "T", "TYPE", "Content-Type field", content_type),
    text!(Oha, "a", "USER:PASSWORD", "basic authentication", authorization),
    text!(Oha, "x", "URL", "proxy", proxy),
    text!(Oha, "host", "HOST", "Host field", host),
    Flag::new(
        "redirect",
        ValueKind::Text("N"),
        "10",
        "redirects to follow; 0 takes one as the answer",
        |t: &mut Oha, v| {
            let parsed =
                v.parse().map_err(|_| ValueError::new(format!("\"{v}\" is not a whole number")));
            parsed.map(|n| t.redirects = n)
        },
    )
    .also(&["r"]),
    switch!(Oha, "disable-compression", "do not ask for compression", no_compression),
    switch!(Oha, "disable-keepalive", "a connection for each request", no_keepalive),
    switch!(Oha, "insecure", "do not verify the server's certificate", insecure),
    Flag::new("cacert", ValueKind::Path, "", "PEM certificates to trust", |t: &mut Oha, v| {
        t.root_certs.push(v.to_owned());
        Ok(())
    }),
    text!(Oha, "cert", "FILE", "PEM client certificate", cert),
    text!(Oha, "key", "FILE", "PEM private key", key),
    Flag::new(
        "connect-to",
        ValueKind::Text("FROM:PORT:TO:PORT"),
        "",
        "connect elsewhere",
        |t: &mut Oha, v| value::connect_to(v).map(|pair| t.connect_to.push(pair)),
    ),
    text!(Oha, "unix-socket", "FILE", "connect to this socket", unix_socket),
    Flag::new(
        "output-format",
        ValueKind::Choice(FORMATS),
        "text",
        "brunt's report, as text or JSON, or none",
        |t: &mut Oha, v| value::word(v, FORMATS).map(|word| t.format = word),
    ),
    Flag::new(
        "json",
        ValueKind::Switch,
        "",
        "the same as --output-format json",
        |t: &mut Oha, _| {
            "json".clone_into(&mut t.format);
            Ok(())
        },
    )
    .also(&["j"]),
    text!(Oha, "output", "FILE", "file for the report", output).also(&["o"]),
    switch!(Oha, "http2", "HTTP/2; over plain TCP without asking", http2),
    Flag::new(
        "p",
        ValueKind::Text("N"),
        "1",
        "with HTTP/2, streams of each connection",
        |t: &mut Oha, v| value::count(v).map(|n| t.streams = n),
    ),
    Flag::new(
        "http-version",
        ValueKind::Choice(VERSIONS),
        "1.1",
        "version of HTTP",
        |t: &mut Oha, v| value::word(v, VERSIONS).map(|word| t.http2 = word == "2"),
    ),
    idle!("no-tui", &[], ValueKind::Switch),
    idle!("fps", &[], ValueKind::Text("N")),
    idle!("no-color", &[], ValueKind::Switch),
    idle!("no-pre-lookup", &[], ValueKind::Switch),
    idle!("stats-success-breakdown", &[], ValueKind::Switch),
    idle!("time-unit", &["u"], ValueKind::Text("UNIT")),
    refused!("burst-delay", &[], ValueKind::Text("T")),
    refused!("burst-rate", &[], ValueKind::Text("N")),
    refused!("rand-regex-url", &[], ValueKind::Switch),
    refused!("urls-from-file", &[], ValueKind::Switch),
    refused!("max-repeat", &[], ValueKind::Text("N")),
    refused!("dump-urls", &[], ValueKind::Text("N")),
    refused!("Z", &[], ValueKind::Path),
    refused!("form", &["F"], ValueKind::Text("FIELD")),
    refused!("proxy-http-version", &[], ValueKind::Text("V")),
    refused!("proxy-http2", &[], ValueKind::Switch),
    refused!("connect-timeout", &[], ValueKind::Duration),
    refused!("ipv4", &[], ValueKind::Switch),
    refused!("ipv6", &[], ValueKind::Switch),
    refused!("aws-session", &[], ValueKind::Text("TOKEN")),
    refused!("aws-sigv4", &[], ValueKind::Text("PARAMS")),
    refused!("vsock-addr", &[], ValueKind::Text("ADDR")),
    refused!("db-url", &[], ValueKind::Path),
    refused!("debug", &[], ValueKind::Switch),
    switch!(Oha, "version", "print the version", version).also(&["V"]),
    switch!(Oha, "help", "print this", help).also(&["h"]),
];

/// The versions of HTTP spoken.
const VERSIONS: &[&str] = &["1.1", "2"];

/// What the report can be.
const FORMATS: &[&str] = &["text", "json", "quiet"];

/// A number from 1, with k or m.
fn count(text: &str) -> Result<u64, ValueError> {
    let (digits, scale) = match text.to_ascii_lowercase().as_bytes() {
        [.., b'k'] => (&text[..text.len() - 1], 1000),
        [.., b'm'] => (&text[..text.len() - 1], 1_000_000),
        _ => (text, 1),
    };
    value::count(digits).map(|n| n.saturating_mul(scale)).map_err(|_| {
        ValueError::new(format!(
            "\"{text}\" is not a whole number (expected 1 or more, k and m allowed)"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_units() {
        for (text, n) in [("200", 200), ("3k", 3000), ("1M", 1_000_000)] {
            assert_eq!(count(text), Ok(n), "{text}");
        }
        for text in ["", "0", "k", "-1", "1g"] {
            assert!(count(text).is_err(), "{text}");
        }
    }
}
