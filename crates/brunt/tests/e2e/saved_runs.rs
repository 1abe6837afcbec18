//! Runs in the store: what `-save` leaves for each command, `runs`, baselines over a change's life, a run that is killed.

use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use demo::{Config, ServiceTime};
use serde_json::Value;

use crate::{Scratch, brunt, run, server, start, text, until};

/// The runs of a store, as `runs list -json` has them.
fn listed(store: &str) -> Vec<Value> {
    let json = run(&format!("runs list -store {store} -json")).with_code(0).json();
    assert_eq!(json["problems"], serde_json::json!([]));
    json["runs"].as_array().unwrap().clone()
}

/// The id of the newest run.
fn newest(store: &str) -> String {
    listed(store)[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn every_command_with_load_leaves_a_run() {
    let scratch = Scratch::new("saved");
    let store = text(&scratch.path("store"));
    let (_server, url) = server(Config::default());
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let script = scratch.file(
        "home.js",
        format!(
            "import http from 'k6/http'; import {{check}} from 'k6';\n\
             export const options = {{iterations: 5, thresholds: {{http_reqs: ['count==5']}}}};\n\
             export default () => check(http.get('{url}/'), {{'it is 200': r => r.status == 200}});"
        ),
    );
    let save = format!("-save one -store {store} -label server=demo");
    let ran =
        run(&format!("attack -rate=50 -duration=500ms -targets={targets} {save}")).with_code(0);
    assert!(ran.stdout.contains("Requests      [total, rate, throughput]"), "{ran:#?}");
    assert!(ran.stderr.contains("saved as run "), "{ran:#?}");
    run(&format!("bench -c 2 -n 100 {save} {url}/")).with_code(0);
    run(&format!("run {save} {script}")).with_code(0);
    run(&format!("seek -objective=p99<1s -max-steps=2 -step=1s -warmup=0s -to=40 {save} {url}/"));
    let runs = listed(&store);
    let commands: Vec<&str> = runs.iter().map(|run| run["command"].as_str().unwrap()).collect();
    assert_eq!(commands, ["seek", "run", "bench", "attack"]);
    for one in &runs {
        assert_eq!((&one["name"], &one["labels"]["server"]), (&"one".into(), &"demo".into()));
        assert!(one["started"].as_str().unwrap().ends_with('Z'), "{one}");
        assert!(one["conclusion"].is_string(), "{one}");
        assert_eq!(one["attacked"], format!("GET {url}/"), "{one}");
        assert!(one["server"]["result"].as_str().is_some_and(|text| text.len() > 5), "{one}");
        let folder = std::path::PathBuf::from(one["folder"].as_str().unwrap());
        for document in ["report.txt", "report.json", "report.html"] {
            assert!(folder.join(document).metadata().unwrap().len() > 100, "{document} of {one}");
        }
        assert!(!folder.join("lock").exists());
        let id = one["id"].as_str().unwrap();
        let shown = run(&format!("runs show {id} -store {store}")).with_code(0);
        assert!(shown.stdout.starts_with(&format!("Run      {id} (one)\n")), "{shown:#?}");
        if one["command"] != "seek" {
            assert!(["VALID", "INVALID"].contains(&one["verdict"].as_str().unwrap()), "{one}");
            let results = folder.join("results.arrow");
            run(&format!("report {}", results.display())).with_code(0);
        }
    }
    let page =
        std::fs::read_to_string(format!("{}/report.html", runs[1]["folder"].as_str().unwrap()));
    let page = page.unwrap();
    assert!(page.contains("it is 200") && page.contains("count==5"), "checks and thresholds");
    let first = run(&format!("runs show {} -json -store {store}", runs[3]["id"].as_str().unwrap()));
    assert_eq!(first.with_code(0).json()["inputs"][0]["path"], *targets);
}

/// The list and the run say what was attacked and how the server came out, before they say how the measurement did.
#[test]
fn the_servers_result_comes_first() {
    let scratch = Scratch::new("saved-results");
    let store = text(&scratch.path("store"));
    let service = ServiceTime::parse("fixed:50ms").unwrap();
    let (_slow, slow) = server(Config { workers: 1, service, ..Config::default() });
    let (_failing, failing) = server(Config { error_rate: 1.0, ..Config::default() });
    let secret = slow.replace("http://", "http://kay:s3cret@");
    let attack = |flags: &str, url: &str| {
        let path = |n: u32| if n % 3 == 1 { "b" } else { "a" };
        let lines = (0..50).map(|n| format!("GET {url}/{}\n", path(n)));
        let targets = scratch.file("targets", lines.collect::<String>());
        run(&format!("attack -targets={targets} -store={store} {flags}")).with_code(0);
    };
    attack("-rate=60 -duration=4s -save=slow", &secret);
    attack("-rate=50 -duration=1s -save=failing -lazy", &failing);
    run(&format!(
        "seek -objective=p99<1ms -max-steps=1 -step=1s -warmup=0s -from=20 -to=40 -save=limit -store={store} {slow}/"
    ));
    let runs = listed(&store);
    let of = |at: usize, field: &str| runs[at]["server"][field].as_str().unwrap().to_owned();
    assert_eq!((of(0, "outcome"), of(1, "outcome")), ("no limit".into(), "failed".into()));
    assert!(of(0, "result").starts_with("no load that was tried meets p99<1ms"), "{}", runs[0]);
    assert_eq!(of(1, "result"), "FAILED, 50 of 50 requests without success");
    assert_eq!(of(2, "outcome"), "overloaded", "{}", runs[2]);
    let result = of(2, "result");
    assert!(result.starts_with("OVERLOADED, ") && result.contains(" of 60/s answered"), "{result}");
    assert!(result.contains(", no errors"), "{result}");
    let attacked = runs[2]["attacked"].as_str().unwrap();
    assert!(attacked.starts_with("2 targets, most requests to GET http://"), "{attacked}");
    assert!(attacked.ends_with("/a (66%)") && !attacked.contains("s3cret"), "{attacked}");
    assert!(runs[1]["attacked"].as_str().unwrap().ends_with(&format!("GET {failing}/a (66%)")));
    let table = run(&format!("runs list -store={store}")).with_code(0).stdout;
    assert!(table.lines().next().unwrap().contains("STARTED               ATTACKED "), "{table}");
    assert!(table.contains("  FAILED, 50 of 50 requests without success "), "{table}");
    let shown = run(&format!("runs show slow -store={store}")).with_code(0).stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[1].starts_with("Server   OVERLOADED, "), "{shown}");
    assert!(lines[2].starts_with("Verdict  "), "{shown}");
    assert!(shown.contains("\nAttacked 2 targets, most requests to GET http://"), "{shown}");
    let path = format!("{store}/{}/results.arrow", runs[2]["id"].as_str().unwrap());
    let again = run(&format!("report {path}")).with_code(0).stdout;
    for report in [shown, again] {
        let lines: Vec<&str> = report.lines().collect();
        let at = lines.iter().position(|line| line.starts_with("Target ")).expect(&report);
        let mut ends = [at + 1, at + 2].map(|at| lines[at].split(' ').nth(1).unwrap());
        ends.sort_unstable();
        assert!(ends[0].ends_with("/a") && ends[1].ends_with("/b"), "{report}");
        assert!(!report.contains("s3cret"), "{report}");
    }
    let found =
        run(&format!("runs list -json -store={store} -search=overloaded")).with_code(0).json();
    assert_eq!(found["runs"].as_array().unwrap().len(), 1);
}

/// What was asked for is done, and the store has the same bytes.
#[test]
fn results_go_to_both_places() {
    let scratch = Scratch::new("saved-both");
    let store = text(&scratch.path("store"));
    let (_server, url) = server(Config::default());
    let file = text(&scratch.path("own.parquet"));
    run(&format!("bench -c 2 -n 50 -output={file} -save both -store {store} {url}/")).with_code(0);
    let folder = listed(&store)[0]["folder"].as_str().unwrap().to_owned();
    let stored = std::fs::read(format!("{folder}/results.parquet")).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), stored);
    // Issue 41: the bytes take their room once, and a later run under the same name leaves them to the store.
    let number = |path: &str| std::fs::metadata(path).unwrap().ino();
    let kept = format!("{folder}/results.parquet");
    assert_eq!(number(&file), number(&kept));
    run(&format!("bench -c 2 -n 9 -output={file} {url}/")).with_code(0);
    assert_ne!(number(&file), number(&kept));
    assert_eq!(std::fs::read(&kept).unwrap(), stored);
    // Always, by the environment: a pipe stays one.
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let mut command = brunt(&format!("attack -rate=50 -duration=200ms -targets={targets}"));
    command.env("BRUNT_SAVE", "1").env("BRUNT_STORE", &store);
    let ran = start(command).wait().with_code(0);
    assert!(ran.bytes.starts_with(b"\xff\xff\xff\xff"), "a stream of Arrow");
    let runs = listed(&store);
    assert_eq!((runs.len(), &runs[0]["name"]), (2, &"attack".into()));
    let folder = runs[0]["folder"].as_str().unwrap();
    assert_eq!(std::fs::read(format!("{folder}/results.arrow")).unwrap(), ran.bytes);
}

