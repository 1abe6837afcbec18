//! What a study found, in sentences: which variant is better, by how much, and with which interval.

use stdx::{are, were};
use study::contrast::Finding;
use study::plan::{Ordering, OrderingOutcome, Relation};

use super::input::{StudyInput, StudyRun, StudyState, StudyWorkload};
use super::report::{Decided, OtherChange, StudyReport, WorkloadFindings, change, value};
use crate::contrasts::compared;
use crate::number::counted;

/// Runs that a sentence numbers, at most.
const RUNS_NAMED_MAX: usize = 12;

impl StudyReport {
    /// What was found, a sentence or two for each comparison.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for (workload, found) in self.input.workloads.iter().zip(&self.workloads) {
            let first = found.contrasts.first_label();
            for (label, contrast) in found.contrasts.findings() {
                sentences.push(format!("{}: {}", workload.name, compared(label, first, contrast)));
            }
            let model =
                found.model.iter().map(|model| format!("{}: {}", workload.name, model.sentence()));
            sentences.extend(model);
            sentences.extend(
                others_in_words(found, Decided::OrNot)
                    .into_iter()
                    .map(|text| format!("{}: {text}", workload.name)),
            );
        }
        if sentences.is_empty() {
            sentences.push(
                "There is nothing to compare: no two variants have a measured run of one workload."
                    .to_owned(),
            );
        }
        sentences
    }

    /// Expected orderings: the workload, the ordering, whether it held in words, and the medians.
    pub(super) fn orderings(&self) -> Vec<[String; 4]> {
        let of = |(workload, found): (&StudyWorkload, &WorkloadFindings)| {
            let row = |(ordering, judged): &(Ordering, Option<OrderingOutcome>)| {
                let [word, medians] = judged_words(ordering, judged.as_ref());
                [workload.name.clone(), ordering.to_string(), word, medians]
            };
            found.orderings.iter().map(row).collect::<Vec<_>>()
        };
        self.input.workloads.iter().zip(&self.workloads).flat_map(of).collect()
    }

    /// What must be known to believe any of it, the gravest first.
    #[must_use]
    pub fn incidents(&self) -> Vec<String> {
        incidents(&self.input)
    }
}

/// The findings for figures that results do not have: those that decide a study by themselves.
pub(super) fn others_in_words(found: &WorkloadFindings, which: Decided) -> Vec<String> {
    let decides =
        |name: &str| matches!(name, "limit" | "rtt.p50" | "rtt.p99" | "fan_out.p50" | "lost");
    let is_open =
        |one: &OtherChange| matches!(one.found.finding, Finding::Same | Finding::CannotTell);
    let deciding = found.others.iter().filter(|one| decides(one.figure.name));
    let deciding = deciding.filter(|one| which == Decided::OrNot || !is_open(one));
    deciding
        .map(|one| {
            let (before, after) = one.found.centres;
            let word = match one.found.finding {
                Finding::Better => "is better",
                Finding::Worse => "is worse",
                Finding::Differs => "differs",
                Finding::Same => "is the same",
                Finding::CannotTell => "is not decided by these runs",
            };
            let between = one.found.interval.map_or(String::new(), |(low, high)| {
                format!(", 95 % interval {} to {}", change(one.scale, low), change(one.scale, high))
            });
            let title = one.figure.title.to_lowercase();
            format!(
                "{title} of {} {word}: {} against {} of {} ({}{between}).",
                one.label,
                value(one.figure, after),
                value(one.figure, before),
                one.against,
                change(one.scale, one.found.change),
            )
        })
        .collect()
}

