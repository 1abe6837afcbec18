//! `brunt run`: output beside the figures: parts in the full summary, names in results, options in the script.

use demo::Config;

use crate::{Scratch, run, server};

#[test]
fn the_scripts_own_options_show_what_counts() {
    let scratch = Scratch::new("tells-options");
    let source = "import exec from 'k6/execution';
        export const options = { vus: 5, iterations: 10, userAgent: 'mine', tags: { a: 'b' } };
        console.log('init', options.vus);
        export function setup() { console.log('setup', options.vus, options.rps) }
        export default function () {
            console.log('iteration', options.vus, options.iterations, options.rps, options.userAgent, options.tags.a, options.maxRedirects);
            console.log('told', exec.test.options.rps, exec.test.options.scenarios.default.iterations);
        }";
    let path = scratch.file("script.js", source);
    let ran = run(&format!("run -u 1 --iterations 1 --rps 50 {path}")).with_code(0);
    for line in [
        "setup 1 50",
        "iteration 1 1 50 mine b undefined",
        "told 50 1",
        // What the modules see is what the script says.
        "init 5",
    ] {
        assert!(ran.stderr.contains(&format!("msg=\"{line}\"")), "{line}: {}", ran.stderr);
    }
    let frozen = "export const options = Object.freeze({ vus: 2, iterations: 2 });
        export default function () { console.log(options.vus) }";
    let path = scratch.file("script.js", frozen);
    let ran = run(&format!("run -u 1 --iterations 1 {path}")).with_code(0);
    assert!(ran.stderr.contains("msg=2"), "one that is frozen stays: {}", ran.stderr);
}

#[test]
fn a_full_summary_lists_scenarios_and_groups() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("tells-full");
    let source = format!(
        "import http from 'k6/http'; import {{ check, group }} from 'k6';
        export const options = {{ scenarios: {{
            buy: {{ executor: 'per-vu-iterations', vus: 2, exec: 'buy' }},
            look: {{ executor: 'shared-iterations', vus: 1, iterations: 3, exec: 'look' }} }} }};
        export function setup() {{ http.get('{url}/setup') }}
        export function look() {{ check(http.get('{url}/'), {{ seen: (r) => r.status === 200 }}) }}
        export function buy() {{ group('cart', () => {{
            http.get('{url}/cart');
            group('pay', () => check(http.get('{url}/pay'), {{ paid: () => false }})) }}) }}"
    );
    let path = scratch.file("script.js", source);
    let ran = run(&format!("run --summary-mode=full {path}")).with_code(0);
    let begins = ["█", "↳ GROUP", "http_reqs", "✓ seen", "✗ paid"];
    let lines = ran.stdout.lines().map(str::trim);
    let told: Vec<String> = lines
        .filter(|line| begins.iter().any(|begin| line.starts_with(begin)))
        .map(|line| line.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
        // The third word of a line of figures is a rate.
        .map(|line| match line.split_once(": ") {
            Some((name, rest)) if name.starts_with("http_reqs") => {
                format!("{} {}", name.trim_end_matches('.'), rest.split(' ').next().unwrap())
            }
            _ => line,
        })
        .collect();
    let expect = [
        "█ TOTAL RESULTS",
        "✗ paid",
        "✓ seen",
        "http_reqs 8",
        "█ GROUP: setup",
        "http_reqs 1",
        "█ SCENARIO: buy",
        "✗ paid",
        "http_reqs 4",
        "↳ GROUP: cart",
        "http_reqs 2",
        "↳ GROUP: pay",
        "✗ paid",
        "http_reqs 2",
        "█ SCENARIO: look",
        "✓ seen",
        "http_reqs 3",
    ];
    let mut sorted = told.clone();
    // Which check is seen first is chance.
    if told.get(1).is_some_and(|first| first == "✓ seen") {
        sorted.swap(1, 2);
    }
    assert_eq!(sorted, expect, "{}", ran.stdout);
    let compact = run(&format!("run {path}")).with_code(0);
    assert!(!compact.stdout.contains("GROUP"), "{}", compact.stdout);
}

#[test]
fn results_have_the_requests_and_their_names() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("tells-names");
    let source = format!(
        "import http from 'k6/http';
        export const options = {{ iterations: 3 }};
        export default function () {{
            http.get(http.url`{url}/item/${{__ITER}}`);
            http.post('{url}/cart', 'x', {{ tags: {{ name: 'into the cart' }} }});
            http.get('{url}/plain');
        }}"
    );
    let path = scratch.file("script.js", source);
    for file in ["results.bin", "results.parquet"] {
        let results = scratch.path(file).display().to_string();
        run(&format!("run -o {results} {path}")).with_code(0);
        let named = run(&format!("report -by=name {results}")).with_code(0);
        for name in [&format!("{url}/item/${{}}"), "into the cart", "(unnamed)"] {
            assert!(named.stdout.contains(name), "{name} of {file}: {}", named.stdout);
        }
        let asked = run(&format!("report -by=target {results}")).with_code(0);
        for target in ["GET {url}/item/0", "GET {url}/item/2", "POST {url}/cart", "GET {url}/plain"]
        {
            let target = target.replace("{url}", &url);
            assert!(asked.stdout.contains(&target), "{target} of {file}: {}", asked.stdout);
        }
    }
}

