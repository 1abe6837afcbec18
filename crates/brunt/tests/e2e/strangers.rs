//! `brunt run`, `inspect` and `archive` with scripts as strangers write them for k6: what it loads, judges, says and ends with.

use std::os::unix::fs::symlink;

use crate::{Ran, Scratch, brunt, run, start, text};

/// Runs a script of this text; `flags` stand before it.
fn ran(scratch: &Scratch, flags: &str, source: &str) -> Ran {
    let path = scratch.file("script.js", source);
    run(&format!("run {flags} {path}"))
}

/// The lines of the log.
fn warnings(ran: &Ran) -> Vec<&str> {
    ran.stderr.lines().filter(|line| line.contains("level=warning")).collect()
}

/// The usual layout: the script below `tests`, what it needs beside that folder.
fn project(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    for folder in ["project/tests", "project/lib", "project/data"] {
        std::fs::create_dir_all(scratch.path(folder)).unwrap();
    }
    scratch.file("outside.js", "export const a = 'outside'");
    scratch.file("project/lib/config.js", "export const B = 'base'");
    scratch.file("project/data/x.json", "{\"n\":1}");
    scratch.file(
        "project/tests/load.js",
        "import { B } from '../lib/config.js'; const data = open('../data/x.json');
        export default function () { console.log(B, data) }",
    );
    scratch
}

#[test]
fn a_script_reads_its_project_and_an_archive_holds_what_was_read() {
    let scratch = project("strangers-project");
    let script = text(&scratch.path("project/tests/load.js"));
    // Without a mark the project is what static imports span; a file that is opened widens nothing.
    let source = "open('../data/x.json'); export default function () {}";
    let alone = scratch.file("project/tests/alone.js", source);
    let refused = run(&format!("run {alone}")).with_code(107);
    assert!(refused.stderr.contains("(see --allow-read)"), "{}", refused.stderr);
    run(&format!("run {script}")).with_code(0);
    // The working folder is as good as a mark.
    let within = |folder: &str| {
        let mut command = brunt("run tests/load.js");
        command.current_dir(scratch.path(folder));
        start(command).wait()
    };
    assert!(within("project").with_code(0).stderr.contains("base {\\\"n\\\":1}"));
    std::fs::create_dir(scratch.path("project/.git")).unwrap();
    let seen = run(&format!("run {script}")).with_code(0);
    assert!(seen.stderr.contains("base {\\\"n\\\":1}"), "{}", seen.stderr);
    run(&format!("inspect {script}")).with_code(0);
    let archive = text(&scratch.path("all.tar"));
    run(&format!("archive -O {archive} {script}")).with_code(0);
    std::fs::remove_dir_all(scratch.path("project")).unwrap();
    let again = run(&format!("run {archive}")).with_code(0);
    assert!(again.stderr.contains("base {\\\"n\\\":1}"), "{}", again.stderr);
}

#[test]
fn what_lies_outside_of_the_project_is_refused_unless_it_is_allowed() {
    let scratch = project("strangers-outside");
    scratch.file("project/package.json", "{}");
    symlink(scratch.path("outside.js"), scratch.path("project/lib/link.js")).unwrap();
    let root = text(&scratch.path(""));
    for (module, command) in [
        ("../../outside.js", "run"),
        ("../lib/link.js", "run"),
        ("../../outside.js", "inspect"),
        ("../lib/link.js", "archive -O /dev/null"),
    ] {
        let source = format!("import {{ a }} from '{module}'; export default function () {{ a }}");
        let script = scratch.file("project/tests/out.js", source);
        let refused = run(&format!("{command} {script}")).with_code(107);
        let expect = format!("it is not below the script's project, {root}project (see");
        assert!(refused.stderr.contains(&expect), "{module}: {}", refused.stderr);
        run(&format!("{command} --allow-read {root} {script}")).with_code(0);
    }
}

