//! Scripts run by a driver of a few lines: what they ask for, what they measure, how they end.

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use script::{
    Action, ActionResult, Call, CompileError, Exception, Files, Host, HttpFailure, HttpRequest,
    HttpResponse, Level, Program, Realm, Sample, Stage, StepResult, Ticket, Timings,
    VirtualUser as _, Vu,
};
use stdx::Nanos;

/// A world where nothing takes time but sleeping.
#[derive(Default)]
pub(crate) struct World {
    now: Cell<u64>,
    lines: RefCell<Vec<String>>,
    /// How often a script may be asked whether it is to end before it is.
    patience: Cell<u64>,
}

impl Host for World {
    fn now(&self) -> Nanos {
        Nanos(self.now.get())
    }
    fn log(&self, level: Level, text: &str) {
        self.lines.borrow_mut().push(format!("{level:?}: {text}"));
    }
    fn interrupts(&self) -> bool {
        let left = self.patience.get();
        self.patience.set(left.saturating_sub(1));
        left == 1
    }
}

/// Modules by name.
struct Sources(HashMap<String, String>);

impl Files for Sources {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let source = self.0.get(name).ok_or_else(|| "no such file".to_owned())?;
        Ok(source.clone().into_bytes())
    }
}

fn program(world: &Rc<World>, modules: &[(&str, &str)]) -> Result<Program, CompileError> {
    let sources = modules.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let files = Rc::new(Sources(sources.collect()));
    let env = std::sync::Arc::new(vec![("NAME".to_owned(), "value".to_owned())]);
    Program::compile(modules[0].0, env, files, Rc::clone(world) as Rc<dyn Host>)
}

pub(crate) fn vu(world: &Rc<World>, source: &str) -> Vu {
    let program = program(world, &[("/main.js", source)]).unwrap();
    Vu::new(&Realm::new(&program).unwrap(), Rc::clone(world) as Rc<dyn Host>, 7).unwrap()
}

/// Calls the default function as `setup` is called, so that what it returns is seen.
pub(crate) fn iterate(vu: &mut Vu, iteration: u64, data: Option<&str>) -> StepResult {
    let data = data.map(Into::into);
    vu.call(Call { stage: Stage::Setup, function: "default".into(), iteration, data })
}

/// What the script asked for since the last time.
fn asked(vu: &mut Vu) -> Vec<Action> {
    let mut asked = Vec::new();
    let _memory = vu.take_actions(&mut asked);
    asked
}

/// The one request that the script asked for.
fn request(vu: &mut Vu) -> (Ticket, HttpRequest) {
    let mut asked = asked(vu);
    assert_eq!(asked.len(), 1);
    let Action::Http(ticket, ask) = asked.remove(0) else { panic!("it asks for a request") };
    (ticket, *ask)
}

fn response(status: u16, body: &str) -> ActionResult {
    let ask = HttpRequest { url: "http://h/".into(), ..HttpRequest::default() };
    response_to(ask, status, body)
}

fn response_to(ask: HttpRequest, status: u16, body: &str) -> ActionResult {
    let head = format!(
        "HTTP/1.1 {status} Whatever\r\ncontent-type: text/plain\r\nset-cookie: a=1\r\nSet-Cookie: b=2\r\n"
    );
    ActionResult::Http(Box::new(HttpResponse {
        status,
        head: Some(head.into_bytes().into()),
        body: Some(body.as_bytes().to_vec()),
        timings: Timings {
            sending: Nanos(500_000),
            waiting: Nanos(2_000_000),
            ..Timings::default()
        },
        asked: Some(Box::new(ask)),
        ..HttpResponse::default()
    }))
}

/// Answers everything with 200, the last first, lets time pass, and gives what was asked for and how it ended.
fn finish(
    vu: &mut Vu,
    mut turn: StepResult,
    world: &World,
) -> (Vec<HttpRequest>, Result<Option<String>, Exception>) {
    let (mut waiting, mut all) = (Vec::new(), Vec::new());
    loop {
        waiting.extend(asked(vu));
        let until = match turn {
            StepResult::Done(done) => return (all, done),
            StepResult::Cut => panic!("nobody cut it"),
            StepResult::Waits { until } => until,
        };
        if let Some(Action::Http(ticket, ask)) = waiting.pop() {
            all.push((*ask).clone());
            let next = vu.answer(ticket, response_to(*ask, 200, "{\"a\":[1,2]}"));
            turn = next.unwrap_or(StepResult::Waits { until });
        } else {
            world.now.set(until.expect("it waits for something").0.max(world.now.get()));
            turn = vu.wake().unwrap();
        }
    }
}