#[test]
fn runs_are_labelled_carried_and_removed() {
    let scratch = Scratch::new("saved-runs");
    let (store, other) = (text(&scratch.path("store")), text(&scratch.path("other")));
    let (_server, url) = server(Config::default());
    let user = url.replace("http://", "http://kay:s3cret@");
    run(&format!("bench -c 2 -n 50 -save home -store {store} -header Authorization:zz {user}/"))
        .with_code(0);
    let id = newest(&store);
    let manifest = std::fs::read_to_string(format!("{store}/{id}/manifest.json")).unwrap();
    assert!(!manifest.contains("s3cret") && !manifest.contains("zz"), "{manifest}");
    run(&format!("runs label home server=puma a=b -note quick -store {store}")).with_code(0);
    run(&format!("runs label {id} a= -store {store}")).with_code(0);
    let listed_one = &listed(&store)[0];
    assert_eq!(listed_one["labels"], serde_json::json!({"server": "puma"}));
    assert_eq!(listed_one["note"], "quick");
    let found = |flags: &str| {
        let json = run(&format!("runs list -json -store {store} {flags}")).with_code(0).json();
        json["runs"].as_array().unwrap().len()
    };
    assert_eq!((found("-label server=puma"), found("-label server=agoo")), (1, 0));
    assert_eq!((found("-search QUICK"), found("-name nope"), found("-command bench")), (1, 0, 1));
    let file = text(&scratch.path("run.tar.gz"));
    run(&format!("runs export {id} -o {file} -store {store}")).with_code(0);
    run(&format!("runs import {file} -store {other}")).with_code(0);
    let results = format!("{store}/{id}/results.arrow");
    let csv = text(&scratch.path("old.csv"));
    run(&format!("encode -to=csv -output={csv} {results}")).with_code(0);
    run(&format!("runs import {csv} -store {other}")).with_code(0);
    let runs = listed(&other);
    let names: Vec<&str> = runs.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["old", "home"]);
    assert_eq!(runs[0]["figures"]["requests"], 50);
    assert_eq!(runs[1]["id"], *id);
    run(&format!("runs rm old -store {other}")).with_code(0);
    run(&format!("runs prune -keep 0 -dry-run -store {other}")).with_code(0);
    assert_eq!(listed(&other).len(), 1);
    run(&format!("runs prune -keep 0 -store {other}")).with_code(0);
    assert_eq!(listed(&other).len(), 0);
    for (line, words) in [
        ("runs show nope", "no run is \"nope\" in "),
        ("runs", "an operand is missing"),
        ("runs lst", "(did you mean list?)"),
        ("runs prune", "which runs?"),
        ("runs label home", "nothing to change"),
        ("runs rm", "an operand is missing"),
    ] {
        let ran = run(&format!("{line} -store {store}"));
        assert!(ran.code == Some(2) || ran.code == Some(3), "{ran:#?}");
        assert!(ran.stderr.contains(words), "{line}: {ran:#?}");
    }
    let refused = run(&format!("bench -c 1 -n 1 -label a=b {url}/")).with_code(2);
    assert!(refused.stderr.contains("give -save=NAME"), "{refused:#?}");
    run(&format!("bench -c 1 -n 1 -save a/b -store {store} {url}/")).with_code(2);
    run(&format!("bench -c 1 -n 1 -save a -store /proc/nope {url}/")).with_code(1);
}

