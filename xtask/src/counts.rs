//! `counts`: instructions of the six hot paths, each fixed work in the simulated world, counted by callgrind and held against
//! `bench/INSTRUCTIONS.md`. Unlike times they hardly depend on what else the machine does, so they gate a merge: a path that
//! differs by more than 2 % fails, and `--update` writes the new figures.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::{process, test, workspace};

/// The paths, as `crates/k6/tests/hot_paths` names them, and units of work for the shorter of two runs.
const PATHS: [(&str, u64); 6] = [
    ("closed-h1", 2_000),
    ("open-h1", 2_000),
    ("h2-stream", 2_000),
    ("script-iteration", 1_000),
    ("ws-message", 1_000),
    ("ws-script-message", 1_000),
];
/// The share by which a path may differ from the committed figure.
const TOLERANCE: f64 = 0.02;
/// The committed figures.
const FIGURES: &str = "bench/INSTRUCTIONS.md";
/// What runs the paths.
const PROGRAM: &str = "hot_paths";

/// Instructions a unit of work, and what they depend on besides the code.
#[derive(Clone, Debug, Default, PartialEq)]
struct Figures {
    compiler: String,
    cpu: String,
    /// By path.
    counts: Vec<(String, f64)>,
}

/// The command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let update = match arguments {
        [] => false,
        [word] if word == "--update" => true,
        _ => bail!("counts takes --update or nothing"),
    };
    let program = built()?;
    if !update {
        return judge(&program);
    }
    let now = Figures::of(&program)?;
    let file = workspace::root().join(FIGURES);
    fs::write(&file, document(&now)).with_context(|| format!("writing {FIGURES}"))?;
    println!("{}", document(&now));
    Ok(ExitCode::SUCCESS)
}

/// Builds the program in the profile of the tests; returns its path.
///
/// # Errors
/// It does not compile, or a package that is needed cannot be installed.
pub(crate) fn built() -> Result<PathBuf> {
    test::install_needed()?;
    workspace::test_program(PROGRAM, &["--test", PROGRAM])
}

impl Figures {
    /// Those of a program.
    fn of(program: &Path) -> Result<Self> {
        let compiler = compiler(&workspace::root())?;
        let mut figures = Self { compiler, cpu: cpu(), counts: Vec::new() };
        for (path, units) in PATHS {
            figures.counts.push((path.to_owned(), instructions_a_unit(program, path, units)?));
        }
        Ok(figures)
    }
}

/// Holds the counts of a program against the committed ones.
///
/// # Errors
/// Callgrind cannot run it, or the committed figures cannot be read.
pub(crate) fn judge(program: &Path) -> Result<ExitCode> {
    let now = Figures::of(program)?;
    let file = workspace::root().join(FIGURES);
    let text = fs::read_to_string(&file).with_context(|| format!("reading {FIGURES}"))?;
    let committed = parse(&text);
    println!("{}", table(&committed, &now));
    if let Some(difference) = not_comparable(&committed, &now) {
        println!("counts: not judged: {difference}");
        return Ok(ExitCode::SUCCESS);
    }
    let off = beyond(&committed, &now);
    if off.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "counts: beyond {:.0} %: {}; where that is right: cargo xtask counts --update",
        TOLERANCE * 100.0,
        off.join(", ")
    );
    Ok(ExitCode::FAILURE)
}

/// Of two runs, one twice as long, the difference: what the start costs is in both.
fn instructions_a_unit(program: &Path, path: &str, units: u64) -> Result<f64> {
    let (short_units, short) = instructions(program, path, units)?;
    let (long_units, long) = instructions(program, path, 2 * units)?;
    ensure!(long_units > short_units && long > short, "{path}: twice the work is no more");
    Ok((long - short) as f64 / (long_units - short_units) as f64)
}

