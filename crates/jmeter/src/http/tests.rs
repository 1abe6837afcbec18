//! Exchanges with servers that lead elsewhere, without a network.

use std::rc::Rc;
use std::sync::Arc;

use jmx::{Element, MemoryScope, Writing, read_plan};
use stdx::Nanos;
use users::{Host, HttpRequest, HttpResponse, Level};

use super::exchange::{Exchange, Step};
use crate::plan::compile::Program;
use crate::results::sample::SampleResult;
use crate::thread::scope::Thread;
use crate::world::{Base, Disk, LogLevel, Sink, World, WorldPlan};

/// A host that stands still, a disk without files, a sink that keeps nothing.
struct Nothing;

impl Host for Nothing {
    fn now(&self) -> Nanos {
        Nanos::ZERO
    }
    fn log(&self, _: Level, _: &str) {}
}

impl Disk for Nothing {
    fn read(&self, _: &str, _: Base) -> Option<Vec<u8>> {
        None
    }
    fn write(&self, _: &str, _: &[u8], _: Writing) -> bool {
        false
    }
}

impl Sink for Nothing {
    fn sample(&self, _: &SampleResult) {}
    fn collect(&self, _: &Element, _: &SampleResult) {}
    fn log(&self, _: LogLevel, _: &str, _: &str, _: &str) {}
}

/// A GET of `http://a/` with credentials in its headers, that follows redirects and asks for what pages embed.
const PLAN: &str = "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree><ThreadGroup testname=\"G\"/><hashTree>\
    <HTTPSamplerProxy testname=\"s\"><stringProp name=\"HTTPSampler.domain\">a</stringProp>\
    <stringProp name=\"HTTPSampler.path\">/</stringProp><boolProp name=\"HTTPSampler.follow_redirects\">true</boolProp>\
    <boolProp name=\"HTTPSampler.image_parser\">true</boolProp></HTTPSamplerProxy><hashTree>\
    <HeaderManager testname=\"h\"><collectionProp name=\"HeaderManager.headers\">\
    FIELDS</collectionProp></HeaderManager><hashTree/></hashTree></hashTree></hashTree></hashTree></jmeterTestPlan>";
const SECRETS: [&str; 4] = ["Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key"];

fn program() -> Program {
    let field = |name: &str| {
        format!(
            "<elementProp name=\"\" elementType=\"Header\"><stringProp name=\"Header.name\">{name}</stringProp>\
             <stringProp name=\"Header.value\">v</stringProp></elementProp>"
        )
    };
    let fields: String = SECRETS.into_iter().chain(["X-Plain"]).map(field).collect();
    let text = PLAN.replace("FIELDS", &fields);
    let (file, _) = read_plan(text.as_bytes(), jmx::UnknownScripts::Refused).expect("a plan");
    Program::compile(&file, &mut MemoryScope::default(), &|_| None).expect("a program")
}

fn thread(program: Program) -> Thread {
    thread_with(program, Arc::new(Nothing))
}

/// A thread whose samples go there.
pub(crate) fn thread_with(program: Program, sink: Arc<dyn Sink>) -> Thread {
    let world = World::new(WorldPlan {
        program: Arc::new(program),
        properties: [].into(),
        file_name: String::new(),
        disk: Arc::new(Nothing),
        sink,
        seed: 1,
        utc_offset_s: |_| 0,
        machine: (String::new(), String::new()),
    });
    Thread::new(&world, Rc::new(Nothing), 0, 1)
}

fn reply(head: &str, body: &str) -> HttpResponse {
    let status = head[9..12].parse().expect("a status");
    let head = Some(format!("{head}\r\n").into_bytes().into());
    HttpResponse { status, head, body: Some(body.into()), ..HttpResponse::default() }
}

