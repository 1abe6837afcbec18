//! `brunt jmeter`: plans run against a real nginx and the demo server, and their results are read.

use std::time::{Duration, Instant};

use crate::nginx::Nginx;
use crate::{Ran, Scratch, brunt, server, signal, start, text, until};
use demo::Config;

/// A plan of one group with this inside.
fn plan(threads: u32, loops: u32, inside: &str) -> String {
    format!(
        "<jmeterTestPlan version=\"1.2\"><hashTree><TestPlan testname=\"Plan\"/><hashTree>\
         <ThreadGroup testname=\"Users\"><elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
         <boolProp name=\"LoopController.continue_forever\">false</boolProp>\
         <stringProp name=\"LoopController.loops\">{loops}</stringProp></elementProp>\
         <stringProp name=\"ThreadGroup.num_threads\">{threads}</stringProp>\
         <stringProp name=\"ThreadGroup.ramp_time\">0</stringProp></ThreadGroup><hashTree>{inside}</hashTree>\
         </hashTree></hashTree></jmeterTestPlan>"
    )
}

/// A GET of a path at a port, with this below it.
fn get(name: &str, port: u16, path: &str, below: &str) -> String {
    format!(
        "<HTTPSamplerProxy testname=\"{name}\"><stringProp name=\"HTTPSampler.domain\">127.0.0.1</stringProp>\
         <stringProp name=\"HTTPSampler.port\">{port}</stringProp><stringProp name=\"HTTPSampler.path\">{path}</stringProp>\
         <boolProp name=\"HTTPSampler.use_keepalive\">true</boolProp></HTTPSamplerProxy><hashTree>{below}</hashTree>"
    )
}

/// An assertion that the body holds a text.
fn contains(what: &str) -> String {
    format!(
        "<ResponseAssertion testname=\"holds\"><collectionProp name=\"Asserion.test_strings\">\
         <stringProp name=\"1\">{what}</stringProp></collectionProp>\
         <stringProp name=\"Assertion.test_field\">Assertion.response_data</stringProp>\
         <intProp name=\"Assertion.test_type\">16</intProp></ResponseAssertion><hashTree/>"
    )
}

fn run_plan(scratch: &Scratch, plan: &str, flags: &str) -> (Ran, String) {
    let file = scratch.file("plan.jmx", plan);
    let (results, log) = (scratch.path("out.jtl"), scratch.path("jmeter.log"));
    let command = format!("jmeter -n -t {file} -l {} -j {} {flags}", text(&results), text(&log));
    let ran = start(brunt(&command)).wait();
    (ran, std::fs::read_to_string(results).unwrap_or_default())
}

#[test]
fn a_plan_runs_and_its_results_are_jmeters() {
    let nginx = Nginx::start("jmeter");
    let scratch = Scratch::new("jmeter-plan");
    let page = get("page", nginx.plain, "/", &contains("It works"));
    let missing = get("missing", nginx.plain, "/none?t=${__threadNum}", "");
    let (ran, results) = run_plan(&scratch, &plan(2, 3, &format!("{page}{missing}")), "");
    let ran = ran.with_code(0);
    let rows: Vec<Vec<&str>> = results.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..3], ["timeStamp", "elapsed", "label"]);
    assert_eq!(rows.len(), 1 + 2 * 3 * 2, "{results}");
    let of = |label: &'static str| rows.iter().filter(move |row| row[2] == label);
    assert!(of("page").all(|row| row[3] == "200" && row[7] == "true"), "{results}");
    assert!(of("missing").all(|row| row[3] == "404" && row[7] == "false"), "{results}");
    assert_eq!(rows.iter().filter(|row| row[5] == "Users 1-2").count(), 6, "{results}");
    assert!(ran.line("summary =").contains("Err:     6 (50.00%)"), "{ran:#?}");
    assert_eq!(ran.line("Creating summariser"), "Creating summariser <summary>");
    assert_eq!(ran.stdout.lines().last(), Some("... end of run"));
    assert!(std::fs::read_to_string(scratch.path("jmeter.log")).unwrap().contains("INFO"));
}

