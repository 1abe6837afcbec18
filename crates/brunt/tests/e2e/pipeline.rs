//! The Vegeta pipeline of seed 000, natively and in Vegeta's dialect.

use std::process::Stdio;

use demo::{Config, ServiceTime};

use crate::{Scratch, brunt, feed, pipe, run, server, start, text, until};

#[test]
fn five_seconds_at_the_default_rate() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("five-seconds");
    let results = text(&scratch.path("results.bin"));
    let target = format!("GET {url}/\n");
    let (code, ran) = pipe("attack -duration=5s", &target, "report");
    assert_eq!(code, Some(0));
    let ran = ran.with_code(0);
    assert!(
        ran.line("Requests")
            .starts_with("Requests      [total, rate, throughput]         250, 50.20, ")
    );
    assert!(ran.line("Duration").contains("4.98s,"), "{}", ran.line("Duration"));
    assert_eq!(ran.line("Success"), "Success       [ratio]                           100.00%");
    assert_eq!(
        ran.line("Status Codes"),
        "Status Codes  [code:count]                      200:250  "
    );
    assert!(ran.stdout.lines().any(|line| line.starts_with("Service ")), "our own lines follow");
    assert!(!results.is_empty());
}

#[test]
fn a_quiet_run_is_valid() {
    // Against 100 ms what a late wake-up adds is little.
    let service = ServiceTime::parse("fixed:100ms").unwrap();
    let (_server, url) = server(Config { service, ..Config::default() });
    // Other tests run beside this one and may hold the cores for a while; a quiet machine passes at once.
    let valid = (0..40).any(|_| {
        let (_, ran) = pipe("attack -duration=1s", &format!("GET {url}/\n"), "report");
        let ran = ran.with_code(0);
        // A remark may follow.
        ran.stdout
            .trim_end()
            .lines()
            .last()
            .is_some_and(|line| line.starts_with("Measurement: VALID"))
    });
    assert!(valid, "forty runs of 50 a second, and none is VALID");
}

#[test]
fn four_targets_in_turn() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("four-targets");
    let lines =
        format!("GET {url}/status/400\nGET {url}/a.css\nGET {url}/b.png\nGET {url}/c.png\n");
    let targets = scratch.file("the-file-name", lines);
    let attack = format!("attack -duration=5s -timeout 10s -rate=28 -targets={targets}");
    let (code, ran) = pipe(&attack, "", "report -by target");
    assert_eq!(code, Some(0));
    assert!(ran.line("Requests").contains("140, 28.20, "));
    assert!(ran.line("Success").ends_with("75.00%"));
    assert!(ran.line("Status Codes").ends_with("200:105  400:35  "));
    assert!(ran.stdout.contains("400 Bad Request"), "{}", ran.stdout);
    assert!(ran.stdout.contains("a.css"), "rows per target: {}", ran.stdout);
}

#[test]
fn six_a_second_for_five_seconds() {
    let (_server, url) = server(Config::default());
    let (_, ran) =
        pipe("attack -duration=5s -timeout 10s -rate=6", &format!("GET {url}/\n"), "report");
    assert!(ran.line("Requests").contains("30, 6.21, "));
}

#[test]
fn refused_connections_are_results_of_code_0() {
    let port = crate::free_port();
    let target = format!("GET http://127.0.0.1:{port}/\n");
    for (attack, report) in [
        ("attack -duration=1s -rate=10", "report"),
        ("vegeta attack -duration=1s -rate=10", "vegeta report"),
    ] {
        let (code, ran) = pipe(attack, &target, report);
        assert_eq!((code, ran.code), (Some(0), Some(0)));
        assert!(ran.line("Status Codes").ends_with("0:10  "));
        let text = format!(
            "Get \"http://127.0.0.1:{port}/\": dial tcp 0.0.0.0:0->127.0.0.1:{port}: connect: connection refused"
        );
        assert!(ran.stdout.contains(&text), "{}", ran.stdout);
    }
}

#[test]
fn vegetas_report_has_vegetas_lines_alone() {
    let (_server, url) = server(Config::default());
    let (_, ran) =
        pipe("vegeta attack -duration=1s -rate=10", &format!("GET {url}/\n"), "vegeta report");
    let heads: Vec<&str> =
        ran.stdout.lines().map(|line| line.split("  ").next().unwrap()).collect();
    let expected = [
        "Requests",
        "Duration",
        "Latencies",
        "Bytes In",
        "Bytes Out",
        "Success",
        "Status Codes",
        "Error Set:",
    ];
    let heads: Vec<&str> = heads.iter().map(|head| head.split(" [").next().unwrap()).collect();
    assert_eq!(heads, expected);
}

#[test]
fn vegetas_requests_look_like_vegetas() {
    let (_server, url) = server(Config::default());
    let attack = "vegeta attack -duration=100ms -rate=10 -name=big-bang -header=B:2 -header=A:1";
    let (_, ran) = pipe(attack, &format!("GET {url}/echo\n"), "vegeta encode");
    let row: serde_json::Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(row["attack"], "big-bang");
    let body = row["body"].as_str().expect("Vegeta keeps bodies");
    let (_, native) =
        pipe("attack -duration=100ms -rate=10", &format!("GET {url}/echo\n"), "encode");
    let native: serde_json::Value =
        serde_json::from_str(native.stdout.lines().next().unwrap()).unwrap();
    assert!(native["body"].is_null(), "natively none is kept unless asked for");
    assert_ne!(body.len(), 0);
    assert!(row["headers"].is_object());
}

