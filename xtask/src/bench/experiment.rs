//! `Experiment`: entrants that do the same thing in interleaved rounds, and the table of what came of it. In each round
//! the order is turned by one, so that no entrant always comes first.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::{process, workspace};

use super::figures::{Spread, ratios};
use super::measure;
use super::parse::{self, Lag, Latency};
use super::server::Server;
use super::tools::{Count, Entrant, Setting};

/// Entrants that do the same thing.
#[derive(Clone, Debug)]
pub(super) struct Experiment {
    /// What `--only` calls it.
    pub(super) name: &'static str,
    /// What it shows.
    pub(super) title: &'static str,
    /// The entrant that the others are compared with; none where it is missing.
    pub(super) base: &'static str,
    /// What is compared.
    pub(super) compared: Compared,
    /// The tools that are compared.
    pub(super) entrants: Vec<Entrant>,
}

/// The figure that entrants are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    /// Client CPU per request.
    Cpu,
    /// The 99.9th percentile of the schedule lag.
    Lag,
    /// The 99th percentile of the latencies.
    P99,
    /// Peak of the resident memory.
    Memory,
}

impl Compared {
    fn title(self) -> &'static str {
        match self {
            Self::Cpu => "client CPU per request",
            Self::Lag => "schedule lag p99.9",
            Self::P99 => "latency p99",
            Self::Memory => "peak RSS",
        }
    }

    fn of(self, trial: &Trial) -> Option<f64> {
        match self {
            Self::Cpu => trial.cpu_us,
            Self::Lag => Some(trial.lag?.p999_ns),
            Self::P99 => Some(trial.latency?.p99_ns),
            Self::Memory => Some(trial.rss_bytes as f64),
        }
    }
}

/// One run of one entrant.
#[derive(Clone, Debug, Default)]
pub(super) struct Trial {
    name: String,
    round: usize,
    /// CPU time per request in microseconds; none where nothing was sent.
    cpu_us: Option<f64>,
    rate_per_s: f64,
    rss_bytes: u64,
    lag: Option<Lag>,
    latency: Option<Latency>,
    /// What the reader must know: a count that nginx does not agree with, failures, a verdict.
    note: String,
}

/// A count that differs from nginx's by more than this share is noted.
const COUNT_SLACK: f64 = 0.01;

/// What a child may take beyond the seconds it was asked for.
const CHILD_SLACK: Duration = Duration::from_secs(20);

impl Experiment {
    /// Adds a twin to each entrant that runs `now`: the same command with the program `before`.
    pub(super) fn add_before(&mut self, now: &str, before: &str) {
        let twins: Vec<Entrant> =
            self.entrants.iter().filter_map(|entrant| entrant.with_program(now, before)).collect();
        self.entrants.extend(twins);
    }

    /// Runs the rounds, until `deadline`; a trial that fails is reported on stderr and left out.
    pub(super) fn run(
        &self,
        setting: &Setting,
        server: &Server,
        rounds: usize,
        deadline: Instant,
    ) -> Vec<Trial> {
        let mut trials = Vec::new();
        for round in 0..rounds {
            for step in 0..self.entrants.len() {
                if Instant::now() > deadline {
                    eprintln!("bench: out of time in round {} of {}", round + 1, self.name);
                    return trials;
                }
                let entrant = &self.entrants[(round + step) % self.entrants.len()];
                eprintln!("bench: {} round {}: {}", self.name, round + 1, entrant.name);
                match trial(entrant, round, setting, server) {
                    Ok(trial) => trials.push(trial),
                    Err(error) => eprintln!("bench: {}: {error:#}", entrant.name),
                }
            }
        }
        trials
    }

