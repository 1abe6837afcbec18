//! `Contrasts`: variants with repeats against the first of them, as text, JSON, Markdown and a page, with the cautions that the
//! findings need. `study` computes the findings; this module words them.

mod amounts;
mod apart;
mod cautions;
mod conclusion;
mod details;
mod findings;
mod gate;
mod json;
mod junit;
mod page;
mod runs;
mod verdicts;

pub(crate) use amounts::{by, value};
use apart::{Apart, apart};
pub use apart::{RunMachine, RunSubject};
pub(crate) use findings::{compared, gravest};
use study::contrast::{
    Change, Contrast, Finding, Limit, LimitVerdict, Load, Measure, Rules, Run, Unequal, contrast,
    exclude, primary, unequal,
};

use crate::columns::Columns;
use crate::conclusion::{lines, markdown_list};
use crate::escape;
use crate::figure::shortened_to_end;
use crate::number::{counted, grouped};

/// A variant's runs.
#[derive(Clone, Debug, Default)]
pub struct Variant {
    /// Its label.
    pub label: String,
    /// Its runs.
    pub runs: Vec<VariantRun>,
    /// Runs beyond [`study::contrast::RUNS_MAX`], which were left out.
    pub left_out: usize,
    /// Runs without a request, which [`Contrasts::of`] takes out of `runs`.
    pub empty: usize,
}

/// One run of a variant.
#[derive(Clone, Debug, Default)]
pub struct VariantRun {
    /// Its file or folder.
    pub name: String,
    /// Its figures.
    pub figures: Run,
    /// What it was offered.
    pub load: Load,
    /// What was attacked, and from where.
    pub subject: RunSubject,
    /// Unix times (ns) of the first hit due and of the last end.
    pub span: (i64, i64),
    /// Why its figures may not be believed, in words; empty where they may.
    pub invalid: Vec<String>,
    /// The load generator has no record.
    pub blind: Blind,
}

impl Variant {
    /// What its runs are of.
    fn subjects(&self) -> Vec<&RunSubject> {
        self.runs.iter().map(|run| &run.subject).collect()
    }

    /// A run that says nothing of any figure counts nowhere.
    fn take_out_empty(&mut self) {
        let all = self.runs.len();
        self.runs.retain(|run| run.figures.counts());
        self.empty += all - self.runs.len();
    }
}

/// Whether a run has a record of its load generator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blind {
    /// It did.
    #[default]
    Recorded,
    /// The format has none.
    Unrecorded,
}

/// Every variant against the first.
#[derive(Clone, Debug)]
pub struct Contrasts {
    title: String,
    rules: Rules,
    variants: Vec<Variant>,
    rows: Vec<Row>,
    limits: Vec<Limit>,
    /// Which requests are compared, if not all; else empty.
    selected: String,
}

/// One variant against the first.
#[derive(Clone, Debug)]
struct Row {
    label: String,
    found: Contrast,
    unequal: Vec<Unequal>,
    apart: Vec<Apart>,
    verdicts: Vec<(Limit, LimitVerdict)>,
}

impl Contrasts {
    /// Compares every variant with the first. Variants without a run that counts are listed and not compared. Without a title,
    /// the comparison is called after its variants.
    #[must_use]
    pub fn of(title: &str, mut variants: Vec<Variant>, rules: Rules, limits: &[Limit]) -> Self {
        variants.iter_mut().for_each(Variant::take_out_empty);
        let compared = variants.iter().skip(1).filter(|variant| !variant.runs.is_empty()).count();
        exclude_of(&mut variants);
        let runs = |variant: &Variant| -> Vec<Run> {
            variant.runs.iter().map(|run| run.figures.clone()).collect()
        };
        let gated: Vec<Measure> = limits.iter().map(|limit| limit.measure).collect();
        let all = variants.iter().flat_map(|variant| &variant.runs).map(|run| &run.figures);
        let first = rules.primary.or_else(|| Measure::first_of(&gated));
        let primary = Some(first.unwrap_or_else(|| primary(all)));
        let rules = Rules { comparisons: compared.max(1), primary, ..rules };
        let loads =
            |variant: &Variant| variant.runs.iter().map(|run| run.load).collect::<Vec<Load>>();
        let rows = variants.split_first().map_or(Vec::new(), |(first, rest)| {
            let one = |other: &Variant| {
                let found = contrast(&runs(first), &runs(other), &rules)?;
                let unequal = unequal(&loads(first), &loads(other));
                let verdicts = verdicts::verdicts(&found, limits, &rules);
                let label = other.label.clone();
                let apart = apart((&first.label, &first.subjects()), (&label, &other.subjects()));
                Some(Row { label, found, unequal, apart, verdicts })
            };
            rest.iter().filter_map(one).collect()
        });
        let title = if title.is_empty() { subject(&variants) } else { title.to_owned() };
        let (limits, selected) = (limits.to_vec(), String::new());
        Self { title, rules, variants, rows, limits, selected }
    }

