//! What imports, `require` and `open` give a script, where k6 has rules of its own.

use crate::modules::{first_run, ran};

/// What one of two VUs logs, of files whose first is the script.
fn logged(files: &[(&str, &str)]) -> String {
    let lines = ran(files);
    let (first, second) = lines.split_at(lines.len() / 2);
    assert_eq!(first, second, "{files:?}");
    first.join("\n")
}

#[test]
fn everything_of_a_commonjs_module_is_what_it_exports_once_it_has_run() {
    let late = "Object.defineProperty(exports, '__esModule', { value: true }); ['a', 'b'].forEach((n) => { exports[n] = () => n }); exports.c = 3; exports['no-name'] = 4;";
    let plain = "for (const n of ['x', 'y']) module.exports[n] = n";
    let main = "import * as m from './late.js'; import { a } from './late.js'; import * as p from './plain.js';
        export * from './plain.js';
        export default async function () { console.log(Object.keys(m), typeof m.a, a(), Object.keys(p), { ...p }.x, Object.keys(await import('./late.js'))) }";
    let files = [("/main.js", main), ("/late.js", late), ("/plain.js", plain)];
    let expect = r#"[ "a", "b", "c" ] function a [ "default", "x", "y" ] x [ "a", "b", "c" ]"#;
    assert_eq!(logged(&files), expect);
    // A module that cannot be run for its names throws where it is its turn.
    let files = [
        ("/main.js", "import * as m from './bad.js'; export default function () {}"),
        ("/bad.js", "exports.a = 1; throw new Error('not today');"),
    ];
    assert!(first_run(&files).unwrap_err().contains("not today"));
}