/// The address of a request, whether it has the plan's credentials, and whether the engine sees a stranger in it.
fn seen(request: &HttpRequest) -> (String, bool, bool) {
    let has = |name: &str| request.header(name).is_some();
    let with: Vec<bool> = SECRETS.into_iter().map(has).collect();
    assert!(with.iter().all(|one| *one == with[0]) && has("X-Plain"), "{:?}", request.headers);
    (request.url.to_string(), with[0], request.is_led_away)
}

/// The requests of a sampler whose server answers so, one after another.
#[track_caller]
fn check(replies: &[(&str, &str)], expect: &[(&str, bool, bool)]) {
    let mut thread = thread(program());
    let program = Arc::clone(&thread.program);
    let node = &program.samplers[0];
    let (mut exchange, mut step) = Exchange::begin(node, &mut thread);
    let mut found = Vec::new();
    let mut replies = replies.iter();
    while let Step::Send(request) = step {
        found.push(seen(&request));
        let (head, body) = replies.next().unwrap_or(&("HTTP/1.1 200 OK\r\n", ""));
        step = exchange.answer(reply(head, body), node, &mut thread);
    }
    let found: Vec<_> =
        found.iter().map(|(url, with, away)| (url.as_str(), *with, *away)).collect();
    assert_eq!(found, expect);
}

#[test]
fn redirects_to_others_have_no_credentials() {
    let to = |to: &str| format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\n");
    check(
        &[(&to("/x"), ""), (&to("http://A:80/y"), "")],
        &[("http://a/", true, false), ("http://a/x", true, false), ("http://A:80/y", true, false)],
    );
    check(
        &[(&to("http://b/x"), ""), (&to("http://a/y"), "")],
        &[("http://a/", true, false), ("http://b/x", false, true), ("http://a/y", false, true)],
    );
    check(
        &[(&to("http://a:81/"), "")],
        &[("http://a/", true, false), ("http://a:81/", false, true)],
    );
    check(&[(&to("//b/"), "")], &[("http://a/", true, false), ("http://b/", false, true)]);
}

#[test]
fn resources_of_others_have_no_credentials() {
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    let body = "<img src=/1><img src=http://b/2><script src=http://a/3></script>";
    check(
        &[(page, body)],
        &[
            ("http://a/", true, false),
            ("http://a/1", true, false),
            ("http://b/2", false, true),
            ("http://a/3", true, false),
        ],
    );
    // The page of another server does not get at the plan's credentials by naming the plan's server.
    check(
        &[("HTTP/1.1 302 Found\r\nLocation: http://b/\r\n", ""), (page, "<img src=http://a/1>")],
        &[("http://a/", true, false), ("http://b/", false, true), ("http://a/1", false, true)],
    );
}

#[test]
fn pages_in_pages_are_followed() {
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    let plain = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n";
    check(
        &[
            (page, "<iframe src=http://b/dir/frame.html></iframe><img src=/last>"),
            (page, "<img src=in><img src=http://a/2>"),
            (plain, ""),
        ],
        &[
            ("http://a/", true, false),
            ("http://b/dir/frame.html", false, true),
            ("http://b/dir/in", false, true),
            // The page of another server does not get at the plan's credentials by naming the plan's server.
            ("http://a/2", false, true),
            ("http://a/last", true, false),
        ],
    );
}

#[test]
fn pages_that_name_each_other_end() {
    let mut thread = thread(program());
    let program = Arc::clone(&thread.program);
    let node = &program.samplers[0];
    let (mut exchange, mut step) = Exchange::begin(node, &mut thread);
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    let body: String = (0..10).map(|n| format!("<iframe src=/{n}></iframe>")).collect();
    let mut sent = 0;
    let sample = loop {
        match step {
            Step::Send(_) => sent += 1,
            Step::Done(sample) => break sample,
            Step::Nothing => panic!("no sample"),
        }
        step = exchange.answer(reply(page, &body), node, &mut thread);
    };
    assert!(sent < 2_100, "{sent}");
    let mut deepest = &*sample;
    let mut depth = 0;
    while let Some(child) = deepest.children.get(1).filter(|child| !child.children.is_empty()) {
        (deepest, depth) = (child, depth + 1);
    }
    assert_eq!(depth, 6);
    assert!(deepest.children[0].message.ends_with("nesting depth exceeded."), "{deepest:?}");
}

