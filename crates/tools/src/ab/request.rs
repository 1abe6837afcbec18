//! The request that ab sends, byte for byte.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use cli::system_text;
use wire::h1::request::basic_authorization;

use super::address::Address;
use super::error::AbError;
use super::flags::{AbFlags, Method};

/// A request as it goes over the wire.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// The head, up to and with its empty line.
    pub(super) head: String,
    /// `None` where none is sent, which is not the same as an empty one.
    pub(super) body: Option<Arc<[u8]>>,
}

impl Request {
    /// The request that the flags ask for.
    pub(super) fn new(flags: &AbFlags, address: &Address) -> Result<Self, AbError> {
        let body = flags.body.as_deref().map(read_body).transpose()?;
        let method = match &flags.method {
            Method::Unset => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Custom(method) => method,
        };
        let head = head(flags, address, method, body.as_deref().map(<[u8]>::len));
        Ok(Self { method: method.to_owned(), head, body })
    }

    /// Its bytes in all.
    pub(super) fn len(&self) -> u64 {
        (self.head.len() + self.body.as_ref().map_or(0, |body| body.len())) as u64
    }
}

/// The field that `-P` fills.
pub(super) const PROXY_CREDENTIALS: &str = "Proxy-Authorization";

/// Lines in ab's order and spelling. What `-H` says of `Host`, `User-Agent` and `Accept` takes the place of ab's own lines.
fn head(flags: &AbFlags, address: &Address, method: &str, body_len: Option<usize>) -> String {
    let proxied = flags.proxy.is_some() && !address.secure;
    let target = if proxied { &address.typed } else { &address.path };
    let mut head = format!("{method} {target} HTTP/1.0\r\n");
    if flags.keep_alive {
        head.push_str("Connection: Keep-Alive\r\n");
    }
    if let Some(cookie) = &flags.cookie {
        head.push_str(&format!("Cookie: {cookie}\r\n"));
    }
    let tunnelled = flags.proxy.is_some() && address.secure;
    let own = |(name, _): &&(&str, String)| !tunnelled || *name != PROXY_CREDENTIALS;
    for (name, userinfo) in flags.credentials.iter().filter(own) {
        head.push_str(&format!("{name}: {}\r\n", basic_authorization(userinfo)));
    }
    if let Some(len) = body_len {
        let kind = &flags.content_type;
        head.push_str(&format!("Content-length: {len}\r\nContent-type: {kind}\r\n"));
    }
    for line in &flags.headers {
        head.push_str(&format!("{line}\r\n"));
    }
    let own = [
        ("Host:", address.host_field()),
        ("User-Agent:", "ApacheBench/2.3".to_owned()),
        ("Accept:", "*/*".to_owned()),
    ];
    for (name, value) in own.iter().filter(|(name, _)| !flags.headers.iter().any(begins(name))) {
        head.push_str(&format!("{name} {value}\r\n"));
    }
    head.push_str("\r\n");
    head
}

/// Whether a line begins with this, in any spelling.
fn begins(name: &str) -> impl Fn(&String) -> bool {
    move |line| line.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name))
}

/// The largest body that is read: 1 GiB.
const BODY_MAX: u64 = 1 << 30;

/// Reads the body's file; ab's words where that fails, which call it POST's whatever the method.
fn read_body(path: &str) -> Result<Arc<[u8]>, AbError> {
    let file = File::open(path).map_err(|error| {
        let text = system_text(&error);
        AbError::wrong(format!("ab: Could not open POST data file ({path}): {text}"))
    })?;
    let mut body = Vec::new();
    let read = file.take(BODY_MAX + 1).read_to_end(&mut body);
    let could_not =
        |text: &str| AbError::wrong(format!("ab: Could not read POST data file: {text}"));
    read.map_err(|error| could_not(&system_text(&error)))?;
    if body.len() as u64 > BODY_MAX {
        return Err(could_not("it is larger than 1 GiB"));
    }
    Ok(body.into())
}

#[cfg(test)]
mod tests {
    use cli::getopt;

    use super::*;
    use crate::ab::flags as ab;

    /// The head of a command line, its line ends as `|`.
    fn head_of(line: &str) -> String {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut flags = AbFlags::default();
        let read = getopt::parse(ab::FLAGS, &args, &mut flags).expect("no setter refuses");
        let address = Address::parse(&read.operands[0]).expect("a URL");
        let request = Request::new(&flags, &address).expect("a request");
        request.head.replace("\r\n", "|")
    }

    const TAIL: &str = "Host: h|User-Agent: ApacheBench/2.3|Accept: */*||";

    #[test]
    fn lines_stand_in_abs_order() {
        let cases = [
            ("http://h/", format!("GET / HTTP/1.0|{TAIL}")),
            ("-i http://h/a#b", format!("HEAD /a#b HTTP/1.0|{TAIL}")),
            ("-m G.T h/", format!("G.T / HTTP/1.0|{TAIL}")),
            (
                "-C c=1 -C d=2 -P a:b -k -A c:d -p /dev/null -H X:y h/",
                format!(
                    "POST / HTTP/1.0|Connection: Keep-Alive|Cookie: d=2|Proxy-Authorization: Basic YTpi|\
                     Authorization: Basic Yzpk|Content-length: 0|Content-type: text/plain|X:y|{TAIL}"
                ),
            ),
            ("-X p:1 http://h:80/x", format!("GET http://h:80/x HTTP/1.0|{TAIL}")),
            ("-X p:1 https://h/x", format!("GET /x HTTP/1.0|{TAIL}")),
            (
                "-X p:1 -P a:b http://h/x",
                format!("GET http://h/x HTTP/1.0|Proxy-Authorization: Basic YTpi|{TAIL}"),
            ),
            // regression: issue 41. The proxy's CONNECT has it, and the server is not to.
            (
                "-X p:1 -P a:b -A c:d https://h/x",
                format!("GET /x HTTP/1.0|Authorization: Basic Yzpk|{TAIL}"),
            ),
        ];
        for (line, expect) in cases {
            assert_eq!(head_of(line), expect, "{line}");
        }
    }

    #[test]
    fn what_is_given_takes_the_place_of_abs_own() {
        let given = "-H host:l -H USER-AGENT:l -H accept:l h/";
        assert_eq!(head_of(given), "GET / HTTP/1.0|host:l|USER-AGENT:l|accept:l||");
        assert_eq!(head_of("-H Hostess:x h/"), format!("GET / HTTP/1.0|Hostess:x|{TAIL}"));
        assert_eq!(head_of("-H é h/"), format!("GET / HTTP/1.0|é|{TAIL}"));
    }
}
