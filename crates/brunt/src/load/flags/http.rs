//! How requests are carried: the limits of an exchange, the version of HTTP, and whether connections are kept alive.

use cli::{Flag, ValueKind, value};
use stdx::Nanos;

/// The word of `-redirects` for no other host.
const SAME_HOST: &str = "same-host";

/// The flags that say how requests are carried.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HttpFlags {
    /// The limit of a whole exchange; 0 is no limit.
    pub(crate) timeout: Nanos,
    /// The most redirects that are followed; -1 takes a redirect as the response.
    pub(crate) redirects: i64,
    /// Redirects to another host are the response.
    pub(crate) stays_at_host: bool,
    /// Whether connections are kept alive.
    pub(crate) keepalive: bool,
    /// Whether HTTP/2 is offered over TLS.
    pub(crate) http2: bool,
    /// Whether HTTP/2 is spoken without TLS.
    pub(crate) h2c: bool,
    /// The most streams on one HTTP/2 connection; `None` where the flag is not given.
    pub(crate) streams: Option<u64>,
}

impl Default for HttpFlags {
    fn default() -> Self {
        Self {
            timeout: Nanos::from_secs(30),
            redirects: 10,
            stays_at_host: false,
            keepalive: true,
            http2: true,
            h2c: false,
            streams: None,
        }
    }
}

/// The rows on the limits of an exchange.
pub(crate) const fn limits<T: AsMut<HttpFlags>>() -> [Flag<T>; 2] {
    [timeout(), redirects()]
}

/// The rows on the version of HTTP.
pub(crate) const fn versions<T: AsMut<HttpFlags>>() -> [Flag<T>; 2] {
    [http2(), h2c()]
}

row!(
    HttpFlags,
    timeout,
    "timeout",
    ValueKind::Duration,
    "30s",
    "Time limit of a request, with its wait for a connection, its redirects and body; 0: none.",
    |values, text| value::duration(text).map(|limit| values.timeout = limit)
);
row!(
    HttpFlags,
    redirects,
    "redirects",
    ValueKind::Text("N"),
    "10",
    "Redirects to follow; with -1 a redirect is the response, with same-host one to another host is.",
    |values, text| {
        values.stays_at_host = text == SAME_HOST;
        let number = if values.stays_at_host { "10" } else { text };
        value::number_or_minus_one(number).map(|n| values.redirects = n)
    }
);
row!(
    HttpFlags,
    keepalive,
    "keepalive",
    ValueKind::Switch,
    "true",
    "Keep connections alive.",
    |values, text| value::switch(text).map(|on| values.keepalive = on)
);
row!(
    HttpFlags,
    http2,
    "http2",
    ValueKind::Switch,
    "true",
    "Offer HTTP/2 over TLS; =false: HTTP/1.1 only.",
    |values, text| value::switch(text).map(|on| values.http2 = on)
);
row!(
    HttpFlags,
    h2c,
    "h2c",
    ValueKind::Switch,
    "",
    "Speak HTTP/2 without TLS (prior knowledge).",
    |values, text| value::switch(text).map(|on| values.h2c = on)
);
row!(
    HttpFlags,
    streams,
    "m",
    ValueKind::Text("N"),
    "",
    "Maximum number of streams on one HTTP/2 connection; by default as many as the server allows.",
    |values, text| value::count(text).map(|n| values.streams = Some(n));
    .native()
    .also(&["streams"])
);
