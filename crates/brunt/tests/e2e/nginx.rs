//! A real nginx from Debian: plain, TLS and over a Unix socket.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Scratch, Started, free_port, pipe, run, start, until};

/// A running nginx of our own; ended by its number when dropped.
pub(crate) struct Nginx {
    _process: Started,
    pub(crate) scratch: Scratch,
    pub(crate) plain: u16,
    pub(crate) tls: u16,
    /// HTTP/2 alone, without TLS.
    pub(crate) h2c: u16,
    /// HTTP/2 or HTTP/1.1, over TLS.
    pub(crate) alpn: u16,
}

pub(crate) const PAGE: &str = "<h1>It works.</h1>\n";

impl Nginx {
    pub(crate) fn start(test: &str) -> Self {
        let binary = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"]
            .into_iter()
            .find(|path| Path::new(path).exists())
            .expect("this test needs a real nginx: apt-get install -y nginx-light");
        let scratch = Scratch::new(test);
        let identity = demo::self_signed().unwrap();
        scratch.file("cert.pem", &identity.certificate_pem);
        scratch.file("key.pem", &identity.key_pem);
        scratch.file("index.html", PAGE);
        let (plain, tls) = (free_port(), free_port());
        let (h2c, alpn) = (free_port(), free_port());
        let dir = crate::text(&scratch.0);
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|kind| format!("  {kind}_temp_path {dir}/{kind};\n"))
            .collect();
        let config = format!(
            "daemon off;\nmaster_process off;\npid {dir}/pid;\nerror_log {dir}/error.log;\nevents {{}}\nhttp {{\n  \
             log_format version '$server_protocol';\n  access_log {dir}/access.log version;\n  \
             log_format connection '$connection';\n  access_log {dir}/connections.log connection;\n  \
             log_format peer '$remote_addr';\n  access_log {dir}/peers.log peer;\n{temporary}  \
             server {{\n    listen 127.0.0.1:{plain};\n    listen unix:{dir}/socket;\n    listen 127.0.0.1:{tls} ssl;\n    \
             listen 127.0.0.1:{h2c} http2;\n    listen 127.0.0.1:{alpn} ssl http2;\n    \
             ssl_certificate {dir}/cert.pem;\n    ssl_certificate_key {dir}/key.pem;\n    root {dir};\n  }}\n}}\n"
        );
        let config = scratch.file("nginx.conf", config);
        let mut command = Command::new(binary);
        command.args(["-p", &dir, "-c", &config, "-e", &format!("{dir}/error.log")]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = start(command);
        until("nginx listens", || TcpStream::connect(("127.0.0.1", tls)).is_ok());
        Self { _process: process, scratch, plain, tls, h2c, alpn }
    }
}

#[test]
fn plain_tls_and_unix_socket() {
    let nginx = Nginx::start("nginx");
    let (plain, tls) = (nginx.plain, nginx.tls);
    let cert = crate::text(&nginx.scratch.path("cert.pem"));
    let socket = crate::text(&nginx.scratch.path("socket"));
    let cases = [
        (String::new(), format!("http://127.0.0.1:{plain}/")),
        (" -keepalive=false".to_owned(), format!("http://127.0.0.1:{plain}/")),
        (format!(" -root-certs={cert}"), format!("https://127.0.0.1:{tls}/")),
        (
            format!(" -root-certs={cert} -keepalive=false -session-tickets"),
            format!("https://localhost:{tls}/"),
        ),
        (" -insecure".to_owned(), format!("https://127.0.0.1:{tls}/")),
        (format!(" -unix-socket={socket}"), "http://no-such-host.invalid/".to_owned()),
    ];
    let each = cases.iter().flat_map(|case| ["poll", "uring"].map(|io| (case, io)));
    for ((flags, url), io) in each {
        let attack = format!("attack -duration=1s -io={io}{flags}");
        let (code, ran) = pipe(&attack, &format!("GET {url}\n"), "report -type=json");
        assert_eq!(code, Some(0));
        let json = ran.with_code(0).json();
        assert_eq!(json["requests"], 50, "{flags}");
        assert_eq!(json["status_codes"]["200"], 50, "{flags}: {json}");
        assert_eq!(json["bytes_in"]["total"], 50 * PAGE.len(), "{flags}");
    }
}

