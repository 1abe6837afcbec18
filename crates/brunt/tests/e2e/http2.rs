//! HTTP/2: a real nginx, with and without TLS, and a server that ends streams and connections.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use crate::nginx::{Nginx, PAGE};
use crate::{Scratch, run};

#[test]
fn streams_share_a_connection() {
    let nginx = Nginx::start("http2");
    let cert = crate::text(&nginx.scratch.path("cert.pem"));
    let cases = [
        (format!("-h2c http://127.0.0.1:{}/", nginx.h2c), 2, "HTTP/2.0"),
        (format!("-root-certs={cert} https://127.0.0.1:{}/", nginx.alpn), 2, "HTTP/2.0"),
    ];
    for (rest, connections, version) in cases {
        let json = run(&format!("bench -c 2 -m 8 -n 900 -cpus 1 -json {rest}")).with_code(0).json();
        assert_eq!(json["requests"], 900, "{rest}");
        assert_eq!(json["status_codes"]["200"], 900, "{rest}: {json}");
        assert_eq!(json["bytes_in"]["total"], 900 * PAGE.len(), "{rest}");
        assert_eq!(json["brunt"]["generator"]["connections"], connections, "{rest}");
        let log = std::fs::read_to_string(nginx.scratch.path("access.log")).unwrap();
        assert!(log.lines().all(|line| line == version), "{log}");
    }
    let one = format!(
        "bench -http2=false -root-certs={cert} -c 2 -n 10 -json https://127.0.0.1:{}/",
        nginx.alpn
    );
    assert_eq!(run(&one).with_code(0).json()["status_codes"]["200"], 10);
    let log = std::fs::read_to_string(nginx.scratch.path("access.log")).unwrap();
    assert_eq!(log.lines().filter(|line| *line == "HTTP/1.1").count(), 10, "{log}");
}

/// What is sought by connections must not be the streams of one.
#[test]
fn connections_are_sought_over_http2() {
    let nginx = Nginx::start("http2-seek");
    let cert = crate::text(&nginx.scratch.path("cert.pem"));
    // Too short for the thousand requests after which nginx ends a connection.
    let flags = "-by=connections -from=3 -to=3 -max-steps=1 -step=20ms -warmup=0s -cooldown=0s";
    let url = format!("-root-certs={cert} https://127.0.0.1:{}/", nginx.alpn);
    run(&format!("seek -objective p50<9s,errors<50% {flags} -cpus 1 {url}"));
    let read = |name: &str| std::fs::read_to_string(nginx.scratch.path(name)).unwrap();
    assert!(read("access.log").lines().all(|line| line == "HTTP/2.0"));
    let log = read("connections.log");
    let connections: std::collections::BTreeSet<&str> = log.lines().collect();
    assert_eq!(connections.len(), 3, "{connections:?}");
}

/// nginx says GOAWAY after each 1,000 requests of a connection; no hit is lost by it.
#[test]
fn an_orderly_goaway_costs_nothing() {
    let nginx = Nginx::start("http2-goaway");
    let url = format!("http://127.0.0.1:{}/", nginx.h2c);
    let json = run(&format!("bench -c 1 -m 16 -n 4000 -cpus 1 -h2c -json {url}")).with_code(0);
    let json = json.json();
    assert_eq!(json["status_codes"]["200"], 4000, "{json}");
    let connections = json["brunt"]["generator"]["connections"].as_u64().unwrap();
    assert!((4..=8).contains(&connections), "{connections} connections");
    // A body and an unsafe method make no difference: the server said what it did not process.
    let body = nginx.scratch.file("body", "x");
    let post =
        format!("bench -c 1 -m 16 -n 4000 -cpus 1 -h2c -method POST -body={body} -json {url}");
    let json = run(&post).with_code(0).json();
    assert_eq!(json["status_codes"]["405"], 4000, "{json}");
    assert_eq!(json["errors"][0], "405 Method Not Allowed", "{json}");
}

/// REFUSED_STREAM says that the server did not begin: the hit is sent again, once.
#[test]
fn a_refused_stream_is_asked_for_again() {
    fn refused(stream: u32) -> Option<Vec<u8>> {
        Some(frame(3, 0, stream, &7u32.to_be_bytes()))
    }
    fn every_other(stream: u32) -> Option<Vec<u8>> {
        if stream % 4 == 1 { refused(stream) } else { Some(frame(1, 5, stream, &[0x88])) }
    }
    let cases: [(fn(u32) -> Option<Vec<u8>>, u64); 2] = [(every_other, 10), (refused, 0)];
    for (answer, successes) in cases {
        let url = serve_frames(answer);
        let bench = format!("bench -h2c -c 1 -n 10 -method POST -cpus 1 -json {url}");
        let json = run(&bench).with_code(0).json();
        assert_eq!(json["status_codes"]["0"].as_u64().unwrap_or(0), 10 - successes, "{json}");
    }
}

#[test]
fn a_rate_bodies_and_large_answers() {
    let nginx = Nginx::start("http2-attack");
    nginx.scratch.file("large", vec![b'x'; 3 << 20]);
    let body = nginx.scratch.file("body", vec![b'y'; 300_000]);
    let base = format!("http://127.0.0.1:{}", nginx.h2c);
    let text =
        format!("GET {base}/large\nGET {base}/\nHEAD {base}/large\nPOST {base}/none\n@{body}\n");
    let targets = nginx.scratch.file("targets", text);
    let attack = format!("attack -h2c -rate=80 -duration=500ms -targets={targets} -json");
    let json = run(&attack).with_code(0).json();
    assert_eq!(json["requests"], 40);
    // nginx serves files to GET and HEAD alone.
    assert_eq!(json["status_codes"]["200"], 30, "{json}");
    assert_eq!(json["bytes_in"]["total"].as_u64().unwrap() / (3 << 20), 10, "{json}");
    assert_eq!(json["bytes_out"]["total"], 3_000_000);
}

