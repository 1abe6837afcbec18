//! `compare`: variants with repeats against the first of them: what changed, by how much, and whether chance may be ruled out.

use std::path::Path;

use cli::{
    CommandError, Document, ExitCode, Invocation, Output, ParsedArgs, annotate_failure,
    append_job_summary, eprint_line, usage_error,
};
use recordings::{LabelledRuns, RecordedRun, read_labelled};
use report::{Contrasts, Variant};
use study::contrast::LimitVerdict;

use super::flags::{COMPARE, CompareFlags};

/// What the help says beside the flags.
pub(crate) const ABOUT: &str = "Each operand is a variant: a file of results (one run), or a folder in which each file is a run \
                                and each subfolder a run of several load generators. Runs are the unit of the statistics: with \
                                fewer than three runs of a variant nothing is judged. Every variant is compared with the first \
                                one, or with -baseline.";

/// Compares.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(COMPARE)?;
    let flags = &typed.flags;
    let place = Output::named(flags.output.as_deref());
    place.spares(&typed.operands)?;
    let kind = kind(&typed)?;
    if typed.operands.len() < 2 {
        return Err(usage_error(
            "at least two variants are needed: give for example brunt compare BEFORE AFTER",
        ));
    }
    let mut labelled = read_labelled(&typed.operands, "compare")?;
    if labelled.len() < 2 {
        let label = &labelled[0].label;
        return Err(usage_error(format!(
            "all operands have the label \"{label}\": nothing to compare"
        )));
    }
    if let Some(name) = &flags.baseline {
        let labels: Vec<&str> = labelled.iter().map(|one| one.label.as_str()).collect();
        let at = baseline(name, &labels)?;
        labelled[..=at].rotate_right(1);
    }
    let variants = labelled.into_iter().map(variant).collect();
    let found = Contrasts::of(&flags.title, variants, flags.rules, &flags.fail_on);
    let document = match kind {
        Document::Json => found.json(),
        Document::Markdown => found.markdown(),
        Document::Html => found.html(),
        _ => found.text(),
    };
    place.write(document.as_bytes())?;
    append_job_summary(|| found.markdown());
    Ok(judged(flags, &found))
}

/// Prints which limits were passed, and gives the code.
fn judged(flags: &CompareFlags, found: &Contrasts) -> ExitCode {
    let broken = found.broken();
    for (_, text) in &broken {
        eprint_line(&format!("brunt compare: {text}"));
        annotate_failure("comparison", text);
    }
    let is = |one: LimitVerdict| broken.iter().any(|(verdict, _)| *verdict == one);
    let open = is(LimitVerdict::Unclear) || is(LimitVerdict::Undecided);
    match () {
        () if is(LimitVerdict::Exceeded) || (open && flags.fail_unclear) => ExitCode::Changed,
        // A gate that these runs could not decide must not pass for one that held.
        () if open => ExitCode::Undecided,
        () => ExitCode::Ok,
    }
}

/// Which label is meant: the one that is the name, else the only one that is so called at the end of its path.
fn baseline(name: &str, labels: &[&str]) -> Result<usize, CommandError> {
    let name = name.trim_end_matches('/');
    if let Some(at) = labels.iter().position(|label| *label == name) {
        return Ok(at);
    }
    let ends = |label: &str| Path::new(label).file_name().is_some_and(|last| last == name);
    let found: Vec<usize> = (0..labels.len()).filter(|at| ends(labels[*at])).collect();
    match found[..] {
        [at] => Ok(at),
        _ => {
            let (word, labels) =
                (if found.is_empty() { "no" } else { "more than one" }, labels.join(", "));
            Err(usage_error(format!(
                "flag -baseline: {word} variant is called \"{name}\" (there are {labels})"
            )))
        }
    }
}

/// What a comparison may be written as.
const DOCUMENTS: [Document; 4] =
    [Document::Html, Document::Json, Document::Markdown, Document::Text];

/// `-type`, else `-json`, else the output's ending, else text.
fn kind(typed: &ParsedArgs<CompareFlags>) -> Result<Document, CommandError> {
    let flags = &typed.flags;
    Ok(match flags.kind.as_deref() {
        None if flags.json => Document::Json,
        None => Document::by_ending("-output", flags.output.as_deref(), &DOCUMENTS)
            .map_err(|wrong| usage_error(format!("{wrong} (or give -type)")))?
            .unwrap_or(Document::Text),
        Some("json") => Document::Json,
        Some("markdown") => Document::Markdown,
        Some("html") => Document::Html,
        Some(_) => Document::Text,
    })
}

fn variant(labelled: LabelledRuns) -> Variant {
    let LabelledRuns { label, runs, left_out } = labelled;
    let runs = runs.iter().map(RecordedRun::variant_run).collect();
    Variant { label, runs, left_out, ..Variant::default() }
}

#[cfg(test)]
mod tests {
    use cli::GlobalFlags;

    use super::*;
    use cli::Dialect;

    #[test]
    fn the_baseline_is_a_label_or_the_end_of_one() {
        let labels = ["runs/a", "runs/b", "b", "old/c", "new/c"];
        let at = |name: &str| baseline(name, &labels).ok();
        assert_eq!(at("runs/b/"), Some(1));
        assert_eq!((at("b"), at("a")), (Some(2), Some(0)), "a whole label goes before an end");
        assert_eq!((at("c"), at("runs"), at("")), (None, None, None));
        let mut order = labels;
        order[..=3].rotate_right(1);
        assert_eq!(
            order,
            ["old/c", "runs/a", "runs/b", "b", "new/c"],
            "the others keep their order"
        );
    }

    #[test]
    fn the_type_decides_then_json_then_the_ending() {
        let cases = [
            (None, false, None, Document::Text),
            (None, true, None, Document::Json),
            (None, false, Some("a.md"), Document::Markdown),
            (None, false, Some("a.html"), Document::Html),
            (None, false, Some("a"), Document::Text),
            (Some("text"), true, Some("a.html"), Document::Text),
            (Some("html"), false, Some("a.pdf"), Document::Html),
        ];
        for (kind, json, output, expected) in cases {
            let (kind, output) = (kind.map(str::to_owned), output.map(str::to_owned));
            let flags = CompareFlags { kind, json, output, ..CompareFlags::default() };
            let (dialect, global) = (Dialect::Native, GlobalFlags::default());
            let typed = ParsedArgs { dialect, global, flags, operands: Vec::new() };
            assert_eq!(super::kind(&typed).ok(), Some(expected));
        }
    }
}
