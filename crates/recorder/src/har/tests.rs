//! HARs as crate `import` reads them.

use import::{Files, Import, Input, Kind};
use proptest::prelude::*;
use serde_json::Value;
use stdx::Nanos;

use super::*;
use crate::exchange::{Body, Direction, Exchange, Message, Payload, RequestHead, ResponseHead};

/// An input names no files here.
struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<Vec<u8>, import::FileProblem> {
        Err(import::FileProblem::Unreadable)
    }

    fn now_s(&self) -> u64 {
        0
    }
}

fn har(record: &Record, secrets: Secrets) -> String {
    let mut out = Vec::new();
    write_har(record, secrets, "0.1.0", &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn read_back(text: &str) -> Import {
    let input = Input {
        name: "r.har",
        text,
        kind: Kind::Har,
        files: &NoFiles,
        environment: None,
        tags: &[],
        environment_name: None,
    };
    import::import(&input).unwrap()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn body(bytes: &[u8]) -> Body {
    Body { bytes: bytes.to_vec(), len: bytes.len() as u64 }
}

fn exchange(at_ms: u64, method: &str, url: &str) -> Exchange {
    Exchange {
        started: Nanos::from_millis(at_ms),
        answered: Nanos::from_millis(at_ms + 20),
        ended: Some(Nanos::from_millis(at_ms + 30)),
        request: RequestHead {
            method: method.into(),
            url: url.into(),
            host: "shop.example".into(),
            version: "HTTP/1.1",
            headers: vec![],
        },
        response: Some(ResponseHead {
            status: 200,
            reason: "OK".into(),
            version: "HTTP/1.1",
            headers: pairs(&[("Content-Type", "text/html")]),
        }),
        ..Exchange::default()
    }
}

/// A log-in with a token, two groups and a WebSocket.
fn session() -> Record {
    let mut form = exchange(0, "GET", "https://shop.example/login");
    form.received = body(b"<form action=/login><input name=token value='form7Yb21kDs'>");
    let mut login = exchange(2000, "POST", "https://shop.example/login");
    login.request.headers = pairs(&[("Content-Type", "application/x-www-form-urlencoded")]);
    login.sent = body(b"token=form7Yb21kDs&user=ada&password=engine1843");
    let mut socket = exchange(4000, "GET", "https://shop.example/cable");
    socket.response.as_mut().unwrap().status = 101;
    socket.messages = [(Direction::Sent, "{\"a\":1}"), (Direction::Received, "{\"type\":\"b\"}")]
        .map(|(direction, text)| Message {
            at: Nanos::from_millis(4100),
            direction,
            payload: Payload::Text(text.to_owned()),
        })
        .to_vec();
    let mark = |at_ms, name: &str| Mark { at: Nanos::from_millis(at_ms), name: name.to_owned() };
    Record {
        epoch_us: 1_795_752_609_723_456,
        exchanges: vec![form, login, socket],
        marks: vec![mark(1000, "log-in"), mark(3000, "talk")],
        ..Record::default()
    }
}

#[test]
fn marks_are_pages_and_groups() {
    let text = har(&session(), Secrets::Shown);
    let value: Value = serde_json::from_str(&text).unwrap();
    let titles: Vec<&str> = value["log"]["pages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|page| page["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["start", "log-in", "talk"]);
    let entries = &value["log"]["entries"];
    assert_eq!(entries[0]["startedDateTime"], "2026-11-27T04:10:09.723Z");
    assert_eq!(
        (&entries[1]["pageref"], &entries[2]["request"]["url"]),
        (&"page_1".into(), &"wss://shop.example/cable".into())
    );
    assert_eq!(entries[2]["_webSocketMessages"][0]["type"], "send");
    assert_eq!(entries[1]["timings"]["wait"], 20.0);
    let groups: Vec<String> = read_back(&text).groups.into_iter().map(|group| group.name).collect();
    assert_eq!(groups, ["start", "log-in", "talk"]);
}

/// What is hidden is hidden everywhere, and the script of it still takes the token from the page.
#[test]
fn hidden_secrets_leave_a_har_that_a_script_can_be_made_of() {
    let text = har(&session(), Secrets::Hidden);
    for secret in ["form7Yb21kDs", "engine1843"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert!(text.contains("user=ada"));
    let settings = import::ScriptSettings { open_prefix: String::new() };
    let hidden = import::write_script(&read_back(&text), &settings);
    let shown = import::write_script(&read_back(&har(&session(), Secrets::Shown)), &settings);
    let lines = |script: &str| script.lines().count();
    assert_eq!(lines(&hidden), lines(&shown), "{hidden}\n{shown}");
    assert!(shown.contains("token"), "{shown}");
}

#[test]
fn a_cut_body_is_not_sent_in_part() {
    let mut cut = exchange(0, "POST", "https://shop.example/upload");
    cut.request.headers =
        pairs(&[("content-type", "application/json"), ("content-length", "9000")]);
    cut.sent = Body { bytes: b"{\"a\":".to_vec(), len: 9000 };
    let record = Record { exchanges: vec![cut], ..Record::default() };
    let value: Value = serde_json::from_str(&har(&record, Secrets::Shown)).unwrap();
    let data = &value["log"]["entries"][0]["request"]["postData"];
    assert_eq!((data.get("text"), data["comment"].as_str().is_some()), (None, true));
    let import = read_back(&value.to_string());
    assert!(import.notes.iter().any(|note| note.text.contains("9000 bytes")), "{:?}", import.notes);
}

#[test]
fn an_exchange_without_an_answer_is_one_without_a_status() {
    let mut failed = exchange(0, "GET", "https://shop.example/");
    (failed.response, failed.failure) = (None, Some("connection refused".to_owned()));
    let record = Record { exchanges: vec![failed], ..Record::default() };
    let value: Value = serde_json::from_str(&har(&record, Secrets::Shown)).unwrap();
    let response = &value["log"]["entries"][0]["response"];
    assert_eq!(
        (&response["status"], &response["_error"]),
        (&0.into(), &"connection refused".into())
    );
}

fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{0,20}",
        Just("\"}]}}\n</script>${`\\".to_owned()),
        Just("\u{202e}\u{0}\u{2028}\u{feff}".to_owned()),
        Just("password=a&b=%&=;=;".to_owned()),
        Just("{\"password\":\"a\",\"token\":\"\"}".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever passed, the HAR is one: with every entry, the texts as they were, and readable by crate `import`.
    #[test]
    fn hostile_texts_make_a_har_that_is_read_back(
        texts in proptest::collection::vec(hostile(), 8),
        bytes in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut one = exchange(0, "POST", "https://shop.example/a?b=1");
        one.request.headers = vec![(texts[0].clone(), texts[1].clone()), ("cookie".into(), texts[2].clone())];
        one.request.headers.push(("content-type".into(), texts[3].clone()));
        one.sent = body(texts[4].as_bytes());
        one.received = body(&bytes);
        let head = one.response.as_mut().unwrap();
        head.headers.push(("set-cookie".into(), texts[5].clone()));
        one.messages.push(Message { at: Nanos(1), direction: Direction::Sent, payload: Payload::Text(texts[6].clone()) });
        let marks = vec![Mark { at: Nanos(0), name: texts[7].clone() }];
        let record = Record { exchanges: vec![one, exchange(1, "GET", "https://shop.example/c")], marks, ..Record::default() };
        for secrets in [Secrets::Shown, Secrets::Hidden] {
            let text = har(&record, secrets);
            let value: Value = serde_json::from_str(&text).unwrap();
            let entries = value["log"]["entries"].as_array().unwrap();
            prop_assert_eq!(entries.len(), 2);
            if secrets == Secrets::Shown {
                let sent = &entries[0]["request"];
                prop_assert_eq!(sent["headers"][0]["value"].as_str(), Some(&*texts[1]));
                let post = sent["postData"]["text"].as_str().unwrap_or_default();
                prop_assert_eq!(post, &*texts[4]);
            }
            prop_assert!(read_back(&text).exchanges().count() >= 1);
        }
    }
}
