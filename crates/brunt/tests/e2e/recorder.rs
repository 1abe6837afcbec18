//! `brunt record` with curl as the client, a stand-in for Chromium, and the scripts that come out.

use std::fs::File;
use std::io::Write as _;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use demo::Config;
use serde_json::Value;

use crate::imports::site;
use crate::nginx::{Nginx, PAGE};
use crate::{Ran, Scratch, Started, brunt, free_port, run, server, signal, start, text, until};

/// A recorder under way, with an authority of its own.
struct Recording {
    process: Started,
    proxy: String,
    scratch: Scratch,
}

impl Recording {
    fn start(test: &str, flags: &str) -> Self {
        let scratch = Scratch::new(test);
        let proxy = format!("127.0.0.1:{}", free_port());
        let mut command = recorder(&scratch, &format!("-listen={proxy} {flags}"));
        command.stdin(Stdio::piped()).stderr(File::create(scratch.path("stderr")).unwrap());
        let process = start(command);
        until("the proxy listens", || TcpStream::connect(&proxy).is_ok());
        Self { process, proxy, scratch }
    }

    /// What it has written to standard error so far.
    fn stderr(&self) -> String {
        std::fs::read_to_string(self.scratch.path("stderr")).unwrap()
    }

    /// Types a name, and waits until its group has begun.
    fn mark(&mut self, name: &str) {
        writeln!(self.process.child().stdin.as_mut().unwrap(), "{name}").unwrap();
        until("the mark is taken", || self.stderr().contains(&format!("-- {name}")));
    }

    /// A request through it, as curl sends it; gives its body.
    fn curl(&self, args: &[&str]) -> String {
        let jar = text(&self.scratch.path("jar"));
        let authority = text(&self.scratch.path("data/brunt/record/authority.pem"));
        let mut command = Command::new("curl");
        command.args(["-sS", "--max-time", "20", "--noproxy", "", "--proxy", &self.proxy]);
        command.args(["--cacert", &authority, "-b", &jar, "-c", &jar]).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = start(command).wait().with_code(0);
        ran.stdout
    }

    /// Ends it as Ctrl-C does.
    fn end(self) -> (Ran, Scratch, String) {
        signal("INT", self.process.pid());
        let ran = self.process.wait();
        let stderr = std::fs::read_to_string(self.scratch.path("stderr")).unwrap();
        (ran, self.scratch, stderr)
    }
}

/// The command, with its outputs and its authority in a folder of the test.
fn recorder(scratch: &Scratch, flags: &str) -> Command {
    let mut command = brunt(&format!("record {flags}"));
    command.current_dir(&scratch.0).env("XDG_DATA_HOME", scratch.path("data"));
    command
}

fn entries(scratch: &Scratch, name: &str) -> Vec<Value> {
    let har = std::fs::read_to_string(scratch.path(name)).unwrap();
    let har: Value = serde_json::from_str(&har).unwrap();
    har["log"]["entries"].as_array().unwrap().clone()
}

fn log_in(recording: &mut Recording, address: &str) {
    recording.curl(&[&format!("{address}/login")]);
    recording.mark("log-in");
    let form = "token=form7Yb21kDs%2B%2F%3D&user=ada&password=engine+1843";
    recording.curl(&["-d", form, &format!("{address}/login")]);
    recording.curl(&[&format!("{address}/board")]);
    recording.mark("post");
    let token = ["-H", "X-CSRF-Token: page6Tz93vBn4", "-H", "Content-Type: application/json"];
    let post = ["-d", "{\"title\":\"Hello\"}", &format!("{address}/api/posts")];
    recording.curl(&[&token[..], &post].concat());
    let change = "{\"id\":905,\"title\":\"Hello again\"}";
    let put = ["-X", "PUT", "-d", change, &format!("{address}/api/posts/905")];
    recording.curl(&[&token[..], &put].concat());
}

