//! `Route`: what a request's target asks for. A table of paths; it answers nothing itself.

use stdx::Nanos;

/// What a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// `/` and everything unknown: the plain answer.
    Page,
    /// `/slow?ms=N` (1000): the plain answer, so much later, without keeping a worker.
    Slow(Nanos),
    /// `/status/N`, from 200 to 999.
    Status(u16),
    /// `/bytes/N`: a body of this length.
    Bytes(u64),
    /// `/reset`: a reset in the midst of the body.
    Reset,
    /// `/truncate`: fewer bytes than `Content-Length` says.
    Truncate,
    /// `/garbage`: bytes that are no HTTP.
    Garbage,
    /// `/drip?bytes=N&ms=N` (60, 1000): one byte of the body each `ms`.
    Drip { bytes: u64, each: Nanos },
    /// `/huge-headers`: a head that never ends.
    HugeHeaders,
    /// `/endless`: a chunked body that never ends.
    Endless,
    /// `/bomb`: a MiB that gzip makes a GiB of.
    Bomb,
    /// `/gzip`, `/deflate`, `/br`, `/zstd`: a text in this content coding.
    Coded(Coding),
    /// `/chunked`: a text in several chunks.
    Chunked,
    /// `/trailers`: chunks and a trailer section.
    Trailers,
    /// `/eof`: a body that ends with the connection.
    Eof,
    /// `/1xx`: 103 Early Hints, then the answer.
    EarlyHints,
    /// `/redirect/N`: N redirections, then the answer.
    Redirect(u32),
    /// `/redirect-to?url=U`: one redirection to U.
    RedirectTo(String),
    /// `/echo`: the request as the server saw it.
    Echo,
    /// `/close`: the connection ends without an answer.
    Close,
    /// `/hang`: no answer ever.
    Hang,
    /// `/pid`: the server's process number.
    Pid,
    /// `/stats`: [`crate::Stats`] as JSON.
    Stats,
    /// `/ws-echo`: a WebSocket that sends back what it gets, or with `?close=CODE` closes at once.
    WsEcho(Option<u16>),
    /// `/cable`: Action Cable, where it is asked for.
    Cable,
    /// A path of the table with a malformed number: 400.
    Wrong,
}

/// A content coding of a response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// Whether a request has to wait for a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// It goes through the queue and keeps a worker for a drawn time.
    Queued,
    /// It acts at once.
    AtOnce,
}

impl Route {
    /// What a target, in origin or absolute form, asks for. Routes of the table act at once unless `service=1` is asked.
    pub(crate) fn parse(target: &str) -> (Self, Service) {
        if target == "/" {
            return (Self::Page, Service::Queued);
        }
        let target = origin_form(target);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let route = Self::of_path(path, query);
        let at_once = route != Self::Page && query_value(query, "service") != Some("1");
        (route, if at_once { Service::AtOnce } else { Service::Queued })
    }

    fn of_path(path: &str, query: &str) -> Self {
        let number = |key, default| match query_value(query, key) {
            Some(text) => text.parse::<u32>().ok(),
            None => Some(default),
        };
        let millis = || number("ms", 1000).map(|ms| Nanos::from_millis(ms.into()));
        match path {
            "/slow" => millis().map_or(Self::Wrong, Self::Slow),
            "/drip" => match (number("bytes", 60), millis()) {
                (Some(bytes), Some(each)) => Self::Drip { bytes: bytes.into(), each },
                _ => Self::Wrong,
            },
            "/redirect-to" => redirect_to(query),
            "/ws-echo" => match query_value(query, "close").map(str::parse) {
                None => Self::WsEcho(None),
                Some(Ok(code)) => Self::WsEcho(Some(code)),
                Some(Err(_)) => Self::Wrong,
            },
            _ => Self::of_plain_path(path).or_else(|| of_numbered(path)).unwrap_or(Self::Page),
        }
    }

