//! The template and what may be wrong with a study.

use super::*;
use crate::command::registry::command_lines;

const TEMPLATE: &str = include_str!("../template.toml");

fn problems(text: &str) -> Vec<(usize, String)> {
    let problems = read(text, Mode::Full, &command_lines()).map(|study| study.name).unwrap_err();
    problems.into_iter().map(|problem| (problem.line, problem.text)).collect()
}

#[test]
fn the_template_is_read() {
    let study = read(TEMPLATE, Mode::Full, &command_lines()).unwrap();
    assert_eq!((study.name.as_str(), study.seed), ("quick-or-slow", 1));
    let second = Nanos::SECOND;
    assert_eq!(
        study.times,
        Times { repeats: 5, warm_up: second, cool_down: Nanos::from_millis(500) }
    );
    let slow = &study.variants[0];
    assert_eq!(slow.values, [("url".to_owned(), "http://127.0.0.1:18431".to_owned())]);
    assert_eq!(slow.servers[0].within, Duration::from_secs(10));
    assert_eq!((slow.generators, slow.servers[0].stop), (1, Signal::SIGTERM));
    assert_eq!(study.workloads[0].family, Family::Bench);
    assert_eq!(study.workloads[0].expect.len(), 2);
    assert_eq!(study.cells(&[]).len(), 4);
    assert_eq!(study.cells(&[0]).len(), 2);
    let seldom = TEMPLATE.replace("name = \"closed\"", "name = \"closed\"\nrepeats = 3");
    let repeats = |mode| {
        let study = read(&seldom, mode, &command_lines()).unwrap();
        study.repeated(&[0]).into_iter().map(|(_, repeats)| repeats).collect::<Vec<_>>()
    };
    assert_eq!((repeats(Mode::Full), repeats(Mode::Quick)), (vec![3, 5], vec![2, 2]));
    let quick = read(TEMPLATE, Mode::Quick, &command_lines()).unwrap();
    assert_eq!(quick.times, Times { repeats: 2, warm_up: Nanos::ZERO, cool_down: Nanos::ZERO });
    assert_eq!(quick.workloads[0].command[4], "1s");
}

#[test]
fn what_is_run_is_told_from_what_is_said() {
    let facts = |text: &str| read(text, Mode::Full, &command_lines()).unwrap().facts;
    let before = facts(TEMPLATE);
    assert_eq!(facts(&TEMPLATE.replace("Is a service", "Would a service")), before);
    assert_eq!(facts(&TEMPLATE.replace("four workers of 8 ms", "x")), before);
    assert_ne!(facts(&TEMPLATE.replace("fixed:8ms", "fixed:9ms")), before);
    let path = ("variant[1].server[1].command[8]".to_owned(), "fixed:8ms".to_owned());
    assert!(before.contains(&path), "{before:?}");
}

/// Changes of the template, each with the words that are said of it.
const PROBLEMS: &[(&str, &str, &str)] = &[
    ("repeats = 5 ", "repeets = 5 ", "study.repeets: unknown key (did you mean repeats?)"),
    ("repeats = 5 ", "repeats = 0 ", "study.repeats: 0 is not from 1 to 200"),
    ("repeats = 5 ", "repeats = \"5\" ", "study.repeats: a text where a whole number is expected"),
    ("warm_up = \"1s\"", "warm_up = \"1 sec\"", "study.warm_up: "),
    ("name = \"slow\"", "name = \"a/b\"", "variant \"a/b\".name: is no name for a folder"),
    ("name = \"quick\"", "name = \"slow\"", "is the name of another one too"),
    ("optional = false", "optional = 1", "true or false is expected"),
    (
        "command = \"brunt\",",
        "comand = \"brunt\",",
        "variant \"slow\".requires 1.comand: unknown key",
    ),
    ("stop = \"TERM\"", "stop = \"STOPP\"", "is no signal"),
    (
        "ready = \"http://127.0.0.1:18431/\"",
        "ready = \"127.0.0.1:18431\"",
        "is no http:// or tcp:// address",
    ),
    ("folder = \".\"", "folder = \"{ur}\"", "{ur} stands for nothing (did you mean {url}?)"),
    ("logs = []", "logs = [\"rails:{rum}/x\"]", "monitor.logs: {rum} stands for nothing (did"),
    ("scrape = []", "scrape = [\"{address}/x\"]", "monitor.scrape: {address} stands for nothing"),
    (
        "command = \"brunt\",",
        "file = \"{ulr}/x\",",
        "{ulr} stands for nothing (did you mean {url}?)",
    ),
    ("command = \"brunt\",", "file = \"{run}/x\",", "requires 1: {run} stands for nothing"),
    ("bench -c 4 -d 5s", "benhc -c 4 -d 5s", "(did you mean bench?)"),
    ("bench -c 4 -d 5s", "bench -o x -c 4", "-o: where results go is the study's to say"),
    ("bench -c 4 -d 5s", "bench 'c 4 -d 5s", "has a quote that is not closed"),
    ("only = []", "only = [\"slwo\"]", "no variant is called \"slwo\" (did you mean slow?)"),
    ("quick < slow: latency.p50", "quick < slower: latency.p50", "no variant is called \"slower\""),
    ("quick < slow: latency.p50", "quick < slow: latency.p51", "\"latency.p51\" is no metric"),
    ("values = { url = \"http://127.0.0.1:18432\" }", "values = {}", ""),
    ("before = []", "before = [\"ip\"]", "a list where a list of commands"),
    (
        "environment = {}",
        "environment = { A = [1] }",
        "environment.A: a list where a text is expected",
    ),
    ("values = { url", "values = { run = \"x\", url", "{run} stands for something already"),
    (
        "url = \"http://127.0.0.1:18431\"",
        "url = \"http://{hots}/\"",
        "variant \"slow\": {hots} stands for nothing",
    ),
    (
        "url = \"http://127.0.0.1:18431\"",
        "url = \"http://h/{generator}\"",
        "variant \"slow\": {generator} stands for nothing",
    ),
];

