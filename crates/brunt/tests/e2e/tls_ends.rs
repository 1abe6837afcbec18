//! TLS where its records matter: heads larger than a session holds, and ends that only a record says.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;

use wire::tls::{ServerSetup, TlsSession, rustls, server_config};

use crate::{brunt, feed, run};

/// How a server ends what it sends.
#[derive(Clone, Copy)]
enum End {
    /// It says that nothing follows, and leaves the socket open.
    Notified,
    /// It closes the connection after a whole record.
    Closed,
    /// It closes the connection within one.
    Cut,
}

/// A server that answers each request with the length of its head.
fn serve(end: End) -> String {
    let identity = demo::self_signed().unwrap();
    let (cert_pem, key_pem) = (identity.certificate_pem.into(), identity.key_pem.into());
    let config = server_config(&ServerSetup { cert_pem, key_pem }).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for conn in listener.incoming().flatten() {
            let config = Arc::clone(&config);
            std::thread::spawn(move || answer(conn, &config, end));
        }
    });
    url
}

fn answer(mut conn: TcpStream, config: &Arc<rustls::ServerConfig>, end: End) {
    let mut session = TlsSession::server(config).unwrap();
    let (mut plain, mut out, mut buf) = (Vec::new(), Vec::new(), vec![0; 64 << 10]);
    while !plain.ends_with(b"\r\n\r\n") {
        let Ok(len @ 1..) = conn.read(&mut buf) else { return };
        session.handle_bytes(&buf[..len], &mut plain).unwrap();
        session.poll_transmit(&mut out);
        conn.write_all(&out).unwrap();
        out.clear();
    }
    // Without a length: the body ends with the connection.
    session.send(format!("HTTP/1.1 200 OK\r\n\r\n{}", plain.len()).as_bytes());
    match end {
        End::Notified => session.close_notify(),
        End::Closed => {}
        End::Cut => assert_eq!(session.send(b" and more"), 9),
    }
    session.poll_transmit(&mut out);
    let cut = if matches!(end, End::Cut) { 5 } else { 0 };
    conn.write_all(&out[..out.len() - cut]).unwrap();
    if !matches!(end, End::Notified) {
        conn.shutdown(Shutdown::Write).ok();
    }
    // Until the client closes its side.
    conn.read_to_end(&mut Vec::new()).ok();
    conn.shutdown(Shutdown::Both).ok();
}

#[test]
fn a_body_ends_where_the_server_says_so() {
    let bench = |end| {
        let url = serve(end);
        run(&format!("bench -c 1 -n 3 -timeout 5s -insecure -json {url}")).with_code(0).json()
    };
    let json = bench(End::Notified);
    assert_eq!(json["status_codes"]["200"], 3, "{json}");
    assert!(json["latencies"]["max"].as_u64().unwrap() < 4_000_000_000, "{json}");
    // regression: issue 41. Many servers say nothing, and lose nothing.
    let json = bench(End::Closed);
    assert_eq!(json["brunt"]["successes"], 3, "{json}");
    let json = bench(End::Cut);
    assert_eq!((&json["brunt"]["successes"], &json["requests"]), (&0.into(), &3.into()), "{json}");
}

#[test]
fn a_head_of_more_than_a_session_holds_goes_out_whole() {
    let url = serve(End::Notified);
    let target = serde_json::json!({ "method": "GET", "url": url, "header": { "X": ["a".repeat(3 << 20)] } });
    let command = brunt(
        "attack -format=json -rate=2 -duration=1s -timeout=9s -insecure -max-body=-1 -to json",
    );
    let rows = feed(command, target.to_string()).with_code(0).stdout;
    let lines: Vec<serde_json::Value> =
        rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{rows}");
    for line in lines {
        assert_eq!(line["code"], 200, "{line}");
        // Seven digits, of 3 MiB and more, in base64.
        assert!(line["bytes_in"] == 7, "{line}");
    }
}
