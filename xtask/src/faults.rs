//! `faults`: every fault of the machine and of its users against every command (`crates/brunt/tests/faults`), in the long form: all
//! signals, all limits, kills at random moments. Prints a line for each case, and the count.

use std::io::{BufRead, BufReader};
use std::process::{ExitCode, Stdio};

use anyhow::{Context, Result, bail};

use crate::{process, workspace};

/// Random moments at which each process is killed, unless `--moments` says another number.
const MOMENTS: u64 = 100;

/// What is run.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    seed: u64,
    moments: u64,
    /// A part of the names of cases; empty: all.
    only: String,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self { seed: 1, moments: MOMENTS, only: String::new() };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            match word.as_str() {
                "--seed" => options.seed = value()?.parse().context("--seed N")?,
                "--moments" => options.moments = value()?.parse().context("--moments N")?,
                "--only" => options.only.clone_from(value()?),
                other => bail!("faults takes --seed, --moments and --only, not {other}"),
            }
        }
        Ok(options)
    }
}

/// Cases by how they ended.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
}

impl Count {
    /// Adds what a case's line says; gives the line without its mark. Other lines are of no case.
    fn add<'a>(&mut self, line: &'a str) -> Option<&'a str> {
        // The test program's own line may stand before it.
        let (_, text) =
            line.split_once("fault ").filter(|(before, _)| !before.contains("panicked"))?;
        if text.starts_with("passed ") {
            self.passed += 1;
        } else if text.starts_with("FAILED ") {
            self.failed += 1;
        } else {
            return None;
        }
        Some(text)
    }

    /// Whether cases passed and none failed. That none was run, with this part of their names, is an error.
    fn has_passed(&self, only: &str) -> Result<bool> {
        if self.failed == 0 && self.passed == 0 {
            bail!("no case has {only:?} in its name");
        }
        Ok(self.failed == 0)
    }
}

/// The command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let options = Options::parse(arguments)?;
    println!("faults: seed {}, {} moments", options.seed, options.moments);
    let mut child = process::command("cargo")
        .args(["test", "--package", "brunt", "--test", "faults", "--locked", "--", "--nocapture"])
        .env("BRUNT_FAULTS_SEED", options.seed.to_string())
        .env("BRUNT_FAULTS_MOMENTS", options.moments.to_string())
        .env("BRUNT_FAULTS_ONLY", &options.only)
        .current_dir(workspace::root())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("starting cargo")?;
    let mut count = Count::default();
    let stdout = child.stdout.take().context("cargo's output")?;
    for line in BufReader::new(stdout).lines() {
        if let Some(text) = count.add(&line.context("reading cargo's output")?) {
            println!("{text}");
        }
    }
    let is_good = child.wait().context("waiting for cargo")?.success();
    println!("{} passed, {} failed", count.passed, count.failed);
    let has_passed = is_good && count.has_passed(&options.only)?;
    Ok(if has_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_values() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let parsed = Options::parse(&words("--seed 7 --only kill --moments 3")).unwrap();
        assert_eq!(parsed, Options { seed: 7, moments: 3, only: "kill".to_owned() });
        for wrong in ["--seed", "--seed x", "--all"] {
            assert!(Options::parse(&words(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lines_of_cases_are_counted_and_others_are_not() {
        let mut count = Count::default();
        for line in [
            "fault passed kill: attack after 3ms (0.1 s)",
            "test kills::a ... fault FAILED kill: run after 4ms (0.2 s)",
            "test kills::a ... ok",
            "a fault of the machine",
        ] {
            count.add(line);
        }
        assert_eq!(count, Count { passed: 1, failed: 1 });
    }

    #[test]
    fn that_no_case_ran_is_an_error() {
        let refused = Count::default().has_passed("kil:").unwrap_err().to_string();
        assert_eq!(refused, "no case has \"kil:\" in its name");
        assert!(Count { passed: 1, failed: 0 }.has_passed("").unwrap());
        assert!(!Count { passed: 1, failed: 1 }.has_passed("").unwrap());
        assert!(!Count { passed: 0, failed: 1 }.has_passed("").unwrap());
    }
}
