//! `cable`: its patterns against the demo's cable, whose own counts ours must equal, and against real Rails.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use demo::{Config, Server};
use serde_json::Value;
use stdx::Nanos;

use crate::rails::Rails;
use crate::{Ran, Scratch, Started, brunt, free_port, run, server, signal, start, text, until};

/// The demo server with such a cable, and the cable's URL.
fn cable(cable: demo::Cable) -> (Server, String) {
    let (server, url) = server(Config { cable: Some(cable), ..Config::default() });
    (server, format!("{}/cable", url.replace("http://", "ws://")))
}

/// Runs a pattern in the room `demo` of the chat.
fn chat_ran(pattern: &str, url: &str, flags: &str) -> Ran {
    let line = format!(
        "cable {pattern} {url} -channel ChatChannel -params {{\"id\":\"demo\"}} -json -cpus 2 {flags}"
    );
    run(&line)
}

/// The same, and gives its report as JSON.
fn chat(pattern: &str, url: &str, flags: &str) -> Value {
    chat_ran(pattern, url, flags).with_code(0).json()
}

fn number(json: &Value, path: &str) -> u64 {
    let value = json.pointer(path).unwrap_or_else(|| panic!("{path}: {json}"));
    value.as_u64().unwrap_or_else(|| panic!("{path}: {value}"))
}

#[test]
fn an_echo_measures_its_round_trips() {
    let (server, url) = cable(demo::Cable::default());
    for codec in ["json", "msgpack", "protobuf"] {
        let json = chat("echo", &url, &format!("-users 5 -rate 100 -d 1s -codec {codec}"));
        let sent = number(&json, "/echo/sent");
        assert!((50..=120).contains(&sent), "{json}");
        assert_eq!(number(&json, "/echo/answered"), sent);
        assert_eq!(number(&json, "/echo/round_trip/count"), sent);
        assert_eq!(number(&json, "/users/subscribed"), 5);
        assert_eq!(json["protocol"], format!("actioncable-v1-{codec}"));
    }
    let line = format!(
        "cable echo {url} -channel EchoChannel -perform echo:{{\"x\":[\"{{token}}\"]}} -rate 0 -d 500ms -json"
    );
    let json = run(&line).with_code(0).json();
    assert!(number(&json, "/echo/sent") > 100, "a closed loop of ten: {json}");
    assert_eq!(number(&json, "/echo/overheard"), 0, "an echo is heard by its sender alone");
    let messages = server.stats().sockets.ws_messages;
    assert!(messages > number(&json, "/echo/sent"), "{messages}");
}

/// Issue 14, N7: messages that will not come are waited for no longer than a second after an interrupt.
#[test]
fn an_interrupted_echo_does_not_wait_for_what_will_not_come() {
    let (server, url) = cable(demo::Cable { loss: 1.0, ..demo::Cable::default() });
    let line = format!(
        "cable echo {url} -channel ChatChannel -params {{\"id\":\"demo\"}} -users 3 -rate 100 -d 60s -json"
    );
    let started = start(brunt(&line));
    until("messages are under way", || server.stats().sockets.cable_broadcasts > 0);
    let since = std::time::Instant::now();
    signal("INT", started.pid());
    let json = started.wait().with_code(0).json();
    assert!(since.elapsed().as_secs() < 5, "{:?}, and the timeout is 10 s", since.elapsed());
    let of = |name: &str| number(&json, &format!("/echo/{name}"));
    assert!(of("sent") > 0, "{json}");
    assert_eq!((of("cut"), of("lost")), (of("sent"), 0), "{json}");
}

