//! Vegeta's corners in its dialect, each as Vegeta 12.13 has it: what empty values mean, its words and codes, the quantiles of few
//! hits, the end of lazy targets.

use demo::Config;

use crate::{Ran, Scratch, brunt, feed, run, server, text};

/// Results of these latencies, 20 ms apart, as Vegeta's JSON.
fn results(latencies: &[u64]) -> String {
    let row = |(at, latency): (usize, &u64)| {
        format!(
            "{{\"seq\":{at},\"code\":200,\"timestamp\":\"2023-11-14T22:13:20.{:03}Z\",\"latency\":{latency},\"method\":\"GET\",\"url\":\"http://h/\"}}\n",
            20 * at
        )
    };
    latencies.iter().enumerate().map(row).collect()
}

#[test]
fn few_hits_have_vegetas_figures() {
    let report = |latencies: &[u64], kind: &str| {
        feed(brunt(&format!("vegeta report -type={kind}")), results(latencies)).with_code(0)
    };
    let one = report(&[5_000_000], "json").stdout;
    let whole = "{\"latencies\":{\"total\":5000000,\"mean\":5000000,\"50th\":5000000,\"90th\":5000000,\"95th\":5000000,\
                 \"99th\":5000000,\"max\":5000000,\"min\":5000000},\"bytes_in\":{\"total\":0,\"mean\":0},\
                 \"bytes_out\":{\"total\":0,\"mean\":0},\"earliest\":\"2023-11-14T22:13:20Z\",\"latest\":\"2023-11-14T22:13:20Z\",\
                 \"end\":\"2023-11-14T22:13:20.005Z\",\"duration\":0,\"wait\":5000000,\"requests\":1,\"rate\":1,\"throughput\":1,\
                 \"success\":1,\"status_codes\":{\"200\":1},\"errors\":[]}\n";
    assert_eq!(one, whole);
    let four = [10_000_000, 20_000_000, 30_000_001, 70_000_000];
    let json = report(&four, "json").json();
    let quantiles =
        ["50th", "90th", "95th", "99th"].map(|q| json["latencies"][q].as_u64().unwrap());
    assert_eq!(quantiles, [25_000_000, 70_000_000, 70_000_000, 70_000_000]);
    let text = report(&[1, 334, 667], "text");
    let line = "Latencies     [min, mean, 50, 90, 95, 99, max]  1ns, 334ns, 334ns, 667ns, 667ns, 667ns, 667ns";
    assert_eq!(text.line("Latencies"), line);
    let plot = report(&four, "hdrplot");
    assert_eq!(plot.stdout.lines().nth(3), Some("13.000000  0.200000    1           1.250000"));
}

#[test]
fn empty_values_mean_what_they_mean_to_vegeta() {
    let (_server, url) = server(Config::default());
    let target = format!("GET {url}/\n");
    let attack = |flags: &str| {
        feed(brunt(&format!("vegeta attack -duration=40ms {flags}")), target.as_bytes())
    };
    for flags in [
        "-body=",
        "-cert=",
        "-key=",
        "-laddr=",
        "-max-body=",
        "-name=",
        "-unix-socket=",
        "-prometheus-addr=",
    ] {
        let ran = attack(flags).with_code(0);
        assert_eq!((ran.stderr.as_str(), ran.bytes.is_empty()), ("", false), "{flags}");
    }
    let late = [
        ("-root-certs=", "bad certificate"),
        ("-resolvers=", "host  is not an IP address"),
        ("-format=", "format \"\" isn't one of [http, json]"),
        ("-output=", "error opening : open : no such file or directory"),
        ("-cert=nowhere", "open nowhere: no such file or directory"),
    ];
    for (flags, words) in late {
        assert_log_line(&attack(flags).with_code(1), words);
    }
    let refused = [
        ("-rate=", "strconv.Atoi: parsing \"\": invalid syntax"),
        ("-header=", "header '' has a wrong format"),
        ("-dns-ttl=", "time: invalid duration \"\""),
        ("-duration=", "parse error"),
        ("-workers=", "parse error"),
        ("-connect-to=", "invalid -connect-to \"\", expected format: src:port:dst:port"),
    ];
    for (flags, words) in refused {
        let ran = attack(flags).with_code(2);
        let name = flags.trim_end_matches('=');
        let line = format!("invalid value \"\" for flag {name}: {words}");
        assert_eq!(ran.stderr.lines().next(), Some(line.as_str()));
        assert_eq!(ran.stderr.lines().nth(1), Some("Usage of vegeta attack:"));
    }
}

