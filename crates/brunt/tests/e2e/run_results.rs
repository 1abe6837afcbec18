//! The results of a script's run: its thresholds and checks in reports of every kind.

use std::io::{Read as _, Write as _};

use demo::Config;
use stdx::{Compression, Compressor};

use crate::{Scratch, run, server};

/// A run whose first threshold is crossed and whose second is kept, with one check that holds and one that fails.
fn crossed(scratch: &Scratch, file: &str) -> String {
    let (_served, url) = server(Config::default());
    let source = format!(
        "import http from 'k6/http';
        import {{ check, group }} from 'k6';
        export const options = {{
            iterations: 4,
            thresholds: {{ http_req_duration: ['p(95)<0.000001', 'max<60000'], checks: ['rate>0.4'] }},
        }};
        export default function () {{
            const answer = http.get('{url}/');
            check(answer, {{ 'is <200>': (r) => r.status === 200 }});
            group('cart', () => check(answer, {{ 'is teapot': (r) => r.status === 418 }}));
        }}
        export function teardown() {{ check(0, {{ 'is <200>': () => true }}); }}"
    );
    let path = scratch.file("script.js", source);
    let results = scratch.path(file).display().to_string();
    run(&format!("run -o {results} {path}")).with_code(99);
    results
}

/// Two scenarios with requests of several tags.
const TAGGED: &str = "
    import http from 'k6/http';
    import { group } from 'k6';
    import exec from 'k6/execution';
    const once = (iterations, exec) => ({ executor: 'shared-iterations', iterations, exec });
    export const options = {
        tags: { env: 'lab' },
        scenarios: { buyers: { ...once(4, 'buy'), tags: { kind: 'b' } }, readers: once(6, 'read') },
    };
    export function buy() {
        group('cart', () => http.get('URL/', { tags: { page: 'one \"1\", two' } }));
        exec.vu.tags.step = 'pay';
        http.get('URL/status/500', { tags: { page: 'pay', kind: 'own' } });
    }
    export function read() { http.get('URL/', { tags: { name: 'home' } }); }";

#[test]
fn reports_and_plots_of_a_script_are_by_any_tag() {
    let scratch = Scratch::new("run-tags");
    let (_served, url) = server(Config::default());
    let script = scratch.file("script.js", TAGGED.replace("URL", &url));
    let (arrow, parquet) = (scratch.path("r.arrow"), scratch.path("r.parquet"));
    let (arrow, parquet) = (arrow.display(), parquet.display());
    let report = scratch.path("r.json").display().to_string();
    run(&format!("run -q -o {arrow} -report={report} {script}")).with_code(0);
    run(&format!("encode -output={parquet} {arrow}")).with_code(0);
    // Without a flag the worst target comes first; a name stands for all URLs that have it.
    let at_its_end = std::fs::read(&report).unwrap();
    let afterwards = run(&format!("report -json {parquet}")).with_code(0).bytes;
    for json in [at_its_end, afterwards] {
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let rows = json["brunt"]["targets"]["rows"].as_array().unwrap();
        let key = |row: &serde_json::Value| row["target"].as_str().unwrap().to_owned();
        assert_eq!(key(&rows[0]), format!("GET {url}/status/500"), "{json}");
        assert_eq!((&rows[0]["requests"], &rows[0]["failures"]), (&4.into(), &4.into()));
        let mut others: Vec<String> = rows[1..].iter().map(key).collect();
        others.sort_unstable();
        assert_eq!(others, [format!("GET {url}/"), "home".to_owned()], "{json}");
    }
    // The words of `-by`, and each key with its requests.
    for (by, expect) in [
        ("scenario", vec![("buyers", 8), ("readers", 6)]),
        ("group", vec![("(untagged)", 10), ("::cart", 4)]),
        ("tag:page", vec![("(untagged)", 6), ("one \"1\", two", 4), ("pay", 4)]),
        ("tag:step", vec![("(untagged)", 7), ("pay", 7)]),
        ("tag:kind", vec![("(untagged)", 6), ("b", 4), ("own", 4)]),
        ("tag:env", vec![("lab", 14)]),
        ("name", vec![("(unnamed)", 8), ("home", 6)]),
    ] {
        for file in [format!("{arrow}"), format!("{parquet}")] {
            let json = run(&format!("report -json -by={by} {file}")).with_code(0).json();
            let groups = json["brunt"]["groups"]["rows"].as_array().unwrap();
            let mut seen: Vec<(&str, u64)> = groups
                .iter()
                .map(|one| (one["key"].as_str().unwrap(), one["requests"].as_u64().unwrap()))
                .collect();
            seen.sort_unstable();
            if by == "tag:step" {
                // The tag stays with its VU: how many requests have it is up to the iterations of each.
                assert_eq!(seen.iter().map(|(_, requests)| requests).sum::<u64>(), 14);
                assert!(seen.contains(&("pay", seen[1].1)) && seen[1].1 >= 4, "{seen:?}");
                continue;
            }
            assert_eq!(seen, expect, "{by} of {file}");
        }
    }
    let text = run(&format!("report -where=scenario:buyers,status:5xx {arrow}")).with_code(0);
    assert!(text.stdout.contains("These are the requests with status:5xx,scenario:buyers alone;"));
    let json = run(&format!("report -json -where=tag:x {arrow}"));
    assert_eq!(json.json()["requests"], 0);
    run(&format!("report -where=nonsense {arrow}")).with_code(2);
    let page = run(&format!("plot -by=scenario {arrow}")).with_code(0).stdout;
    assert!(page.contains("buyers: ERROR") && page.contains("readers: OK"), "{page}");
    let bars = run(&format!("plot -by=tag:kind -bars=p50 -json {arrow}")).with_code(0);
    assert!(bars.stdout.contains("\"own\"") && bars.stdout.contains("\"b\""), "{}", bars.stdout);
    assert!(bars.stderr.contains("6 requests without one left out"), "{}", bars.stderr);
    run(&format!("plot -by=target {arrow}")).with_code(2);
    let compared = run(&format!("compare -json -where=scenario:buyers a={arrow} b={arrow}"));
    assert_eq!(compared.json()["variants"][0]["runs"][0]["requests"], 8, "{}", compared.stdout);
}

