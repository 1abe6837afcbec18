//! `k6/http`: what scripts ask for, and what they see of what comes back.

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use script::{
    Action, ActionResult, Auth, Call, Files, Host, HttpFailure, HttpRequest, HttpResponse,
    HttpRules, Level, Program, Realm, Stage, Statuses, StepResult, VirtualUser as _, Vu,
};
use stdx::Nanos;

/// A world where nothing takes time.
#[derive(Default)]
struct World {
    lines: RefCell<Vec<String>>,
    rules: HttpRules,
}

impl Host for World {
    fn now(&self) -> Nanos {
        Nanos::ZERO
    }
    fn log(&self, level: Level, text: &str) {
        self.lines.borrow_mut().push(format!("{level:?}: {text}"));
    }
    fn http_rules(&self) -> HttpRules {
        self.rules
    }
    fn unix_time(&self) -> Nanos {
        Nanos::from_secs(1_700_000_000)
    }
}

struct Main(String);

impl Files for Main {
    fn read(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
}

/// What a script asked for, what it returned or threw, and what was logged.
pub(crate) struct Ran {
    pub(crate) asks: Vec<HttpRequest>,
    pub(crate) returned: Vec<String>,
    lines: Vec<String>,
}

/// Runs a function's body so many times; `answer` makes the answer to each request.
pub(crate) fn ran(
    rules: HttpRules,
    bodies: (&str, &str, u64),
    answer: impl Fn(&HttpRequest) -> HttpResponse,
) -> Ran {
    let world = Rc::new(World { rules, ..World::default() });
    let (before, body, times) = bodies;
    let source = format!(
        "import http from 'k6/http'; {before}
        export function setup() {{ try {{ {body} }} catch (e) {{ return 'threw ' + e.message }} }}"
    );
    let host = || Rc::clone(&world) as Rc<dyn Host>;
    let program =
        Program::compile("/main.js", Arc::default(), Rc::new(Main(source)), host()).unwrap();
    let realm = Rc::new(Realm::new(&program).unwrap());
    let mut vu = Vu::new(&realm, host(), 1).unwrap();
    let (mut asks, mut returned) = (Vec::new(), Vec::new());
    for iteration in 0..times {
        let function = "setup".into();
        let mut turn = vu.call(Call { stage: Stage::Setup, function, iteration, data: None });
        let done = loop {
            let mut asked = Vec::new();
            let _memory = vu.take_actions(&mut asked);
            if let StepResult::Done(done) = turn {
                break done;
            }
            for action in asked {
                let Action::Http(ticket, ask) = action else { panic!("it asks for requests") };
                let mut made = answer(&ask);
                asks.push((*ask).clone());
                made.asked = Some(ask);
                turn = vu.answer(ticket, ActionResult::Http(Box::new(made))).unwrap();
            }
        };
        returned.push(done.unwrap().unwrap_or_default());
    }
    Ran { asks, returned, lines: world.lines.take() }
}

pub(crate) fn page(head: &str, body: &[u8]) -> HttpResponse {
    HttpResponse {
        status: 200,
        head: Some(format!("HTTP/1.1 200 OK\r\n{head}").into_bytes().into()),
        body: Some(body.to_vec()),
        ..HttpResponse::default()
    }
}

/// What a body returns if all its requests get this answer.
fn returned(body: &str, answer: &HttpResponse) -> String {
    ran(HttpRules::default(), ("", body, 1), |_| answer.clone()).returned.remove(0)
}

fn asked(body: &str) -> HttpRequest {
    ran(HttpRules::default(), ("", body, 1), |_| page("", b"")).asks.remove(0)
}

#[test]
fn parameters_are_read() {
    let ask = asked(
        "http.post('http://u:p@h/', 'x', { auth: 'digest', redirects: '3', throw: true, timeout: '90',
            cookies: { a: 1, b: { value: 'c', replace: true }, none: null, gone: undefined },
            responseCallback: http.expectedStatuses(404, { min: 200, max: 204 }),
            headers: { 'x-one': null, 'X-ONE': 2 }, tags: { t: true } })",
    );
    assert_eq!((ask.auth, ask.redirects, ask.throws), (Auth::Digest, Some(3), true));
    assert_eq!(ask.timeout, Some(Nanos::from_millis(90)));
    let cookies: Vec<_> =
        ask.cookies.iter().map(|c| (c.name.as_str(), c.value.as_str(), c.replaces)).collect();
    assert_eq!(cookies, [("a", "1", false), ("b", "c", true)]);
    let judged = [200, 204, 205, 404].map(|status| ask.expected.judge(status));
    assert_eq!(judged, [Some(true), Some(true), Some(false), Some(true)]);
    assert_eq!(ask.headers, [("X-One".to_owned(), "2".to_owned())]);
    assert_eq!(ask.name.as_deref(), Some("http://****:****@h/"));
    assert_eq!(ask.tags, [("t".to_owned(), "true".to_owned())]);
}

