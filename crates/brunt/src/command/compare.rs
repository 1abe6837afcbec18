//! `compare`: variants with repeats against the first of them: what changed, by how much, and whether chance may be ruled out.

use std::path::Path;

use report::{Blind, Contrasts, Variant, VariantRun};
use study::contrast::Kept;

use super::variants::{self, Labelled, ReadRun};
use super::{Ended, usage};
use crate::dialect::{Invocation, Typed};
use crate::exit_code::ExitCode;
use crate::flags::compare::{COMPARE, CompareFlags};
use crate::output::{self, Place};

/// What the help says beside the flags.
pub(super) const ABOUT: &str = "Each operand is a file of results, or a folder: one variant, each file in it one run, each \
                                folder in it one run of several load generators. The unit is the run: with less than four \
                                runs of each nothing is called different. Every variant is compared with the first.";

/// Compares.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, Ended> {
    let typed = invocation.typed(COMPARE)?;
    let flags = &typed.flags;
    let kind = kind(&typed);
    let place = Place::named(flags.output.as_deref());
    place.spares(&typed.operands)?;
    if typed.operands.len() < 2 {
        return Err(usage("at least two variants are needed: brunt compare BEFORE AFTER"));
    }
    let labelled = variants::read(&typed.operands, "compare")?;
    if labelled.len() < 2 {
        let label = &labelled[0].label;
        return Err(usage(format!("all operands have the label \"{label}\": nothing to compare")));
    }
    let variants = labelled.into_iter().map(variant).collect();
    let found = Contrasts::of(&flags.title, variants, flags.rules, &flags.fail_on);
    let document = match kind {
        Kind::Text => found.text(),
        Kind::Json => found.json(),
        Kind::Markdown => found.markdown(),
        Kind::Html => found.html(),
    };
    place.write(document.as_bytes())?;
    Ok(judged(flags, &found))
}

/// Says which limits were passed, and gives the code.
fn judged(flags: &CompareFlags, found: &Contrasts) -> ExitCode {
    let broken = found.broken();
    broken.iter().for_each(|(_, text)| output::complain(&format!("brunt compare: {text}")));
    let fails = |(kept, _): &(Kept, String)| match kept {
        Kept::Kept => false,
        Kept::Passed => true,
        Kept::Unclear => flags.fail_unclear,
    };
    if broken.iter().any(fails) { ExitCode::Changed } else { ExitCode::Ok }
}

/// The document's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Json,
    Markdown,
    Html,
}

/// `-type`, else `-json`, else the output's ending, else text.
fn kind(typed: &Typed<CompareFlags>) -> Kind {
    let flags = &typed.flags;
    let ending = flags.output.as_deref().and_then(|path| Path::new(path).extension()?.to_str());
    match flags.kind.as_deref() {
        None if flags.json => Kind::Json,
        given => match given.or(ending) {
            Some("json") => Kind::Json,
            Some("markdown" | "md") => Kind::Markdown,
            Some("html") => Kind::Html,
            _ => Kind::Text,
        },
    }
}

fn variant(labelled: Labelled) -> Variant {
    let Labelled { label, runs, left_out } = labelled;
    let runs = runs.iter().map(variant_run).collect();
    Variant { label, runs, left_out, ..Variant::default() }
}

pub(super) fn variant_run(run: &ReadRun) -> VariantRun {
    VariantRun {
        name: run.name.clone(),
        figures: run.figures(),
        load: run.load(),
        span: (run.summary.earliest, run.summary.end),
        invalid: run.verdict.reasons.iter().map(ToString::to_string).collect(),
        blind: if run.verdict.blind { Blind::Unrecorded } else { Blind::Recorded },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::flags::global::Global;

    #[test]
    fn the_type_decides_then_json_then_the_ending() {
        let cases = [
            (None, false, None, Kind::Text),
            (None, true, None, Kind::Json),
            (None, false, Some("a.md"), Kind::Markdown),
            (None, false, Some("a.html"), Kind::Html),
            (None, false, Some("a"), Kind::Text),
            (Some("text"), true, Some("a.html"), Kind::Text),
        ];
        for (kind, json, output, expected) in cases {
            let (kind, output) = (kind.map(str::to_owned), output.map(str::to_owned));
            let flags = CompareFlags { kind, json, output, ..CompareFlags::default() };
            let (dialect, global) = (Dialect::Native, Global::default());
            let typed = Typed { dialect, global, flags, operands: Vec::new() };
            assert_eq!(super::kind(&typed), expected);
        }
    }
}
