//! Texts and names from elsewhere: marks of Windows editors, names that are not ASCII, zones, headers that are empty or left out.

use std::net::{Ipv6Addr, SocketAddr};

use demo::{Config, Server};
use net::Address;

use crate::{Scratch, run, server};

/// The same text as editors and shells of Windows write it.
fn of_windows(text: &str) -> [(&'static str, Vec<u8>); 3] {
    let marked = [b"\xef\xbb\xbf", text.as_bytes()].concat();
    let wide = |bytes: fn(u16) -> [u8; 2]| {
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(bytes).collect::<Vec<u8>>()
    };
    [("utf-8", marked), ("utf-16le", wide(u16::to_le_bytes)), ("utf-16be", wide(u16::to_be_bytes))]
}

#[test]
fn issue_41_byte_order_marks_are_no_part_of_a_text() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("byte-order-marks");
    let texts = [
        ("http", format!("GET {url}/\r\n")),
        ("json", format!("{{\"method\":\"GET\",\"url\":\"{url}/\"}}\r\n")),
    ];
    for (format, text) in texts {
        for (name, bytes) in of_windows(&text) {
            let targets = scratch.file(name, bytes);
            let flags = format!("-format={format} -targets={targets} -rate=5 -duration=1s -json");
            let json = run(&format!("attack {flags}")).with_code(0).json();
            assert_eq!(json["status_codes"]["200"], 5, "{format} {name}: {json}");
        }
    }
    let text =
        format!("import http from 'k6/http';\nexport default () => {{ http.get('{url}/'); }};\n");
    for (name, bytes) in of_windows(&text) {
        let script = scratch.file(&format!("{name}.js"), bytes);
        run(&format!("run -q --no-summary {script}")).with_code(0);
    }
}

#[test]
fn issue_41_names_and_zones_from_elsewhere_are_asked() {
    let anywhere = Address::Ip(SocketAddr::from((Ipv6Addr::LOCALHOST, 0)));
    let six = Server::start(Config::default(), &[anywhere]).unwrap();
    let Address::Ip(at) = six.addresses()[0].clone() else { panic!("no IP address") };
    let port = at.port();
    let attack = |flags: &str, url: &str| {
        let line = format!("attack -rate=1 -duration=1s -json {flags} {url}");
        run(&line).with_code(0).json()
    };
    // The interface that is everywhere, by its number.
    let json = attack("", &format!("http://[::1%251]:{port}/"));
    assert_eq!(json["status_codes"]["200"], 1, "{json}");
    let to = format!("-connect-to B\u{dc}CHER.example:80:[::1]:{port}");
    let json = attack(&to, "http://b\u{fc}cher.example/");
    assert_eq!(json["status_codes"]["200"], 1, "{json}");
}
