//! Ways to a server other than the URL's own: proxies, `-connect-to`, `-laddr`, IPv6, bounded connections.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use demo::{Config, Server};
use net::Address;

use crate::{Ran, Scratch, brunt, run, server, start};

/// A proxy that tunnels to one server whatever is asked for, and keeps the first line of every request it was sent.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    credentials: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    pub(crate) fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let credentials = Arc::new(Mutex::new(Vec::new()));
        let (seen, shown) = (Arc::clone(&asked), Arc::clone(&credentials));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (seen, shown) = (Arc::clone(&seen), Arc::clone(&shown));
                std::thread::spawn(move || relay(client, to, (&seen, &shown)));
            }
        });
        Self { address, asked, credentials }
    }

    /// The values of `Proxy-Authorization` it was sent.
    pub(crate) fn credentials(&self) -> Vec<String> {
        self.credentials.lock().unwrap().clone()
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn forget(&self) {
        self.asked.lock().unwrap().clear();
        self.credentials.lock().unwrap().clear();
    }
}

/// Reads heads until one asks for a tunnel; answers the others itself.
fn relay(
    client: TcpStream,
    to: SocketAddr,
    (seen, shown): (&Mutex<Vec<String>>, &Mutex<Vec<String>>),
) {
    let mut reader = BufReader::new(client.try_clone().unwrap());
    let mut writer = client;
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            head.push(line.trim_end().to_owned());
        }
        let first = head[0].clone();
        seen.lock().unwrap().push(first.clone());
        let credentials = head.iter().filter_map(|line| line.strip_prefix("Proxy-Authorization: "));
        shown.lock().unwrap().extend(credentials.map(str::to_owned));
        if first.starts_with("CONNECT ") {
            writer.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
            return tunnel(reader.into_inner(), to);
        }
        writer.write_all(b"HTTP/1.1 203 Via\r\nContent-Length: 3\r\n\r\nvia").unwrap();
    }
}

pub(crate) fn tunnel(client: TcpStream, to: SocketAddr) {
    let server = TcpStream::connect(to).unwrap();
    let (mut from_client, mut to_server) =
        (client.try_clone().unwrap(), server.try_clone().unwrap());
    let up = std::thread::spawn(move || std::io::copy(&mut from_client, &mut to_server).ok());
    let (mut from_server, mut to_client) = (server, client);
    std::io::copy(&mut from_server, &mut to_client).ok();
    to_client.shutdown(std::net::Shutdown::Both).ok();
    up.join().unwrap();
}

/// An attack of ten hits on a URL, with variables.
fn attack(test: &str, url: &str, flags: &str, variables: &[(&str, &str)]) -> Ran {
    let scratch = Scratch::new(test);
    let targets = scratch.file("targets", format!("GET {url}\n"));
    let args = format!("attack -targets={targets} -rate=50 -duration=200ms -json {flags}");
    let mut command = brunt(&args);
    command.envs(variables.iter().copied());
    start(command).wait().with_code(0)
}

fn address(server: &Server) -> SocketAddr {
    let Address::Ip(at) = server.addresses()[0].clone() else { panic!("no IP address") };
    at
}

#[test]
fn a_proxy_is_asked_in_the_absolute_form() {
    let (server, url) = server(Config::default());
    let proxy = Proxy::start(address(&server));
    let via = format!("http://{}", proxy.address);
    let ran = attack("proxy", "http://site.test/a?b=c", "", &[("HTTP_PROXY", &via)]);
    assert_eq!(ran.json()["status_codes"]["203"], 10, "{ran:#?}");
    assert_eq!(proxy.asked(), vec!["GET http://site.test/a?b=c HTTP/1.1"; 10]);
    // As in Go, the machine itself is never asked for through a proxy; nor is what NO_PROXY lists.
    let ran = attack("proxy-loopback", &url, "", &[("HTTP_PROXY", &via)]);
    assert_eq!(ran.json()["status_codes"]["200"], 10, "{ran:#?}");
    let variables = [("HTTP_PROXY", via.as_str()), ("NO_PROXY", "site.test")];
    let flags = format!("-connect-to site.test:80:{}", address(&server));
    let ran = attack("no-proxy", "http://site.test/", &flags, &variables);
    assert_eq!(ran.json()["status_codes"]["200"], 10, "{ran:#?}");
    assert_eq!(proxy.asked().len(), 10);
}

