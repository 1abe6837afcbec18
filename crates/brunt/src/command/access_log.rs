//! Access logs as load: they are read line by line, by the parsers that watch servers' logs, since a day of one may be gigabytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use ::import::{LogRequest, Traffic, unescape};
use anyhow::anyhow;
use cli::{ExitCode, ExitError, Output, eprint_line, input};
use metrics::server::Row;
use monitor::log::{LINE_MAX, Parser, json_parser, parser};

use super::{CommandError, usage_error};
use crate::flags::import::{Form, ImportFlags};

/// How much of a file is looked at for its kind, in bytes.
const HEAD_BYTES: u64 = 64 << 10;
/// How many bytes are read at once.
const BUFFER_BYTES: usize = 1 << 20;

/// Access and application load balancers of AWS: time, …, status, …, "METHOD URL VERSION".
const ELB: &str = r#"^(?:[a-z0-9]+ )?(?<time>\d{4}-\d\d-\d\dT[0-9:.]+Z) \S+ \S+ \S+ \S+ \S+ \S+ (?<status>\d{3}|-) \S+ \S+ \S+ "(?<method>[A-Z]+) (?<path>\S+) "#;
/// Caddy's JSON.
const CADDY: &str = r#""ts":"?(?<time>[^",]+)"?,.*"method":"(?<method>[A-Z]+)".*"uri":"(?<path>(?:[^"\\]|\\.)*)".*"status":(?<status>\d+)"#;

/// The form of a log's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogForm {
    /// The common or the combined format: nginx, Apache, lighttpd.
    Common,
    Rails,
    Elb,
    Caddy,
    /// Lines of JSON with any names for method, path and status: nginx with `escape=json`, lograge, Traefik.
    Json,
}

impl LogForm {
    /// The form of a log by its first lines; none: it is no log.
    fn detect(head: &str) -> Option<Self> {
        let is_of_lines = !is_document(head);
        head.lines().find_map(|line| {
            let has = |text: &str| line.contains(text);
            if line.starts_with('{') && has("\"ts\":") && has("\"uri\":") && has("\"status\":") {
                Some(Self::Caddy)
            } else if has_method(line, "Started ", " \"/") || has_method(line, "method=", " path=/")
            {
                Some(Self::Rails)
            } else if is_common(line) {
                Some(Self::Common)
            } else if is_elb(line) {
                Some(Self::Elb)
            } else {
                (is_of_lines && is_json(line)).then_some(Self::Json)
            }
        })
    }

    fn parser(self) -> Box<dyn Parser + Send> {
        let (kind, pattern) = match self {
            Self::Common => ("nginx", None),
            Self::Rails => ("rails", None),
            Self::Elb => ("elb", Some(ELB)),
            Self::Caddy => ("caddy", Some(CADDY)),
            Self::Json => return json_parser(),
        };
        parser(kind, pattern, "").expect("kinds and patterns of our own")
    }
}

/// `Started GET "/…` and `method=GET path=/…`: a method between these two, as Rails and lograge write it.
fn has_method(line: &str, before: &str, behind: &str) -> bool {
    let method = line.split_once(before).and_then(|(_, rest)| rest.split_once(behind));
    method.is_some_and(|(method, _)| {
        !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase())
    })
}

