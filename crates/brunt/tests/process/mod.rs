//! The real binary as tests start it: bounded in time, ended by its number, steered by nothing of the tester's environment; and the
//! demo server in this process. It judges nothing.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use demo::{Config, Server};
use net::Address;
use signal_hook::consts::{SIGHUP, SIGINT};

/// Longer than any command here takes, even on a machine busy with other things.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A directory of its own for one test, gone at its end.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    /// Issue 41: two tests gave their folders one name, and one deleted the other's. The system makes it unique; `test` says in a
    /// listing whose it is.
    pub(crate) fn new(test: &str) -> Self {
        let dir = tempfile::Builder::new().prefix(&format!("brunt-e2e-{test}-")).tempdir();
        Self(dir.unwrap().keep())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file; gives its path as text.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            bytes: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    /// It ended with this code; gives itself for more questions.
    #[track_caller]
    pub(crate) fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// The line of the report that begins so.
    #[track_caller]
    pub(crate) fn line(&self, begin: &str) -> &str {
        let found = self.stdout.lines().find(|line| line.starts_with(begin));
        found.unwrap_or_else(|| panic!("no line {begin:?} in {self:#?}"))
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// Standard error is one line that holds all of these words.
    #[track_caller]
    pub(crate) fn complains_once(&self, words: &[&str]) {
        assert_eq!(self.stderr.trim_end().lines().count(), 1, "{self:#?}");
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is not in {:?}", self.stderr);
        }
    }
}

/// Has what is started from here on begin with the system's handling of SIGINT and SIGHUP, also where the tests run under `nohup`
/// or in a shell's background, which ignore them: an ignored signal stays ignored in what a process starts, a handled one does not.
pub(crate) fn restore_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [SIGINT, SIGHUP] {
            if net::machine::is_ignored(signal) {
                signal_hook::flag::register(signal, Arc::default()).unwrap();
            }
        }
    });
}

/// The binary with arguments split at blanks; nothing of the tester's environment steers it.
pub(crate) fn brunt(args: &str) -> Command {
    restore_signals();
    let mut command = Command::new(env!("CARGO_BIN_EXE_brunt"));
    command.args(args.split_whitespace());
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command.env_remove("BRUNT_SAVE").env_remove("BRUNT_STORE").env_remove("BRUNT_JOIN");
    // The tests may themselves run in a job of GitHub.
    command.env_remove("GITHUB_STEP_SUMMARY").env_remove("GITHUB_ACTIONS");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A started command that is killed if it takes longer than its limit.
pub(crate) struct Started {
    child: Option<Child>,
    _ended: Sender<()>,
}

pub(crate) fn start(command: Command) -> Started {
    start_within(command, LIMIT)
}

pub(crate) fn start_within(mut command: Command, limit: Duration) -> Started {
    restore_signals();
    let child = command.spawn().unwrap();
    let (ended, watch) = channel::<()>();
    let pid = child.id();
    std::thread::spawn(move || {
        // An error other than a timeout says that the command was waited for.
        if watch.recv_timeout(limit) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            signal("KILL", pid);
        }
    });
    Started { child: Some(child), _ended: ended }
}

impl Started {
    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        self.child.as_mut().unwrap()
    }

    /// Asks it to end, and waits until it has ended with all that it started.
    pub(crate) fn end(mut self) {
        signal("TERM", self.pid());
        self.child().wait().unwrap();
        self.child = None;
    }

    pub(crate) fn wait(mut self) -> Ran {
        self.child.take().unwrap().wait_with_output().unwrap().into()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// Runs a command with this on its standard input.
pub(crate) fn feed(mut command: Command, input: impl AsRef<[u8]>) -> Ran {
    command.stdin(Stdio::piped());
    let mut started = start(command);
    let mut stdin = started.child().stdin.take().unwrap();
    let input = input.as_ref().to_vec();
    let writer = std::thread::spawn(move || {
        // It may end without reading everything.
        stdin.write_all(&input).ok();
    });
    let ran = started.wait();
    writer.join().unwrap();
    ran
}

pub(crate) fn run(args: &str) -> Ran {
    start(brunt(args)).wait()
}

/// `first | second`: the codes of both and the second's output.
pub(crate) fn pipe(first: &str, input: &str, second: &str) -> (Option<i32>, Ran) {
    let mut command = brunt(first);
    command.stdin(Stdio::piped()).stderr(Stdio::inherit());
    let mut one = start(command);
    one.child().stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let mut command = brunt(second);
    command.stdin(one.child().stdout.take().unwrap());
    let ran = start(command).wait();
    (one.wait().code, ran)
}

/// Sends a signal to a process that we started, or to its group, whose number is below zero.
pub(crate) fn signal(name: &str, pid: impl Into<i64>) {
    let pid = pid.into();
    let arguments = [format!("-{name}"), "--".to_owned(), pid.to_string()];
    let status = Command::new("kill").args(arguments).status();
    assert!(status.is_ok_and(|status| status.success()), "kill -{name} {pid}");
}

/// Looks again and again until it holds; bounded by [`LIMIT`].
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LIMIT, "never: {what}");
        std::thread::yield_now();
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// The demo server on a free port of loopback, and its URL.
pub(crate) fn server(config: Config) -> (Server, String) {
    let anywhere = Address::Ip(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let server = Server::start(config, &[anywhere]).unwrap();
    let Address::Ip(at) = server.addresses()[0].clone() else { panic!("no IP address") };
    (server, format!("http://{at}"))
}

/// A port of loopback that is free and that no other test gets: below those which the system gives to connections.
pub(crate) fn free_port() -> u16 {
    const PORTS: std::ops::Range<u32> = 12_000..32_000;
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    let offset = std::process::id().wrapping_mul(97);
    let ports = std::iter::repeat_with(|| TAKEN.fetch_add(1, Ordering::Relaxed)).map(|taken| {
        u16::try_from(PORTS.start + offset.wrapping_add(taken) % PORTS.len() as u32).unwrap()
    });
    let mut ports = ports.take(PORTS.len());
    let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.find(is_free).expect("a free port")
}

/// Reads one line of a child's standard output.
pub(crate) fn first_line(output: &mut impl Read) -> String {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while output.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    String::from_utf8(line).unwrap()
}

/// The path as text.
pub(crate) fn text(path: &Path) -> String {
    path.display().to_string()
}