    fn of_plain_path(path: &str) -> Option<Self> {
        Some(match path {
            "/reset" => Self::Reset,
            "/truncate" => Self::Truncate,
            "/garbage" => Self::Garbage,
            "/huge-headers" => Self::HugeHeaders,
            "/endless" => Self::Endless,
            "/bomb" => Self::Bomb,
            "/gzip" => Self::Coded(Coding::Gzip),
            "/deflate" => Self::Coded(Coding::Deflate),
            "/br" => Self::Coded(Coding::Brotli),
            "/zstd" => Self::Coded(Coding::Zstd),
            "/chunked" => Self::Chunked,
            "/trailers" => Self::Trailers,
            "/eof" => Self::Eof,
            "/1xx" => Self::EarlyHints,
            "/echo" => Self::Echo,
            "/close" => Self::Close,
            "/hang" => Self::Hang,
            "/pid" => Self::Pid,
            "/stats" => Self::Stats,
            "/cable" => Self::Cable,
            _ => return None,
        })
    }
}

/// `http://host/path` is `/path` to a server that is asked as a proxy would be.
fn origin_form(target: &str) -> &str {
    let Some((_, rest)) = target.split_once("://").filter(|_| !target.starts_with('/')) else {
        return target;
    };
    rest.find('/').map_or("/", |at| &rest[at..])
}

fn of_numbered(path: &str) -> Option<Route> {
    let (name, number) = path.strip_prefix('/')?.split_once('/')?;
    let route = match name {
        "status" => number.parse().ok().filter(|n| (200..1000).contains(n)).map(Route::Status),
        "bytes" => number.parse().ok().map(Route::Bytes),
        "redirect" => number.parse().ok().map(Route::Redirect),
        _ => return None,
    };
    Some(route.unwrap_or(Route::Wrong))
}

fn redirect_to(query: &str) -> Route {
    let url = query_value(query, "url").and_then(percent_decoded);
    // A control character in it would end the header line and begin another one.
    match url.filter(|url| !url.is_empty() && !url.contains(char::is_control)) {
        Some(url) => Route::RedirectTo(url),
        None => Route::Wrong,
    }
}

fn query_value<'a>(query: &'a str, key: &str) -> Option<&'a str> {
    let mut pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.find(|pair| pair.0 == key).map(|pair| pair.1)
}

/// The text that `%41`-like escapes stand for; `None` when an escape is broken or the text is not UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |b: Option<u8>| char::from(b?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push((high * 16 + low) as u8);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_routed() {
        let ms = Nanos::from_millis;
        let cases = [
            ("/", Route::Page),
            ("/anything?x=1", Route::Page),
            ("http://host:80/pid", Route::Pid),
            ("http://host", Route::Page),
            ("/slow", Route::Slow(ms(1000))),
            ("/slow?a&ms=25", Route::Slow(ms(25))),
            ("/slow?ms=x", Route::Wrong),
            ("/drip?bytes=3&ms=10", Route::Drip { bytes: 3, each: ms(10) }),
            ("/status/503", Route::Status(503)),
            ("/status/101", Route::Wrong),
            ("/bytes/123", Route::Bytes(123)),
            ("/bytes/-1", Route::Wrong),
            ("/redirect/2", Route::Redirect(2)),
            ("/redirect-to?url=http%3A%2f/h/", Route::RedirectTo("http://h/".into())),
            ("/redirect-to?url=a%0d%0ab", Route::Wrong),
            ("/redirect-to?url=%zz", Route::Wrong),
            ("/redirect-to", Route::Wrong),
            ("/br", Route::Coded(Coding::Brotli)),
            ("/ws-echo?close=4000", Route::WsEcho(Some(4000))),
            ("/ws-echo?close=x", Route::Wrong),
            ("/cable", Route::Cable),
        ];
        for (target, route) in cases {
            assert_eq!(Route::parse(target).0, route, "{target}");
        }
    }

    #[test]
    fn only_the_plain_answer_is_queued_unless_asked() {
        for (target, service) in [
            ("/", Service::Queued),
            ("/x", Service::Queued),
            ("/pid", Service::AtOnce),
            ("/pid?service=1", Service::Queued),
            ("/slow?ms=1&service=0", Service::AtOnce),
        ] {
            assert_eq!(Route::parse(target).1, service, "{target}");
        }
    }
}
