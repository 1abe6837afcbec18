//! The dialects of other tools: their command lines, reports and bytes on the wire, beside the real ones where Debian has them.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use demo::{Config, ServiceTime};

use crate::{Ran, Scratch, free_port, run, server, start, text};

/// A real tool with arguments split at blanks.
fn real(line: &str) -> Ran {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    start(command).wait()
}

/// A report's lines with every figure, and the unit after it, as `N`, and what is drawn left out.
fn labels(report: &str) -> Vec<String> {
    report.lines().map(masked).collect()
}

fn masked(line: &str) -> String {
    let mut out = String::new();
    let mut chars = line.trim_end().trim_end_matches('■').chars().peekable();
    while let Some(c) = chars.next() {
        let word = out.chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric());
        if !c.is_ascii_digit() || word {
            out.push(c);
            continue;
        }
        while chars.next_if(|c| c.is_ascii_digit() || *c == '.').is_some() {}
        while chars.next_if(|c| "umskMGKB".contains(*c)).is_some() {}
        out.push('N');
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn wrks_report_has_its_labels() {
    let (_server, url) = server(Config::default());
    let (_failing, failing) = server(Config { error_rate: 1.0, ..Config::default() });
    for line in [
        format!("wrk -t2 -c4 -d1s --latency {url}/"),
        format!("wrk -c 2 -t1 -d 1 {url}/x --timeout 5s"),
        format!("wrk -t 1 -c 1 -d 1 {failing}/"),
    ] {
        let (theirs, ours) = (real(&line).with_code(0), run(&line).with_code(0));
        assert_eq!(labels(&ours.stdout), labels(&theirs.stdout), "{line}");
    }
}

#[test]
fn wrks_refusals_have_its_words_and_codes() {
    let closed = free_port();
    for line in [
        "wrk".to_owned(),
        "wrk foo".to_owned(),
        "wrk --bogus http://127.0.0.1/".to_owned(),
        "wrk -c".to_owned(),
        "wrk -x http://127.0.0.1/".to_owned(),
        "wrk -c 1 -t 2 http://127.0.0.1/".to_owned(),
        "wrk -t 0 http://127.0.0.1/".to_owned(),
        "wrk --latency=1 http://127.0.0.1/".to_owned(),
        "wrk --timeout".to_owned(),
        format!("wrk -d 1 http://127.0.0.1:{closed}/"),
    ] {
        let (theirs, ours) = (real(&line), run(&line));
        assert_eq!((ours.code, &ours.stderr), (theirs.code, &theirs.stderr), "{line}");
        assert_eq!(ours.stdout.is_empty(), theirs.stdout.is_empty(), "{line}: {}", ours.stdout);
    }
}

#[test]
fn a_lua_script_is_pointed_elsewhere() {
    let ran = run("wrk -s post.lua http://127.0.0.1:1/").with_code(1);
    for words in ["post.lua: Lua scripts are not run", "brunt run", "brunt bench -targets=FILE"] {
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
}

#[test]
fn wrk2_sends_at_its_rate() {
    let (server, url) = server(Config::default());
    let ran = run(&format!("wrk2 -R 400 -t1 -c4 -d1s -U {url}/")).with_code(0);
    let served = server.stats().requests;
    assert!((390..=401).contains(&served), "{served} of 400");
    for begin in [
        "  Latency Distribution (HdrHistogram - Recorded Latency)",
        "  Latency Distribution (HdrHistogram - Uncorrected Latency",
        "  Detailed Percentile spectrum:",
        "#[Mean    =",
        "Requests/sec:",
    ] {
        ran.line(begin);
    }
    let ran = run(&format!("wrk2 -d1 {url}/")).with_code(1);
    assert!(ran.stderr.starts_with("Throughput MUST be specified with the --rate or -R option"));
}

#[test]
fn heys_report_has_its_labels() {
    let (_server, url) = server(Config::default());
    let refused = free_port();
    for line in [
        format!("hey -n 400 -c 4 {url}/"),
        format!("hey -n 201 -c 2 -disable-keepalive -m POST -d body {url}/echo"),
        format!("hey -z 1s -c 2 -q 100 {url}/"),
    ] {
        let (theirs, ours) = (real(&line).with_code(0), run(&line).with_code(0));
        assert_eq!(labels(&ours.stdout), labels(&theirs.stdout), "{line}");
    }
    let line = format!("hey -n 3 -c 1 http://127.0.0.1:{refused}/");
    let (theirs, ours) = (real(&line).with_code(0), run(&line).with_code(0));
    let errors = |ran: &Ran| ran.stdout.split_once("Error distribution:").unwrap().1.to_owned();
    assert_eq!(errors(&ours), errors(&theirs));
}

#[test]
fn heys_rows_and_refusals_are_its_own() {
    let (_server, url) = server(Config::default());
    let line = format!("hey -n 40 -c 4 -o csv {url}/");
    let (theirs, ours) = (real(&line).with_code(0), run(&line).with_code(0));
    assert_eq!(labels(&ours.stdout), labels(&theirs.stdout));
    for line in [
        "hey",
        "hey -n 2 -c 3 http://h/",
        "hey -bogus http://h/",
        "hey -n x http://h/",
        "hey -c",
        "hey -H bad http://h/",
        "hey -a u:p http://h/",
        "hey -m GET, http://h/",
        "hey -D /nowhere http://h/",
        "hey -n 0 http://h/",
        "hey -h",
    ] {
        let (theirs, ours) = (real(line), run(line));
        let first = |ran: &Ran| ran.stderr.lines().next().unwrap_or_default().to_owned();
        assert_eq!((ours.code, first(&ours)), (theirs.code, first(&theirs)), "{line}");
    }
}

/// A server that keeps the first bytes of each connection that sends any.
struct Recorder {
    port: u16,
    heard: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Recorder {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, keep) = (stream.unwrap(), Arc::clone(&keep));
                std::thread::spawn(move || {
                    let (mut buffer, mut first) = ([0; 4096], true);
                    while let Ok(n) = stream.read(&mut buffer) {
                        if n == 0 {
                            return;
                        }
                        if first {
                            keep.lock().unwrap().push(buffer[..n].to_vec());
                        }
                        first = false;
                        if stream
                            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
                            .is_err()
                        {
                            return;
                        }
                    }
                });
            }
        });
        Self { port, heard }
    }

    /// What the first connection sent first since the last question.
    fn first(&self) -> String {
        let heard = std::mem::take(&mut *self.heard.lock().unwrap());
        String::from_utf8_lossy(heard.first().expect("a request")).into_owned()
    }
}

