//! The libraries that are answered without a network: what they export, and what comes of it. What is expected comes from their
//! documentation, from RFCs, and from what k6 prints.

use std::rc::Rc;

use script::{HttpRequest, HttpRules, VirtualUser as _};

use crate::http::{page, ran as sent};
use crate::modules::{first_run, ran};
use crate::vu::{World, iterate, vu};

/// What `body` returns with these imports, and what it asked for.
fn run(imports: &str, body: &str) -> (String, Vec<HttpRequest>) {
    let mut ran = sent(HttpRules::default(), (imports, body, 1), |_| page("", b""));
    (ran.returned.remove(0), ran.asks)
}

fn returned(imports: &str, body: &str) -> String {
    run(imports, body).0
}

fn header<'a>(ask: &'a HttpRequest, name: &str) -> Option<&'a str> {
    let mut headers = ask.headers.iter();
    headers.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

#[test]
fn libraries_have_their_names_in_every_version() {
    let jslib = "https://jslib.k6.io";
    for (address, names) in [
        (&*format!("{jslib}/k6-summary/0.0.1/index.js"), "humanizeValue,jUnit,textSummary"),
        (&*format!("{jslib}/k6-summary/0.1.0/index.js"), "humanizeValue,jUnit,textSummary"),
        (&*format!("{jslib}/formdata/0.0.4/index.js"), "FormData"),
        (
            &*format!("{jslib}/httpx/0.0.6/index.js"),
            "Delete,Get,Head,Httpx,Options,Patch,Post,Put,Request,Trace",
        ),
        (&*format!("{jslib}/totp/1.0.0/index.js"), "TOTP"),
        (
            &*format!("{jslib}/http-instrumentation-tempo/1.0.1/index.js"),
            "Client,default,instrumentHTTP",
        ),
        (
            &*format!("{jslib}/http-instrumentation-pyroscope/1.0.2/index.js"),
            "Client,default,instrumentHTTP",
        ),
        (&*format!("{jslib}/k6chaijs/4.3.4.3/index.js"), "chai,default,describe,expect"),
        (&*format!("{jslib}/k6chaijs/4.5.0.1/index.js"), "chai,default,describe,expect"),
        ("https://raw.githubusercontent.com/benc-uk/k6-reporter/main/dist/bundle.js", "htmlReport"),
        (
            "https://raw.githubusercontent.com/benc-uk/k6-reporter/2.4.0/dist/bundle.js",
            "htmlReport",
        ),
        ("https://cdn.jsdelivr.net/gh/benc-uk/k6-reporter@3/dist/bundle.js", "htmlReport"),
    ] {
        let main = format!(
            "import * as m from '{address}'; const r = require('{address}'); console.log([Object.keys(m).sort(), Object.keys(r).sort()].join('|')); export default function () {{}}"
        );
        assert_eq!(
            first_run(&[("/main.js", &main)]),
            Ok(vec![format!("{names}|{names}")]),
            "{address}"
        );
    }
}

#[test]
fn versions_of_which_nothing_is_known_are_fetched() {
    for address in [
        "https://jslib.k6.io/k6-summary/0.2.0/index.js",
        "https://jslib.k6.io/httpx/1.0.0/index.js",
        "https://jslib.k6.io/http-instrumentation-tempo/2.0.0/index.js",
        "https://raw.githubusercontent.com/someone/k6-reporter/main/dist/bundle.js",
    ] {
        let main = format!("import '{address}'; export default function () {{}}");
        assert!(first_run(&[("/main.js", &main)]).is_err(), "{address}");
    }
}