#[test]
fn tls_goes_through_a_proxys_tunnel() {
    let config = Config { tls: Some(demo::self_signed().unwrap()), ..Config::default() };
    let (server, _) = server(config);
    let proxy = Proxy::start(address(&server));
    let via = format!("http://{}", proxy.address);
    let flags = "-insecure -max-connections 1";
    let ran = attack("tunnel", "https://site.test/", flags, &[("HTTPS_PROXY", &via)]);
    assert_eq!(ran.json()["status_codes"]["200"], 10, "{ran:#?}");
    assert_eq!(proxy.asked(), ["CONNECT site.test:443 HTTP/1.1"]);
}

#[test]
fn a_proxy_that_refuses_a_tunnel_is_a_failed_request() {
    let (_server, url) = server(Config::default());
    let no_proxy = format!("{url}/");
    let ran =
        attack("no-tunnel", "https://site.test/status/403", "", &[("HTTPS_PROXY", &no_proxy)]);
    let json = ran.json();
    assert_eq!(json["status_codes"]["0"], 10, "{json}");
    assert!(!json["errors"].as_array().unwrap().is_empty(), "{json}");
}

/// Over all workers: each alone would have two begin with the second.
#[test]
fn connect_to_takes_turns() {
    let ((one, _), (two, _)) = (server(Config::default()), server(Config::default()));
    let flags = format!(
        "-cpus=2 -keepalive=false -connect-to site.test:80:{} -connect-to site.test:80:{}",
        address(&one),
        address(&two)
    );
    let ran = attack("connect-to", "http://site.test/", &flags, &[]);
    assert_eq!(ran.json()["status_codes"]["200"], 10, "{ran:#?}");
    assert_eq!((one.stats().requests, two.stats().requests), (5, 5));
}

/// A name that no name server knows, with several addresses at one port and another at the next; `bench` and a fleet's agents are
/// given them alike.
#[test]
fn issue_41_resolve_gives_a_name_addresses() {
    let (one, url) = server(Config::default());
    let port = address(&one).port();
    let flags = format!(
        "-keepalive=false -resolve SITE.test:{port}:127.0.0.1,127.0.0.1 -resolve site.test:1:192.0.2.1"
    );
    let ran = attack("resolve", &format!("http://site.test:{port}/"), &flags, &[]);
    assert_eq!(ran.json()["status_codes"]["200"], 10, "{ran:#?}");
    let ran =
        run(&format!("bench -c 2 -n 10 -json -resolve *:{port}:127.0.0.1 http://any.test:{port}/"));
    assert_eq!(ran.with_code(0).json()["status_codes"]["200"], 10);
    assert_eq!(one.stats().requests, 20);
    let wrong = run(&format!("bench -n 1 -resolve site.test:{port} {url}/")).with_code(2);
    assert!(wrong.stderr.contains("is not HOST:PORT:ADDRESS,…"), "{wrong:#?}");
}

#[test]
fn another_local_address_and_ipv6() {
    let (_server, url) = server(Config::default());
    let ran = attack("laddr", &url, "-laddr 127.0.0.2", &[]);
    assert_eq!(ran.json()["status_codes"]["200"], 10, "{ran:#?}");
    let anywhere = Address::Ip(SocketAddr::from((Ipv6Addr::LOCALHOST, 0)));
    let six = Server::start(Config::default(), &[anywhere]).unwrap();
    let ran = attack("ipv6", &format!("http://{}/", address(&six)), "", &[]);
    assert_eq!(ran.json()["status_codes"]["200"], 10, "{ran:#?}");
}

#[test]
fn connections_are_kept_within_their_limit() {
    let config =
        Config { service: demo::ServiceTime::parse("fixed:20ms").unwrap(), ..Config::default() };
    let (server, url) = server(config);
    let scratch = Scratch::new("max-connections");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let args = format!(
        "attack -targets={targets} -rate=200 -duration=1s -max-connections=2 -connections=2 -json"
    );
    let json = run(&args).with_code(0).json();
    assert_eq!(json["status_codes"]["200"], 200, "{json}");
    assert_eq!(json["brunt"]["generator"]["connections"], 2, "{json}");
    assert_eq!(server.stats().requests, 200);
}
