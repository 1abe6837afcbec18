//! `perfer`: so many connections with up to so many requests unanswered on each, or a metered rate; of 1.5, or of the 1.2 and 1.3
//! before it, where `-p` and `-c` mean something else.

use std::io;
use std::time::Duration;

use cli::{Output, getopt_long};
use engine::{HeadStyle, HttpVersion, Settings};
use report::Offered;
use report::perfer::{PerferStyle, PerferVersion};
use session::go_words;
use wire::url::Url;
use workload::Load;

use super::flags::{FLAGS, PerferFlags, read};
use crate::config::{self, Layout, ToolConfig};
use crate::error::ToolError;
use crate::probe::reason;
use crate::tool::LoadTool;

/// perfer.
pub const PERFER: LoadTool = LoadTool { name: "perfer", parse: tool_config, validate };

/// Reads a command line of perfer's.
///
/// # Errors
/// It is wrong, or asks for help.
fn tool_config(args: &[String]) -> Result<ToolConfig, ToolError> {
    let Parsed { flags, version, note, address } = parsed(args)?;
    let mut config = resolve(&flags, version, &address)?;
    config.notes.extend(note);
    Ok(config)
}

/// Checks a command line; no file is read.
///
/// # Errors
/// It is wrong, or asks for help.
fn validate(args: &[String]) -> Result<(), ToolError> {
    parsed(args).map(drop)
}

/// A command line's words.
struct Parsed {
    flags: PerferFlags,
    version: PerferVersion,
    /// The warning if it could be another version's.
    note: Option<String>,
    address: Address,
}

fn parsed(args: &[String]) -> Result<Parsed, ToolError> {
    let mut flags = PerferFlags::default();
    let operands = read(args, &mut flags);
    if flags.help {
        return Err(usage(1, ""));
    }
    if flags.version {
        let stdout = format!("perfer version 1.5, spoken by brunt {}\n", env!("CARGO_PKG_VERSION"));
        return Err(ToolError { code: 1, stdout, ..ToolError::default() });
    }
    let operands = operands.map_err(|words| usage(FAILED, &words))?;
    let server = match operands.as_slice() {
        [server] => server,
        [] => return Err(usage(FAILED, "*-*-* A URL is required.")),
        [..] => return Err(usage(FAILED, "*-*-* Only one URL is allowed.")),
    };
    let (version, note) = spoken(&flags, server).map_err(|words| usage(FAILED, &words))?;
    let address = Address::parse(server).map_err(|words| tool_error(&words))?;
    Ok(Parsed { flags, version, note, address })
}

/// perfer's -1.
const FAILED: u8 = 255;

fn usage(code: u8, words: &str) -> ToolError {
    let mut stdout = String::from(words);
    if !words.is_empty() {
        stdout.push('\n');
    }
    let lines = getopt_long::usage_lines(FLAGS);
    stdout.push_str(&format!("\nusage: perfer [options] <server-address>\n\n{lines}\n"));
    ToolError { code, stdout, ..ToolError::default() }
}

fn tool_error(words: &str) -> ToolError {
    ToolError { code: FAILED, stdout: format!("{words}\n"), ..ToolError::default() }
}

/// The version that a line is of, and the warning if it could be of several.
fn spoken(flags: &PerferFlags, server: &str) -> Result<(PerferVersion, Option<String>), String> {
    if let Some(compat) = &flags.compat {
        let version = match compat.as_str() {
            "1.2" => PerferVersion::V12,
            "1.3" => PerferVersion::V13,
            _ => PerferVersion::V15,
        };
        let foreign = if version == PerferVersion::V15 { flags.old } else { flags.new };
        return match foreign {
            Some(option) => Err(format!("option {option} is not one of perfer {compat}.")),
            None => Ok((version, None)),
        };
    }
    // Before 1.5 an address had neither scheme nor path.
    let whole = server.contains('/');
    match (flags.old, flags.new) {
        (Some(old), Some(new)) => {
            Err(format!("options {old} and {new} are of different versions."))
        }
        (Some(old), None) if whole => {
            Err(format!("option {old} is of perfer 1.3, whose address has no path (host:port)."))
        }
        (Some(_), None) => Ok((PerferVersion::V12, None)),
        (None, Some(_)) => Ok((PerferVersion::V15, None)),
        (None, None) if whole => Ok((PerferVersion::V15, None)),
        (None, None) => Ok(guessed(flags)),
    }
}

