//! `bench`: the closed loop by number and by time.

use demo::{Config, ServiceTime};

use crate::{Scratch, run, server};

#[test]
fn so_many_requests_and_no_more() {
    let (server, url) = server(Config::default());
    for (flags, connections) in [("-c 8", 8), ("-c 3 -no-keepalive", 1000), ("-c 64 -cpus 1", 64)] {
        let before = server.stats().requests;
        let json = run(&format!("bench {flags} -n 1000 -json {url}/")).with_code(0).json();
        assert_eq!(json["requests"], 1000, "{flags}");
        assert_eq!(json["status_codes"]["200"], 1000, "{flags}: {json}");
        assert_eq!(server.stats().requests - before, 1000, "{flags}");
        let opened = json["brunt"]["generator"]["connections"].as_u64().unwrap();
        assert!(opened <= connections && opened * 2 > connections, "{flags}: {opened} connections");
    }
}

#[test]
fn a_server_of_a_known_capacity_is_filled() {
    let service = ServiceTime::parse("fixed:20ms").unwrap();
    let (_server, url) = server(Config { workers: 4, service, ..Config::default() });
    // Four workers of 20 ms: 200 a second, each waiting twice its service time; fewer where this machine has other work.
    let is_filled = || {
        let json = run(&format!("bench -c 8 -d 2s -json {url}/")).with_code(0).json();
        let rate = json["throughput"].as_f64().unwrap();
        let concurrency = json["brunt"]["concurrency"].as_f64().unwrap();
        let mean = json["latencies"]["mean"].as_f64().unwrap() / 1e6;
        assert!(rate <= 201.0 && mean >= 39.0 && concurrency <= 8.01, "{json}");
        rate >= 150.0 && mean <= 60.0 && concurrency >= 7.5
    };
    assert!((0..5).any(|_| is_filled()));
}

/// Every path to a value in a JSON document, without list indices.
fn keys(value: &serde_json::Value, at: &str, into: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(entries) => entries.iter().for_each(|(key, value)| {
            keys(value, &format!("{at}/{key}"), into);
        }),
        serde_json::Value::Array(items) => items.iter().for_each(|item| keys(item, at, into)),
        _ => drop(into.insert(at.to_owned())),
    }
}

#[test]
fn its_json_is_that_of_a_report_of_its_results() {
    let service = ServiceTime::parse("fixed:5ms").unwrap();
    let (_server, url) = server(Config { service, ..Config::default() });
    let scratch = Scratch::new("bench-json");
    let file = crate::text(&scratch.path("b.arrow"));
    let line = format!("bench -c 6 -n 900 -per-connection -json -output {file} {url}/");
    let live = run(&line).with_code(0).json();
    let later = run(&format!("report -json -by=connection {file}")).with_code(0).json();
    let (mut ours, mut theirs) = Default::default();
    keys(&live, "", &mut ours);
    keys(&later, "", &mut theirs);
    assert_eq!(ours, theirs);
    for path in [
        "/requests",
        "/status_codes",
        "/bytes_in",
        "/latencies",
        "/earliest",
        "/brunt/response",
        "/brunt/wire_in",
        "/brunt/little",
        "/brunt/in_flight",
        "/brunt/sends",
        "/brunt/generator/connections",
    ] {
        assert_eq!(live.pointer(path), later.pointer(path), "{path}");
        assert!(live.pointer(path).is_some(), "{path} is missing: {live}");
    }
    let brunt = &live["brunt"];
    assert_eq!(brunt["little"]["users"], 6);
    assert!(brunt["little"]["off"].as_f64().unwrap().abs() < 0.1, "{}", brunt["little"]);
    assert_eq!(brunt["sends"]["gaps"]["count"], 899);
    let rows = brunt["groups"]["rows"].as_array().unwrap();
    let mut names: Vec<&str> = rows.iter().map(|row| row["key"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["1", "2", "3", "4", "5", "6"], "{}", brunt["groups"]);
    let hits: u64 = rows.iter().map(|row| row["requests"].as_u64().unwrap()).sum();
    assert_eq!(hits, 900);
}

#[test]
fn requests_are_pipelined() {
    let service = ServiceTime::parse("fixed:5ms").unwrap();
    let (server, url) = server(Config { workers: 1, service, ..Config::default() });
    let json = run(&format!("bench -c 2 -pipeline 8 -n 200 -json {url}/")).with_code(0).json();
    assert_eq!((&json["requests"], &json["success"]), (&200.into(), &1.into()), "{json}");
    assert_eq!(server.stats().requests, 200);
    assert_eq!(json["brunt"]["generator"]["connections"], 2);
    let concurrency = json["brunt"]["concurrency"].as_f64().unwrap();
    assert!((13.0..=16.01).contains(&concurrency), "2 connections of 8: {concurrency}");
    let closes =
        run(&format!("bench -c 2 -pipeline 4 -n 40 -json {url}/close")).with_code(0).json();
    assert_eq!((&closes["requests"], &closes["success"]), (&40.into(), &0.into()), "{closes}");
}

#[test]
fn methods_bodies_and_results() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("bench");
    let (body, file) = (scratch.file("body", "x=1"), crate::text(&scratch.path("b.arrow")));
    let ran = run(&format!("bench -n 20 -c 2 -X post -body {body} -output {file} {url}/echo"));
    ran.with_code(0).line("Requests");
    let json = run(&format!("report -type=json {file}")).with_code(0).json();
    assert_eq!(
        (&json["requests"], &json["bytes_out"]["total"]),
        (&20.into(), &60.into()),
        "{json}"
    );
}

#[test]
fn what_is_missing_or_too_much_is_said() {
    let cases = [
        ("bench", 2, "a URL or -targets=FILE is needed"),
        ("bench http://127.0.0.1:1/ more", 2, "unexpected \"more\""),
        ("bench -n many http://127.0.0.1:1/", 2, "flag -n: \"many\""),
        ("bench -X G-T http://127.0.0.1:1/", 2, "flag -X: "),
        ("bench htp:/x", 3, "found \"htp:/x\""),
        ("bench -targets=/nowhere", 3, "/nowhere"),
        ("bench -laddr=192.0.2.1 http://127.0.0.1:1/", 3, "not an address of this machine"),
        ("bench -pipeline 2 -k=false http://127.0.0.1:1/", 2, "flag -pipeline needs keep-alive"),
        ("bench -key=/dev/null http://127.0.0.1:1/", 2, "-key needs a -cert"),
    ];
    for (line, code, words) in cases {
        let ran = run(line).with_code(code);
        assert!(ran.stderr.contains(words), "{line}: {}", ran.stderr);
    }
}