/// Rates and durations count from the beginning of `setup` to the end of `teardown`, and VUs are seen meanwhile, as k6 1.8.1 has it.
#[test]
fn setup_and_teardown_are_part_of_the_test() {
    let scratch = Scratch::new("tells-setup");
    let body = "export default function () { console.log('iteration', exec.instance.currentTestRunDuration >= 1400); sleep(0.05) }
        export function handleSummary(data) {
            const { state, metrics: { vus, vus_max } } = data;
            console.log('state', state.testRunDurationMs >= 1500, JSON.stringify(vus.values), JSON.stringify(vus_max.values)) }";
    let source = |stages: &str, limit: &str| {
        format!(
            "import {{ sleep }} from 'k6'; import exec from 'k6/execution';
            export const options = {{ vus: 1, iterations: 4, thresholds: {{ iterations: ['rate>{limit}'] }} }};
            {stages} {body}"
        )
    };
    let setup = "export function setup() { sleep(1.4); console.log('setup', exec.instance.vusInitialized, exec.instance.vusActive) }";
    let path = scratch.file("script.js", source(setup, "3"));
    let ran = run(&format!("run {path}")).with_code(99);
    let values = |of: u32| format!(r#"{{\"max\":{of},\"min\":{of},\"value\":{of}}}"#);
    let state = format!("state true {} {}", values(0), values(1));
    for line in ["setup 1 0", "iteration true", &state] {
        assert!(ran.stderr.contains(&format!("msg=\"{line}")), "{line}: {}", ran.stderr);
    }
    assert!(ran.stderr.contains("thresholds on metrics 'iterations' have been crossed"));
    assert!(ran.stdout.contains("running (00m0"), "{}", ran.stdout);
    let path = scratch.file("script.js", source("export function teardown() { sleep(1.4) }", "3"));
    let ran = run(&format!("run {path}")).with_code(99);
    assert!(ran.stderr.contains(&state), "{}", ran.stderr);
    // Without either the same iterations are fast enough, and the test is too short for anybody to see its VUs.
    let short = source("", "3").replace("const { state", "return {}; const { state");
    run(&format!("run {}", scratch.file("script.js", &short))).with_code(0);
}

/// The number of active users of a script is unknown, so Little's law is not checked.
#[test]
fn users_of_a_script_are_held_to_no_law() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("tells-law");
    let source = format!(
        "import http from 'k6/http'; import {{ sleep }} from 'k6';
        export const options = {{ vus: 4, iterations: 8 }};
        export default function () {{ http.get('{url}/'); sleep(0.1) }}"
    );
    let path = scratch.file("script.js", &source);
    let results = scratch.path("results.arrow").display().to_string();
    run(&format!("run -o {results} {path}")).with_code(0);
    let text = run(&format!("report {results}")).with_code(0);
    assert!(!text.stdout.contains("Concurrency"), "{}", text.stdout);
    assert!(text.stdout.contains("by up to 4 users"), "{}", text.stdout);
    let json = run(&format!("report -type=json {results}")).with_code(0);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let json = &json["brunt"];
    assert!(json["little"].is_null() && json["generator"]["self_paced"] == true, "{json}");
    let html = run(&format!("report -type=html {results}")).with_code(0);
    assert!(!html.stdout.contains("Users asked for"));
    // Those of a closed loop do nothing but ask.
    let looped = scratch.path("loop.arrow").display().to_string();
    run(&format!("bench -n 20 -c 2 -output={looped} {url}/")).with_code(0);
    let text = run(&format!("report {looped}")).with_code(0);
    assert!(text.stdout.contains("Concurrency"), "{}", text.stdout);
}

#[test]
fn sending_what_does_not_go_out_at_once_takes_time() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("tells-sending");
    let source = format!(
        "import http from 'k6/http';
        const body = 'x'.repeat(48 << 20);
        export default function () {{
            const small = http.get('{url}/').timings, large = http.post('{url}/', body).timings;
            const whole = (t) => Math.abs(t.duration - t.sending - t.waiting - t.receiving) < 1e-3;
            console.log('small', small.sending === 0, whole(small));
            console.log('large', large.sending > 1, large.sending <= large.duration, whole(large));
        }}"
    );
    let path = scratch.file("script.js", source);
    let ran = run(&format!("run {path}")).with_code(0);
    for line in ["small true true", "large true true true"] {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
    }
}

/// k6's summary says what was counted; whether the server was well and the figures may be believed is said after it.
#[test]
fn a_run_ends_with_what_was_found() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("tells-found");
    let source = |path: &str| {
        format!(
            "import http from 'k6/http'; export default function () {{ http.get('{url}{path}') }}"
        )
    };
    let (well, ill) =
        (scratch.file("well.js", source("/")), scratch.file("ill.js", source("/status/503")));
    let flags = "-q -u 2 -i 40";
    let ran = run(&format!("run {flags} {well}")).with_code(0);
    let found = |text: &str| ran.stderr.lines().any(|line| line.starts_with(text));
    assert!(found("A script with up to 2 users for ") && found("Measurement: "), "{ran:#?}");
    assert!(!ran.stdout.contains("Measurement"), "other programs read the summary: {ran:#?}");
    let ran = run(&format!("run {flags} {ill}")).with_code(0);
    assert!(
        ran.stderr.contains("no request succeeded: all 40 requests got status 503."),
        "{ran:#?}"
    );
    // k6 says no such thing, and nothing is found of a script without requests.
    let idle = scratch.file("idle.js", "export default function () {}");
    for line in [
        format!("run {flags} --compat {ill}"),
        format!("run {flags} --summary-mode=disabled {ill}"),
        format!("run {flags} {idle}"),
    ] {
        let ran = run(&line).with_code(0);
        assert!(!ran.stderr.contains("Server: "), "{line}: {ran:#?}");
    }
}
