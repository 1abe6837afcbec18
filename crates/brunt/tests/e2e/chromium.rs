//! `Chromium`: a headless browser that is driven through its DevTools protocol, over two pipes.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Scratch, Started, start};

/// How long a page gets to show something.
const PATIENCE: Duration = Duration::from_secs(20);

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
        self.try_value(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    /// The same, or what went wrong: the page may be one that is just loading.
    fn try_value(&mut self, expression: &str) -> Result<Value, Value> {
        let given = json!({ "expression": expression, "returnByValue": true });
        let answer = self.try_order("Runtime.evaluate", &given)?;
        match answer.get("exceptionDetails") {
            Some(details) => Err(details.clone()),
            None => Ok(answer["result"]["value"].clone()),
        }
    }

    /// Has the page do what may lead to another page.
    #[track_caller]
    pub(crate) fn act(&mut self, statement: &str) {
        self.value(&format!("setTimeout(() => {{ {statement} }})"));
    }

    /// Waits until an expression of the page is true.
    #[track_caller]
    pub(crate) fn until(&mut self, condition: &str) {
        let begin = Instant::now();
        while self.try_value(condition) != Ok(json!(true)) {
            if begin.elapsed() > PATIENCE {
                let text = self.value("document.body.innerText");
                panic!("the page never had {condition}: {text}");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Clicks the button of this text.
    #[track_caller]
    pub(crate) fn click(&mut self, text: &str) {
        let buttons = "[...document.querySelectorAll('button')]";
        let has = format!("{buttons}.some((one) => one.textContent === {text:?})");
        assert_eq!(self.value(&has), json!(true), "{text}");
        self.act(&format!("{buttons}.find((one) => one.textContent === {text:?}).click()"));
    }

    /// Carries out an order of the protocol.
    #[track_caller]
    fn order(&mut self, method: &str, given: &Value) -> Value {
        self.try_order(method, given).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn try_order(&mut self, method: &str, given: &Value) -> Result<Value, Value> {
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
                return match answer.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(answer["result"].clone()),
                };
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
