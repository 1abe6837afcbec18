//! `Chromium`: a headless browser that is driven through its DevTools protocol, over two pipes.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{Scratch, Started, start};

/// A browser with one page. It ends with this, or with the limit of every command.
pub(crate) struct Chromium {
    _process: Started,
    orders: File,
    answers: BufReader<File>,
    session: Option<String>,
    sent: u64,
    errors: Vec<String>,
}

impl Chromium {
    /// Opens a page.
    pub(crate) fn open(scratch: &Scratch, url: &str) -> Self {
        assert!(
            Command::new("chromium").arg("--version").output().is_ok(),
            "this test needs a real browser: apt-get install -y chromium"
        );
        let pipes = ["orders", "answers"].map(|name| scratch.path(name));
        assert!(Command::new("mkfifo").args(&pipes).status().unwrap().success());
        let profile = format!("--user-data-dir={}", scratch.path("profile").display());
        let mut command = Command::new("sh");
        // With this flag it reads orders at descriptor 3 and answers at 4.
        command.args(["-c", "exec chromium \"$@\" 3<\"$ORDERS\" 4>\"$ANSWERS\"", "sh"]);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]);
        command.args(["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]);
        command.args(["--remote-debugging-pipe", &profile, "about:blank"]);
        command.env("ORDERS", &pipes[0]).env("ANSWERS", &pipes[1]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = start(command);
        let orders = File::options().write(true).open(&pipes[0]).unwrap();
        let answers = BufReader::new(File::open(&pipes[1]).unwrap());
        let (session, errors) = (None, Vec::new());
        let mut browser = Self { _process: process, orders, answers, session, sent: 0, errors };
        browser.attach(url);
        browser
    }

    fn attach(&mut self, url: &str) {
        let targets = self.order("Target.getTargets", &json!({}));
        let all = targets["targetInfos"].as_array().unwrap();
        let page = all.iter().find(|target| target["type"] == "page").expect("a page");
        let to = json!({ "targetId": page["targetId"], "flatten": true });
        let session = self.order("Target.attachToTarget", &to);
        self.session = Some(session["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Runtime", "Log", "Page"] {
            self.order(&format!("{domain}.enable"), &json!({}));
        }
        self.order("Page.navigate", &json!({ "url": url }));
    }

    /// The errors of the page: exceptions, and what the browser refused it.
    pub(crate) fn errors(&self) -> &[String] {
        &self.errors
    }

    /// The value of an expression of the page.
    #[track_caller]
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let given = json!({ "expression": expression, "returnByValue": true });
        let answer = self.order("Runtime.evaluate", &given);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Carries out an order of the protocol.
    #[track_caller]
    fn order(&mut self, method: &str, given: &Value) -> Value {
        self.sent += 1;
        let mut order = json!({ "id": self.sent, "method": method, "params": given });
        if let Some(session) = &self.session {
            order["sessionId"] = json!(session);
        }
        self.orders.write_all(format!("{order}\0").as_bytes()).unwrap();
        loop {
            let mut bytes = Vec::new();
            self.answers.read_until(0, &mut bytes).unwrap();
            assert_eq!(bytes.pop(), Some(0), "the browser ended");
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            if answer["id"] == self.sent {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    fn note(&mut self, event: &Value) {
        let is_error = event["params"]["entry"]["level"] == "error";
        if event["method"] == "Runtime.exceptionThrown" || is_error {
            self.errors.push(event["params"].to_string());
        }
    }
}
