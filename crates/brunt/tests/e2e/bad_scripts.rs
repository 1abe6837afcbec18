//! `brunt run` with scripts that are wrong, throw, loop or eat memory: the code, and a message that names file and line.

use std::process::Stdio;
use std::time::{Duration, Instant};

use demo::Config;

use crate::{Ran, Scratch, brunt, run, server, signal, start, until};

/// A script that is wrong in one way.
struct Bad {
    source: &'static str,
    code: i32,
    /// What standard error says.
    says: &'static [&'static str],
    /// What no output says.
    not: &'static [&'static str],
}

impl Bad {
    #[track_caller]
    fn check(&self, scratch: &Scratch, flags: &str) -> Ran {
        let path = scratch.file("bad.js", self.source);
        let ran = run(&format!("run {flags} {path}"));
        assert_eq!(ran.code, Some(self.code), "{}: {ran:#?}", self.source);
        for says in self.says {
            assert!(ran.stderr.contains(says), "{says:?} of {}: {}", self.source, ran.stderr);
        }
        for not in self.not {
            let said = ran.stderr.contains(not) || ran.stdout.contains(not);
            assert!(!said, "{not:?} of {}: {ran:#?}", self.source);
        }
        ran
    }
}

#[test]
fn what_cannot_be_loaded_is_named_with_its_line() {
    let scratch = Scratch::new("bad-load");
    scratch.file("one.js", "export const one = 1;\n");
    scratch.file("broken.js", "export const a = 1;\nexport const b = ;\n");
    let none = &["iterations"][..];
    for bad in [
        Bad {
            source: "import http from 'k6/http';\n\nexport default function () {\n  let = ;\n}\n",
            code: 107,
            says: &["SyntaxError", "bad.js:4:", "hint=\"script exception\""],
            not: none,
        },
        Bad {
            source: "import { a } from './broken.js';\nexport default function () { a }\n",
            code: 107,
            says: &["SyntaxError", "broken.js:2:"],
            not: none,
        },
        Bad {
            source: "// A comment.\nimport { x } from './gone.js';\nexport default x;\n",
            code: 107,
            says: &["gone.js", "bad.js:2:"],
            not: none,
        },
        Bad {
            source: "import { two } from './one.js';\nexport default function () { two }\n",
            code: 107,
            says: &["'two'", "one.js", "bad.js:1:"],
            not: none,
        },
        Bad {
            source: "import x from 'k6/nothing';\nexport default x;\n",
            code: 107,
            says: &["k6/nothing", "bad.js:1:"],
            not: none,
        },
        Bad {
            source: "const a = 1;\nthrow new Error('early');\n",
            code: 107,
            says: &["Error: early", "bad.js:2:"],
            not: none,
        },
        Bad {
            source: "export default 5;\n",
            code: 255,
            says: &["bad.js: no exported functions in script"],
            not: none,
        },
        Bad {
            source: "export const options = { duration: 'soon' };\nexport default function () {}\n",
            code: 104,
            says: &["duration"],
            not: none,
        },
        Bad {
            source: "export const options = { scenarios: { a: { executor: 'nonsense' } } };\nexport default function () {}\n",
            code: 104,
            says: &["scenario a", "nonsense"],
            not: none,
        },
    ] {
        bad.check(&scratch, "");
    }
}