#[test]
fn a_recorded_session_is_a_script_that_passes() {
    let (address, events) = site();
    let mut recording =
        Recording::start("record-session", "-with-secrets -output=shop.har -output=shop.js");
    log_in(&mut recording, &address);
    let (ran, scratch, stderr) = recording.end();
    assert!(ran.stdout.contains("POST   ") && ran.code == Some(0), "{ran:#?} {stderr}");
    assert!(stderr.contains("recorded 5 requests"), "{stderr}");
    let mode = scratch.path("shop.har").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let har = text(&scratch.path("shop.har"));
    let imported = run(&format!("import {har}")).with_code(0).stdout;
    let script = std::fs::read_to_string(scratch.path("shop.js")).unwrap();
    // The first line names the file that each was made of.
    let body = |script: &str| script.split_once('\n').unwrap().1.to_owned();
    assert_eq!(body(&imported), body(&script), "the same as of the HAR");
    for group in ["'start'", "'log-in'", "'post'"] {
        assert!(script.contains(group), "{group}: {script}");
    }
    let recorded = std::mem::take(&mut *events.lock().unwrap());
    assert!(recorded.iter().all(|event| !event.ends_with("422")), "{recorded:?}");
    let path = text(&scratch.path("shop.js"));
    run(&format!("run -q -e BASE_URL={address} {path}")).with_code(0);
    assert_eq!(*events.lock().unwrap(), recorded);
}

#[test]
fn secrets_are_in_no_har_unless_they_are_asked_for() {
    let (address, _) = site();
    let mut recording = Recording::start("record-secrets", "-json -output=shop.har");
    log_in(&mut recording, &address);
    let (ran, scratch, _) = recording.end();
    let har = std::fs::read_to_string(scratch.path("shop.har")).unwrap();
    for secret in ["engine", "visitor5h3kQ9", "member8Jx02Lp", "form7Yb21kDs", "page6Tz93vBn4"] {
        assert!(!har.contains(secret), "{secret}: {har}");
    }
    assert!(har.contains("user=ada"), "{har}");
    let lines: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[1]["status"]), (5, &303.into()), "{ran:#?}");
}

#[test]
fn curl_trusts_the_authority_and_a_second_interrupt_loses_nothing() {
    let identity = demo::self_signed().unwrap();
    let certificate = identity.certificate_pem.clone();
    let (_server, url) = server(Config { tls: Some(identity), ..Config::default() });
    let url = url.replace("http://127.0.0.1", "https://localhost");
    let scratch = Scratch::new("record-roots");
    let roots = scratch.file("roots.pem", certificate);
    let recording = Recording::start("record-tls", &format!("-root-certs={roots} -output=a.har"));
    recording.curl(&["--http1.1", &format!("{url}/one")]);
    recording.curl(&[&format!("{url}/two")]);
    signal("INT", recording.process.pid());
    let (ran, scratch, stderr) = recording.end();
    assert_eq!(ran.code, Some(0), "{stderr}");
    let urls: Vec<String> = entries(&scratch, "a.har")
        .iter()
        .map(|entry| entry["request"]["url"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(urls, [format!("{url}/one"), format!("{url}/two")]);
    let key = scratch.path("data/brunt/record/authority.key").metadata().unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
    let shown = start(recorder(&scratch, "-authority")).wait().with_code(0).stdout;
    assert!(shown.contains(&text(&scratch.path("data/brunt/record/authority.pem"))), "{shown}");
}

#[test]
fn nginx_with_http2_is_recorded() {
    let nginx = Nginx::start("record-nginx");
    let recording = Recording::start("record-http2", "-insecure -output=a.har -output=a.js");
    let url = format!("https://localhost:{}/", nginx.alpn);
    assert_eq!(recording.curl(&["--compressed", &url]), PAGE);
    let (ran, scratch, stderr) = recording.end();
    assert_eq!(ran.code, Some(0), "{stderr}");
    let entry = &entries(&scratch, "a.har")[0];
    assert_eq!(entry["response"]["content"]["text"], PAGE, "{entry}");
    assert_eq!(entry["response"]["httpVersion"], "h2", "{entry}");
    let script = text(&scratch.path("a.js"));
    run(&format!("run -q --insecure-skip-tls-verify {script}")).with_code(0);
}

/// A browser's stand-in: it loads the page through the proxy, trusting the key that it is given and no other.
const CHROMIUM: &str = r#"#!/bin/sh
for one in "$@"; do
  echo "$one" >> "$ARGUMENTS"
  case "$one" in
    --proxy-server=*) proxy="${one#--proxy-server=}" ;;
    --ignore-certificate-errors-spki-list=*) key="${one#--ignore-certificate-errors-spki-list=}" ;;
    --user-data-dir=*) test -d "${one#--user-data-dir=}" || exit 9 ;;
    http*) url="$one" ;;
  esac