#[test]
fn what_cannot_be_asked_is_a_response_of_its_own() {
    for (request, code, error) in [
        ("http.get('http://a b/')", 1020, "invalid URL: parse \"http://a b/\""),
        ("http.get('<%= @url %>')", 1020, "invalid URL: parse \"<%= @url %>\": invalid URL escape"),
        ("http.get('127.0.0.1:9/x')", 1020, "invalid URL: parse \"127.0.0.1:9/x\": first path"),
        ("http.get()", 1020, "invalid URL: '#<nil>'"),
        ("http.post('http://h/', 5)", 0, "unknown request body type"),
        ("http.get('http://h/', { timeout: 'x' })", 0, "invalid timeout value"),
        ("http.get('http://h/', { tags: { a: null } })", 0, "invalid HTTP request metric tags"),
        ("http.get('http://h/', { responseType: 'x' })", 0, "x does not belong to ResponseType"),
        ("http.get('http://h/', { auth: 'ntlm' })", 0, "NTLM authentication is not supported"),
        ("http.get('http://h/', { responseCallback: 1 })", 0, "unsupported responseCallback"),
        ("http.post('http://h/', 'x', { compression: 'lzma' })", 0, "unknown compression"),
        (
            "http.get('http://h/', { headers: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`h${i}`, i])) })",
            0,
            "a request may have up to 4096 headers",
        ),
    ] {
        let body =
            format!("const r = {request}; return [r.status, r.error_code, r.error, r.request]");
        let ran = ran(HttpRules::default(), ("", &body, 1), |_| page("", b""));
        assert!(ran.asks.is_empty(), "{request}");
        let start = format!("[0,{code},\"{}", error.replace('"', "\\\""));
        assert!(
            ran.returned[0].starts_with(&start) && ran.returned[0].ends_with(",null]"),
            "{}",
            ran.returned[0]
        );
        assert!(ran.lines[0].contains("Request Failed"), "{:?}", ran.lines);
        let body = format!("return {request}.status");
        let rules = HttpRules { throws: true, ..HttpRules::default() };
        let threw = self::ran(rules, ("", &body, 1), |_| page("", b"")).returned.remove(0);
        assert!(threw.starts_with("\"threw "), "{threw}");
    }
}

#[test]
fn regression_issue_41_arguments_that_are_not_read_are_warned_of() {
    let warnings = |body: &str| {
        let rules = HttpRules::default();
        self::ran(rules, ("", body, 1), |_| page("", b"")).lines
    };
    let all = warnings(
        "http.get('http://h/', null, { headers: { A: '1' } });
        http.post('http://h/', 'abc', { headers: { 'content-length': '9' } });
        http.post('http://h/', 'abc', { headers: { 'Content-Length': '3' } });
        http.get('http://h/', { headers: { A: '1' } }); http.del('http://h/', null, {});",
    );
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all[0].starts_with("Warn: http.get only accepts"), "{all:?}");
    assert!(all[1].contains("Content-Length: 9"), "{all:?}");
}