/// `wss:`, by the command and by a script; the server's certificate is its own.
#[test]
fn sockets_speak_tls() {
    let tls = Some(demo::self_signed().unwrap());
    let (server, url) =
        server(Config { cable: Some(demo::Cable::default()), tls, ..Config::default() });
    let url = format!("{}/cable", url.replace("http://", "wss://"));
    let json = chat("echo", &url, "-users 5 -rate 100 -d 1s -insecure");
    let sent = number(&json, "/echo/sent");
    assert!((50..=120).contains(&sent), "{json}");
    assert_eq!(number(&json, "/echo/answered"), sent);
    let refused = chat_ran("echo", &url, "-users 2 -rate 10 -d 300ms");
    assert!(refused.stdout.contains("certificate"), "{}", refused.stdout);

    let scratch = Scratch::new("wss");
    let script = scratch.file(
        "wss.js",
        r#"import ws from "k6/ws"; import { check } from "k6";
        export const options = { vus: 3, iterations: 9, insecureSkipTLSVerify: true, thresholds: { checks: ["rate==1"] } };
        export default function () {
            const answer = ws.connect(`${__ENV.URL}/ws-echo`, null, (socket) => {
                socket.on("open", () => socket.send("x".repeat(100000)));
                socket.on("message", (text) => { check(text, { whole: (t) => t === "x".repeat(100000) }); socket.close(); });
            });
            check(answer, { "is 101": (r) => r.status === 101 });
        }"#,
    );
    let root = url.trim_end_matches("/cable");
    let ran = run(&format!("run {script} -e URL={root}")).with_code(0);
    assert!(ran.stdout.contains("18 out of 18"), "{}", ran.stdout);
    until("all sockets are closed", || server.stats().sockets.sockets == 0);
}

/// An interval that is due again whenever its handler has run keeps neither the socket's messages nor other VUs from their turn.
#[test]
fn a_timer_that_is_always_due_leaves_turns() {
    let (_server, url) =
        server(Config { cable: Some(demo::Cable::default()), ..Config::default() });
    let scratch = Scratch::new("ws-endless-timer");
    let script = scratch.file(
        "timer.js",
        r#"import ws from "k6/ws";
        export const options = { vus: 2, iterations: 2 };
        export default function () {
            let ticks = 0;
            ws.connect(`${__ENV.URL}/ws-echo`, (socket) => {
                socket.setInterval(() => { ticks += 1; }, 0.000001);
                socket.on("open", () => socket.send("a"));
                socket.on("message", (text) => { console.log(text, ticks > 0); socket.close(); });
            });
        }"#,
    );
    let root = url.replace("http://", "ws://");
    let ran = run(&format!("run -cpus 1 {script} -e URL={}", root.trim_end_matches('/')));
    let ran = ran.with_code(0);
    assert_eq!(ran.stderr.matches("a true").count(), 2, "{}", ran.stderr);
}

#[test]
fn a_broadcast_counts_what_the_server_counts() {
    let defects = demo::Cable { loss: 0.1, duplicate: 0.05, ..demo::Cable::default() };
    let (server, url) = cable(defects);
    let scratch = Scratch::new("cable-broadcast");
    let results = text(&scratch.path("cable.arrow"));
    let flags = format!(
        "-users 20 -speakers 3 -rate 50 -d 2s -timeout 1s -cookies uid=Kay{{user}}/{{user}} -output {results}"
    );
    let json = chat("broadcast", &url, &flags);
    let stats = server.stats().sockets;
    assert_eq!(number(&json, "/broadcast/sent"), 100, "50 a second for 2 s: {json}");
    assert_eq!(number(&json, "/broadcast/sent"), stats.cable_broadcasts);
    let of = |name: &str| number(&json, &format!("/broadcast/deliveries/{name}"));
    assert_eq!(of("expected"), 20 * 100);
    assert_eq!((of("lost"), of("duplicated")), (stats.cable_lost, stats.cable_duplicated));
    assert_eq!(of("delivered") + of("duplicated"), stats.cable_sent);
    assert!(of("lost") > 100 && of("out_of_order") == 0, "{json}");
    let messages = json["broadcast"]["messages"].as_array().unwrap();
    let lost: u64 = messages.iter().map(|message| number(message, "/lost")).sum();
    assert_eq!((messages.len(), lost), (100, of("lost")));
    // The rows: a connection for each user, and a message each.
    let report = run(&format!("report -type json {results}")).with_code(0).json();
    assert_eq!(number(&report, "/requests"), 120);
    assert_eq!(number(&report, "/status_codes/101"), 20);
    assert_eq!(number(&report, "/status_codes/200"), number(&json, "/broadcast/complete"));
}

