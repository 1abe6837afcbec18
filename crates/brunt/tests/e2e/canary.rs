//! One secret in every flag and variable that takes a URL, a header or a credential, searched for in all that comes out: results, reports,
//! a stored run, both streams. Flags are those of the command's own help, so that a new one has to be given its place here.

use std::fs;
use std::path::Path;

use demo::Config;

use crate::{Ran, Scratch, brunt, run, server, start, text};

const CANARY: &str = "CANARYinthemine";

/// Values of flags that hold no secret: numbers, times, files, choices, and what is sent or shown as it is.
const PLAIN: [&str; 40] = [
    "",
    "N",
    "DURATION",
    "FILE",
    "DIR",
    "SIZE",
    "N/DURATION",
    "SHAPE",
    "ADDR:PORT",
    "[ADDR:PORT]",
    "IP,…",
    "IP[:PORT],…",
    "FROM:PORT:TO:PORT",
    "HOST:PORT:ADDRESS,…",
    "FILE,…",
    "'EXPR, …'",
    "KIND:FILE",
    "REGEX",
    "PATH",
    "LAW",
    "METHOD",
    "LIST",
    "DIR,…",
    "TIME:VUS",
    "TIME:VUS,…",
    "NAMES",
    "FROM:TO",
    "gates,rate",
    "N,…",
    "SHARE",
    "NET",
    "HOST",
    "PLACE",
    "NAME,…",
    "KIND",
    "HOST:PORT",
    "ADDRESS",
    "TIME",
    "DURATION:TARGET",
    "DURATION:TARGET,…",
];

/// What a secret is put into: the flags of these values, by the value's name in the help.
const SECRET: [&str; 8] = [
    "'NAME: VALUE'",
    "'NAME=VALUE; …'",
    "'NAME=VALUE; …'|FILE",
    "URL",
    "NAME=VALUE",
    "KEY=VALUE",
    "NAME=ARG",
    "TEXT",
];

/// Flags of a name or a label, in which a URL with a password may stand, and those that take none of either.
const NAMED: [(&str, bool); 9] = [
    ("-name", true),
    ("-save", false),
    ("-watch-name", false),
    ("-agent-labels", false),
    ("-scenario", false),
    ("-traces-output", false),
    ("-output", true),
    ("-user-agent", true),
    ("-label", true),
];

/// Flags of a command that may hold a secret: those whose value is no plain one.
fn flags_with_secrets(command: &str) -> Vec<String> {
    let help = run(&format!("{command} -h")).stdout;
    let rows = help.lines().filter(|line| line.starts_with("  -"));
    let mut flags = Vec::new();
    for row in rows {
        let (first, value) = name_and_value(row);
        let is_choice = value.contains('|') && !value.contains("VALUE");
        let is_plain = PLAIN.contains(&&*value) || is_choice;
        match NAMED.iter().find(|(name, _)| *name == first) {
            Some((_, may_hold_one)) if !may_hold_one => {}
            None if is_plain => {}
            None if !SECRET.contains(&&*value) => {
                panic!("{command} {row}: may its value hold a secret? ({value:?})")
            }
            _ => flags.push(first),
        }
    }
    flags
}

/// The first name of a flag, and what its value is called: `-header, -H 'NAME: VALUE'`, then the text, a column or a space away.
fn name_and_value(row: &str) -> (String, String) {
    let row = row.trim();
    let first = row.split([',', ' ']).next().unwrap().to_owned();
    let mut rest = row;
    while rest.starts_with('-') {
        let end = rest.find(' ').unwrap_or(rest.len());
        let is_last = !rest[..end].ends_with(',');
        rest = rest[end..].strip_prefix(' ').unwrap_or_default();
        if is_last {
            break;
        }
    }
    // After a name without a value comes the gap before the next column.
    let end = match rest.strip_prefix('\'').and_then(|inner| inner.find('\'')) {
        Some(quote) => rest[quote + 2..].find(' ').map(|at| at + quote + 2),
        None => rest.find(' '),
    };
    (first, rest[..end.unwrap_or(rest.len())].to_owned())
}

/// A value with the secret for a flag.
fn values(flag: &str, address: &str) -> Vec<String> {
    let url = format!("http://u:{CANARY}@{address}/metrics?token={CANARY}");
    match flag {
        "-header" => ["Authorization: Bearer", "Cookie: s=", "X-Api-Key:", "X-Vault-Token:"]
            .map(|field| format!("{field} {CANARY}"))
            .to_vec(),
        "-proxy-header" => vec![format!("Proxy-Authorization: Basic {CANARY}")],
        "-cookies" => vec![format!("session={CANARY}")],
        "-name" => vec![url],
        // A user is refused there.
        "-watch-scrape" => vec![format!("http://{address}/metrics?token={CANARY}")],
        "-label" => vec![format!("password={CANARY}"), format!("at={url}")],
        "-output" => vec![format!("influxdb=http://u:{CANARY}@{address}/db")],
        other => panic!("{other}: no value with a secret is known for it"),
    }
}

