//! `-report FILE`, k6's page, and the summary of a GitHub job, of each command that offers load.

use demo::{Config, ServiceTime};
use roxmltree::{Document, Node};

use crate::{Scratch, brunt, run, server, start, text};

/// What build servers demand of JUnit: one root, suites with counts that are right, cases with a name and a class, failures with a
/// message.
fn check_junit(xml: &str) -> (usize, usize) {
    let document = Document::parse(xml).unwrap_or_else(|error| panic!("{error}: {xml}"));
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites", "{xml}");
    let elements = |of: Node<'_, '_>, name: &'static str| {
        of.descendants().filter(move |node| node.has_tag_name(name)).count()
    };
    let suites: Vec<Node<'_, '_>> = root.children().filter(Node::is_element).collect();
    assert!(!suites.is_empty() && suites.iter().all(|one| one.has_tag_name("testsuite")), "{xml}");
    for part in suites.iter().copied().chain([root]) {
        let count = |name| part.attribute(name).unwrap().parse::<usize>().unwrap();
        assert_eq!(count("tests"), elements(part, "testcase"), "{xml}");
        assert_eq!(count("failures"), elements(part, "failure"), "{xml}");
    }
    for case in root.descendants().filter(|node| node.has_tag_name("testcase")) {
        assert!(["name", "classname"].iter().all(|name| case.attribute(*name).is_some()), "{xml}");
        let failures = case.children().filter(|node| node.has_tag_name("failure"));
        assert!(failures.into_iter().all(|one| one.attribute("message").is_some()), "{xml}");
    }
    (elements(root, "testcase"), elements(root, "failure"))
}

/// Runs a command with a report of each kind and a job's summary; gives JUnit, and the others in one text.
fn reported(scratch: &Scratch, line: &str, code: i32, endings: &[&str]) -> (String, String) {
    let (_, junit, others) = reported_with_any(scratch, line, &[code], endings);
    (junit, others)
}

/// The same of a command that may end with one of these codes; the one it ended with comes first.
fn reported_with_any(
    scratch: &Scratch,
    line: &str,
    codes: &[i32],
    endings: &[&str],
) -> (i32, String, String) {
    let flags =
        endings.iter().map(|end| format!("-report={}", text(&scratch.path(&format!("r.{end}")))));
    let (command, rest) = line.split_once(' ').unwrap();
    let mut command = brunt(&format!("{command} {} {rest}", flags.collect::<Vec<_>>().join(" ")));
    let summary = scratch.path("summary.md");
    std::fs::write(&summary, "").unwrap();
    command.env("GITHUB_STEP_SUMMARY", &summary);
    let ran = start(command).wait();
    let code = ran.code.filter(|code| codes.contains(code));
    let code = code.unwrap_or_else(|| panic!("none of {codes:?}: {ran:#?}"));
    let read = |name: &str| std::fs::read_to_string(scratch.path(name)).unwrap();
    let mut others: String =
        endings.iter().filter(|end| **end != "xml").map(|end| read(&format!("r.{end}"))).collect();
    let summary = read("summary.md");
    assert!(summary.len() > 100, "{line}: the job has a summary: {summary}");
    others.push_str(&summary);
    (code, read("r.xml"), others)
}

const ALL: [&str; 5] = ["xml", "html", "json", "md", "txt"];

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_load() {
    let scratch = Scratch::new("report-files-nowhere");
    let (server, url) = server(Config::default());
    let script = scratch.file(
        "s.js",
        format!("import http from 'k6/http'; export default () => {{ http.get('{url}/'); }};"),
    );
    for line in [
        format!("bench -n=5 {url}/"),
        format!("seek -objective=p99<1s -budget=20s {url}/"),
        format!("cable echo {url}/cable -users=1 -channel=ChatChannel"),
        format!("run -q {script}"),
    ] {
        let there = text(&scratch.path("there.json"));
        let ran = run(&format!("{line} -report={there} -report=/no/folder/x.json")).with_code(1);
        assert!(ran.stderr.contains("flag -report: "), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains("/no/folder/x.json"), "{line}: {}", ran.stderr);
        assert!(!std::path::Path::new(&there).exists(), "{line}: nothing is left of the try");
    }
    assert_eq!(server.stats().requests, 0, "nothing was sent");
}

