//! `lint`: findings with their places, in each form, and the exit codes.

use crate::{Scratch, run};

#[test]
fn a_script_is_told_what_is_wrong_with_it() {
    let scratch = Scratch::new("lint");
    let script = scratch.file(
        "script.js",
        "import http from 'k6/http';
import { check } from 'k6';
import { ids } from './lib.js';
export const options = {
  vuss: 2,
  duration: '1s',
  thresholds: { 'errors{page:cart}': ['count<1'], checks: ['rate>0.9'] },
};
export default function () {
  for (const id of ids) check(http.get(`http://127.0.0.1:1/items/${id}`), { ok: (r) => { r.status === 200 } });
}",
    );
    scratch.file("lib.js", "import ws from 'k6/ws'; export const ids = [1, 2];");
    let found = run(&format!("lint {script}")).with_code(15);
    for line in [
        "script.js:5:3: error: k6 has no option \"vuss\" (did you mean vus?) [unknown-option]",
        "script.js:7:17: error: the threshold is on \"errors\", which nothing makes [unmade-metric]",
        "[check-gives-nothing]",
        "[varying-name]",
        "[no-sleep]",
        "lib.js:1:1: note: \"k6/ws\" is k6/websockets today [old-module]",
        "3 errors, 2 warnings, 2 notes",
    ] {
        assert!(found.stdout.contains(line), "{line}: {found:#?}");
    }
    let json = run(&format!("lint -format=json {script}")).with_code(15).json();
    assert_eq!(json.as_array().unwrap().len(), 7, "{json}");
    let sarif = run(&format!("lint -format=sarif {script}")).with_code(15).json();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "unknown-option", "{sarif}");
    let skip = "unknown-option,unmade-metric,check-gives-nothing,varying-name -skip=no-sleep";
    let notes = run(&format!("lint -skip={skip} {script}")).with_code(0);
    assert!(notes.stdout.ends_with("2 notes\n"), "{notes:#?}");
    run(&format!("lint -skip=no-slep {script}"))
        .with_code(2)
        .complains_once(&["did you mean no-sleep?"]);
}

#[test]
fn deep_scripts_are_linted_as_they_run() {
    let scratch = Scratch::new("lint-deep");
    for (name, open, close) in [("lists", "[", "]"), ("brackets", "(", ")"), ("signs", "- ", "")] {
        let (open, close) = (open.repeat(50_000), close.repeat(50_000));
        let text =
            format!("export const deep = {open}1{close};\nexport default function () {{}}\n");
        let script = scratch.file(&format!("{name}.js"), text);
        let found = run(&format!("lint {script}"));
        assert!(matches!(found.code, Some(0 | 15)), "{name}: {found:#?}");
    }
}
