//! What libFuzzer prints, read: the last line of status, the figures at the end, and the inputs it wrote down as faults.

use std::path::Path;
use std::time::Duration;

/// How a target ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Inputs executed.
    pub(super) inputs: u64,
    /// Inputs a second of its whole time.
    pub(super) inputs_per_s: u64,
    /// Edges of code that were reached (libFuzzer's `cov`).
    pub(super) edges: u64,
    /// What libFuzzer distinguishes beyond that, such as counts of edges (its `ft`).
    pub(super) features: u64,
    /// Peak of resident memory, in MiB.
    pub(super) memory_mib_max: u64,
    /// What went wrong; libFuzzer ends at the first.
    pub(super) faults: Vec<Fault>,
}

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// A panic, or what a sanitizer found.
    Crash,
    /// An input took too long.
    Hang,
    /// An input took too much memory.
    Memory,
    /// Memory was not given back.
    Leak,
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Its kind.
    pub(super) kind: FaultKind,
    /// The file of its input; the log where libFuzzer could write none.
    path: String,
    is_input: bool,
}

/// Before the path of an input that was written down.
const WRITTEN: &str = "Test unit written to ";

impl Outcome {
    /// Reads a log. `is_success` is how the program ended, `log` where the text lies.
    pub(super) fn parse(text: &str, is_success: bool, time: Duration, log: &Path) -> Self {
        let inputs = figure(text, "stat::number_of_executed_units:");
        let status = text.lines().rfind(|line| line.starts_with('#') && line.contains(" cov: "));
        let status = status.unwrap_or_default();
        let mut faults: Vec<Fault> = text.lines().filter_map(Fault::parse).collect();
        if faults.is_empty() && !is_success {
            let path = log.to_string_lossy().into_owned();
            faults.push(Fault { kind: FaultKind::Crash, path, is_input: false });
        }
        Self {
            inputs,
            inputs_per_s: inputs / time.as_secs().max(1),
            edges: figure(status, " cov:"),
            features: figure(status, " ft:"),
            memory_mib_max: figure(text, "stat::peak_rss_mb:"),
            faults,
        }
    }

    /// Faults of this kind.
    pub(super) fn count(&self, kind: FaultKind) -> usize {
        self.faults.iter().filter(|fault| fault.kind == kind).count()
    }
}

impl Fault {
    /// The fault that a line of the log is about. Slow inputs below the limit are written down as well, and are none.
    fn parse(line: &str) -> Option<Self> {
        let path = line.split_once(WRITTEN)?.1.trim();
        let name = path.rsplit('/').next().unwrap_or(path);
        let kind = match name.split('-').next()? {
            "timeout" => FaultKind::Hang,
            "oom" => FaultKind::Memory,
            "leak" => FaultKind::Leak,
            "slow" => return None,
            _ => FaultKind::Crash,
        };
        Some(Self { kind, path: path.to_owned(), is_input: true })
    }

    /// The line that reports it, with the command that replays it.
    pub(super) fn line(&self, program: &Path) -> String {
        let what = match self.kind {
            FaultKind::Crash => "crash",
            FaultKind::Hang => "hang",
            FaultKind::Memory => "too much memory",
            FaultKind::Leak => "leak",
        };
        if self.is_input {
            let (program, path) = (program.display(), &self.path);
            format!("fuzz: {what}: {path}\n  replay: {program} -rss_limit_mb=512 {path}")
        } else {
            format!("fuzz: {what} without an input; see {}", self.path)
        }
    }
}

/// The number after the last `name`; 0 without one.
fn figure(text: &str, name: &str) -> u64 {
    let after = text.rsplit_once(name).map_or("", |(_, after)| after).trim_start();
    let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    after[..digits].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: &str = "INFO: Seed: 1\n#2\tINITED cov: 7 ft: 8 corp: 1/1b exec/s: 0 rss: 30Mb\n\
        #900\tREDUCE cov: 120 ft: 340 corp: 9/99b lim: 4 exec/s: 30 rss: 31Mb L: 1/4 MS: 1 EraseBytes-\n\
        #1000\tDONE   cov: 121 ft: 341 corp: 9/99b\nDone 1000 runs in 4 second(s)\n\
        stat::number_of_executed_units: 1000\nstat::average_exec_per_sec:     250\nstat::peak_rss_mb:  64\n";

    fn parse(text: &str, is_success: bool) -> Outcome {
        Outcome::parse(text, is_success, Duration::from_secs(4), Path::new("/l.log"))
    }

    #[test]
    fn figures_are_read() {
        let outcome = parse(QUIET, true);
        let expect = Outcome {
            inputs: 1000,
            inputs_per_s: 250,
            edges: 121,
            features: 341,
            memory_mib_max: 64,
            faults: Vec::new(),
        };
        assert_eq!(outcome, expect);
    }

    #[test]
    fn faults_are_named_with_their_replay() {
        let cases = [
            ("crash-0a", FaultKind::Crash, "crash"),
            ("timeout-0a", FaultKind::Hang, "hang"),
            ("oom-0a", FaultKind::Memory, "too much memory"),
            ("leak-0a", FaultKind::Leak, "leak"),
        ];
        for (name, kind, word) in cases {
            let text = format!("{QUIET}artifact_prefix='/a/'; Test unit written to /a/{name}\n");
            let outcome = parse(&text, false);
            assert_eq!(outcome.count(kind), 1);
            let line = outcome.faults[0].line(Path::new("/p"));
            let expect =
                format!("fuzz: {word}: /a/{name}\n  replay: /p -rss_limit_mb=512 /a/{name}");
            assert_eq!(line, expect);
        }
    }

    #[test]
    fn an_end_without_an_input_is_a_crash_and_a_slow_input_is_none() {
        let outcome = parse("Segmentation fault", false);
        assert_eq!(
            outcome.faults[0].line(Path::new("/p")),
            "fuzz: crash without an input; see /l.log"
        );
        let slow = format!("{QUIET}artifact_prefix='/a/'; Test unit written to /a/slow-unit-0a\n");
        assert!(parse(&slow, true).faults.is_empty());
    }
}
