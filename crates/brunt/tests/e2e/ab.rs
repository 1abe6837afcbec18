//! ApacheBench's dialect beside the real ApacheBench: the same command lines against the same servers, the same bytes on the
//! wire, the same reports but for the figures that time makes.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use demo::{Config, ServiceTime};

use crate::nginx::Nginx;
use crate::puma::Puma;
use crate::{Ran, Scratch, brunt, free_port, run, server, signal, start, until};

/// The real ab.
fn real() -> Command {
    let path = "/usr/bin/ab";
    assert!(
        Path::new(path).exists(),
        "this test needs ApacheBench: apt-get install -y apache2-utils"
    );
    let mut command = Command::new(path);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Words that a shell would make of a line, quotes without escapes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

fn real_ab(line: &str) -> Ran {
    let mut command = real();
    command.args(words(line));
    start(command).wait()
}

fn our_ab(line: &str) -> Ran {
    let mut command = brunt("ab");
    command.args(words(line));
    start(command).wait()
}

/// A report without what time decides: its figures, ab's doubts about them, dates. The banner is each program's own.
fn masked(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("This is ApacheBench, Version 2.3 <")
            || line.contains("ApacheBench, Version 2.3 <i>")
        {
            // Their first words, so that scripts find them where ab has them.
            for credit in [lines.next().unwrap(), lines.next().unwrap()] {
                writeln!(out, "{}", credit.split_whitespace().next().unwrap()).unwrap();
            }
            continue;
        }
        if line.contains(": The median and mean for ") {
            lines.next().unwrap();
            continue;
        }
        let percentage =
            line.split_once("%  ").filter(|(percent, _)| percent.trim().parse::<u8>().is_ok());
        match percentage {
            Some((percent, rest)) => {
                let tail = rest
                    .trim_start_matches([' ', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
                writeln!(out, "{percent}%{tail}").unwrap();
            }
            None if TIMED.iter().any(|label| line.contains(label)) => {
                let figure = |c: char| c.is_ascii_digit() || c == '.' || c == ' ';
                let bare: String = line.chars().filter(|&c| !figure(c)).collect();
                writeln!(out, "{bare}").unwrap();
            }
            None if line.starts_with("Date: ") => {}
            None => writeln!(out, "{line}").unwrap(),
        }
    }
    out
}

/// Lines with measured times, which differ from run to run.
const TIMED: [&str; 11] = [
    "Time taken for tests:",
    "Requests per second:",
    "Time per request:",
    "Transfer rate:",
    " kb/s ",
    "Connect:    ",
    "Processing:",
    "Waiting:",
    "Total:  ",
    "Connect:<",
    "Total:<",
];

/// Standard error without what we add to ab's words, and without the flags' own sentences.
fn comparable_stderr(ran: &Ran) -> String {
    let own = |line: &&str| {
        !line.starts_with("brunt ab: ")
            && !line.starts_with("    -")
            && !line.starts_with("        ")
    };
    let lines: Vec<&str> = ran.stderr.lines().filter(own).collect();
    lines.join("\n").replace("/usr/bin/ab", "ab")
}

#[track_caller]
fn same(line: &str) {
    let (real, ours) = (real_ab(line), our_ab(line));
    assert_eq!(masked(&ours.stdout), masked(&real.stdout), "{line}");
    assert_eq!(comparable_stderr(&ours), comparable_stderr(&real), "{line}");
    assert_eq!(ours.code, real.code, "{line}");
}

#[test]
fn reports_on_nginx_are_abs_own() {
    let nginx = Nginx::start("ab-nginx");
    let body = nginx.scratch.file("posted", "a=1&b=2");
    let (plain, tls) = (nginx.plain, nginx.tls);
    let url = format!("http://127.0.0.1:{plain}/");
    let cases = [
        format!("-n 100 -c 10 {url}"),
        format!("-k -n 1005 -c10 {url}"),
        format!("-kqn300 {url}"),
        format!("-n 151 {url}"),
        url.clone(),
        format!("-k -i -n 3 {url}"),
        format!("-n 20 -c 4 {url}no-such-page"),
        format!("-p {body} -T application/x-www-form-urlencoded -n 12 -c 3 {url}"),
        format!("-u {body} -k -n 12 {url}"),
        format!("-d -n 5 {url}"),
        format!("-S -n 5 {url}"),
        format!("-l -d -S -n 5 {url}"),
        format!("-w -n 5 -k {url}"),
        format!("-n 5 -x border=1 -y class=r -z 'class=d id=e' -p {body} {url}"),
        format!("-v 2 -n 2 {url}no-such-page"),
        format!("-v 4 -k -n 2 {url}"),
        format!("-X 127.0.0.1:{plain} http://far.example:81/"),
        format!("-n 3 https://localhost:{tls}/"),
        format!("-I -f TLS1.2 -Z ECDHE-ECDSA-AES128-GCM-SHA256 -n 2 https://localhost:{tls}/"),
        format!("-k -n 4 -c 2 https://127.0.0.1:{tls}/"),
        format!("-J {url}"),
        format!("-t -1 {url}"),
    ];
    cases.iter().for_each(|line| same(line));
}

#[test]
fn reports_on_puma_are_abs_own() {
    let app = "run ->(env) { [200, { 'content-type' => 'text/plain' }, [\"ok\\n\" * (1 + env['QUERY_STRING'].to_i)]] }\n";
    let puma = Puma::start("ab-puma", app, "0:5");
    let url = format!("http://127.0.0.1:{}/", puma.port);
    for line in [
        format!("-n 20 -c 4 {url}"),
        format!("-k -n 20 -c 4 {url}?99"),
        format!("-n 20 -C _session_id=12345678901234567890 {url}/path/to/test"),
    ] {
        same(&line);
    }
}

#[test]
fn errors_have_abs_words_and_codes() {
    let scratch = Scratch::new("ab-wrong");
    let (_server, url) = server(Config::default());
    let cases = [
        String::new(),
        "-h".to_owned(),
        "--help".to_owned(),
        "-V".to_owned(),
        "-n".to_owned(),
        format!("-n x {url}/"),
        format!("-n 0 {url}/"),
        format!("-n 5x {url}/"),
        format!("-c 0 {url}/"),
        format!("-c -1 {url}/"),
        format!("-c 300000 -n 400000 {url}/"),
        format!("-c 2 -n 1 {url}/"),
        format!("-p /nowhere {url}/"),
        format!("-p {} {url}/", crate::text(&scratch.0)),
        format!("-i -p /dev/null {url}/"),
        format!("-p /dev/null -i {url}/"),
        format!("-m POST -u /dev/null {url}/"),
        url.clone(),
        format!("{url}?x"),
        format!("{url}/ -n 2"),
        "http://127.0.0.1:99999/".to_owned(),
        "http://127.0.0.1:abc/".to_owned(),
        "ftp://127.0.0.1/".to_owned(),
        "HTTP://127.0.0.1/".to_owned(),
        "http://no-such-host.invalid/".to_owned(),
        format!("-B 192.0.2.1 {url}/"),
        format!("-n 3 http://127.0.0.1:{}/", free_port()),
        format!("-n 5 {url}/reset"),
        format!("-s 1 {url}/slow?ms=20000"),
        format!("-g /nowhere/x {url}/"),
        format!("-e /nowhere/x {url}/"),
    ];
    for line in &cases {
        let (real, ours) = (real_ab(line), our_ab(line));
        assert_eq!(comparable_stderr(&ours), comparable_stderr(&real), "{line}");
        assert_eq!(ours.code, real.code, "{line}");
    }
    let code = |line: &str| our_ab(line).code.unwrap();
    assert_eq!(cases[26..29].iter().map(|line| code(line)).collect::<Vec<_>>(), [111, 104, 119]);
    // The real one sometimes gets an answer within no time at all.
    assert_eq!(code(&format!("-s 0 {url}/")), 119);
    assert_eq!((code(""), code(&cases[24])), (22, 50));
}

/// A server that resets every connection before it answers: it closes with the request unread.
fn resetting() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            stream.peek(&mut [0]).ok();
        }
    });
    url
}

