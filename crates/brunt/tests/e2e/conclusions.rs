//! The conclusion of a report, of a real Rails application on a real Puma that is asked for more than it can do, and of a port
//! where nothing listens.

use demo::Config;
use serde_json::Value;

use crate::rails::Rails;
use crate::{Scratch, free_port, run, server, text};

/// Attacks one thread of Puma, which waits 50 ms for each request, with twice the rate that it can answer. The results, and the
/// closing report.
fn overloaded(rails: &Rails, at: usize) -> (String, Value) {
    let (folder, port) = (rails.folder(), rails.port);
    let targets = folder.file("targets.txt", format!("GET http://127.0.0.1:{port}/wait?ms=50\n"));
    let log = text(&folder.path("rails.log"));
    let file = text(&folder.path(&format!("overloaded-{at}.arrow")));
    let closing = run(&format!(
        "attack -rate=30 -duration=8s -timeout=2m -targets={targets} -output={file} -watch -watch-port={port} \
         -watch-log=rails:{log} -watch-every=200ms -json"
    ))
    .with_code(0);
    let closing = closing.json();
    (file, closing)
}

/// Two conclusions are the same: in their words, and in their figures but for the order in which sums were added up.
fn check_same(closing: &Value, file: &Value) {
    const ROUNDING: f64 = 1e-9;
    let (closing, file) = (closing.as_array().unwrap(), file.as_array().unwrap());
    assert_eq!(closing.len(), file.len());
    for (one, other) in closing.iter().zip(file) {
        assert_eq!((&one["kind"], &one["text"]), (&other["kind"], &other["text"]));
        let figures = [one, other].map(|sentence| sentence["figures"].as_object().unwrap());
        assert!(figures[0].keys().eq(figures[1].keys()), "{one} and {other}");
        for (name, figure) in figures[0] {
            let values = [figure, &figures[1][name]].map(|value| value.as_f64().unwrap());
            let distance = (values[0] - values[1]).abs();
            assert!(distance <= ROUNDING * values[0].abs(), "{name}: {one} and {other}");
        }
    }
}

#[test]
fn an_overloaded_puma_is_called_so_with_the_queue_before_rails() {
    let rails = Rails::start_app("pages.ru", "conclusion", &["-t", "1:1"], &[]);
    // Other tests run beside this one and may hold the cores for a while, which makes a measurement INVALID.
    let (file, closing) = (0..5)
        .map(|at| overloaded(&rails, at))
        .find(|(_, closing)| closing["brunt"]["verdict"] == "VALID")
        .expect("five measurements, and none is VALID");
    let report = run(&format!("report {file}")).with_code(0).stdout;
    let lines: Vec<&str> = report.lines().collect();
    assert!(lines[0].starts_with("30/s for 8s, "), "{report}");
    assert!(lines[0].contains(": the server is overloaded"), "{report}");
    let bottleneck = lines.iter().find(|line| line.contains("ottleneck: "));
    let bottleneck = bottleneck.unwrap_or_else(|| panic!("{report}"));
    assert!(bottleneck.contains("before rails starts on them"), "{report}");
    assert!(bottleneck.contains("the CPU is "), "{report}");
    let vegetas = lines.iter().position(|line| line.starts_with("Requests      [total")).unwrap();
    assert!(lines[vegetas - 1].is_empty(), "{report}");
    // How the run was made stands below what it shows.
    let attacked =
        lines.iter().position(|line| line.starts_with("Attacked: GET http://127.0.0.1:"));
    let attacked = attacked.unwrap_or_else(|| panic!("{report}"));
    assert!(attacked <= 5 && attacked < vegetas, "at most five sentences: {report}");
    assert!(report.contains("\nServer: OVERLOADED, "), "{report}");
    let json = run(&format!("report -json {file}")).with_code(0).json();
    let conclusion = json["brunt"]["conclusion"].as_array().unwrap();
    check_same(&closing["brunt"]["conclusion"], &json["brunt"]["conclusion"]);
    assert_eq!(
        (&json["brunt"]["outcome"], &conclusion[0]["kind"]),
        (&"overloaded".into(), &"saturation".into())
    );
    assert_eq!(conclusion[0]["figures"]["asked_per_s"], 30.0);
    let found = conclusion.iter().find(|sentence| sentence["kind"] == "bottleneck").unwrap();
    let figure = |name: &str| found["figures"][name].as_f64().unwrap_or_else(|| panic!("{found}"));
    assert!(figure("before_server") > 0.5 * figure("client_mean"), "{found}");
    for (kind, words) in [("html", "<h2>Conclusion</h2>"), ("markdown", "\nServer: OVERLOADED")] {
        let document = run(&format!("report -type={kind} {file}")).with_code(0).stdout;
        assert!(
            document.contains(words) && document.contains("the server is overloaded"),
            "{document}"
        );
    }
}