/// `… [22/Nov/2026:07:26:25 +0000] "GET / HTTP/1.1" 200 …`
fn is_common(line: &str) -> bool {
    let Some((before, rest)) = line.split_once("] \"") else { return false };
    let method = rest.split(' ').next().unwrap_or_default();
    before.contains('[')
        && !method.is_empty()
        && method.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// One document of JSON over lines (a HAR with a line for each entry), and not a log of lines that are JSON each.
fn is_document(head: &str) -> bool {
    let first = head.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    first.starts_with(['{', '[']) && serde_json::from_str::<serde_json::Value>(first).is_err()
}

/// A line of JSON that is a request with its method, path and status.
fn is_json(line: &str) -> bool {
    let mut rows = Vec::new();
    if line.contains('{') {
        json_parser().line(line.as_bytes(), 0, &mut rows);
    }
    rows.iter().any(|row| matches!(row, Row::Served(served) if !served.method.is_empty()))
}

/// A time of RFC 3339 in the first or second column, and a request with a whole address.
fn is_elb(line: &str) -> bool {
    let is_time =
        |column: &str| column.len() > 20 && column.as_bytes()[10] == b'T' && column.ends_with('Z');
    line.split(' ').take(2).any(is_time)
        && line.split_once('"').is_some_and(|(_, rest)| rest.contains("://"))
}

/// The form of the file, if it is a log. Standard input is one only if `-from=log` says so.
pub(super) fn form_of(name: &str, flags: &ImportFlags) -> Result<Option<LogForm>, CommandError> {
    if !flags.is_log && (flags.from.is_some() || input::is_stdin(name)) {
        return Ok(None);
    }
    let is_log = flags.is_log;
    if input::is_stdin(name) {
        return Ok(Some(LogForm::Common));
    }
    let mut head = Vec::new();
    let read = open(name)?.take(HEAD_BYTES).read_to_end(&mut head);
    read.map_err(|error| failure(format!("reading {name}: {error}")))?;
    let form = LogForm::detect(&String::from_utf8_lossy(&head));
    match form {
        None if is_log => Err(failure(format!(
            "{name}: no line of nginx, Apache, Rails, ELB, Caddy or of a log in JSON in its first 64 KiB"
        ))
        .into()),
        form => Ok(form),
    }
}

/// Reads the logs, and writes targets and the rate by the minute.
pub(super) fn run(
    logs: &[(String, LogForm)],
    flags: &ImportFlags,
) -> Result<ExitCode, CommandError> {
    if flags.to == Some(Form::K6) {
        return Err(usage_error(
            "-to=k6: a log has no sessions and no bodies, it becomes targets (-to=targets)",
        ));
    }
    let Some(base_url) = &flags.base_url else {
        return Err(usage_error(
            "-base-url is missing: a log has paths only (expected for example -base-url=https://staging.example)",
        ));
    };
    let mut traffic = Traffic::new(&flags.only);
    for (name, form) in logs {
        let mut lines = Lines::new(open(name)?);
        let mut reader = LogReader {
            parser: form.parser(),
            rows: Vec::new(),
            now: now_ns(),
            has_a_request_a_line: *form != LogForm::Rails,
        };
        while let Some(line) =
            lines.next().map_err(|error| failure(format!("reading {name}: {error}")))?
        {
            reader.read(line, &mut traffic);
        }
    }
    if traffic.requests() == 0 {
        let methods = flags.only.join(", ");
        return Err(failure(format!("{}: no request with {methods}", logs[0].0)).into());
    }
    let top = flags.top;
    for note in traffic.notes(top) {
        eprint_line(&format!("{}: {note}", logs[0].0));
    }
    write(&traffic, base_url, flags)
}

fn write(traffic: &Traffic, base_url: &str, flags: &ImportFlags) -> Result<ExitCode, CommandError> {
    let rate = flags.output.as_ref().map(|path| Path::new(path).with_extension("rate"));
    let is_same = |rate: &PathBuf| flags.output.as_deref().map(Path::new) == Some(rate.as_path());
    if rate.as_ref().is_some_and(is_same) {
        return Err(usage_error(
            "-output is the file of the targets; the rate goes beside it, as NAME.rate (give another ending)",
        ));
    }
    let output = Output::named(flags.output.as_deref());
    output.write(traffic.targets(base_url, flags.top).as_bytes())?;
    let (Some(path), Some(rate)) = (&flags.output, rate) else {
        eprint_line(
            "brunt: -output=FILE writes the rate by the minute as well, beside the targets",
        );
        return Ok(ExitCode::Ok);
    };
    if !traffic.has_times() {
        eprint_line("brunt: the log has no times: no rate by the minute is written");
        return Ok(ExitCode::Ok);
    }
    let rate = rate.display().to_string();
    Output::named(Some(&rate)).write(traffic.rate().as_bytes())?;
    eprint_line(&format!(
        "brunt attack -targets={path} -shape=replay:{rate}    # or replay:{rate},3x"
    ));
    Ok(ExitCode::Ok)
}

fn open(name: &str) -> Result<Box<dyn Read + Send>, ExitError> {
    let input: Box<dyn Read + Send> = if input::is_stdin(name) {
        input::announce_stdin("a log");
        Box::new(io::stdin())
    } else {
        let file = File::open(name);
        Box::new(file.map_err(|error| failure(format!("error opening {name}: {error}")))?)
    };
    Ok(Box::new(stdx::decompressed(input)))
}

fn failure(text: String) -> ExitError {
    ExitError { code: ExitCode::Input, error: anyhow!(text) }
}

fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

/// Makes requests of lines.
struct LogReader {
    parser: Box<dyn Parser + Send>,
    rows: Vec<Row>,
    now: i64,
    /// A line without a request is one that was not understood.
    has_a_request_a_line: bool,
}

impl LogReader {
    fn read(&mut self, line: &[u8], traffic: &mut Traffic) {
        self.parser.line(line, self.now, &mut self.rows);
        // An unknown line may have a row that says so.
        let is_read = self.rows.iter().any(|row| matches!(row, Row::Served(_)));
        if !is_read && self.has_a_request_a_line && !line.trim_ascii().is_empty() {
            traffic.add_unread();
        }
        for row in self.rows.drain(..) {
            let Row::Served(served) = row else { continue };
            let path =
                if served.path.contains('\\') { unescape(&served.path) } else { served.path };
            traffic.add(&LogRequest {
                // The moment of reading stands for a time that the log lacks.
                at_s: (served.at != self.now).then(|| served.at.div_euclid(1_000_000_000)),
                method: &served.method,
                path: &path,
                status: served.status,
            });
        }
    }
}

/// Lines of bounded length: what a longer one has beyond the bound is skipped.
struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
}

