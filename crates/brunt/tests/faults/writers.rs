//! Two writers of one file, one store, one folder of a study.

use crate::case::{Case, run_all};
use crate::stage::{Stage, no_bug};
use crate::until;

#[test]
fn two_writers_are_noticed_or_do_not_meet() {
    let cases = vec![
        Case::new("attack and attack, one file", one_results_file),
        Case::new("bench and bench, one store", one_store),
        Case::new("study and study, one folder", one_study),
        Case::new("report and report, one document", one_document),
        Case::new("seek and seek, one state", one_state),
    ];
    run_all("two writers", cases);
}

fn one_results_file() {
    let stage = Stage::new("two-results");
    let line = "attack -targets=targets -rate=100 -duration=1500ms -output=out.arrow";
    let first = stage.start(line);
    until("the first writes", || stage.server.stats().requests > 10);
    let second = stage.run(line);
    no_bug(&second);
    second.with_code(1).complains_once(&["out.arrow", "it is being written to already"]);
    no_bug(&first.wait().with_code(0));
    let json = stage.report("out.arrow").with_code(0).json();
    assert_eq!((&json["requests"], stage.server.stats().requests), (&150.into(), 150), "{json}");
}

fn one_store() {
    let stage = Stage::new("two-store");
    let line = "bench -c 2 -d 500ms -q -save x -store st {url}/";
    let both = [stage.start(line), stage.start(line)].map(|started| started.wait().with_code(0));
    both.iter().for_each(no_bug);
    let json = stage.run("runs list -json -store st").with_code(0).json();
    assert_eq!(json["runs"].as_array().unwrap().len(), 2, "{json}");
    assert_eq!(json["problems"], serde_json::json!([]));
}

fn one_study() {
    let stage = Stage::new("two-study");
    let first = stage.start("study run study.toml -out so");
    until("the first runs", || stage.server.stats().requests > 5);
    let second = stage.run("study run study.toml -out so");
    no_bug(&second);
    second.with_code(1).complains_once(&["a study is running in this folder"]);
    first.end();
}

fn one_document() {
    let stage = Stage::new("two-document");
    let line = "report -type=html -output=page.html r.csv";
    for _ in 0..5 {
        let both = [stage.start(line), stage.start(line)];
        both.into_iter().for_each(|started| no_bug(&started.wait().with_code(0)));
        let page = std::fs::read_to_string(stage.scratch.path("page.html")).unwrap();
        assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    }
}

fn one_state() {
    let stage = Stage::new("two-state");
    let line = "seek -objective=p99<2s -max-steps=2 -step=400ms -warmup=0s -cooldown=0s -to=40 -state=seek.json {url}/";
    let both = [stage.start(line), stage.start(line)];
    both.into_iter().for_each(|started| {
        let ran = started.wait();
        no_bug(&ran);
        let is_known = [Some(0), Some(6)].contains(&ran.code)
            || (ran.code == Some(1) && ran.stderr.contains("seek.json"));
        assert!(is_known, "{ran:#?}");
    });
    let state = std::fs::read(stage.scratch.path("seek.json")).unwrap();
    serde_json::from_slice::<serde_json::Value>(&state).unwrap();
}