/// Whether an ordering held, and the medians it was judged by.
pub(super) fn judged_words(ordering: &Ordering, judged: Option<&OrderingOutcome>) -> [String; 2] {
    let Some(judged) = judged else {
        return ["not decided: one of them has no runs".to_owned(), String::new()];
    };
    let word = match (judged.held, judged.is_certain()) {
        // A difference's p is no evidence that medians are close.
        (true, _) if ordering.relation == Relation::About => {
            "as expected: within a tenth".to_owned()
        }
        (false, _) if ordering.relation == Relation::About => {
            "not as expected: more than a tenth apart".to_owned()
        }
        (true, true) => "as expected".to_owned(),
        (false, true) => "not as expected".to_owned(),
        (true, false) => "as expected, but too few runs to rule out chance".to_owned(),
        (false, false) => "not as expected, but too few runs to rule out chance".to_owned(),
    };
    let (first, second) = judged.medians;
    let medians =
        format!("{} and {}", value(ordering.figure, first), value(ordering.figure, second));
    [word, medians]
}

fn incidents(input: &StudyInput) -> Vec<String> {
    let mut sentences = Vec::new();
    for variant in input.variants.iter().filter(|variant| !variant.left_out.is_empty()) {
        sentences.push(format!("{} was left out: {}.", variant.name, variant.left_out));
    }
    for (cell, why) in &input.left_out {
        let (workload, variant) = (&input.workloads[cell.workload], &input.variants[cell.variant]);
        sentences.push(format!("{} on {} was left out: {why}.", workload.name, variant.name));
    }
    let count = |of: &dyn Fn(&StudyRun) -> bool| input.runs.iter().filter(|run| of(run)).count();
    let all = counted(input.runs.len() as u64, "run");
    let failed = count(&|run| matches!(run.state, StudyState::Failed(_)));
    let open = count(&|run| run.state == StudyState::NotRun);
    let invalid = count(&|run| !run.invalid.is_empty());
    if failed > 0 {
        sentences.push(format!(
            "{failed} of {all} failed, and {} for nothing.",
            if failed == 1 { "counts" } else { "count" }
        ));
    }
    if open > 0 {
        sentences.push(format!("{open} of {all} {} not made.", were(open as u64)));
    }
    if invalid > 0 {
        sentences.push(format!(
            "{invalid} of {all} {} INVALID by their own verdict; they are marked, and figures that this spoilt do not count where three other runs do.",
            are(invalid as u64)
        ));
    }
    for (number, run) in input.runs.iter().enumerate() {
        let name = |kind: &str| {
            let variant = &input.variants[run.cell.variant].name;
            let workload = &input.workloads[run.cell.workload].name;
            format!("run {} ({workload} on {variant}) {kind}", number + 1)
        };
        if let StudyState::Failed(reason) = &run.state {
            sentences.push(format!("{}: {reason}", name("failed")));
        }
        let reasons = run.invalid.iter().map(|reason| format!("{}: {reason}", name("is INVALID")));
        sentences.extend(reasons);
    }
    sentences.extend(notes(input));
    sentences.extend(input.unlike.iter().map(|text| format!("Not all runs are alike: {text}.")));
    if !input.skipped.is_empty() {
        let (list, form) = (input.skipped.join(", "), &input.form);
        sentences.push(format!("Not part of the {form} form: {list}."));
    }
    sentences
}

/// The notes of runs, each once with the numbers of its runs.
fn notes(input: &StudyInput) -> Vec<String> {
    let mut by_note: Vec<(&str, Vec<usize>)> = Vec::new();
    for (number, run) in input.runs.iter().enumerate() {
        for note in &run.notes {
            match by_note.iter_mut().find(|(known, _)| known == note) {
                Some((_, runs)) => runs.push(number + 1),
                None => by_note.push((note, vec![number + 1])),
            }
        }
    }
    let all = input.runs.len();
    let sentence = |(note, runs): (&str, Vec<usize>)| match runs.len() {
        count if count == all => format!("In every run: {note}."),
        _ => {
            let shown: Vec<String> =
                runs.iter().take(RUNS_NAMED_MAX).map(usize::to_string).collect();
            let more = runs.len().saturating_sub(RUNS_NAMED_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let word = if runs.len() == 1 { "run" } else { "runs" };
            format!("In {word} {}{more}: {note}.", shown.join(", "))
        }
    };
    by_note.into_iter().map(sentence).collect()
}