done
exec curl -sS -k -o /dev/null --max-time 20 --noproxy '' --proxy "$proxy" --pinnedpubkey "sha256//$key" "$url"
"#;

fn with_browser(scratch: &Scratch, flags: &str) -> Command {
    let mut command = recorder(scratch, flags);
    let others = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{others}", text(&scratch.path("bin"))));
    command.env("ARGUMENTS", scratch.path("arguments"));
    command
}

#[test]
fn a_browser_trusts_this_process_and_its_end_is_the_recordings() {
    let (_server, url) =
        server(Config { tls: Some(demo::self_signed().unwrap()), ..Config::default() });
    let url = url.replace("http://", "https://") + "/page";
    let scratch = Scratch::new("record-browser");
    std::fs::create_dir(scratch.path("bin")).unwrap();
    let chromium = scratch.file("bin/chromium", CHROMIUM);
    std::fs::set_permissions(&chromium, std::fs::Permissions::from_mode(0o755)).unwrap();
    let flags = format!("-browser -insecure -output=a.har {url}");
    let ran = start(with_browser(&scratch, &flags)).wait().with_code(0);
    let entries = entries(&scratch, "a.har");
    assert_eq!(entries[0]["request"]["url"], url, "{ran:#?}");
    let arguments = std::fs::read_to_string(scratch.path("arguments")).unwrap();
    let profile = arguments.lines().find_map(|one| one.strip_prefix("--user-data-dir=")).unwrap();
    assert!(!std::path::Path::new(profile).exists(), "the profile is gone");
    assert!(arguments.contains("--proxy-bypass-list=<-loopback>"), "{arguments}");
}

#[test]
fn what_cannot_be_recorded_is_said_at_once() {
    let scratch = Scratch::new("record-refused");
    let ran = |flags: &str| start(recorder(&scratch, flags)).wait();
    // A wrong command line may have a second line, which names the help.
    let is_refused = |flags: &str, words: &[&str]| {
        let refused = ran(flags).with_code(2);
        assert!(refused.stderr.trim_end().lines().count() <= 2, "{refused:#?}");
        assert!(words.iter().all(|word| refused.stderr.contains(word)), "{words:?}: {refused:#?}");
    };
    is_refused("-output=a.txt", &["a.txt", ".har"]);
    is_refused("", &["-output"]);
    is_refused("-output=a.har -host=https://a.test", &["is no host"]);
    ran("-output=none/a.har").with_code(1).complains_once(&["none/a.har"]);
    let mut command = recorder(&scratch, "-browser -output=a.har");
    command.env("PATH", scratch.path("nothing"));
    let missing = start(command).wait();
    if !std::path::Path::new("/Applications").exists() {
        missing.with_code(10).complains_once(&["apt-get install -y chromium"]);
    }
    assert!(!scratch.path("a.har").exists());
    // A port that is taken.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = format!("-listen={} -output=a.har", taken.local_addr().unwrap());
    ran(&listen).with_code(1).complains_once(&["listening on"]);
}

#[test]
fn nothing_recorded_is_no_script() {
    let recording = Recording::start("record-nothing", "-output=a.js");
    let (ran, scratch, stderr) = recording.end();
    assert_eq!(ran.code, Some(3), "{stderr}");
    assert!(stderr.contains("nothing was recorded"), "{stderr}");
    assert!(!scratch.path("a.js").exists() && !scratch.path("a.har").exists());
}
