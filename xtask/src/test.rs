//! `test`: every test of the workspace. It first makes sure of the Debian packages the tests need, streams what cargo
//! prints, and closes with one line, `N passed, N failed`. It passes only if something ran and nothing failed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};

use crate::{process, workspace};

/// Programs the tests start, and files they use, and the Debian package of each.
const NEEDED: [(&str, &str); 29] = [
    ("nginx", "nginx-light"),
    ("openssl", "openssl"),
    ("ip", "iproute2"),
    ("chromium", "chromium"),
    ("ab", "apache2-utils"),
    ("puma", "puma"),
    ("prometheus", "prometheus"),
    ("influxd", "influxdb"),
    ("prometheus-node-exporter", "prometheus-node-exporter"),
    ("/usr/share/doc/ruby-actioncable", "ruby-actioncable"),
    ("/usr/share/doc/ruby-railties", "ruby-railties"),
    ("/usr/share/doc/ruby-redis", "ruby-redis"),
    ("/usr/share/doc/ruby-activerecord", "ruby-activerecord"),
    ("/usr/share/doc/ruby-sqlite3", "ruby-sqlite3"),
    ("thin", "thin"),
    ("unicorn", "unicorn"),
    ("redis-server", "redis-server"),
    ("nats-server", "nats-server"),
    ("lighttpd", "lighttpd"),
    ("apache2", "apache2"),
    ("/usr/lib/apache2/modules/mod_passenger.so", "libapache2-mod-passenger"),
    ("wrk", "wrk"),
    ("hey", "hey"),
    ("python3", "python3"),
    ("valgrind", "valgrind"),
    ("go", "golang-go"),
    ("/usr/share/gocode/src/github.com/andybalholm/brotli", "golang-github-andybalholm-brotli-dev"),
    ("/usr/share/gocode/src/github.com/klauspost/compress", "golang-github-klauspost-compress-dev"),
    ("/usr/share/gocode/src/golang.org/x/net", "golang-golang-x-net-dev"),
];

/// The variable by which test programs know how many tests to run at once.
const THREADS: &str = "RUST_TEST_THREADS";

/// The crate whose unit tests wait, for other processes and for the protocol's own times: they run before the others, many at once.
const WAITING: &str = "control";
/// How many of them at once.
const WAITING_THREADS: &str = "8";

/// The command.
pub(crate) fn run(_arguments: &[String]) -> Result<ExitCode> {
    let count = install_needed().and_then(|()| cargo_test()).unwrap_or_else(|error| {
        println!("test: {error:#}");
        Count { passed: 0, failed: 1 }
    });
    // Stderr was cargo's; what it held back must not come after the count.
    std::io::stderr().flush()?;
    println!("{} passed, {} failed", count.passed, count.failed);
    Ok(if count.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Tests by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
}

impl Count {
    /// Something ran, and nothing failed.
    fn is_good(self) -> bool {
        self.passed > 0 && self.failed == 0
    }

    /// Adds what a `test result:` line says; other lines say nothing.
    fn add_line(&mut self, line: &str) {
        let Some(rest) = line.trim().strip_prefix("test result:") else { return };
        let number = |word: &str| -> u64 {
            let before = rest.split(word).next().unwrap_or_default();
            before.split_whitespace().next_back().and_then(|n| n.parse().ok()).unwrap_or(0)
        };
        self.passed += number(" passed");
        self.failed += number(" failed");
    }
}

/// Tests that run at once: one and a half for each core, unless the variable says otherwise. End-to-end tests mostly wait (two at
/// once used 27 % of two cores, 2026-11), and many more would make generators late.
fn threads() -> String {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::env::var(THREADS).unwrap_or_else(|_| (cores() * 3).div_ceil(2).to_string())
}

/// Runs cargo's tests; a crate that does not compile, or a test program that dies, counts as one failed.
fn cargo_test() -> Result<Count> {
    let root = workspace::root();
    let waiting = workspace::test_program(WAITING, &["--lib"])?;
    let mut command = process::command(waiting);
    command.env(THREADS, WAITING_THREADS).current_dir(root.join("crates").join(WAITING));
    let first = counted(&mut command)?;
    let mut command = process::command("cargo");
    command.args(["test", "--workspace", "--exclude", WAITING, "--locked", "--no-fail-fast"]);
    let others = counted(command.env(THREADS, threads()).current_dir(root))?;
    Ok(Count { passed: first.passed + others.passed, failed: first.failed + others.failed })
}

/// Runs tests and shows what they print.
fn counted(command: &mut Command) -> Result<Count> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("starting tests")?;
    let mut count = Count::default();
    let stdout = child.stdout.take().context("the tests' output")?;
    for line in BufReader::new(stdout).lines() {
        let line = line.context("reading the tests' output")?;
        println!("{line}");
        count.add_line(&line);
    }
    let status = child.wait().context("waiting for tests")?;
    if !status.success() && count.failed == 0 {
        println!("test: {status}: a crate did not compile or a test program died");
        count.failed = 1;
    }
    Ok(count)
}

/// Installs the packages that are missing, where that can be done; else says how.
pub(crate) fn install_needed() -> Result<()> {
    let missing = missing(|what| Path::new(what).exists() || process::find(what).is_some());
    if missing.is_empty() {
        return Ok(());
    }
    let line = format!("apt-get install -y --no-install-recommends {}", missing.join(" "));
    let root = process::capture(&workspace::root(), "id", &["-u"])?.trim() == "0";
    if !root || process::find("apt-get").is_none() {
        bail!("the tests need {}; as root: {line}", missing.join(", "));
    }
    println!("test: installing what the tests need: {line}");
    // RUNLEVEL keeps the packages from starting their services.
    let variables = [("RUNLEVEL", "1"), ("DEBIAN_FRONTEND", "noninteractive")];
    let root = workspace::root();
    process::stream_with(&root, "apt-get", &["update"], &variables)?;
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    process::stream_with(&root, "apt-get", &words, &variables)
}

/// The packages of the needed programs that `has` does not find.
fn missing(has: impl Fn(&str) -> bool) -> Vec<&'static str> {
    NEEDED.into_iter().filter(|(program, _)| !has(program)).map(|(_, package)| package).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_add_up_and_others_do_not() {
        let mut count = Count::default();
        for line in [
            "running 3 tests",
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.00s",
            "test a::b ... ok",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s",
            "I say: test result: 9 passed",
        ] {
            count.add_line(line);
        }
        assert_eq!(count, Count { passed: 15, failed: 2 });
    }

    #[test]
    fn a_run_without_tests_is_no_success() {
        assert!(!Count { passed: 0, failed: 0 }.is_good());
        assert!(!Count { passed: 5, failed: 1 }.is_good());
        assert!(Count { passed: 5, failed: 0 }.is_good());
    }

    #[test]
    fn missing_programs_name_their_packages() {
        assert_eq!(
            missing(|program| program == "openssl"),
            NEEDED
                .map(|(_, package)| package)
                .into_iter()
                .filter(|name| *name != "openssl")
                .collect::<Vec<_>>()
        );
        assert!(missing(|_| true).is_empty());
    }
}