#[test]
fn every_problem_is_told_with_its_line() {
    let line_of = |words: &str| TEMPLATE[..TEMPLATE.find(words).unwrap()].lines().count();
    for &(from, to, words) in PROBLEMS {
        assert!(TEMPLATE.contains(from), "{from}");
        let found = problems(&TEMPLATE.replacen(from, to, 1));
        assert!(found.iter().any(|(_, text)| text.contains(words)), "{to}: {found:?}");
        if !words.is_empty() {
            let at = line_of(from);
            let lines = [at, at + 1];
            assert!(
                found.iter().any(|(line, _)| lines.contains(line)),
                "{to}: {found:?}, not {at}"
            );
        }
    }
}

/// A value may be filled with what there is in a run alone; what a variant requires is looked up before.
#[test]
fn values_of_a_run_are_not_there_beforehand() {
    let read = |value: &str, (from, to): (&str, &str)| {
        let values = format!("values = {{ place = \"{value}\", url");
        let text = TEMPLATE.replacen("values = { url", &values, 1).replacen(from, to, 1);
        super::read(&text, Mode::Full, &command_lines()).map_or_else(|found| found, |_| Vec::new())
    };
    let required = ("command = \"brunt\",", "file = \"{place}\",");
    for value in ["x", "{study}/x"] {
        assert!(read(value, required).is_empty(), "{value}");
    }
    for value in ["{run}/x", "{study}/{out}/x", "{user}"] {
        let found = read(value, required);
        let words = "requires 1: {place} stands for nothing";
        assert!(found.len() == 1 && found[0].text.contains(words), "{value}: {found:?}");
        let in_a_run = ("folder = \".\"", "folder = \"{place}\"");
        assert!(read(value, in_a_run).is_empty(), "{value}");
    }
}

