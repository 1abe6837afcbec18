//! `seek`: the limit of servers whose limit is known, its outputs, an interrupt and what goes on after it, bad objectives.

use std::sync::{Mutex, MutexGuard, PoisonError};

use demo::{Config, Server, ServiceTime};
use serde_json::Value;

use crate::{Ran, Scratch, brunt, run, server, signal, start, text, until};

/// Four workers of 10 ms: 400 a second and no more.
fn four_workers() -> (Server, String) {
    let service = ServiceTime::parse("fixed:10ms").unwrap();
    server(Config { workers: 4, service, ..Config::default() })
}

/// One at a time: each would be the others' disturbance.
static QUIET: Mutex<()> = Mutex::new(());
/// How often a search is run again that a busy machine spoilt.
const AGAIN_MAX: usize = 5;
/// How often one is run again that the generator ended: of the server it says nothing.
const LIMITED_MAX: usize = 20;

/// Runs a search until its answer is as it must be on a machine that has time for it; what the last one said is given back.
fn undisturbed(line: &str, is_right: impl Fn(&Ran) -> bool) -> Ran {
    let (mut wrong, mut limited) = (0, 0);
    loop {
        let ran = run(line);
        if is_right(&ran) {
            return ran;
        }
        if is_limited(&ran) {
            limited += 1;
        } else {
            wrong += 1;
        }
        let goes_on = wrong < AGAIN_MAX && limited < LIMITED_MAX;
        assert!(goes_on, "{line}: {} {}", ran.stdout, ran.stderr);
    }
}

/// Whether the generator ended the search, as text or JSON says.
fn is_limited(ran: &Ran) -> bool {
    ran.stdout.contains("the generator is the limit")
        || ran.stdout.contains(r#""ended":"generator""#)
}

fn quiet() -> MutexGuard<'static, ()> {
    QUIET.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The answer of a search's JSON, by its name.
fn answered(ran: &Ran, name: &str) -> f64 {
    ran.json()["answer"][name].as_f64().unwrap_or(0.0)
}

/// Steps as short as a test can afford.
const SHORT: &str = "-cpus 1 -seed 7 -step 500ms -warmup 100ms -cooldown 50ms -timeout 5s";

#[test]
fn the_rate_of_a_known_server_is_found() {
    let _quiet = quiet();
    let (_server, url) = four_workers();
    let scratch = Scratch::new("seek");
    let plot = text(&scratch.path("curve.svg"));
    let line = format!(
        "seek {SHORT} -objective p90<60ms,errors<5% -from 100 -max-steps 16 -plot {plot} -json {url}/"
    );
    // Some 390, on a machine that has the time.
    let ran = undisturbed(&line, |ran| (250.0..=460.0).contains(&answered(ran, "rate")));
    let json = ran.json();
    let number = |value: &Value| value.as_f64().unwrap();
    let (rate, low, high) = (
        number(&json["answer"]["rate"]),
        number(&json["answer"]["low"]),
        number(&json["answer"]["high"]),
    );
    assert!(low <= rate && rate <= high, "{json}");
    assert_eq!(json["objective"], "p90<60ms, errors<5%");
    assert_eq!((&json["seed"], &json["arrivals"]), (&7.into(), &"poisson".into()));
    let steps = json["steps"].as_array().unwrap();
    assert!(steps.len() <= 16, "{json}");
    assert_eq!(number(&steps[0]["rate"]), 100.0);
    for word in ["yes", "no"] {
        assert!(steps.iter().any(|step| step["meets"] == word), "{json}");
    }
    // One line a step, without colour where there is no terminal.
    assert_eq!(ran.stderr.lines().count(), steps.len(), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("step 1: 100/s  achieved ") && !ran.stderr.contains('\x1b'));
    let drawn = std::fs::read_to_string(&plot).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.contains("p90&lt;60ms"), "{drawn}");
}

#[test]
fn a_budget_ends_the_search_with_the_best_answer() {
    let _quiet = quiet();
    let (_server, url) = four_workers();
    let flags = "-cpus 1 -seed 7 -budget 12s -from 100 -timeout 5s -json";
    let line = format!("seek {flags} -objective p90<60ms,errors<5% {url}/");
    let ran = undisturbed(&line, |ran| {
        let json = ran.json();
        // A quarter more for what a busy machine adds to the last step.
        let in_time = json["took"].as_u64().is_some_and(|took| took < 15_000_000_000);
        let estimated = json["estimate"]["half_width"].as_f64().is_some_and(|width| width > 0.0);
        in_time && estimated && (250.0..=460.0).contains(&answered(ran, "rate"))
    });
    let json = ran.json();
    assert_eq!(ran.code, Some(0));
    assert!(["budget used", "found"].iter().any(|why| json["ended"] == *why), "{json}");
    assert_eq!(json["budget"], 12_000_000_000_u64);
    // Each line but the last says how long the search still takes.
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let (last, before) = lines.split_last().unwrap();
    assert!(before.iter().all(|line| line.ends_with(" left")), "{lines:?}");
    assert!(!last.ends_with(" left") && lines[0].contains("  at most "), "{lines:?}");
}