#[test]
fn the_bytes_of_wrk_and_hey_are_theirs() {
    let recorder = Recorder::start();
    let at = format!("http://127.0.0.1:{}", recorder.port);
    for line in [
        format!("wrk -t1 -c1 -d1 {at}"),
        format!("wrk -t1 -c1 -d1 {at}/a?b=c%20d"),
        format!("hey -n 1 -c 1 {at}"),
        format!("hey -n 1 -c 1 -disable-keepalive {at}/a?b"),
        format!("hey -n 1 -c 1 -disable-keepalive -disable-compression -m put -d x=1 {at}/a?b"),
        format!("hey -n 1 -c 1 -m POST -A text/x -T a/b -host h -H x-y:z {at}"),
        format!("hey -n 1 -c 1 -m HEAD -H accept-encoding:br {at}"),
    ] {
        real(&line);
        let theirs = recorder.first();
        run(&line);
        assert_eq!(recorder.first(), theirs, "{line}");
    }
}

#[test]
fn hey_authenticates_and_names_itself() {
    let recorder = Recorder::start();
    run(&format!("hey -n 1 -c 1 -a u:pw -H User-Agent:zz http://127.0.0.1:{}", recorder.port));
    let head = recorder.first();
    // hey 0.1.4 forgets both; its repository's head sends the second so.
    for field in ["\r\nAuthorization: Basic dTpwdw==\r\n", "\r\nUser-Agent: zz hey/0.0.1\r\n"] {
        assert!(head.contains(field), "{head}");
    }
}