/// Each command line of a workload, with what is said of it; empty: nothing.
#[test]
fn workloads_are_read_as_brunt_would_read_them() {
    const CLOSED: &str = "bench -c 4 -d 5s {url}/";
    let cases = [
        ("bench -dd 5s {url}/", "unknown flag -dd"),
        ("bench -c 4 -d 5x {url}/", "flag -d: "),
        ("bench -c 4 -d 5s", "a URL or -targets=FILE is needed"),
        ("bench -c 4 -d 5s {url}/ x", "unexpected \"x\""),
        ("bench -c 4 {ur}/", "{ur} stands for nothing (did you mean {url}?)"),
        ("bench -c 4 {address}/", "URL: "),
        ("bench -help {url}/", "asks for help"),
        ("attack -rate=5", "-targets=FILE is needed: standard input is empty"),
        ("attack -rate=5 -targets={study}/t -shape=x", "flag -shape: "),
        ("attack -rate=0 -targets={study}/t", "-rate=0 requires setting -max-workers"),
        ("vegeta attack -rat=5 -targets=t", "unknown flag -rat"),
        ("cable echo {url}", "flag -channel is needed"),
        ("cable ecko {url} -channel C", "\"ecko\" is no pattern"),
        ("seek {url}", "flag -objective is needed"),
        ("bench -c 4 -targets=stdin", "-targets=FILE is needed: standard input is empty"),
        ("seek -objective=p99<1s", "a URL or -targets=FILE is needed"),
        ("seek -objective=p99<1s -targets=-", "-targets=FILE is needed: standard input is empty"),
        ("run -u x s.js", "flag -u: "),
        ("run", "requires a script"),
        ("k6 run -q", "requires a script"),
        ("ab -n 5 -Y {url}/", "illegal option -- Y"),
        ("ab -n 5 {url}", "invalid URL"),
        ("ab -n 5 -c 9 {url}/", "Cannot use concurrency level greater"),
        ("hey -n 5 -c 9 {url}/", "-n cannot be less than -c."),
        ("oha -n", "a value is required for '-n'"),
        ("perfer -d 1", "A URL is required."),
        ("wrk -c 0 {url}/", "number of connections must be >= threads"),
        // What is there only when it is run is not looked at.
        ("attack -rate=5 -targets={study}/no -body=/no -laddr=10.255.0.1 -cert=/no", ""),
        ("attack -rate=5 -shape=replay:/no -targets={study}/no", ""),
        ("bench -n 5 -targets=/no", ""),
        ("seek -by=connections -objective=p99<1s -targets=/no", ""),
        ("cable echo {url} -channel C -params '{\\\"id\\\":\\\"{user}\\\"}'", ""),
        ("run -q -e A={url} --summary-export={run}/s.json {study}/no.js", ""),
        ("k6 run -u 1 no.js", ""),
        ("vegeta attack -rate=5 -targets={study}/no", ""),
        ("hey --watch -n 5 -c 5 {url}/", ""),
        ("ab -n 5 -p /no {url}/", ""),
    ];
    assert!(TEMPLATE.contains(CLOSED));
    for (line, words) in cases {
        let text = TEMPLATE.replacen(CLOSED, line, 1);
        let found =
            read(&text, Mode::Quick, &command_lines()).map_or_else(|found| found, |_| Vec::new());
        let found: Vec<&str> = found.iter().map(|problem| problem.text.as_str()).collect();
        match (&found[..], words) {
            ([], "") => {}
            ([one], words) if !words.is_empty() && one.contains(words) => {
                assert!(one.starts_with("workload \"closed\".command: "), "{line}: {one}");
            }
            _ => panic!("{line}: {found:?}"),
        }
    }
    // The short form is read too, and a variant that alone is wrong is named.
    let short = TEMPLATE.replace("ab -n 800 -c 8 {url}/", "ab -n 8 -c 80 {url}/");
    assert!(problems(&short)[0].1.starts_with("workload \"ab\".quick: Cannot use concurrency"));
    let one = TEMPLATE.replace("url = \"http://127.0.0.1:18432\"", "url = \"18432\"");
    let found = problems(&one);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|(_, text)| text.ends_with("(for variant \"quick\")")), "{found:?}");
}

#[test]
fn all_problems_are_told_at_once() {
    let text =
        "[study]\nname = \"\"\nrepeats = -1\n[[variant]]\nnote = 5\n[[workload]]\nname = \"w\"\n";
    let found = problems(text);
    let expected = [
        (2, "study.name: is empty"),
        (3, "study.repeats: a whole number where a whole number is expected"),
        (4, "variant 1.name: is missing"),
        (5, "variant 1.note: a whole number where a text is expected"),
        (6, "workload \"w\".command: is missing"),
    ];
    let found: Vec<(usize, &str)> =
        found.iter().map(|(line, text)| (*line, text.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn what_is_no_toml_is_told_with_its_line() {
    let found = problems("[study]\nname = \"x\"\nrepeats = = 3\n");
    assert_eq!(found[0].0, 3, "{found:?}");
    let found = problems("");
    let words: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(words.len(), 3, "{words:?}");
}

#[test]
fn a_workload_may_be_of_the_full_form_alone() {
    let text = TEMPLATE.replace("quick = \"ab -n 800 -c 8 {url}/\"", "quick = \"\"");
    let names = |mode| {
        let study = read(&text, mode, &command_lines()).unwrap();
        let names: Vec<String> = study.workloads.into_iter().map(|one| one.name).collect();
        (names, study.skipped)
    };
    assert_eq!(names(Mode::Full), (vec!["closed".into(), "ab".into()], vec![]));
    assert_eq!(names(Mode::Quick), (vec!["closed".into()], vec!["ab".into()]));
    let wrong = TEMPLATE.replace("quick = \"ab -n 800 -c 8 {url}/\"", "quick = 3");
    assert!(problems(&wrong)[0].1.contains("workload \"ab\".quick: a whole number"));
}