#[test]
fn failures_are_thrown_where_that_is_wanted() {
    let (text, whole) = ("few words".to_owned(), "Get \"http://h/\": all words".to_owned());
    let failed = HttpResponse {
        failure: Some(HttpFailure { code: 1212, text, whole }),
        ..HttpResponse::default()
    };
    let body =
        "const r = http.get('http://h/'); return [r.error, r.error_code, r.body, r.status_text]";
    assert_eq!(returned(body, &failed), r#"["few words",1212,null,""]"#);
    // What came before it broke off.
    let cut = HttpResponse { body: Some(b"short".to_vec()), ..failed.clone() };
    let body = "const r = http.get('http://h/'); return [r.status, r.body, r.error_code]";
    assert_eq!(returned(body, &cut), r#"[0,"short",1212]"#);
    let body = "http.get('http://h/', { throw: true })";
    assert_eq!(returned(body, &failed), r#""threw Get \"http://h/\": all words""#);
}

/// A text may be one piece, many, a part of another, or of wider characters: a URL is the same each time, and the second time known.
#[test]
fn urls_are_what_scripts_make() {
    let long = format!("http://h/{}", "0123456789".repeat(300));
    for (url, expect) in [
        ("'http://h/a'", "http://h/a"),
        ("('http://h/' + '0123456789'.repeat(300))", long.as_str()),
        (
            "(() => { let url = 'http://h/'; for (let i = 0; i < 3000; i++) url += i % 10; return url })()",
            &long,
        ),
        (
            "('before http://h/0123456789/0123456789 after').slice(7, 37)",
            "http://h/0123456789/0123456789",
        ),
        ("'€http://h/a'.slice(1)", "http://h/a"),
        ("'http://h/é'", "http://h/é"),
        ("'http://h/€'", "http://h/€"),
        ("http.url`http://h/${7}`", "http://h/7"),
    ] {
        let body = format!("const url = {url}; http.get(url); http.get(url); http.post(url)");
        let ran = ran(HttpRules::default(), ("", &body, 2), |_| page("", b""));
        let asked: Vec<&str> = ran.asks.iter().map(|ask| &*ask.url).collect();
        assert_eq!(asked, [expect; 6], "{url}");
    }
}

#[test]
fn bodies_are_what_scripts_give() {
    for (argument, expect) in [
        ("'text'", "text"),
        ("'half \\ud800'", "half \u{fffd}"),
        ("null", ""),
        ("undefined", ""),
        ("new Uint8Array([65, 66]).buffer", "AB"),
        ("new Uint8Array([65, 66, 67]).subarray(1)", "BC"),
        ("{ b: 'x y', a: [1, '&'], c: true }", "a=1&a=%26&b=x+y&c=true"),
        ("{ a: null, b: {} }", "a=&b="),
    ] {
        let ask = asked(&format!("http.post('http://h/', {argument})"));
        let body = ask.body.as_deref().unwrap_or_default();
        assert_eq!(String::from_utf8_lossy(body), expect, "{argument}");
    }
    let ask = asked("http.post('http://h/', { f: http.file('data', 'n.txt', 'text/x'), a: 1 })");
    let body = String::from_utf8(ask.body.unwrap().to_vec()).unwrap();
    let (_, kind) = &ask.headers[0];
    assert!(kind.starts_with("multipart/form-data; boundary="), "{kind}");
    assert!(
        body.contains("name=\"f\"; filename=\"n.txt\"\r\nContent-Type: text/x\r\n\r\ndata\r\n"),
        "{body}"
    );
    assert!(body.contains("name=\"a\"\r\n\r\n1\r\n"), "{body}");
}

#[test]
fn bodies_are_compressed_and_shown_as_they_were() {
    let body = "const r = http.post('http://h/', 'y'.repeat(1000), { compression: 'gzip, br' });
        return [r.request.body.length, r.request.headers['Content-Encoding'][0]]";
    let ran = ran(HttpRules::default(), ("", body, 1), |_| page("", b""));
    assert_eq!(ran.returned, [r#"[1000,"gzip, br"]"#]);
    let ask = &ran.asks[0];
    assert!(ask.coded_body.as_ref().unwrap().len() < 100);
    assert_eq!(ask.body.as_ref().unwrap().len(), 1000);
}

#[test]
fn responses_show_what_came() {
    let mut answer = page(
        "X-A: 1\r\nx-a: 2\r\nSet-Cookie: k=v; Path=/; Max-Age=5; HttpOnly\r\nSet-Cookie: bad\r\n",
        b"{\"a\":{\"b\":[1,2,\"\xff\"]}}",
    );
    answer.remote = Some("127.0.0.1:80".parse().unwrap());
    answer.secured = Some(("tls1.3", "TLS_AES_128_GCM_SHA256"));
    for (field, expect) in [
        ("headers", r#"{"X-A":"1, 2","Set-Cookie":"k=v; Path=/; Max-Age=5; HttpOnly, bad"}"#),
        (
            "cookies",
            r#"{"k":[{"name":"k","value":"v","domain":"","path":"/","http_only":true,"secure":false,"max_age":5,"expires":-6795364578871}]}"#,
        ),
        ("remote_ip", r#""127.0.0.1""#),
        ("remote_port", "80"),
        ("tls_version", r#""tls1.3""#),
        ("ocsp.status", r#""unknown""#),
        ("url", r#""http://h/#f""#),
        ("json('a.b.1')", "2"),
        ("json('a.b.#')", "3"),
        ("json('a.x')", ""),
        ("body.length", "21"),
        ("request.cookies", "{}"),
    ] {
        let body = format!("return http.get('http://h/#f').{field}");
        assert_eq!(returned(&body, &answer), expect, "{field}");
    }
    for (params, expect) in [("'none'", "null"), ("'binary'", "21"), ("'text'", "21")] {
        let body = format!(
            "const b = http.get('http://h/', {{ responseType: {params} }}).body;
            return b === null ? b : b.byteLength || b.length"
        );
        assert_eq!(returned(&body, &answer), expect, "{params}");
    }
    for (body, place) in [
        (
            &b"<html>"[..],
            "line 1, character 1 , error: invalid character '<' looking for beginning of value",
        ),
        (
            b"{\"a\":\n x}",
            "line 2, character 2 , error: invalid character 'x' looking for beginning of value",
        ),
        (b"{\"a\":", "line 1, character 5 , error: unexpected end of JSON input"),
    ] {
        let threw = returned("http.get('http://h/').json()", &page("", body)).replace("\\\"", "\"");
        assert!(
            threw.contains(&format!("cannot parse json due to an error at {place}")),
            "{threw}"
        );
    }
    let none = HttpResponse { status: 204, ..page("", b"") };
    assert_eq!(returned("return http.get('http://h/').body", &none), "null");
    let threw = returned("http.get('http://h/', { responseType: 'none' }).json()", &answer);
    assert!(threw.starts_with("\"threw the body is null"), "{threw}");
}

#[test]
fn regression_issue_41_forms_are_sent_as_browsers_send_them() {
    let html = b"<base href='/app/'><form id=f action=save method=post>
        <input type=hidden name=admin value=0><input type=checkbox name=admin value=1 checked>
        <input type=checkbox name=news><input type=checkbox name=terms checked='checked'>
        <input type=radio name=size value=s checked><input type=radio name=size value=m checked><input type=radio name=size value=l>
        <input name=off value=1 disabled><fieldset disabled><legend><input name=legend value=1></legend><input name=set value=1></fieldset>
        <select name=one><option disabled>no</option><option> a  b </option></select>
        <select name=many multiple><option selected>x</option><option value=2 selected>y</option></select>
        <textarea name=text>1\n2</textarea><input type=file name=file><input type=reset name=reset value=1>
        <button name=go value=save>Save</button><button name=go value=drop formaction=drop formmethod=get>Drop</button></form>
        <input name=away form=f value=yes>
        <form id=m method=post enctype=multipart/form-data><input name=a value=1></form>
        <form id=t method=post action=t enctype=text/plain><input name=a value='1 2'></form>";
    let sent = |options: &str| {
        let body = format!("http.get('http://h/x/page').submitForm({options})");
        let mut ran = ran(HttpRules::default(), ("", &body, 1), |_| page("", html));
        let ask = ran.asks.pop().unwrap();
        let body = String::from_utf8(ask.body.as_deref().unwrap_or_default().to_vec()).unwrap();
        (format!("{} {}", ask.method, ask.url), body, ask)
    };
    let fields = "admin=0&admin=1&away=yes&go=save&legend=1&many=x&many=2&one=a+b&size=m&terms=on&text=1%0D%0A2";
    let (line, body, _) = sent("{ formSelector: '#f' }");
    assert_eq!((line.as_str(), body.as_str()), ("POST http://h/app/save", fields));
    let (line, body, _) = sent("{ formSelector: '#f', submitSelector: '[value=drop]' }");
    let dropped = fields.replace("go=save", "go=drop");
    assert_eq!((line, body.as_str()), (format!("GET http://h/app/drop?{dropped}"), ""));
    let (line, body, ask) = sent("{ formSelector: '#m' }");
    assert_eq!(line, "POST http://h/x/page");
    let kind = |ask: &HttpRequest| {
        let found = ask.headers.iter().find(|(name, _)| name == "Content-Type");
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    assert!(kind(&ask).starts_with("multipart/form-data; boundary="));
    assert!(body.contains("form-data; name=\"a\"\r\n\r\n1\r\n"), "{body}");
    let (_, body, ask) = sent("{ formSelector: '#t' }");
    assert_eq!((body.as_str(), kind(&ask).as_str()), ("a=1 2\r\n", "text/plain"));
}

#[test]
fn parts_of_a_form_may_have_content_types_of_their_own() {
    let body = "http.post('http://h/', { a: { data: '{}', content_type: 'application/json' } })";
    let ran = ran(HttpRules::default(), ("", body, 1), |_| page("", b""));
    let sent = String::from_utf8_lossy(ran.asks[0].body.as_deref().unwrap()).into_owned();
    let part = "name=\"a\"\r\nContent-Type: application/json\r\n\r\n{}\r\n";
    assert!(sent.contains(part), "{sent}");
}

#[test]
fn jars_are_the_iterations_own() {
    let body = "const jar = http.cookieJar(), own = new http.CookieJar();
        const seen = JSON.stringify(jar.cookiesForURL('http://h/'));
        jar.set('http://h/', 'a', 1); own.set('http://h/', 'b', 2, { path: '/', max_age: 10 });
        http.get('http://h/'); http.get('http://h/', { jar: own });
        return [seen, jar.cookiesForURL('http://h/x'), own.cookiesForURL('http://h/')]";
    for (keeps_cookies, expect) in [
        (false, [r#"["{}",{"a":["1"]},{"b":["2"]}]"#, r#"["{}",{"a":["1"]},{"b":["2"]}]"#]),
        (
            true,
            [r#"["{}",{"a":["1"]},{"b":["2"]}]"#, r#"["{\"a\":[\"1\"]}",{"a":["1"]},{"b":["2"]}]"#],
        ),
    ] {
        let rules = HttpRules { keeps_cookies, ..HttpRules::default() };
        let ran = ran(rules, ("", body, 2), |_| page("", b""));
        assert_eq!(ran.returned, expect);
        let has = |at: usize| ran.asks[at].jar.as_ref().is_some_and(|jar| !jar.borrow().is_empty());
        assert!(has(0) && has(1));
    }
    let threw = returned(
        "http.cookieJar().set('http://h/', 'a', 'b', { expires: 'soon' })",
        &page("", b""),
    );
    assert!(threw.contains("unable to parse"), "{threw}");
}

#[test]
fn callbacks_say_what_is_a_failure() {
    let before = "http.setResponseCallback(http.expectedStatuses(500));";
    let body = "http.get('http://h/'); http.setResponseCallback(null); http.get('http://h/')";
    let ran = ran(HttpRules::default(), (before, body, 1), |_| page("", b""));
    assert_eq!(ran.asks[0].expected.judge(500), Some(true));
    assert_eq!(ran.asks[0].expected.judge(200), Some(false));
    assert_eq!(ran.asks[1].expected, Statuses::Unasked);
    for wrong in
        ["http.expectedStatuses()", "http.expectedStatuses('200')", "http.setResponseCallback(1)"]
    {
        let threw = returned(wrong, &page("", b""));
        assert!(threw.starts_with("\"threw "), "{wrong}: {threw}");
    }
}

#[test]
fn nothing_is_asked_for_while_the_script_begins() {
    for source in ["http.get('http://h/')", "http.cookieJar()", "http.get('http://a b/')"] {
        let source =
            format!("import http from 'k6/http'; {source}; export default function () {{}}");
        let world = Rc::new(World::default()) as Rc<dyn Host>;
        let files = Rc::new(Main(source));
        let program = Program::compile("/main.js", Arc::default(), files, world);
        let text = program.unwrap_err().to_string();
        assert!(text.contains("in the init context is not supported"), "{text}");
    }
}