#[test]
fn late_and_overtaken_messages_are_counted() {
    let (server, url) = cable(demo::Cable { reorder: 0.2, ..demo::Cable::default() });
    let json = chat("broadcast", &url, "-users 5 -rate 100 -d 1s");
    let of = |name: &str| number(&json, &format!("/broadcast/deliveries/{name}"));
    assert_eq!((of("lost"), of("delivered")), (0, 500), "what is held back goes before a ping");
    // The last of a socket has no next one to be overtaken by.
    let (told, known) = (of("out_of_order"), server.stats().sockets.cable_reordered);
    assert!(told > 50 && told <= known && known <= told + 5, "{told} of {known}");
}

#[test]
fn a_lossy_broadcast_fails_where_it_is_asked_to() {
    let (_server, url) = cable(demo::Cable { loss: 0.5, ..demo::Cable::default() });
    let line = format!(
        "cable broadcast {url} -channel ChatChannel -params {{\"id\":1}} -rate 20 -d 500ms -timeout 300ms -fail-on-loss"
    );
    let ran = run(&line).with_code(9);
    assert!(ran.line("Deliveries").contains("[owed, made, lost, cut off]"), "{ran:#?}");
    assert!(ran.stdout.contains("[a message]"), "{ran:#?}");
    let (_server, url) = cable(demo::Cable::default());
    let line = format!("cable echo {url} -channel None -d 100ms -fail-on-loss");
    let ran = run(&line).with_code(9);
    assert!(ran.stdout.contains("10  subscription rejected"), "{ran:#?}");
}

#[test]
fn idle_sockets_are_held_and_their_pings_watched() {
    let ping = Nanos::from_millis(100);
    let (_server, url) = cable(demo::Cable { ping, ..demo::Cable::default() });
    let json = chat("idle", &url, "-users 200 -ramp 200ms -d 1s");
    assert_eq!((number(&json, "/users/open_most"), number(&json, "/users/dropped")), (200, 0));
    assert!(number(&json, "/pings/heard") > 200 * 5, "{json}");
    assert_eq!(number(&json, "/pings/silences"), 0);
    assert_eq!(number(&json, "/memory/sockets"), 200);
    assert!(number(&json, "/memory/bytes_per_socket") > 0);
}

#[test]
fn a_herd_comes_back_after_each_cut() {
    let (server, url) = cable(demo::Cable::default());
    let json = chat("herd", &url, "-users 100 -cuts 2 -d 100ms -jitter 200ms");
    let rounds = json["rounds"].as_array().unwrap();
    assert_eq!(rounds.len(), 3);
    assert!(rounds.iter().all(|round| number(round, "/subscribed") == 100), "{json}");
    assert_eq!(server.stats().sockets.sockets_total, 300);
    assert!(number(&rounds[1], "/ready/max") > 100_000_000, "jitter spreads them: {json}");
}

#[test]
fn who_is_dropped_by_the_server_comes_back() {
    let disconnect_after = Some(Nanos::from_millis(1_200));
    let (_server, url) = cable(demo::Cable { disconnect_after, ..demo::Cable::default() });
    let json = chat("herd", &url, "-users 30 -d 2s");
    assert!(number(&json, "/users/dropped") >= 30, "{json}");
    assert_eq!(
        number(&json, "/problems/disconnected: server_restart"),
        number(&json, "/users/dropped")
    );
    assert!(number(&json, "/recovered/count") >= 30, "{json}");
}