#[test]
fn results_go_to_a_file_or_nowhere() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("outlets");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let file = text(&scratch.path("r.arrow"));
    let ran =
        run(&format!("attack -targets={targets} -duration=500ms -output={file}")).with_code(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "nothing is said when piped");
    assert!(run(&format!("report {file}")).line("Requests").contains("25, 52.08, "));
    let ran = run(&format!("attack -targets={targets} -duration=500ms -output none")).with_code(0);
    assert!(ran.line("Requests").contains("25, 52.08, "));
    assert!(!scratch.path("none").exists());
    let ran =
        run(&format!("attack -q -targets={targets} -duration=100ms -output none")).with_code(0);
    assert_eq!(ran.stdout, "");
    let ran = run(&format!("attack -json -targets={targets} -duration=500ms")).with_code(0);
    assert_eq!(ran.json()["requests"], 25);
    assert!(ran.json()["brunt"]["verdict"].is_string(), "{}", ran.stdout);
}

#[test]
fn lazy_targets_are_used_once_each() {
    let (_server, url) = server(Config::default());
    let lines: String = (0..7).map(|n| format!("GET {url}/bytes/{n}\n\n")).collect();
    let (_, ran) = pipe("attack -lazy -rate=50", &lines, "report -type=json");
    let json = ran.json();
    assert_eq!(json["requests"], 7);
    assert_eq!(json["bytes_in"]["total"], 21);
}

#[test]
fn the_first_interrupt_drains_and_keeps_the_results() {
    let (server, url) = server(Config::default());
    let scratch = Scratch::new("interrupt");
    let targets = scratch.file("targets", format!("GET {url}/slow?ms=200\n"));
    let file = text(&scratch.path("r.arrow"));
    let attack = start(brunt(&format!("attack -targets={targets} -rate=100 -output={file}")));
    until("requests arrive", || server.stats().requests > 30);
    crate::signal("INT", attack.pid());
    attack.wait().with_code(0);
    let json = run(&format!("report -type=json {file}")).with_code(0).json();
    assert_eq!(json["requests"], server.stats().requests, "what was under way has ended");
    assert_eq!(json["success"], 1.0);
}

#[test]
fn an_interrupted_report_shows_what_it_read() {
    let (server, url) = server(Config::default());
    let mut command = brunt("attack -rate=100");
    command.stdin(Stdio::piped());
    let mut attack = start(command);
    {
        use std::io::Write;
        let mut stdin = attack.child().stdin.take().unwrap();
        writeln!(stdin, "GET {url}/").unwrap();
    }
    let mut command = brunt("report");
    command.stdin(attack.child().stdout.take().unwrap());
    let report = start(command);
    until("two seconds' worth of requests", || server.stats().requests > 250);
    crate::signal("INT", report.pid());
    // Two signals at once may arrive as one.
    std::thread::sleep(std::time::Duration::from_millis(300));
    crate::signal("INT", report.pid());
    let ran = report.wait().with_code(0);
    let total =
        ran.line("Requests").split_whitespace().nth(4).unwrap().trim_end_matches(',').to_owned();
    assert!(total.parse::<u64>().unwrap() >= 100, "{total}");
    // The report has closed the pipe: the attack ends by itself.
    attack.wait().with_code(1);
}

#[test]
fn live_metrics_are_served() {
    let (server, url) = server(Config::default());
    let port = crate::free_port();
    let scratch = Scratch::new("prometheus");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let args = format!(
        "attack -targets={targets} -rate=100 -output=none -q -prometheus-addr=127.0.0.1:{port}"
    );
    let attack = start(brunt(&args));
    until("requests arrive", || server.stats().requests > 150);
    until("the page counts them", || {
        let port = format!("GET http://127.0.0.1:{port}/any\n");
        let fetch = feed(brunt("attack -max-body=64KB -duration=20ms -rate=50 -to=json"), port);
        fetch.stdout.contains("\"code\":200")
    });
    let clash = run(&args).with_code(1);
    clash.complains_once(&["-prometheus-addr", &port.to_string()]);
    crate::signal("INT", attack.pid());
    attack.wait().with_code(0);
}

/// Issue 41: Vegeta's default is an empty text, and its CSV has an empty body where it has none.
#[test]
fn vegetas_empty_values() {
    let (_server, url) = server(Config::default());
    let attack = "vegeta attack -duration=100ms -rate=20 -max-body=0 -unix-socket=";
    let (_, csv) = pipe(attack, &format!("GET {url}/\n"), "vegeta encode -to csv");
    assert_eq!(csv.stdout.lines().count(), 2, "{csv:#?}");
    let scratch = Scratch::new("empty-values");
    let csv = scratch.file("r.csv", csv.stdout);
    let bodies = |file: &str| {
        let json = run(&format!("vegeta encode -to json {file}")).with_code(0).stdout;
        json.lines().next().unwrap().contains(",\"body\":\"\",")
    };
    assert!(bodies(&csv));
    let gob = text(&scratch.path("r.gob"));
    run(&format!("vegeta encode -to gob -output {gob} {csv}")).with_code(0);
    assert!(!bodies(&gob), "gob does not tell it from none");
}
