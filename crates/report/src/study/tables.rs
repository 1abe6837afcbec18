//! The tables of a study's page: its machine, its variants, its runs, the figures of its servers.

use study::plan::{Cell, Figure};

use super::input::{StudyInput, StudyState};
use super::report::{StudyReport, change, value};
use crate::bars::{Bar, BarChart, BarSheet};
use crate::number::{duration, rfc3339};
use crate::page;

/// Rows of a table; the rest is counted.
const ROWS_MAX: usize = 500;

impl StudyReport {
    /// A bar for each variant of each figure that any has.
    pub(super) fn bars(&self, workload: usize, wanted: impl Fn(&Figure) -> bool) -> BarSheet {
        let input = &self.input;
        let planned = input.planned(workload);
        let chart = |figure: &&'static Figure| {
            let (scale, unit) = scaled(figure);
            let bars = planned.iter().map(|variant| {
                let values = input.values(Cell { workload, variant: *variant }, figure);
                let values = values.into_iter().map(|value| value * scale).collect();
                Bar { label: input.variants[*variant].name.clone(), values }
            });
            let (name, title) = (figure.name.to_owned(), figure.title.to_owned());
            BarChart { name, title, unit: unit.to_owned(), bars: bars.collect() }
        };
        let charts: Vec<BarChart> =
            Figure::ALL.iter().filter(|figure| wanted(figure)).map(|f| chart(&f)).collect();
        let has = |chart: &BarChart| {
            let mut values = chart.bars.iter().flat_map(|bar| &bar.values);
            values.any(|value| *value != 0.0)
        };
        let charts = charts.into_iter().filter(has).collect();
        BarSheet { title: String::new(), charts, notes: Vec::new() }
    }

    /// What was expected, and whether it held.
    pub(super) fn ordering_table(&self, out: &mut String) {
        let rows = self.orderings();
        if rows.is_empty() {
            return;
        }
        let rows: Vec<Vec<String>> = rows
            .into_iter()
            .map(|[workload, ordering, word, medians]| vec![ordering, workload, medians, word])
            .collect();
        page::table(out, "What was expected", &["", "workload", "medians", ""], &rows, 0);
    }

    /// Figures beyond those of results, of each variant against the first.
    pub(super) fn other_table(&self, out: &mut String, workload: usize) {
        let rows: Vec<Vec<String>> = self.workloads[workload]
            .others
            .iter()
            .map(|one| {
                let (before, after) = one.found.centres;
                let interval = one.found.interval.map_or("none".to_owned(), |(low, high)| {
                    format!("{} to {}", change(one.scale, low), change(one.scale, high))
                });
                vec![
                    one.figure.title.to_owned(),
                    one.label.clone(),
                    value(one.figure, before),
                    value(one.figure, after),
                    change(one.scale, one.found.change),
                    interval,
                    one.found.finding.name().to_owned(),
                ]
            })
            .collect();
        let Some(first) = self.workloads[workload].others.first() else { return };
        let title = format!("Beyond the results: against {}", first.against);
        let heads = ["", "variant", "before", "after", "change", "95 % interval", "verdict"];
        page::table(out, &title, &heads, &rows, 0);
    }

    pub(super) fn facts(&self, out: &mut String) {
        let input = &self.input;
        let mut rows: Vec<Vec<String>> =
            input.facts.iter().map(|(name, value)| vec![name.clone(), value.clone()]).collect();
        rows.push(vec!["seed of the order".to_owned(), input.seed.to_string()]);
        rows.push(vec!["form".to_owned(), input.form.clone()]);
        page::table(out, "Machine", &["", ""], &rows, 0);
        let rows: Vec<Vec<String>> = input
            .variants
            .iter()
            .map(|variant| {
                let versions =
                    variant.versions.iter().map(|(name, text)| format!("{name}: {text}"));
                let state = if variant.left_out.is_empty() { "" } else { "left out" };
                let versions = versions.collect::<Vec<_>>().join("; ");
                vec![variant.name.clone(), variant.note.clone(), versions, state.to_owned()]
            })
            .collect();
        page::table(out, "Variants", &["", "what", "versions", ""], &rows, 0);
        let rows: Vec<Vec<String>> = input
            .workloads
            .iter()
            .enumerate()
            .map(|(at, workload)| {
                let command = format!("brunt {}", workload.command);
                vec![workload.name.clone(), command, input.attacked(at)]
            })
            .collect();
        page::table(out, "Workloads", &["", "command", "attacked"], &rows, 0);
    }

    pub(super) fn runs(&self, out: &mut String) {
        let input = &self.input;
        let rows: Vec<Vec<String>> =
            (0..input.runs.len().min(ROWS_MAX)).map(|number| run_row(input, number)).collect();
        let heads = [
            "",
            "began",
            "workload",
            "variant",
            "repeat",
            "verdict",
            "took",
            "ready in",
            "load before",
            "codes",
        ];
        page::table(
            out,
            "Runs, in their order",
            &heads,
            &rows,
            input.runs.len().saturating_sub(ROWS_MAX),
        );
    }
}

fn run_row(input: &StudyInput, number: usize) -> Vec<String> {
    let run = &input.runs[number];
    let verdict = match &run.state {
        StudyState::Measured if run.invalid.is_empty() => "VALID",
        StudyState::Measured => "INVALID",
        StudyState::Failed(_) => "FAILED",
        StudyState::NotRun => "not made",
    };
    let made = run.state != StudyState::NotRun;
    let only = |text: String| if made { text } else { String::new() };
    let began = rfc3339(run.began / 1_000_000_000 * 1_000_000_000);
    let codes = run.codes.iter().map(i32::to_string).collect::<Vec<_>>().join(" ");
    vec![
        (number + 1).to_string(),
        only(began.replace('T', " ").replace('Z', "")),
        input.workloads[run.cell.workload].name.clone(),
        input.variants[run.cell.variant].name.clone(),
        run.repeat.to_string(),
        verdict.to_owned(),
        only(duration(run.took)),
        only(duration(run.start)),
        run.load_before.map_or(String::new(), |load| format!("{load:.2}")),
        codes,
    ]
}

/// What values of a figure are multiplied with, and the unit they then have.
fn scaled(figure: &Figure) -> (f64, &'static str) {
    use study::plan::Unit;
    match figure.unit {
        Unit::Nanos => (1e-6, "ms"),
        Unit::PerSecond => (1.0, "1/s"),
        Unit::Share => (100.0, "%"),
        Unit::Bytes => (1.0 / f64::from(1 << 20), "MiB"),
        Unit::BytesPerSecond => (1.0 / 1024.0, "KiB/s"),
        Unit::Cores => (1.0, "cores"),
        Unit::Plain => (1.0, ""),
    }
}