#[test]
fn every_load_leaves_its_reports() {
    let scratch = Scratch::new("report-files");
    let service = ServiceTime::parse("fixed:5ms").unwrap();
    let (_server, url) = server(Config { service, ..Config::default() });
    let targets = scratch.file("targets.txt", format!("GET {url}/\n"));
    let attack =
        format!("attack -targets={targets} -rate=50 -duration=1s -output=none -fail-on=p99>1us");
    let (junit, others) = reported(&scratch, &attack, 7, &ALL);
    // On a machine that is busy the verdict is a case that fails, too.
    assert_eq!(check_junit(&junit).0, 2, "{junit}");
    assert!(junit.contains("name=\"gate p99&gt;1us\">"), "{junit}");
    assert!(
        others.contains("<!DOCTYPE html>") && others.contains("\"requests\":50"),
        "{others:.900}"
    );
    let bench = format!("bench -n 40 -c 2 -output=none {url}/");
    let (junit, _) = reported(&scratch, &bench, 0, &ALL);
    assert_eq!(check_junit(&junit).0, 3, "{junit}");
    assert!(junit.contains("name=\"success\"/>"), "{junit}");
    assert!(junit.contains("name=\"server\"/>"), "{junit}");
    let seek = format!(
        "seek -objective p50<1s -by=connections -from=1 -to=2 -max-steps=2 -step=200ms -warmup=0s -cooldown=0s {url}/"
    );
    // On a machine that is busy both steps may be spoilt, and there is no answer.
    let (code, junit, _) = reported_with_any(&scratch, &seek, &[0, 6], &ALL);
    assert_eq!(check_junit(&junit), (1, usize::from(code == 6)), "{junit}");
    let wrong = run(&format!("bench -n 1 -report=report.png {url}/")).with_code(2);
    assert!(wrong.stderr.contains("report.png"), "{}", wrong.stderr);
}

#[test]
fn a_cable_leaves_its_reports() {
    let scratch = Scratch::new("report-files-cable");
    let (_server, url) =
        server(Config { cable: Some(demo::Cable::default()), ..Config::default() });
    let line = format!(
        "cable echo {url}/cable -users=2 -channel ChatChannel -params {{\"id\":\"demo\"}} -duration=1s"
    );
    let (junit, others) = reported(&scratch, &line, 0, &["xml", "json", "md", "txt"]);
    assert_eq!(check_junit(&junit).0, 4, "{junit}");
    assert!(junit.contains("name=\"every message is answered\"/>"), "{junit}");
    assert!(others.contains("### Action Cable: echo"), "{others}");
    let html = run(&format!("cable echo {url}/cable -users=2 -channel=ChatChannel -report=a.html"));
    assert!(html.stderr.contains("-report: \"a.html\" does not end in"), "{}", html.stderr);
}

#[test]
fn a_script_leaves_its_reports_and_k6s_page() {
    let scratch = Scratch::new("report-files-run");
    let (_server, url) = server(Config::default());
    let source = "import http from 'k6/http';
        import { check, group } from 'k6';
        import { Trend } from 'k6/metrics';
        const basket = new Trend('basket', true);
        export const options = { thresholds: { http_req_duration: ['p(95)<5000'], basket: ['max<1'] } };
        export default function () {
            group('shop', () => {
                const answer = http.get(`${__ENV.BASE}/`, { tags: { name: 'home' } });
                check(answer, { 'is 200': (r) => r.status === 200 });
                http.get(`${__ENV.BASE}/cart`);
                basket.add(12.5);
            });
        }";
    let script = scratch.file("script.js", source);
    let line = format!("run -q -e BASE={url} {script}");
    let (junit, others) = reported(&scratch, &line, 99, &ALL);
    assert_eq!(check_junit(&junit).0, 4, "{junit}");
    assert!(junit.contains("<failure message=\"crossed: max=12.5ms\">"), "{junit}");
    assert!(junit.contains("<system-out>held 1 time of 1</system-out>"), "{junit}");
    for words in ["basket", "is 200", "shop", "home", "/cart", "p(95)&lt;5000"] {
        assert!(others.contains(words), "{words}");
    }
    let page = text(&scratch.path("k6.html"));
    let mut command = brunt(&line);
    let variables = [
        ("K6_WEB_DASHBOARD", "true"),
        ("K6_WEB_DASHBOARD_PORT", "-1"),
        ("K6_WEB_DASHBOARD_EXPORT", &page),
    ];
    let ran = start({
        command.envs(variables);
        command
    })
    .wait()
    .with_code(99);
    assert!(!ran.stderr.contains("is none that"), "{}", ran.stderr);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("<!DOCTYPE html>") && page.contains("basket"));
}
