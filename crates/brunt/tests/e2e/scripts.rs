//! `brunt run`: k6 scripts as their users write them, against real servers.

use std::process::Stdio;
use std::time::{Duration, Instant};

use demo::{Config, ServiceTime};

use crate::puma::Puma;
use crate::{Ran, Scratch, brunt, run, server, signal, start, text, until};

/// Runs a script of this text; `flags` stand before it.
fn ran(scratch: &Scratch, flags: &str, source: &str) -> Ran {
    let path = scratch.file("script.js", source);
    run(&format!("run {flags} {path}"))
}

fn export(scratch: &Scratch) -> serde_json::Value {
    let text = std::fs::read_to_string(scratch.path("summary.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Seed 001's post.js but for its URL and its times.
const POST: &str = r#"
import http from "k6/http";
import { check, sleep } from "k6";
import { randomIntBetween } from "https://jslib.k6.io/k6-utils/1.1.0/index.js";

const POST_URL = __ENV.POST_URL || "http://127.0.0.1:1/";

export let options = {
  discardResponseBodies: true,
  thresholds: {
    checks: ["rate>0.99"],
  },
  scenarios: {
    post: {
      executor: "ramping-vus",
      startVUs: 5,
      stages: [
        { duration: `2s`, target: 10 },
        { duration: `1s`, target: 0 },
      ],
    },
  },
};

export default function () {
  let res = http.get(POST_URL);
  check(res, { "success login": (r) => r.status === 200 });

  sleep(randomIntBetween(5, 10) / 20);
}
"#;

#[test]
fn the_seeds_post_script_runs_against_puma_and_ends_by_its_threshold() {
    let app = "run ->(env) { [env['PATH_INFO'] == '/' ? 200 : 404, { 'content-type' => 'text/html' }, ['x' * 2000]] }\n";
    let puma = Puma::start("run-puma", app, "0:5");
    let scratch = Scratch::new("run-post");
    let url = format!("http://127.0.0.1:{}/", puma.port);
    let good = ran(&scratch, &format!("-e POST_URL={url}"), POST).with_code(0);
    for line in [
        "✓ 'rate>0.99' rate=100.00%",
        "checks_succeeded...: 100.00%",
        "✓ success login",
        "http_req_failed................: 0.00%",
    ] {
        assert!(good.stdout.contains(line), "{line}: {}", good.stdout);
    }
    let bad = ran(&scratch, &format!("-e POST_URL={url}missing"), POST).with_code(99);
    assert!(bad.stdout.contains("✗ 'rate>0.99' rate=0.00%"), "{}", bad.stdout);
    assert!(
        bad.stderr.contains("thresholds on metrics 'checks' have been crossed"),
        "{}",
        bad.stderr
    );
}

#[test]
fn what_was_done_is_counted() {
    let (served, url) = server(Config::default());
    let scratch = Scratch::new("run-counts");
    let source = format!(
        "import http from 'k6/http'; import {{ check, group }} from 'k6'; import {{ Counter }} from 'k6/metrics';
        const mine = new Counter('mine');
        export const options = {{ vus: 4, iterations: 40 }};
        export function setup() {{ return {{ url: '{url}' }} }}
        export default function (data) {{
            const res = http.get(`${{data.url}}/a?${{__VU}}`, {{ tags: {{ kind: 'page' }} }});
            group('checks', () => check(res, {{ ok: (r) => r.status === 200 && r.body.length > 0 }}));
            mine.add(2);
        }}
        export function teardown(data) {{ console.log('down', data) }}"
    );
    let summary = text(&scratch.path("summary.json"));
    let ran = ran(&scratch, &format!("-summary-export={summary}"), &source).with_code(0);
    let lines = format!("msg=\"down {{ url: \\\"{url}\\\" }}\" source=console");
    assert!(ran.stderr.contains(&lines), "{}", ran.stderr);
    let json = export(&scratch);
    for (metric, field, count) in [
        ("iterations", "count", 40),
        ("http_reqs", "count", 40),
        ("mine", "count", 80),
        ("checks", "passes", 40),
    ] {
        assert_eq!(json["metrics"][metric][field], count, "{metric}: {json}");
    }
    assert_eq!(json["root_group"]["groups"]["checks"]["checks"]["ok"]["passes"], 40);
    assert_eq!(served.stats().requests, 40);
}

#[test]
fn submetrics_and_redirects_are_seen() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("run-tags");
    let source = format!(
        "import http from 'k6/http';
        export const options = {{ thresholds: {{
            'http_reqs{{kind:odd}}': ['count==1'], 'http_reqs{{kind:even}}': ['count==2'], 'http_reqs{{status:302}}': ['count==1'] }} }};
        export default function () {{
            http.get('{url}/1', {{ tags: {{ kind: 'odd' }} }});
            http.get('{url}/2', {{ tags: {{ kind: 'even' }} }});
            http.get('{url}/3', {{ tags: {{ kind: 'even' }} }});
            const end = http.get('{url}/redirect/1');
            if (end.status !== 200 || !end.url.endsWith('/redirect/0')) throw new Error(end.status + end.url);
            if (http.get('{url}/redirect/1', {{ redirects: 0 }}).status !== 302) throw new Error('followed');
        }}"
    );
    let ran = ran(&scratch, "", &source);
    assert_eq!(
        (ran.code, ran.stderr.contains("stacktrace")),
        (Some(99), false),
        "{} {}",
        ran.stdout,
        ran.stderr
    );
    assert!(
        ran.stdout.contains("✓ 'count==1' count=1") && ran.stdout.contains("✓ 'count==2' count=2"),
        "{}",
        ran.stdout
    );
    // Two hops redirected: the threshold of one is crossed.
    assert!(ran.stdout.contains("✗ 'count==1' count=2"), "{}", ran.stdout);
}

#[test]
fn what_is_wrong_ends_with_k6s_codes() {
    let scratch = Scratch::new("run-wrong");
    for (source, code, expect) in [
        ("export default function () {", 107, "SyntaxError"),
        ("import x from './gone.js'; export default x", 107, "gone.js"),
        ("import x from '../outside.js'; export default x", 107, "outside.js"),
        ("throw new Error('early')", 107, "Error: early"),
        (
            "export function setup() { throw new Error('no set-up') } export default function () {}",
            107,
            "Error: no set-up",
        ),
        ("export const options = { vus: 'many' }; export default function () {}", 104, "vus"),
        (
            "export const options = { thresholds: { checks: ['rate>>1'] } }; export default function () {}",
            104,
            "rate>>1",
        ),
        (
            "export const options = { thresholds: { nothing: ['rate>1'] } }; export default function () {}",
            104,
            "no such metric",
        ),
        ("export function other() {}", 104, "function 'default' not found"),
        ("export const a = 1", 255, "no exported functions in script"),
        (
            "export const options = { vus: Number('x'), duration: '1s' }; export default function () {}",
            255,
            "error parsing script options: json: unsupported value: NaN",
        ),
        (
            "export default function () { throw new Error('in an iteration') }",
            0,
            "Error: in an iteration",
        ),
        (
            "export const options = { thresholds: { http_req_duration: ['p(95)<500'] } }; export default function () {}",
            99,
            "have been crossed",
        ),
    ] {
        let ran = ran(&scratch, "", source);
        assert_eq!(ran.code, Some(code), "{source}: {}", ran.stderr);
        assert!(ran.stderr.contains(expect), "{source}: {}", ran.stderr);
    }
    let where_ =
        ran(&scratch, "", "export default function () {\n  undefinedName();\n}").with_code(0);
    assert!(where_.stderr.contains("script.js:2:"), "{}", where_.stderr);
}

#[test]
fn an_arrival_rate_is_kept_and_what_finds_no_user_is_dropped() {
    let service = ServiceTime::parse("fixed:400ms").unwrap();
    let (_served, url) = server(Config { workers: 16, service, ..Config::default() });
    let scratch = Scratch::new("run-arrivals");
    let source = |vus: u32| {
        format!(
            "import http from 'k6/http';
            export const options = {{ scenarios: {{ a: {{ executor: 'constant-arrival-rate', rate: 20, duration: '2s', preAllocatedVUs: {vus} }} }} }};
            export default function () {{ http.get('{url}/') }}"
        )
    };
    let summary = text(&scratch.path("summary.json"));
    let counts = |vus: u32| {
        ran(&scratch, &format!("-summary-export={summary}"), &source(vus)).with_code(0);
        let json = export(&scratch);
        let count = |name: &str| json["metrics"][name]["count"].as_u64().unwrap_or(0);
        (count("iterations"), count("dropped_iterations"))
    };
    // 20 a second of 400 ms each keep 8 users busy, and more of them after the machine stood still.
    assert_eq!(counts(30), (40, 0));
    let (done, dropped) = counts(2);
    assert_eq!(done + dropped, 40);
    assert!((8..=14).contains(&done), "{done}");
}

/// Issue 41: a form left an exception behind, which ended the next VU that was made, and the test with it.
#[test]
fn users_are_made_after_a_form_was_sent() {
    let service = ServiceTime::parse("fixed:200ms").unwrap();
    let (_served, url) = server(Config { workers: 64, service, ..Config::default() });
    let scratch = Scratch::new("run-forms");
    let source = format!(
        "import http from 'k6/http';
        export const options = {{ scenarios: {{ a: {{ executor: 'constant-arrival-rate', rate: 30, duration: '1s', preAllocatedVUs: 1, maxVUs: 60 }} }} }};
        export default function () {{ http.post('{url}/', {{ name: 'kay' }}) }}"
    );
    ran(&scratch, "", &source).with_code(0);
}

#[test]
fn an_interrupt_lets_iterations_end_and_tears_down() {
    let scratch = Scratch::new("run-interrupt");
    let source = "import { sleep } from 'k6';
        export const options = { vus: 2, duration: '1m' };
        export default function () { console.log('begun'); sleep(0.5) }
        export function teardown() { console.error('torn down') }";
    let path = scratch.file("script.js", source);
    let log = scratch.path("log");
    let mut command = brunt(&format!("run --console-output {} {path}", log.display()));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let began = Instant::now();
    let started = start(command);
    let logged = |text: &str| std::fs::read_to_string(&log).is_ok_and(|log| log.contains(text));
    until("an iteration begins", || logged("begun"));
    signal("INT", started.pid());
    let ran = started.wait().with_code(105);
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(logged("torn down"), "{}", ran.stderr);
    assert!(ran.stdout.contains(" 0 interrupted iterations"), "{}", ran.stdout);
}

#[test]
fn a_summary_that_cannot_be_written_is_refused_before_the_test() {
    let scratch = Scratch::new("run-export");
    let source = "export default function () { console.log('ran') }";
    let ran = ran(&scratch, "-summary-export=/nowhere/at/all.json", source).with_code(1);
    assert!(
        ran.stderr.contains("/nowhere/at/all.json") && !ran.stderr.contains("ran\""),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_scenario_that_is_over_interrupts_no_other() {
    let scratch = Scratch::new("run-two");
    let source = "import { sleep } from 'k6';
        export const options = { scenarios: {
            short: { executor: 'constant-vus', duration: '1s', gracefulStop: '0s', exec: 'nap' },
            long: { executor: 'per-vu-iterations', exec: 'work' } } };
        export function nap() { sleep(0.1) }
        export function work() { sleep(2); let n = 0; for (let i = 0; i < 3e6; i++) n += i; console.log('worked', n) }";
    let ran = ran(&scratch, "-cpus 1", source).with_code(0);
    assert!(ran.stderr.contains("worked 4499998500000"), "{}", ran.stderr);
}

#[test]
fn time_ends_what_goes_on_and_on() {
    let scratch = Scratch::new("run-endless");
    let endless = "export const options = { scenarios: { a: { executor: 'constant-vus', duration: '1s', gracefulStop: '0s' } } };
        export default function () { for (;;) { try { for (;;) {} } catch (e) {} } }";
    let asleep = "import { sleep } from 'k6';
        export const options = { scenarios: { a: { executor: 'constant-vus', duration: '1s', gracefulStop: '0s' } } };
        export default function () { sleep(60) }";
    for (source, interrupted) in [(endless, ""), (asleep, "1 interrupted iterations")] {
        let began = Instant::now();
        let ran = ran(&scratch, "", source).with_code(0);
        assert!(began.elapsed() < Duration::from_secs(15), "{source}");
        assert!(ran.stdout.contains(interrupted), "{}", ran.stdout);
    }
}