/// The life of a change: a baseline of the main branch, then runs of a slower server, judged and stopped by a gate.
#[test]
fn a_change_is_held_to_its_baseline() {
    let scratch = Scratch::new("saved-baseline");
    let store = text(&scratch.path("store"));
    let runs = |service: &str, count: usize| {
        let service = ServiceTime::parse(service).unwrap();
        let (_server, url) = server(Config { service, ..Config::default() });
        for _ in 0..count {
            run(&format!("bench -c 2 -n 100 -q -save home -store {store} {url}/")).with_code(0);
        }
    };
    runs("fixed:5ms", 4);
    run(&format!("compare -save-baseline=main home@4 -store {store}")).with_code(0);
    assert!(listed(&store).iter().all(|one| one["baseline"] == "main"));
    runs("fixed:5ms", 4);
    let ran = run(&format!("compare -baseline=main -fail-on=p50>+60% home@4 -store {store}"));
    assert!(ran.with_code(0).stdout.contains("baseline main"));
    runs("fixed:10ms", 4);
    let summary = scratch.file("summary.md", "");
    let line = format!("compare -baseline=main -fail-on=p50>+60% home@4 -store {store} -json");
    let mut command = brunt(&line);
    command.env("GITHUB_STEP_SUMMARY", &summary).env("GITHUB_ACTIONS", "true");
    let ran = start(command).wait().with_code(7);
    assert!(ran.stderr.contains("::error title=comparison::"), "{ran:#?}");
    let json = ran.json();
    assert_eq!(json["comparisons"][0]["runs"], 4);
    assert!(std::fs::read_to_string(&summary).unwrap().contains("**worse**"));
    // The runs of the slower server take the place of the baseline's.
    run(&format!("runs compare -baseline=main -save-baseline=main home@4 -store {store}"))
        .with_code(0);
    let marked = listed(&store).iter().filter(|one| one["baseline"] == "main").count();
    assert_eq!(marked, 4);
    run(&format!("runs prune -keep=0 -store {store}")).with_code(0);
    assert_eq!(listed(&store).len(), 4, "those of the baseline stay");
    run(&format!("compare -save-baseline=last home@4 -store {store}")).with_code(2);
    run(&format!("compare -baseline=nope home@4 -store {store}")).with_code(3);
}

