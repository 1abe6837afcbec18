//! `fuzz`: every fuzz target in turn, each for its share of the time, on stable Rust: libFuzzer's coverage comes from LLVM, and
//! AddressSanitizer from the runtime that rustc ships. A crash, a hang or too much memory fails, and its line replays it.
//! `--mutate` runs whole load tests against mutated servers instead.
//! What a target finds by itself grows below `target/fuzz/corpus`; the seeds in `fuzz/corpus` are only read.

mod build;
mod log;
mod mutants;
mod options;
mod table;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::{process, workspace};

use build::{Programs, Sanitizer};
use log::Outcome;
use options::Options;

/// The memory that an input may have, in MiB: one larger allocation, or more in sum, ends the target.
const MEMORY_MIB: u64 = 512;
/// The time that an input may take, in seconds.
const INPUT_SECONDS: u64 = 10;
/// Inputs are no longer than this, in bytes, unless a seed is.
const INPUT_BYTES: u64 = 2048;
/// Freed memory that AddressSanitizer holds back, in MiB: with its usual 256 the peak would be that of the sanitizer.
const QUARANTINE_MIB: u64 = 32;

/// Where everything of a target lies.
struct Setting {
    root: PathBuf,
    /// `target/fuzz`.
    dir: PathBuf,
    programs: Programs,
}

/// The command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let options = Options::parse(arguments)?;
    let root = workspace::root();
    let dir = workspace::target_dir()?.join("fuzz");
    if let Some(outputs) = options.mutate {
        mutants::run(&root, &dir, outputs, options.seed)?;
        return Ok(ExitCode::SUCCESS);
    }
    let targets = targets(&root, &options.only)?;
    let programs = build::build(&root, &dir, options.sanitizer)?;
    if programs.sanitizer == Sanitizer::None {
        println!("fuzz: without AddressSanitizer: only panics, hangs and memory are seen");
    }
    let setting = Setting { root, dir, programs };
    let start = Instant::now();
    let mut rows = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let share = options.share(start.elapsed(), targets.len() - index);
        let outcome = setting.run(target, share, options.inputs)?;
        println!("fuzz: {}", table::line(target, &outcome));
        rows.push((target.clone(), outcome));
    }
    println!("\n{}", table::document(&rows));
    let faults = rows.iter().flat_map(|(target, outcome)| {
        let program = setting.programs.path(target);
        outcome.faults.iter().map(move |fault| fault.line(&program))
    });
    let lines: Vec<String> = faults.collect();
    lines.iter().for_each(|line| println!("{line}"));
    Ok(if lines.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The names of the targets: each file in `fuzz/fuzz_targets`, or those that were asked for.
fn targets(root: &Path, only: &[String]) -> Result<Vec<String>> {
    let files = workspace::files_below(root, "fuzz/fuzz_targets")?;
    let names = files.iter().filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned()));
    let all: Vec<String> = names.collect();
    for name in only {
        if !all.contains(name) {
            bail!("no target {name}; there are {}", all.join(", "));
        }
    }
    let chosen = all.into_iter().filter(|name| only.is_empty() || only.contains(name));
    Ok(chosen.collect())
}

impl Setting {
    /// Runs one target until the time is up, it has had so many inputs (0: no end), or one of them is a fault.
    fn run(&self, target: &str, time: Duration, inputs: u64) -> Result<Outcome> {
        let seeds = self.root.join("fuzz/corpus").join(target);
        let grown = self.dir.join("corpus").join(target);
        let artifacts = self.dir.join("artifacts").join(target);
        for dir in [&grown, &artifacts] {
            fs::create_dir_all(dir).with_context(|| format!("making {}", dir.display()))?;
        }
        ensure!(seeds.is_dir(), "fuzz/corpus/{target}: a target needs seeds");
        let log = self.dir.join(format!("{target}.log"));
        let file = File::create(&log).with_context(|| format!("writing {}", log.display()))?;
        let limits = [
            format!("-max_total_time={}", time.as_secs().max(1)),
            format!("-max_len={}", longest(&seeds)?.max(INPUT_BYTES)),
            format!("-rss_limit_mb={MEMORY_MIB}"),
            format!("-timeout={INPUT_SECONDS}"),
            format!("-artifact_prefix={}/", artifacts.display()),
            "-print_final_stats=1".to_owned(),
        ];
        let runs = (inputs > 0).then(|| format!("-runs={inputs}"));
        let sanitizer = format!("quarantine_size_mb={QUARANTINE_MIB}");
        let start = Instant::now();
        let status = process::command(self.programs.path(target))
            .args(limits.iter().chain(runs.as_ref()))
            .args([&grown, &seeds])
            .env("ASAN_OPTIONS", sanitizer)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .status()
            .with_context(|| format!("starting {target}"))?;
        let bytes = fs::read(&log).with_context(|| format!("reading {}", log.display()))?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(Outcome::parse(&text, status.success(), start.elapsed(), &log))
    }
}

/// Bytes of the longest file of a folder.
fn longest(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        bytes = entry?.metadata()?.len().max(bytes);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_seeds_and_a_place_in_the_manifest() {
        let root = workspace::root();
        let manifest = fs::read_to_string(root.join("fuzz/Cargo.toml")).unwrap();
        let targets = targets(&root, &[]).unwrap();
        assert!(targets.len() >= 10);
        for target in targets {
            assert!(manifest.contains(&format!("name = \"{target}\"\n")), "{target}");
            assert!(longest(&root.join("fuzz/corpus").join(&target)).unwrap() > 0, "{target}");
        }
    }

    #[test]
    fn an_unknown_target_is_named() {
        let error = targets(&workspace::root(), &["no_such".to_owned()]).unwrap_err();
        assert!(error.to_string().starts_with("no target no_such; there are cable, "), "{error}");
    }
}
