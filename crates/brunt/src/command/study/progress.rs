//! `Progress`: what is told of a study while it goes on: a line a run on standard error, or with `-json` on standard output.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use serde_json::{Value, json};
use stdx::Nanos;

use super::outcome::Outcome;
use super::record::Record;
use crate::flags::study::StudyFlags;
use crate::output::complain;

/// The form of what is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Lines for people.
    Lines,
    /// The same where the line of a run under way can be completed.
    Terminal,
    /// An object a line.
    Json,
}

/// Tells.
#[derive(Debug)]
pub(super) struct Progress {
    form: Form,
    /// Runs of the plan.
    all: usize,
}

impl Progress {
    #[must_use]
    pub(super) fn new(flags: &StudyFlags, all: usize) -> Self {
        let form = match flags.json {
            true => Form::Json,
            false if std::io::stderr().is_terminal() => Form::Terminal,
            false => Form::Lines,
        };
        Self { form, all }
    }

    /// Standard output is for objects alone.
    #[must_use]
    pub(super) fn is_json(&self) -> bool {
        self.form == Form::Json
    }

    /// Says something that is no run.
    pub(super) fn say(&self, text: &str) {
        match self.form {
            Form::Json => tell(&json!({"event": "note", "text": text})),
            _ => complain(text),
        }
    }

    /// Run number `number`, from 0, begins.
    pub(super) fn begins(&self, number: usize, name: &str) {
        if self.form == Form::Terminal {
            let mut stderr = std::io::stderr().lock();
            // A terminal that went away is no reason to stop.
            write!(stderr, "{} … ", self.head(number, name)).ok();
            stderr.flush().ok();
        }
    }

    /// It has ended, and what is to come takes about so long.
    pub(super) fn ended(
        &self,
        (number, name): (usize, &str),
        record: &Record,
        outcome: Option<&Outcome>,
        to_come: Duration,
    ) {
        if self.form == Form::Json {
            return tell(&event((number, self.all, name), record, outcome, to_come));
        }
        let left = || format!(" ({} left)", words(to_come));
        let rest = if to_come.is_zero() { String::new() } else { left() };
        let text = format!("{}{rest}", told(record, outcome));
        match self.form {
            Form::Terminal => complain(&text),
            _ => complain(&format!("{} … {text}", self.head(number, name))),
        }
    }

    fn head(&self, number: usize, name: &str) -> String {
        format!("run {} of {}: {name}", number + 1, self.all)
    }
}

/// `12.3s, VALID, p99 34ms`.
fn told(record: &Record, outcome: Option<&Outcome>) -> String {
    let took = record.took.rounded();
    let Some(outcome) = outcome else { return format!("{took}, FAILED: {}", record.reason) };
    let verdict = if outcome.invalid.is_empty() { "VALID" } else { "INVALID" };
    let figure = ["rtt.p99", "latency.p99"].iter().find_map(|name| {
        let value = outcome.figures.iter().find(|(figure, _)| figure.name == *name)?.1;
        let name = if *name == "rtt.p99" { "round trip p99" } else { "p99" };
        Some(format!("{name} {}", Nanos(value as u64).rounded()))
    });
    let limit = outcome.figures.iter().find(|(figure, _)| figure.name == "limit");
    let figure = limit.map(|(_, limit)| format!("limit {limit:.4}")).or(figure);
    let figure = figure.map_or(String::new(), |figure| format!(", {figure}"));
    let codes: Vec<String> =
        record.codes.iter().filter(|code| **code != 0).map(i32::to_string).collect();
    let codes =
        if codes.is_empty() { String::new() } else { format!(", code {}", codes.join(" ")) };
    format!("{took}, {verdict}{figure}{codes}")
}

fn event(
    (number, all, name): (usize, usize, &str),
    record: &Record,
    outcome: Option<&Outcome>,
    left: Duration,
) -> Value {
    let figures = outcome.iter().flat_map(|outcome| &outcome.figures);
    let figures: serde_json::Map<String, Value> =
        figures.map(|(figure, value)| (figure.name.to_owned(), json!(value))).collect();
    json!({
        "event": "run",
        "number": number + 1,
        "of": all,
        "name": name,
        "record": record.written(),
        "invalid": outcome.map(|outcome| &outcome.invalid),
        "figures": figures,
        "seconds_left": left.as_secs(),
    })
}

/// A line on standard output.
fn tell(value: &Value) {
    // A reader that went away has seen what it wanted.
    writeln!(std::io::stdout().lock(), "{value}").ok();
}

/// A time that is only guessed.
fn words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..90 => format!("about {seconds} s"),
        seconds @ 90..5400 => format!("about {} min", (seconds + 30) / 60),
        seconds => format!("about {} h", (seconds + 1800) / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use study::plan::{Ended, Figure};

    #[test]
    fn a_run_is_told_in_a_line() {
        let mut record = Record {
            ended: Ended::Measured,
            reason: "x ended".into(),
            began: 0,
            took: Nanos::from_millis(12_300),
            start: Nanos::ZERO,
            codes: vec![0],
            load_before: None,
            brunt: String::new(),
            files: None,
            versions: None,
            notes: Vec::new(),
        };
        let figure = |name, value| (Figure::named(name).unwrap(), value);
        let mut outcome = Outcome {
            run: None,
            figures: vec![figure("latency.p99", 34e6)],
            invalid: Vec::new(),
            notes: Vec::new(),
            side: Default::default(),
        };
        assert_eq!(told(&record, Some(&outcome)), "12.3s, VALID, p99 34ms");
        outcome.invalid.push("late".into());
        outcome.figures.push(figure("rtt.p99", 5e6));
        record.codes = vec![0, 99];
        assert_eq!(told(&record, Some(&outcome)), "12.3s, INVALID, round trip p99 5ms, code 99");
        assert_eq!(told(&record, None), "12.3s, FAILED: x ended");
        let told = event((6, 30, "a on b"), &record, Some(&outcome), Duration::from_secs(9));
        assert_eq!((&told["number"], &told["figures"]["rtt.p99"]), (&json!(7), &json!(5e6)));
    }

    #[test]
    fn guessed_times() {
        let told = [9, 89, 90, 600, 7200].map(|seconds| words(Duration::from_secs(seconds)));
        assert_eq!(told, ["about 9 s", "about 89 s", "about 2 min", "about 10 min", "about 2 h"]);
    }
}