/// A frame. RFC 9113, 4.1.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
    out
}

/// Answers each stream of one connection after the other with what `answer` says; `None` closes.
pub(crate) fn serve_frames(answer: fn(u32) -> Option<Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for conn in listener.incoming().flatten() {
            // The client goes away when it likes.
            std::thread::spawn(move || serve_one(conn, answer).ok());
        }
    });
    url
}

fn serve_one(mut conn: TcpStream, answer: fn(u32) -> Option<Vec<u8>>) -> std::io::Result<()> {
    conn.read_exact(&mut [0; 24])?;
    conn.write_all(&frame(4, 0, 0, &[]))?;
    loop {
        let mut head = [0; 9];
        conn.read_exact(&mut head)?;
        let len = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        conn.read_exact(&mut vec![0; len])?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        if head[3] == 1 {
            let Some(bytes) = answer(stream) else {
                // What was not read would make the end a reset.
                conn.shutdown(std::net::Shutdown::Write)?;
                return conn.read_to_end(&mut Vec::new()).map(drop);
            };
            conn.write_all(&bytes)?;
        }
    }
}

#[test]
fn what_the_server_ends_is_counted() {
    let reset = |stream| Some(frame(3, 0, stream, &2u32.to_be_bytes()));
    let goaway = |_| Some(frame(7, 0, 0, &[0u32.to_be_bytes(), 11u32.to_be_bytes()].concat()));
    let cases: [(fn(u32) -> Option<Vec<u8>>, &str, &str); 5] = [
        (reset, "stream reset", "INTERNAL_ERROR"),
        (goaway, "goaway", "ENHANCE_YOUR_CALM"),
        (|_| None, "eof", "connection closed"),
        (|_| Some(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), "malformed", "FRAME_SIZE_ERROR"),
        (|_| Some(Vec::new()), "timeout", "deadline"),
    ];
    for (answer, kind, text) in cases {
        let url = serve_frames(answer);
        let bench = format!("bench -h2c -c 1 -m 4 -n 20 -timeout 300ms -cpus 1 -json {url}");
        let json = run(&bench).with_code(0).json();
        assert_eq!(json["requests"], 20, "{kind}: {json}");
        assert_eq!(json["brunt"]["failures"][kind], 20, "{kind}: {json}");
        assert!(json["errors"][0].as_str().unwrap().contains(text), "{kind}: {json}");
    }
}

#[test]
fn bytes_on_the_wire_are_head_framing_and_body() {
    let answer =
        |stream| Some([frame(1, 4, stream, &[0x88]), frame(0, 1, stream, b"body")].concat());
    let url = serve_frames(answer);
    let json = run(&format!("bench -h2c -c 1 -n 10 -cpus 1 -json {url}")).with_code(0).json();
    assert_eq!(json["bytes_in"]["total"], 40, "{json}");
    assert_eq!(json["brunt"]["wire_in"], 10 * (10 + 13), "{json}");
}

/// A server that sends PINGs without end and reads no answer costs bounded memory.
#[test]
fn a_flood_ends_the_connection() {
    let url = serve_frames(|_| Some(frame(6, 0, 0, &[0; 8]).repeat(4 << 20)));
    let bench = format!("bench -h2c -c 1 -m 4 -n 4 -timeout 60s -cpus 1 -json {url}");
    let json = run(&bench).with_code(0).json();
    assert_eq!(json["brunt"]["failures"]["too large"], 4, "{json}");
}

#[test]
fn streams_want_http2() {
    let scratch = Scratch::new("http2-flags");
    let targets = scratch.file("targets", "GET http://127.0.0.1:1/\n");
    let cases = [
        "bench -m 8 http://127.0.0.1:1/".to_owned(),
        format!("bench -m 8 -targets={targets}"),
        "bench -m 8 -http2=false https://127.0.0.1:1/".to_owned(),
    ];
    for case in cases {
        let ran = run(&case).with_code(2);
        ran.complains_once(&["flag -m: streams need HTTP/2"]);
    }
    run("bench -m 8 -pipeline 2 -h2c http://127.0.0.1:1/").with_code(2);
    let ran = run("bench -pipeline 2 -h2c http://127.0.0.1:1/").with_code(2);
    ran.complains_once(&["flags -pipeline and -h2c"]);
}

#[test]
fn users_get_what_a_connection_carries() {
    let nginx = Nginx::start("http2-sharing");
    let cert = crate::text(&nginx.scratch.path("cert.pem"));
    let bench = |flags: &str, port: u16| {
        let url = format!("https://127.0.0.1:{port}/");
        run(&format!("bench -root-certs={cert} -n 200 -cpus 1 -json {flags} {url}")).with_code(0)
    };
    // nginx answers pipelined requests in turn; over HTTP/2 its log would say so.
    bench("-c 2 -pipeline 4", nginx.alpn);
    let log = std::fs::read_to_string(nginx.scratch.path("access.log")).unwrap();
    assert_eq!(log, "HTTP/1.1\n".repeat(200));
    let ran = bench("-c 2 -m 8", nginx.tls);
    ran.complains_once(&["HTTP/1.1", "16 users stood in line for 2 connections"]);
    assert_eq!(bench("-c 2 -m 8", nginx.alpn).stderr, "");
}