fn ran(source: &str) -> (Vec<HttpRequest>, Result<Option<String>, Exception>, Vec<String>) {
    let world = Rc::new(World::default());
    let mut vu = vu(&world, source);
    let turn = iterate(&mut vu, 0, None);
    let (asked, done) = finish(&mut vu, turn, &world);
    (asked, done, world.lines.take())
}

/// What a script returns, or throws, as text.
fn outcome_text(body: &str) -> String {
    let source = format!(
        "import http from 'k6/http'; import * as k6 from 'k6'; export default function () {{ {body} }}"
    );
    match ran(&source).1 {
        Ok(value) => value.unwrap_or_default(),
        Err(exception) => exception.text,
    }
}

#[test]
fn a_blocking_request_suspends_the_vu_only() {
    let world = Rc::new(World::default());
    let source = "import http from 'k6/http';
        export default function () { return http.get(`http://h/${__VU}/${__ITER}`).status }";
    let program = program(&world, &[("/main.js", source)]).unwrap();
    let host = || Rc::clone(&world) as Rc<dyn Host>;
    let realm = Realm::new(&program).unwrap();
    let mut vus: Vec<Vu> = (1..=3).map(|number| Vu::new(&realm, host(), number).unwrap()).collect();
    let mut tickets = Vec::new();
    for (at, vu) in vus.iter_mut().enumerate() {
        assert_eq!(iterate(vu, 40, None), StepResult::Waits { until: None });
        let (ticket, ask) = request(vu);
        assert_eq!((&*ask.method, &*ask.url), ("GET", format!("http://h/{}/40", at + 1).as_str()));
        tickets.push(ticket);
    }
    // Answered in another order than asked.
    for (at, vu) in vus.iter_mut().enumerate().rev() {
        let status = 200 + at as u16;
        let done = vu.answer(tickets[at], response(status, ""));
        assert_eq!(done, Some(StepResult::Done(Ok(Some(status.to_string())))));
    }
}