#[test]
fn failures_are_counted_as_ab_counts_them() {
    let (_server, url) = server(Config::default());
    let resets = resetting();
    for line in [
        format!("-r -n 5 {resets}/"),
        format!("-r -w -n 5 {resets}/"),
        format!("-n 5 {url}/truncate"),
        format!("-n 3 -l {url}/truncate"),
    ] {
        same(&line);
    }
    let ran = our_ab(&format!("-r -n 5 {resets}/")).with_code(0);
    assert!(ran.stderr.contains("brunt ab: 5 requests were reset; ab counts each"), "{ran:#?}");
    assert!(ran.line("Failed requests:").ends_with(" 10"), "{ran:#?}");
    let refused = our_ab(&format!("-r -n 3 http://127.0.0.1:{}/", free_port())).with_code(0);
    assert_eq!(refused.line("   ("), "   (Connect: 3, Receive: 0, Length: 0, Exceptions: 0)");
}

/// What a command sends, byte for byte, to a server that answers and closes.
fn recorded(make: impl FnOnce(u16) -> Command) -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let started = start(make(listener.local_addr().unwrap().port()));
    let mut connection = None;
    until("somebody connects", || {
        connection = listener.accept().ok();
        connection.is_some()
    });
    let (mut stream, _) = connection.unwrap();
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while !is_whole(&bytes) {
        let n = stream.read(&mut piece).unwrap();
        assert!(n > 0, "the request ends early: {:?}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&piece[..n]);
    }
    stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi").unwrap();
    drop(stream);
    started.wait().with_code(0);
    bytes
}