/// What `handleSummary` is given.
const DATA: &str = r#"const data = {
    root_group: { name: '', checks: [{ name: 'one <b>', passes: 3, fails: 1 }, { name: 'two', passes: 4, fails: 0 }],
        groups: [{ name: 'shop', checks: [{ name: 'three', passes: 1, fails: 0 }], groups: [] }] },
    options: { summaryTrendStats: ['avg', 'p(95)', 'count'], summaryTimeUnit: '', noColor: false },
    state: { isStdOutTTY: false, isStdErrTTY: false, testRunDurationMs: 1234.5 },
    metrics: {
        http_req_duration: { type: 'trend', contains: 'time', values: { avg: 12.5, 'p(95)': 1770, count: 3 }, thresholds: { 'p(95)<500': { ok: false }, 'avg<20': { ok: true } } },
        'http_req_duration{expected_response:true}': { type: 'trend', contains: 'time', values: { avg: 0.2485, 'p(95)': 63000, count: 2 } },
        data_received: { type: 'counter', contains: 'data', values: { count: 72000, rate: 3129.8 } },
        checks: { type: 'rate', contains: 'default', values: { rate: 8 / 9, passes: 8, fails: 1 } },
        iterations: { type: 'counter', contains: 'default', values: { count: 4, rate: 19.319943 } },
        vus: { type: 'gauge', contains: 'default', values: { value: 1, min: 1, max: 1 } },
    },
};"#;

#[test]
fn the_summary_is_laid_out_as_k6s() {
    let main = format!(
        "import {{ textSummary, jUnit, humanizeValue }} from 'https://jslib.k6.io/k6-summary/0.1.0/index.js'; {DATA}
        console.log(textSummary(data, {{ indent: ' ', enableColors: false }}));
        console.log(textSummary({{ ...data, root_group: {{}}, metrics: {{ data_received: data.metrics.data_received }} }}, {{ indent: '>' }}));
        console.log(jUnit(data, {{ name: 'a & b' }}));
        console.log(humanizeValue(1.5, {{ type: 'trend', contains: 'time' }}, 'us'), humanizeValue(2 / 3, {{ type: 'rate' }}), humanizeValue(1.5e6, {{ contains: 'data' }}));
        export default function () {{}}"
    );
    let lines = first_run(&[("/main.js", &main)]).unwrap();
    let summary = [
        "     ✗ one <b>",
        "      ↳  75% — ✓ 3 / ✗ 1",
        "     ✓ two",
        "",
        "     █ shop",
        "",
        "       ✓ three",
        "",
        "     checks.........................: 88.88% 8 out of 9",
        "     data_received..................: 72 kB  3.1 kB/s",
        "   ✗ http_req_duration..............: avg=12.5ms  p(95)=1.77s count=3",
        "       { expected_response:true }...: avg=248.5µs p(95)=1m3s  count=2",
        "     iterations.....................: 4      19.319943/s",
        "     vus............................: 1      min=1       max=1",
    ];
    assert_eq!(lines[0], summary.join("\n"));
    assert_eq!(lines[1], ">    data_received...: \x1b[36m72 kB\x1b[0m \x1b[36m3.1 kB/s\x1b[0m");
    let tests = [
        "<?xml version=\"1.0\"?>",
        "<testsuites tests=\"2\" failures=\"1\">",
        "<testsuite name=\"a &amp; b\" tests=\"2\" failures=\"1\">",
        "<testcase name=\"http_req_duration - p(95)&lt;500\"><failure message=\"failed\" /></testcase>",
        "<testcase name=\"http_req_duration - avg&lt;20\" />",
        "</testsuite>",
        "</testsuites>",
    ];
    assert_eq!(lines[2], tests.join("\n"));
    assert_eq!(lines[3], "1500.00µs 66.66% 1.5 MB");
}

