//! Running brunt: a folder of its own for each test, input by pipe, a bound on time.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use demo::{Config, Server, ServiceTime};
use net::Address;

/// How long a process may run before the test fails.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A folder that goes with the test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("brunt-e2e-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// `brunt` with these arguments, in this folder.
pub(crate) fn brunt(folder: &Folder, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_brunt"));
    command.args(args).current_dir(&folder.0);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs brunt with `input` on its standard input; gives what it printed.
pub(crate) fn run(folder: &Folder, args: &[&str], input: &[u8]) -> Output {
    let mut child = brunt(folder, args).spawn().expect("brunt starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // It may end without reading all of its input; that is not this helper's to judge.
    let writer = std::thread::spawn(move || stdin.write_all(&input).ok());
    let id = child.id();
    let watchdog = watch(id);
    let output = child.wait_with_output().expect("brunt's output");
    watchdog.0.send(()).expect("the watchdog listens");
    assert!(
        !watchdog.1.join().expect("the watchdog"),
        "brunt {args:?} ran for more than {LIMIT:?}"
    );
    writer.join().expect("the writer");
    output
}

/// Ends the process when it takes too long; tells whether it had to.
fn watch(id: u32) -> (std::sync::mpsc::SyncSender<()>, std::thread::JoinHandle<bool>) {
    let (done, wait) = std::sync::mpsc::sync_channel(1);
    let thread = std::thread::spawn(move || {
        let late = wait.recv_timeout(LIMIT).is_err();
        if late {
            signal(id, "KILL");
        }
        late
    });
    (done, thread)
}

/// Sends a signal by name.
pub(crate) fn signal(id: u32, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &id.to_string()]).status();
    assert!(status.expect("kill runs").success(), "kill -{name} {id}");
}

/// Waits until `ready` holds.
pub(crate) fn wait_for(what: &str, mut ready: impl FnMut() -> bool) {
    let end = Instant::now() + LIMIT;
    while !ready() {
        assert!(Instant::now() < end, "{what} did not happen within {LIMIT:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The demo's server in this process, and its address.
pub(crate) fn server(service: &str) -> (Server, String) {
    let service = ServiceTime::parse(service).expect("a service time");
    let config = Config { service, ..Config::default() };
    let any = Address::Ip("127.0.0.1:0".parse().expect("an address"));
    let server = Server::start(config, &[any]).expect("the server starts");
    let Address::Ip(address) = server.addresses()[0] else {
        unreachable!("an IP address was asked for")
    };
    (server, format!("http://{address}"))
}

/// What a process printed, as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The JSON report of a results file.
pub(crate) fn report(folder: &Folder, file: &str) -> serde_json::Value {
    assert!(Path::new(file).exists(), "{file} is there");
    let output = run(folder, &["report", "-type=json", file], b"");
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a report in JSON")
}
