//! Strangers' texts in every field of a recording: none gets out of its string, and what is sent is what was recorded.

#[path = "../../../fuzz/checks/import_script.rs"]
mod import_script;

use import::{Kind, ScriptSettings, write_script};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What ends strings, templates, comments and lines, and what would run if one of them ended.
const PIECES: &[&str] = &[
    "'",
    "\"",
    "`",
    "${",
    "}",
    "\\",
    "\n",
    "\r",
    "\u{2028}",
    "\u{2029}",
    "*/",
    "/*",
    "//",
    "<!--",
    "-->",
    "</script>",
    ";evil_7();",
    "evil_7()",
    "(",
    ")",
    "ü",
    "\0",
    "::",
    "\u{202e}",
    "\u{feff}",
    "__proto__",
    "constructor",
    "a",
    "1",
    "=",
    "&",
    " ",
    "%27",
    "\u{1f600}",
    "$",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..7).prop_map(|pieces| pieces.concat())
}

/// A recording with the texts in all its fields.
fn recording(texts: &[String]) -> String {
    let text = |at: usize| texts[at % texts.len()].as_str();
    let header = |name: &str, at: usize| json!({"name": name, "value": text(at)});
    let answer = |at: usize| {
        json!({"status": 200, "headers": [header("Content-Type", at), header("Set-Cookie", at + 1), header(text(at), at + 2)],
            "content": {"mimeType": "text/html", "text": format!("<input type=hidden name={:?} value=k9xQ2w3E4r5>{}", text(at), text(at + 1))}})
    };
    let post = |body: Value, at: usize| {
        json!({"pageref": "p", "request": {"method": "POST", "url": format!("https://a.example/{}?{}={}", text(at), text(at + 1), text(at + 2)),
            "headers": [header("Content-Type", at), header("X-Any", at + 3), header(text(at + 4), at)],
            "cookies": [{"name": text(at), "value": text(at + 5)}], "postData": body}, "response": answer(at)})
    };
    let entries = [
        post(json!({"mimeType": "text/plain", "text": text(0)}), 0),
        post(json!({"mimeType": "a", "text": json!({text(1): text(2)}).to_string()}), 1),
        post(
            json!({"params": [{"name": text(3), "value": text(4), "fileName": text(5), "contentType": text(6)}]}),
            2,
        ),
        post(json!({"text": format!("{}=k9xQ2w3E4r5", text(2))}), 3),
        json!({"request": {"method": text(7), "url": "https://a.example/"}, "response": {"status": 200}}),
        json!({"request": {"method": "GET", "url": format!("wss://a.example/{}", text(1))}, "response": {"status": 101},
            "_webSocketMessages": [{"type": "receive", "data": text(2)}, {"type": "send", "data": text(3)}]}),
    ];
    let pages = json!([{"id": "p", "title": text(6)}]);
    json!({"log": {"creator": {"name": text(5)}, "pages": pages, "entries": entries}}).to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_text_of_a_recording_gets_out_of_its_string(texts in prop::collection::vec(text(), 8)) {
        let import = import_script::read(Kind::Har, &recording(&texts));
        let import = import.expect("the address of the first request is one whatever follows the host");
        let script = write_script(&import, &ScriptSettings::default());
        let strings = import_script::strings(&script);
        let has = |text: &str| strings.iter().any(|one| one == text);
        if !texts[0].is_empty() {
            prop_assert!(has(&texts[0]), "{:?}\n{script}", texts[0]);
        }
        let is_field = !texts[3].chars().any(|char| char.is_control() && char != '\t');
        if is_field {
            prop_assert!(has(&texts[3]), "{:?}\n{script}", texts[3]);
        }
    }
}