#[test]
fn the_report_is_a_page_that_escapes_all_texts() {
    let main = format!(
        "import {{ htmlReport }} from 'https://raw.githubusercontent.com/benc-uk/k6-reporter/latest/dist/bundle.js'; {DATA}
        data.root_group.groups.push({{ name: '<img src=x onerror=1>', checks: [{{ name: '\"><script>', passes: 1, fails: 0 }}], groups: [] }});
        data.metrics['<i>'] = {{ type: 'gauge', contains: 'default', values: {{ value: '<u>', min: 0, max: 0 }}, thresholds: {{ 'value<1': {{ ok: true }} }} }};
        console.log(htmlReport(data, {{ title: 'T </title><script>', theme: 'dark' }}));
        console.log(htmlReport({{ metrics: {{}} }}).length > 500);
        export default function () {{}}"
    );
    let lines = first_run(&[("/main.js", &main)]).unwrap();
    let page = &lines[0];
    for there in [
        "<title>T &lt;/title&gt;&lt;script&gt;</title>",
        "class=\"dark\"",
        "&lt;img src=x onerror=1&gt;",
        "1 of 3 crossed",
        "1.77s",
        "p(95)&lt;500",
    ] {
        assert!(page.contains(there), "{there}: {page}");
    }
    for absent in ["<script", "<img", "<i>", "<u>", "http:", "https:", "undefined", "NaN"] {
        assert!(!page.contains(absent), "{absent}: {page}");
    }
    assert_eq!(lines[1], "true");
}

#[test]
fn forms_keep_the_order_of_their_parts() {
    let (_, asks) = run(
        "import { FormData } from 'https://jslib.k6.io/formdata/0.0.2/index.js';",
        "const fd = new FormData();
        fd.append('text', 'ä');
        fd.append('bin', { data: new Uint8Array([1, 2]).buffer, filename: 'l\"ogo.png', content_type: 'image/png' });
        fd.append('file', http.file('abc', 'a.txt', 'text/plain')); fd.append('bin', new Uint8Array([3]), 'x.bin'); fd.append('n', 5);
        http.post('http://t/', fd.body(), { headers: { 'Content-Type': fd.contentType, B: fd.boundary } });",
    );
    let ask = &asks[0];
    let boundary = header(ask, "B").unwrap();
    assert_eq!(
        header(ask, "Content-Type").unwrap(),
        format!("multipart/form-data; boundary={boundary}")
    );
    let expect = [
        "name=\"text\"\r\n\r\nä",
        "name=\"bin\"; filename=\"l%22ogo.png\"\r\nContent-Type: image/png\r\n\r\n\x01\x02",
        "name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nabc",
        "name=\"bin\"; filename=\"x.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n\x03",
        "name=\"n\"\r\n\r\n5",
    ];
    let part = |part: &str| format!("--{boundary}\r\nContent-Disposition: form-data; {part}\r\n");
    let expect = expect.map(part).concat() + &format!("--{boundary}--\r\n");
    let body = ask.body.as_deref().unwrap();
    assert_eq!(String::from_utf8_lossy(body), expect);
}

#[test]
fn passwords_by_the_time_are_those_of_rfc_6238() {
    // Appendix B, SHA-1: the time is made by the bias.
    let body = "const totp = new TOTP('gezd gnbv gy3tqojqGEZDGNBVGY3TQOJQ', 8); const now = Math.floor(Date.now() / 1000);
        const all = [];
        for (const at of [59, 1111111109, 1111111111, 1234567890, 2000000000, 20000000000]) all.push(await totp.gen(30, at - now));
        all.push((await new TOTP('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ').gen(30, 59 - now)), await totp.verify(await totp.gen()), await totp.verify('1'));
        try { await new TOTP('0189').gen() } catch (e) { all.push(e.message) }
        console.log(all.join(' '));";
    let main = format!(
        "import {{ TOTP }} from 'https://jslib.k6.io/totp/1.0.0/index.js'; export default async function () {{ {body} }}"
    );
    let lines = ran(&[("/main.js", &main)]);
    let expect = "94287082 07081804 14050471 89005924 69279037 65353130 287082 true false the secret is no base32: it has a \"0\"";
    assert_eq!(lines, [expect; 2]);
}