#[test]
fn regression_issue_41_a_module_that_throws_is_run_once() {
    let main = "globalThis.runs = 0; const seen = [];
        for (const i of [1, 2]) try { require('./bad.js') } catch (e) { seen.push(e.message) }
        module.exports.default = function () { console.log(globalThis.runs, seen) }";
    let bad = "globalThis.runs++; exports.a = 1; throw new Error('not today');";
    let files = [("/main.js", main), ("/bad.js", bad)];
    assert_eq!(logged(&files), r#"1 [ "not today", "not today" ]"#);
}

#[test]
fn a_circle_through_names_is_no_crash() {
    for required in ["./main.mjs", "./es.mjs"] {
        let cjs = format!(
            "let late; try {{ late = require('{required}') }} catch (e) {{ late = e.message }}; exports.late = late; exports.one = 1;"
        );
        let files = [
            (
                "/main.mjs",
                "import * as m from './cjs.js'; import './es.mjs'; export default function () { console.log(m.one) }",
            ),
            ("/cjs.js", cjs.as_str()),
            ("/es.mjs", "import './main.mjs'; export const x = 1;"),
        ];
        assert_eq!(logged(&files), "1");
    }
}

#[test]
fn a_module_of_k6_that_is_required_can_be_changed() {
    let main = "const http = require('k6/http'); const k6 = require('k6'); http.get = () => 'patched';
        module.exports.default = function () { const again = require; console.log(http.get(), typeof k6.check, 'default' in http, Object.isFrozen(http)) }";
    assert_eq!(logged(&[("/main.js", main)]), "patched function false false");
    let main = "import http from 'k6/http'; import './patch.js'; export default function () { console.log(http.get()) }";
    let patch = "require('k6/http').get = () => 'patched';";
    assert_eq!(logged(&[("/main.js", main), ("/patch.js", patch)]), "patched");
}

#[test]
fn a_name_that_a_module_of_k6_lacks_is_undefined_with_a_warning() {
    let main = "import metrics, { Trend, Metric } from 'k6/metrics'; import { Options, check as c } from 'k6'; export { Other } from 'k6/http';
        export default function () { console.log(typeof Metric, typeof Trend, typeof Options, typeof c, typeof metrics.Trend) }";
    assert_eq!(logged(&[("/main.js", main)]), "undefined function undefined function function");
    let warned = first_run(&[("/main.js", main)]).unwrap();
    let expect = [
        "k6/metrics exports no \"Metric\"",
        "k6 exports no \"Options\"",
        "k6/http exports no \"Other\"",
    ];
    for text in expect {
        assert_eq!(warned.iter().filter(|line| line.starts_with(text)).count(), 1, "{warned:?}");
    }
    // A file that lacks a name is wrong, as in k6.
    let files = [
        ("/main.js", "import { gone } from './m.mjs'; export default function () {}"),
        ("/m.mjs", "export const a = 1;"),
    ];
    assert!(first_run(&files).unwrap_err().contains("gone"));
}

#[test]
fn open_is_relative_to_the_module_that_runs() {
    let main = "import { rd, own } from '../lib/f.js'; import { viaRequire } from '../other/r.js';
        const d = rd('./x.txt'); const list = ['./x.txt'].map(rd);
        export default function () { console.log(d, list, own, viaRequire) }";
    let files = [
        ("/tests/main.js", main),
        (
            "/lib/f.js",
            "export function rd(p) { return open(p) } export const own = open('./x.txt');",
        ),
        (
            "/other/r.js",
            "const { rd } = require('../lib/f.js'); exports.viaRequire = rd('./x.txt');",
        ),
        ("/tests/x.txt", "tests"),
        ("/lib/x.txt", "lib"),
        ("/other/x.txt", "other"),
    ];
    assert_eq!(logged(&files), r#"tests [ "tests" ] lib other"#);
    let warned = first_run(&files).unwrap();
    let about = |folder: &str| {
        let text = format!("the module that runs, file:///{folder}/");
        warned.iter().filter(|line| line.contains(&text)).count()
    };
    assert_eq!(
        (about("tests"), about("other"), about("lib")),
        (1, 1, 0),
        "once a place: {warned:?}"
    );
}

#[test]
fn versions_of_k6_utils_have_their_own_names_and_results() {
    let names = |version: &str| {
        let main = format!(
            "import * as m from 'https://jslib.k6.io/k6-utils/{version}/index.js'; export default function () {{ console.log(Object.keys(m).length, 'check' in m, 'findBetween' in m) }}"
        );
        logged(&[("/main.js", &main)])
    };
    let expect = [
        "4 false false",
        "5 false true",
        "6 false true",
        "10 false true",
        "10 false true",
        "11 true true",
        "11 true true",
    ];
    for (minor, expect) in expect.into_iter().enumerate() {
        assert_eq!(names(&format!("1.{minor}.0")), expect, "1.{minor}.0");
    }
    let unknown = [(
        "/main.js",
        "import 'https://jslib.k6.io/k6-utils/9.0.0/index.js'; export default function () {}",
    )];
    assert!(first_run(&unknown).is_err(), "nothing is known of it");
    for (arguments, expect) in [
        ("10, 60", "10s:1 4s:3 4s:5 4s:7 4s:9 4s:10 4s:9 4s:7 4s:5 4s:3 4s:1 10s:0"),
        ("50, 60, 8", "10s:7 5s:16 5s:30 5s:44 5s:50 5s:44 5s:30 5s:16 5s:7 10s:0"),
        ("10, 20, 5", "4s:1 3s:5 3s:10 3s:10 3s:5 3s:1 4s:0"),
    ] {
        let main = format!(
            "import {{ normalDistributionStages as stages }} from 'https://jslib.k6.io/k6-utils/1.2.0/index.js'; export default function () {{ console.log(stages({arguments}).map((s) => s.duration + ':' + s.target).join(' ')) }}"
        );
        assert_eq!(logged(&[("/main.js", &main)]), expect);
    }
    let main = "import { parseDuration } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js'; export default function () { console.log(parseDuration('x'), parseDuration('1m30s')) }";
    assert_eq!(logged(&[("/main.js", main)]), "0 90000");
}

#[test]
fn check_of_k6_utils_waits_for_promises() {
    let main = "import { check } from 'https://jslib.k6.io/k6-utils/1.6.0/index.js';
        export default async function () {
            console.log(check(1, { one: (v) => v === 1, two: false }), await check(1, { later: async (v) => v === 1 }), await check(Promise.resolve(2), { two: (v) => v === 2 }), await check(1, { no: async () => false, yes: true }));
        }";
    assert_eq!(logged(&[("/main.js", main)]), "false true true false");
}