/// The version of a line that is one in all.
fn guessed(flags: &PerferFlags) -> (PerferVersion, Option<String>) {
    match flags.p.as_deref() {
        Some(path) if path.starts_with('/') => {
            let note = "brunt perfer: -p has a path and the address none: read as perfer 1.2 (-c for each thread); \
                        --compat=1.5 would post it";
            (PerferVersion::V12, Some(note.to_owned()))
        }
        Some(_) => {
            let note = "brunt perfer: -p is no path: read as perfer 1.5, which posts it (-c in all); --compat=1.2 gets it";
            (PerferVersion::V15, Some(note.to_owned()))
        }
        None => {
            let note = "brunt perfer: read as perfer 1.5 (-c in all, path /); --compat=1.2 takes -c for each thread and \
                        asks for /index.html";
            (PerferVersion::V15, Some(note.to_owned()))
        }
    }
}

/// An address, cut as perfer cuts it.
#[derive(Debug, PartialEq, Eq)]
struct Address {
    host: String,
    port: String,
    /// Without the slash before it.
    path: String,
}

impl Address {
    fn parse(text: &str) -> Result<Self, String> {
        let rest = match text.split_once("://") {
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("https") => {
                return Err("*-*-* TLS (https) not supported yet".to_owned());
            }
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some(_) => return Err("*-*-* invalid URL".to_owned()),
            None => text,
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = authority.rsplit_once(':').unwrap_or((authority, "80"));
        let address = Self { host: host.into(), port: port.into(), path: path.into() };
        match Url::parse(&address.url(path)) {
            Ok(_) => Ok(address),
            Err(error) => Err(format!("*-*-* invalid URL ({})", go_words::url(&error))),
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}:{}/{path}", self.host, self.port)
    }
}

fn resolve(
    flags: &PerferFlags,
    version: PerferVersion,
    address: &Address,
) -> Result<ToolConfig, ToolError> {
    let message = match &flags.request {
        Some(file) => Message::read(file).map_err(|words| tool_error(&words))?,
        None => Message::built(flags, version, address),
    };
    let settings = settings(flags, version, &message);
    let load = load(flags, version, &message);
    let layout = Layout::Perfer(
        offered(flags, version, address, &message),
        PerferStyle {
            version,
            spread: flags.spread.clone(),
            graph: flags.graph,
            json: flags.json,
            host: address.host.clone(),
        },
    );
    let url = address.url(&message.path);
    let target = config::target(&message.method, &url, message.headers, message.body);
    let requests = flags.number.map(|n| n / flags.threads * flags.threads);
    // Before 1.5 a number of requests took the place of the duration.
    let duration = Some(flags.duration).filter(|_| requests.is_none());
    let mut notes = message.notes;
    if flags.verbose {
        notes.push("brunt perfer: -v: responses are not printed".to_owned());
    }
    Ok(ToolConfig {
        plan: config::plan(target, load, duration, requests),
        settings,
        grace: Some(GRACE),
        layout,
        place: Output::Stdout,
        notes,
        // Kept-alive connections are opened before the start, and one that is refused ends it.
        probe: message.keepalive.then_some(unreachable),
    })
}

/// Connections in all.
fn connections(flags: &PerferFlags, version: PerferVersion) -> u64 {
    let per_thread = if is_former(version) { flags.threads } else { 1 };
    flags.connections.saturating_mul(per_thread)
}

/// Requests that may be unanswered on one connection.
fn depth(flags: &PerferFlags, message: &Message) -> u64 {
    if message.keepalive && flags.meter == 0 { flags.backlog } else { 1 }
}

/// `-p` is a path, and an address has none.
fn is_former(version: PerferVersion) -> bool {
    version != PerferVersion::V15
}

fn load(flags: &PerferFlags, version: PerferVersion, message: &Message) -> Load {
    let connections = connections(flags, version);
    match flags.meter {
        0 => Load::Closed { users: connections.saturating_mul(depth(flags, message)) },
        rate => config::open_load(rate as f64, connections),
    }
}

fn settings(flags: &PerferFlags, version: PerferVersion, message: &Message) -> Settings {
    let settings = config::settings(flags.threads, connections(flags, version));
    Settings {
        keepalive: message.keepalive,
        pipeline: depth(flags, message) as usize,
        head: message.version.map_or(settings.head, HeadStyle::Exact),
        ..settings
    }
}

/// What the report repeats.
fn offered(
    flags: &PerferFlags,
    version: PerferVersion,
    address: &Address,
    message: &Message,
) -> Offered {
    let url = match is_former(version) {
        true => format!("{}:{}/{}", address.host, address.port, message.path),
        false => address.url(&address.path),
    };
    Offered {
        url: stdx::shown_url(&url).into_owned(),
        threads: flags.threads,
        connections: flags.connections,
        duration: flags.duration,
        keepalive: message.keepalive,
    }
}

/// How long perfer waits for the last answers.
const GRACE: Duration = Duration::from_secs(10);

/// The error if no connection can be made; the code is the system's.
fn unreachable(host: &str, _service: &str, error: &io::Error) -> ToolError {
    let (code, stdout) = match error.raw_os_error() {
        Some(number) => (
            u8::try_from(number).unwrap_or(FAILED),
            format!("*-*-* error connecting: {}\n", reason(error)),
        ),
        None => (FAILED, format!("*-*-* Failed to resolve {host}.\n")),
    };
    ToolError { code, stdout, ..ToolError::default() }
}

/// A request.
#[derive(Debug)]
struct Message {
    method: String,
    /// Without the slash before it.
    path: String,
    /// The version of HTTP, if the request itself gives one.
    version: Option<HttpVersion>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    keepalive: bool,
    notes: Vec<String>,
}

impl Message {
    /// The request that perfer makes of its options.
    fn built(flags: &PerferFlags, version: PerferVersion, address: &Address) -> Self {
        let (host, path, post) = match (is_former(version), &flags.p) {
            (false, post) => (address.host.clone(), address.path.as_str(), post.as_ref()),
            (true, path) => {
                let path = path.as_deref().unwrap_or("index.html");
                let host = format!("{}:{}", address.host, address.port);
                (host, path.strip_prefix('/').unwrap_or(path), None)
            }
        };
        let connection = if flags.keepalive { "Keep-Alive" } else { "Close" };
        let mut headers =
            vec![("Host".to_owned(), host), ("Connection".to_owned(), connection.to_owned())];
        headers.extend(flags.headers.iter().rev().cloned());
        headers.extend(post.map(|body| ("Content-Length".to_owned(), body.len().to_string())));
        Self {
            method: if post.is_some() { "POST" } else { "GET" }.to_owned(),
            path: path.to_owned(),
            version: None,
            headers,
            body: post.map_or(Vec::new(), |body| body.clone().into_bytes()),
            keepalive: flags.keepalive,
            notes: Vec::new(),
        }
    }