/// Killed at any moment a run is listed, and what it wrote can be read; the store stays whole.
#[test]
fn a_killed_run_is_cut_off() {
    let scratch = Scratch::new("saved-killed");
    let store = text(&scratch.path("store"));
    let (_server, url) = server(Config::default());
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let line =
        format!("attack -rate=200 -duration=60s -targets={targets} -save long -store {store}");
    let mut started = start(brunt(&line));
    let has_rows = || {
        let runs = listed(&store);
        let folder = runs.first().map(|one| one["folder"].as_str().unwrap().to_owned());
        let size = folder.and_then(|folder| {
            std::fs::metadata(format!("{folder}/results.arrow")).ok().map(|meta| meta.len())
        });
        (runs.first().map(|one| one["verdict"].clone()), size.unwrap_or(0))
    };
    until("rows are stored", || has_rows().1 > 10_000);
    assert_eq!(has_rows().0.unwrap(), "running");
    let refused = run(&format!("runs rm long -store {store}"));
    assert!(refused.with_code(2).stderr.contains("is under way"));
    started.child().kill().unwrap();
    started.child().wait().unwrap();
    assert_eq!(has_rows().0.unwrap(), "cut off");
    let shown = run(&format!("runs show last -store {store}")).with_code(0);
    assert!(shown.stdout.contains("cut off") && shown.stdout.contains("Latencies"), "{shown:#?}");
    run(&format!("runs rm last -store {store}")).with_code(0);
    assert!(listed(&store).is_empty());
}

/// Whatever moment it was, the store is whole, and the run is listed as cut off or was not begun.
#[test]
fn a_store_stays_whole_at_any_moment_of_a_kill() {
    let scratch = Scratch::new("saved-killed-anytime");
    let store = text(&scratch.path("store"));
    let (_server, url) = server(Config::default());
    let line = format!("bench -c 2 -z 250ms -output=none -q -save any -store {store} {url}/");
    for moment in (0..20).map(|n| Duration::from_millis(n * 17)) {
        let mut started = start(brunt(&line));
        std::thread::park_timeout(moment);
        started.child().kill().ok();
        started.child().wait().unwrap();
        let runs = listed(&store);
        for one in &runs {
            let verdict = one["verdict"].as_str().unwrap();
            assert!(["cut off", "VALID", "INVALID"].contains(&verdict), "{moment:?}: {one}");
        }
    }
    let cut_off = listed(&store).iter().filter(|one| one["verdict"] == "cut off").count();
    assert!(cut_off > 0, "a run of 250 ms was killed at 20 moments before its end");
    let id = |one: &Value| one["id"].as_str().unwrap().to_owned();
    for one in listed(&store).iter().map(id) {
        let shown = run(&format!("runs show {one} -store {store}"));
        assert!([Some(0), Some(4)].contains(&shown.code), "{one}: {shown:#?}");
    }
    run(&line).with_code(0);
    assert!(listed(&store).iter().any(|one| one["verdict"] != "cut off"));
}
