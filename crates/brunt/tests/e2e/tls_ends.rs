//! TLS where its records matter: heads larger than a session holds, and ends that only a record says.

use std::io::{Read, Write};
use std::net::Shutdown;

use crate::tls_server::{TlsConn, serve_tls};
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
    let url = serve_tls(demo::self_signed().unwrap(), move |conn| answer(conn, end));
    format!("{url}/")
}

fn answer(mut conn: TlsConn, end: End) {
    // Without a length: the body ends with the connection.
    conn.session.send(format!("HTTP/1.1 200 OK\r\n\r\n{}", conn.head.len()).as_bytes());
    match end {
        End::Notified => conn.session.close_notify(),
        End::Closed => {}
        End::Cut => assert_eq!(conn.session.send(b" and more"), 9),
    }
    let out = conn.records();
    let cut = if matches!(end, End::Cut) { 5 } else { 0 };
    conn.socket.write_all(&out[..out.len() - cut]).unwrap();
    if !matches!(end, End::Notified) {
        conn.socket.shutdown(Shutdown::Write).ok();
    }
    // Until the client closes its side.
    conn.socket.read_to_end(&mut Vec::new()).ok();
    conn.socket.shutdown(Shutdown::Both).ok();
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