/// A signal has no code; 101 is k6's for another thing.
#[test]
fn no_script_ends_the_process() {
    let scratch = Scratch::new("bad-process");
    let map = "throw new Error('x')\n//# sourceMappingURL=data:application/json,{\"version\":3,\"sources\":[\"a\"],\"mappings\":\"g\"}\n";
    let brackets = |count| {
        let (open, close) = ("(".repeat(count), ")".repeat(count));
        format!("let a =\n{open}1{close};\nexport default () => {{}}\n")
    };
    let deep = |call: &str| {
        format!(
            "import http from 'k6/http'; import {{ parseHTML }} from 'k6/html';
            const f = (k) => (k <= 0 ? ({call}, 0) : f(k - 1) + 1);
            export default () => {{ f(150) }}"
        )
    };
    let zstd = "http.post('http://127.0.0.1:1/', 'x'.repeat(300000), { compression: 'zstd' })";
    let selector = "parseHTML('<p>').find(':not('.repeat(100) + 'a' + ')'.repeat(100))";
    let cases: [(String, i32, &[&str]); 5] = [
        (map.to_owned(), 107, &["Error: x", "bad.js:1:"]),
        (brackets(100_000), 0, &[]),
        (brackets(1_000_000), 107, &["SyntaxError: nested too deep", "bad.js:2:"]),
        (deep(zstd), 0, &["connection refused"]),
        (deep(selector), 0, &[]),
    ];
    for (source, code, says) in cases {
        let path = scratch.file("bad.js", &source);
        let ran = run(&format!("run {path}"));
        assert_eq!(ran.code, Some(code), "{}: {ran:#?}", &source[..source.len().min(200)]);
        for says in says {
            assert!(ran.stderr.contains(says), "{says:?}: {}", ran.stderr);
        }
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
}

#[test]
fn what_throws_is_named_with_its_line_in_each_stage() {
    let scratch = Scratch::new("bad-throw");
    for bad in [
        Bad {
            source: "export function setup() {\n  throw new TypeError('no set-up');\n}\nexport default function () { console.log('began') }\nexport function teardown() { console.log('ended') }\n",
            code: 107,
            says: &["TypeError: no set-up", "bad.js:2:", "hint=\"script exception\""],
            not: &["began", "ended"],
        },
        Bad {
            source: "export default function () {\n  const none = null;\n  none.field;\n}\nexport function teardown() { console.log('ended') }\n",
            code: 0,
            says: &[
                "TypeError: ",
                "bad.js:3:",
                "executor=per-vu-iterations scenario=default source=stacktrace",
                "msg=ended",
            ],
            not: &[],
        },
        Bad {
            source: "export default async function () {\n  await Promise.reject(new Error('later'));\n}\n",
            code: 0,
            says: &["Error: later", "bad.js:2:", "source=stacktrace"],
            not: &[],
        },
        Bad {
            source: "export default function () {}\nexport function teardown() {\n  throw new Error('no end');\n}\n",
            code: 107,
            says: &["Error: no end", "bad.js:3:", "hint=\"script exception\""],
            not: &[],
        },
        Bad {
            source: "export default function () {}\nexport function handleSummary() {\n\n  throw new Error('no words');\n}\n",
            code: 0,
            says: &["Error: no words", "bad.js:4:", "hint=\"script exception\""],
            not: &[],
        },
    ] {
        let ran = bad.check(&scratch, "");
        assert!(ran.code == Some(107) || ran.stdout.contains("iterations"), "{}", ran.stdout);
    }
}

#[test]
fn what_takes_too_much_fails_its_iteration_and_the_run_goes_on() {
    let scratch = Scratch::new("bad-much");
    for bad in [
        Bad {
            source: "function deeper(n) {\n  return deeper(n + 1) + 1;\n}\nexport const options = { iterations: 2 };\nexport default function () { if (__ITER === 0) deeper(0); console.log('went on') }\n",
            code: 0,
            says: &["RangeError: ", "bad.js:2:", "source=stacktrace", "went on"],
            not: &[],
        },
        Bad {
            source: "export const options = { iterations: 2 };\nexport default function () {\n  if (__ITER === 0) new Array(1e9).fill(0);\n  console.log('went on');\n}\n",
            code: 0,
            says: &["out of memory", "bad.js:3:", "source=stacktrace", "went on"],
            not: &[],
        },
        Bad {
            source: "export const options = { iterations: 2 };\nexport default function () {\n  let text = 'x';\n  if (__ITER === 0) for (;;) text += text;\n  console.log('went on');\n}\n",
            code: 0,
            says: &["bad.js:4:", "source=stacktrace", "went on"],
            not: &[],
        },
        // A promise that can no longer be settled delays nothing, as in k6.
        Bad {
            source: "export const options = { iterations: 2 };\nexport default async function () {\n  console.log('waits', __ITER);\n  await new Promise(() => {});\n  console.log('never');\n}\n",
            code: 0,
            says: &["waits 0", "waits 1"],
            not: &["never", "stacktrace"],
        },
    ] {
        let ran = bad.check(&scratch, "");
        let counted = ran.stdout.contains("2 complete and 0 interrupted iterations");
        assert!(counted, "{}: {}", bad.source, ran.stdout);
    }
}

#[test]
fn other_vus_go_on_beside_one_that_throws() {
    let (served, url) = server(Config::default());
    let scratch = Scratch::new("bad-beside");
    let source = format!(
        "import http from 'k6/http';
        export const options = {{ scenarios: {{ s: {{ executor: 'per-vu-iterations', vus: 4, iterations: 5 }} }} }};
        export default function () {{
            if (__VU === 2) throw new Error('only me');
            if (http.get('{url}/').status !== 200) throw new Error('no answer');
        }}"
    );
    let path = scratch.file("bad.js", source);
    let ran = run(&format!("run {path}")).with_code(0);
    assert_eq!(ran.stderr.matches("Error: only me").count(), 5, "{}", ran.stderr);
    assert!(!ran.stderr.contains("no answer"), "{}", ran.stderr);
    assert_eq!(served.stats().requests, 15);
}

/// It catches all it can, and says when it has begun.
const ENDLESS: &str = "export default function () {
    console.log('begun');
    for (;;) { try { for (;;) {} } catch (e) {} }
}
export function teardown() { console.log('torn down') }
";

