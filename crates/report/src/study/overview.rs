//! The overview of a study: its variants by measures in one table, with the best marked where chance is ruled out, and at most
//! five sentences. What the runs decide comes first; what they do not decide is one sentence, however many comparisons there are.

use stdx::list_and;
use study::contrast::{Contrast, Finding, Measure, RUNS_MIN};
use study::plan::{Cell, Figure};

use super::findings::others_in_words;
use super::input::StudyState;
use super::report::{Decided, StudyReport, WorkloadFindings, value};
use crate::contrasts::{compared, gravest, value as measured};
use crate::number::counted;
use crate::{escape, page};

/// Sentences of the conclusion, at most.
const SENTENCES_MAX: usize = 5;
/// Rows of the table; the rest is counted.
const ROWS_MAX: usize = 60;
/// The measures of results in the table, with their heads.
const MEASURES: [(Measure, &str); 4] = [
    (Measure::Throughput, "successes/s"),
    (Measure::P50, "p50"),
    (Measure::P99, "p99"),
    (Measure::Errors, "errors"),
];
/// Figures beyond those of results that decide a study, where it has them, with their heads.
const FURTHER: [(&str, &str); 5] = [
    ("limit", "limit"),
    ("rtt.p99", "round trip p99"),
    ("fan_out.p99", "delivery p99"),
    ("lost", "lost"),
    ("server.cpu_per_request", "CPU per request"),
];
/// After the best value of a column, where chance is ruled out.
const BEST: &str = "best";

