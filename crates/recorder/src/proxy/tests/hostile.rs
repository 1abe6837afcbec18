//! Clients and servers that do what they want: the proxy goes on, in bounded memory.

use std::io::{Read as _, Write as _};

use stdx::Bytes;
use wire::tls::Verification;

use super::Proxied;
use super::site::{Site, answer, read_head};
use crate::limits::{HEAD_BYTES_MAX, Limits};
use crate::scope::Scope;

/// The proxy still works.
#[track_caller]
fn check_works(proxied: &Proxied) {
    let site = Site::start(|_| answer("text/plain", "", "fine"));
    let url = format!("http://127.0.0.1:{}/", site.port);
    let back = proxied.ask(&format!("GET {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    assert!(back.ends_with("fine"), "{back}");
}

#[test]
fn garbage_is_refused() {
    let proxied = Proxied::new(Scope::FirstPage);
    let flood = "X-Flood: 1\r\n".repeat(5000);
    let long = "a".repeat(HEAD_BYTES_MAX + 1);
    for (bytes, status) in [
        (b"\x00\xff\x13\x37 not HTTP\r\n\r\n".to_vec(), "400"),
        (format!("GET http://127.0.0.1:1/ HTTP/1.1\r\n{flood}\r\n").into_bytes(), "431"),
        (format!("GET http://127.0.0.1:1/{long} HTTP/1.1\r\n\r\n").into_bytes(), "4"),
        (b"GET ftp://a.test/ HTTP/1.1\r\nConnection: close\r\n\r\n".to_vec(), "400"),
        (b"CONNECT a.test HTTP/1.1\r\nConnection: close\r\n\r\n".to_vec(), "400"),
        (b"CONNECT a.test:0 HTTP/1.1\r\nConnection: close\r\n\r\n".to_vec(), "400"),
        (b"GET http://u:p@127.0.0.1:1/ HTTP/1.1\r\nConnection: close\r\n\r\n".to_vec(), "400"),
        (b"POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec(), "405"),
    ] {
        let back = String::from_utf8_lossy(&proxied.exchange(&bytes)).into_owned();
        let shown: String = String::from_utf8_lossy(&bytes).chars().take(60).collect();
        assert!(
            back.is_empty() || back.starts_with(&format!("HTTP/1.1 {status}")),
            "{shown}: {back}"
        );
    }
    check_works(&proxied);
}

#[test]
fn the_proxy_is_no_server_for_itself() {
    let proxied = Proxied::new(Scope::FirstPage);
    let own = proxied.recorder.address();
    let back = proxied
        .ask(&format!("GET http://{own}/ HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n"));
    assert!(back.starts_with("HTTP/1.1 502") && back.contains("the proxy itself"), "{back}");
    // A tunnel to itself carries requests that are refused in the same way.
    let mut stream = proxied.tunnel(own.port());
    write!(stream, "GET / HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n").unwrap();
    assert!(read_head(&mut stream).unwrap().starts_with("HTTP/1.1 502"));
    check_works(&proxied);
}

#[test]
fn a_body_of_a_hundred_megabytes_passes_and_is_kept_in_part() {
    let site = Site::serve(|mut stream, _| {
        read_head(&mut stream).unwrap();
        let len = 100 << 20;
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n").unwrap();
        let piece = vec![7; 1 << 20];
        for _ in 0..100 {
            stream.write_all(&piece).unwrap();
        }
    });
    let limits = Limits { body_bytes_max: Bytes(1 << 20), ..Limits::default() };
    let proxied = Proxied::with(Scope::FirstPage, limits, Verification::None);
    let url = format!("http://127.0.0.1:{}/", site.port);
    let mut stream = proxied.connect();
    write!(stream, "GET {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let head = read_head(&mut stream).unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let passed = std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
    assert_eq!(passed, 100 << 20);
    let record = proxied.finish(1);
    let body = &record.exchanges[0].received;
    assert_eq!((body.bytes.len(), body.len), (1 << 20, 100 << 20));
    assert_eq!((record.losses.bodies, record.losses.body_bytes), (1, 99 << 20));
}

#[test]
fn a_stream_that_never_ends_passes_at_once_and_is_in_the_recording() {
    let site = Site::serve(|mut stream, _| {
        read_head(&mut stream).unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
            .unwrap();
        // Until the proxy ends.
        stream.read_exact(&mut [0]).ok();
    });
    let proxied = Proxied::new(Scope::FirstPage);
    let url = format!("http://127.0.0.1:{}/", site.port);
    let mut stream = proxied.connect();
    write!(stream, "GET {url} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    read_head(&mut stream).unwrap();
    let mut seen = Vec::new();
    while !seen.windows(7).any(|part| part == b"data: 1") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        seen.push(byte[0]);
    }
    let record = proxied.finish(0);
    assert_eq!(record.exchanges[0].received.bytes, b"data: 1\n\n");
    assert_eq!(record.exchanges[0].ended, None);
}

#[test]
fn an_answer_that_breaks_off_is_recorded_as_one() {
    let site = Site::serve(|mut stream, _| {
        read_head(&mut stream).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf").unwrap();
    });
    let proxied = Proxied::new(Scope::FirstPage);
    let url = format!("http://127.0.0.1:{}/", site.port);
    proxied.exchange(format!("GET {url} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
    let record = proxied.finish(1);
    assert_eq!(record.exchanges[0].received.bytes, b"half");
    assert!(record.exchanges[0].failure.is_some());
}

#[test]
fn a_tunnel_without_http_carries_bytes() {
    let site = Site::serve(|mut stream, _| {
        let mut bytes = [0; 4];
        stream.read_exact(&mut bytes).unwrap();
        bytes.reverse();
        stream.write_all(&bytes).unwrap();
    });
    let proxied = Proxied::new(Scope::FirstPage);
    let mut stream = proxied.tunnel(site.port);
    stream.write_all(&[0, 1, 2, 3]).unwrap();
    let mut back = [0; 4];
    stream.read_exact(&mut back).unwrap();
    assert_eq!(back, [3, 2, 1, 0]);
    assert_eq!(proxied.finish(0).left_out["127.0.0.1"], 1);
}
