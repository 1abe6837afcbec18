//! Whole recordings to scripts: what comes out, and what is noted.

use import::{FileProblem, Files, Import, Input, Kind, ScriptSettings, write_script};
use serde_json::{Value, json};

/// No file may be read.
struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _path: &str) -> Result<Vec<u8>, FileProblem> {
        Err(FileProblem::NotAllowed)
    }
}

fn read(text: &str) -> Import {
    let input = Input {
        name: "board.har",
        text,
        kind: Kind::Har,
        files: &NoFiles,
        environment: None,
        tags: &[],
        environment_name: None,
    };
    import::import(&input).expect("is read")
}

fn script(text: &str) -> String {
    write_script(&read(text), &ScriptSettings::default())
}

fn notes(text: &str) -> Vec<String> {
    read(text).notes.into_iter().map(|note| note.text).collect()
}

/// A recording of Chrome with these entries.
fn recording(entries: &[Value]) -> String {
    json!({"log": {"creator": {"name": "WebInspector"}, "entries": entries}}).to_string()
}

fn entry(method: &str, url: &str, answer: &Value) -> Value {
    json!({"_resourceType": "fetch", "request": {"method": method, "url": url}, "response": answer})
}

/// A log-in with a form, a token against forgery, a created thing that later requests name: an end-to-end test runs the script of the same file.
#[test]
fn a_recording_becomes_a_script_that_takes_its_values_from_answers() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/har");
    let text = std::fs::read_to_string(folder.join("board.har")).unwrap();
    let script = script(&text);
    let snapshot = folder.join("board.js");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&snapshot, &script).unwrap();
    }
    assert_eq!(script, std::fs::read_to_string(&snapshot).unwrap(), "UPDATE=1 rewrites it");
    assert_eq!(
        notes(&text),
        [
            "1 request to stats.tracker.example left out: a third party",
            "1 files of pages (scripts, styles, pictures) left out",
        ]
    );
}

/// Issue 48: each sink of a number had an extraction of its own, and a WebSocket a second constant for the same host.
#[test]
fn a_value_is_taken_once_and_a_socket_has_the_constant_of_its_page() {
    let socket = json!({"request": {"method": "GET", "url": "ws://board.example/cable"}, "response": {"status": 101},
        "_webSocketMessages": [
            {"type": "send", "opcode": 1, "data": "{\"post\":4711}"},
            {"type": "send", "opcode": 1, "data": "{\"post\":4711,\"again\":true}"}]});
    let text = recording(&[
        entry(
            "POST",
            "http://board.example/posts",
            &json!({"status": 303, "headers": [{"name": "Location", "value": "/posts/4711"}]}),
        ),
        entry("GET", "http://board.example/posts/4711", &json!({"status": 200})),
        socket,
        entry("GET", "http://board.example/posts/4711/comments", &json!({"status": 200})),
    ]);
    let made = script(&text);
    assert_eq!(made.matches("found.posts = ").count(), 1, "{made}");
    assert!(!made.contains("found.posts2"), "{made}");
    assert!(made.contains("const BASE_URL = __ENV.BASE_URL || 'http://board.example';"), "{made}");
    assert!(made.contains("converse(`${BASE_URL.replace('http', 'ws')}/cable`"), "{made}");
}

#[test]
fn a_recording_without_cookies_is_sanitised_only_if_the_site_has_a_session() {
    let is_noted = |entries: &[Value]| {
        notes(&recording(entries)).iter().any(|note| note.contains("sanitised"))
    };
    let list = entry(
        "GET",
        "https://a.example/items",
        &json!({"status": 200, "content": {"mimeType": "application/json", "text": "[1]"}}),
    );
    assert!(!is_noted(std::slice::from_ref(&list)));
    let token = json!({"status": 200, "content": {"mimeType": "application/json", "text": "{\"access_token\":\"x\"}"}});
    assert!(is_noted(&[list.clone(), entry("POST", "https://a.example/oauth", &token)]));
    let log_in = entry("POST", "https://a.example/users/sign_in", &json!({"status": 302}));
    assert!(is_noted(&[list.clone(), log_in.clone()]));
    let cookie = json!({"_resourceType": "fetch", "request": {"method": "GET", "url": "https://a.example/", "cookies": [{"name": "a", "value": "1"}]}, "response": {"status": 200}});
    assert!(!is_noted(&[list, log_in, cookie]));
}

/// Issue 48: what a WebSocket's messages hold travels to later messages and to later requests.
#[test]
fn values_of_messages_travel_to_messages_and_requests() {
    let socket = json!({"request": {"method": "GET", "url": "ws://chat.example/socket.io/"}, "response": {"status": 101},
        "_webSocketMessages": [
            {"type": "send", "opcode": 1, "data": "42[\"join\",\"lobby\"]"},
            {"type": "receive", "opcode": 1, "data": "42[\"message\",{\"id\":\"k3f9AbQ27xLm\"}]"},
            {"type": "receive", "opcode": 1, "data": "42[\"message\",{\"id\":\"p8d2QzR41vTn\"}]"},
            {"type": "send", "opcode": 1, "data": "42[\"ack\",{\"id\":\"p8d2QzR41vTn\"}]"},
            {"type": "receive", "opcode": 1, "data": "{\"type\":\"saved\",\"key\":\"w7g5BnM93cXe\"}"}]});
    let made = script(&recording(&[
        socket,
        entry("GET", "http://chat.example/saved/w7g5BnM93cXe", &json!({"status": 200})),
    ]));
    for part in [
        "{ after: 'message', text: () => `42[\"ack\",{\"id\":\"${inJson(found.",
        "needs: () => [found.",
        "= fromMessages(heard, 'message', 1, [1, 'id']); },",
        "= fromMessages(heard, 'saved', 0, ['key']); },",
        "/saved/${",
        "function fromMessages(",
    ] {
        assert!(made.contains(part), "{part}\n{made}");
    }
    assert!(!made.contains("p8d2QzR41vTn") && !made.contains("w7g5BnM93cXe"), "{made}");
}

#[test]
fn messages_that_are_not_searched_are_counted() {
    let message =
        |at: u32| json!({"type": "receive", "opcode": 1, "data": format!("{{\"n\":{at}}}")});
    let socket = |count: u32| {
        json!({"request": {"method": "GET", "url": "ws://chat.example/"}, "response": {"status": 101},
            "_webSocketMessages": (0..count).map(message).collect::<Vec<_>>()})
    };
    let has = |count: u32, text: &str| {
        let notes = notes(&recording(&[
            socket(count),
            entry("GET", "http://chat.example/", &json!({"status": 200})),
        ]));
        notes.iter().any(|note| note.contains(text))
    };
    assert!(has(503, "3 messages that came are not searched for values"));
    assert!(!has(500, "messages that came"));
}