    /// The table of the trials, in Markdown.
    pub(super) fn table(&self, trials: &[Trial]) -> String {
        let mut text = format!(
            "## {}\n\nMedian (min–max) over the rounds; the ratio is of {}, taken within each round, against {}.\n\n\
             | tool | requests/s | client CPU µs/request | ratio | peak RSS MiB | p50 µs | p99 µs | lag p50 µs | lag p99.9 µs | rounds |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
            self.title,
            self.compared.title(),
            self.base
        );
        let compared = |name: &str| -> Vec<(usize, f64)> {
            let own = trials.iter().filter(|trial| trial.name == name);
            own.filter_map(|trial| Some((trial.round, self.compared.of(trial)?))).collect()
        };
        let base = compared(self.base);
        for entrant in &self.entrants {
            let own: Vec<&Trial> =
                trials.iter().filter(|trial| trial.name == entrant.name).collect();
            let column = |value: fn(&Trial) -> Option<f64>, digits: usize| {
                let values: Vec<f64> = own.iter().filter_map(|trial| value(trial)).collect();
                Spread::of(&values).map_or_else(|| "–".to_owned(), |spread| spread.show(digits))
            };
            let ratio = Spread::of(&ratios(&compared(&entrant.name), &base));
            let cells = [
                entrant.name.clone(),
                column(|trial| Some(trial.rate_per_s).filter(|rate| *rate > 0.0), 0),
                column(|trial| trial.cpu_us, 2),
                ratio.map_or_else(|| "–".to_owned(), |spread| spread.show(2)),
                column(|trial| Some(trial.rss_bytes as f64 / f64::from(1 << 20)), 1),
                column(|trial| Some(trial.latency?.p50_ns / 1e3), 1),
                column(|trial| Some(trial.latency?.p99_ns / 1e3), 1),
                column(|trial| Some(trial.lag?.p50_ns / 1e3), 1),
                column(|trial| Some(trial.lag?.p999_ns / 1e3), 1),
                own.len().to_string(),
            ];
            // Writing to a String cannot fail.
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        for trial in trials.iter().filter(|trial| !trial.note.is_empty()) {
            let _ = write!(text, "\n- {}, round {}: {}", trial.name, trial.round + 1, trial.note);
        }
        text.push('\n');
        text
    }

    /// The commands of the entrants, in Markdown.
    pub(super) fn commands(&self) -> String {
        let lines: Vec<String> =
            self.entrants.iter().map(|entrant| entrant.words.join(" ")).collect();
        format!("{}:\n\n```\n{}\n```\n", self.name, lines.join("\n"))
    }
}

/// Runs one entrant once.
fn trial(entrant: &Entrant, round: usize, setting: &Setting, server: &Server) -> Result<Trial> {
    let before = server.requests()?;
    let limit = Duration::from_secs(setting.seconds) + CHILD_SLACK;
    let measured = measure::run(&setting.dir, &entrant.words, limit)?;
    // The question for the counter is itself a request.
    let served = server.requests()?.saturating_sub(before + 1);
    let mut trial = Trial {
        name: entrant.name.clone(),
        round,
        rss_bytes: measured.rss_bytes,
        ..Trial::default()
    };
    let counted = match &entrant.count {
        Count::Output(parse) => parse(&measured.output).context("its output says no count")?,
        Count::Own(parse) => {
            let counted = parse(&measured.output).context("its output says no count")?;
            ensure!(counted > 0, "it did nothing");
            trial.cpu_us = Some(measured.cpu.as_secs_f64() * 1e6 / counted as f64);
            trial.rate_per_s = counted as f64 / setting.seconds as f64;
            return Ok(trial);
        }
        Count::Server => served,
        Count::Results(program, file) => {
            let file = file.to_string_lossy();
            let text =
                process::capture(&workspace::root(), program, &["report", "-type=json", &file])?;
            let report = parse::report(&text).context("its report is not as expected")?;
            trial.lag = report.lag;
            trial.latency = report.latency;
            trial.rate_per_s = report.rate;
            trial.note = note(&report);
            report.requests
        }
        Count::Scheduler => {
            trial.lag = parse::scheduler(&measured.output);
            return Ok(trial);
        }
    };
    ensure!(counted > 0, "it sent no request");
    let counted_f = counted as f64;
    trial.cpu_us = Some(measured.cpu.as_secs_f64() * 1e6 / counted_f);
    if trial.rate_per_s == 0.0 {
        trial.rate_per_s = counted as f64 / setting.seconds as f64;
    }
    if (served as f64 / counted_f - 1.0).abs() > COUNT_SLACK {
        let and = if trial.note.is_empty() { "" } else { "; " };
        trial.note += &format!("{and}it says {counted} requests, nginx served {served}");
    }
    Ok(trial)
}

/// What of a report the reader must know: failures, and a verdict that is not plainly good.
fn note(report: &parse::Report) -> String {
    let mut notes = Vec::new();
    if report.success < 1.0 {
        notes.push(format!("success {:.3} %", report.success * 100.0));
    }
    if !report.verdict.is_empty() && !report.verdict.eq_ignore_ascii_case("valid") {
        notes.push(report.verdict.clone());
    }
    notes.join("; ")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn entrant(name: &str) -> Entrant {
        let words = vec!["true".to_owned()];
        Entrant { name: name.to_owned(), words, count: Count::Server }
    }

    fn trial_of(name: &str, round: usize, cpu_us: f64) -> Trial {
        Trial { name: name.to_owned(), round, cpu_us: Some(cpu_us), ..Trial::default() }
    }

    #[test]
    fn the_table_compares_within_rounds() {
        let entrants = vec![entrant("wrk"), entrant("brunt"), entrant("absent")];
        let experiment = Experiment {
            name: "closed",
            title: "Closed",
            base: "wrk",
            compared: Compared::Cpu,
            entrants,
        };
        let mut trials = vec![
            trial_of("wrk", 0, 8.0),
            trial_of("brunt", 0, 4.0),
            trial_of("wrk", 1, 16.0),
            trial_of("brunt", 1, 12.0),
        ];
        trials[1].note = "INVALID: stalls".to_owned();
        let table = experiment.table(&trials);
        assert!(table.contains("| brunt | – | 8.00 (4.00–12.00) | 0.62 (0.50–0.75) |"), "{table}");
        assert!(table.contains("| wrk | – | 12.00 (8.00–16.00) | 1.00 (1.00–1.00) |"), "{table}");
        assert!(table.contains("| absent | – | – | – | – | – | – | – | – | 0 |"), "{table}");
        assert!(table.contains("- brunt, round 1: INVALID: stalls"), "{table}");
    }

    #[test]
    fn a_build_of_before_gets_the_same_commands() {
        let mut ours = entrant("brunt");
        ours.words = vec!["taskset".to_owned(), "/new/brunt".to_owned(), "bench".to_owned()];
        ours.count = Count::Results("/new/brunt".to_owned(), PathBuf::from("x.bin"));
        let mut experiment = Experiment {
            name: "closed",
            title: "Closed",
            base: "wrk",
            compared: Compared::Cpu,
            entrants: vec![entrant("wrk"), ours],
        };
        experiment.add_before("/new/brunt", "/old/brunt");
        assert_eq!(experiment.entrants.len(), 3);
        let twin = &experiment.entrants[2];
        assert_eq!(twin.name, "brunt, before");
        assert_eq!(twin.words, ["taskset", "/old/brunt", "bench"]);
        assert!(matches!(&twin.count, Count::Results(program, _) if program == "/old/brunt"));
    }

    #[test]
    fn a_report_is_noted_where_it_is_not_plainly_good() {
        let good =
            parse::Report { success: 1.0, verdict: "VALID".to_owned(), ..Default::default() };
        assert_eq!(note(&good), "");
        let bad = parse::Report { success: 0.5, verdict: "INVALID: late".to_owned(), ..good };
        assert_eq!(note(&bad), "success 50.000 %; INVALID: late");
    }
}
