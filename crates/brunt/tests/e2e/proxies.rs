//! Proxies by their scheme: what each is sent, and what is never sent outside of TLS.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use demo::{Config, Server};
use net::Address;
use wire::tls::{ServerSetup, TlsSession};

use crate::routes::{Proxy, tunnel};
use crate::{Ran, Scratch, brunt, feed, server, start};

/// `us:secret`, as Basic authentication has it.
const BASIC: &str = "dXM6c2VjcmV0";

/// Accepts connections, each on a thread of its own.
fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || serve(client));
        }
    });
    address
}

/// Takes off the TLS of what comes, and passes the rest on.
fn behind_tls(to: SocketAddr) -> SocketAddr {
    let own = demo::self_signed().unwrap();
    let setup = ServerSetup {
        cert_pem: own.certificate_pem.clone().into(),
        key_pem: own.key_pem.clone().into(),
    };
    let cfg = wire::tls::server_config(&setup).unwrap();
    listen(move |mut client| {
        let session = Arc::new(Mutex::new(TlsSession::server(&cfg).unwrap()));
        let inner = TcpStream::connect(to).unwrap();
        let (mut from_inner, mut to_client) =
            (inner.try_clone().unwrap(), client.try_clone().unwrap());
        let outbound = Arc::clone(&session);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(len) = from_inner.read(&mut bytes) {
                if len == 0 {
                    break;
                }
                let mut records = Vec::new();
                let mut session = outbound.lock().unwrap();
                session.send(&bytes[..len]);
                session.poll_transmit(&mut records);
                to_client.write_all(&records).ok();
            }
            to_client.shutdown(std::net::Shutdown::Both).ok();
        });
        let (mut bytes, mut to_inner) = ([0; 4096], inner);
        while let Ok(len) = client.read(&mut bytes) {
            if len == 0 {
                break;
            }
            let (mut plain, mut records) = (Vec::new(), Vec::new());
            let mut session = session.lock().unwrap();
            if session.handle_bytes(&bytes[..len], &mut plain).is_err() {
                break;
            }
            session.poll_transmit(&mut records);
            client.write_all(&records).ok();
            drop(session);
            to_inner.write_all(&plain).ok();
        }
        to_inner.shutdown(std::net::Shutdown::Both).ok();
    })
}

/// A SOCKS proxy that wants user and password, and tunnels to one server; keeps what it was asked for.
fn socks(to: SocketAddr) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let address = listen(move |mut client| {
        let mut text = |len: usize| {
            let mut bytes = vec![0; len];
            client.read_exact(&mut bytes).unwrap();
            bytes
        };
        let methods = text(2)[1];
        text(methods.into());
        client.write_all(&[5, 2]).unwrap();
        let mut text = |len: usize| {
            let mut bytes = vec![0; len];
            client.read_exact(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let user_len = text(2).as_bytes()[1];
        let user = text(user_len.into());
        let password_len = text(1).as_bytes()[0];
        let password = text(password_len.into());
        client.write_all(&[1, 0]).unwrap();
        let mut head = [0; 5];
        client.read_exact(&mut head).unwrap();
        let mut rest = vec![0; usize::from(head[4]) + 2];
        client.read_exact(&mut rest).unwrap();
        let (name, port) = rest.split_at(usize::from(head[4]));
        let port = u16::from_be_bytes([port[0], port[1]]);
        let name = String::from_utf8_lossy(name);
        seen.lock().unwrap().push(format!("{user} {password} {name} {port}"));
        client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
        tunnel(client, to);
    });
    (address, asked)
}

/// An attack of one hit with variables.
fn attack(url: &str, flags: &str, variables: &[(&str, &str)]) -> Ran {
    let mut command = brunt(&format!("attack -rate=1 -duration=1s -json {flags} {url}"));
    command.envs(variables.iter().copied());
    start(command).wait()
}

fn address(server: &Server) -> SocketAddr {
    let Address::Ip(at) = server.addresses()[0].clone() else { panic!("no IP address") };
    at
}

#[test]
fn issue_41_a_secure_proxy_is_never_spoken_to_in_the_clear() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let peek = listen(move |mut client| {
        let mut bytes = [0; 4096];
        let len = client.read(&mut bytes).unwrap_or(0);
        kept.lock().unwrap().push(bytes[..len].to_vec());
    });
    let via = format!("https://us:secret@{peek}");
    for (url, name) in [("http://a.test/", "HTTP_PROXY"), ("https://a.test/", "HTTPS_PROXY")] {
        let ran = attack(url, "-timeout 2s", &[(name, &via)]).with_code(0);
        assert_eq!(ran.json()["status_codes"]["0"], 1, "{ran:#?}");
    }
    let seen = seen.lock().unwrap();
    assert!(!seen.is_empty());
    for bytes in seen.iter() {
        assert_eq!(bytes[0], 0x16, "a handshake of TLS: {bytes:?}");
        assert!(!String::from_utf8_lossy(bytes).contains(BASIC));
    }
}

#[test]
fn issue_41_a_secure_proxy_forwards_and_tunnels() {
    let (plain, _) = server(Config::default());
    let tls = Config { tls: Some(demo::self_signed().unwrap()), ..Config::default() };
    let (secure, _) = server(tls);
    let forward = Proxy::start(address(&plain));
    let via = format!("https://us:secret@{}", behind_tls(forward.address));
    let ran = attack("http://site.test/a", "-insecure", &[("HTTP_PROXY", &via)]).with_code(0);
    assert_eq!(ran.json()["status_codes"]["203"], 1, "{ran:#?}");
    assert_eq!(forward.asked(), ["GET http://site.test/a HTTP/1.1"]);
    assert_eq!(forward.credentials(), [format!("Basic {BASIC}")]);
    let tunnels = Proxy::start(address(&secure));
    let via = format!("https://us:secret@{}", behind_tls(tunnels.address));
    let ran = attack("https://site.test/", "-insecure", &[("HTTPS_PROXY", &via)]).with_code(0);
    assert_eq!(ran.json()["status_codes"]["200"], 1, "{ran:#?}");
    assert_eq!(tunnels.asked(), ["CONNECT site.test:443 HTTP/1.1"]);
    assert_eq!(tunnels.credentials(), [format!("Basic {BASIC}")]);
}