#[test]
fn a_field_of_the_plans_own_goes_before_a_manager() {
    let manager = "<AuthManager testname=\"m\"><collectionProp name=\"AuthManager.auth_list\"><elementProp name=\"\" elementType=\"Authorization\">\
        <stringProp name=\"Authorization.url\">http://a/</stringProp><stringProp name=\"Authorization.username\">u</stringProp>\
        <stringProp name=\"Authorization.password\">p</stringProp></elementProp></collectionProp></AuthManager><hashTree/>";
    let own = "<elementProp name=\"\" elementType=\"Header\"><stringProp name=\"Header.name\">authorization</stringProp><stringProp name=\"Header.value\">own</stringProp></elementProp>";
    for (fields, expect) in [("", "Basic dTpw"), (own, "own")] {
        let text = PLAN
            .replace("FIELDS", fields)
            .replace("<HeaderManager", &format!("{manager}<HeaderManager"));
        let (file, _) = read_plan(text.as_bytes(), jmx::UnknownScripts::Refused).expect("a plan");
        let program = Program::compile(&file, &mut MemoryScope::default(), &|_| None);
        let mut thread = thread(program.expect("a program"));
        let program = Arc::clone(&thread.program);
        let Step::Send(request) = Exchange::begin(&program.samplers[0], &mut thread).1 else {
            panic!("nothing is sent")
        };
        let sent: Vec<&str> = request
            .headers
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case("Authorization"))
            .map(|(_, value)| value.as_str())
            .collect();
        assert_eq!(sent, [expect]);
    }
}

#[test]
fn a_manager_that_ignores_cookies_keeps_and_sends_none() {
    for (policy, expect) in [("standard", Some("a=1")), ("ignoreCookies", None)] {
        let manager = format!(
            "<CookieManager testname=\"c\"><stringProp name=\"CookieManager.policy\">{policy}</stringProp></CookieManager><hashTree/><HeaderManager"
        );
        let text = PLAN.replace("FIELDS", "").replace("<HeaderManager", &manager);
        let (file, _) = read_plan(text.as_bytes(), jmx::UnknownScripts::Refused).expect("a plan");
        let program = Program::compile(&file, &mut MemoryScope::default(), &|_| None);
        let mut thread = thread(program.expect("a program"));
        let program = Arc::clone(&thread.program);
        let node = &program.samplers[0];
        let (mut exchange, _) = Exchange::begin(node, &mut thread);
        let answer = reply("HTTP/1.1 302 Found\r\nLocation: /x\r\nSet-Cookie: a=1\r\n", "");
        let Step::Send(request) = exchange.answer(answer, node, &mut thread) else {
            panic!("the redirect is not followed")
        };
        assert_eq!(request.header("Cookie"), expect, "{policy}");
    }
}

#[test]
fn javas_own_client_sends_letters_that_no_address_has() {
    for (implementation, sends) in [("HttpClient4", false), ("Java", true)] {
        let path = format!(
            "/?a=${{nope}}</stringProp><stringProp name=\"HTTPSampler.implementation\">{implementation}</stringProp>"
        );
        let text = PLAN.replace("FIELDS", "").replace("/</stringProp>", &path);
        let (file, _) = read_plan(text.as_bytes(), jmx::UnknownScripts::Refused).expect("a plan");
        let program = Program::compile(&file, &mut MemoryScope::default(), &|_| None);
        let mut thread = thread(program.expect("a program"));
        let program = Arc::clone(&thread.program);
        let step = Exchange::begin(&program.samplers[0], &mut thread).1;
        let url =
            if let Step::Send(request) = step { request.url.to_string() } else { String::new() };
        assert_eq!(url, if sends { "http://a/?a=${nope}" } else { "" });
    }
}
