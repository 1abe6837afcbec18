//! `brunt run`: how scripts' requests get to their servers: proxies, own addresses, TLS' versions, suites and keys.

use crate::nginx::Nginx;
use crate::routes::Proxy;
use crate::{Scratch, brunt, feed, run, server, text};

use demo::Config;

/// A script that logs what each of some expressions of the response is.
fn script(scratch: &Scratch, url: &str, options: &str, what: &str) -> String {
    let text = format!(
        "import http from 'k6/http';\nexport const options = {{ insecureSkipTLSVerify: true, {options} }};\n\
         export default function () {{ const r = http.get('{url}'); console.log([{what}].join(' ')); }}\n"
    );
    scratch.file("script.js", text)
}

#[test]
fn a_proxy_of_the_environment_is_asked() {
    let (_server, url) = server(Config::default());
    let proxy = Proxy::start(url.trim_start_matches("http://").parse().unwrap());
    let scratch = Scratch::new("run-proxy");
    let cases = [
        ("http://name.invalid/x", "", "203 via", vec!["GET http://name.invalid/x HTTP/1.1"]),
        (&format!("{url}/"), "127.0.0.0/8", "200", vec![]),
    ];
    for (asked, no_proxy, answer, seen) in cases {
        proxy.forget();
        let script = script(&scratch, asked, "", "r.status, r.status === 203 ? r.body : ''");
        let mut command = brunt(&format!("run -q --no-summary {script}"));
        command.env("HTTP_PROXY", format!("http://{}", proxy.address)).env("NO_PROXY", no_proxy);
        let ran = feed(command, "").with_code(0);
        assert!(ran.stderr.contains(&format!("msg=\"{answer}")), "{}", ran.stderr);
        assert_eq!(proxy.asked(), seen, "{asked}");
    }
}

#[test]
fn a_secure_server_is_asked_through_a_tunnel() {
    let tls = Some(demo::self_signed().unwrap());
    let (_server, url) = server(Config { tls, ..Config::default() });
    let proxy = Proxy::start(url.trim_start_matches("http://").parse().unwrap());
    let scratch = Scratch::new("run-tunnel");
    let script = script(&scratch, "https://name.invalid/", "", "r.status, r.error");
    let mut command = brunt(&format!("run -q --no-summary {script}"));
    command.env("HTTPS_PROXY", format!("http://{}", proxy.address)).env("NO_PROXY", "");
    let ran = feed(command, "").with_code(0);
    assert!(ran.stderr.contains("msg=\"200 "), "{}", ran.stderr);
    assert_eq!(proxy.asked(), ["CONNECT name.invalid:443 HTTP/1.1"]);
}

/// nginx speaks only 1.2 by default, the demo server prefers 1.3.
#[test]
fn versions_suites_and_keys_of_tls() {
    let nginx = Nginx::start("run-tls");
    let nginx_url = format!("https://localhost:{}/", nginx.tls);
    let tls = Some(demo::self_signed().unwrap());
    let (_server, url) = server(Config { tls, ..Config::default() });
    let demo_url = format!("{}/", url.replace("http://", "https://"));
    let what = "r.tls_version, r.tls_cipher_suite, r.error_code";
    let suite = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256";
    let one_suite = format!("tlsVersion: 'tls1.2', tlsCipherSuites: ['{suite}']");
    let cases = [
        (&demo_url, "", "tls1.3 TLS_"),
        (&demo_url, "tlsVersion: { min: 'tls1.2', max: 'tls1.2' }", "tls1.2 TLS_ECDHE_"),
        (&nginx_url, &one_suite, &format!("tls1.2 {suite} 0")),
    ];
    let keys = nginx.scratch.path("keys.log");
    for (url, options, expect) in cases {
        let script = script(&nginx.scratch, url, options, what);
        let mut command = brunt(&format!("run -q --no-summary {script}"));
        command.env("SSLKEYLOGFILE", &keys);
        let ran = feed(command, "").with_code(0);
        assert!(ran.stderr.contains(&format!("msg=\"{expect}")), "{options}: {}", ran.stderr);
    }
    let keys = text_of(&keys);
    assert!(keys.contains("CLIENT_TRAFFIC_SECRET_0 "), "TLS 1.3's: {keys}");
    assert_eq!(keys.matches("CLIENT_RANDOM ").count(), 2, "TLS 1.2's: {keys}");
}

#[test]
fn a_suite_the_server_lacks_is_a_failed_request() {
    let nginx = Nginx::start("run-suite");
    let url = format!("https://localhost:{}/", nginx.tls);
    // The server's key is of an elliptic curve.
    let options =
        "tlsVersion: 'tls1.2', tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256']";
    let script = script(&nginx.scratch, &url, options, "r.status, r.error_code, r.error");
    let ran = run(&format!("run -q --no-summary {script}")).with_code(0);
    assert!(ran.stderr.contains("msg=\"0 1"), "{}", ran.stderr);
}

#[test]
fn requests_leave_from_the_addresses_given() {
    let nginx = Nginx::start("run-local");
    let url = format!("http://127.0.0.1:{}/", nginx.plain);
    let options = "localIPs: '127.0.0.10-127.0.0.12', scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 3 } }";
    let path = script(&nginx.scratch, &url, options, "r.status");
    run(&format!("run -q --no-summary {path}")).with_code(0);
    let log = text_of(&nginx.scratch.path("peers.log"));
    for address in ["127.0.0.10", "127.0.0.11", "127.0.0.12"] {
        assert_eq!(log.lines().filter(|line| *line == address).count(), 3, "{log}");
    }
}

fn text_of(path: &std::path::Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", text(path)))
}