/// Runs a path under callgrind; returns the units done and the instructions.
fn instructions(program: &Path, path: &str, units: u64) -> Result<(u64, u64)> {
    // Addresses that change from run to run change what hash maps and allocators do.
    let output = process::command("setarch")
        .args(["-R", "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([path, &units.to_string()])
        .stdin(Stdio::null())
        .output()
        .context("starting setarch (util-linux)")?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{path} under callgrind: {messages}");
    let done = String::from_utf8_lossy(&output.stdout).trim().parse();
    Ok((done.context("its number of units")?, collected(&messages).context("callgrind's count")?))
}

/// The count in callgrind's last words: `==12== Collected : 123456`.
fn collected(messages: &str) -> Option<u64> {
    let line = messages.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

fn compiler(root: &Path) -> Result<String> {
    Ok(process::capture(root, "rustc", &["--version"])?.trim().to_owned())
}

/// Functions of memory and text choose their code by the CPU.
fn cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name"));
    name.and_then(|name| name.split(':').nth(1)).unwrap_or("unknown").trim().to_owned()
}

/// The file of figures.
fn document(figures: &Figures) -> String {
    let Figures { compiler, cpu, counts } = figures;
    let mut text = format!(
        "# Instructions of the hot paths\n\n\
         Written by `cargo xtask counts --update`. Instructions in user space a request, iteration or message, counted by callgrind over fixed work in the\n\
         simulated world (`crates/k6/tests/hot_paths`), the simulated server's included, in the profile of the tests. CI fails beyond {:.0} % either way; with another\n\
         compiler or CPU it shows the figures and does not judge. docs/PROFILING.md says how to find what grew.\n\n\
         - compiler: {compiler}\n- cpu: {cpu}\n\n| path | instructions |\n|---|--:|\n",
        TOLERANCE * 100.0
    );
    for (path, count) in counts {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {path} | {count:.0} |");
    }
    text
}

/// The figures of such a file; what is missing is empty.
fn parse(text: &str) -> Figures {
    let after = |prefix: &str| {
        text.lines().find_map(|line| line.strip_prefix(prefix)).unwrap_or_default().to_owned()
    };
    let row = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        Some((cells.next()?.to_owned(), cells.next()?.parse().ok()?))
    };
    let counts = text.lines().filter(|line| line.starts_with('|')).filter_map(row).collect();
    Figures { compiler: after("- compiler: "), cpu: after("- cpu: "), counts }
}

/// Both figures of each path, and how much they differ.
fn table(committed: &Figures, now: &Figures) -> String {
    let mut text = format!("{:<18}{:>12}{:>12}{:>10}\n", "path", "committed", "now", "change");
    for (path, count) in &now.counts {
        let (before, change) = committed_of(committed, path).map_or_else(
            || ("-".to_owned(), "-".to_owned()),
            |before| (format!("{before:.0}"), format!("{:+.2} %", (count / before - 1.0) * 100.0)),
        );
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{path:<18}{before:>12}{count:>12.0}{change:>10}");
    }
    text.trim_end().to_owned()
}

fn committed_of(committed: &Figures, path: &str) -> Option<f64> {
    committed.counts.iter().find(|(name, _)| name == path).map(|(_, count)| *count)
}

/// Why figures of here cannot be held against the committed ones.
fn not_comparable(committed: &Figures, now: &Figures) -> Option<String> {
    let differs = |what: &str, before: &str, now: &str| {
        (before != now).then(|| format!("{what} was {before} and is {now}"))
    };
    differs("the compiler", &committed.compiler, &now.compiler)
        .or_else(|| differs("the CPU", &committed.cpu, &now.cpu))
}

/// The paths that differ by more than the tolerance, or have no committed figure.
fn beyond(committed: &Figures, now: &Figures) -> Vec<String> {
    let off = |(path, count): &&(String, f64)| {
        committed_of(committed, path).is_none_or(|before| (count / before - 1.0).abs() > TOLERANCE)
    };
    now.counts.iter().filter(off).map(|(path, _)| path.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(counts: &[(&str, f64)]) -> Figures {
        Figures {
            compiler: "rustc 1".to_owned(),
            cpu: "a CPU".to_owned(),
            counts: counts.iter().map(|(path, count)| ((*path).to_owned(), *count)).collect(),
        }
    }

    #[test]
    fn a_file_of_figures_reads_back() {
        let written = figures(&[("closed-h1", 1234.0), ("ws-message", 99.0)]);
        assert_eq!(parse(&document(&written)), written);
        assert_eq!(parse(""), Figures::default());
    }

    #[test]
    fn two_percent_pass_and_more_fail_either_way() {
        let committed = figures(&[("a", 1000.0), ("b", 1000.0), ("c", 1000.0)]);
        let now = figures(&[("a", 1019.0), ("b", 1021.0), ("c", 979.0), ("d", 5.0)]);
        assert_eq!(beyond(&committed, &now), ["b", "c", "d"]);
        let table = table(&committed, &now);
        assert!(table.contains("+2.10 %") && table.contains("-2.10 %"), "{table}");
    }

    #[test]
    fn another_compiler_or_cpu_is_not_judged() {
        let committed = figures(&[]);
        assert_eq!(not_comparable(&committed, &committed), None);
        let other = Figures { cpu: "another".to_owned(), ..committed.clone() };
        let why = not_comparable(&committed, &other);
        assert_eq!(why.as_deref(), Some("the CPU was a CPU and is another"));
    }

    #[test]
    fn what_callgrind_says_is_read() {
        let messages = "==7== Events    : Ir\n==7== Collected : 123456\n==7==\n";
        assert_eq!(collected(messages), Some(123_456));
        assert_eq!(collected("==7== no count"), None);
    }
}