/// Whether a request's head, and the body it announces first, are there.
fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let announced = head.lines().find_map(|line| line.strip_prefix("Content-length: "));
    body.len() >= announced.map_or(0, |len| len.parse().unwrap())
}

#[test]
fn the_bytes_on_the_wire_are_abs_own() {
    let scratch = Scratch::new("ab-wire");
    let body = scratch.file("posted", "a=1&b=2");
    let lines = [
        "HOST/".to_owned(),
        "-k HOST/p?q=1#frag".to_owned(),
        "-i HOST//double".to_owned(),
        "-m DELETE HOST/a%20b".to_owned(),
        "-m 'G T' 'HOST/a b'".to_owned(),
        "HOST/é".to_owned(),
        format!("-p {body} HOST/"),
        format!("-p {body} -T application/json -k HOST/"),
        format!("-u {body} HOST/"),
        format!("-p {body} -m PATCH HOST/"),
        "-p /dev/null HOST/".to_owned(),
        "-C a=b -C c=d HOST/".to_owned(),
        "-A u:p HOST/".to_owned(),
        "-A a -A b -P c:d HOST/".to_owned(),
        format!("-P a:b -k -C x -A c:d -p {body} -H 'X: y' HOST/"),
        "-H 'X-A: 1' -H X-B:2 -H foo HOST/".to_owned(),
        "-H 'host: l' -H 'User-Agent: me' -H 'ACCEPT: x/y' HOST/".to_owned(),
        "-H 'Hostess: x' -H 'Accept-Encoding: gzip' HOST/".to_owned(),
        "-H 'Connection: close' -k HOST/".to_owned(),
        "-X PROXY http://h.example/x".to_owned(),
        "-X PROXY -P a:b http://h.example:81/x".to_owned(),
        "-X PROXY http://h.example:80/".to_owned(),
    ];
    // A proxy is asked with the absolute URL even where it stands on loopback.
    for line in &lines {
        let with = |mut command: Command, port: u16| {
            let host = format!("127.0.0.1:{port}");
            command.args(words(
                &line.replace("HOST", &format!("http://{host}")).replace("PROXY", &host),
            ));
            command
        };
        let mut ports = [0; 2];
        let real = recorded(|port| {
            ports[0] = port;
            with(real(), port)
        });
        let ours = recorded(|port| {
            ports[1] = port;
            with(brunt("ab"), port)
        });
        let text = |bytes: &[u8], port: u16| {
            String::from_utf8(bytes.to_vec()).unwrap().replace(&format!(":{port}"), ":PORT")
        };
        assert_eq!(text(&ours, ports[1]), text(&real, ports[0]), "{line}");
    }
}