/// nginx closes after each 1,000 requests of a connection, whatever came behind them. One connection at a time: a hit that is
/// given back to another that closes next is a counted failure.
#[test]
fn a_close_behind_the_pipelines_back_costs_nothing() {
    let nginx = Nginx::start("nginx-pipeline");
    let url = format!("http://127.0.0.1:{}/", nginx.plain);
    for io in ["poll", "uring"] {
        let bench = format!("bench -c 1 -pipeline 8 -n 5000 -io={io} -cpus 1 -json {url}");
        let json = run(&bench).with_code(0).json();
        assert_eq!(json["status_codes"]["200"], 5000, "{io}: {json}");
    }
}

#[test]
fn a_certificate_that_is_not_trusted_is_a_failed_request() {
    let nginx = Nginx::start("nginx-untrusted");
    let targets = nginx.scratch.file("targets", format!("GET https://127.0.0.1:{}/\n", nginx.tls));
    let ran =
        run(&format!("attack -targets={targets} -rate=10 -duration=500ms -json")).with_code(0);
    let json = ran.json();
    assert_eq!(json["status_codes"]["0"], 5, "{json}");
    assert!(json["errors"][0].as_str().unwrap().contains("certificate"), "{json}");
}

#[test]
fn the_four_targets_of_the_seed() {
    let nginx = Nginx::start("nginx-seed");
    let target = |path: &str| format!("GET http://127.0.0.1:{}{path}\n", nginx.plain);
    let lines: String = ["/the-url", "/", "/index.html", "/"].map(target).concat();
    let targets = nginx.scratch.file("the-file-name", lines);
    let attack = format!("attack -duration=5s -timeout 10s -rate=28 -targets={targets}");
    let (code, ran) = pipe(&attack, "", "report");
    assert_eq!(code, Some(0));
    assert!(ran.line("Requests").contains("140, 28.20, "));
    assert!(ran.line("Success").ends_with("75.00%"));
    assert!(ran.line("Status Codes").ends_with("200:105  404:35  "));
    assert!(ran.stdout.contains("Error Set:\n404 Not Found\n"), "{ran:#?}");
}

#[test]
fn vegetas_pipeline_word_for_word() {
    let nginx = Nginx::start("nginx-vegeta");
    let target = format!("GET http://127.0.0.1:{}/\n", nginx.plain);
    let (code, ran) = pipe("vegeta attack -duration=1s", &target, "vegeta report");
    assert_eq!(code, Some(0));
    assert!(ran.line("Requests").contains("50, 51.02, "));
    assert!(ran.line("Status Codes").ends_with("200:50  "));
}

/// nginx says its time with each answer, in whole seconds: all of them together leave little doubt of its clock, which is ours.
#[test]
fn date_headers_tell_how_far_the_servers_clock_is() {
    let nginx = Nginx::start("nginx-date");
    let file = crate::text(&nginx.scratch.path("run.arrow"));
    let targets = nginx.scratch.file("t.txt", format!("GET http://127.0.0.1:{}/\n", nginx.plain));
    let attack = format!("attack -rate=200 -duration=3s -watch -targets={targets} -output={file}");
    run(&format!("{attack} -keep-headers")).with_code(0);
    let json = run(&format!("report -json -server-offset=date {file}")).with_code(0).json();
    let server = &json["brunt"]["server"];
    let [offset, error] = ["offset", "offset_error"].map(|key| server[key].as_i64().unwrap());
    assert!(offset.abs() <= error && error < 50_000_000, "{offset} within {error}");
    let text = run(&format!("report -server-offset=date {file}")).with_code(0).stdout;
    assert!(text.contains("by the Date headers of its answers, which leave a doubt of "), "{text}");
    let drawing = format!("plot -server=time -server-offset=date -output={file}.svg {file}");
    run(&drawing).with_code(0);
    run(&attack).with_code(0);
    let none = run(&format!("report -server-offset=date {file}")).with_code(3);
    assert!(none.stderr.contains("-keep-headers"), "{}", none.stderr);
    let twice = run("report -server-offset=date").with_code(2);
    assert!(twice.stderr.contains("name files of results"), "{}", twice.stderr);
}