    /// The same of a part of the requests (`scenario:buyers`).
    #[must_use]
    pub fn of_part(self, selected: String) -> Self {
        Self { selected, ..self }
    }

    /// As tables of text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = lines(&self.conclusion());
        if !self.rows.is_empty() {
            let first = escape::terminal(self.first_label());
            out.push_str(&format!(
                "\nBaseline: {first}; every change is of another against it.\n\n"
            ));
        }
        let mut sides = Columns::default().right(&[1, 2, 3, 4, 5, 6, 7, 8]);
        sides.row(SIDE_HEADS.map(str::to_owned));
        self.variants.iter().for_each(|side| sides.row(cells(side).map(|c| escape::terminal(&c))));
        out.push_str(&sides.lines());
        for row in &self.rows {
            out.push('\n');
            out.push_str(&escape::terminal(&self.heading(row)));
            out.push('\n');
            let mut table = Columns::default().right(&[1, 2, 3, 4]);
            table.row(self.heads(row, escape::terminal));
            row.found.changes.iter().for_each(|change| table.row(change_cells(change)));
            out.push_str(&table.lines());
        }
        let cautions = self.cautions();
        if !cautions.is_empty() {
            out.push('\n');
        }
        for caution in cautions {
            out.push_str(&format!("Note: {}\n", escape::terminal(&caution)));
        }
        out + &self.details_text()
    }

    /// As Markdown, for a comment on a pull request.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out = format!("### {}\n\n", escape::markdown(&self.title));
        out.push_str(&markdown_list(&self.conclusion()));
        for row in &self.rows {
            out.push_str(&format!("\n**{}**\n\n", escape::markdown(&self.heading(row))));
            out.push_str(&format!(
                "| {} |\n|---|---:|---:|---:|---:|---|\n",
                self.heads(row, escape::markdown).join(" | ")
            ));
            for change in &row.found.changes {
                let mut cells = change_cells(change);
                if matches!(change.finding, Finding::Better | Finding::Worse) {
                    cells[5] = format!("**{}**", cells[5]);
                }
                out.push_str(&format!("| {} |\n", cells.join(" | ")));
            }
        }
        out.push_str(&format!(
            "\n| {} |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
            SIDE_HEADS.join(" | ")
        ));
        for side in &self.variants {
            let cells = cells(side).map(|cell| escape::markdown(&cell));
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        out.push('\n');
        for caution in self.cautions() {
            out.push_str(&format!("- {}\n", escape::markdown(&caution)));
        }
        out + &self.details_markdown()
    }

    /// What was found of each variant after the first.
    pub(crate) fn findings(&self) -> impl Iterator<Item = (&str, &Contrast)> {
        self.rows.iter().map(|row| (row.label.as_str(), &row.found))
    }

    /// The label of what the others are compared with.
    pub(crate) fn first_label(&self) -> &str {
        self.variants.first().map_or("", |first| &first.label)
    }

    /// The labels of the variants, the first one first.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.variants.iter().map(|variant| variant.label.as_str())
    }

    /// What the runs of a variant have of a measure on average; `None` without runs.
    pub(crate) fn centre(&self, label: &str, measure: Measure) -> Option<f64> {
        let variant = self.variants.iter().find(|variant| variant.label == label)?;
        let figures = variant.runs.iter().map(|run| &run.figures);
        (!variant.runs.is_empty()).then(|| measure.centre(figures))
    }

    /// There is anything to draw.
    pub(crate) fn has_runs(&self) -> bool {
        self.variants.iter().any(|variant| !variant.runs.is_empty())
    }

    /// The heads of a comparison's table, which name the variants; labels in them are escaped.
    fn heads(&self, row: &Row, escaped: impl Fn(&str) -> String) -> [String; 6] {
        let name = |label: &str| escaped(&self.short(label, HEAD_MAX));
        let (one, first) = (name(&row.label), name(self.first_label()));
        let change = format!("change of {one} against {first}");
        ["Metric", &first, &one, &change, "95 % interval", "verdict"].map(str::to_owned)
    }

    /// A variant's label in so many characters, without the path that all of them begin with.
    fn short(&self, label: &str, max: usize) -> String {
        let labels: Vec<&str> = self.variants.iter().map(|one| one.label.as_str()).collect();
        shortened_to_end(&label[common_path(&labels)..], max)
    }

    /// What a comparison is of.
    fn heading(&self, row: &Row) -> String {
        let first = self.variants.first().map_or("", |first| &first.label);
        let (m, n) = row.found.runs;
        let runs = |count: usize| counted(count as u64, "run");
        format!("{} ({}) against {first} ({})", row.label, runs(n), runs(m))
    }
}