#[test]
fn a_port_where_nothing_listens_is_a_failed_server_and_a_valid_measurement() {
    let scratch = Scratch::new("nothing-listens");
    let targets = scratch.file("targets.txt", format!("GET http://127.0.0.1:{}/\n", free_port()));
    let file = text(&scratch.path("r.arrow"));
    run(&format!("attack -rate=50 -duration=1s -targets={targets} -output={file}")).with_code(0);
    let ran = run(&format!("report {file}")).with_code(0);
    assert!(
        ran.stdout.contains("nothing answered: all 50 requests had their connection refused."),
        "{ran:#?}"
    );
    assert!(
        ran.stdout.contains("\nServer: FAILED, answered none of 50 requests\nMeasurement: "),
        "{ran:#?}"
    );
    let vegeta = run(&format!("vegeta report {file}")).with_code(0);
    assert!(
        vegeta.stdout.starts_with("Requests      [total"),
        "a dialect has no conclusion: {vegeta:#?}"
    );
    let json = run(&format!("report -json {file}")).with_code(0).json();
    assert_eq!(json["brunt"]["outcome"], Value::from("unanswered"), "{json}");
}

/// A page that redirects led to is quick and has status 200, and is not what was asked for; in an attack and in a script.
#[test]
fn issue_39_redirects_that_led_all_answers_elsewhere_are_said() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("landing");
    let targets = scratch.file("t.txt", format!("GET {url}/redirect/1\n\nGET {url}/\n"));
    let source = format!(
        "import http from 'k6/http';
        export const options = {{ iterations: 5 }};
        export default function () {{ http.get('{url}/redirect/1'); http.get('{url}/'); }}"
    );
    let script = scratch.file("redirected.js", source);
    let file = text(&scratch.path("landing.arrow"));
    for (line, answers) in [
        (format!("attack -rate=100 -duration=100ms -targets={targets} -output={file}"), 5),
        (format!("run -q -o {file} {script}"), 5),
    ] {
        run(&line).with_code(0);
        let report = run(&format!("report -json {file}")).with_code(0).json();
        let report = &report["brunt"];
        let expected = format!(
            "All {answers} answers of GET {url}/redirect/1 come from /redirect/0, where redirects led: it is that page that \
             was measured, with the redirects to it."
        );
        let sentences = report["conclusion"].as_array().unwrap();
        let is_said = sentences.iter().any(|sentence| sentence["text"] == expected.as_str());
        assert!(is_said, "{sentences:?}");
        // How it was made is in the results.
        assert_eq!(report["provenance"][0]["command"], format!("brunt {line}").as_str());
    }
}

/// Redirects that are not followed are answers with success, and no page.
#[test]
fn issue_39_redirects_that_are_not_followed_are_said() {
    let (_served, url) = server(Config::default());
    let scratch = Scratch::new("unfollowed");
    let file = text(&scratch.path("unfollowed.arrow"));
    run(&format!("attack -rate=100 -duration=100ms -redirects=-1 -output={file} {url}/redirect/1"))
        .with_code(0);
    let report = run(&format!("report {file}")).with_code(0).stdout;
    let expected = format!(
        "All 10 answers of GET {url}/redirect/1 are redirects to /redirect/0, not followed: it is the redirect that was measured, \
         and no page.\n"
    );
    assert!(report.contains(&expected), "{report}");
}