#[test]
fn options_and_functions_are_exported() {
    let world = Rc::new(World::default());
    let source = "export const options = { vus: 3, thresholds: { checks: ['rate>0.9'] } };
        export function setup() { return { token: 't' } }
        export default function (data) { data.n = (data.n || 0) + 1; return data }
        export const notAFunction = 5;";
    let program = program(&world, &[("/main.js", source)]).unwrap();
    assert_eq!(
        program.options.as_deref(),
        Some(r#"{"vus":3,"thresholds":{"checks":["rate>0.9"]}}"#)
    );
    assert_eq!(program.functions, ["default", "setup"]);
    let mut vu =
        Vu::new(&Realm::new(&program).unwrap(), Rc::clone(&world) as Rc<dyn Host>, 1).unwrap();
    let call = Call { stage: Stage::Setup, function: "setup".into(), iteration: 0, data: None };
    let StepResult::Done(Ok(Some(data))) = vu.call(call) else { panic!("setup failed") };
    let done = iterate(&mut vu, 0, Some(&data));
    assert_eq!(done, StepResult::Done(Ok(Some(r#"{"token":"t","n":1}"#.to_owned()))));
    // A summary's VU runs init code also where there is nothing to call.
    let function = "handleSummary".into();
    let call = Call { stage: Stage::Summary, function, iteration: 0, data: None };
    assert_eq!(vu.call(call), StepResult::Done(Ok(None)));
}

#[test]
fn requests_carry_what_the_script_set() {
    let source = "import http, { url } from 'k6/http';
        export default function () {
            http.post('http://h/form', { b: 'x y', a: [1, '&'] }, {
                headers: { 'X-One': 1 }, tags: { kind: 'form' }, timeout: '2s', redirects: 0, responseType: 'none' });
            http.put('http://h/raw', new Uint8Array([1, 2, 255]).buffer, { timeout: 250 });
            http.request('BREW', url`http://h/${5}/pot/${'x'}`, 'tea');
            http.del('http://h/gone');
        }";
    let (asks, done, _) = ran(source);
    assert_eq!(done, Ok(None));
    assert_eq!(asks[0].body.as_deref(), Some("a=1&a=%26&b=x+y".as_bytes()));
    assert_eq!(
        asks[0].headers[0],
        ("Content-Type".to_owned(), "application/x-www-form-urlencoded".to_owned())
    );
    assert_eq!(asks[0].headers[1], ("X-One".to_owned(), "1".to_owned()));
    assert_eq!(asks[0].tags, [("kind".to_owned(), "form".to_owned())]);
    assert_eq!((asks[0].timeout, asks[0].redirects), (Some(Nanos::from_secs(2)), Some(0)));
    assert_eq!(asks[1].body.as_deref(), Some([1, 2, 255].as_slice()));
    assert_eq!(asks[1].timeout, Some(Nanos::from_millis(250)));
    assert_eq!((&*asks[2].method, &*asks[2].url), ("BREW", "http://h/5/pot/x"));
    assert_eq!(asks[2].name.as_deref(), Some("http://h/${}/pot/${}"));
    assert_eq!((&*asks[3].method, asks[3].body.as_deref()), ("DELETE", None));
}

#[test]
fn responses_have_k6s_fields() {
    for (body, expect) in [
        ("return http.get('http://h/').status_text", r#""200 Whatever""#),
        ("return http.get('http://h/').json().a[1]", "2"),
        (
            "return http.get('http://h/').headers",
            r#"{"Content-Type":"text/plain","Set-Cookie":"a=1, b=2"}"#,
        ),
        ("return http.get('http://h/').timings.duration", "2.5"),
        ("return http.get('http://h/', { responseType: 'none' }).body", "null"),
        (
            "const r = http.get('http://h/', { responseType: 'binary' }); return r.body.byteLength",
            "11",
        ),
        (
            "const r = http.get('http://h/'); r.extra = 1; return [r.body === r.body, r.extra]",
            "[true,1]",
        ),
        ("return Object.keys(JSON.parse(JSON.stringify(http.get('http://h/')))).length", "16"),
        ("return http.get('http://h/').request.url", r#""http://h/""#),
    ] {
        assert_eq!(outcome_text(body), expect, "{body}");
    }
}

#[test]
fn a_failed_request_is_a_response() {
    let world = Rc::new(World::default());
    let mut vu = vu(
        &world,
        "import http from 'k6/http'; export default function () {
            const r = http.get('http://h/'); return [r.status, r.error, r.error_code, r.body] }",
    );
    assert_eq!(iterate(&mut vu, 0, None), StepResult::Waits { until: None });
    let (ticket, _) = request(&mut vu);
    let text = "dial: connection refused".to_owned();
    let failure = Some(HttpFailure { code: 1212, text, whole: "Get \"http://h/\": no".to_owned() });
    let asked = Some(Box::default());
    let answer = HttpResponse { failure, asked, ..HttpResponse::default() };
    let done = vu.answer(ticket, ActionResult::Http(Box::new(answer)));
    assert_eq!(
        done,
        Some(StepResult::Done(Ok(Some(r#"[0,"dial: connection refused",1212,null]"#.to_owned()))))
    );
}

#[test]
fn checks_and_groups_make_samples() {
    let world = Rc::new(World::default());
    let mut vu = vu(
        &world,
        "import { check, group, sleep } from 'k6';
        export default function () {
            return group('outer', () => group('inner', () => {
                sleep(1.5);
                return check({ n: 1 }, { good: (v) => v.n === 1, bad: 0 }, { tag: 'x' });
            }));
        }",
    );
    let (stage, function) = (Stage::Iteration, "default".into());
    let turn = vu.call(Call { stage, function, iteration: 0, data: None });
    assert_eq!(turn, StepResult::Waits { until: Some(Nanos::from_millis(1500)) });
    let (asked, done) = finish(&mut vu, turn, &world);
    assert_eq!((asked.len(), done), (0, Ok(None)));
    let mut samples = Vec::new();
    vu.take_samples(&mut samples);
    let texts: Vec<String> = samples
        .iter()
        .map(|s| {
            let (check, tags) = (s.check.as_deref().unwrap_or("-"), s.tags.as_deref());
            let tags = tags.cloned().unwrap_or_default();
            format!(
                "{} {} {} {check} {tags:?} {}",
                s.metric.0,
                s.value,
                s.group,
                s.at.0 / 1_000_000
            )
        })
        .collect();
    assert_eq!(
        texts,
        [
            r#"0 1 ::outer::inner good [("tag", "x")] 1500"#,
            r#"0 0 ::outer::inner bad [("tag", "x")] 1500"#,
            "4 1500 ::outer::inner - [] 1500",
            "4 1500 ::outer - [] 1500",
        ]
    );
}

/// The names of the checks, each with whether it held.
fn checked(conditions: &str) -> Vec<String> {
    let world = Rc::new(World::default());
    let source = format!(
        "import {{ check }} from 'k6'; export default function () {{ check(5, {conditions}) }}"
    );
    let mut vu = vu(&world, &source);
    assert_eq!(iterate(&mut vu, 0, None), StepResult::Done(Ok(None)), "{conditions}");
    let mut samples = Vec::new();
    vu.take_samples(&mut samples);
    let sample = |s: &Sample| format!("{}={}", s.check.as_deref().unwrap_or("-"), s.value);
    samples.iter().map(sample).collect()
}

#[test]
fn the_conditions_of_a_check_are_the_fields_of_any_object() {
    let cases: [(&str, &[&str]); 11] = [
        (
            "{ 'is 5': (v) => v === 5, b: 1, c: '', d: null, e: undefined }",
            &["is 5=1", "b=1", "c=0", "d=0", "e=0"],
        ),
        ("{ b: 1, 2: 1, a: 0, 1: 0 }", &["1=0", "2=1", "b=1", "a=0"]),
        ("{ [Symbol('s')]: 1, a: 1 }", &["a=1"]),
        ("Object.defineProperty({ a: 1 }, 'hidden', { value: 1 })", &["a=1"]),
        ("Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true } })", &["own=1"]),
        ("{ get a() { return 0 }, get b() { return () => true } }", &["a=0", "b=1"]),
        (
            "{ 'größer als 0 €': (v) => v > 0, '\\ud800x': 1 }",
            &["größer als 0 €=1", "\u{fffd}\u{fffd}\u{fffd}x=1"],
        ),
        ("['yes', 0]", &["0=1", "1=0"]),
        ("new (class { constructor() { this.a = 1 } })()", &["a=1"]),
        // Those that there were when the check began, with what they are by then.
        (
            "(() => { const all = { a: () => { all.b = 0; delete all.c; all.e = 1; return true }, b: 1, c: 1, d: 1 }; return all })()",
            &["a=1", "b=0", "c=0", "d=1"],
        ),
        ("'text'", &[]),
    ];
    for (conditions, expect) in cases {
        assert_eq!(checked(conditions), expect, "{conditions}");
    }
    // However many there are.
    let names: Vec<String> = (0..40).map(|number| format!("n{number}")).collect();
    let conditions =
        format!("{{ {} }}", names.iter().map(|name| format!("{name}: 1, ")).collect::<String>());
    assert_eq!(
        checked(&conditions),
        names.iter().map(|name| format!("{name}=1")).collect::<Vec<_>>()
    );
}

/// Our addition to QuickJS adds what is new to a usual object at once: see `c/objects.c` of crate `quickjs`.
#[test]
fn properties_are_defined_as_javascript_has_it() {
    for (expression, expect) in [
        ("Object.keys({ b: 1, 2: 1, a: 1, 1: 1 })", r#"["1","2","b","a"]"#),
        ("({ a: 1, b: 2, a: 3 })", r#"{"a":3,"b":2}"#),
        (
            "[(() => 0).name, (function named(a, b) {}).length, (class A { static name = 'x' }).name]",
            r#"["",2,"x"]"#,
        ),
        (
            "Object.getOwnPropertyDescriptor((a) => a, 'length')",
            r#"{"value":1,"writable":false,"enumerable":false,"configurable":true}"#,
        ),
        ("(() => { const f = () => 1; return f.name })()", r#""f""#),
        (
            "(() => { class F { constructor() { return Object.freeze({}) } } class G extends F { x = 1 } try { new G(); return 'made' } catch (e) { return e.name } })()",
            r#""TypeError""#,
        ),
        (
            "(() => { const seen = []; class F { constructor() { return new Proxy({}, { defineProperty(of, name) { seen.push(name); return true } }) } } class G extends F { x = 1 } new G(); return seen })()",
            r#"["x"]"#,
        ),
        (
            "(() => { class F { constructor() { return [1] } } class G extends F { 1 = 2; 5 = 6 } const g = new G(); return [g.length, g[1], g[5]] })()",
            "[6,2,6]",
        ),
        (
            "(() => { class F { constructor() { return new Uint8Array(2) } } class G extends F { 1 = 300; x = 7 } const g = new G(); return [g[1], g.x] })()",
            "[44,7]",
        ),
        (
            "(() => { class F { constructor() { return new String('ab') } } class G extends F { 2 = 'c' } return [new G()[2], new G().length] })()",
            r#"["c",2]"#,
        ),
        (
            "(() => { const o = {}; Object.defineProperty(o, 'x', { get: () => 4, configurable: true }); Object.assign(o, {}); return { ...o, y: o.x } })()",
            r#"{"y":4}"#,
        ),
    ] {
        let world = Rc::new(World::default());
        let mut vu = vu(&world, &format!("export default function () {{ return {expression} }}"));
        let call =
            Call { stage: Stage::Setup, function: "default".into(), iteration: 0, data: None };
        let returned = StepResult::Done(Ok(Some(expect.to_owned())));
        assert_eq!(vu.call(call), returned, "{expression}");
    }
}

#[test]
fn a_check_that_throws_has_failed_and_throws_on() {
    let world = Rc::new(World::default());
    let mut vu = vu(
        &world,
        "import { check } from 'k6'; export default function () { check(1, { c: () => { throw new Error('no') } }) }",
    );
    let StepResult::Done(Err(exception)) = iterate(&mut vu, 0, None) else {
        panic!("nothing thrown")
    };
    assert_eq!(exception.text, "Error: no");
    let mut samples = Vec::new();
    vu.take_samples(&mut samples);
    assert_eq!((samples.len(), samples[0].value), (1, 0.0));
}

#[test]
fn what_is_wrong_is_thrown() {
    for (body, expect) in [
        ("k6.fail('so')", "Error: so"),
        (
            "k6.check(1, { c: async () => true })",
            "Error: the built-in check() does not support async functions",
        ),
        ("k6.check(1, { 'a::b': true })", "Error: group and check names may not contain '::'"),
        ("k6.group('a::b', () => 1)", "Error: group and check names may not contain '::'"),
        ("throw { code: 5 }", "[object Object]"),
        ("function f() { return f() + 1 } f()", "RangeError: "),
        ("new Array(1e9).fill('x')", "InternalError: out of memory"),
        ("undefinedName()", "ReferenceError: undefinedName is not defined"),
        ("return Promise.reject(new TypeError('later'))", "Uncaught (in promise) TypeError: later"),
        ("Promise.reject({})", "Uncaught (in promise) [object Object]"),
        ("http.batch()", "Error: no argument was provided to http.batch()"),
        ("http.batch([], [])", "Error: http.batch() accepts only an array or an object"),
        ("http.batch(5)", "Error: invalid http.batch() argument type"),
        ("setTimeout('x', 1)", "TypeError: setTimeout's callback isn't a callable function"),
    ] {
        let text = outcome_text(body);
        assert!(text.starts_with(expect), "{body}: {text}");
    }
}

/// What a metric's `add` throws for a tag, and what it is made with.
fn added(tags: &str) -> String {
    let (_, outcome, _) = ran(&format!(
        "import {{ Counter }} from 'k6/metrics'; const own = new Counter('own');
        export default function () {{ return String(own.add(1, {tags})) }}"
    ));
    match outcome {
        // It is JSON.
        Ok(value) => value.unwrap_or_default().trim_matches('"').to_owned(),
        Err(exception) => exception.text,
    }
}

#[test]
fn regression_issue_41_tags_of_a_metric_are_texts_numbers_and_booleans() {
    for tags in ["undefined", "{ t: 'x' }", "{ t: 5 }", "{ t: false }"] {
        assert_eq!(added(tags), "true", "{tags}");
    }
    for value in ["undefined", "null", "{}", "[]", "() => 1", "Symbol('t')", "5n"] {
        let text = added(&format!("{{ t: {value} }}"));
        assert!(text.starts_with("Error: invalid value for metric tag 't'"), "{value}: {text}");
    }
}

#[test]
fn regression_issue_41_a_metric_of_k6s_name_has_its_kind_of_values() {
    let made = |metric: &str| {
        let (_, outcome, _) = ran(&format!(
            "import {{ Trend, Counter }} from 'k6/metrics'; let text = 'made';
            try {{ {metric} }} catch (e) {{ text = e.message }}
            export default function () {{ return text }}"
        ));
        // It is JSON.
        outcome.unwrap().unwrap().trim_matches('"').to_owned()
    };
    assert_eq!(made("new Trend('http_req_duration', true)"), "made");
    assert_eq!(
        made("new Trend('http_req_duration')"),
        "metric 'http_req_duration' already exists but with a value type time, instead of default"
    );
    assert_eq!(
        made("new Counter('http_req_duration')"),
        "metric 'http_req_duration' already exists but with type trend, instead of counter"
    );
    assert!(made("new Trend('own'); new Trend('own', true)").contains("value type default"));
}

#[test]
fn a_vu_survives_what_it_threw() {
    let world = Rc::new(World::default());
    let mut vu = vu(
        &world,
        "export default function () {
            if (__ITER === 0) { function f() { return f() + 1 } f() }
            if (__ITER === 1) new Array(1e9).fill('x');
            return __ITER }",
    );
    for iteration in 0..2 {
        assert!(
            matches!(iterate(&mut vu, iteration, None), StepResult::Done(Err(_))),
            "{iteration}"
        );
    }
    assert_eq!(iterate(&mut vu, 2, None), StepResult::Done(Ok(Some("2".to_owned()))));
}

#[test]
fn an_exception_says_where() {
    let source = "import { f } from './lib/other.js';\nexport default function () {\n  f();\n}\n";
    let other = "export function f() {\n  null.x;\n}\n";
    let world = Rc::new(World::default());
    let program = program(&world, &[("/a/main.js", source), ("/a/lib/other.js", other)]).unwrap();
    let mut vu =
        Vu::new(&Realm::new(&program).unwrap(), Rc::clone(&world) as Rc<dyn Host>, 1).unwrap();
    let StepResult::Done(Err(exception)) = iterate(&mut vu, 0, None) else {
        panic!("nothing thrown")
    };
    assert!(exception.stack.contains("at f (file:///a/lib/other.js:2:"), "{exception}");
    assert!(exception.stack.contains("at default (file:///a/main.js:3:"), "{exception}");
}

#[test]
fn scripts_that_cannot_be_compiled_say_why() {
    let world = Rc::new(World::default());
    for (source, expect) in [
        ("export default function () {", "SyntaxError: "),
        ("import x from 'lodash'; export default x", "couldn't be recognised"),
        ("import x from 'k6/nothing'; export default x", "unknown module: k6/nothing"),
        ("import x from './gone.js'; export default x", "/gone.js"),
        ("throw new Error('early')", "Error: early"),
        ("import http from 'k6/http'; http.get('http://h/')", "in the init context"),
        ("import { sleep } from 'k6'; sleep(1)", "in the init context"),
    ] {
        let error = program(&world, &[("/main.js", source)]).unwrap_err();
        assert!(error.to_string().contains(expect), "{source}: {error}");
    }
}

#[test]
fn an_endless_loop_is_interrupted_and_cannot_catch_it() {
    let world = Rc::new(World::default());
    let mut vu = vu(
        &world,
        "export default function () { if (__ITER) return 'alive'; for (;;) { try { for (;;) {} } catch (e) {} } }",
    );
    world.patience.set(3);
    assert_eq!(iterate(&mut vu, 0, None), StepResult::Cut);
    assert_eq!(iterate(&mut vu, 1, None), StepResult::Done(Ok(Some("\"alive\"".to_owned()))));
}

#[test]
fn a_stopped_iteration_goes_no_further() {
    let world = Rc::new(World::default());
    let source = "import http from 'k6/http'; import { sleep } from 'k6';
        export default function () {
            if (__ITER) return 'next';
            for (;;) { try { http.get('http://h/'); sleep(1) } catch (e) { console.log('caught') } }
        }";
    let mut vu = vu(&world, source);
    assert!(matches!(iterate(&mut vu, 0, None), StepResult::Waits { .. }));
    let (ticket, _) = request(&mut vu);
    vu.stop();
    // What it waited for comes too late.
    assert_eq!(vu.answer(ticket, response(200, "")), None);
    assert_eq!(vu.wake(), None);
    assert_eq!(iterate(&mut vu, 1, None), StepResult::Done(Ok(Some("\"next\"".to_owned()))));
    // One that waits is ended when it is dropped, whatever it catches.
    let mut other = self::vu(&world, source);
    assert!(matches!(iterate(&mut other, 0, None), StepResult::Waits { .. }));
    drop(other);
}

#[test]
fn async_functions_are_waited_for() {
    assert_eq!(outcome_text("return (async () => { await null; return 5 })()"), "5");
    assert_eq!(outcome_text("return new Promise(() => {})"), "");
    assert_eq!(outcome_text("return new Promise((done) => setTimeout(done, 20, 'x'))"), r#""x""#);
    let source = "import http from 'k6/http';
        export default async function () { await null; return http.get('http://h/').status }";
    let (asked, done, _) = ran(source);
    assert_eq!((asked.len(), done), (1, Ok(Some("200".to_owned()))));
}

#[test]
fn the_console_writes_as_k6s() {
    let source = "export default function () {
            console.log('a', 1, { a: 1, b: 'x', c: [1, null], d: undefined }, [], {}, true, null, undefined);
            const o = {}; o.o = o; console.warn(o, () => 1);
            console.error(new TypeError('bad')); console.debug(1.5);
        }";
    let (_, done, lines) = ran(source);
    assert_eq!(done, Ok(None));
    assert_eq!(
        lines,
        [
            "Info: a 1 { a: 1, b: \"x\", c: [ 1, null ], d: null } [] {} true null undefined",
            "Warn: { o: [Circular] } [object Function]",
            "Error: TypeError: bad",
            "Debug: 1.5",
        ]
    );
}

/// The lines of the console, without their level, of a script whose function has this body.
fn lines(body: &str) -> (Vec<String>, Result<Option<String>, Exception>) {
    let source = format!(
        "import http from 'k6/http'; import {{ sleep }} from 'k6'; const log = (...a) => console.log(...a);
        export default async function () {{ {body} }}"
    );
    let (_, done, lines) = ran(&source);
    let lines = lines.iter().map(|line| line.trim_start_matches("Info: ").to_owned());
    (lines.collect(), done)
}

#[test]
fn timers_run_in_the_order_of_their_times() {
    let (lines, done) = lines(
        "setTimeout((...a) => log('two', a), 20, 1, 'x'); setTimeout(log, 10, 'one'); setTimeout(log, 20, 'three');
        Promise.resolve().then(() => log('job'));
        const gone = setTimeout(log, 5, 'never'); clearTimeout(gone); clearTimeout(999); clearTimeout();
        let n = 0; const id = setInterval(() => { log('tick', ++n); if (n === 3) clearInterval(id) }, 30);
        sleep(0.1); log('slept');",
    );
    assert_eq!(done, Ok(None));
    assert_eq!(
        lines,
        ["slept", "job", "one", "two [ 1, \"x\" ]", "three", "tick 1", "tick 2", "tick 3"]
    );
}

#[test]
fn what_nobody_handles_ends_the_iteration() {
    for (body, left, expect) in [
        ("setTimeout(log, 5, 'never'); Promise.reject(new Error('no'))", vec![], "Error: no"),
        (
            "const p = Promise.reject(new Error('late')); setTimeout(() => p.catch(() => log('caught')), 1)",
            vec![],
            "Error: late",
        ),
        ("(async () => { await null; throw 'text' })()", vec![], "text"),
        ("await null; throw new RangeError('mine')", vec![], "RangeError: mine"),
        ("Promise.reject(1).catch(() => log('fine'))", vec!["fine"], ""),
    ] {
        let (lines, done) = lines(body);
        assert_eq!(lines, left, "{body}");
        let text = done.err().map(|exception| exception.text).unwrap_or_default();
        let expect = if expect.is_empty() {
            String::new()
        } else {
            format!("Uncaught (in promise) {expect}")
        };
        assert_eq!(text, expect, "{body}");
    }
    let (lines, done) =
        lines("setTimeout(() => { throw new Error('timer') }, 1); setTimeout(log, 5, 'never')");
    assert!(lines.is_empty());
    assert_eq!(done.unwrap_err().text, "Error: timer");
}

#[test]
fn requests_run_beside_the_script() {
    let source = "import http from 'k6/http'; const log = (s) => console.log(s);
        export default async function () {
            setTimeout(log, 0, 'timer');
            const two = [http.asyncRequest('GET', 'http://h/1'), http.asyncRequest('POST', 'http://h/2', 'b')];
            log('asked');
            const done = await Promise.all(two);
            log(done.map((r) => r.request.url).join());
            log((await http.asyncRequest('POST', 'http://h/', 5)).status);
        }";
    let (asked, done, lines) = ran(source);
    assert_eq!(done, Ok(None));
    let urls: Vec<&str> = asked.iter().map(|ask| &*ask.url).collect();
    assert_eq!(urls, ["http://h/2", "http://h/1"]);
    assert_eq!(lines[0], "Info: asked");
    assert!(lines.contains(&"Info: http://h/1,http://h/2".to_owned()), "{lines:?}");
    assert!(lines.contains(&"Info: timer".to_owned()), "{lines:?}");
    assert_eq!(lines.last().map(String::as_str), Some("Info: 0"));
}

#[test]
fn a_batch_has_its_limits_and_keeps_its_shape() {
    let world = Rc::new(World::default());
    let mut vu = vu(
        &world,
        "import http from 'k6/http'; export default function () {
            const urls = (host) => Array.from({ length: 10 }, (_, i) => `http://${host}/${i}`);
            const list = http.batch([...urls('a'), ...urls('b'), ...urls('c'), ...urls('d')]);
            const object = http.batch({ x: 'http://h/x', y: ['PUT', 'http://h/y', 'b'],
                z: { method: 'post', url: 'http://h/z', body: 'c' }, bad: {} });
            return [list.length, list[39].request.url, Object.keys(object), object.z.request.method, object.bad.status];
        }",
    );
    let mut turn = iterate(&mut vu, 0, None);
    let mut waiting = asked(&mut vu);
    assert_eq!(waiting.len(), 20);
    let to_a = waiting.iter().filter(|action| {
        let Action::Http(_, ask) = action else { panic!("it asks for a request") };
        ask.url.starts_with("http://a/")
    });
    assert_eq!(to_a.count(), 6);
    while let StepResult::Waits { .. } = turn {
        let Action::Http(ticket, ask) = waiting.pop().unwrap() else {
            panic!("it asks for a request")
        };
        turn = vu.answer(ticket, response_to(*ask, 200, "")).unwrap();
        waiting.extend(asked(&mut vu));
        assert!(waiting.len() <= 20);
    }
    let expect = r#"[40,"http://d/9",["x","y","z","bad"],"POST",0]"#;
    assert_eq!(turn, StepResult::Done(Ok(Some(expect.to_owned()))));
}

#[test]
fn timers_that_set_timers_leave_others_their_turn() {
    let world = Rc::new(World::default());
    let mut vu = vu(
        &world,
        "export default function () { let n = 0; const f = () => { if (++n < 1000) setTimeout(f, 0) }; f() }",
    );
    let mut turn = iterate(&mut vu, 0, None);
    let mut turns = 0;
    while turn == (StepResult::Waits { until: Some(Nanos::ZERO) }) {
        turns += 1;
        turn = vu.wake().unwrap();
    }
    assert_eq!((turn, turns), (StepResult::Done(Ok(None)), 7));
}

#[test]
fn modules_may_wait_for_promises_and_timers() {
    let source = "let later = 'not yet'; setTimeout(() => { later = 'ran' }, 5000);
        const value = await new Promise((done) => setTimeout(done, 100, 'awaited'));
        export default function () { console.log(value, later) }";
    let (_, done, lines) = ran(source);
    assert_eq!((done, lines), (Ok(None), vec!["Info: awaited ran".to_owned()]));
}

#[test]
fn endless_jobs_are_interrupted() {
    let world = Rc::new(World::default());
    let mut vu = vu(
        &world,
        "export default function () { if (__ITER) return 1; const f = () => Promise.resolve().then(f); f() }",
    );
    world.patience.set(3);
    assert_eq!(iterate(&mut vu, 0, None), StepResult::Cut);
}