#[test]
fn variables_flow_from_answers_to_requests() {
    let (_server, url) = server(Config::default());
    let port: u16 = url.rsplit(':').next().unwrap().parse().unwrap();
    let scratch = Scratch::new("jmeter-variables");
    let extract = "<RegexExtractor testname=\"x\"><stringProp name=\"RegexExtractor.useHeaders\">code</stringProp>\
                   <stringProp name=\"RegexExtractor.refname\">code</stringProp>\
                   <stringProp name=\"RegexExtractor.regex\">(\\d)0(\\d)</stringProp>\
                   <stringProp name=\"RegexExtractor.template\">$1$-$2$</stringProp>\
                   <stringProp name=\"RegexExtractor.match_number\">1</stringProp></RegexExtractor><hashTree/>";
    let inside = format!(
        "{}{}",
        get("first", port, "/", extract),
        get("second ${code}", port, "/?p=${__P(p)}", "")
    );
    let flags = "-Jp=7 -Jjmeter.save.saveservice.output_format=xml";
    let (ran, results) = run_plan(&scratch, &plan(1, 1, &inside), flags);
    ran.with_code(0);
    let document = roxmltree::Document::parse(&results).expect("well-formed results");
    let labels: Vec<&str> =
        document.descendants().filter_map(|node| node.attribute("lb")).collect();
    assert_eq!(labels, ["first", "second 2-0"], "{results}");
    assert!(results.contains("/?p=7</java.net.URL>"), "{results}");
}

#[test]
fn what_cannot_run_is_said_before_anything_is_sent() {
    let (server, url) = server(Config::default());
    let port: u16 = url.rsplit(':').next().unwrap().parse().unwrap();
    let scratch = Scratch::new("jmeter-refused");
    let strange =
        format!("{}<com.example.Sampler testname=\"odd\"/><hashTree/>", get("a", port, "/", ""));
    let (ran, results) = run_plan(&scratch, &plan(1, 1, &strange), "");
    let ran = ran.with_code(1);
    assert!(
        ran.stderr.contains("Plan > Users > odd: <com.example.Sampler> is not understood"),
        "{ran:#?}"
    );
    assert_eq!(results, "");
    drop(server);
    let usage = start(brunt("jmeter -n --no-such-option")).wait().with_code(0);
    assert!(usage.stdout.contains("Unknown option --no-such-option"), "{usage:#?}");
    let remote = start(brunt("jmeter -n -t plan.jmx -R host")).wait().with_code(1);
    assert!(remote.stderr.contains("brunt help fleet"), "{remote:#?}");
}

#[test]
fn a_plan_is_a_load_test_with_checks_and_gates() {
    let nginx = Nginx::start("run-jmx");
    let scratch = Scratch::new("run-jmx");
    let page = get("page", nginx.plain, "/", &contains("no such text"));
    let file = scratch.file("plan.jmx", plan(2, 3, &page));
    let results = scratch.path("out.arrow");
    let command = format!("run -o {} -fail-on errors>1% {file}", text(&results));
    let ran = start(brunt(&command)).wait().with_code(0);
    assert!(ran.stdout.contains("holds") && ran.stdout.contains("page"), "{ran:#?}");
    let report = start(brunt(&format!("report -by name {}", text(&results)))).wait().with_code(0);
    assert!(report.stdout.contains("page"), "{report:#?}");
    let failed = start(brunt(&format!("run -fail-on checks<99% {file}"))).wait();
    assert!(failed.with_code(7).stdout.contains("checks"));
    let refused = start(brunt(&format!("run -u 5 {file}"))).wait();
    assert!(refused.stderr.contains("flag -u: says what scripts do"), "{refused:#?}");
}

#[test]
fn unknown_scripts_are_refused_or_left_out() {
    let nginx = Nginx::start("skip-scripts");
    let scratch = Scratch::new("skip-scripts");
    let script = "<JSR223PreProcessor testname=\"own\"><stringProp name=\"script\">new File('x').text</stringProp>\
                  <stringProp name=\"scriptLanguage\">groovy</stringProp></JSR223PreProcessor><hashTree/>";
    let plan = plan(1, 1, &get("page", nginx.plain, "/", script));
    let (ran, results) = run_plan(&scratch, &plan, "");
    let ran = ran.with_code(1);
    assert!(ran.stderr.contains("own: script: line 1: the class File"), "{ran:#?}");
    assert_eq!(results, "", "nothing was sent");
    let (ran, results) = run_plan(&scratch, &plan, "-skip-scripts");
    let ran = ran.with_code(0);
    assert!(ran.stderr.contains("left out: Plan > Users > page > own: script: line 1"), "{ran:#?}");
    assert_eq!(results.lines().count(), 2);
}

#[test]
fn results_of_jmeter_are_reported_and_stored() {
    let nginx = Nginx::start("read-jtl");
    let scratch = Scratch::new("read-jtl");
    let inside =
        format!("{}{}", get("page", nginx.plain, "/", ""), get("none", nginx.plain, "/none", ""));
    run_plan(&scratch, &plan(2, 5, &inside), "").0.with_code(0);
    let results = scratch.path("out.jtl");
    let report = start(brunt(&format!("report -by name {}", text(&results)))).wait().with_code(0);
    for part in ["page", "none", "404", "20"] {
        assert!(report.stdout.contains(part), "{part}: {report:#?}");
    }
}

