//! `StudyPage`: a study in the browser while it runs: its runs with their figures, and the medians of each variant so far.

use std::collections::BTreeMap;
use std::time::Duration;

use super::console::approximate;
use super::figures::run::MeasuredFigures;
use super::plan::StudyPlan;
use super::state::checkpoint::Checkpoint;
use super::state::record::RunRecord;
use serde_json::{Value, json};
use session::web::{LivePage, TableState, TableView};

/// The figures of a run that the page has: names, heads, and what they are divided by.
const FIGURES: [(&str, &str, f64); 6] = [
    ("limit", "Limit", 1.0),
    ("throughput", "Successes/s", 1.0),
    ("latency.p50", "p50 (ms)", 1e6),
    ("latency.p99", "p99 (ms)", 1e6),
    ("rtt.p99", "Round trip p99 (ms)", 1e6),
    ("errors", "Without success (%)", 0.01),
];

/// A study in the browser.
pub(crate) struct StudyPage {
    view: TableView,
    /// Ends the streams of browsers when the study has ended.
    _page: LivePage,
}

/// What a study has come to.
pub(crate) struct StudyState<'a> {
    pub(crate) plan: &'a StudyPlan<'a>,
    pub(crate) checkpoint: &'a Checkpoint,
    pub(crate) figures: &'a [Option<MeasuredFigures>],
    pub(crate) left: Duration,
}

impl StudyPage {
    pub(crate) fn new(page: LivePage, title: &str) -> Self {
        Self { view: page.tables(title), _page: page }
    }

    /// Shows this state.
    pub(crate) fn show(&mut self, state: &StudyState<'_>) {
        self.view.set(state.tables());
    }
}

impl StudyState<'_> {
    fn tables(&self) -> TableState {
        let (done, all) = (self.checkpoint.done(), self.checkpoint.slots.len());
        let under_way = self.checkpoint.under_way.map(|at| self.name(at));
        let left = if self.left.is_zero() { "-".to_owned() } else { approximate(self.left) };
        let tiles = [
            ("runs done", format!("{done} of {all}")),
            ("under way", under_way.unwrap_or_else(|| "-".to_owned())),
            ("time left", left),
        ];
        TableState {
            tiles: tiles.into_iter().map(|(name, text)| (name.to_owned(), text)).collect(),
            tables: vec![self.medians(), self.runs()],
            done: done as f64 / all.max(1) as f64,
        }
    }

    /// `WORKLOAD on VARIANT`.
    fn name(&self, at: usize) -> String {
        let (variant, workload) = self.plan.pair(&self.checkpoint.slots[at]);
        format!("{} on {}", workload.name, variant.name)
    }

    /// Every run, in its order.
    fn runs(&self) -> (String, Vec<String>, Vec<Vec<Value>>) {
        let heads = ["Run", "No.", "Result", "Took (s)"];
        let rows = self.checkpoint.records.iter().enumerate().map(|(at, record)| {
            let (result, took) = match record {
                Some(record) => {
                    (self.result(at, record), json!(rounded(record.took.as_secs_f64())))
                }
                None if self.checkpoint.under_way == Some(at) => {
                    ("under way".to_owned(), json!(""))
                }
                None => (String::new(), json!("")),
            };
            let first = [json!(self.name(at)), json!(at + 1), json!(result), took];
            let cells = FIGURES.map(|(name, _, divisor)| cell(self.value(at, name), divisor));
            first.into_iter().chain(cells).collect()
        });
        ("Runs".to_owned(), with_figures(&heads), rows.collect())
    }

    fn result(&self, at: usize, record: &RunRecord) -> String {
        match &self.figures[at] {
            Some(figures) if figures.invalid.is_empty() => "VALID".to_owned(),
            Some(_) => "INVALID".to_owned(),
            None if record.ended.is_failure() => format!("FAILED: {}", record.reason),
            None => "measured before".to_owned(),
        }
    }

    fn value(&self, at: usize, name: &str) -> Option<f64> {
        let figures = &self.figures[at].as_ref()?.figures;
        figures.iter().find(|(figure, _)| figure.name == name).map(|(_, value)| *value)
    }

    /// A row for each workload and variant of which a run was measured: the medians of its runs.
    fn medians(&self) -> (String, Vec<String>, Vec<Vec<Value>>) {
        let mut cells: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (at, slot) in self.checkpoint.slots.iter().enumerate() {
            if self.figures[at].is_some() {
                cells.entry((slot.cell.workload, slot.cell.variant)).or_default().push(at);
            }
        }
        let rows = cells.into_values().map(|runs| {
            let medians = FIGURES.map(|(name, _, divisor)| {
                cell(median(runs.iter().filter_map(|at| self.value(*at, name)).collect()), divisor)
            });
            [json!(self.name(runs[0])), json!(runs.len())].into_iter().chain(medians).collect()
        });
        ("So far: medians of runs".to_owned(), with_figures(&["Variant", "Runs"]), rows.collect())
    }
}

fn with_figures(heads: &[&str]) -> Vec<String> {
    let figures = FIGURES.iter().map(|(_, head, _)| *head);
    heads.iter().copied().chain(figures).map(str::to_owned).collect()
}

fn cell(value: Option<f64>, divisor: f64) -> Value {
    value.map_or_else(|| json!("-"), |value| json!(rounded(value / divisor)))
}

/// Four digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The middle one, or the mean of both; `None` of nothing.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) =
        (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_of_the_middle() {
        assert_eq!(median(Vec::new()), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn figures_have_four_digits() {
        assert_eq!(cell(Some(12_345_678.0), 1e6), json!(12.35));
        assert_eq!(cell(Some(0.0), 1.0), json!(0.0));
        assert_eq!(cell(None, 1.0), json!("-"));
        assert_eq!(rounded(3.0), 3.0);
    }
}
