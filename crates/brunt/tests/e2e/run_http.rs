//! `brunt run`: `k6/http` against a server that reports what it got, connection by connection.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Ran, Scratch, run};

/// A server's address. It answers with the number of the connection and the head of the request; `/set` redirects with a
/// cookie, `/digest` demands digest authentication.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        for conn in listener.incoming().flatten() {
            let number = count.fetch_add(1, Ordering::Relaxed);
            std::thread::spawn(move || serve(&conn, number));
        }
    });
    address.to_string()
}

fn serve(conn: &TcpStream, number: usize) {
    let mut reader = BufReader::new(conn);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match reader.read_line(&mut head) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
        }
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let (status, fields) = match path.as_str() {
            "/set" => ("302 Found", "Location: /end#part\r\nSet-Cookie: seen=yes; Path=/\r\n"),
            "/digest" if !head.contains("Authorization: Digest ") => (
                "401 Unauthorized",
                "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n",
            ),
            _ => ("200 OK", ""),
        };
        let body = format!("{number}\n{head}");
        let answer =
            format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len());
        let mut writer = conn;
        if writer.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// Runs a script whose function has this body.
fn ran(name: &str, options: &str, body: &str) -> Ran {
    let scratch = Scratch::new(&format!("run-http-{name}"));
    let source = format!(
        "import http from 'k6/http'; export const options = {options};
        export default function () {{ {body} }}"
    );
    let path = scratch.file("script.js", source);
    run(&format!("run -q {path}")).with_code(0)
}

/// The texts of the console's lines.
fn console_lines(ran: &Ran) -> Vec<String> {
    let lines = ran.stderr.lines().filter(|line| line.ends_with("source=console"));
    let texts = lines.map(|line| {
        let text = line.split_once("msg=\"").unwrap().1;
        text.trim_end_matches("\" source=console").replace("\\\"", "\"")
    });
    texts.collect()
}

#[test]
fn users_have_connections_of_their_own() {
    for (name, more, expect) in [
        ("kept", "", 2),
        ("iteration", "noVUConnectionReuse: true,", 4),
        ("request", "noConnectionReuse: true,", 8),
    ] {
        let url = format!("http://{}/", server());
        let options = format!(
            "{{ {more} scenarios: {{ s: {{ executor: 'per-vu-iterations', vus: 2, iterations: 2 }} }} }}"
        );
        let body = format!(
            "for (let i = 0; i < 2; i++) console.log(`c${{http.get('{url}').body.split('\\n')[0]}}`)"
        );
        let ran = ran(name, &options, &body);
        let mut numbers = console_words(&ran);
        assert_eq!(numbers.len(), 8, "{}", ran.stderr);
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers.len(), expect, "{name}: {numbers:?}");
    }
}

/// The console's lines of one word, which the log does not quote.
fn console_words(ran: &Ran) -> Vec<String> {
    let lines = ran.stderr.lines().filter(|line| line.ends_with("source=console"));
    let word = |line: &str| line.split_once("msg=").unwrap().1.replace(['"', ' '], "");
    lines.map(word).collect()
}

#[test]
fn redirects_carry_cookies_and_leave_bodies() {
    let url = format!("http://{}/set", server());
    let body = format!(
        "const r = http.post('{url}', 'body', {{ headers: {{ 'Content-Type': 'text/x', 'X-A': 'b' }} }});
        const has = (text) => r.body.includes(text);
        console.log([r.status, r.url.endsWith('/end#part'), has('GET /end'), has('Cookie: seen=yes'), has('X-A: b'),
            has('Content-Type'), has('Accept-Encoding'), has('Referer: {url}'), r.request.method].join(' '));"
    );
    let ran = ran("redirect", "{}", &body);
    assert_eq!(
        console_lines(&ran),
        ["200 true true true true false false true GET".replace("GET", "POST")]
    );
}

