//! The results of a script's run: its thresholds and checks in reports of every kind.

use demo::Config;

use crate::{Scratch, run, server};

/// A run whose first threshold is crossed and whose second is kept, with one check that holds and one that fails.
fn crossed(scratch: &Scratch, file: &str) -> String {
    let (_served, url) = server(Config::default());
    let source = format!(
        "import http from 'k6/http';
        import {{ check, group }} from 'k6';
        export const options = {{
            iterations: 4,
            thresholds: {{ http_req_duration: ['p(95)<0.000001', 'max<60000'], checks: ['rate>0.4'] }},
        }};
        export default function () {{
            const answer = http.get('{url}/');
            check(answer, {{ 'is <200>': (r) => r.status === 200 }});
            group('cart', () => check(answer, {{ 'is teapot': (r) => r.status === 418 }}));
        }}
        export function teardown() {{ check(0, {{ 'is <200>': () => true }}); }}"
    );
    let path = scratch.file("script.js", source);
    let results = scratch.path(file).display().to_string();
    run(&format!("run -o {results} {path}")).with_code(99);
    results
}

#[test]
fn reports_of_a_script_know_its_thresholds_and_checks() {
    let scratch = Scratch::new("run-results");
    for file in ["r.arrow", "r.parquet"] {
        let results = crossed(&scratch, file);
        let report =
            |kind: &str| run(&format!("report -type={kind} {results}")).with_code(0).stdout;
        let junit = report("junit");
        assert!(junit.contains(r#"tests="7""#) && !junit.contains("\"success\""), "{junit}");
        for words in [
            r#"name="threshold http_req_duration: p(95)&lt;0.000001">"#,
            r#"<failure message="crossed: p(95)="#,
            r#"name="threshold http_req_duration: max&lt;60000"/>"#,
            r#"name="threshold checks: rate&gt;0.4"/>"#,
            r#"name="check is &lt;200&gt;"/>"#,
            r#"name="check cart / is teapot">"#,
            r#"<failure message="failed 4 times of 4">"#,
        ] {
            assert!(junit.contains(words), "{words} of {file}: {junit}");
        }
        let html = report("html");
        assert!(html.contains(r#"<span class="badge bad">1 of 3 thresholds crossed</span>"#));
        for words in ["<h2>Thresholds</h2>", "CROSSED", "<h2>Checks</h2>", "cart / is teapot"] {
            assert!(html.contains(words), "{words} of {file}");
        }
        assert!(report("text").contains("http_req_duration  p(95)<0.000001  p(95)="));
        assert!(report("markdown").contains(", 1 of 3 thresholds crossed\n"));
        let json = run(&format!("report -json {results}")).with_code(0).json();
        let (thresholds, checks) = (&json["brunt"]["thresholds"], &json["brunt"]["checks"]);
        let kept: Vec<_> = (0..3).map(|n| &thresholds[n]["kept"]).collect();
        assert_eq!(kept, [true, false, true], "{json}");
        assert!(thresholds[2]["seen"].as_f64().unwrap() > 0.0, "{json}");
        assert_eq!((&checks[0]["passes"], &checks[1]["fails"]), (&4.into(), &4.into()), "{json}");
        // They are judged after it.
        assert_eq!(checks[2]["group"], "::teardown", "{json}");
    }
}

#[test]
fn copies_keep_thresholds_where_there_is_room() {
    let scratch = Scratch::new("run-results-copies");
    let results = crossed(&scratch, "r.arrow");
    let copy = scratch.path("copy.parquet").display().to_string();
    run(&format!("encode -o {copy} {results}")).with_code(0);
    let both = run(&format!("report -type=junit {results} {copy}")).with_code(0).stdout;
    assert!(both.contains(r#"<failure message="failed 8 times of 8">"#), "{both}");
    let ran = run(&format!("encode -to=csv {results}")).with_code(0);
    ran.complains_once(&["6 rows of thresholds and checks left out: csv cannot hold them"]);
    let attack = scratch.path("plain.arrow").display().to_string();
    let (_served, url) = server(Config::default());
    run(&format!("bench -n 4 -c 1 -q -output={attack} {url}/")).with_code(0);
    let json = run(&format!("report -json {attack}")).with_code(0).json();
    assert!(json["brunt"].get("thresholds").is_none(), "{json}");
}
