//! `Console`: what a study prints while it runs: a line for each run on standard error, or with `-json` on standard output.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use cli::eprint_line;
use serde_json::{Value, json};
use stdx::Nanos;

use super::figures::run::MeasuredFigures;
use super::state::record::RunRecord;

/// How progress is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Lines for people.
    Lines,
    /// The same on a terminal, where the line of the run under way is completed at its end.
    Terminal,
    /// One JSON object a line.
    Json,
}

impl Style {
    /// Text for people, as standard error is a terminal or not.
    #[must_use]
    pub fn text() -> Self {
        if std::io::stderr().is_terminal() { Self::Terminal } else { Self::Lines }
    }
}

/// Prints the progress of a study.
#[derive(Debug)]
pub(crate) struct Console {
    pub(crate) style: Style,
    /// How many runs the study has.
    pub(crate) runs: usize,
}

/// A run, as its line names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunLine<'a> {
    /// From 1.
    pub(crate) number: usize,
    /// `WORKLOAD on VARIANT`.
    pub(crate) name: &'a str,
}

impl Console {
    /// Standard output is for JSON objects alone.
    #[must_use]
    pub(crate) fn is_json(&self) -> bool {
        self.style == Style::Json
    }

    /// Prints a line that is not about a run.
    pub(crate) fn note(&self, text: &str) {
        match self.style {
            Style::Json => print_json(&json!({"event": "note", "text": text})),
            _ => eprint_line(text),
        }
    }

    /// A run starts.
    pub(crate) fn run_started(&self, run: RunLine<'_>) {
        if self.style == Style::Terminal {
            let mut stderr = std::io::stderr().lock();
            // A terminal that went away is no reason to stop.
            write!(stderr, "{} … ", self.head(run)).ok();
            stderr.flush().ok();
        }
    }

    /// A run has ended; `time_left` is an estimate for the runs after it.
    pub(crate) fn run_ended(
        &self,
        run: RunLine<'_>,
        record: &RunRecord,
        figures: Option<&MeasuredFigures>,
        time_left: Duration,
    ) {
        if self.style == Style::Json {
            return print_json(&self.event(run, record, figures, time_left));
        }
        let left = || format!(" ({} left)", approximate(time_left));
        let rest = if time_left.is_zero() { String::new() } else { left() };
        let text = format!("{}{rest}", summary(record, figures));
        match self.style {
            Style::Terminal => eprint_line(&text),
            _ => eprint_line(&format!("{} … {text}", self.head(run))),
        }
    }

    fn head(&self, run: RunLine<'_>) -> String {
        format!("run {} of {}: {}", run.number, self.runs, run.name)
    }

    fn event(
        &self,
        run: RunLine<'_>,
        record: &RunRecord,
        figures: Option<&MeasuredFigures>,
        time_left: Duration,
    ) -> Value {
        let values = figures.iter().flat_map(|figures| &figures.figures);
        let values: serde_json::Map<String, Value> =
            values.map(|(figure, value)| (figure.name.to_owned(), json!(value))).collect();
        json!({
            "event": "run",
            "number": run.number,
            "of": self.runs,
            "name": run.name,
            "record": record.to_json(),
            "invalid": figures.map(|figures| &figures.invalid),
            "figures": values,
            "seconds_left": time_left.as_secs(),
        })
    }
}

/// `12.3s, VALID, p99 34ms`.
fn summary(record: &RunRecord, figures: Option<&MeasuredFigures>) -> String {
    let took = record.took.rounded();
    let Some(figures) = figures else { return format!("{took}, FAILED: {}", record.reason) };
    let verdict = if figures.invalid.is_empty() { "VALID" } else { "INVALID" };
    let figure = ["rtt.p99", "latency.p99"].iter().find_map(|name| {
        let value = figures.figures.iter().find(|(figure, _)| figure.name == *name)?.1;
        let name = if *name == "rtt.p99" { "round trip p99" } else { "p99" };
        Some(format!("{name} {}", Nanos(value as u64).rounded()))
    });
    let limit = figures.figures.iter().find(|(figure, _)| figure.name == "limit");
    let figure = limit.map(|(_, limit)| format!("limit {limit:.4}")).or(figure);
    let figure = figure.map_or(String::new(), |figure| format!(", {figure}"));
    let codes: Vec<String> =
        record.codes.iter().filter(|code| **code != 0).map(i32::to_string).collect();
    let codes =
        if codes.is_empty() { String::new() } else { format!(", code {}", codes.join(" ")) };
    format!("{took}, {verdict}{figure}{codes}")
}

/// A line on standard output.
fn print_json(value: &Value) {
    // A reader that closed the pipe has seen what it wanted.
    writeln!(std::io::stdout().lock(), "{value}").ok();
}

/// An estimated time, with one unit.
pub(crate) fn approximate(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..90 => format!("about {seconds} s"),
        seconds @ 90..5400 => format!("about {} min", (seconds + 30) / 60),
        seconds => format!("about {} h", (seconds + 1800) / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use study::plan::Figure;

    #[test]
    fn a_run_is_summed_up_in_a_line() {
        let mut record = RunRecord {
            reason: "x ended".into(),
            took: Nanos::from_millis(12_300),
            codes: vec![0],
            ..RunRecord::started_at(0)
        };
        let figure = |name, value| (Figure::named(name).unwrap(), value);
        let mut figures = MeasuredFigures {
            run: None,
            figures: vec![figure("latency.p99", 34e6)],
            invalid: Vec::new(),
            notes: Vec::new(),
            side: Default::default(),
        };
        assert_eq!(summary(&record, Some(&figures)), "12.3s, VALID, p99 34ms");
        figures.invalid.push("late".into());
        figures.figures.push(figure("rtt.p99", 5e6));
        record.codes = vec![0, 99];
        assert_eq!(summary(&record, Some(&figures)), "12.3s, INVALID, round trip p99 5ms, code 99");
        assert_eq!(summary(&record, None), "12.3s, FAILED: x ended");
        let console = Console { style: Style::Json, runs: 30 };
        let run = RunLine { number: 7, name: "a on b" };
        let event = console.event(run, &record, Some(&figures), Duration::from_secs(9));
        assert_eq!((&event["number"], &event["figures"]["rtt.p99"]), (&json!(7), &json!(5e6)));
    }

    #[test]
    fn estimated_times_have_one_unit() {
        let texts = [9, 89, 90, 600, 7200].map(|seconds| approximate(Duration::from_secs(seconds)));
        assert_eq!(texts, ["about 9 s", "about 89 s", "about 2 min", "about 10 min", "about 2 h"]);
    }
}