#[test]
fn a_plan_becomes_a_script_that_runs() {
    let nginx = Nginx::start("import-jmx");
    let scratch = Scratch::new("import-jmx");
    let file =
        scratch.file("plan.jmx", plan(2, 3, &get("page", nginx.plain, "/", &contains("It works"))));
    let script = scratch.path("plan.js");
    start(brunt(&format!("import -output={} {file}", text(&script)))).wait().with_code(0);
    let ran = start(brunt(&format!("run {}", text(&script)))).wait().with_code(0);
    assert!(ran.stdout.contains("http_reqs"), "{ran:#?}");
    assert!(
        ran.stdout.contains("100.00% 6 out of 6") || ran.stdout.contains("6 out of 6"),
        "{ran:#?}"
    );
}

/// A sampler that is a script in Groovy.
fn script(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<JSR223Sampler testname=\"s\"><stringProp name=\"scriptLanguage\">groovy</stringProp>\
         <stringProp name=\"script\">{text}</stringProp></JSR223Sampler><hashTree/>"
    )
}

/// Scripts that went on for minutes after Ctrl-C: their steps are few, and take long.
#[test]
fn issue_42_one_interrupt_ends_any_plan() {
    for (name, code) in [
        ("loop", "while (true) {}"),
        ("list", "def a=(1..300000).toList(); while (true) { a.contains(-1) }"),
        ("matches", "def t='a'*1000000; while (true) { t.replaceAll('a', 'b') }"),
        ("doubled", "def a=[1]; 30.times { a=[a,a] }; while (true) { a.toString() }"),
        ("sorted", "def a=[1]; 30.times { a=[a,a] }; (1..40).collect { [a, it] }.sort()"),
    ] {
        let scratch = Scratch::new(&format!("jmeter-int-{name}"));
        let quick = script("'done'");
        let endless = script(&format!("log.warn('begun'); {code}"));
        let file = scratch.file("plan.jmx", plan(1, 1, &format!("{quick}{endless}")));
        let (results, log) = (scratch.path("out.jtl"), scratch.path("jmeter.log"));
        let line = format!("jmeter -n -t {file} -l {} -j {}", text(&results), text(&log));
        let started = start(brunt(&line));
        let has_begun = || std::fs::read_to_string(&log).is_ok_and(|log| log.contains("begun"));
        until("the script runs", has_begun);
        let asked = Instant::now();
        signal("INT", started.pid());
        let ran = started.wait().with_code(0);
        assert!(asked.elapsed() < Duration::from_secs(6), "{name}: {:?}", asked.elapsed());
        assert_eq!(ran.stdout.lines().last(), Some("... end of run"), "{name}: {ran:#?}");
        assert!(ran.stdout.contains("summary ="), "{name}: {ran:#?}");
        let results = std::fs::read_to_string(&results).unwrap();
        assert!(results.lines().any(|line| line.contains(",200,OK,")), "{name}: {results}");
    }
}

/// The most that a process has had in memory while it ran, in KiB.
fn peak_kib(mut started: crate::Started) -> (Ran, u64) {
    let status = format!("/proc/{}/status", started.pid());
    let mut peak = 0;
    while started.child().try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let figure = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        peak = peak.max(figure.unwrap_or(0));
        std::thread::park_timeout(Duration::from_millis(5));
    }
    (started.wait(), peak)
}

#[test]
fn issue_42_what_a_plan_keeps_stays_within_the_limit() {
    for (name, code) in [
        ("properties", "props.put('k' + System.nanoTime() + Math.random(), 'x' * 8000000)"),
        ("variables", "vars.put('k' + System.nanoTime() + Math.random(), 'x' * 8000000)"),
        ("objects", "vars.putObject('k' + Math.random(), (1..200000).toList())"),
        ("grown", "def l = props.get('l') ?: []; l.addAll(1..200000); props.put('l', l)"),
    ] {
        let scratch = Scratch::new(&format!("jmeter-memory-{name}"));
        let file = scratch.file("plan.jmx", plan(1, 60, &script(code)));
        let log = text(&scratch.path("jmeter.log"));
        let line = format!("-memory-limit=128MB jmeter -n -t {file} -j {log}");
        let (ran, peak) = peak_kib(start(brunt(&line)));
        let ran = ran.with_code(0);
        assert!(peak < 220 << 10, "{name}: {peak} KiB");
        assert!(ran.stderr.contains("no memory was left"), "{name}: {ran:#?}");
    }
}
