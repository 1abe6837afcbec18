//! Seed 001 against real Rails with Action Cable: its three scripts, retyped, only their URLs given by `-e`.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Ran, Scratch, Started, free_port, run, start, text, until};

/// A running Rails application of Action Cable; ended by its number when dropped.
pub(crate) struct Rails {
    _process: Started,
    scratch: Scratch,
    /// Where it listens, on 127.0.0.1.
    pub(crate) port: u16,
}

/// The folder of this crate's tests.
const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");

impl Rails {
    /// Starts it on Puma, with these flags of Puma's and variables.
    pub(crate) fn start(name: &str, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::start_app("cable.ru", name, flags, variables)
    }

    /// Starts another application of the lab's.
    pub(crate) fn start_app(
        app: &str,
        name: &str,
        flags: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        for (path, package) in [
            ("/usr/bin/puma", "puma"),
            ("/usr/share/doc/ruby-actioncable", "ruby-railties ruby-actioncable ruby-redis"),
        ] {
            let there = Path::new(path).exists();
            assert!(there, "this test needs Rails: apt-get install -y {package}");
        }
        let (scratch, port) = (Scratch::new(name), free_port());
        let mut command = Command::new("/usr/bin/puma");
        let bind = format!("tcp://127.0.0.1:{port}");
        command.args(["-e", "production", "-b", &bind]).args(flags);
        command.arg(format!("{TESTS}/lab/{app}")).current_dir(&scratch.0);
        command.env("PAGES_DB", scratch.path("pages.sqlite3"));
        command.env("RAILS_LOG", scratch.path("rails.log")).envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = start(command);
        until("rails listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { _process: process, scratch, port }
    }

    /// The folder it runs in, with its log `rails.log`.
    pub(crate) fn folder(&self) -> &Scratch {
        &self.scratch
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://127.0.0.1:{}/cable", self.port)
    }

    /// How many lines of its log hold this text.
    pub(crate) fn logged(&self, what: &str) -> u64 {
        let log = std::fs::read_to_string(self.scratch.path("rails.log")).unwrap_or_default();
        log.lines().filter(|line| line.contains(what)).count() as u64
    }
}

/// One of the seed's scripts; the chat is a study's as well.
fn script(name: &str) -> String {
    match name {
        "chat" => format!("{TESTS}/../../../studies/cable-servers/chat.js"),
        _ => format!("{TESTS}/seeds/{name}.js"),
    }
}

/// Runs one of the seed's scripts; gives what it said and its exported summary.
fn seed(name: &str, flags: &str) -> (Ran, serde_json::Value) {
    let scratch = Scratch::new(&format!("seed-{name}"));
    let export = text(&scratch.path("summary.json"));
    let ran = run(&format!("run -q --summary-export {export} {flags} {}", script(name)));
    let ran = ran.with_code(0);
    let summary = std::fs::read_to_string(export).unwrap();
    (ran, serde_json::from_str(&summary).unwrap())
}

fn count(summary: &serde_json::Value, metric: &str) -> u64 {
    summary["metrics"][metric]["count"].as_u64().unwrap_or_else(|| panic!("{metric}: {summary}"))
}

#[test]
fn the_seeds_web_socket_scripts_pass_all_their_checks() {
    let rails = Rails::start("rails-ws", &["-t", "1:5"], &[("LOG_LEVEL", "debug")]);
    let flags = format!("-e WS_URL={} -e WS_COOKIE=uid=Kay1/1", rails.url());
    for (name, checks) in [
        ("ws", &["✓ subscribed", "✓ message recieved", "✓ status is 101"][..]),
        ("cable", &["✓ received res"]),
    ] {
        let before = ["#speak", "via streamed from", "subscription confirmation"];
        let logged = before.map(|what| rails.logged(what));
        let (ran, summary) = seed(name, &flags);
        for line in
            checks.iter().chain(&["checks_failed......: 0.00%", "ws_connecting", "ws_sessions"])
        {
            assert!(ran.stdout.contains(line), "{name}: {line}: {}", ran.stdout);
        }
        let [speaks, messages, confirmations] = before.map(|what| rails.logged(what));
        assert_eq!([speaks, messages, confirmations], logged.map(|before| before + 1), "{name}");
        assert_eq!(count(&summary, "ws_msgs_sent"), 2, "one subscribes and speaks");
        let received = count(&summary, "ws_msgs_received");
        // k6/ws also reports the welcome and, after three seconds, a ping.
        let more = received - 2;
        assert!(if name == "ws" { (1..=2).contains(&more) } else { more == 0 }, "{received}");
    }
}

#[test]
fn the_seeds_chat_is_counted_as_rails_counts_it() {
    let rails = Rails::start("rails-chat", &["-t", "1:5"], &[]);
    let flags = format!("-e CABLE_URL={} -e MAX=6 -e TIME=6", rails.url());
    let (ran, summary) = seed("chat", &flags);
    for line in [
        "✓ 'rate>0.9' rate=100.00%",
        "✓ successful connection",
        "✓ successful subscription",
        "✓ received its own message",
        "rtt..................: avg=",
        "ws_connecting........: avg=",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    let sessions = count(&summary, "ws_sessions");
    assert_eq!(sessions, rails.logged("Successfully upgraded to WebSocket"));
    let speaks = rails.logged("#speak");
    assert_eq!(count(&summary, "ws_msgs_sent"), speaks + sessions, "each subscribes once");
    let rtts = summary["metrics"]["rtt"]["avg"].as_f64().unwrap();
    assert!(rtts > 0.0 && speaks >= 5, "{summary}");
}

/// A refused user waits before the next try: the seed's script made 47,735 connects in 24 s.
#[test]
fn a_refused_chat_does_not_hammer() {
    let scratch = Scratch::new("chat-refused");
    let port = free_port();
    let started = |more: &str| {
        let export = text(&scratch.path("summary.json"));
        let flags = format!("-e CABLE_URL=ws://127.0.0.1:{port}/cable -e MAX=3 -e TIME=3 {more}");
        run(&format!("run -q --summary-export {export} {flags} {}", script("chat"))).with_code(99);
        let summary = std::fs::read_to_string(export).unwrap();
        count(&serde_json::from_str(&summary).unwrap(), "ws_sessions")
    };
    let (patient, hasty) = (started(""), started("--no-backoff"));
    assert!((3..=60).contains(&patient), "{patient} attempts");
    assert!(hasty > 10 * patient, "{hasty} attempts without a backoff, {patient} with");
}

/// A page of Rails has the URL of Action Cable for its script; the library that scripts import reads it.
#[test]
fn scripts_read_what_pages_of_rails_say() {
    let rails = Rails::start("rails-page", &["-t", "1:5"], &[]);
    let scratch = Scratch::new("rails-page-script");
    let script = scratch.file(
        "page.js",
        r#"
import http from "k6/http";
import cable from "k6/x/cable";
import { check } from "k6";
import { cableUrl, csrfToken } from "https://jslib.k6.io/k6-rails/0.1.0/index.js";
export default function () {
  const page = http.get(`http://${__ENV.HOST}/`).html();
  const client = cable.connect(`ws://${__ENV.HOST}${cableUrl(page)}`, { cookies: { uid: "A/1" }, codec: "json", tags: { kind: "page" } });
  const echo = client.subscribe("EchoChannel");
  echo.perform("echo", { text: "x" });
  const got = echo.receive((m) => m.text === "x");
  let rejected = "";
  try { client.subscribe("ChatChannel"); } catch (e) { rejected = e.message; }
  echo.unsubscribe();
  echo.perform("echo", { text: "y" });
  check(null, {
    token: () => csrfToken(page) === "token-of-the-page",
    echo: () => got.text === "x" && got.__timestamp__ > 1e12,
    rejected: () => rejected.includes("rejected"),
    unsubscribed: () => echo.receive() === null,
    "turned away": () => cable.connect(`ws://${__ENV.HOST}/cable`, { handshakeTimeoutS: 2 }) === null,
  });
  client.disconnect();
  client.disconnect();
}
export const options = { thresholds: { checks: ["rate==1"], "ws_sessions{kind:page}": ["count==1"] } };
"#,
    );
    let ran = run(&format!("run -q -e HOST=127.0.0.1:{} {script}", rails.port));
    assert!(ran.stdout.contains("✓ turned away"), "{} {}", ran.stdout, ran.stderr);
    ran.with_code(0);
}
