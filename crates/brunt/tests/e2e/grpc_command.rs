//! `brunt grpc` and `brunt ghz`, against servers whose frames the tests write.

use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::http2::{frame, serve_frames};
use crate::{Scratch, free_port, run, text};

const PROTO: &str = "syntax = \"proto3\"; package p; service S { rpc M(Ask) returns (Reply); rpc W(Ask) returns (stream Reply); } message Ask { string text = 1; int32 n = 2; } message Reply { string text = 1; }";

/// A field as HPACK has it without any table.
fn field(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

/// A field of protobuf that has a length. Numbers and lengths are small.
pub(crate) fn bytes(number: u8, value: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, value.len() as u8], value].concat()
}

/// An answer with these messages, which ends with OK.
fn answer(stream: u32, messages: &[&[u8]]) -> Vec<u8> {
    let head = [vec![0x88], field("content-type", "application/grpc")].concat();
    let body: Vec<u8> = messages
        .iter()
        .flat_map(|message| [&[0, 0, 0, 0, message.len() as u8], *message].concat())
        .collect();
    let parts = [
        frame(1, 4, stream, &head),
        frame(0, 0, stream, &body),
        frame(1, 5, stream, &field("grpc-status", "0")),
    ];
    parts.concat()
}

pub(crate) fn one(stream: u32) -> Option<Vec<u8>> {
    Some(answer(stream, &[&bytes(1, b"a")]))
}

fn three(stream: u32) -> Option<Vec<u8>> {
    let message = bytes(1, b"a");
    Some(answer(stream, &[&message, &message, &message]))
}

fn invalid(stream: u32) -> Option<Vec<u8>> {
    let fields = [
        vec![0x88],
        field("content-type", "application/grpc"),
        field("grpc-status", "3"),
        field("grpc-message", "bad arg"),
    ];
    Some(frame(1, 5, stream, &fields.concat()))
}

pub(crate) fn address(answer: fn(u32) -> Option<Vec<u8>>) -> String {
    serve_frames(answer).trim_start_matches("http://").trim_end_matches('/').to_owned()
}

/// A folder with the .proto, and the flags that name it.
fn folder(name: &str) -> (Scratch, String) {
    let scratch = Scratch::new(name);
    let proto = scratch.file("t.proto", PROTO);
    (scratch, format!("-plaintext -proto {proto}"))
}

/// Issue 45: a call is a request of its own kind: paced exactly, judged by its status.
#[test]
fn calls_are_made_at_a_rate() {
    let (scratch, flags) = folder("grpc-rate");
    let results = text(&scratch.path("calls.arrow"));
    let line = format!(
        "grpc {} {flags} -call p.S/M -data {{\"text\":\"a\"}} -rate 100 -duration 500ms -output {results}",
        address(one)
    );
    let report = run(&line).with_code(0);
    assert!(report.stdout.contains("OK:50") || report.stdout.contains("OK"), "{}", report.stdout);
    let json = run(&format!("report -type=json {results}")).with_code(0).json();
    assert_eq!((&json["requests"], &json["success"]), (&50.into(), &1.into()), "{json}");
    assert_eq!(json["bytes_out"]["mean"], 8, "5 bytes of the frame, 3 of the message: {json}");
    let line = format!(
        "grpc {} {flags} -call p.S/M -n 5 -fail-on status.INVALID_ARGUMENT>0 -json",
        address(invalid)
    );
    let json = run(&line).with_code(7).json();
    assert_eq!(json["errors"][0], "INVALID_ARGUMENT: bad arg", "{json}");
}

/// Templates make each call another; workers share a connection; a server's stream ends with its last message.
#[test]
fn workers_call_with_templates_and_streams_end() {
    let (_scratch, flags) = folder("grpc-workers");
    let line = format!(
        "grpc {} {flags} -call p.S.M -data {{\"text\":\"{{{{.RequestNumber}}}}\",\"n\":{{{{.RequestNumber}}}}}} -workers 4 -n 40 -json",
        address(one)
    );
    let json = run(&line).with_code(0).json();
    assert_eq!((&json["requests"], &json["success"]), (&40.into(), &1.into()), "{json}");
    let line = format!("grpc {} {flags} -call p.S/W -workers 2 -n 10 -json", address(three));
    let json = run(&line).with_code(0).json();
    assert_eq!((&json["requests"], &json["success"]), (&10.into(), &1.into()), "{json}");
    assert_eq!(json["bytes_in"]["mean"], 24, "three messages of 8 bytes: {json}");
}