#[test]
fn sessions_of_httpx_have_parameters_for_all_requests() {
    let (_, asks) = run(
        "import { Httpx, Get, Post } from 'https://jslib.k6.io/httpx/0.1.0/index.js';",
        "const s = new Httpx({ baseURL: 'http://t', headers: { A: '1', C: 'x' }, timeout: 20000 });
        s.addHeaders({ B: '2', D: '4' }); s.clearHeader('D'); s.addTag('k', 'v'); s.setTimeout(1000);
        s.get('/g'); s.post('/p', { a: 1 }, { headers: { B: '3' }, redirects: 0 }); s.delete('/d'); s.request('QUERY', '/q', 'b'); s.options('http://other/o');
        s.setBaseUrl('http://n');
        s.batch([new Get('/1'), new Post('/2', 'two', { headers: { A: '9' } }), ['HEAD', '/3'], '/4'], { headers: { E: '5' } });",
    );
    let seen: Vec<String> = asks
        .iter()
        .map(|ask| {
            let headers = ["A", "B", "C", "D", "E"].map(|name| header(ask, name).unwrap_or("-"));
            let body = ask.body.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
            format!("{} {} {} {body}", ask.method, ask.url, headers.concat())
        })
        .collect();
    let expect = [
        "GET http://t/g 12x-- ",
        "POST http://t/p 13x-- a=1",
        "DELETE http://t/d 12x-- ",
        "QUERY http://t/q 12x-- b",
        "OPTIONS http://other/o 12x-- ",
        "GET http://n/1 12x-5 ",
        "POST http://n/2 92x-5 two",
        "HEAD http://n/3 12x-5 ",
        "GET http://n/4 12x-5 ",
    ];
    assert_eq!(seen, expect);
    assert_eq!(asks[0].timeout, Some(stdx::Nanos::from_secs(1)));
    assert_eq!((asks[0].redirects, asks[1].redirects), (None, Some(0)));
}

#[test]
fn requests_carry_a_traces_context() {
    let tempo =
        "import tempo from 'https://jslib.k6.io/http-instrumentation-tempo/1.0.1/index.js';";
    let (_, asks) = run(
        tempo,
        "const client = new tempo.Client({ propagator: 'w3c' });
        client.get('http://t/a', { headers: { A: '1' } }); http.get('http://t/plain');
        new tempo.Client({ propagator: 'jaeger', sampling: 0 }).post('http://t/b', 'x');
        tempo.instrumentHTTP(); http.del('http://t/c'); http.get('http://t/d', { headers: { A: '2' } });",
    );
    let w3c = |ask: &HttpRequest| {
        let text = header(ask, "Traceparent").unwrap();
        let parts: Vec<&str> = text.split('-').collect();
        // 0o756 and 33 as k6 writes them.
        assert!(parts[1].starts_with("dc0742"), "{text}");
        assert_eq!(
            (parts[0], parts[1].len(), parts[2].len(), parts[3]),
            ("00", 32, 16, "01"),
            "{text}"
        );
        parts[1].to_owned()
    };
    assert_eq!(header(&asks[0], "A"), Some("1"));
    assert_ne!(w3c(&asks[0]), w3c(&asks[3]));
    assert_eq!(header(&asks[1], "Traceparent"), None);
    let jaeger: Vec<&str> = header(&asks[2], "Uber-Trace-Id").unwrap().split(':').collect();
    assert_eq!((jaeger[0].len(), jaeger[1].len(), jaeger[2], jaeger[3]), (32, 16, "0", "0"));
    assert_eq!((&*asks[2].method, asks[2].body.as_deref()), ("POST", Some(&b"x"[..])));
    w3c(&asks[4]);
    assert_eq!((&*asks[3].method, header(&asks[4], "A")), ("DELETE", Some("2")));
    for (options, expect) in [
        ("{ propagator: 'b3' }", "threw unknown propagator: b3; there are w3c and jaeger"),
        ("{ sampling: 2 }", "threw sampling rate must be between 0 and 1: 2"),
    ] {
        let text = returned(tempo, &format!("new tempo.Client({options})"));
        assert!(text.contains(expect), "{text}");
    }
}