impl StudyReport {
    /// The table and the sentences, before everything else on the page.
    pub(super) fn overview(&self, out: &mut String) {
        out.push_str("<section class=\"card\"><h2>Conclusion</h2><ul class=\"findings\">\n");
        for sentence in self.conclusion() {
            out.push_str(&format!("<li>{}</li>\n", escape::xml(&sentence)));
        }
        out.push_str("</ul></section>\n");
        let further: Vec<(&'static Figure, &str)> = FURTHER
            .into_iter()
            .filter_map(|(name, head)| Some((Figure::named(name)?, head)))
            .filter(|(figure, _)| self.has(figure))
            .collect();
        let mut heads = vec!["", "runs"];
        heads.extend(MEASURES.map(|(_, head)| head));
        heads.extend(further.iter().map(|(_, head)| *head));
        heads.push("how sure");
        let mut rows: Vec<Vec<String>> = (0..self.input.workloads.len())
            .flat_map(|workload| self.rows_of(workload, &further))
            .collect();
        let more = rows.len().saturating_sub(ROWS_MAX);
        rows.truncate(ROWS_MAX);
        if rows.is_empty() {
            return;
        }
        page::table(out, "Variants, means over runs", &heads, &rows, more);
        out.push_str(&format!(
            "<p class=\"note\">“{BEST}” stands where the runs rule out chance (95 %) against the first variant, or against all \
             others where the first is the best.</p>\n"
        ));
    }

    /// At most five sentences: what the runs decide, then what they leave open, then how far they can be trusted.
    #[must_use]
    pub fn conclusion(&self) -> Vec<String> {
        let mut decided: Vec<String> = Vec::new();
        let (mut same, mut open): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let (mut all, mut is_enough) = (0u64, true);
        let several = self.input.workloads.len() > 1;
        for (workload, found) in self.input.workloads.iter().zip(&self.workloads) {
            let lead = |text: &str| {
                if several { format!("{}: {text}", workload.name) } else { text.to_owned() }
            };
            let first = found.contrasts.first_label();
            for (label, contrast) in found.contrasts.findings() {
                all += 1;
                let pair = lead(&format!("{label} and {first}"));
                match gravest(contrast) {
                    Finding::Same => same.push(pair),
                    // What is judged first is decided, and the rest may be left open.
                    Finding::CannotTell
                        if finding_of(contrast, contrast.primary) == Some(Finding::Same) =>
                    {
                        decided.push(lead(&compared(label, first, contrast)));
                    }
                    Finding::CannotTell => {
                        is_enough &= contrast.is_enough();
                        open.push(pair);
                    }
                    _ => decided.push(lead(&compared(label, first, contrast))),
                }
            }
            decided.extend(found.model.iter().map(|model| lead(&model.sentence())));
            decided.extend(others_in_words(found, Decided::Only).iter().map(|text| lead(text)));
        }
        let mut last: Vec<String> = Vec::new();
        last.extend(
            (!same.is_empty())
                .then(|| format!("No difference that matters: {}.", shortened(&same))),
        );
        last.extend((!open.is_empty()).then(|| open_sentence(&open, all, is_enough)));
        last.extend(self.trust());
        let room = SENTENCES_MAX.saturating_sub(last.len());
        if decided.len() > room {
            let more = decided.len() + 1 - room;
            decided.truncate(room.saturating_sub(1));
            decided.push(format!("{} more, in the tables below.", counted(more as u64, "finding")));
        }
        decided.extend(last);
        if decided.is_empty() {
            decided.push(
                "There is nothing to compare: no two variants have a measured run of one workload."
                    .to_owned(),
            );
        }
        decided
    }

    /// How far the runs can be trusted, where not all of them are good.
    fn trust(&self) -> Option<String> {
        let runs = &self.input.runs;
        let invalid = runs.iter().filter(|run| !run.invalid.is_empty()).count() as u64;
        let missing = runs.iter().filter(|run| run.state != StudyState::Measured).count() as u64;
        let all = counted(runs.len() as u64, "run");
        let parts: Vec<String> = [(invalid, "INVALID"), (missing, "missing")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} of {all} {} {what}", stdx::are(count)))
            .collect();
        (!parts.is_empty()).then(|| format!("Not all can be trusted: {}.", list_and(&parts)))
    }

    fn has(&self, figure: &Figure) -> bool {
        let mut all = self.input.runs.iter().flat_map(|run| &run.figures);
        all.any(|(of, value)| of.name == figure.name && *value != 0.0)
    }

    /// A row for each variant of a workload that has measured runs.
    fn rows_of(&self, workload: usize, further: &[(&'static Figure, &str)]) -> Vec<Vec<String>> {
        let (input, found) = (&self.input, &self.workloads[workload]);
        let several = input.workloads.len() > 1;
        let planned = input.planned(workload).into_iter();
        planned
            .filter(|variant| input.measured(Cell { workload, variant: *variant }).next().is_some())
            .map(|variant| {
                let cell = Cell { workload, variant };
                let label = &input.variants[variant].name;
                let name = match several {
                    true => format!("{}: {label}", input.workloads[workload].name),
                    false => label.clone(),
                };
                let mut row = vec![name, input.measured(cell).count().to_string()];
                row.extend(MEASURES.map(|(measure, _)| measure_cell(found, label, measure)));
                row.extend(further.iter().map(|(figure, _)| {
                    let values = input.values(cell, figure);
                    median(values).map_or(String::new(), |median| value(figure, median))
                }));
                row.push(how_sure(found, label));
                row
            })
            .collect()
    }
}

/// `is_enough`: each of them has runs enough for a verdict.
fn open_sentence(open: &[String], all: u64, is_enough: bool) -> String {
    let which = match open.len() as u64 {
        count if count == all && all > 1 => format!("any of the {}", counted(all, "comparison")),
        _ => shortened(open),
    };
    let runs = match is_enough {
        true => "more runs would".to_owned(),
        false => format!("that takes at least {RUNS_MIN} runs of each"),
    };
    format!("These runs do not decide: {which}; {runs}.")
}

/// The first three of a list, and how many more there are.
fn shortened(pairs: &[String]) -> String {
    let shown: Vec<&str> = pairs.iter().take(3).map(String::as_str).collect();
    match pairs.len() - shown.len() {
        0 => shown.join("; "),
        more => format!("{}; and {more} more", shown.join("; ")),
    }
}

fn finding_of(contrast: &Contrast, measure: Measure) -> Option<Finding> {
    contrast.changes.iter().find(|change| change.measure == measure).map(|change| change.finding)
}

/// What a variant's runs have on average, and whether it is the best.
fn measure_cell(found: &WorkloadFindings, label: &str, measure: Measure) -> String {
    let Some(own) = found.contrasts.centre(label, measure) else { return String::new() };
    let text = measured(measure, own);
    if is_best(found, label, measure, own) { format!("{text} {BEST}") } else { text }
}

fn is_best(found: &WorkloadFindings, label: &str, measure: Measure, own: f64) -> bool {
    let contrasts = &found.contrasts;
    let is_better = |a: f64, b: f64| if measure == Measure::Throughput { a > b } else { a < b };
    let mut others = contrasts.labels().filter(|other| *other != label);
    let beaten =
        others.any(|other| contrasts.centre(other, measure).is_some_and(|m| is_better(m, own)));
    if beaten {
        return false;
    }
    let mut findings = contrasts.findings();
    if label == contrasts.first_label() {
        let all: Vec<Option<Finding>> = findings.map(|(_, one)| finding_of(one, measure)).collect();
        return !all.is_empty() && all.iter().all(|one| *one == Some(Finding::Worse));
    }
    findings
        .find(|(other, _)| *other == label)
        .is_some_and(|(_, one)| finding_of(one, measure) == Some(Finding::Better))
}

/// What the runs decide of a variant against the first one.
fn how_sure(found: &WorkloadFindings, label: &str) -> String {
    let first = found.contrasts.first_label();
    if label == first {
        return "the others are compared with it".to_owned();
    }
    let contrast = found.contrasts.findings().find(|(other, _)| *other == label);
    let Some((_, contrast)) = contrast else { return "not compared".to_owned() };
    let of = |finding: Finding| {
        let some = MEASURES
            .iter()
            .filter(move |(measure, _)| finding_of(contrast, *measure) == Some(finding));
        let heads: Vec<&str> = some.map(|(_, head)| *head).collect();
        (!heads.is_empty()).then(|| list_and(&heads))
    };
    let parts = [
        of(Finding::Better).map(|heads| format!("{heads} better")),
        of(Finding::Worse).map(|heads| format!("{heads} worse")),
        of(Finding::Same).map(|heads| format!("{heads} the same")),
        of(Finding::CannotTell).map(|heads| format!("{heads} open")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

/// Whether a figure's chart belongs to what differs under a workload.
pub(super) fn differs(found: &WorkloadFindings, figure: &Figure) -> bool {
    let is_change = |finding: Finding| !matches!(finding, Finding::Same | Finding::CannotTell);
    let measured = found.contrasts.findings().any(|(_, contrast)| {
        contrast
            .changes
            .iter()
            .any(|one| one.measure.name() == figure.name && is_change(one.finding))
    });
    let mut further = found.others.iter();
    measured || further.any(|one| one.figure.name == figure.name && is_change(one.found.finding))
}