impl Row {
    /// The variants got the same load, of the same requests, from machines alike.
    fn is_like_for_like(&self) -> bool {
        self.unequal.is_empty() && !self.apart.iter().any(|one| one.is_doubt)
    }

    fn change(&self, measure: Measure) -> &Change {
        let mut changes = self.found.changes.iter();
        changes.find(|change| change.measure == measure).expect("each measure is compared")
    }
}

/// Decides which figures of which runs count, by all variants.
fn exclude_of(variants: &mut [Variant]) {
    let take =
        |run: &mut VariantRun| Run { begun_ns: run.span.0, ..std::mem::take(&mut run.figures) };
    let mut figures: Vec<Vec<Run>> =
        variants.iter_mut().map(|one| one.runs.iter_mut().map(take).collect()).collect();
    exclude(&mut figures);
    let runs = variants.iter_mut().flat_map(|variant| &mut variant.runs);
    runs.zip(figures.into_iter().flatten()).for_each(|(run, figures)| run.figures = figures);
}

/// What is compared with what.
fn subject(variants: &[Variant]) -> String {
    match variants {
        [] => "Nothing to compare".to_owned(),
        [one] => one.label.clone(),
        [first, other] => format!("{} compared with {}", other.label, first.label),
        [first, rest @ ..] => {
            format!("{} compared with {}", counted(rest.len() as u64, "variant"), first.label)
        }
    }
}

const SIDE_HEADS: [&str; 9] =
    ["Variant", "runs", "requests", "mean", "p50", "p90", "p99", "throughput", "errors"];
/// Characters of a label in a table's head.
const HEAD_MAX: usize = 24;

/// Bytes of the path that all labels begin with, up to its last `/`; 0 where one of them is no more than that.
fn common_path(labels: &[&str]) -> usize {
    let Some((first, rest)) = labels.split_first() else { return 0 };
    let alike = |other: &&str| {
        let pairs = first.bytes().zip(other.bytes());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let alike = rest.iter().map(alike).min().unwrap_or(0);
    let bytes = &first.as_bytes()[..alike];
    let path = bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    if labels.iter().any(|label| label.len() == path) { 0 } else { path }
}

/// A variant by itself, with means over its runs, as the comparisons have them.
fn cells(variant: &Variant) -> [String; 9] {
    let requests: u64 = variant.runs.iter().map(|run| run.figures.times.count()).sum();
    let [mean, p50, p90, p99, throughput, errors] = Measure::ALL
        .map(|measure| value(measure, measure.centre(variant.runs.iter().map(|run| &run.figures))));
    let runs = variant.runs.len().to_string();
    [variant.label.clone(), runs, grouped(requests), mean, p50, p90, p99, throughput, errors]
}

/// A row of a comparison.
fn change_cells(change: &Change) -> [String; 6] {
    let of = change.measure;
    let none = || "none".to_owned();
    [
        of.name().to_owned(),
        value(of, change.centres.0),
        value(of, change.centres.1),
        by(of, change.change),
        change
            .interval
            .map_or_else(none, |(low, high)| format!("{} to {}", by(of, low), by(of, high))),
        change.finding.name().to_owned(),
    ]
}

#[cfg(test)]
mod tests;