#[test]
fn the_bytes_of_perfer_are_its_own() {
    let recorder = Recorder::start();
    let port = recorder.port;
    let scratch = Scratch::new("perfer");
    let file = scratch.file("request", "PUT //f?g HTTP/1.1\r\nHost: z\r\nx:y\r\n\r\nbody");
    let host = format!("127.0.0.1:{port}");
    // Seen of perfer 1.3.0 and 1.5.3, built from their tags.
    for (line, head) in [
        (format!("{host}/p -a X:y -a Z:q"), "GET /p HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Close\r\nZ: q\r\nX: y\r\n\r\n".to_owned()),
        (format!("{host}//p -k"), "GET //p HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Keep-Alive\r\n\r\n".to_owned()),
        (format!("-k -p hello http://{host}/p"), "POST /p HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Keep-Alive\r\nContent-Length: 5\r\n\r\nhello".to_owned()),
        (format!("-k -p /robots.txt {host}"), format!("GET /robots.txt HTTP/1.1\r\nHost: {host}\r\nConnection: Keep-Alive\r\n\r\n")),
        (format!("--compat=1.3 {host}"), format!("GET /index.html HTTP/1.1\r\nHost: {host}\r\nConnection: Close\r\n\r\n")),
        (format!("-r {file} {host}/ignored"), "PUT //f?g HTTP/1.1\r\nHost: z\r\nx: y\r\n\r\nbody".to_owned()),
    ] {
        run(&format!("perfer -d 0.1 {line}")).with_code(0);
        assert_eq!(recorder.first(), head, "{line}");
    }
}

#[test]
fn the_seeds_line_prints_the_seeds_report() {
    let (server, url) = server(Config::default());
    let host = url.strip_prefix("http://").unwrap();
    let ran = run(&format!("perfer -t 2 -k -c 40 -b 2 {host} -p /robots.txt -d 1")).with_code(0);
    let expected = "Benchmarks for:\n  URL:                HOST/robots.txt\n  Threads:            2\n  \
                    Connections/thread: 40\n  Duration:           N seconds\n  Keep-Alive:         true\nResults:\n  \
                    Throughput:         N requests/second\n  Latency:            N +/-N msecs (and stdev)\n";
    let masked = |line: &str| match line.contains("/thread") || line.contains("Threads") {
        true => line.to_owned(),
        false => line.split(' ').map(figure).collect::<Vec<_>>().join(" "),
    };
    let lines: Vec<String> = ran.stdout.replace(host, "HOST").lines().map(masked).collect();
    assert_eq!(lines.join("\n") + "\n", expected);
    assert!(
        ran.stderr
            .starts_with("brunt perfer: -p has a path and the address none: read as perfer 1.2")
    );
    // Forty connections for each of two threads, and one to see that there is a server.
    let opened = server.stats().connections_total;
    assert!((41..=81).contains(&opened), "{opened} connections");
}

fn figure(word: &str) -> String {
    let digits = word.trim_start_matches("+/-");
    match digits.parse::<f64>() {
        Ok(_) => word.replace(digits, "N"),
        Err(_) => word.to_owned(),
    }
}

