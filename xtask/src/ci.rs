//! `ci`: every check of the project in one order, from one place. It stops at the first that fails and says how to run that
//! one alone. The tests come last, so that their count closes the output.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, anyhow};

use crate::{codegen, counts, deny, dist, process, test, tidy, web, workspace};

/// A step: its name, how to run it alone, and what it does.
struct Step {
    name: &'static str,
    alone: &'static str,
    run: fn() -> Result<ExitCode>,
}

const STEPS: [Step; 9] = [
    Step { name: "fmt", alone: "cargo fmt --all -- --check", run: fmt },
    Step {
        name: "clippy",
        alone: "cargo clippy --workspace --all-targets --locked -- -D warnings",
        run: clippy,
    },
    Step { name: "tidy", alone: "cargo xtask tidy", run: || tidy::run(&[]) },
    Step {
        name: "deny",
        alone: "cargo xtask deny --offline",
        run: || deny::run(&["--offline".to_owned()]),
    },
    Step { name: "sbom", alone: "cargo xtask sbom --check", run: || dist::sbom::run(&check()) },
    Step { name: "web", alone: "cargo xtask web --check", run: || web::run(&check()) },
    Step { name: "codegen", alone: "cargo xtask codegen --check", run: || codegen::run(&check()) },
    Step {
        name: "doc and counts",
        alone: "RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --document-private-items --locked; cargo xtask counts",
        run: doc_and_counts,
    },
    Step { name: "test", alone: "cargo xtask test", run: || test::run(&[]) },
];

/// What a first run writes below `target/`, in bytes: 7.7 GB by `du` (2026-11).
const FIRST_RUN: u64 = 8 << 30;

/// The command.
pub(crate) fn run(_arguments: &[String]) -> Result<ExitCode> {
    print_room(&workspace::target_dir()?);
    for step in &STEPS {
        println!("ci: {} ({})", step.name, step.alone);
        let start = Instant::now();
        let ended = (step.run)();
        let seconds = start.elapsed().as_secs_f64();
        match ended {
            // The tests have printed the line that must be the last.
            Ok(ExitCode::SUCCESS) if step.name == "test" => {}
            Ok(ExitCode::SUCCESS) => println!("ci: {} passed in {seconds:.1} s", step.name),
            Ok(code) if step.name == "test" => return Ok(code),
            failed => return Ok(fail(step, seconds, failed.err())),
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints how much room the disk has: without it builds and servers fail in ways that do not name it.
fn print_room(target: &Path) {
    // Nothing is there yet before the first build: its parent's disk is its own.
    let place = target.ancestors().find(|place| place.exists());
    let Some(Ok(disk)) = place.map(nix::sys::statvfs::statvfs) else { return };
    let free = disk.blocks_available() * disk.fragment_size();
    let short = if free < FIRST_RUN { ": too few where nothing is built yet" } else { "" };
    let gigabytes = |bytes: u64| bytes >> 30;
    println!(
        "ci: {} GiB are free, a first run takes {}{short}",
        gigabytes(free),
        gigabytes(FIRST_RUN)
    );
}

/// Prints which step failed and how to run it alone.
fn fail(step: &Step, seconds: f64, error: Option<anyhow::Error>) -> ExitCode {
    if let Some(error) = error {
        println!("ci: {error:#}");
    }
    println!("ci: {} FAILED after {seconds:.1} s; alone: {}", step.name, step.alone);
    ExitCode::FAILURE
}

fn check() -> [String; 1] {
    ["--check".to_owned()]
}

fn fmt() -> Result<ExitCode> {
    process::stream(&workspace::root(), "cargo", &["fmt", "--all", "--", "--check"])?;
    Ok(ExitCode::SUCCESS)
}

fn clippy() -> Result<ExitCode> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    process::stream(&workspace::root(), "cargo", &arguments)?;
    Ok(ExitCode::SUCCESS)
}

/// One core counts, and instructions are as many whatever runs beside them.
fn doc_and_counts() -> Result<ExitCode> {
    // Before cargo holds its folder to document.
    let program = counts::built()?;
    std::thread::scope(|scope| {
        let documents = scope.spawn(doc);
        let counts = counts::judge(&program);
        documents.join().map_err(|_| anyhow!("doc panicked"))??;
        counts
    })
}

fn doc() -> Result<ExitCode> {
    let arguments = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"];
    let driver = clippy_driver()?;
    let mut variables = vec![("RUSTDOCFLAGS", "-D warnings")];
    // What clippy has checked is not checked once more: cargo takes it for the same where driver and arguments are.
    if Path::new(&driver).exists() {
        variables.push(("RUSTC_WORKSPACE_WRAPPER", &driver));
        variables.push(("CLIPPY_ARGS", CLIPPY_ARGS));
    }
    process::stream_with(&workspace::root(), "cargo", &arguments, &variables)?;
    Ok(ExitCode::SUCCESS)
}

/// `-D warnings`, as `cargo clippy` hands it to its driver.
const CLIPPY_ARGS: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

/// The path of the compiler that `cargo clippy` runs.
fn clippy_driver() -> Result<String> {
    let sysroot = process::capture(&workspace::root(), "rustc", &["--print", "sysroot"])?;
    Ok(format!("{}/bin/clippy-driver", sysroot.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_come_last() {
        assert_eq!(STEPS.last().unwrap().name, "test");
        let mut names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STEPS.len());
    }
}