/// What the server's reflection answers, one request after the other.
fn reflection(stream: u32) -> Option<Vec<u8>> {
    static ROUND: AtomicUsize = AtomicUsize::new(0);
    let service = bytes(6, &bytes(1, &bytes(1, b"p.S")));
    let field = [bytes(1, b"text"), vec![3 << 3, 1, 4 << 3, 1, 5 << 3, 9]].concat();
    let message = [bytes(1, b"Ask"), bytes(2, &field)].concat();
    let method = [bytes(1, b"M"), bytes(2, b".p.Ask"), bytes(3, b".p.Ask")].concat();
    let file = [
        bytes(1, b"t.proto"),
        bytes(2, b"p"),
        bytes(4, &message),
        bytes(6, &[bytes(1, b"S"), bytes(2, &method)].concat()),
        bytes(12, b"proto3"),
    ];
    let file = bytes(4, &bytes(1, &file.concat()));
    match ROUND.fetch_add(1, Ordering::Relaxed) % 2 {
        0 => Some(answer(stream, &[&service])),
        _ => Some(answer(stream, &[&file])),
    }
}

#[test]
fn servers_and_files_are_listed_and_described() {
    let (_scratch, flags) = folder("grpc-list");
    assert_eq!(run(&format!("grpc list {flags}")).with_code(0).stdout, "p.S\n");
    assert_eq!(run(&format!("grpc list h:1 p.S {flags}")).with_code(0).stdout, "p.S.M\np.S.W\n");
    let described = run(&format!("grpc describe p.S.W {flags} -template")).with_code(0);
    assert_eq!(
        described.stdout,
        "p.S.W is a method:\nrpc W ( .p.Ask ) returns ( stream .p.Reply );\n\nan example of p.Ask as JSON:\n{\n  \"n\": 0,\n  \"text\": \"\"\n}\n"
    );
    let server = address(reflection);
    assert_eq!(
        run(&format!("grpc list {server} -plaintext -json")).with_code(0).stdout,
        "[\"p.S\"]\n"
    );
    let described = run(&format!("grpc describe {server} p.Ask -plaintext")).with_code(0);
    assert_eq!(described.stdout, "p.Ask is a message:\nmessage Ask {\n  string text = 1;\n}\n");
}

/// The first line of what is refused says what and where; nothing is sent.
#[test]
fn wrong_lines_and_servers_have_one_clear_line() {
    let (scratch, flags) = folder("grpc-wrong");
    let bad = scratch.file("bad.proto", "syntax = \"proto3\";\nmessage M { strin x = 1; }");
    let refused = format!("127.0.0.1:{}", free_port());
    let page = TcpListener::bind("127.0.0.1:0").unwrap();
    let http = page.local_addr().unwrap();
    std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        for mut conn in page.incoming().flatten() {
            let mut buf = [0; 1024];
            // The client goes away when it likes; what it says is no matter.
            if conn.read(&mut buf).is_err() {
                continue;
            }
            conn.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").ok();
        }
    });
    for (line, code, words) in [
        (
            format!("grpc h:1 -plaintext -proto {bad} -call p.S/M"),
            3,
            &["bad.proto:2:13: ", "strin"][..],
        ),
        (format!("grpc h:1 {flags} -call p.S/Mm"), 3, &["no method \"Mm\"", "there are M, W"]),
        (format!("grpc h:1 {flags} -call q.S/M"), 3, &["no service \"q.S\"", "did you mean p.S"]),
        (format!("grpc h:1 {flags} -call p.S/M -data {{\"n\":\"x\"}}"), 3, &["line 1:", "int32"]),
        (format!("grpc h:1 {flags} -call p.S/M -data {{\"m\":1}}"), 3, &["line 1:", "\"m\""]),
        (format!("grpc h:1 {flags} -call p.S/M -data {{{{.No}}}}"), 2, &["template", ".No"]),
        (format!("grpc h:1 {flags}"), 2, &["-call"]),
        (format!("grpc {refused} -plaintext -call p.S/M"), 3, &["connection refused"]),
        (format!("grpc list {http} -plaintext"), 3, &["does not speak gRPC"]),
        (format!("grpc describe {flags} p.Nope"), 3, &["no symbol \"p.Nope\""]),
        (format!("ghz --insecure --nosuchflag {refused}"), 1, &["nosuchflag"]),
        (format!("ghz --insecure {refused}"), 1, &["call"]),
    ] {
        let ran = run(&line).with_code(code);
        let stderr = &ran.stderr;
        assert!(words.iter().all(|word| stderr.contains(word)), "{line}: {stderr}");
        assert!(stderr.trim_end().lines().count() <= 2, "{line}: {stderr}");
    }
}