/// The secret in a file below a folder.
fn leaks(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(leaks(&path));
        } else if fs::read(&path)
            .unwrap()
            .windows(CANARY.len())
            .any(|part| part == CANARY.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

fn check(ran: &Ran, what: &str) {
    for stream in [&ran.stdout, &ran.stderr] {
        let line = stream.lines().find(|line| line.contains(CANARY));
        assert_eq!(line, None, "{what}");
    }
}

/// Runs a command with all its secrets and all its documents, and searches those, and what is made of the results later.
fn holds_its_secrets(command: &str, own: &[&str]) {
    let (_served, url) = server(Config::default());
    let address = url.strip_prefix("http://").unwrap();
    let scratch = Scratch::new(&format!("canary-{command}"));
    let file = |name: &str| text(&scratch.path(name));
    let (rows, store) = (file("rows.arrow"), file("store"));
    let mut ran = brunt(&format!("-redact secrets {command}"));
    ran.args(own);
    for flag in flags_with_secrets(command) {
        for value in values(&flag, address) {
            ran.args([&flag, &value]);
        }
    }
    ran.args(["-watch-every", "100ms", "-output", &rows, "-save", "kept", "-store", &store]);
    for ending in ["html", "json", "md", "txt", "xml"] {
        ran.args(["-report", &file(&format!("report.{ending}"))]);
    }
    ran.env("HTTP_PROXY", format!("http://u:{CANARY}@{address}"));
    ran.env("NO_PROXY", "127.0.0.1").env("INFLUX_TOKEN", CANARY);
    ran.arg(format!("http://u:{CANARY}@{address}/?token={CANARY}"));
    check(&start(ran).wait().with_code(0), command);
    let found = leaks(&scratch.0);
    assert!(found.is_empty(), "{command}: {found:#?}");
    // Messages of results are compressed.
    for words in ["encode -to json", "encode -to csv", "report", "report -type=html"] {
        let ran = run(&format!("{words} {rows}")).with_code(0);
        assert!(!ran.stdout.is_empty());
        check(&ran, words);
    }
    check(&run(&format!("runs show kept -store {store}")).with_code(0), "runs show");
}

#[test]
fn issue_42_an_attack_keeps_each_secret_to_itself() {
    holds_its_secrets("attack", &["-rate=20", "-duration=200ms"]);
}

#[test]
fn issue_42_a_bench_keeps_each_secret_to_itself() {
    holds_its_secrets("bench", &["-n", "10", "-c", "2"]);
}

/// What cannot be used is named in the message that refuses it.
#[test]
fn issue_42_messages_keep_secrets_to_themselves() {
    let url = format!("http://u:{CANARY}@127.0.0.1:9/db?token={CANARY}");
    for flag in ["-output", "-watch-scrape"] {
        let mut ran = brunt("-redact secrets bench -n 1");
        ran.args([
            flag,
            &match flag {
                "-output" => format!("influxdb={url}"),
                _ => url.replace("http:", "gopher:"),
            },
        ]);
        ran.arg(&url);
        let ran = start(ran).wait();
        assert_ne!(ran.code, Some(0), "{flag}");
        check(&ran, flag);
    }
}

/// The same by the kind: what is wrong may be written in any way, in an argument, a variable or a file.
#[test]
fn issue_42_values_that_are_found_show_no_secret() {
    let scratch = Scratch::new("canary-found");
    scratch.file("targets", format!("GET http://127.0.0.1:9/\nAuthorization Bearer {CANARY}\n"));
    let import = format!("import x from 'https://u:{CANARY}@127.0.0.1:9/m.js?token={CANARY}';");
    scratch.file("s.js", format!("{import} export default function () {{}}\n"));
    scratch.file("plain.js", "export default function () {}\n");
    let user = format!("u:{CANARY}@h:p");
    let url = format!("http://u:{CANARY}@127.0.0.1:9/?token={CANARY}");
    let cases: [(&str, &str, &str); 12] = [
        ("attack -rate 1 -duration 1s -targets targets", "", ""),
        ("bench -n 1 -header", &format!("Authorization Bearer {CANARY}"), ""),
        ("grpc -call a.B/C", &url, ""),
        ("grpc -call a.B/C", &user, ""),
        ("run s.js", "", ""),
        ("vendor s.js", "", ""),
        ("run", &url, ""),
        ("run plain.js -q -o", &format!("statsd={url}"), ""),
        ("run plain.js -q -o", &format!("datadog={url}"), ""),
        ("run plain.js -q -o", "statsd", "K6_STATSD_ADDR"),
        ("run plain.js -q -o", "opentelemetry", "K6_OTEL_GRPC_EXPORTER_ENDPOINT"),
        ("run plain.js -q -o", "experimental-prometheus-rw", "K6_PROMETHEUS_RW_SERVER_URL"),
    ];
    for (line, last, variable) in cases {
        let mut ran = brunt(&format!("-redact secrets {line}"));
        ran.current_dir(&scratch.0);
        ran.args(Some(last).filter(|last| !last.is_empty()));
        if !variable.is_empty() {
            ran.env(variable, &user);
        }
        let ran = start(ran).wait();
        assert_ne!(ran.code, Some(0), "{line} {last}: {ran:#?}");
        check(&ran, &format!("{line} {last} {variable}"));
    }
}

/// What tools of others print of a test.
#[test]
fn issue_42_tools_show_no_credentials() {
    let (_served, url) = server(Config::default());
    let address = url.strip_prefix("http://").unwrap();
    let of_user = format!("http://u:{CANARY}@{address}/");
    let (field, of_ab) = (format!("Authorization: Bearer {CANARY}"), format!("{url}/"));
    for (line, last) in [
        ("ab -n 2 -v 4 -H", [field.as_str(), of_ab.as_str()].as_slice()),
        ("perfer -d 1 -c 1 -t 1", &[of_user.as_str()]),
        ("hey -n 2 -c 1", &[of_user.as_str()]),
        ("oha -n 2 -c 1 --no-tui", &[of_user.as_str()]),
    ] {
        let mut ran = brunt(&format!("-redact secrets {line}"));
        ran.args(last);
        check(&start(ran).wait().with_code(0), line);
    }
}
