//! Cookies, redirects, credentials and the rate of requests.

use std::sync::Arc;

use metrics::tally::Value;
use stdx::Nanos;
use users::{Auth, HttpRequest, RateLimit};
use workload::executor::Executor;

use super::step_user::{Step, Steps};
use super::world::{Reply, World, is_near, once, scenario, seconds};

#[test]
fn redirects_are_followed_with_the_cookies_they_set() {
    let steps = Steps::new(&[Step::Get("http://h/a"), Step::Get("http://h/later")]);
    let world = World::new(&steps, once(), 1).served_by(|target| match target.url.as_str() {
        "http://h/a" => {
            let mut reply = Reply::redirect(302, "/b?x=1");
            reply.fields += "Set-Cookie: session=1; Path=/\r\nSet-Cookie: gone=1; Max-Age=0\r\n";
            reply
        }
        "http://h/b?x=1" => Reply::redirect(301, "http://elsewhere/c"),
        "http://elsewhere/c" => {
            Reply { body: "here", fields: "Set-Cookie: other=2\r\n".to_owned(), ..Reply::ok() }
        }
        _ => Reply::ok(),
    });
    let ended = world.run();
    let expect = [
        "GET http://h/a",
        "GET http://h/b?x=1 session=1",
        "GET http://elsewhere/c",
        "GET http://h/later session=1",
    ];
    assert_eq!(ended.requests("Cookie"), expect);
    assert_eq!(ended.lines, ["200 http://elsewhere/c here", "200 as asked "]);
    assert_eq!(ended.sum("http_reqs"), 4.0, "each hop is a request");
}

#[test]
fn redirects_that_are_too_many_are_returned() {
    let steps = Steps::new(&[Step::Get("http://h/0")]);
    let world = World::with_plan(&steps, once(), 1, |plan| {
        plan.http.max_redirects = 2;
        plan.http.warns_of_redirects = true;
    });
    let ended = world.served_by(|target| Reply::redirect(302, &format!("{}0", target.url))).run();
    assert_eq!(ended.requests(""), ["GET http://h/0", "GET http://h/00", "GET http://h/000"]);
    assert!(ended.lines[0].starts_with("Stopped after 2 redirects"), "{:?}", ended.lines);
    assert_eq!(ended.lines[1], "302 http://h/000 ");
}

#[test]
fn a_redirect_leads_nowhere_with_a_text() {
    let steps = Steps::new(&[Step::Get("http://h/")]);
    let ended =
        World::new(&steps, once(), 1).served_by(|_| Reply::redirect(302, "http://h:x/")).run();
    let expect = "0 as asked  failed to parse Location header \"http://h:x/\": invalid port \":x\" after host";
    assert_eq!(ended.lines, [expect]);
}