#[test]
fn an_empty_list_of_thresholds_makes_its_submetric() {
    let scratch = Scratch::new("strangers-empty");
    let source = "import { Trend } from 'k6/metrics'; const t = new Trend('my_t');
        export const options = { thresholds: { 'my_t{name:a}': [], 'http_req_duration{name:z}': [] } };
        export default function () { t.add(5, { name: 'a' }) }";
    let summary = text(&scratch.path("summary.json"));
    let told = ran(&scratch, &format!("--summary-export {summary}"), source).with_code(0);
    for line in ["  { name:a }", "http_req_duration.", "  { name:z }"] {
        assert!(told.stdout.contains(line), "{line}: {}", told.stdout);
    }
    assert!(!told.stdout.contains("THRESHOLDS"), "{}", told.stdout);
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(summary).unwrap()).unwrap();
    assert_eq!(json["metrics"]["my_t{name:a}"]["max"], 5, "{json}");
    assert_eq!(json["metrics"]["http_req_duration{name:z}"]["max"], 0, "{json}");
    let own = format!(
        "{source}
        export function handleSummary(data) {{ return {{ stdout: Object.keys(data.metrics).join() }} }}"
    );
    let told = ran(&scratch, "", &own).with_code(0);
    for name in ["my_t{name:a}", "http_req_duration{name:z}"] {
        assert!(told.stdout.contains(name), "{name}: {}", told.stdout);
    }
    let unwatched = ran(&scratch, "--no-thresholds", source).with_code(0);
    assert!(!unwatched.stdout.contains("http_req_duration"), "{}", unwatched.stdout);
    let unknown =
        "export const options = { thresholds: { 'nope{a:b}': [] } }; export default () => {}";
    ran(&scratch, "", unknown).with_code(104).complains_once(&["nope{a:b}"]);
}

#[test]
fn an_async_function_that_rejects_ends_with_255() {
    let scratch = Scratch::new("strangers-rejects");
    for (stage, code, summary) in
        [("setup", 255, true), ("teardown", 255, true), ("handleSummary", 0, false)]
    {
        let source = format!(
            "export default function () {{}}
            export async function {stage}() {{ throw new Error('no') }}"
        );
        let rejected = ran(&scratch, "", &source).with_code(code);
        rejected.complains_once(&["Uncaught (in promise) Error: no", "script.js:2:"]);
        assert!(!rejected.stderr.contains("hint="), "{stage}: {}", rejected.stderr);
        let told = rejected.stdout.contains("TOTAL RESULTS");
        assert_eq!(told, summary, "{stage}: {}", rejected.stdout);
    }
}

#[test]
fn warnings_are_k6s() {
    let scratch = Scratch::new("strangers-warnings");
    let scenarios =
        "export const options = { scenarios: { a: { executor: 'per-vu-iterations' } } };
        export default function () {}";
    let overrode =
        |tier: &str| format!("msg=\"\\\"{tier}\\\" level configuration overrode scenarios");
    let told = ran(&scratch, "-i 2", scenarios).with_code(0);
    assert!(warnings(&told).len() == 1 && told.stderr.contains(&overrode("cli")), "{told:#?}");
    let mut command = brunt(&format!("run {}", text(&scratch.path("script.js"))));
    command.env("K6_ITERATIONS", "2").env("K6_VU", "2");
    let told = start(command).wait().with_code(0);
    assert!(warnings(&told).len() == 2 && told.stderr.contains(&overrode("env")), "{told:#?}");
    assert!(told.stderr.contains("variable K6_VU is none that brunt knows"));
    for (options, expect) in [
        ("vus: 1", &[][..]),
        ("vus: 2", &["`vus=2` option will be ignored"]),
        ("stages: []", &["`stages` was explicitly set to an empty value"]),
        (
            "strange: 1",
            &["options exported in the script\" error=\"json: unknown field \\\"strange\\\"\""],
        ),
    ] {
        let source = format!("export const options = {{ {options} }}; export default () => {{}}");
        let told = ran(&scratch, "", &source).with_code(0);
        assert_eq!(warnings(&told).len(), expect.len(), "{options}: {}", told.stderr);
        expect.iter().for_each(|text| assert!(told.stderr.contains(text), "{}", told.stderr));
    }
    let endless = "export const options = { scenarios: { a: { executor: 'constant-vus', duration: '1s', gracefulStop: '0s' } } };
        export default function () { for (;;) {} }";
    let told = ran(&scratch, "", endless).with_code(0);
    assert!(told.stderr.contains("No script iterations fully finished"), "{}", told.stderr);
}

#[test]
fn an_old_module_gives_one_warning() {
    let scratch = Scratch::new("strangers-once");
    let source = "import 'k6/experimental/websockets';
        export const options = { iterations: 2 };
        export function setup() {} export default function () {} export function teardown() {}
        export function handleSummary() { return {} }";
    ran(&scratch, "", source).with_code(0).complains_once(&["is deprecated"]);
}