    /// The request of a file.
    fn read(file: &str) -> Result<Self, String> {
        let bytes = std::fs::read(file)
            .map_err(|error| format!("-*-*- Failed to open '{file}'. {}", reason(&error)))?;
        Self::parse(&bytes).map_err(|what| format!("-*-*- '{file}' is no request: {what}"))
    }

    /// Takes a whole request apart. It is sent again as it is but for this: its lines end in CRLF (there is a note where they did
    /// not), a field's value stands behind one blank, and its path is written as that of a URL (odd bytes escaped, no part after `#`).
    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let (head, body) = split(bytes)?;
        let (first, fields) = head.split_once('\n').unwrap_or((head, ""));
        let (method, path, version) = first_line(first.strip_suffix('\r').unwrap_or(first))?;
        let headers: Option<Vec<_>> = fields.lines().map(field).collect();
        let headers = headers.ok_or("a header line has no colon")?;
        let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
        let keepalive = headers.iter().any(|(n, v)| same(n, "connection") && same(v, "keep-alive"));
        let mut notes = Vec::new();
        if !ends_in_crlf(&bytes[..bytes.len() - body.len()]) {
            notes.push("brunt perfer: -r: its lines are sent with CRLF at their ends".to_owned());
        }
        Ok(Self {
            method: method.to_owned(),
            path: path.to_owned(),
            version: Some(version),
            headers,
            body: body.to_vec(),
            keepalive,
            notes,
        })
    }
}

/// A request's head, without the empty line that ends it, and its body.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), String> {
    let find = |end: &[u8]| {
        let at = bytes.windows(end.len()).position(|window| window == end)?;
        Some((at, at + end.len()))
    };
    let end = [find(b"\r\n\r\n"), find(b"\n\n")].into_iter().flatten().min();
    let (head, body) = end.ok_or("no empty line ends its head")?;
    let (head, body) = (&bytes[..head], &bytes[body..]);
    let head = std::str::from_utf8(head).map_err(|_| "its head is not text")?;
    let sequence = |window: &[u8]| window == SEQUENCE.as_bytes();
    if head.contains(SEQUENCE) || body.windows(SEQUENCE.len()).any(sequence) {
        return Err(format!("{SEQUENCE} is not filled in here"));
    }
    Ok((head, body))
}

