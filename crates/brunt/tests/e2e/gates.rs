//! Gates (`-fail-on`): exit codes and reports of every command that has them.

use demo::{Config, ServiceTime};

use crate::{Ran, Scratch, brunt, feed, run, server, start, text};

/// What a run ends with: crossed, undecided.
const CROSSED: i32 = 7;
const UNDECIDED: i32 = 12;

/// Standard error has these words.
#[track_caller]
fn complains(ran: &Ran, words: &[&str]) {
    for word in words {
        assert!(ran.stderr.contains(word), "{word:?} is not in {:?}", ran.stderr);
    }
}

/// Targets with names: `home` is answered, `gone` is refused with 404.
fn targets(scratch: &Scratch, url: &str) -> String {
    let lines = format!("#brunt name=home\nGET {url}/\n\n#brunt name=gone\nGET {url}/status/404\n");
    scratch.file("targets.txt", lines)
}

#[test]
fn an_attack_ends_with_7_where_an_expression_is_true() {
    let service = ServiceTime::parse("fixed:20ms").unwrap();
    let (_served, url) = server(Config { service, ..Config::default() });
    let scratch = Scratch::new("gates-attack");
    let targets = targets(&scratch, &url);
    let attack = |gates: &str| {
        run(&format!(
            "attack -targets={targets} -rate=40 -duration=1s -output=none -fail-on={gates}"
        ))
    };
    attack("p99>30s,errors{name:home}>0.1%,rate<1%,p50{name:home}<10ms").with_code(0);
    let ran = attack("max>10ms,errors>90%,status.404>0").with_code(CROSSED);
    complains(&ran, &["brunt: gate max>10ms is crossed: "]);
    complains(&ran, &["brunt: gate status.404>0 is crossed: "]);
    assert!(!ran.stderr.contains("errors>90%"), "{}", ran.stderr);
    for words in ["Gates  fails where", "\u{2717}      max>10ms", "\u{2713}      errors>90%"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    attack("p50{name:home}>1us,p99{status:500}>1s").with_code(CROSSED);
    let ran = attack("p99{status:500}>1s,p99>30s").with_code(UNDECIDED);
    complains(&ran, &["gate p99{status:500}>1s cannot be decided: there is no such request"]);
}

#[test]
fn bench_has_gates_in_text_json_and_results() {
    let (_served, url) = server(Config { error_rate: 0.5, seed: 1, ..Config::default() });
    let scratch = Scratch::new("gates-bench");
    let file = text(&scratch.path("b.arrow"));
    let line = format!(
        "bench -c 2 -n 200 -json -output={file} -fail-on=errors>10% -fail-on=max>1h {url}/"
    );
    let json = run(&line).with_code(CROSSED).json();
    let gates = &json["brunt"]["gates"];
    assert_eq!(gates[0]["expression"], "errors>10%", "{json}");
    assert_eq!((&gates[0]["crossed"], &gates[0]["undecided"]), (&true.into(), &false.into()));
    assert_eq!(gates[0]["unit"], "share");
    let share = gates[0]["value"].as_f64().unwrap();
    assert!((0.3..0.7).contains(&share), "{share}");
    assert_eq!(gates[1]["crossed"], false, "{json}");
    // The results know what became of the gates, and a later report is as red as the run.
    let junit = run(&format!("report -type=junit {file}")).with_code(0).stdout;
    for words in [
        r#"name="gate errors&gt;10%">"#,
        r#"<failure message="crossed: "#,
        r#"name="gate max&gt;1h">"#,
    ] {
        assert!(junit.contains(words), "{words}: {junit}");
    }
    run(&format!("bench -c 2 -n 50 -fail-on=max>1h {url}/")).with_code(0);
}

#[test]
fn every_type_of_report_has_the_gates() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("gates-report");
    let targets = targets(&scratch, &url);
    let file = text(&scratch.path("r.arrow"));
    run(&format!("attack -targets={targets} -rate=50 -duration=1s -output={file}")).with_code(0);
    let gates = "-fail-on=errors{name:gone}>1%,p99{name:home}>1m,p99{name:other}>1s";
    let report = |flags: &str, code| run(&format!("report {flags} {file}")).with_code(code);
    let of = |kind: &str| report(&format!("-type={kind} {gates}"), CROSSED);
    let text = of("text").stdout;
    assert!(
        text.contains("p99{name:other}>1s") && text.contains("UNDECIDED: there is no such"),
        "{text}"
    );
    let json = of("json").json();
    let states: Vec<_> = (0..3).map(|n| &json["brunt"]["gates"][n]["crossed"]).collect();
    assert_eq!(states, [true, false, false], "{json}");
    assert_eq!(json["brunt"]["gates"][2]["reason"], "there is no such request");
    let markdown = of("markdown").stdout;
    assert!(markdown.contains(", 1 of 3 gates crossed, 1 undecided\n"), "{markdown}");
    assert!(markdown.contains("| Gates | fails where | seen | outcome |"), "{markdown}");
    let html = of("html").stdout;
    for words in [
        "badge bad\">1 of 3 gates crossed, 1 undecided<",
        "<h2>Gates</h2>",
        "errors{name:gone}&gt;1%",
    ] {
        assert!(html.contains(words), "{words}");
    }
    let junit = of("junit").stdout;
    assert!(junit.contains(r#"tests="4""#), "{junit}");
    assert!(
        junit.contains(r#"<failure message="undecided: there is no such request">"#),
        "{junit}"
    );
    // Layouts of other tools have no room for gates: standard error has them.
    for kind in ["hist[0,1ms]", "hdrplot", "ab", "wrk", "hey"] {
        complains(&of(kind), &["gate errors{name:gone}>1% is crossed: 100%"]);
    }
    report("-fail-on=p99{name:other}>1s", UNDECIDED);
    report("-fail-on=p99{name:home}>1m", 0);
    report("-fail-on=errors{status:4xx}>10%", CROSSED);
}

#[test]
fn results_without_what_a_gate_needs_are_never_green() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("gates-foreign");
    let file = text(&scratch.path("r.csv"));
    run(&format!("bench -c 1 -n 20 -output={file} {url}/")).with_code(0);
    for (gate, reason) in [
        ("service.p99>1s", "the results do not say when requests were sent"),
        ("rate<95%", "the results have no planned rate"),
        ("p99{name:home}>1s", "there is no such request"),
    ] {
        let ran = run(&format!("report -fail-on={gate} {file}")).with_code(UNDECIDED);
        complains(&ran, &[reason]);
    }
    run(&format!("report -fail-on=p99>1m,errors>0 {file}")).with_code(0);
}

#[test]
fn a_script_has_gates_beside_its_thresholds() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("gates-run");
    let source = format!(
        "import http from 'k6/http';
        export const options = {{ iterations: 5 }};
        export default function () {{
            http.get('{url}/', {{ tags: {{ name: 'home' }} }});
            http.get('{url}/status/404', {{ tags: {{ name: 'gone' }} }});
        }}"
    );
    let script = scratch.file("script.js", source);
    let file = text(&scratch.path("r.arrow"));
    let gated = |gates: &str| run(&format!("run -q -o {file} -fail-on={gates} {script}"));
    gated("errors{name:home}>0,p99>1m,requests<10").with_code(0);
    let ran = gated("errors{name:gone}>50%").with_code(CROSSED);
    complains(&ran, &["brunt: gate errors{name:gone}>50% is crossed: 100%"]);
    assert!(ran.stdout.contains("\u{2717}      errors{name:gone}>50%"), "{}", ran.stdout);
    let junit = run(&format!("report -type=junit {file}")).with_code(0).stdout;
    assert!(junit.contains(r#"name="gate errors{name:gone}&gt;50%">"#), "{junit}");
    gated("p99{name:other}>1s").with_code(UNDECIDED);
    // Without results there are gates too, and a threshold comes first.
    run(&format!("run -q -fail-on=status.404>4 {script}")).with_code(CROSSED);
    let crossed = scratch.file(
        "crossed.js",
        format!(
            "import http from 'k6/http';
            export const options = {{ thresholds: {{ http_reqs: ['count>5'] }} }};
            export default function () {{ http.get('{url}/'); }}"
        ),
    );
    run(&format!("run -q -fail-on=requests<5 {crossed}")).with_code(99);
}

/// Two scenarios, of which one is refused with 404, a tag, a group and a check; its threshold is crossed.
fn tagged(scratch: &Scratch, url: &str) -> String {
    let source = format!(
        "import http from 'k6/http';
        import {{ check, group }} from 'k6';
        export const options = {{
            scenarios: {{
                buyers: {{ executor: 'shared-iterations', iterations: 4, exec: 'buy' }},
                readers: {{ executor: 'shared-iterations', iterations: 4, exec: 'read' }},
            }},
            thresholds: {{ http_reqs: ['count>100'] }},
        }};
        export function buy() {{
            group('cart', () => http.get('{url}/', {{ tags: {{ page: 'cart' }} }}));
        }}
        export function read() {{
            check(http.get('{url}/status/404'), {{ 'is 200': (r) => r.status === 200 }});
        }}"
    );
    scratch.file("tagged.js", source)
}

#[test]
fn a_script_has_gates_by_its_tags() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("gates-tags");
    let script = tagged(&scratch, &url);
    let file = text(&scratch.path("r.arrow"));
    let gates = "errors{scenario:readers}>50%,p99.5{scenario:buyers}>1m,requests{page:cart}<4,errors{group:::cart}>0,\
                 p99{expected_response:true,method:GET}>1m,p99{page:none}>1s,checks<1%,thresholds>5";
    // k6's code comes first.
    let ran = run(&format!("run -q -o {file} -fail-on={gates} {script}")).with_code(99);
    complains(&ran, &["gate errors{scenario:readers}>50% is crossed: 100%"]);
    complains(&ran, &["gate p99{page:none}>1s cannot be decided: the results have no figure of"]);
    complains(&ran, &["gate checks<1% is crossed: 0%"]);
    let json = run(&format!("report -json {file}")).with_code(0).json();
    let outcomes: Vec<_> = json["brunt"]["gates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|gate| (gate["crossed"].as_bool().unwrap(), gate["undecided"].as_bool().unwrap()))
        .collect();
    let (passed, crossed, undecided) = ((false, false), (true, false), (false, true));
    let expect = [crossed, passed, passed, passed, passed, undecided, crossed, passed];
    assert_eq!(outcomes, expect, "{json}");
    // The results have scenarios and groups, and rows their tags.
    let report =
        |gates: &str, code| run(&format!("report -fail-on={gates} {file}")).with_code(code);
    report("errors{scenario:buyers}>0,p99{group:::cart}>1m,requests{page:cart}<1", 0);
    report("errors{page:cart}>0", 0);
    report("errors{page:none}>0", UNDECIDED);
    report("errors{expected_response:true}>0", UNDECIDED);
    complains(&report("errors{scenario:readers}>50%", CROSSED), &["is crossed: 100%"]);
    complains(&report("thresholds>0", CROSSED), &["gate thresholds>0 is crossed: 1"]);
    report("checks<100%", CROSSED);
    report("status.404{method:GET}>3", CROSSED);
    report("p99{method:POST}>1s", UNDECIDED);
    // Percentiles of two results' metrics have no common one; the rows of both have.
    let second = text(&scratch.path("second.arrow"));
    std::fs::copy(&file, &second).unwrap();
    report(&format!("p99{{scenario:buyers}}>1m {second}"), 0);
}

#[test]
fn what_only_scripts_have_is_refused_or_undecided_elsewhere() {
    let (served, url) = server(Config::default());
    let scratch = Scratch::new("gates-no-script");
    let (script, targets) = (tagged(&scratch, &url), targets(&scratch, &url));
    for gate in ["p99{scenario:a}>1s", "thresholds>0", "checks<99%", "errors{page:cart}>0"] {
        for load in [
            format!("bench -n 10 {url}/"),
            format!("attack -rate=10 -duration=1s -targets={targets}"),
        ] {
            let ran = run(&format!("{load} -fail-on={gate}")).with_code(2);
            complains(&ran, &["flag -fail-on", gate, "only scripts have"]);
        }
    }
    for (gate, words) in [
        ("orders<10", "is no metric (expected p99"),
        ("rate<95%", "a script plans no rate"),
        ("errors{scenario:readers}>100%", "can never be true"),
        ("bytes{page:cart}<1", "cannot be selected by a script's tag"),
    ] {
        let ran = run(&format!("run -q -fail-on={gate} {script}")).with_code(2);
        complains(&ran, &["-fail-on", words]);
    }
    assert_eq!(served.stats().requests, 0);
    let file = text(&scratch.path("b.arrow"));
    run(&format!("bench -c 1 -n 20 -output={file} {url}/")).with_code(0);
    for gate in ["p99{scenario:a}>1s", "thresholds>0", "checks<99%"] {
        run(&format!("report -fail-on={gate} {file}")).with_code(UNDECIDED);
    }
}

#[test]
fn cable_judges_its_messages() {
    let config = Config { cable: Some(demo::Cable::default()), ..Config::default() };
    let (_served, url) = server(config);
    let url = url.replace("http://", "ws://");
    let cable = |flags: &str| {
        run(&format!(
            "cable echo {url}/cable -channel EchoChannel -perform echo:{{\"x\":[\"{{token}}\"]}} -users 2 -rate 50 -d 500ms {flags}"
        ))
    };
    cable("-fail-on=p99>1m,errors>0").with_code(0);
    let ran = cable("-fail-on=requests<1000000").with_code(CROSSED);
    assert!(ran.stdout.contains("\u{2717}      requests<1000000"), "{}", ran.stdout);
    let json = cable("-json -fail-on=p99>1ns").with_code(CROSSED).json();
    assert_eq!(json["gates"][0]["crossed"], true, "{json}");
}

/// A gate that cannot fail, or that needs what the run will not have, is refused before the first request.
#[test]
fn a_gate_that_cannot_fail_is_refused_before_the_run() {
    let (served, url) = server(Config::default());
    let scratch = Scratch::new("gates-refused");
    let targets = targets(&scratch, &url);
    let attack = format!("attack -targets={targets} -rate=10 -duration=1s");
    for (gate, words) in [
        ("errors>100%", "can never be true"),
        ("p99<0s", "can never be true"),
        ("p99>0s", "is always true"),
        ("p100>1s", "is no percentile"),
        ("latency>1s", "is no metric (expected p99"),
        ("p99>300ms,p50<400ms", "contradict each other"),
        ("p99{name:login}>1s", "no target has the name \"login\""),
        ("", "an empty gate"),
    ] {
        let ran = run(&format!("{attack} -fail-on={gate}")).with_code(2);
        assert!(
            ran.stderr.contains("-fail-on") && ran.stderr.contains(words),
            "{gate}: {}",
            ran.stderr
        );
    }
    for line in [
        format!("bench -n 10 -fail-on=rate<95% {url}/"),
        format!("attack -targets={targets} -rate=0 -max-workers=2 -duration=1s -fail-on=rate<95%"),
    ] {
        complains(&run(&line).with_code(2), &["flag -fail-on: \"rate<95%\"", "rate<100"]);
    }
    assert_eq!(served.stats().requests, 0);
    run("report -fail-on=p99>0s /dev/null").with_code(2);
}

#[test]
fn vegetas_commands_have_no_gates() {
    for command in ["attack", "report"] {
        let ran = feed(brunt(&format!("vegeta {command} -fail-on=p99>1s")), "");
        assert!(ran.stderr.contains("flag provided but not defined: -fail-on"), "{}", ran.stderr);
        assert_ne!(ran.code, Some(0));
    }
}

/// Issue 18: what a job of GitHub shows without a line in its workflow.
#[test]
fn a_job_of_github_gets_report_and_annotations() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("gates-github");
    let summary = scratch.path("summary.md");
    let bench = |summary: &std::path::Path| {
        let mut command = brunt(&format!("bench -c 2 -n 20 -fail-on=max>1ns,errors>1% {url}/"));
        command.env("GITHUB_STEP_SUMMARY", summary).env("GITHUB_ACTIONS", "true");
        start(command).wait().with_code(CROSSED)
    };
    let ran = bench(&summary);
    let annotation = "::error title=load test::gate max>1ns is crossed: ";
    assert_eq!(
        ran.stderr.lines().filter(|line| line.starts_with(annotation)).count(),
        1,
        "{ran:#?}"
    );
    bench(&summary);
    let text = std::fs::read_to_string(&summary).unwrap();
    assert_eq!(text.matches("| max&gt;1ns |").count(), 2, "both runs: {text}");
    // A summary that cannot be written costs a line.
    let ran = bench(&scratch.0);
    complains(&ran, &["the job summary", "cannot be written"]);
    assert!(ran.stdout.contains("Measurement"), "{ran:#?}");
    let plain = run(&format!("bench -c 2 -n 20 -fail-on=max>1ns {url}/")).with_code(CROSSED);
    assert!(!plain.stderr.contains("::error"), "{plain:#?}");
}

/// Regression: two thirds of the requests were not sent, the verdict was INVALID, and the code was 0.
#[test]
fn no_gate_passes_where_requests_were_not_sent() {
    let service = ServiceTime::parse("fixed:20ms").unwrap();
    let (_served, url) = server(Config { service, ..Config::default() });
    let scratch = Scratch::new("gates-unsent");
    let [file, junit, markdown] =
        ["r.arrow", "r.xml", "r.md"].map(|name| text(&scratch.path(name)));
    let load = "attack -rate=500 -max-workers=1 -duration=1s";
    let gates = "-fail-on=p99>10s,errors>1%";
    let ran =
        run(&format!("{load} -output={file} -report={junit} -report={markdown} {gates} {url}/"))
            .with_code(UNDECIDED);
    complains(&ran, &["brunt: gates p99>10s and errors>1% are not measured: ", " were not sent"]);
    assert_eq!(ran.stderr.matches("not measured").count(), 1, "{}", ran.stderr);
    let junit = std::fs::read_to_string(junit).unwrap();
    assert_eq!(junit.matches("<failure message=\"not measured: ").count(), 2, "{junit}");
    let markdown = std::fs::read_to_string(markdown).unwrap();
    assert!(
        markdown.starts_with("**Failed:** gates p99&gt;10s and errors&gt;1% are not measured: "),
        "{markdown}"
    );
    assert!(markdown.contains(", 2 of 2 gates not measured\n"), "{markdown}");
    // The results know it, and a report judges them so.
    let json = run(&format!("report -json {file}")).with_code(0).json();
    let gate = &json["brunt"]["gates"][0];
    assert_eq!((&gate["crossed"], &gate["undecided"]), (&false.into(), &true.into()), "{json}");
    assert!(gate["reason"].as_str().unwrap().ends_with(" were not sent"), "{json}");
    run(&format!("report {gates} {file}")).with_code(UNDECIDED);
    run(&format!("report {gates} -where status:200 {file}")).with_code(UNDECIDED);
    // A gate that is crossed is crossed, and the verdict decides where it is asked to.
    run(&format!("report -fail-on=max>1us,errors>1% {file}")).with_code(CROSSED);
    for (flags, code) in [("", 5), (gates, 5), ("-fail-on=max>1us", CROSSED)] {
        let line = format!("{load} -q -output=none -fail-on-invalid {flags} {url}/");
        let ran = run(&line).with_code(code);
        assert_eq!(ran.stderr.contains("brunt: INVALID: "), code == 5, "{}", ran.stderr);
    }
}

#[test]
fn a_script_with_dropped_iterations_passes_no_gate() {
    let service = ServiceTime::parse("fixed:100ms").unwrap();
    let (_served, url) = server(Config { service, ..Config::default() });
    let scratch = Scratch::new("gates-dropped");
    let source = format!(
        "import http from 'k6/http';
        export const options = {{ scenarios: {{ a: {{
            executor: 'constant-arrival-rate', rate: 100, timeUnit: '1s', duration: '1s', preAllocatedVUs: 1, maxVUs: 1,
        }} }}, thresholds: {{ http_reqs: ['count>1000'] }} }};
        export default function () {{ http.get('{url}/'); }}"
    );
    let script = scratch.file("dropped.js", source);
    let [file, markdown] = ["r.arrow", "r.md"].map(|name| text(&scratch.path(name)));
    let line = format!("run -q --no-thresholds -o {file} -fail-on=p99>1m {script}");
    let ran = run(&line).with_code(UNDECIDED);
    complains(&ran, &["brunt: gate p99>1m is not measured: ", " fell due and were never begun"]);
    complains(
        &run(&format!("report -fail-on=p99>1m {file}")).with_code(UNDECIDED),
        &["never begun"],
    );
    // Markdown begins with what failed, the threshold too.
    let line = format!("run -q -report={markdown} -fail-on=p99>1m -fail-on-invalid {script}");
    let ran = run(&line).with_code(99);
    // The reason stands once, and so does k6's warning.
    for once in
        ["begun, since every virtual user was at work", "Insufficient VUs, reached 1 active VUs"]
    {
        assert_eq!(ran.stderr.matches(once).count(), 1, "{}", ran.stderr);
    }
    let markdown = std::fs::read_to_string(markdown).unwrap();
    let first = markdown.lines().next().unwrap();
    assert!(first.starts_with("**Failed:** gate p99&gt;1m is not measured: "), "{first}");
    assert!(first.contains("threshold count&gt;1000 of http\\_reqs is crossed"), "{first}");
}

#[test]
fn every_command_with_a_verdict_has_fail_on_invalid() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("gates-invalid");
    let source =
        format!("import http from 'k6/http'; export default function () {{ http.get('{url}/'); }}");
    let script = scratch.file("script.js", source);
    // Of one iteration on a busy machine one late wake-up is too much.
    let valid = (0..20).any(|_| {
        let ran = run(&format!("run -q -fail-on-invalid {script}"));
        assert!([Some(0), Some(5)].contains(&ran.code), "{ran:#?}");
        ran.code == Some(0)
    });
    assert!(valid, "twenty runs of one iteration, and none is VALID");
    for command in ["attack", "bench", "cable", "run", "fleet", "report", "seek", "study"] {
        let help = run(&format!("help {command}")).with_code(0).stdout;
        assert!(help.contains("-fail-on-invalid"), "{command}");
    }
}

#[test]
fn a_run_that_is_lost_ends_early_and_its_reports_begin_with_that() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("gates-abort");
    let targets = targets(&scratch, &url);
    let file = text(&scratch.path("a.arrow"));
    let ran = run(&format!(
        "attack -targets={targets} -rate=50 -duration=60s -output={file} -fail-on=status.404>0 -abort-when=gates"
    ))
    .with_code(CROSSED);
    complains(&ran, &["brunt: the run ends early (-abort-when): gate status.404>0 is surely"]);
    let report = run(&format!("report {file}")).with_code(0).stdout;
    let first = report.lines().next().unwrap();
    assert!(first.starts_with("The run was ended early by -abort-when, after "), "{first}");
    assert!(first.ends_with("s, since gate status.404>0 is surely crossed."), "{first}");
    // What cannot be ended so is refused before the first request.
    for (line, words) in [
        (format!("bench -n 5 -abort-when=rate {url}/"), "users have none"),
        (format!("bench -n 5 -abort-when=gates {url}/"), "needs gates (give -fail-on)"),
        (format!("bench -n 5 -abort-when=sometimes {url}/"), "is not one of gates,rate"),
    ] {
        complains(&run(&line).with_code(2), &[words]);
    }
}