#[test]
fn summaries_that_cannot_be_written_give_one_line() {
    let scratch = Scratch::new("strangers-lost");
    let kept = text(&scratch.path("kept.txt"));
    let source = format!(
        "export default function () {{}}
        export function handleSummary() {{
            return {{ stdout: 'told', '{root}/gone/a.txt': 'a', '{root}/gone/b.txt': 'b', '{kept}': 'c' }} }}",
        root = text(&scratch.0)
    );
    let told = ran(&scratch, "", &source).with_code(0);
    let gone = |name: &str| {
        let path = format!("{}/gone/{name}", text(&scratch.0));
        format!("\\n\\t- could not open '{path}': open {path}: no such file or directory")
    };
    let error = format!(
        "msg=\"failed to handle the end-of-test summary\" error=\"Could not save some summary information:{}{}\"",
        gone("a.txt"),
        gone("b.txt")
    );
    told.complains_once(&[&error]);
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "c");
}

#[test]
fn a_scripts_own_options_are_inspected_as_k6_writes_them() {
    let scratch = Scratch::new("strangers-inspect");
    let source = "export const options = { vus: 2, duration: '60s', cloud: { a: 1 },
            thresholds: { checks: [{ threshold: 'rate>0.5', abortOnFail: false }] } };
        export default function () {}";
    let path = scratch.file("script.js", source);
    let own = run(&format!("inspect {path}")).with_code(0);
    let begin = "{\n  \"paused\": null,\n  \"vus\": 2,\n  \"duration\": \"1m0s\",\n  \"iterations\": null,\n  \"stages\": null,\n  \"scenarios\": null,\n";
    assert!(own.stdout.starts_with(begin), "{}", own.stdout);
    for part in [
        "  \"dns\": {\n    \"ttl\": null,\n    \"select\": null,\n    \"policy\": null\n  },\n",
        "    \"checks\": [\n      \"rate\\u003e0.5\"\n    ]\n",
        "  \"cloud\": {\n    \"a\": 1\n  },\n  \"ext\": null,\n",
        "  \"systemTags\": null,\n",
    ] {
        assert!(own.stdout.contains(part), "{part}: {}", own.stdout);
    }
    assert!(own.stdout.ends_with("\"discardResponseBodies\": null\n}\n"), "{}", own.stdout);
    let whole = run(&format!("inspect --execution-requirements {path}")).with_code(0);
    assert!(whole.stdout.ends_with(",\n  \"totalDuration\": \"1m30s\",\n  \"maxVUs\": 2\n}\n"));
    assert_eq!(whole.json()["scenarios"]["default"]["executor"], "constant-vus");
    assert_eq!(whole.json()["systemTags"][0], "check");
    let told = "import exec from 'k6/execution';
        export const options = { iterations: 1, thresholds: { checks: [{ threshold: 'rate>=0', abortOnFail: false }] } };
        export default function () {
            console.log(Object.keys(exec.test.options).join());
            console.log(JSON.stringify(exec.test.options.thresholds), JSON.stringify(exec.test.options.dns)) }";
    let told = ran(&scratch, "--compat", told).with_code(0);
    assert!(told.stderr.contains("msg=\"paused,scenarios,executionSegment,"), "{}", told.stderr);
    assert!(told.stderr.contains(",consoleOutput,localIPs\""), "{}", told.stderr);
    assert!(told.stderr.contains("{\\\"checks\\\":[\\\"rate>=0\\\"]} {\\\"ttl\\\":null,"));
}