#[test]
fn the_connections_of_a_known_server_are_found() {
    let _quiet = quiet();
    let (_server, url) = four_workers();
    // Eight users wait 20 ms for four workers of 10 ms, twelve wait 30 ms. A quarter may wait longer: so much a busy
    // machine may spoil.
    let flags = "-by connections -objective p75<25ms,errors<5% -max-steps 14 -progress=false";
    let ran = undisturbed(&format!("seek {SHORT} {flags} {url}/"), |ran| {
        let answer = ran.stdout.lines().find(|line| line.starts_with("Answer "));
        let number = answer.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        ran.code == Some(0) && number.is_some_and(|number: u64| (6..=11).contains(&number))
    });
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.line("Objective ").ends_with("p75<25ms, errors<5% (closed loop)"));
    assert!(ran.line("Knee ").contains("connections"));
    assert!(ran.line("connections  achieved/s").ends_with("verdict  meets it"));
}

#[test]
fn an_interrupted_search_goes_on_where_it_was() {
    let (server, url) = four_workers();
    let scratch = Scratch::new("seek-state");
    let state = text(&scratch.path("seek.json"));
    let line = format!("seek {SHORT} -objective p90<20s -from 50 -state {state} {url}/");
    let kept = || -> Value {
        let text = std::fs::read_to_string(&state).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    };
    let count = |kept: &Value| kept["steps"].as_array().map_or(0, Vec::len);
    let started = start(brunt(&line));
    until("two steps are kept", || count(&kept()) >= 2);
    signal("INT", started.pid());
    let ran = started.wait().with_code(0);
    assert!(ran.line("Ended ").contains("interrupted"), "{ran:?}");
    let before = kept();
    // What a busy machine spoilt at the end is measured anew.
    let steps = before["steps"].as_array().unwrap();
    let done = steps.iter().rposition(|step| step["spoilt"].is_null()).map_or(0, |at| at + 1);
    let asked = server.stats().requests;
    let ran = run(&format!("{line} -max-steps {}", done + 1));
    // A busy machine may have spoilt all of them.
    assert!([Some(0), Some(6)].contains(&ran.code), "{ran:?}");
    let words = format!("{state}: going on after {}", stdx::counted(done as u64, "step"));
    assert!(done == 0 || ran.stderr.starts_with(&words), "{ran:?}");
    let after = kept();
    assert_eq!(count(&after), done + 1);
    assert_eq!(after["steps"].as_array().unwrap()[..done], steps[..done]);
    assert!(server.stats().requests > asked);
    for (flags, words) in [
        (
            "-objective p90<21s",
            "belongs to another search, with objective p90<20s, errors<1% instead of p90<21s",
        ),
        ("-seed 8", "belongs to another search, with seed 7 instead of 8"),
        ("-h2c", "with protocol HTTP/2 over TLS instead of HTTP/2"),
        ("-redirects -1", "with redirects 10 instead of none"),
    ] {
        let asked = server.stats().requests;
        run(&format!("{line} {flags}")).with_code(3).complains_once(&["seek.json", words]);
        assert_eq!(server.stats().requests, asked, "nothing was sent");
    }
    for damage in ["", "[]", "{\"brunt_seek\":1,\"seed\":1,\"search\":{},\"steps\":[1]}"] {
        std::fs::write(&state, damage).unwrap();
        run(&line).with_code(3).complains_once(&["seek.json "]);
    }
}

#[test]
fn an_objective_out_of_reach_says_so() {
    let _quiet = quiet();
    let (_server, url) = four_workers();
    let flags = "-objective p50<5ms,errors<5% -from 100";
    let line = format!("seek {SHORT} {flags} {url}/");
    let words = "the objective is missed at the lowest load, 100/s";
    let ran = undisturbed(&line, |ran| ran.stdout.contains(words)).with_code(6);
    assert!(ran.line("Answer ").ends_with("none"));
    let ended = |ran: &Ran, why: &str| ran.json()["ended"] == why;
    let ran = undisturbed(&format!("{line} -json"), |ran| ended(ran, "lowest load missed"));
    assert!(ran.with_code(6).json()["answer"].is_null());
    // And one that nothing misses: the answer is a lower bound.
    let flags = "-objective p50<1s,errors<5% -from 50 -to 100 -json";
    let line = format!("seek {SHORT} {flags} {url}/");
    let json = undisturbed(&line, |ran| ended(ran, "highest load met")).with_code(0).json();
    assert_eq!(json["answer"]["limited_by"], "to", "{json}");
    assert_eq!((&json["answer"]["rate"], &json["answer"]["high"]), (&100.into(), &Value::Null));
}