#[test]
fn requests_carry_a_profiles_baggage() {
    let (_, asks) = run(
        "import pyroscope from 'https://jslib.k6.io/http-instrumentation-pyroscope/1.0.2/index.js';",
        "new pyroscope.Client((method, body, params) => ({ X: method + body + Object.keys(params) })).post('http://t/a', 'b', { tags: { t: '1' } });
        pyroscope.instrumentHTTP(); http.get('http://t/b c', { tags: { name: 'n,1' } }); http.get('http://t/plain');",
    );
    assert_eq!(header(&asks[0], "X"), Some("POSTbtags"));
    let names: Vec<&str> = asks[1..].iter().map(|ask| header(ask, "Baggage").unwrap()).collect();
    assert!(names[0].ends_with("k6.name=n%2C1"), "{names:?}");
    assert!(names[1].ends_with("k6.name=http://t/plain"), "{names:?}");
}

/// The checks that a script counts in an iteration, in their order.
fn checks(main: &str) -> Vec<String> {
    let mut vu = vu(&Rc::new(World::default()), main);
    iterate(&mut vu, 0, None);
    let mut samples = Vec::new();
    vu.take_samples(&mut samples);
    samples.iter().filter_map(|sample| sample.check.as_deref().map(str::to_owned)).collect()
}

#[test]
fn assertions_of_chai_are_checks_with_the_documented_names() {
    // The names are those of https://grafana.com/docs/k6/latest/javascript-api/jslib/k6chaijs/expect/.
    for (assertion, names) in [
        ("expect({ a: 1 }).to.not.have.property('b')", "expected ${this} to not have property 'b'"),
        ("expect(2).to.equal(2)", "expected ${this} to equal 2"),
        ("expect({ a: 1 }).to.deep.equal({ a: 1 })", "expected ${this} to deeply equal { a: 1 }"),
        (
            "expect({ a: 1, b: 2 }).to.not.have.any.keys('c', 'd')",
            "expected ${this} to not have keys 'c', or 'd'",
        ),
        (
            "expect([1, 2]).to.have.ordered.members([1, 2])",
            "expected ${this} to be an array|expected ${this} to have the same ordered members as [ 1, 2 ]",
        ),
        (
            "expect('foo').to.have.lengthOf(3)",
            "expected ${this} to have property 'length'|expected ${this} to have a length of 3 got ${actual}",
        ),
        ("expect(NaN).to.be.NaN", "expected ${this} to be NaN"),
        ("expect('foobar').to.match(/^foo/)", "expected ${this} to match /^foo/"),
        ("expect(1.5).to.equal(1.5)", "expected ${this} to equal 1.5"),
        ("expect(200, 'response status').to.equal(200)", "expected response status to equal 200"),
        ("expect(1, 'number one').to.equal(2)", "expected number one to equal 2"),
        ("expect({ json: () => 1 }).to.have.validJsonBody()", "has valid json body"),
        ("expect(5, 'number of crocs').to.be.above(4)", "expected number of crocs to be above 4"),
        (
            "chai.config.aggregateChecks = false; expect(500).to.equal(200)",
            "expected 500 to equal 200",
        ),
        (
            "throw 'Something entirely unexpected happened'",
            "Exception raised \"Something entirely unexpected happened\"",
        ),
    ] {
        for version in ["4.3.4.3", "4.5.0.1"] {
            let main = format!(
                "import chai, {{ describe, expect }} from 'https://jslib.k6.io/k6chaijs/{version}/index.js';
                export default function () {{ console.log(describe('d', () => {{ {assertion} }})) }}"
            );
            let mut seen = checks(&main);
            seen.dedup();
            assert_eq!(seen.join("|"), names, "{version}: {assertion}");
        }
    }
}

#[test]
fn describe_says_whether_all_held() {
    let main = "import { describe, expect } from 'https://jslib.k6.io/k6chaijs/4.3.4.3/index.js';
        export default function () { console.log(describe('a', () => { expect(1).to.equal(1) }), describe('b', () => { expect(1).to.equal(2) }), describe('c', () => { null.x })) }";
    assert_eq!(ran(&[("/main.js", main)]), ["true false false"; 2]);
}

