//! Bottlenecks that are made on purpose in a real Rails on a real Puma: each is named, and following the advice raises what the server
//! answers. Advice that changes nothing where it is followed is worse than none.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::rails::Rails;
use crate::{Scratch, Started, free_port, run, start, text, until};

/// Runs of an attack until one shows an overload: other tests may hold the cores meanwhile.
const TRIES: usize = 4;

/// What one attack showed.
struct Shown {
    answered_per_s: f64,
    bottleneck: String,
    advice: String,
}

/// Attacks a page of the application with this rate, by way of this port.
fn attack(rails: &Rails, port: u16, page: &str, rate: u32) -> Shown {
    let (folder, watched) = (rails.folder(), rails.port);
    let (log, results) = (text(&folder.path("rails.log")), text(&folder.path("run.arrow")));
    let json = run(&format!(
        "attack -rate={rate} -duration=6s -timeout=2m -output={results} -watch -watch-port={watched} -watch-log=rails:{log} \
         -watch-every=200ms -json http://127.0.0.1:{port}/{page}"
    ));
    let json = json.with_code(0).json();
    let conclusion = json["brunt"]["conclusion"].as_array().unwrap().clone();
    let of_kind = |kind: &str| {
        let found = conclusion.iter().find(|sentence| sentence["kind"] == kind);
        found.map_or(String::new(), |one| one["text"].as_str().unwrap_or_default().to_owned())
    };
    let answered = &conclusion[0]["figures"]["answered_per_s"];
    Shown {
        answered_per_s: answered.as_f64().unwrap_or_else(|| panic!("{conclusion:?}")),
        bottleneck: of_kind("bottleneck"),
        advice: of_kind("advice"),
    }
}

/// The first of a few attacks that shows this bottleneck.
fn overloaded(rails: &Rails, port: u16, (page, rate): (&str, u32), words: [&str; 2]) -> Shown {
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let shown = attack(rails, port, page, rate);
        if shown.bottleneck.contains(words[0]) && shown.advice.contains(words[1]) {
            return shown;
        }
        seen.push(format!("{} {}", shown.bottleneck, shown.advice));
    }
    panic!("not {words:?} but {seen:#?}");
}

/// The server answers at least half as much again as before.
#[track_caller]
fn check_gain(before: &Shown, after: &Shown) {
    let (before, after) = (before.answered_per_s, after.answered_per_s);
    assert!(after > 1.5 * before, "{before}/s before the advice, {after}/s after it");
}

#[test]
fn issue_40_threads_that_are_taken_are_advised_and_help() {
    let page = ("wait?ms=50", 50);
    let rails = Rails::start_app("pages.ru", "few-threads", &["-t", "1:1"], &[]);
    let words = ["the threads or workers of rails", "try more workers or threads"];
    let before = overloaded(&rails, rails.port, page, words);
    let more = Rails::start_app("pages.ru", "more-threads", &["-t", "5:5"], &[]);
    check_gain(&before, &attack(&more, more.port, page.0, page.1));
}

#[test]
fn issue_40_a_pool_of_one_connection_is_no_want_of_threads() {
    let page = ("pooled?ms=50", 50);
    let threads = ["-t", "5:5"];
    let rails = Rails::start_app("pages.ru", "small-pool", &threads, &[("PAGES_POOL", "1")]);
    let words = ["something that requests wait for inside rails", "a connection pool"];
    let before = overloaded(&rails, rails.port, page, words);
    assert!(!before.advice.contains("threads"), "{}", before.advice);
    let more = Rails::start_app("pages.ru", "large-pool", &threads, &[("PAGES_POOL", "5")]);
    check_gain(&before, &attack(&more, more.port, page.0, page.1));
}

#[test]
fn issue_40_a_lock_is_no_want_of_threads() {
    let page = ("locked?ms=40", 60);
    let threads = ["-t", "5:5"];
    let rails = Rails::start_app("pages.ru", "locked", &threads, &[("PAGES_LOCK", "1")]);
    let words = ["something that requests wait for inside rails", "a lock"];
    let before = overloaded(&rails, rails.port, page, words);
    assert!(!before.advice.contains("threads"), "{}", before.advice);
    assert!(before.bottleneck.contains("neither view, database nor CPU, and the quickest took"));
    let free = Rails::start_app("pages.ru", "unlocked", &threads, &[]);
    check_gain(&before, &attack(&free, free.port, page.0, page.1));
}

/// An nginx that passes on so many requests a second, and has the others wait.
struct SlowProxy {
    _process: Started,
    _scratch: Scratch,
    port: u16,
}

impl SlowProxy {
    fn start(name: &str, to: u16, rate_per_s: u32) -> Self {
        let binary = "/usr/sbin/nginx";
        assert!(
            Path::new(binary).exists(),
            "this test needs nginx: apt-get install -y nginx-light"
        );
        let (scratch, port) = (Scratch::new(name), free_port());
        let dir = text(&scratch.0);
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|kind| format!("{kind}_temp_path {dir}/{kind};\n"))
            .collect();
        let config = format!(
            "daemon off;\nmaster_process off;\npid {dir}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}\
             limit_req_zone $binary_remote_addr zone=all:1m rate={rate_per_s}r/s;\nserver {{\nlisten 127.0.0.1:{port};\n\
             location / {{\nlimit_req zone=all burst=9000;\nproxy_pass http://127.0.0.1:{to};\n}}\n}}\n}}\n"
        );
        let config = scratch.file("nginx.conf", config);
        let mut command = Command::new(binary);
        command.args(["-p", &dir, "-c", &config, "-e", &format!("{dir}/error.log")]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = start(command);
        until("nginx listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { _process: process, _scratch: scratch, port }
    }
}

#[test]
fn issue_40_a_proxys_limit_is_looked_for_before_rails() {
    let page = ("wait?ms=50", 40);
    let rails = Rails::start_app("pages.ru", "proxied", &["-t", "5:5"], &[]);
    let slow = SlowProxy::start("slow-proxy", rails.port, 12);
    let words = ["the queue before rails", "look at what passes requests on"];
    let before = overloaded(&rails, slow.port, page, words);
    let quick = SlowProxy::start("quick-proxy", rails.port, 900);
    check_gain(&before, &attack(&rails, quick.port, page.0, page.1));
}
