//! `compare`: variants with repeats against the first of them: what changed, by how much, and whether chance may be ruled out.

use std::path::Path;

use cli::{
    CommandError, Document, ExitCode, ExitError, Invocation, Output, ParsedArgs, annotate_failure,
    append_job_summary, eprint_line, usage_error,
};
use recordings::{LabelledRuns, RecordedRun, read_labelled, undamaged};
use report::{Contrasts, Variant};
use study::contrast::LimitVerdict;

use session::save::store_failure;
use store::{Run, Scope, Selector, Store, folder_of};

use super::flags::{COMPARE, CompareFlags};
use crate::analyze::stored::{self, StoredOperand};

/// What the help says beside the flags.
pub(crate) const ABOUT: &str = "Each operand is a variant: a file of results (one run), or a folder in which each file is a run \
                                and each subfolder a run of several load generators; or runs of the store (brunt help runs). Runs are the unit of the statistics: with \
                                fewer than three runs of a variant nothing is judged. Every variant is compared with the first \
                                one, or with -baseline.";

/// Compares.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(COMPARE)?;
    let flags = &typed.flags;
    let place = Output::named(flags.output.as_deref());
    place.spares("-output", &typed.operands)?;
    let kind = kind(&typed)?;
    let store = Store::at(folder_of(flags.store.as_deref()));
    let inputs = Inputs::of(&typed, &store)?;
    if inputs.is_alone() && flags.save_baseline.is_some() {
        return save_baseline(&inputs, flags, &store);
    }
    let labelled = inputs.read(flags)?;
    let damage = undamaged(labelled.iter().flat_map(|one| &one.runs));
    let variants = labelled.into_iter().map(variant).collect();
    let found = Contrasts::of(&flags.title, variants, flags.rules, &flags.fail_on);
    let found = found.of_part(flags.selector.to_string());
    let document = match kind {
        Document::Json => found.json(),
        Document::Markdown => found.markdown(),
        Document::Html => found.html(),
        Document::Junit => found.junit(),
        _ => found.text(),
    };
    place.write(document.as_bytes())?;
    append_job_summary(|| found.markdown());
    damage?;
    if flags.save_baseline.is_some() {
        save_baseline(&inputs, flags, &store)?;
    }
    Ok(judged(flags, &found))
}

/// What is compared.
struct Inputs {
    /// The runs of the store that `-baseline` names, as operands.
    baseline: Vec<String>,
    /// The operands, with results in place of runs.
    operands: Vec<String>,
    /// The operands as they were given: one may stand for several runs.
    words: usize,
    /// The runs of the store of the last operand's label.
    current: Vec<Run>,
    /// All runs of the store.
    stored: Vec<Run>,
}

impl Inputs {
    /// Looks up the operands, and the baseline where it is one of the store. Without operands the newest run is compared.
    fn of(typed: &ParsedArgs<CompareFlags>, store: &Store) -> Result<Self, CommandError> {
        let flags = &typed.flags;
        check_name(flags.save_baseline.as_deref())?;
        let newest = ["last".to_owned()];
        let words = match (&typed.operands[..], &flags.baseline, &flags.save_baseline) {
            ([], None, None) => return Err(usage_error(TOO_FEW)),
            ([], _, _) => &newest[..],
            (operands, _, _) => operands,
        };
        let (mut operands, mut runs, mut current) = (Vec::new(), Vec::new(), Vec::new());
        for word in words {
            let found = stored::look_up(word, store)?;
            operands.extend(found.paths);
            runs.extend(found.runs.clone());
            current = found.runs;
        }
        let baseline = match &flags.baseline {
            Some(name) if !is_label(name, &operands) => stored_baseline(name, &runs, store)?,
            _ => StoredOperand { paths: Vec::new(), runs: Vec::new() },
        };
        runs.extend(baseline.runs);
        let (baseline, words) = (baseline.paths, words.len());
        Ok(Self { baseline, operands, words, current, stored: runs })
    }

    /// Whether there is nothing to compare with.
    fn is_alone(&self) -> bool {
        self.baseline.is_empty() && self.words < 2
    }

