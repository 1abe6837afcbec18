//! The template, and problems of studies.

use std::time::Duration;

use nix::sys::signal::Signal;
use stdx::Nanos;

use super::command_family::CommandFamily;
use super::model::Timing;
use super::*;

const TEMPLATE: &str = include_str!("../template.toml");

fn read(text: &str, mode: Mode) -> Result<Study, Vec<Problem>> {
    super::read(text, mode, &CommandLines::for_tests())
}

fn problems(text: &str) -> Vec<(usize, String)> {
    let problems = read(text, Mode::Full).map(|study| study.name).unwrap_err();
    problems.into_iter().map(|problem| (problem.line, problem.text)).collect()
}

#[test]
fn the_template_is_read() {
    let study = read(TEMPLATE, Mode::Full).unwrap();
    assert_eq!((study.name.as_str(), study.seed), ("quick-or-slow", 1));
    let second = Nanos::SECOND;
    assert_eq!(
        study.times,
        Timing { repeats: 5, warm_up: second, cool_down: Nanos::from_millis(500) }
    );
    let slow = &study.variants[0];
    assert_eq!(slow.values, [("url".to_owned(), "http://127.0.0.1:18431".to_owned())]);
    assert_eq!(slow.servers[0].within, Duration::from_secs(10));
    assert_eq!((slow.generators, slow.servers[0].stop), (1, Signal::SIGTERM));
    assert_eq!(study.workloads[0].family, CommandFamily::Bench);
    assert_eq!(study.workloads[0].expect.len(), 2);
    assert_eq!(study.cells(&[]).len(), 4);
    assert_eq!(study.cells(&[0]).len(), 2);
    let seldom = TEMPLATE.replace("name = \"closed\"", "name = \"closed\"\nrepeats = 3");
    let repeats = |mode| {
        let study = read(&seldom, mode).unwrap();
        study.repeated(&[0]).into_iter().map(|(_, repeats)| repeats).collect::<Vec<_>>()
    };
    assert_eq!((repeats(Mode::Full), repeats(Mode::Quick)), (vec![3, 5], vec![3, 3]));
    let quick = read(TEMPLATE, Mode::Quick).unwrap();
    assert_eq!(quick.times, Timing { repeats: 3, warm_up: Nanos::ZERO, cool_down: Nanos::ZERO });
    assert_eq!(quick.workloads[0].command[4], "1s");
}

#[test]
fn descriptions_are_no_facts() {
    let facts = |text: &str| read(text, Mode::Full).unwrap().facts;
    let before = facts(TEMPLATE);
    assert_eq!(facts(&TEMPLATE.replace("Is a service", "Would a service")), before);
    assert_eq!(facts(&TEMPLATE.replace("four workers of 8 ms", "x")), before);
    assert_ne!(facts(&TEMPLATE.replace("fixed:8ms", "fixed:9ms")), before);
    let path = ("variant[1].server[1].command[8]".to_owned(), "fixed:8ms".to_owned());
    assert!(before.contains(&path), "{before:?}");
}

/// Changes of the template, each with the problem.
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
fn every_problem_has_its_line() {
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

/// A value may have placeholders that only a run has; requirements are looked up before any run.
#[test]
fn values_of_a_run_do_not_exist_before() {
    let read = |value: &str, (from, to): (&str, &str)| {
        let values = format!("values = {{ place = \"{value}\", url");
        let text = TEMPLATE.replacen("values = { url", &values, 1).replacen(from, to, 1);
        self::read(&text, Mode::Full).map_or_else(|found| found, |_| Vec::new())
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

#[test]
fn all_problems_are_reported_at_once() {
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
fn errors_of_toml_have_their_line() {
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
        let study = read(&text, mode).unwrap();
        let names: Vec<String> = study.workloads.into_iter().map(|one| one.name).collect();
        (names, study.skipped)
    };
    assert_eq!(names(Mode::Full), (vec!["closed".into(), "ab".into()], vec![]));
    assert_eq!(names(Mode::Quick), (vec!["closed".into()], vec!["ab".into()]));
    let wrong = TEMPLATE.replace("quick = \"ab -n 800 -c 8 {url}/\"", "quick = 3");
    assert!(problems(&wrong)[0].1.contains("workload \"ab\".quick: a whole number"));
}
