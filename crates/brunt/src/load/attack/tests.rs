//! argv → `LoadTest`, as text, per dialect. `UPDATE=1 cargo test -p brunt` rewrites the snapshots.

use std::path::{Path, PathBuf};

use cli::{CommandError, Dialect, GlobalFlags, Invocation};

use super::config::resolve;
use super::flags::FLAGS;
use crate::command::tests::check_snapshot;
use crate::dialect::LoadRules;
use crate::load::environment::Environment;

/// Command lines of both dialects; `TARGETS` is a file with two targets, `WRONG` one with two wrong lines.
const LINES: &[&str] = &[
    "-targets TARGETS -duration=5s -rate 6 -timeout 10s",
    "--targets=TARGETS --rate=120/m -duration 1m30s -name demo -output none",
    "-targets TARGETS -rate=0 -max-workers=64 -keepalive=false -redirects=-1 -timeout 0",
    "-targets TARGETS -rate=0",
    "-targets TARGETS -rate=infinity -max-workers 2",
    "-targets TARGETS -max-body 1KB -header A:1 -header B:2 -dns-ttl=-1 -laddr 127.0.0.2",
    "-targets TARGETS -lazy -connect-to a:80:b:81 -resolvers 1.1.1.1 -max-connections 3 -chunked",
    "-targets TARGETS -shape=linear:10..500 -duration=2m -tick 200us -pin -rt -q -output x.csv",
    "-targets TARGETS -shape=linear:10..500",
    "-targets TARGETS -shape=poisson -rate 100 -seed 7 -json",
    "-targets TARGETS -json -output stdout",
    "-targets TARGETS -format=xml",
    "-targets TARGETS -h2c",
    "-targets TARGETS -rate=0 -max-workers=0",
    "-targets TARGETS -tick 10m -duration=5s",
    "-targets WRONG",
    "-targets TARGETS -body /nowhere/at/all",
    "-targets TARGETS -cert /nowhere/at/all",
    "-targets TARGETS -rate=2000000000",
    "-targets TARGETS -duraton=5s",
    "-targets TARGETS extra -rate=6",
    "http://h/a -header A:1 http://h/b -rate=6 -duration=5s",
    "-targets TARGETS http://h/a",
    "-lazy http://h/a",
];

/// A directory of its own for one test, gone at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let dir =
            tempfile::Builder::new().prefix(&format!("brunt-{test}-")).tempdir().unwrap().keep();
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("targets"), "GET http://h/a\n\nPOST http://h/b\nC: 3\n").unwrap();
        std::fs::write(dir.join("wrong"), "GET http://h/a\n\nget http://h/b\n\nGET\n").unwrap();
        Self(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// An environment that is the same everywhere.
fn environment(stdout_is_terminal: bool) -> Environment<'static> {
    Environment {
        stdout_is_terminal,
        stderr_is_terminal: true,
        variable: &|name| (name == "HTTP_PROXY").then(|| "http://proxy:3128".to_owned()),
        cores: 8,
        seed: 1,
    }
}

/// The load test of a command line as text, or the exit code and message of its error.
fn resolved(dialect: Dialect, line: &str, dir: &Path) -> String {
    let path = |name: &str| dir.join(name).display().to_string();
    let line = line.replace("TARGETS", &path("targets")).replace("WRONG", &path("wrong"));
    let args = line.split(' ').map(str::to_owned).collect();
    let global = GlobalFlags { cpus: Some(2), ..GlobalFlags::default() };
    let invocation = Invocation { dialect, global, args };
    let args = invocation.parse(FLAGS).map_err(CommandError::from);
    let text =
        match args.and_then(|args| resolve(&args, LoadRules::of(dialect), &environment(false))) {
            Ok(load_test) => format!("{load_test:#?}"),
            Err(CommandError::Flags(error)) if dialect == Dialect::Vegeta => {
                format!("2: {}", error.go())
            }
            Err(CommandError::Flags(error)) => format!("2: {}", error.native()),
            Err(CommandError::Failed(failed)) => format!("{}: {failed}", failed.code as u8),
        };
    text.replace(&format!("{}/", dir.display()), "")
}

/// Compares the load test of every line with the dialect's snapshot.
fn check(dialect: Dialect, name: &str) {
    let scratch = Scratch::new(&format!("resolved-{name}"));
    let mut all = String::new();
    for line in LINES {
        all.push_str(&format!("$ attack {line}\n{}\n\n", resolved(dialect, line, &scratch.0)));
    }
    check_snapshot(&format!("src/load/attack/snapshots/{name}.txt"), &all);
}

#[test]
fn native_command_lines_come_to_load_tests() {
    check(Dialect::Native, "native");
}

#[test]
fn vegetas_command_lines_come_to_load_tests() {
    check(Dialect::Vegeta, "vegeta");
}

#[test]
fn a_terminal_gets_the_report_and_not_the_results() {
    let scratch = Scratch::new("terminal");
    let cases = [
        ("", "None", "Text"),
        ("-output=none", "None", "Text"),
        ("-output=x", "Some(File(\"x\"))", "Text"),
        ("-output=stdout", "Some(Stdout)", "Nothing"),
        ("-output=x -q", "Some(File(\"x\"))", "Nothing"),
        ("-json", "None", "Json"),
    ];
    for (flags, results, report) in cases {
        let mut args = vec![format!("-targets={}", scratch.0.join("targets").display())];
        args.extend(flags.split_whitespace().map(str::to_owned));
        let invocation =
            Invocation { dialect: Dialect::Native, global: GlobalFlags::default(), args };
        let args = invocation.parse(FLAGS).unwrap();
        let load_test = resolve(&args, &LoadRules::NATIVE, &environment(true)).unwrap();
        let got = (format!("{:?}", load_test.results), format!("{:?}", load_test.report));
        assert_eq!(got, (results.to_owned(), report.to_owned()), "{flags}");
    }
}