    /// Reads all results, the baseline first.
    fn read(&self, flags: &CompareFlags) -> Result<Vec<LabelledRuns>, CommandError> {
        let all = [self.baseline.clone(), self.operands.clone()].concat();
        if all.len() < 2 {
            return Err(usage_error(TOO_FEW));
        }
        let mut labelled = read_labelled(&all, "compare", &flags.selector)?;
        if labelled.len() < 2 {
            let label = &labelled[0].label;
            return Err(usage_error(format!(
                "all operands have the label \"{label}\": nothing to compare"
            )));
        }
        if let (Some(name), []) = (&flags.baseline, &self.baseline[..]) {
            let labels: Vec<&str> = labelled.iter().map(|one| one.label.as_str()).collect();
            let at = baseline(name, &labels)?;
            labelled[..=at].rotate_right(1);
        }
        labelled.iter_mut().flat_map(|one| &mut one.runs).for_each(|run| self.add_machine(run));
        Ok(labelled)
    }

    /// Results do not say on which machine they were made; the store does.
    fn add_machine(&self, read: &mut RecordedRun) {
        let is_its = |run: &&Run| {
            run.results().is_ok_and(|path| path.is_some_and(|path| path == Path::new(&read.name)))
        };
        read.subject.machine = self.stored.iter().find(is_its).and_then(stored::machine_of);
    }
}

const TOO_FEW: &str = "at least two variants are needed: give for example brunt compare BEFORE AFTER, or -baseline=last";

/// Refuses the name of a baseline that would stand for something else.
fn check_name(name: Option<&str>) -> Result<(), CommandError> {
    match name.map(Selector::parse) {
        None | Some(Selector::Named(_)) => Ok(()),
        Some(other) => {
            let text = format!("flag -save-baseline: \"{other}\" is a word for other runs");
            Err(usage_error(text))
        }
    }
}

/// Whether one of the operands has this label, or ends so.
fn is_label(name: &str, operands: &[String]) -> bool {
    let label = |operand: &String| match operand.split_once('=') {
        Some((label, _)) if !Path::new(operand).exists() => label.to_owned(),
        _ => operand.trim_end_matches('/').to_owned(),
    };
    let labels: Vec<String> = operands.iter().map(label).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    baseline(name, &labels).is_ok()
}

/// The runs of the store that a baseline stands for, as operands; `current` are those that it is compared with.
fn stored_baseline(
    name: &str,
    current: &[Run],
    store: &Store,
) -> Result<StoredOperand, CommandError> {
    let ids: Vec<String> = current.iter().map(|run| run.manifest.id.clone()).collect();
    let scope = Scope { test: stored::test_of(current), but: &ids };
    let found = Selector::parse(name).find(store, &scope);
    let runs = found.map_err(|error| {
        let failed = store_failure(error);
        let text = format!("flag -baseline: no variant is called \"{name}\", and {failed}");
        ExitError::new(failed.code, text)
    })?;
    Ok(stored::of_runs(&format!("baseline {name}"), runs)?)
}

/// Makes the runs of the last variant the runs of a baseline, in place of those that were. Files become runs of the store.
fn save_baseline(
    inputs: &Inputs,
    flags: &CompareFlags,
    store: &Store,
) -> Result<ExitCode, CommandError> {
    let name = flags.save_baseline.clone().unwrap_or_default();
    let mut runs = inputs.current.clone();
    if runs.is_empty() {
        let path = inputs.operands.last().map_or("", String::as_str);
        let path = match path.split_once('=') {
            Some((_, path)) if !Path::new(path).exists() => path,
            _ => path,
        };
        runs.push(stored::add_results(store, path, &stored::name_of(path)?)?);
    }
    let ids: Vec<String> = runs.iter().map(|run| run.manifest.id.clone()).collect();
    for id in &ids {
        store
            .change(id, |manifest| manifest.baseline = Some(name.clone()))
            .map_err(store_failure)?;
    }
    // The former runs of the baseline are none any more, once the new ones are.
    for run in store.list().map_err(store_failure)?.runs {
        let id = &run.manifest.id;
        if run.manifest.baseline.as_deref() == Some(&name) && !ids.contains(id) {
            store.change(id, |manifest| manifest.baseline = None).map_err(store_failure)?;
        }
    }
    let runs = stdx::counted(ids.len() as u64, "run");
    eprint_line(&format!("baseline {name} is {runs}: {}", ids.join(", ")));
    Ok(ExitCode::Ok)
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
const DOCUMENTS: [Document; 5] =
    [Document::Html, Document::Json, Document::Markdown, Document::Text, Document::Junit];

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
        Some("junit") => Document::Junit,
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