/// Method, path without the slash before it, version.
fn first_line(line: &str) -> Result<(&str, &str, HttpVersion), String> {
    let words: Vec<&str> = line.split(' ').collect();
    let wrong = || "its first line is not METHOD /PATH HTTP/1.1".to_owned();
    let [method, path, version] = words[..] else { return Err(wrong()) };
    let version = match version {
        "HTTP/1.1" => HttpVersion::Http11,
        "HTTP/1.0" => HttpVersion::Http10,
        _ => return Err(wrong()),
    };
    Ok((method, path.strip_prefix('/').ok_or_else(wrong)?, version))
}

fn field(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    Some((name.to_owned(), value.trim().to_owned()))
}

/// No line of a head, its empty one with it, ends in LF alone.
fn ends_in_crlf(head: &[u8]) -> bool {
    head.windows(2).all(|pair| pair[1] != b'\n' || pair[0] == b'\r')
}

/// What perfer replaces by the request's number.
const SEQUENCE: &str = "${sequence}";

#[cfg(test)]
mod tests {
    use super::*;

    fn version(line: &str) -> Result<(PerferVersion, bool), String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut flags = PerferFlags::default();
        let operands = read(&args, &mut flags)?;
        spoken(&flags, &operands[0]).map(|(version, note)| (version, note.is_some()))
    }

    #[test]
    fn a_line_of_one_version_alone_is_read_as_that() {
        use PerferVersion::{V12, V13, V15};
        let cases = [
            ("h:1 --path /x", Ok((V12, false))),
            ("-n 100 h:1", Ok((V12, false))),
            ("-m 100 h:1", Ok((V15, false))),
            ("h:1/x", Ok((V15, false))),
            ("http://h:1 -p /x", Ok((V15, false))),
            ("h:1 -p /x -l 50", Ok((V15, false))),
            ("h:1 -p /x --compat=1.3", Ok((V13, false))),
            ("h:1 -p /x --compat=1.5", Ok((V15, false))),
            // These could be of either version, and a warning says so.
            ("-t 2 -k -c 40 -b 2 h:1 -p /robots.txt -d 10", Ok((V12, true))),
            ("h:1 -p body", Ok((V15, true))),
            ("h:1 -t 2", Ok((V15, true))),
            ("h:1 -n 1 -j", Err("options -n and -j are of different versions.")),
            (
                "h:1/x -n 1",
                Err("option -n is of perfer 1.3, whose address has no path (host:port)."),
            ),
            ("h:1 -j --compat=1.2", Err("option -j is not one of perfer 1.2.")),
        ];
        for (line, expected) in cases {
            assert_eq!(version(line), expected.map_err(str::to_owned), "{line}");
        }
    }

    #[test]
    fn addresses_are_cut_as_perfer_does() {
        let address = |host: &str, port: &str, path: &str| {
            Ok(Address { host: host.into(), port: port.into(), path: path.into() })
        };
        assert_eq!(Address::parse("h"), address("h", "80", ""));
        assert_eq!(Address::parse("HTTP://h:1/a/b?c"), address("h", "1", "a/b?c"));
        assert!(Address::parse("https://h").unwrap_err().contains("not supported"));
        assert!(Address::parse("ftp://h").is_err() && Address::parse("h:x").is_err());
    }

    #[test]
    fn a_request_file_is_sent_as_it_is() {
        let message =
            Message::parse(b"PUT /a?b HTTP/1.0\r\nHost: h\r\nX: y\r\n\r\nbody\n").unwrap();
        assert_eq!((message.method.as_str(), message.path.as_str()), ("PUT", "a?b"));
        assert_eq!((message.body.as_slice(), message.notes.len()), (&b"body\n"[..], 0));
        assert_eq!(message.headers.len(), 2);
        let message = Message::parse(b"GET / HTTP/1.1\nConnection: Keep-Alive\n\n").unwrap();
        assert!(message.keepalive && message.notes.len() == 1);
        for wrong in
            [&b"GET / HTTP/1.1\r\n"[..], b"GET /\n\n", b"GET / HTTP/1.1\nx\n\n", b"\xff\n\n"]
        {
            assert!(Message::parse(wrong).is_err());
        }
        assert!(Message::parse(b"GET /${sequence} HTTP/1.1\n\n").unwrap_err().contains("filled"));
    }
}