#[test]
fn credentials_are_sent_when_the_server_demands_them() {
    let address = server();
    let body = format!(
        "const r = http.get('http://u:p@{address}/digest', {{ auth: 'digest' }});
        console.log([r.status, r.url, /username=\"u\".*response=\"[0-9a-f]{{32}}\"/.test(r.body)].join(' '));
        const b = http.get('http://u:p@{address}/');
        console.log([b.status, b.body.includes('Authorization: Basic dTpw')].join(' '));"
    );
    let ran = ran(
        "digest",
        "{ thresholds: { http_reqs: ['count==3'], http_req_failed: ['rate==0'] } }",
        &body,
    );
    assert_eq!(
        console_lines(&ran),
        [format!("200 http://{address}/digest true"), "200 true".to_owned()]
    );
}

#[test]
fn names_mean_what_the_options_say() {
    let address = server();
    let port = address.split_once(':').unwrap().1;
    let options = format!(
        "{{ hosts: {{ 'a.test': '{address}', '*.b.test': '127.0.0.1' }}, blockHostnames: ['no.b.test'],
        blacklistIPs: ['127.0.0.9/32'], dns: {{ select: 'first' }} }}"
    );
    let body = format!(
        "const code = (url) => {{ const r = http.get(url); return r.status || r.error_code }};
        console.log([code('http://a.test/'), code('http://x.b.test:{port}/'), code('http://no.b.test:{port}/'),
            code('http://127.0.0.9:{port}/')].join(' '));"
    );
    assert_eq!(console_lines(&ran("names", &options, &body)), ["200 200 1111 1110"]);
}

#[test]
fn pages_are_gone_on_from() {
    let scratch = Scratch::new("run-http-page");
    let page = "<form id=f method=post action=/to?x><input name=a value='1 2'><input type=submit name=go value=Go></form>
        <form id=g action=/q><input name=q value=x></form><a href=next?y=1>n</a>";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for conn in listener.incoming().flatten() {
            std::thread::spawn(move || serve_page(&conn, page));
        }
    });
    let source = format!(
        "import http from 'k6/http';
        export default function () {{
            const r = http.get('http://{address}/folder/page');
            const sent = (r) => r.body.split('\\r\\n')[0] + ' ' + r.body.split('\\r\\n\\r\\n')[1];
            console.log(sent(r.submitForm({{ formSelector: '#f', fields: {{ b: 'c' }} }})));
            console.log(sent(r.submitForm({{ formSelector: '#g' }})));
            console.log(sent(r.clickLink()));
            try {{ r.clickLink({{ selector: '#none' }}) }} catch (e) {{ console.log(e.message.slice(0, 16)) }}
        }}"
    );
    let path = scratch.file("script.js", source);
    let ran = run(&format!("run -q {path}")).with_code(0);
    assert_eq!(
        console_lines(&ran),
        [
            "POST /to?x HTTP/1.1 a=1+2&b=c&go=Go",
            "GET /q?q=x HTTP/1.1 ",
            "GET /folder/next?y=1 HTTP/1.1 ",
            "no element found"
        ]
    );
}

/// Answers with a page below `/folder/page`, and else with what it got, the body included.
fn serve_page(conn: &TcpStream, page: &str) {
    let mut reader = BufReader::new(conn);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match reader.read_line(&mut head) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
        }
        let len = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let mut body = vec![0; len.map_or(0, |len| len.parse().unwrap())];
        std::io::Read::read_exact(&mut reader, &mut body).unwrap();
        let text = match head.starts_with("GET /folder/page ") {
            true => page.to_owned(),
            false => head + std::str::from_utf8(&body).unwrap(),
        };
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len());
        let mut writer = conn;
        if writer.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn wrong_options_of_the_network_are_named() {
    for (option, expect) in [
        ("hosts: { a: 'b' }", "hosts: "),
        ("blacklistIPs: ['x']", "blacklistIPs: "),
        ("dns: { policy: 'x' }", "dns.policy: "),
        ("tlsVersion: 'tls1.1'", "tlsVersion: "),
        ("tlsCipherSuites: ['x']", "tlsCipherSuites: "),
    ] {
        let scratch = Scratch::new("run-http-options");
        let source =
            format!("export const options = {{ {option} }}; export default function () {{}}");
        let path = scratch.file("script.js", source);
        let ran = run(&format!("run -q {path}")).with_code(104);
        assert!(ran.stderr.contains(expect), "{option}: {}", ran.stderr);
    }
}