#[test]
fn reports_of_a_script_know_its_thresholds_and_checks() {
    let scratch = Scratch::new("run-results");
    for file in ["r.arrow", "r.parquet"] {
        let results = crossed(&scratch, file);
        let report =
            |kind: &str| run(&format!("report -type={kind} {results}")).with_code(0).stdout;
        let junit = report("junit");
        assert!(junit.contains(r#"tests="7""#) && !junit.contains("\"success\""), "{junit}");
        for words in [
            r#"name="threshold http_req_duration: p(95)&lt;0.000001">"#,
            r#"<failure message="crossed: p(95)="#,
            r#"name="threshold http_req_duration: max&lt;60000">"#,
            r#"name="threshold checks: rate&gt;0.4">"#,
            r#"name="check is &lt;200&gt;">"#,
            r#"name="check cart / is teapot">"#,
            r#"<failure message="failed 4 times of 4">"#,
        ] {
            assert!(junit.contains(words), "{words} of {file}: {junit}");
        }
        let html = report("html");
        assert!(html.contains(r#"<span class="badge bad">1 of 3 thresholds crossed</span>"#));
        for words in ["<h2>Thresholds</h2>", "CROSSED", "<h2>Checks</h2>", "cart / is teapot"] {
            assert!(html.contains(words), "{words} of {file}");
        }
        assert!(report("text").contains("http_req_duration  p(95)<0.000001  p(95)="));
        assert!(report("markdown").contains(", 1 of 3 thresholds crossed\n"));
        let json = run(&format!("report -json {results}")).with_code(0).json();
        let (thresholds, checks) = (&json["brunt"]["thresholds"], &json["brunt"]["checks"]);
        let kept: Vec<_> = (0..3).map(|n| &thresholds[n]["kept"]).collect();
        assert_eq!(kept, [true, false, true], "{json}");
        assert!(thresholds[2]["seen"].as_f64().unwrap() > 0.0, "{json}");
        assert_eq!((&checks[0]["passes"], &checks[1]["fails"]), (&4.into(), &4.into()), "{json}");
        // They are judged after it.
        assert_eq!(checks[2]["group"], "::teardown", "{json}");
    }
}

#[test]
fn copies_keep_thresholds_where_there_is_room() {
    let scratch = Scratch::new("run-results-copies");
    let results = crossed(&scratch, "r.arrow");
    let copy = scratch.path("copy.parquet").display().to_string();
    run(&format!("encode -o {copy} {results}")).with_code(0);
    let both = run(&format!("report -type=junit {results} {copy}")).with_code(0).stdout;
    assert!(both.contains(r#"<failure message="failed 8 times of 8">"#), "{both}");
    let ran = run(&format!("encode -to=csv {results}")).with_code(0);
    // On a busy machine the verdict is bad, and has its own line.
    let is_other = |line: &&str| !line.contains("csv cannot hold the verdict");
    let lines: Vec<&str> = ran.stderr.lines().filter(is_other).collect();
    let left_out = "rows of gates, thresholds, checks and metrics left out: csv cannot hold them";
    assert!(lines.len() == 1 && lines[0].contains(left_out), "{ran:?}");
    let attack = scratch.path("plain.arrow").display().to_string();
    let (_served, url) = server(Config::default());
    run(&format!("bench -n 4 -c 1 -q -output={attack} {url}/")).with_code(0);
    let json = run(&format!("report -json {attack}")).with_code(0).json();
    assert!(json["brunt"].get("thresholds").is_none(), "{json}");
}

/// Two scenarios with groups, a metric of each type, and a threshold of a scenario that is crossed.
fn shop(scratch: &Scratch, file: &str, url: &str) -> String {
    let source = format!(
        "import http from 'k6/http';
        import {{ check, group }} from 'k6';
        import {{ Counter, Gauge, Rate, Trend }} from 'k6/metrics';
        const orders = new Counter('orders');
        const stock = new Gauge('stock');
        const paid = new Rate('paid');
        const wait = new Trend('wait', true);
        export const options = {{
            scenarios: {{
                buyers: {{ executor: 'shared-iterations', vus: 1, iterations: 3, exec: 'buy' }},
                readers: {{ executor: 'shared-iterations', vus: 1, iterations: 2, exec: 'read' }},
            }},
            thresholds: {{ 'orders{{scenario:buyers}}': ['count>100'], 'wait{{page:cart}}': ['avg<50'] }},
        }};
        export function buy() {{
            group('cart', () => {{
                check(http.get('{url}/'), {{ 'is 200': (r) => r.status === 200 }});
                orders.add(2);
                stock.add(7);
                paid.add(__ITER > 0);
                wait.add(40, {{ page: 'cart' }});
            }});
        }}
        export function read() {{ http.get('{url}/'); }}"
    );
    let script = scratch.file("script.js", source);
    let results = scratch.path(file).display().to_string();
    run(&format!("run -q -o {results} {script}")).with_code(99);
    results
}

#[test]
fn reports_of_a_script_have_its_scenarios_groups_and_metrics() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("run-metrics");
    let results = shop(&scratch, "r.arrow", &url);
    let json = run(&format!("report -json {results}")).with_code(0).json();
    let metrics = json["brunt"]["metrics"].as_array().unwrap();
    let value = |metric: &str, part: (&str, &str), statistic: &str| {
        let found = metrics.iter().find(|one| {
            (&one["metric"], &one["scenario"], &one["group"])
                == (&metric.into(), &part.0.into(), &part.1.into())
        });
        found.and_then(|one| one["values"][statistic].as_f64())
    };
    for (metric, part, statistic, expect) in [
        ("orders", ("", ""), "count", Some(6.0)),
        ("orders", ("buyers", "::cart"), "count", Some(6.0)),
        ("orders", ("readers", ""), "count", None),
        ("orders{scenario:buyers}", ("", ""), "count", Some(6.0)),
        ("stock", ("buyers", "::cart"), "value", Some(7.0)),
        ("paid", ("buyers", "::cart"), "passes", Some(2.0)),
        ("wait", ("buyers", ""), "avg", Some(40.0)),
        ("wait{page:cart}", ("", ""), "max", Some(40.0)),
        ("iterations", ("readers", ""), "count", Some(2.0)),
        ("iterations", ("", ""), "count", Some(5.0)),
        ("http_reqs", ("buyers", "::cart"), "count", Some(3.0)),
    ] {
        assert_eq!(value(metric, part, statistic), expect, "{metric} of {part:?}: {json}");
    }
    let report = |kind: &str| run(&format!("report -type={kind} {results}")).with_code(0).stdout;
    let markdown = report("markdown");
    for words in [
        "| orders | buyers | cart | count=6 ",
        "| orders{scenario:buyers} | count&gt;100 | count=6 | CROSSED |",
        "| cart / is 200 | 3 | 0 | held |",
    ] {
        assert!(markdown.contains(words), "{words}: {markdown}");
    }
    let html = report("html");
    for words in ["<h2>Metrics of the script</h2>", "readers", "1 of 2 thresholds crossed"] {
        assert!(html.contains(words), "{words}");
    }
    // Outcomes stand where a narrow screen shows them, and what is long stands below the figures of the requests.
    let at = |words: &str| html.find(words).unwrap_or_else(|| panic!("{words}"));
    assert!(at(">outcome<") < at(">limit<") && at(">limit<") < at("<h2>Latencies</h2>"));
    assert!(at("<h2>Latencies</h2>") < at("<h2>Metrics of the script</h2>"));
    let text = report("text");
    let line = |words: &[&str]| {
        let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines.any(|line| line.starts_with(words))
    };
    for words in [
        &["Metric", "scenario", "group", "statistics"][..],
        &["wait", "buyers", "cart", "avg=40ms"],
        &["stock", "all", "all", "value=7"],
        &["paid", "buyers", "all", "rate=66.66%"],
        &["orders{scenario:buyers}", "count>100", "count=6", "CROSSED"],
    ] {
        assert!(line(words), "{words:?}: {text}");
    }
    let junit = report("junit");
    // The verdict, two thresholds and a check; metrics assert nothing.
    for words in [
        r#"tests="4""#,
        r#"<failure message="crossed: count=6">"#,
        r#"<property name="stock, scenario buyers, group cart" value="value=7 "#,
        r#"<property name="orders{scenario:buyers}" value="count=6 "#,
    ] {
        assert!(junit.contains(words), "{words}: {junit}");
    }
    // On a busy machine the verdict fails, too.
    let failures = 1 + usize::from(json["brunt"]["verdict"] == "INVALID");
    assert_eq!(junit.matches("<failure").count(), failures, "{junit}");
}

#[test]
fn a_report_of_several_scripts_says_of_which_results_a_threshold_is() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("run-several");
    let (one, two) = (shop(&scratch, "one.arrow", &url), shop(&scratch, "two.arrow", &url));
    let report = |flags: &str| run(&format!("report {flags} {one} {two}")).with_code(0);
    let thresholds = report("-json").json()["brunt"]["thresholds"].clone();
    let runs: Vec<_> = thresholds.as_array().unwrap().iter().map(|one| &one["run"]).collect();
    assert_eq!(runs, [&one, &one, &two, &two], "{thresholds}");
    let junit = report("-type=junit").stdout;
    for file in [&one, &two] {
        let case = format!(r#"name="threshold orders{{scenario:buyers}}: count&gt;100 ({file})">"#);
        assert!(junit.contains(&case), "{case}: {junit}");
    }
    assert!(report("-type=markdown").stdout.contains(&format!("| wait{{page:cart}} ({two}) |")));
}

/// A file holds what its name says, is compressed as it says, and is read so.
#[test]
fn regression_issue_41_files_of_a_run_are_what_they_are_called() {
    let scratch = Scratch::new("run-endings");
    let place = |name: &str| scratch.path(name).display().to_string();
    let pack = |name: &str, compression: Compression, text: &str| {
        let mut file = Compressor::new(compression, std::fs::File::create(place(name)).unwrap());
        file.write_all(text.as_bytes()).unwrap();
        file.finish().unwrap();
        place(name)
    };
    let plain = |name: &str| {
        let mut text = String::new();
        let mut file = stdx::decompressed(std::fs::File::open(place(name)).unwrap());
        file.read_to_string(&mut text).unwrap();
        text
    };
    scratch.file("two.js", "export const two = 2;");
    let source = "import { two } from './two.js'; export default function () { console.log(two); }";
    let script = pack("script.js.gz", Compression::Gzip, source);
    let config = pack("config.json.zst", Compression::Zstd, "{\"iterations\": 3, \"vus\": 1}");
    let (json, csv, summary) = (place("x.json.zst"), place("x.csv.gz"), place("summary.json.gz"));
    let outputs = format!("-o json={json} -o csv={csv} --summary-export={summary}");
    run(&format!("run -q --config {config} {outputs} {script}")).with_code(0);
    for (name, mark, begin) in [
        ("x.json.zst", &[0x28, 0xb5, 0x2f, 0xfd][..], "{\"data\":"),
        ("x.csv.gz", &[0x1f, 0x8b], "metric_name,"),
        ("summary.json.gz", &[0x1f, 0x8b], "{"),
    ] {
        assert!(std::fs::read(place(name)).unwrap().starts_with(mark), "{name}");
        assert!(plain(name).starts_with(begin), "{name}: {}", plain(name));
    }
    assert!(plain("summary.json.gz").contains("\"count\": 3"), "{}", plain("summary.json.gz"));
    for wrong in ["-o json=x.html", "-o csv=x.json", "-o json=x.json.br", "--summary-export=x.xml"]
    {
        let ran = run(&format!("run -q {wrong} {script}"));
        assert!(
            ran.code != Some(0) && ran.stderr.contains("would be no ."),
            "{wrong}: {}",
            ran.stderr
        );
    }
}