/// A form with a body and credentials.
fn form() -> HttpRequest {
    HttpRequest {
        method: "POST".into(),
        url: "http://h/form".into(),
        headers: [("Authorization", "Basic eDp5"), ("Content-Type", "text/plain"), ("X", "1")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        body: Some(Arc::from(&b"text"[..])),
        ..HttpRequest::default()
    }
}

#[test]
fn methods_bodies_and_credentials_go_along_where_they_may() {
    let steps = Steps::new(&[Step::Send(|_| form())]);
    for (status, location, method, body, credentials) in [
        (302, "/next", "GET", "", true),
        (303, "/next", "GET", "", true),
        (307, "/next", "POST", "text", true),
        (308, "http://elsewhere/next", "POST", "text", false),
    ] {
        // A server is a plain function: the case is in the status that it is asked for.
        let world = World::new(&steps, once(), 1);
        let world = match status {
            302 => world.served_by(|target| first_then(target, 302, "/next")),
            303 => world.served_by(|target| first_then(target, 303, "/next")),
            307 => world.served_by(|target| first_then(target, 307, "/next")),
            _ => world.served_by(|target| first_then(target, 308, "http://elsewhere/next")),
        };
        let ended = world.run();
        let last = ended.sent.last().unwrap();
        let has = |name: &str| last.headers.iter().any(|(known, _)| known == name);
        assert!(last.url.ends_with(location), "{}", last.url);
        assert_eq!((last.method.as_str(), &*last.body), (method, body.as_bytes()), "{status}");
        assert_eq!(has("Authorization"), credentials, "{status}");
        assert_eq!(has("Content-Type"), !body.is_empty(), "{status}");
        assert!(has("X") && has("User-Agent"), "{status}");
    }
}

fn first_then(target: &workload::Target, status: u16, location: &str) -> Reply {
    if target.url == "http://h/form" { Reply::redirect(status, location) } else { Reply::ok() }
}

#[test]
fn a_digest_is_answered_where_it_was_asked_for() {
    let steps = Steps::new(&[Step::Send(|jar| HttpRequest {
        method: "GET".into(),
        url: "http://u:p@h/secret".into(),
        auth: Auth::Digest,
        jar: Some(jar),
        ..HttpRequest::default()
    })]);
    let world = World::new(&steps, once(), 1).served_by(|target| {
        let has = |(name, value): &(String, String)| {
            name == "Authorization" && value.starts_with("Digest username=\"u\", realm=\"r\"")
        };
        if target.headers.iter().any(has) {
            return Reply { body: "open", ..Reply::ok() };
        }
        let fields = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n";
        Reply { status: 401, fields: fields.to_owned(), ..Reply::default() }
    });
    let ended = world.run();
    assert_eq!(ended.lines, ["200 http://h/secret open"]);
    assert_eq!(ended.sent.len(), 2);
    let failed = ended.stats.tally.value("http_req_failed");
    assert!(matches!(failed, Some(Value::Rate { passes: 0, total: 2 })), "{failed:?}");
}

#[test]
fn each_user_has_cookies_of_its_own() {
    let executor = Executor::PerVuIterations { vus: 2, iterations: 2, max_duration: seconds(60.0) };
    let steps = Steps::new(&[Step::Get("http://h/")]);
    let world = World::new(&steps, scenario(executor, 1.0), 1).served_by(|target| {
        let known = target.headers.iter().find(|(name, _)| name == "Cookie");
        let field = known.map_or("Set-Cookie: seen=1\r\n", |_| "Set-Cookie: seen=2\r\n");
        Reply { fields: field.to_owned(), ..Reply::ok() }
    });
    let ended = world.run();
    let mut requests = ended.requests("Cookie");
    requests.sort();
    let expect = ["GET http://h/", "GET http://h/", "GET http://h/ seen=1", "GET http://h/ seen=1"];
    assert_eq!(requests, expect);
}

#[test]
fn all_requests_keep_to_the_rate() {
    let executor = Executor::PerVuIterations { vus: 5, iterations: 4, max_duration: seconds(60.0) };
    let steps = Steps::new(&[Step::Get("http://h/")]);
    let world = World::with_plan(&steps, scenario(executor, 1.0), 2, |plan| {
        plan.http.pace = Some(Arc::new(RateLimit::new(10)));
    });
    let ended = world.run();
    assert_eq!(ended.sent.len(), 20);
    assert!(is_near(ended.at, 1.91), "{}", ended.at);
    let durations = ended.stats.tally.value("http_req_duration").map(Value::count);
    assert_eq!(durations, Some(20));
}

#[test]
fn a_request_has_as_long_as_its_hops_leave() {
    let steps = Steps::new(&[Step::Send(|jar| HttpRequest {
        method: "GET".into(),
        url: "http://h/0".into(),
        timeout: Some(Nanos::from_millis(500)),
        jar: Some(jar),
        ..HttpRequest::default()
    })]);
    let mut world = World::new(&steps, once(), 1).served_by(|target| {
        if target.url == "http://h/0" { Reply::redirect(302, "/1") } else { Reply::ok() }
    });
    world.service_time = Nanos::from_millis(200);
    world.run_until(seconds(0.3));
    assert_eq!(world.timeouts(), [Nanos::from_millis(500), Nanos::from_millis(300)]);
}