impl<R: Read> Lines<R> {
    fn new(input: R) -> Self {
        Self { input: BufReader::with_capacity(BUFFER_BYTES, input), line: Vec::new() }
    }

    fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let bound = LINE_MAX as u64 + 1;
        if self.input.by_ref().take(bound).read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        if self.line.last() != Some(&b'\n') {
            self.input.skip_until(b'\n')?;
        }
        Ok(Some(self.line.trim_ascii_end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMON: &str = "10.0.0.1 - - [27/Nov/2026:10:00:25 +0000] \"GET /a\\x22?b=1 HTTP/1.1\" 200 612 \"-\" \"curl/8\"\n";
    const RAILS: &str = "I, [2026-11-27T10:00:25.000000 #7]  INFO -- : [a] Started GET \"/a?b=1\" for 127.0.0.1 at 2026-11-27 10:00:25 +0000\nI, [2026-11-27T10:00:25.010000 #7]  INFO -- : [a] Processing by A#b as HTML\nI, [2026-11-27T10:00:25.020000 #7]  INFO -- : [a] Completed 200 OK in 13ms (Views: 4.4ms)\n";
    const ELB_LINE: &str = "https 2026-11-27T10:00:25.186641Z app/lb/50dc 192.0.2.9:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 \"GET https://shop.example:443/a?b=1 HTTP/2.0\" \"curl/8\" - -\n";
    const CADDY_LINE: &str = r#"{"level":"info","ts":1795773625.5241,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"127.0.0.1","proto":"HTTP/2.0","method":"GET","host":"shop.example","uri":"/a?b=1\u0026c=2","headers":{"User-Agent":["curl"]}},"duration":0.01,"size":10,"status":200}
"#;

    #[test]
    fn each_form_is_found_and_read() {
        for (text, form, path) in [
            (COMMON, LogForm::Common, "/a%22?b=1"),
            (RAILS, LogForm::Rails, "/a?b=1"),
            (ELB_LINE, LogForm::Elb, "/a?b=1"),
            (CADDY_LINE, LogForm::Caddy, "/a?b=1&c=2"),
        ] {
            assert_eq!(LogForm::detect(text), Some(form), "{text}");
            let mut traffic = Traffic::new(&["GET".to_owned()]);
            let mut reader = LogReader {
                parser: form.parser(),
                rows: Vec::new(),
                now: now_ns(),
                has_a_request_a_line: false,
            };
            let mut lines = Lines::new(text.as_bytes());
            while let Some(line) = lines.next().unwrap() {
                reader.read(line, &mut traffic);
            }
            let targets = traffic.targets("http://a", 10);
            assert_eq!(targets, format!("#brunt weight=1\nGET http://a{path}\n\n"), "{form:?}");
            assert!(traffic.rate().contains("1/mx1m # 2026-11-27T10:00Z"), "{}", traffic.rate());
        }
        for text in ["curl https://a.example/", "{\"log\": {}}", "### a\nGET https://a.example/"] {
            assert_eq!(LogForm::detect(text), None, "{text}");
        }
    }

    #[test]
    fn logs_are_known_by_any_method_far_down_and_by_times_in_words() {
        let posts = RAILS.replace("GET", "POST").repeat(100);
        assert_eq!(LogForm::detect(&posts), Some(LogForm::Rails));
        let late = format!("{}{RAILS}", "booting\n".repeat(500));
        assert_eq!(LogForm::detect(&late), Some(LogForm::Rails));
        let post = "method=PATCH path=/a format=html status=200 duration=1.00";
        assert_eq!(LogForm::detect(post), Some(LogForm::Rails));
        let cookie = "{\"url\": \"/x?method=A\", \"cookie\": \"a=1; path=/\"}";
        assert_eq!(LogForm::detect(cookie), None);
        let traffic = read_all(
            LogForm::Caddy,
            &CADDY_LINE.replace("1795773625.5241", "\"2026-11-27T10:00:25.524Z\""),
        );
        assert!(traffic.rate().contains("1/mx1m # 2026-11-27T10:00Z"), "{}", traffic.rate());
    }

    #[test]
    fn every_line_that_is_not_understood_counts() {
        let traffic = read_all(LogForm::Common, &format!("no log\n{COMMON}cut [\n"));
        let notes = traffic.notes(10);
        let is_counted = |note: &String| note.starts_with("2 lines that are in another form");
        assert!(notes.iter().any(is_counted), "{notes:?}");
    }

    #[test]
    fn a_log_of_rails_without_a_clock_has_the_times_of_its_words() {
        let text = "Started GET \"/a\" for ::1 at 2025-11-20 10:00:25 +0100\nProcessing by A#b as HTML\nCompleted 200 OK in 13ms (Views: 4.4ms)\n";
        let traffic = read_all(LogForm::Rails, text);
        let rate = traffic.rate();
        assert!(rate.contains("1/mx1m # 2025-11-20T09:00Z"), "{rate}");
    }

    fn read_all(form: LogForm, text: &str) -> Traffic {
        let mut traffic = Traffic::new(&["GET".to_owned()]);
        let mut reader = LogReader {
            parser: form.parser(),
            rows: Vec::new(),
            now: now_ns(),
            has_a_request_a_line: form != LogForm::Rails,
        };
        let mut lines = Lines::new(text.as_bytes());
        while let Some(line) = lines.next().unwrap() {
            reader.read(line, &mut traffic);
        }
        traffic
    }

    #[test]
    fn logs_in_json_are_read_by_their_names() {
        for text in [
            "{\"time_local\":\"27/Nov/2026:10:00:25 +0000\",\"request\":\"GET /a HTTP/1.1\",\"status\":\"200\"}\n",
            "{\"method\":\"GET\",\"path\":\"/a\",\"status\":200,\"duration\":1.2,\"@timestamp\":\"2026-11-27T10:00:25.000Z\"}\n",
        ] {
            assert_eq!(LogForm::detect(text), Some(LogForm::Json), "{text}");
            let traffic = read_all(LogForm::Json, &format!("{text}cut {{\n"));
            assert!(traffic.rate().contains("1/mx1m # 2026-11-27T10:00Z"), "{}", traffic.rate());
            assert!(traffic.notes(9).iter().any(|note| note.starts_with("1 lines that are in")));
        }
        let har = "{\"log\":{\"entries\":[{\"request\":{\"method\":\"GET\",\"url\":\"http://a/\"},\"response\":{\"status\":200}}]}}";
        assert_eq!(LogForm::detect(har), None);
        let over_lines = har.replace("[{", "[\n{").replace("}]", "}\n]");
        assert_eq!(LogForm::detect(&over_lines), None, "a HAR with a line for each entry");
    }

    #[test]
    fn a_log_without_times_has_no_rate() {
        let text = "method=GET path=/a format=html status=200 duration=1.2\n";
        let traffic = read_all(LogForm::Rails, text);
        assert!(!traffic.has_times() && traffic.requests() == 1);
        let notes = traffic.notes(9);
        assert!(notes.iter().any(|note| note.contains("without a time")), "{notes:?}");
    }

    #[test]
    fn lines_are_cut_at_the_bound() {
        let text = format!("{}\nnext\n", "x".repeat(3 * LINE_MAX));
        let mut lines = Lines::new(text.as_bytes());
        assert_eq!(lines.next().unwrap().map(<[u8]>::len), Some(LINE_MAX + 1));
        assert_eq!(lines.next().unwrap(), Some(&b"next"[..]));
        assert_eq!(lines.next().unwrap(), None);
    }
}
