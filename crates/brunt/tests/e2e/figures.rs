//! Figures that must not mislead: rates of runs one after the other, times cut off by timeouts, times on a bucket's edge.

use demo::{Config, ServiceTime};

use crate::{Scratch, run, server, text};

const SECOND: u64 = 1_000_000_000;

/// Twenty hits, ten a second, from so many seconds on, as CSV.
fn rows(from_s: u64, took_ns: u64) -> String {
    let row = |n: u64| {
        let at = 1_700_000_000 * SECOND + from_s * SECOND + n * SECOND / 10;
        format!("{at},200,{took_ns},0,0,,,a,{n},GET,http://h/,\n")
    };
    (0..20).map(row).collect()
}

#[test]
fn time_between_runs_counts_in_no_rate() {
    let scratch = Scratch::new("figures-apart");
    let one = scratch.file("1.csv", rows(0, 5_000_000));
    let two = scratch.file("2.csv", rows(300, 5_000_000));
    let json = run(&format!("report -json {one} {two}")).with_code(0).json();
    let rate = json["rate"].as_f64().unwrap();
    // 40 hits in twice 1.9 s; over the gap it would be 0.13 a second.
    assert!((rate - 40.0 / 3.8).abs() < 0.1, "{json}");
    assert!(json["brunt"]["apart"].as_u64().unwrap() > 290 * SECOND, "{json}");
    for kind in ["text", "html", "markdown"] {
        let ran = run(&format!("report -type={kind} {one} {two}")).with_code(0);
        assert!(
            ran.stdout.contains("one after the other: rates are over the 3."),
            "{kind}: {}",
            ran.stdout
        );
    }
    let together = scratch.file("3.csv", rows(1, 5_000_000));
    let ran = run(&format!("report {one} {together}")).with_code(0);
    assert!(!ran.stdout.contains("one after the other"), "{}", ran.stdout);
    let vegeta = run(&format!("vegeta report -type=json {one} {two}")).with_code(0).json();
    assert!(vegeta["rate"].as_f64().unwrap() < 0.2, "as Vegeta reckons: {vegeta}");
}

/// A request of the first run that timed out after 30 s makes that run's wait long, and not its attack.
#[test]
fn a_runs_wait_counts_in_no_rate() {
    let scratch = Scratch::new("figures-wait");
    let due = (1_700_000_000 + 1) * SECOND;
    let late = format!("{due},0,{},0,0,timeout,,a,20,GET,http://h/,\n", 30 * SECOND);
    let one = scratch.file("1.csv", rows(0, 5_000_000) + &late);
    let two = scratch.file("2.csv", rows(300, 5_000_000));
    let json = run(&format!("report -json {one} {two}")).with_code(0).json();
    // Attacks of 1.9 s each; waits of 31 s - 1.9 s and of 5 ms.
    assert_eq!(json["duration"], 3_800_000_000_u64, "{json}");
    assert_eq!(json["wait"], 29_105_000_000_u64, "{json}");
    assert!((json["rate"].as_f64().unwrap() - 41.0 / 3.8).abs() < 0.01, "{json}");
    assert!((json["throughput"].as_f64().unwrap() - 40.0 / 32.905).abs() < 0.01, "{json}");
    assert_eq!(json["brunt"]["apart"], 269 * SECOND, "from 31 s to 300 s: {json}");
}

#[test]
fn times_cut_off_by_the_timeout_are_marked() {
    let scratch = Scratch::new("figures-timeout");
    let service = ServiceTime::parse("fixed:6s").unwrap();
    let (_server, url) = server(Config { service, ..Config::default() });
    let results = text(&scratch.path("r.arrow"));
    run(&format!("bench -c 4 -n 8 -timeout 2s -q -output={results} {url}/")).with_code(0);
    let report = |kind: &str| run(&format!("report -type={kind} {results}")).with_code(0).stdout;
    let plain = report("text");
    assert!(plain.contains("8 requests (100.00%) timed out, after 2"), "{plain}");
    assert!(plain.contains("p50, p90, p95, p99 and max are that wait"), "{plain}");
    assert!(plain.contains("\u{2265} 2") && plain.contains("[timed out]  "), "{plain}");
    let json = run(&format!("report -json {results}")).with_code(0).json();
    let censored = &json["brunt"]["censored"];
    for times in ["response", "service"] {
        let keys = censored[times].as_array().unwrap();
        assert!(keys.contains(&"50th".into()) && keys.contains(&"max".into()), "{censored}");
    }
    assert!(report("html").contains("<b>\u{2265} 2"), "the tiles are marked");
    assert!(report("markdown").contains("| \u{2265} 2"), "and so are the cells");
    let vegeta = run(&format!("vegeta report {results}")).with_code(0).stdout;
    assert!(!vegeta.contains("timed out") && !vegeta.contains('\u{2265}'), "{vegeta}");
}

#[test]
fn users_who_think_are_held_to_no_law() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("figures-think");
    let results = text(&scratch.path("r.arrow"));
    let bench = format!("bench -c 2 -n 20 -think 20ms -q -output={results} {url}/");
    run(&bench).with_code(0);
    let json = run(&format!("report -json {results}")).with_code(0).json();
    assert!(json["brunt"]["little"].is_null(), "{json}");
    let plain = run(&format!("report {results}")).with_code(0).stdout;
    assert!(!plain.contains("Concurrency"), "{plain}");
}

/// Where the test may use real-time priority; elsewhere brunt says that it was refused, and the report says nothing.
#[test]
fn real_time_priority_beside_the_server_is_reported() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("figures-rt");
    let results = text(&scratch.path("r.arrow"));
    let ran = run(&format!("bench -c 1 -n 5 -rt -q -output={results} {url}/")).with_code(0);
    let plain = run(&format!("report {results}")).with_code(0).stdout;
    let refused = ran.stderr.contains("--rt: ");
    assert_eq!(plain.contains("real-time priority"), !refused, "{plain}{}", ran.stderr);
    run(&format!("bench -c 1 -n 5 -q -output={results} {url}/")).with_code(0);
    let plain = run(&format!("report {results}")).with_code(0).stdout;
    assert!(!plain.contains("real-time priority"), "{plain}");
}

/// Vegeta counts row by row: a time on an edge belongs to the bucket that begins there.
#[test]
fn a_time_on_an_edge_belongs_to_the_upper_bucket() {
    let scratch = Scratch::new("figures-edge");
    let csv = scratch.file("r.csv", rows(0, 10_000_000) + &rows(10, 9_999_999));
    for command in ["report", "vegeta report"] {
        let ran = run(&format!("{command} -type=hist[0,10ms,20ms] {csv}")).with_code(0);
        let counts: Vec<&str> = ran
            .stdout
            .lines()
            .skip(1)
            .map(|line| line.split_whitespace().nth(2).unwrap())
            .collect();
        assert_eq!(counts, ["20", "20", "0"], "{command}: {}", ran.stdout);
        let json = run(&format!("{command} -type=json -buckets=[0,10ms,20ms] {csv}")).json();
        assert_eq!(json["buckets"]["10000000"], 20, "{command}: {json}");
    }
}