/// ghz's summary and JSON, its exit code 0 whatever the server answers.
#[test]
fn ghz_is_spoken() {
    let (scratch, _) = folder("grpc-ghz");
    let proto = text(&scratch.path("t.proto"));
    let flags = format!("--insecure --proto {proto} --call p.S.M -c 2 -n 20");
    let summary = run(&format!("ghz {flags} {}", address(one))).with_code(0);
    let lines: Vec<&str> = summary.stdout.lines().collect();
    assert_eq!(&lines[..3], ["", "Summary:", "  Count:\t20"], "{}", summary.stdout);
    assert!(summary.stdout.contains("  [OK]   20 responses   \n"), "{}", summary.stdout);
    let json =
        run(&format!("ghz {flags} -O json --skipFirst 4 {}", address(invalid))).with_code(0).json();
    assert_eq!((&json["count"], &json["endReason"]), (&16.into(), &"normal".into()), "{json}");
    assert_eq!(json["statusCodeDistribution"]["InvalidArgument"], 16, "{json}");
    assert_eq!(json["errorDistribution"]["rpc error: code = InvalidArgument desc = bad arg"], 16);
    let refused = format!("127.0.0.1:{}", free_port());
    let json = run(&format!("ghz {flags} -O json {refused}")).with_code(0).json();
    assert_eq!(json["statusCodeDistribution"]["Unavailable"], 20, "{json}");
}

/// Workers come by a schedule, and as many calls are made as were asked for; InfluxDB's lines have the tags by which runs differ.
#[test]
fn ghz_changes_its_workers() {
    let (scratch, _) = folder("grpc-ghz-workers");
    let proto = text(&scratch.path("t.proto"));
    let results = text(&scratch.path("calls.arrow"));
    let flags = format!(
        "--insecure --proto {proto} --call p.S.M --concurrency-schedule step --concurrency-start 1 --concurrency-step 2 --concurrency-end 9 --concurrency-step-duration 100ms"
    );
    let ran = run(&format!(
        "ghz {flags} -z 900ms --duration-stop wait -O influx-summary --results {results} {}",
        address(one)
    ))
    .with_code(0);
    let start = format!("ghz_run,proto=\"{proto}\",call=\"p.S.M\",host=");
    assert!(ran.stdout.starts_with(&start), "{}", ran.stdout);
    assert!(ran.stdout.contains(",concurrency-schedule=step,concurrency-start=1,"), "{ran:#?}");
    assert!(ran.stdout.contains(",has_errors=false count="), "{}", ran.stdout);
    let json = run(&format!("report -type=json {results}")).with_code(0).json();
    let users = json["brunt"]["generator"]["users"].as_u64().unwrap();
    assert!((5..9).contains(&users), "1, 3, 5, 7 for 100 ms each, then 9 for 500: {json}");
    let json = run(&format!("ghz {flags} -n 300 -O json {}", address(one))).with_code(0).json();
    assert_eq!((&json["count"], &json["endReason"]), (&300.into(), &"normal".into()), "{json}");
    let details = run(&format!("ghz {flags} -n 3 -O influx-details {}", address(invalid)));
    let lines: Vec<&str> = details.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{details:#?}");
    let error = r#"error="rpc\ error:\ code\ \=\ InvalidArgument\ desc\ \=\ bad\ arg""#;
    assert!(lines[0].contains(",hasError=true latency=") && lines[0].contains(error), "{lines:?}");
}
