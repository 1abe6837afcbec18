//! Exact output of every report from small hand-made samples. `UPDATE=1` rewrites the files in `tests/snapshots/`.

use crate::samples::Seen;
use metrics::tally::{Assertion, Contains, Kind, MetricSummary, ThresholdOutcome};
use metrics::{Gap, GateOutcome, GateState, GateUnit};
use report::Input;

/// Compares with a snapshot, or rewrites it.
fn check(name: &str, text: &str) {
    let path = format!("{}/tests/snapshots/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert!(text == expected, "{name} differs (UPDATE=1 rewrites it); it is now:\n{text}");
}

#[test]
fn text_of_the_seed_transcript() {
    // 250 hits at 50/s: the last falls due 4.98 s after the first, hence 50.20.
    let seen = Seen::steady(250, 200);
    let text = report::vegeta::text(&seen.summary);
    assert!(
        text.starts_with(
            "Requests      [total, rate, throughput]         250, 50.20, 50.18\n\
             Duration      [total, attack, wait]             4.982s, 4.98s, 2ms\n\
             Latencies     [min, mean, 50, 90, 95, 99, max]  2ms, 2ms, "
        ),
        "{text}"
    );
    check("steady.vegeta.txt", &text);
    check("steady.txt", &report::text(&seen.input("steady")));
}

#[test]
fn reports_of_a_mixed_run() {
    let seen = Seen::mixed();
    let buckets = seen.between("[0, 1ms, 2ms, 10ms]");
    let input = Input { buckets: Some(&buckets), ..seen.input("mixed | <run>") };
    check("mixed.txt", &report::text(&input));
    check("mixed.vegeta.txt", &report::vegeta::text(&seen.summary));
    check("mixed.json", &report::json(&input));
    check("mixed.vegeta.json", &report::vegeta::json(&seen.summary, Some(&buckets)));
    check("mixed.hist.txt", &report::hist(&buckets));
    check("mixed.hdrplot.txt", &report::hdrplot(&seen.summary));
    check("mixed.md", &report::markdown(&input));
    check("mixed.junit.xml", &report::junit(&input));
}

#[test]
fn reports_of_nothing() {
    let seen = Seen::nothing();
    let input = Input { generator: None, groups: None, ..seen.input("") };
    check("nothing.txt", &report::text(&input));
    check("nothing.json", &report::json(&input));
    check("nothing.md", &report::markdown(&input));
    check("nothing.junit.xml", &report::junit(&input));
}

#[test]
fn apache_benchs_layouts() {
    use report::ab::{self, Attributes, Setting, Tls};
    let figures = crate::samples::ab_figures();
    let setting = Setting {
        hostname: "<h>".to_owned(),
        port: 8443,
        path: "/a?b&c".to_owned(),
        concurrency: 4,
        taken: stdx::Nanos::from_millis(1234),
        keep_alive: true,
        bytes_sent: Some(10_000),
        tls: Some(Tls {
            protocol: "TLSv1.3,TLS_AES_256_GCM_SHA384,2048,256".to_owned(),
            temporary_key: "X25519 253 bits".to_owned(),
            server_name: String::new(),
        }),
        ..Setting::default()
    };
    check("ab.txt", &ab::text(&setting, &figures));
    let bare = Setting { plain_times: true, no_percentages: true, ..setting.clone() };
    check("ab.plain.txt", &ab::text(&bare, &figures));
    let attributes = Attributes { table: "border=1".to_owned(), ..Attributes::default() };
    check("ab.html", &ab::html(&setting, &figures, &attributes));
    check("ab.csv", &ab::csv(&figures));
    check("ab.nothing.txt", &ab::text(&Setting::default(), &ab::Figures::default()));
    assert_eq!(ab::csv(&ab::Figures::default()).lines().count(), 1);
}

#[test]
fn json_has_vegetas_keys_first_and_ours_under_brunt() {
    let seen = Seen::mixed();
    let text = report::json(&seen.input("t"));
    assert_eq!(text.lines().count(), 1);
    let ours = text.find(r#","brunt":{"verdict":"INVALID""#).unwrap();
    let vegeta = report::vegeta::json(&seen.summary, None);
    // Vegeta reckons the quantiles of few requests in its own way.
    let keys = |text: &str| text.replace(|c: char| c.is_ascii_digit() || c == '.', "");
    assert_eq!(keys(&text[..ours]), keys(&vegeta[..vegeta.len() - 2]));
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["requests"], 40);
    assert_eq!(value["brunt"]["generator"]["planned"], 42);
    assert_eq!(value["brunt"]["groups"]["by"], "target");
    assert_eq!(value["brunt"]["service"]["count"], 40);
}

#[test]
fn the_hdrplot_has_its_94_steps() {
    let text = report::hdrplot(&Seen::steady(250, 200).summary);
    assert_eq!(text.lines().count(), 95);
    let last = text.lines().last().unwrap();
    assert!(last.ends_with("1.000000    250         10000000.000000"), "{last}");
}

#[test]
fn junit_is_xml_whatever_the_texts() {
    let seen = Seen::mixed();
    let xml = report::junit(&seen.input("\"><b>&\u{1}"));
    let document = roxmltree::Document::parse(&xml).unwrap();
    let failures = document.descendants().filter(|node| node.has_tag_name("failure"));
    assert_eq!(failures.count(), 3);
}

#[test]
fn junit_is_xml_whatever_the_gates() {
    let gate = |expression: &str, state| {
        let expression = expression.to_owned();
        Assertion::Gate(GateOutcome {
            expression,
            value: None,
            unit: GateUnit::Time,
            state,
            run: String::new(),
        })
    };
    let gates = [
        gate("p99{name:\"<a>&'\u{1}\"}>300ms", GateState::Crossed),
        gate("p99{target:\"GET http://h/?a=1&b=2\"}>=1s", GateState::Undecided(Gap::NoRequest)),
        gate("max>1h", GateState::Passed),
    ];
    let seen = Seen::steady(10, 200);
    let input = Input { assertions: &gates, ..seen.input("t") };
    let xml = report::junit(&input);
    let document = roxmltree::Document::parse(&xml).unwrap();
    let of = |tag: &'static str| document.descendants().filter(move |node| node.has_tag_name(tag));
    assert_eq!((of("testcase").count(), of("failure").count()), (4, 2), "{xml}");
    let suite = of("testsuite").next().unwrap();
    let counts = (suite.attribute("tests"), suite.attribute("failures"));
    assert_eq!(counts, (Some("4"), Some("2")), "{xml}");
    let undecided = of("failure").nth(1).and_then(|failure| failure.attribute("message"));
    assert_eq!(undecided, Some("undecided: there is no such request"));
}

#[test]
fn junit_is_xml_whatever_a_script_calls_its_metrics() {
    let name = "a<b>\"&'\u{1}".to_owned();
    let threshold = ThresholdOutcome {
        metric: format!("m{{{name}:{name}}}"),
        source: "count>1".to_owned(),
        figure: Some(0.0),
        holds: false,
        run: "a&b.arrow".to_owned(),
    };
    let metric = MetricSummary {
        scenario: name.clone(),
        group: format!("::{name}"),
        metric: format!("m{{{name}:{name}}}"),
        kind: Kind::Counter,
        contains: Contains::Default,
        statistics: vec![("count".to_owned(), 3.0)],
        run: String::new(),
    };
    let (kind, contains) = (Kind::Counter, Contains::Default);
    let all =
        [Assertion::Threshold { outcome: threshold, kind, contains }, Assertion::Metric(metric)];
    let seen = Seen::steady(10, 200);
    let xml = report::junit(&Input { assertions: &all, ..seen.input("t") });
    let document = roxmltree::Document::parse(&xml).unwrap();
    let of = |tag: &'static str| document.descendants().filter(move |node| node.has_tag_name(tag));
    // The verdict and the threshold: a metric asserts nothing.
    assert_eq!((of("testcase").count(), of("failure").count()), (2, 1), "{xml}");
    let case = of("testcase").nth(1).and_then(|case| case.attribute("name")).unwrap();
    assert!(case.starts_with("threshold m{a<b>") && case.ends_with(" (a&b.arrow)"), "{case}");
    let property = of("property").next().unwrap();
    assert_eq!(property.parent().unwrap().parent().unwrap().tag_name().name(), "testsuite");
    assert_eq!(property.attribute("value"), Some("count=3"), "{xml}");
}

/// Issue 43: calls of gRPC and messages stand by their own outcome beside HTTP's statuses.
#[test]
fn other_outcomes_than_https_have_a_table() {
    let seen = Seen::calls();
    let input = seen.input("calls");
    assert!(report::text(&input).contains("200:2  UNAVAILABLE:1  message:1"));
    assert!(report::json(&input).contains(r#""outcomes":{"200":2,"UNAVAILABLE":1,"message":1}"#));
    assert!(report::markdown(&input).contains("Outcomes: 200: 2, UNAVAILABLE: 1, message: 1"));
    let metrics = report::open_metrics(&input);
    assert!(metrics.contains("brunt_outcomes_total{outcome=\"UNAVAILABLE\"} 1"), "{metrics}");
}