#[test]
fn nobody_hammers_a_server_that_is_not_there() {
    let url = format!("ws://127.0.0.1:{}/cable", free_port());
    let attempts = |flags: &str| {
        let json = chat("herd", &url, &format!("-users 3 -give-up 1s -d 10ms {flags}"));
        let (attempts, refused) =
            (number(&json, "/users/attempts"), number(&json, "/users/refused"));
        // Some are under way when it ends.
        assert!((refused..=refused + 3).contains(&attempts), "{json}");
        assert_eq!(number(&json, "/rounds/0/given_up"), 3);
        attempts
    };
    let (patient, hasty) = (attempts(""), attempts("-no-backoff"));
    assert!((6..=18).contains(&patient), "100, 200, 400 ms, less up to half: {patient}");
    assert!(hasty > 10 * patient, "{hasty}");
}

#[test]
fn wrong_command_lines_are_refused() {
    for (line, words) in [
        ("cable", &["pattern", "URL"][..]),
        ("cable chat ws://h -channel C", &["\"chat\"", "herd"]),
        ("cable echo ws://h", &["-channel"]),
        ("cable echo ws://h -channel C -params x", &["-params"]),
        ("cable echo ws://h -channel C -from 203.0.113.9", &["203.0.113.9"]),
    ] {
        let ran = run(line);
        assert!(matches!(ran.code, Some(2 | 3)), "{line}: {ran:#?}");
        ran.complains_once(words);
    }
}

/// A Redis of its own; ended by its number when dropped.
fn redis(scratch: &Scratch) -> (Started, u16) {
    let port = free_port();
    let there = Path::new("/usr/bin/redis-server").exists();
    assert!(there, "this test needs Redis: apt-get install -y redis-server");
    let mut command = Command::new("/usr/bin/redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
    command.current_dir(&scratch.0).stdin(Stdio::null()).stdout(Stdio::null());
    let process = start(command);
    until("redis listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    (process, port)
}

/// The loss that seed 001's chat.js hides: each of its users waits for its own message alone.
#[test]
fn a_broadcast_finds_what_rails_loses_between_its_processes() {
    let flags = ["-w", "2", "-t", "1:5", "--preload"];
    let speak = |rails: &Rails| -> Ran {
        // Connections go to either process by chance: all to one in 2 of 2^24 runs.
        run(&format!(
            "cable broadcast {} -channel ChatChannel -params {{\"id\":\"demo\"}} -users 24 -rate 20 -d 1s -timeout 2s \
             -cookies uid=Kay{{user}}/{{user}} -json -fail-on-loss",
            rails.url()
        ))
    };
    let rails = Rails::start("cable-async", &flags, &[("CABLE_ADAPTER", "async")]);
    until("both processes answer", || speak(&rails).code == Some(9));
    let json = speak(&rails).with_code(9).json();
    let of = |name: &str| number(&json, &format!("/broadcast/subscribers/{name}"));
    assert_eq!((of("all") + of("none"), of("some")), (24, 0), "{json}");
    assert!(of("none") > 0 && of("all") > 0, "{json}");
    let lost = number(&json, "/broadcast/deliveries/lost");
    assert_eq!(lost, of("none") * number(&json, "/broadcast/sent"), "those hear nothing at all");
    drop(rails);
    let scratch = Scratch::new("cable-redis");
    let (_redis, port) = redis(&scratch);
    let url = format!("redis://127.0.0.1:{port}/1");
    let variables = [("CABLE_ADAPTER", "redis"), ("REDIS_URL", url.as_str())];
    let rails = Rails::start("cable-with-redis", &flags, &variables);
    let json = speak(&rails).with_code(0).json();
    assert_eq!(number(&json, "/broadcast/subscribers/all"), 24, "{json}");
    assert_eq!(number(&json, "/broadcast/deliveries/delivered"), 24 * 20);
}