#[test]
fn issue_41_socks_opens_tunnels() {
    let (plain, _) = server(Config::default());
    let tls = Config { tls: Some(demo::self_signed().unwrap()), ..Config::default() };
    let (secure, _) = server(tls);
    for (server, url, port, scheme) in
        [(&plain, "http://a.test/", 80, "socks5"), (&secure, "https://a.test/", 443, "socks5h")]
    {
        let (proxy, asked) = socks(address(server));
        let via = format!("{scheme}://us:secret@{proxy}");
        let ran = attack(url, "-insecure", &[("ALL_PROXY", &via)]).with_code(0);
        assert_eq!(ran.json()["status_codes"]["200"], 1, "{ran:#?}");
        assert_eq!(*asked.lock().unwrap(), [format!("us secret a.test {port}")]);
    }
}

#[test]
fn issue_41_a_scheme_that_is_not_spoken_is_refused_first() {
    let reached = Arc::new(Mutex::new(0));
    let kept = Arc::clone(&reached);
    let peek = listen(move |_| *kept.lock().unwrap() += 1);
    let via = format!("socks4://us:secret@{peek}");
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"] {
        let ran = attack("http://a.test/", "", &[(name, &via)]);
        assert_ne!(ran.code, Some(0), "{ran:#?}");
        assert!(ran.stderr.contains("socks4") && !ran.stderr.contains("secret"), "{ran:#?}");
    }
    let ran = start(brunt(&format!("hey -n 1 -c 1 -x {via} http://a.test/"))).wait();
    assert_ne!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(*reached.lock().unwrap(), 0, "the proxy was connected to");
}

#[test]
fn issue_41_other_tools_keep_a_proxys_credentials() {
    let (secure, _) =
        server(Config { tls: Some(demo::self_signed().unwrap()), ..Config::default() });
    let proxy = Proxy::start(address(&secure));
    let at = proxy.address;
    for (line, asked) in [
        (
            format!("hey -n 1 -c 1 -x http://us:secret@{at} http://a.test/"),
            "GET http://a.test/ HTTP/1.1",
        ),
        (
            format!("hey -n 1 -c 1 -x http://us:secret@{at} https://a.test/"),
            "CONNECT a.test:443 HTTP/1.1",
        ),
        (
            format!("oha -n 1 -c 1 --no-tui -x http://us:secret@{at} http://a.test/"),
            "GET http://a.test/ HTTP/1.1",
        ),
        (
            format!("ab -n 1 -c 1 -X {at} -P us:secret http://a.test/"),
            "GET http://a.test/ HTTP/1.0",
        ),
        (
            format!("ab -n 1 -c 1 -X {at} -P us:secret https://a.test/"),
            "CONNECT a.test:443 HTTP/1.1",
        ),
    ] {
        proxy.forget();
        let ran = start(brunt(&line)).wait();
        assert_eq!(proxy.asked(), [asked], "{line}: {ran:#?}");
        assert_eq!(proxy.credentials(), [format!("Basic {BASIC}")], "{line}");
    }
}

#[test]
fn issue_41_sockets_of_scripts_ask_for_a_tunnel() {
    let (web, _) = server(Config::default());
    let proxy = Proxy::start(address(&web));
    let scratch = Scratch::new("ws-proxy");
    let script = scratch.file(
        "script.js",
        "import ws from 'k6/ws';\nimport { WebSocket } from 'k6/websockets';\nexport default function () {\n\
         const r = ws.connect('ws://chat.test/ws-echo', {}, (s) => s.on('open', () => s.close()));\n\
         console.log('status ' + r.status);\n\
         const s = new WebSocket('ws://chat.test:81/ws-echo');\n\
         s.onopen = () => { console.log('opened'); s.close(); };\n}\n",
    );
    let mut command = brunt(&format!("run -q --no-summary {script}"));
    command.env("HTTP_PROXY", format!("http://us:secret@{}", proxy.address));
    let ran = feed(command, "").with_code(0);
    assert!(ran.stderr.contains("status 101") && ran.stderr.contains("opened"), "{}", ran.stderr);
    assert_eq!(proxy.asked(), ["CONNECT chat.test:80 HTTP/1.1", "CONNECT chat.test:81 HTTP/1.1"]);
    assert_eq!(proxy.credentials(), [format!("Basic {BASIC}"), format!("Basic {BASIC}")]);
}

#[test]
fn issue_41_cable_asks_for_a_tunnel() {
    let (web, _) = server(Config::default());
    let proxy = Proxy::start(address(&web));
    let line = "cable idle ws://chat.test/cable -channel ChatChannel -params {\"id\":\"demo\"} -users 1 -ramp 10ms -d 1s";
    let mut command = brunt(line);
    command.env("HTTP_PROXY", format!("http://{}", proxy.address));
    let ran = start(command).wait();
    let asked = proxy.asked();
    assert!(!asked.is_empty(), "{ran:#?}");
    assert!(asked.iter().all(|line| line == "CONNECT chat.test:80 HTTP/1.1"), "{asked:?}");
}