#[test]
fn files_feed_the_seeds_own_awk_line() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("ab-files");
    let (list, csv) =
        (crate::text(&scratch.path("listN.log")), crate::text(&scratch.path("e.csv")));
    our_ab(&format!("-n 50 -c 5 -g {list} -e {csv} {url}//path/to/test")).with_code(0);
    let awk = r#"awk -F '\t' '{print $4 "," $5 "," $6 ",listN"}' < listN.log | tail -n +2"#;
    let output = Command::new("sh").args(["-c", awk]).current_dir(&scratch.0).output().unwrap();
    let bench = String::from_utf8(output.stdout).unwrap();
    assert_eq!(bench.lines().count(), 50);
    let mut before = 0;
    for line in bench.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let [dtime, ttime, wait, label] = fields[..] else { panic!("{line}") };
        let number = |text: &str| text.parse::<u64>().unwrap();
        assert!(number(wait) <= number(dtime) + 1 && number(dtime) <= number(ttime) + 1, "{line}");
        assert!(number(ttime) >= before, "sorted by the total time");
        before = number(ttime);
        assert_eq!(label, "listN");
    }
    let head = std::fs::read_to_string(scratch.path("listN.log")).unwrap();
    assert!(head.starts_with("starttime\tseconds\tctime\tdtime\tttime\twait\n"), "{head}");
    let percentages = std::fs::read_to_string(scratch.path("e.csv")).unwrap();
    let lines: Vec<&str> = percentages.lines().collect();
    assert_eq!((lines.len(), lines[0]), (102, "Percentage served,Time in ms"));
    assert!(lines[1].starts_with("0,") && lines[101].starts_with("100,"), "{percentages}");
}

#[test]
fn a_time_limit_ends_it_and_a_later_number_counts() {
    let service = ServiceTime::parse("fixed:20ms").unwrap();
    let (_server, url) = server(Config { workers: 1, service, ..Config::default() });
    let timed = our_ab(&format!("-n 5 -t 1 {url}/")).with_code(0);
    let complete: u64 = timed.line("Complete requests:")[24..].parse().unwrap();
    assert!((10..=55).contains(&complete), "{timed:#?}");
    // On a busy machine the verdict follows.
    let finished = format!("Finished {complete} requests");
    assert_eq!(timed.stderr.lines().next(), Some(finished.as_str()));
    let counted = our_ab(&format!("-t 1 -n 5 {url}/")).with_code(0);
    assert!(counted.line("Complete requests:").ends_with(" 5"), "{counted:#?}");
}

#[test]
fn an_interrupt_prints_the_table_and_ends_with_1() {
    let service = ServiceTime::parse("fixed:20ms").unwrap();
    let (server, url) = server(Config { workers: 1, service, ..Config::default() });
    let mut command = brunt("ab -n 100000");
    command.arg(format!("{url}/"));
    let started = start(command);
    until("some were answered", || server.stats().requests > 3);
    signal("INT", started.pid());
    let ran = started.wait().with_code(1);
    ran.line("Percentage of the requests served");
    ran.line("Complete requests:");
    assert!(!ran.stderr.contains("Finished"), "{ran:#?}");
}

#[test]
fn it_answers_to_abs_name() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("ab-name");
    let link = scratch.path("ab");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_brunt"), &link).unwrap();
    let mut command = Command::new(&link);
    command.args(["-n", "3", &format!("{url}/")]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = start(command).wait().with_code(0);
    assert!(ran.line("Complete requests:").ends_with(" 3"), "{ran:#?}");
}

#[test]
fn stored_results_are_reported_in_abs_layout() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("ab-stored");
    let file = crate::text(&scratch.path("b.arrow"));
    run(&format!("bench -c 4 -n 40 -keep-headers -output {file} {url}/page?x")).with_code(0);
    let ran = run(&format!("report -type=ab {file}")).with_code(0);
    let expect = [
        ("Server Hostname:", "127.0.0.1"),
        ("Document Path:", "/page?x"),
        ("Concurrency Level:", "4"),
        ("Complete requests:", "40"),
        ("Failed requests:", "0"),
    ];
    for (label, value) in expect {
        assert_eq!(ran.line(label)[24..], *value, "{label}");
    }
    ran.line(" 100%");
}
