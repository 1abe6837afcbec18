//! `brunt import` of a recording, and the script that comes out against a site that refuses old tokens.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::{Scratch, run};

/// What users got to, in order; a refusal has the status.
pub(crate) type Events = Arc<Mutex<Vec<String>>>;

/// A site as crate import's `board.har` recorded it, with other tokens and numbers for each session.
pub(crate) fn site() -> (String, Events) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let events = Events::default();
    let record = Arc::clone(&events);
    std::thread::spawn(move || {
        for conn in listener.incoming().flatten() {
            let record = Arc::clone(&record);
            std::thread::spawn(move || serve(&conn, &record));
        }
    });
    (format!("http://{address}"), events)
}

fn serve(conn: &TcpStream, events: &Events) {
    let mut reader = BufReader::new(conn);
    while let Some((head, body)) = request(&mut reader) {
        let line = head.lines().next().unwrap_or_default().replace(" HTTP/1.1", "");
        let (status, more, text) = answer(&line, &head, &body);
        events.lock().unwrap().push(format!("{line} {}", &status[..3]));
        let length = text.len();
        let answer = format!("HTTP/1.1 {status}\r\n{more}Content-Length: {length}\r\n\r\n{text}");
        if (&mut &*conn).write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn request(reader: &mut impl BufRead) -> Option<(String, String)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).ok().filter(|len| *len > 0)?;
    }
    let lower = head.to_ascii_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).ok()?))
}

const HTML: &str = "Content-Type: text/html\r\n";
const JSON: &str = "Content-Type: application/json\r\n";

fn answer(line: &str, head: &str, body: &str) -> (&'static str, String, String) {
    let head = head.to_ascii_lowercase();
    let has = |text: &str| head.contains(&text.to_ascii_lowercase());
    let visitor = has("cookie: sid=visitor5h3kQ9");
    let member = has("cookie: sid=member8Jx02Lp") && has("x-csrf-token: page6Tz93vBn4");
    let form =
        "<form action='/login' method=post><input type=hidden name=token value='form7Yb21kDs+/='>";
    let headers = |name: &str, more: &str| format!("{name}{more}");
    match line {
        "GET /login" => {
            ("200 OK", headers(HTML, "Set-Cookie: sid=visitor5h3kQ9; Path=/\r\n"), form.to_owned())
        }
        "POST /login"
            if visitor && body == "token=form7Yb21kDs%2B%2F%3D&user=ada&password=engine+1843" =>
        {
            let more = "Location: /board\r\nSet-Cookie: sid=member8Jx02Lp; Path=/\r\n";
            ("303 See Other", more.to_owned(), String::new())
        }
        "GET /board" if has("cookie: sid=member8Jx02Lp") => {
            ("200 OK", HTML.to_owned(), "<meta name=csrf-token content=page6Tz93vBn4>".to_owned())
        }
        "POST /api/posts" if member && body == "{\"title\":\"Hello\"}" => {
            ("201 Created", JSON.to_owned(), "{\"post\":{\"id\":905}}".to_owned())
        }
        "PUT /api/posts/905" if member && body == "{\"id\":905,\"title\":\"Hello again\"}" => {
            ("200 OK", JSON.to_owned(), "{}".to_owned())
        }
        "GET /board?show=905" if has("cookie: sid=member8Jx02Lp") => {
            ("200 OK", HTML.to_owned(), "Hello again".to_owned())
        }
        _ => ("422 Unprocessable Content", HTML.to_owned(), String::new()),
    }
}

#[test]
fn the_script_of_a_recording_passes_another_session() {
    let scratch = Scratch::new("imports");
    let har = concat!(env!("CARGO_MANIFEST_DIR"), "/../import/tests/har/board.har");
    let script = scratch.path("board.js").display().to_string();
    let ran = run(&format!("import {har} -output {script}")).with_code(0);
    assert!(ran.stderr.contains("stats.tracker.example left out: a third party"), "{ran:#?}");
    let (address, events) = site();
    run(&format!("run -q -e BASE_URL={address} {script}")).with_code(0);
    let expect = [
        "GET /login 200",
        "POST /login 303",
        "GET /board 200",
        "POST /api/posts 201",
        "PUT /api/posts/905 200",
        "GET /board?show=905 200",
    ];
    assert_eq!(*events.lock().unwrap(), expect);
}

#[test]
fn an_access_log_is_replayed_at_a_multiple_of_its_rate() {
    let scratch = Scratch::new("imports-log");
    let line = |minute: u32, request: &str| {
        format!("10.0.0.1 - - [27/Nov/2026:10:0{minute}:25 +0000] \"{request} HTTP/1.1\" 200 612\n")
    };
    let log = [line(0, "GET /login"), line(1, "GET /login"), line(1, "POST /login")].concat();
    let log = scratch.file("access.log", log);
    let targets = scratch.path("day.txt").display().to_string();
    let refused = run(&format!("import {log} -output {targets}")).with_code(2);
    assert!(refused.stderr.contains("-base-url"), "{refused:#?}");
    let (address, events) = site();
    let ran = run(&format!("import {log} -base-url {address} -output {targets}")).with_code(0);
    assert!(ran.stderr.contains("1 POST left out"), "{ran:#?}");
    let rate = scratch.path("day.rate");
    assert!(std::fs::read_to_string(&rate).unwrap().contains("1/mx2m # 2026-11-27T10:00Z"));
    let rate = rate.display();
    run(&format!(
        "attack -q -targets={targets} -shape=replay:{rate},3000x -duration=200ms -output=/dev/null"
    ))
    .with_code(0);
    assert_eq!(*events.lock().unwrap(), ["GET /login 200"; 10]);
}