#[test]
fn packages_of_npm_do_what_they_do_there() {
    // From the packages' own documentation.
    let main = r#"import papaparse from 'https://jslib.k6.io/papaparse/5.1.1/index.js';
        import * as Papa from 'https://jslib.k6.io/papaparse/5.1.1/index.js';
        import jsonpath from 'https://jslib.k6.io/jsonpath/1.0.2/index.js';
        import Ajv from 'https://jslib.k6.io/ajv/6.12.5/index.js';
        import urlencode from 'https://jslib.k6.io/form-urlencoded/3.0.0/index.js';
        const cities = [{ name: 'London', population: 8615246 }, { name: 'Berlin', population: 3517424 }, { name: 'Madrid', population: 3165235 }, { name: 'Rome', population: 2870528 }];
        const validate = new Ajv().compile({ type: 'object', required: ['a'], properties: { a: { type: 'integer' } } });
        const o = { str: 'val', num: 0, arr: [3, { prop: false }, 1, null, 6], obj: { prop1: null, prop2: ['elem'] } };
        export default function () {
            console.log(JSON.stringify(papaparse.parse('a,b\n1,"x, y"', { header: true }).data), Papa.unparse([['a', 'b,c']]));
            console.log(JSON.stringify(jsonpath.query(cities, '$..name')), jsonpath.value(cities, '$[?(@.population < 3000000)].name'));
            console.log(validate({ a: 1 }), validate({ a: 'x' }), validate.errors[0].message);
            console.log(urlencode(o)); console.log(urlencode(o, { ignorenull: true, skipIndex: true, sorted: true }));
        }"#;
    let lines = ran(&[("/main.js", main)]);
    let expect = [
        "[{\"a\":\"1\",\"b\":\"x, y\"}] a,\"b,c\"",
        "[\"London\",\"Berlin\",\"Madrid\",\"Rome\"] Rome",
        "true false should be integer",
        "str=val&num=0&arr%5B0%5D=3&arr%5B1%5D%5Bprop%5D=false&arr%5B2%5D=1&arr%5B3%5D=null&arr%5B4%5D=6&obj%5Bprop1%5D=null&obj%5Bprop2%5D%5B0%5D=elem",
        "arr%5B%5D=3&arr%5B%5D%5Bprop%5D=false&arr%5B%5D=1&arr%5B%5D=6&num=0&obj%5Bprop2%5D%5B%5D=elem&str=val",
    ];
    assert_eq!(lines[..5], expect);
}

#[test]
fn all_remote_modules_that_are_missing_are_named_at_once() {
    let files = [
        (
            "/main.js",
            "import './lib.js'; import 'https://h.test/one.js'; import { check } from 'k6'; import 'https://jslib.k6.io/k6-utils/9.0.0/index.js'; export default function () {}",
        ),
        ("/lib.js", "import 'https://h.test/two.js'; import './deep.js';"),
        (
            "/deep.js",
            "import 'https://h.test/three.js'; import 'https://h.test/two.js'; import './none.js';",
        ),
    ];
    let error = first_run(&files).unwrap_err();
    for address in ["h.test/one", "h.test/two", "h.test/three", "jslib.k6.io/k6-utils/9.0.0"] {
        assert!(error.contains(&format!("https://{address}")), "{address}: {error}");
    }
    for there in ["no such file", "https://jslib.k6.io/k6-utils/1.6.0/", "(./NAME.js)"] {
        assert!(error.contains(there), "{there}: {error}");
    }
    assert_eq!(error.matches("nor could https://").count(), 3, "{error}");
    assert!(!error.contains("nor could file"), "{error}");
    // A file that is not there is named alone.
    let error = first_run(&[("/main.js", "import './none.js'; import 'https://h.test/one.js';")]);
    assert!(!error.unwrap_err().contains("nor could"));
}