#[test]
fn less_than_a_microsecond_is_over_before_it_begins() {
    let (server, url) = server(Config::default());
    for flags in ["-duration=999ns -rate=10000000", "-duration=1ns -rate=50"] {
        let ran = feed(brunt(&format!("vegeta attack {flags}")), format!("GET {url}/\n"));
        assert_eq!((ran.code, ran.bytes.len()), (Some(0), 0), "{flags}");
    }
    assert_eq!(server.stats().requests, 0);
}

/// Standard error is the line that Go's logger would print.
#[track_caller]
fn assert_log_line(ran: &Ran, words: &str) {
    let line = ran.stderr.strip_suffix('\n').unwrap_or_default();
    assert_eq!(line.get("2006/01/02 15:04:05 ".len()..), Some(words), "{ran:#?}");
}

#[test]
fn reports_refuse_in_vegetas_words() {
    let scratch = Scratch::new("vegeta-report");
    let file = scratch.file("r.json", results(&[1_000_000]));
    let cases = [
        ("-type=", "invalid report type: "),
        ("-type=foo1", "unknown report type: \"foo1\""),
        (
            "-type=plot",
            "The plot reporter has been deprecated and succeeded by the vegeta plot command",
        ),
        ("-type=hist", "bad buckets: ''"),
        ("-type=hist[", "bad buckets: '['"),
        ("-type=hist[a]", "time: invalid duration \"a\""),
        ("-type=hist[5]", "time: missing unit in duration \"5\""),
        ("-type=hist[0,1ms", "bad buckets: [0,1ms"),
        ("-type=json -buckets=[]", "time: invalid duration \"\""),
        ("-output=/", "open /: is a directory"),
    ];
    for (flags, words) in cases {
        assert_log_line(&run(&format!("vegeta report {flags} {file}")).with_code(1), words);
    }
    run(&format!("vegeta report -type=json -buckets= {file}")).with_code(0);
    for command in ["report", "encode", "plot"] {
        let help = run(&format!("vegeta {command} -h")).with_code(0).stderr;
        assert!(
            help.starts_with(&format!("Usage: vegeta {command} [options] [<file>...]\n")),
            "{help}"
        );
        assert!(help.contains("gob, json or csv"), "{help}");
    }
}

#[test]
fn lazy_targets_end_with_a_hit_that_says_so() {
    let (server, url) = server(Config::default());
    let scratch = Scratch::new("vegeta-lazy");
    let lazy = |lines: String| {
        let targets = scratch.file("targets", lines);
        let file = text(&scratch.path("r.gob"));
        run(&format!("vegeta attack -lazy -rate=100 -targets={targets} -output={file}"))
            .with_code(0);
        let rows = run(&format!("vegeta encode {file}")).with_code(0).stdout;
        let rows = rows.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap());
        rows.collect::<Vec<_>>()
    };
    let rows = lazy(format!("GET {url}/\n\nGET {url}/\n"));
    let codes: Vec<u64> = rows.iter().map(|row| row["code"].as_u64().unwrap()).collect();
    assert_eq!((codes, server.stats().requests), (vec![200, 200, 0], 2));
    let last = &rows[2];
    assert_eq!((&last["error"], &last["seq"]), (&"no targets to attack".into(), &2.into()));
    assert_eq!((&last["method"], &last["url"]), (&"".into(), &"".into()), "{last}");
    let rows = lazy(format!("GET {url}/\n\nget {url}/\n"));
    assert_eq!((rows.len(), &rows[1]["error"]), (2, &"bad method: get".into()));
}

#[test]
fn json_targets_are_refused_in_vegetas_words() {
    let cases = [
        ("x", "parse error: syntax error near offset 0 of 'x'"),
        ("{\"method\":1}", "parse error: expected string near offset 11 of '1'"),
        ("{\"method\":\"GET\"", "EOF"),
        ("{\"url\":\"http://h/\"}", "target: required method is missing"),
        (
            "{\"method\":\"GET\",\"url\":\"u\",\"body\":\"!\"}",
            "parse error: illegal base64 data at input byte 0 near offset 0 of ''",
        ),
    ];
    for (line, words) in cases {
        let ran = feed(brunt("vegeta attack -format=json -duration=1s"), format!("{line}\n"));
        assert_log_line(&ran.with_code(1), words);
    }
    let ran = feed(brunt("vegeta attack -duration=1s"), "GET http://h:x/\n");
    assert_log_line(
        &ran.with_code(1),
        "bad URL: http://h:x/, parse \"http://h:x/\": invalid port \":x\" after host",
    );
}