#[test]
fn perfer_meters_draws_and_refuses() {
    let (server, url) = server(Config::default());
    let ran = run(&format!("perfer -k -c 4 -m 200 -d 1 -g 20x4 -l 50,99 {url}/")).with_code(0);
    let served = server.stats().requests;
    assert!((195..=201).contains(&served), "{served} of 200");
    let rule = "-".repeat(20);
    let graph = ran.stdout.split(&rule).nth(1).unwrap();
    assert_eq!(graph.matches('*').count(), 20, "a mark in each column: {graph}");
    assert!(ran.stdout.contains("  Latency Spread:\n      50.00%:      "), "{}", ran.stdout);
    let json = run(&format!("perfer -k -c 2 -d 0.2 -j {url}/x")).with_code(0).json();
    assert_eq!(json["options"]["url"], format!("{url}/x"));
    let closed = free_port();
    for (line, code, words) in [
        (String::new(), 255, "*-*-* A URL is required.\n"),
        ("https://h".to_owned(), 255, "*-*-* TLS (https) not supported yet\n"),
        ("h -b 16".to_owned(), 255, "'16' is not a valid backlog number.\n"),
        ("--version".to_owned(), 1, "perfer version 1.5"),
        (format!("-k 127.0.0.1:{closed}"), 111, "*-*-* error connecting: Connection refused\n"),
    ] {
        let ran = run(&format!("perfer {line}")).with_code(code);
        assert!(ran.stdout.starts_with(words), "{line}: {}", ran.stdout);
    }
    let ran = run(&format!("perfer -d 0.1 127.0.0.1:{closed}/")).with_code(0);
    assert!(ran.line("  Failures:").len() > 19, "refused without -k is a result");
}

#[test]
fn a_silent_server_does_not_hold_wrk() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let ran = run(&format!("wrk -t1 -c2 -d1 http://{at}/")).with_code(0);
    assert!(ran.line("  0 requests in 1").ends_with("0.00B read"));
}

#[test]
fn oha_reports_as_we_do() {
    let (server, url) = server(Config::default());
    let json = run(&format!("oha -n=30 -c3 --no-tui -m post -d x --output-format json {url}/"))
        .with_code(0)
        .json();
    assert_eq!((json["requests"].as_u64(), server.stats().requests), (Some(30), 30));
    run(&format!("oha -n 3 -c 1 --host h {url}/"))
        .with_code(0)
        .line("Requests      [total, rate, throughput]");
    for (line, code, words) in [
        ("", 2, "error: a URL is needed"),
        ("--urls-from-file urls", 2, "--urls-from-file is not done by brunt oha"),
        ("--bogus http://h/", 2, "unexpected argument '--bogus' found"),
        ("h:x", 1, "unsupported protocol scheme"),
    ] {
        let ran = run(&format!("oha {line}")).with_code(code);
        assert!(ran.stderr.contains(words), "{line}: {}", ran.stderr);
    }
}

#[test]
fn what_ohas_deadline_cuts_off_is_no_failure() {
    let service = ServiceTime::parse("fixed:600ms").unwrap();
    let (_server, url) = server(Config { service, ..Config::default() });
    let scratch = Scratch::new("oha-deadline");
    let file = text(&scratch.path("a.csv"));
    let line = format!("oha -z 1s -c 4 --results {file} --output-format json {url}/");
    let ran = run(&line).with_code(0);
    ran.complains_once(&["requests under way at the end, in no figure: 4"]);
    let json = ran.json();
    assert_eq!((&json["requests"], &json["success"]), (&4.into(), &1.into()), "{json}");
    assert_eq!(json["status_codes"].as_object().unwrap().len(), 1, "{json}");
    assert_eq!(json["brunt"]["generator"]["interrupted"], false, "{json}");
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 8, "all are stored");
    let ran = run(&format!("oha -z 1s -w -c 4 --output-format json {url}/")).with_code(0);
    assert_eq!((ran.json()["requests"].as_u64(), ran.stderr.as_str()), (Some(8), ""));
}

#[test]
fn a_place_for_the_report_is_opened_first() {
    let (server, url) = server(Config::default());
    let ran = run(&format!("oha -n 3 -c 1 -o /nowhere/x {url}/")).with_code(1);
    ran.complains_once(&["/nowhere/x: no such file or directory"]);
    assert_eq!(server.stats().connections_total, 0);
}