#[test]
fn what_is_no_url_is_neither_sent_nor_counted() {
    let scratch = Scratch::new("strangers-urls");
    let source = "import http from 'k6/http'; import ws from 'k6/ws'; import { check } from 'k6';
        export const options = { thresholds: { http_reqs: ['count==1'], ws_sessions: ['count==2'], ws_session_duration: ['max>=0'] } };
        export default function () {
            for (const url of ['<%= @url %>', '127.0.0.1:9/x', 'undefined/x']) {
                const r = http.get(url); console.log(url, r.error_code, r.error) }
            for (const url of ['undefined/ws', 'ws://a b/']) {
                const r = ws.connect(url, {}, () => {}); console.log(url, JSON.stringify(r)) }
            console.log('went on') }";
    let told = ran(&scratch, "", source).with_code(0);
    for line in [
        "<%= @url %> 1020 invalid URL: parse \\\"<%= @url %>\\\": invalid URL escape \\\"%= \\\"",
        "127.0.0.1:9/x 1020 invalid URL: parse \\\"127.0.0.1:9/x\\\": first path segment in URL cannot contain colon",
        "undefined/x 1000 unsupported protocol scheme",
        "undefined/ws {\\\"url\\\":\\\"\\\",\\\"status\\\":0,\\\"headers\\\":{},\\\"body\\\":\\\"\\\",\\\"error\\\":\\\"malformed ws or wss URL\\\"}",
        "invalid character \\\\\\\" \\\\\\\" in host name",
        "msg=\"went on\"",
    ] {
        assert!(told.stderr.contains(line), "{line}: {}", told.stderr);
    }
}

#[test]
fn a_test_that_is_aborted_says_where_and_setup_has_no_teardown() {
    let scratch = Scratch::new("strangers-abort");
    let source = |setup: &str, body: &str| {
        format!(
            "import exec from 'k6/execution';
            export function setup() {{ {setup} }}
            export default function () {{ {body} }}
            export function teardown() {{ console.log('down') }}"
        )
    };
    let early = ran(&scratch, "", &source("exec.test.abort('no')", "")).with_code(108);
    early.complains_once(&["msg=\"test aborted: no\""]);
    let late = ran(&scratch, "", &source("", "exec.test.abort('bye')")).with_code(108);
    assert!(late.stderr.contains("msg=down"), "{}", late.stderr);
    let path = text(&scratch.path("script.js"));
    let place = format!("msg=\"test aborted: bye at default (file://{path}:3:");
    assert!(late.stderr.contains(&place), "{}", late.stderr);
    let top = "import exec from 'k6/execution';\nexec.test.abort('top');\nexport default () => {}";
    let top = ran(&scratch, "", top).with_code(108);
    assert!(top.stderr.contains("test aborted: top at "), "{}", top.stderr);
    for command in ["inspect", "archive -O /dev/null"] {
        let path = scratch.file("script.js", "export const a = 1");
        run(&format!("{command} {path}")).with_code(255).complains_once(&["no exported functions"]);
    }
    // What is shown is the script as it is; what is kept has to run.
    let path = scratch.file("script.js", "export function other() {}");
    run(&format!("inspect {path}")).with_code(0);
    for command in ["inspect --execution-requirements", "archive -O /dev/null"] {
        run(&format!("{command} {path}")).with_code(104).complains_once(&["'default' not found"]);
    }
}

/// A threshold that ended the test is crossed, whatever `teardown` adds to its metric.
#[test]
fn a_test_that_a_threshold_ended_has_crossed_it() {
    let scratch = Scratch::new("strangers-abort");
    let script = "import { sleep } from 'k6'; import { Rate } from 'k6/metrics'; const good = new Rate('good');
        export const options = { vus: 1, duration: '30s',
            thresholds: { good: [{ threshold: 'rate>0.5', abortOnFail: true }] } };
        export default function () { good.add(false); sleep(0.1) }
        export function teardown() { for (let i = 0; i < 1000; i++) good.add(true) }";
    let ran = run(&format!("run {}", scratch.file("script.js", script))).with_code(99);
    assert!(ran.stderr.contains("a threshold with abortOnFail was crossed"), "{}", ran.stderr);
}

/// A VU has no stack for the parser: what did not compile at first is not tried again there, and leaves its limits as they are.
#[test]
fn a_module_that_does_not_compile_leaves_the_stack_its_limit() {
    let scratch = Scratch::new("strangers-uncompiled");
    scratch.file("bad.js", "export const = 1");
    let script =
        "let known = 'nothing'; try { require('./bad.js') } catch (error) { known = error.name }
        export const options = { vus: 2, iterations: 2 };
        export default function () {
            try { (function f() { f() })() } catch (error) { console.log(`${known} ${error.name}`) }
        }";
    let ran = run(&format!("run {}", scratch.file("script.js", script))).with_code(0);
    assert_eq!(ran.stderr.matches("Error RangeError").count(), 2, "{}", ran.stderr);
}