#[test]
fn wrong_searches_are_refused() {
    let cases = [
        ("-objective p99<250", "flag -objective: \"p99<250\": missing unit"),
        ("-objective p99<1s,", "flag -objective: an empty condition"),
        ("-objective q99<1s", "\"q99\" in \"q99<1s\" is no metric"),
        ("-objective p99>1s", "\"p99>1s\" is easier to meet"),
        ("-objective errors<1ms", "\"1ms\" in \"errors<1ms\" is no share"),
        ("-objective p99<1s -by users", "flag -by: \"users\""),
        ("-objective p99<1s -from 0", "flag -from: \"0\" is not a load"),
        ("-objective p99<1s -from 20 -to 10", "flag -from: 20 is greater than -to=10"),
        ("-objective p99<1s -step 0s", "flag -step: "),
        ("-objective p99<1s -budget 9s", "flag -budget: \"9s\" is too short"),
    ];
    for (flags, words) in cases {
        let ran = run(&format!("seek {flags} http://127.0.0.1:1/")).with_code(2);
        assert!(ran.stderr.contains(words), "{flags}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
    let eight = ["max<1s"; 8].join(",");
    let ran = run(&format!("seek -objective {eight} http://127.0.0.1:1/")).with_code(2);
    assert!(
        ran.stderr.contains("flag -objective: too many conditions together with errors<1%"),
        "{}",
        ran.stderr
    );
    let ran = run("seek -objective p99<1s").with_code(2);
    assert!(ran.stderr.contains("a URL or -targets=FILE is needed"));
    run("seek -objective p99<1s -state /nowhere/s.json http://127.0.0.1:1/").with_code(1);
    // Before the first step, which would print a line.
    let plot = "-plot /nowhere/curve.svg -step 100ms -warmup 0s -max-steps 1";
    let ran = run(&format!("seek -objective p99<1s {plot} http://127.0.0.1:1/")).with_code(1);
    assert!(ran.stderr.contains("/nowhere/curve.svg"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("step 1") && ran.stdout.is_empty(), "{ran:?}");
}

/// Two steps of a script: its iterations are the load, `setup` and `teardown` run once, and what is watched names a limit or none.
#[test]
fn a_script_is_searched_by_its_iterations() {
    let (_server, url) = four_workers();
    let scratch = Scratch::new("seek-script");
    let script = text(&scratch.path("two.js"));
    let source = "import http from 'k6/http';\n\
        export function setup() { console.log('set up'); return { at: __ENV.AT }; }\n\
        export default function (data) { http.get(data.at); http.get(data.at); }\n\
        export function teardown() { console.log('torn down'); }\n";
    std::fs::write(&script, source).unwrap();
    let flags = "-cpus 1 -from 5 -to 10 -step 600ms -warmup 100ms -cooldown 0s -max-steps 2 -json";
    let objective = "-objective p90<5s,errors<5%";
    let ran = run(&format!("seek {flags} {objective} -watch -e AT={url}/ {script}"));
    let json = ran.json();
    assert_eq!(json["by"], "iterations", "{json}");
    let steps = json["steps"].as_array().unwrap();
    assert_eq!(steps[0]["iterations"], 5.0, "{json}");
    assert!(steps.iter().all(|step| step["requests"].as_u64() >= Some(4)), "two of each: {json}");
    for word in ["set up", "torn down"] {
        assert_eq!(ran.stderr.matches(word).count(), 1, "{}", ran.stderr);
    }
    run(&format!("seek -timeout 3s {script}")).with_code(2);
}

/// The answer of a search came after the script's `teardown`, and was lost with it.
#[test]
fn a_teardown_that_fails_costs_no_answer() {
    let (_server, url) = four_workers();
    let scratch = Scratch::new("seek-teardown");
    let script = text(&scratch.path("fails.js"));
    let source = "import http from 'k6/http';\n\
        export default function () { http.get(__ENV.AT); }\n\
        export function teardown() { throw new Error('no way down'); }\n";
    std::fs::write(&script, source).unwrap();
    let flags = "-cpus 1 -from 5 -step 300ms -warmup 0s -cooldown 0s -max-steps 1 -json";
    let ran = run(&format!("seek {flags} -e AT={url}/ {script}")).with_code(107);
    assert_eq!(ran.json()["steps"].as_array().map(Vec::len), Some(1), "{}", ran.stdout);
    assert!(ran.stderr.contains("teardown() failed"), "{}", ran.stderr);
}

/// A search that ended with an error left what `setup` had made.
#[test]
fn issue_40_a_search_that_fails_is_torn_down() {
    let scratch = Scratch::new("seek-fails");
    let script = text(&scratch.path("nothing.js"));
    let source = "export function setup() { console.log('set up'); }\n\
        export default function () {}\n\
        export function teardown() { console.log(`torn down, ${__ENV.WHO}`); }\n";
    std::fs::write(&script, source).unwrap();
    let flags = "-cpus 1 -from 5 -step 300ms -warmup 0s -cooldown 0s -max-steps 1";
    let mut command = brunt(&format!("seek {flags} -e WHO {script}"));
    command.env("WHO", "the tester");
    let ran = start(command).wait();
    assert!(ran.code != Some(0) && ran.stderr.contains("sends no HTTP requests"), "{ran:?}");
    assert_eq!(ran.stderr.matches("torn down, the tester").count(), 1, "{}", ran.stderr);
}
