//! A study as one JSON document. A key is never renamed: docs/reference/study-json.md.

use study::contrast::Scale;
use study::plan::{Ordering, OrderingOutcome};

use super::input::{StudyInput, StudyRun, StudyState};
use super::report::{OtherChange, StudyReport, WorkloadFindings};
use crate::escape;
use crate::number::go_json;
use crate::object::{Object, json_list};
use crate::provenance;

impl StudyReport {
    /// As one line of JSON; times in nanoseconds, changes and shares as fractions.
    #[must_use]
    pub fn json(&self) -> String {
        let input = &self.input;
        let facts = input
            .facts
            .iter()
            .fold(Object::new(), |object, (name, value)| object.text(name, value));
        let texts = |list: Vec<String>| json_list(list.iter().map(|text| escape::json(text)));
        let variants = input.variants.iter().map(|variant| {
            let versions = variant.versions.iter();
            let versions =
                versions.fold(Object::new(), |object, (name, text)| object.text(name, text));
            Object::new()
                .text("name", &variant.name)
                .text("note", &variant.note)
                .put("versions", versions.end())
                .text("left_out", &variant.left_out)
                .end()
        });
        let workloads = (0..input.workloads.len()).map(|at| self.workload_json(at));
        let cells = input.left_out.iter().map(|(cell, why)| {
            Object::new()
                .text("workload", &input.workloads[cell.workload].name)
                .text("variant", &input.variants[cell.variant].name)
                .text("reason", why)
                .end()
        });
        let runs = (0..input.runs.len()).map(|number| run(input, number));
        Object::new()
            .text("name", &input.name)
            .text("title", &input.title)
            .text("form", &input.form)
            .text("ended", &input.ended)
            .number("looks", input.looks.max(1) as u64)
            .number("seed", input.seed)
            .put("machine", facts.end())
            .put(
                "provenance",
                input.provenance.as_ref().map_or("null".to_owned(), provenance::object),
            )
            .put("findings", texts(self.findings()))
            .put("incidents", texts(self.incidents()))
            .put("variants", json_list(variants))
            .put("workloads", json_list(workloads))
            .put("cells_left_out", json_list(cells))
            .put("workloads_left_out", texts(input.skipped.clone()))
            .put("runs", json_list(runs))
            .end()
            + "\n"
    }

    fn workload_json(&self, at: usize) -> String {
        let WorkloadFindings { contrasts, others, orderings, model } = &self.workloads[at];
        let workload = &self.input.workloads[at];
        let cautions = contrasts.notes();
        Object::new()
            .text("name", &workload.name)
            .text("command", &workload.command)
            .put("metrics", contrasts.metrics_json())
            .put("comparisons", contrasts.comparisons_json())
            .put("figures", json_list(others.iter().map(other)))
            .put("orderings", json_list(orderings.iter().map(ordering)))
            .put("model", model.as_ref().map_or("null".to_owned(), super::model::Model::json))
            .put("cautions", json_list(cautions.iter().map(|caution| escape::json(caution))))
            .end()
    }
}

fn other(one: &OtherChange) -> String {
    let found = &one.found;
    let scale = if one.scale == Scale::Ratio { "ratio" } else { "difference" };
    Object::new()
        .text("name", one.figure.name)
        .text("label", &one.label)
        .text("against", &one.against)
        .text("verdict", found.finding.name())
        .float("change", found.change)
        .put("low", optional(found.interval.map(|both| both.0)))
        .put("high", optional(found.interval.map(|both| both.1)))
        .text("scale", scale)
        .float("before", found.centres.0)
        .float("after", found.centres.1)
        .float("p", found.p)
        .float("p_adjusted", found.p_family)
        .end()
}

fn ordering((ordering, judged): &(Ordering, Option<OrderingOutcome>)) -> String {
    let judged = judged.as_ref();
    Object::new()
        .text("expected", &ordering.to_string())
        .text("metric", ordering.figure.name)
        .put("held", judged.map_or("null", |judged| truth(judged.held)))
        .put("certain", judged.map_or("null", |judged| truth(judged.is_certain())))
        .put("first", optional(judged.map(|judged| judged.medians.0)))
        .put("second", optional(judged.map(|judged| judged.medians.1)))
        .put("p", optional(judged.map(|judged| judged.p)))
        .end()
}

fn run(input: &StudyInput, number: usize) -> String {
    let run: &StudyRun = &input.runs[number];
    let (state, reason) = match &run.state {
        StudyState::Measured => ("measured", ""),
        StudyState::Failed(reason) => ("failed", reason.as_str()),
        StudyState::NotRun => ("not run", ""),
    };
    let verdict = match (&run.state, run.invalid.is_empty()) {
        (StudyState::Measured, true) => "VALID",
        (StudyState::Measured, false) => "INVALID",
        _ => "",
    };
    let figures = run
        .figures
        .iter()
        .fold(Object::new(), |object, (figure, value)| object.float(figure.name, *value));
    let texts = |list: &[String]| json_list(list.iter().map(|text| escape::json(text)));
    Object::new()
        .number("number", number as u64 + 1)
        .text("workload", &input.workloads[run.cell.workload].name)
        .text("variant", &input.variants[run.cell.variant].name)
        .number("repeat", run.repeat as u64)
        .text("state", state)
        .text("reason", reason)
        .text("verdict", verdict)
        .put("reasons", texts(&run.invalid))
        .put("began", run.began.to_string())
        .text("attacked", &run.attacked)
        .number("took", run.took.0)
        .number("start", run.start.0)
        .put("load_before", optional(run.load_before))
        .put("codes", json_list(run.codes.iter().map(i32::to_string)))
        .put("notes", texts(&run.notes))
        .put("figures", figures.end())
        .end()
}

fn truth(yes: bool) -> &'static str {
    if yes { "true" } else { "false" }
}

fn optional(value: Option<f64>) -> String {
    value.map_or("null".to_owned(), go_json)
}