#[test]
fn rows_that_cannot_be_written_end_hey() {
    let (server, url) = server(Config::default());
    let scratch = Scratch::new("hey-full");
    // A file may have 8 blocks of 512 bytes; more is an error, since the signal is ignored.
    let hey = format!("{} hey -z 30s -c 2 -q 500 -o csv {url}/", env!("CARGO_BIN_EXE_brunt"));
    let script = format!("trap '' XFSZ; ulimit -f 8; exec {hey}");
    let mut command = Command::new("sh");
    let out = std::fs::File::create(scratch.path("rows")).unwrap();
    command.args(["-c", &script]).stdin(Stdio::null()).stdout(out).stderr(Stdio::piped());
    let ran = start(command).wait().with_code(1);
    ran.complains_once(&["brunt hey: writing to standard output: file too large"]);
    assert!(server.stats().requests < 25_000, "it goes on for nothing");
    let mut command = Command::new("sh");
    let script =
        format!("{} hey -n 400 -c 2 -o csv {url}/ | head -n 1", env!("CARGO_BIN_EXE_brunt"));
    command.args(["-c", &script]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = start(command).wait().with_code(0);
    assert_eq!(ran.stdout.lines().count(), 1);
    // 20 ms of a closed loop on a machine that other tests use may be INVALID, and nothing else is said.
    let said: Vec<&str> = ran.stderr.lines().collect();
    let is_verdict = |line: &&str| line.starts_with("brunt: INVALID: ");
    assert!(said.len() <= 1 && said.iter().all(is_verdict), "{said:?}");
}

#[test]
fn the_name_decides_the_dialect() {
    let scratch = Scratch::new("names");
    for (name, words) in
        [("wrk", "Usage: wrk"), ("perfer", "*-*-* A URL is required."), ("hey", "Usage: hey")]
    {
        let link = scratch.path(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_brunt"), &link).unwrap();
        let ran = real(&text(&link));
        assert!(format!("{}{}", ran.stdout, ran.stderr).starts_with(words), "{name}: {ran:#?}");
    }
}

#[test]
fn help_knows_the_tools() {
    run("help").with_code(0).line("  perfer       Speak perfer's command line");
    assert!(run("help perfer").with_code(0).stdout.contains("other-tools.md"));
    let ran = run("perffer").with_code(2);
    assert!(ran.stderr.contains("did you mean perfer?"), "{}", ran.stderr);
    for (line, code) in
        [("perfer --help", 1), ("hey --help", 0), ("oha --help", 0), ("wrk --help", 1)]
    {
        let ran = run(line).with_code(code);
        assert!(
            format!("{}{}", ran.stdout, ran.stderr).to_lowercase().contains("usage: "),
            "{line}"
        );
    }
}

#[test]
fn any_results_are_told_in_any_layout() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("layouts");
    let (arrow, csv) = (text(&scratch.path("a.arrow")), text(&scratch.path("a.csv")));
    run(&format!("bench -c 4 -n 400 -cpus 1 -output {arrow} {url}/p")).with_code(0);
    run(&format!("encode -output={csv} {arrow}")).with_code(0);
    let cases = [
        ("wrk", &["  1 threads and 4 connections", "  400 requests in ", "Transfer/sec:"][..]),
        (
            "perfer",
            &["  Connections:     4 connection established", "  Requests:        400 requests"],
        ),
        ("hey", &["  [200]\t400 responses", "  DNS+dialup:\t"]),
        ("k6-like", &["    http_req_waiting", "    http_reqs", "    data_received"]),
    ];
    for (kind, begins) in cases {
        let ran = run(&format!("report -type={kind} {arrow}")).with_code(0);
        for begin in begins {
            ran.line(begin);
        }
        assert!(
            ran.stdout.contains(&format!("{url}/p")) == matches!(kind, "wrk" | "perfer"),
            "{kind}"
        );
        run(&format!("report -type={kind} {csv}")).with_code(0);
    }
    let ran = run(&format!("report -type=k6-like {csv}")).with_code(0);
    assert!(!ran.stdout.contains("http_req_waiting"), "no made-up phase: {}", ran.stdout);
}