/// Starts a script that never ends by itself, gives it signals, and waits for its end; gives how long after the first that was.
fn interrupted(name: &str, options: &str, signals: usize) -> (Ran, Duration) {
    let scratch = Scratch::new(name);
    let source = format!("export const options = {options};\n{ENDLESS}");
    let path = scratch.file("bad.js", source);
    let log = scratch.path("log");
    let mut command = brunt(&format!("run --console-output {} {path}", log.display()));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = start(command);
    let begun = || std::fs::read_to_string(&log).is_ok_and(|text| text.contains("begun"));
    until("the script begins", begun);
    let began = Instant::now();
    // Each another: two of one kind that wait to be delivered are one.
    for name in ["INT", "TERM"].iter().take(signals) {
        signal(name, started.pid());
    }
    let mut ran = started.wait();
    ran.stderr.push_str(&std::fs::read_to_string(&log).unwrap());
    (ran, began.elapsed())
}

#[test]
fn an_endless_loop_ends_with_the_graceful_stop_after_an_interrupt() {
    let options =
        "{ scenarios: { a: { executor: 'constant-vus', duration: '10m', gracefulStop: '1s' } } }";
    let (ran, took) = interrupted("bad-endless-one", options, 1);
    let ran = ran.with_code(105);
    assert!((1.0..20.0).contains(&took.as_secs_f64()), "{took:?}");
    assert!(ran.stderr.contains("torn down"), "{}", ran.stderr);
    assert!(ran.stdout.contains("0 complete and 1 interrupted iterations"), "{}", ran.stdout);
}

#[test]
fn a_second_interrupt_ends_an_endless_loop_at_once() {
    let options = "{ scenarios: { a: { executor: 'constant-vus', vus: 2, duration: '10m', gracefulStop: '10m' } } }";
    let (ran, took) = interrupted("bad-endless-two", options, 2);
    let ran = ran.with_code(105);
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert!(ran.stderr.contains("torn down"), "{}", ran.stderr);
    assert!(ran.stdout.contains(" 0 complete and "), "{}", ran.stdout);
}

#[test]
fn time_ends_setup_that_goes_on_and_on() {
    let scratch = Scratch::new("bad-setup");
    let bad = Bad {
        source: "export const options = { setupTimeout: '1s' };
            export function setup() { for (;;) {} }
            export default function () { console.log('began') }",
        code: 100,
        says: &["setup() execution timed out after 1s"],
        not: &["began"],
    };
    bad.check(&scratch, "");
}
