//! The conclusion of a comparison: which variant is better and by how much, how sure that is, and how many runs are missing.

use study::contrast::{Doubt, Finding, Measure, Unequal};

use super::findings::{compared, gravest};
use super::{Contrasts, Row, VariantRun};
use crate::conclusion::{Kind, SENTENCES_MAX, Sentence};
use crate::number::counted;

/// Sentences on how sure a comparison is and on what is missing, at most.
const LAST_MAX: usize = 2;
/// Variants whose differences beside the figures are named, at most; the rest is counted.
const APART_MAX: usize = 2;
/// Names in a sentence, at most; the rest is counted.
const NAMES_MAX: usize = 3;

impl Contrasts {
    /// At most six sentences: what the variants do not have in common, what the runs decide, what they leave open, how sure it is,
    /// and which runs are missing.
    pub(super) fn conclusion(&self) -> Vec<Sentence> {
        let of = |wanted: fn(Finding) -> bool| {
            let rows = self.rows.iter().filter(move |row| wanted(gravest(&row.found)));
            rows.collect::<Vec<&Row>>()
        };
        let decided =
            of(|finding| matches!(finding, Finding::Worse | Finding::Better | Finding::Differs));
        let (same, open) =
            (of(|finding| finding == Finding::Same), of(|finding| finding == Finding::CannotTell));
        let first = self.first_label();
        let together = [
            self.together(&same, |names| {
                format!("No difference that matters between {first} and {names}.")
            }),
            self.together(&open, |names| {
                format!("These runs do not decide whether {names} differ from {first}.")
            }),
        ];
        let together: Vec<Sentence> = together.into_iter().flatten().collect();
        let room = SENTENCES_MAX - LAST_MAX - together.len();
        let mut all: Vec<Sentence> = decided.iter().take(room).map(|row| self.one(row)).collect();
        if decided.len() > room {
            let more = counted((decided.len() + 1 - room) as u64, "comparison");
            let text = format!("{more} more that the runs decide, in the tables below.");
            all[room - 1] = Sentence { kind: Kind::Comparison, text, figures: Vec::new() };
        }
        all.extend(together);
        all.extend(self.sureness());
        all.extend(self.advice());
        self.not_in_common().into_iter().chain(all).collect()
    }

    /// What the variants do not have in common, before anything is called slower.
    fn not_in_common(&self) -> Option<Sentence> {
        let words: Vec<String> = self.rows.iter().filter_map(|row| self.apart(row)).collect();
        let more = words.len().saturating_sub(APART_MAX);
        let more = if more > 0 { format!("; and {more} more differ so") } else { String::new() };
        let shown = words.iter().take(APART_MAX).map(String::as_str).collect::<Vec<_>>().join("; ");
        (!words.is_empty()).then(|| Sentence {
            kind: Kind::Caution,
            text: format!("Before the figures: {shown}{more}."),
            figures: Vec::new(),
        })
    }

    fn apart(&self, row: &Row) -> Option<String> {
        let loops = row.unequal.contains(&Unequal::OpenAndClosed).then(|| {
            let first = self.first_label();
            format!(
                "of {first} and {} one has users who wait for their answers and the other a rate",
                row.label
            )
        });
        let words: Vec<String> =
            row.apart.iter().map(|one| one.words.clone()).chain(loops).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// One comparison, with the change of each measure.
    fn one(&self, row: &Row) -> Sentence {
        let changes = row.found.changes.iter();
        Sentence {
            kind: Kind::Comparison,
            text: compared(&row.label, self.first_label(), &row.found),
            figures: changes.map(|change| (change.measure.name(), change.change)).collect(),
        }
    }

    /// Comparisons with the same finding: one by itself, several as a list of names.
    fn together(&self, rows: &[&Row], several: impl Fn(String) -> String) -> Option<Sentence> {
        match rows {
            [] => None,
            [row] => Some(self.one(row)),
            rows => {
                let names: Vec<&str> = rows.iter().map(|row| row.label.as_str()).collect();
                let text = several(shortened(&names));
                Some(Sentence { kind: Kind::Comparison, text, figures: Vec::new() })
            }
        }
    }

    /// How sure the findings are; nothing where no comparison has enough runs for one.
    fn sureness(&self) -> Option<Sentence> {
        let judged = self.rows.iter().filter(|row| row.found.is_enough());
        let least = judged.map(|row| row.found.runs.0.min(row.found.runs.1)).min()?;
        let runs: usize = self.variants.iter().map(|variant| variant.runs.len()).sum();
        let of = self.variants.iter().flat_map(|variant| &variant.runs);
        // A run counts as INVALID here if the figure that is judged first is none of its good ones.
        let is_spoilt = |run: &&VariantRun| {
            let mut doubts = run.figures.doubts.iter();
            let needed = |one: &(Measure, Doubt)| one.1 == Doubt::InvalidButNeeded;
            doubts.any(|one| needed(one) && Some(one.0) == self.rules.primary)
        };
        let invalid = of.filter(is_spoilt).count();
        let doubt = match () {
            () if self.rows.iter().any(|row| !row.unequal.is_empty()) => {
                Some("the variants did not get the same load, which may be all that differs".to_owned())
            }
            () if self.rows.iter().any(|row| !row.is_like_for_like()) => {
                Some("the variants were not measured alike, which may be all that differs".to_owned())
            }
            () if invalid > 0 => Some(format!(
                "{invalid} of {} {} INVALID, so that a difference may be the load generator's",
                counted(runs as u64, "run"),
                stdx::are(invalid as u64)
            )),
            () if self.rows.iter().any(|row| self.is_one_after_the_other(row)) => Some(
                "the runs were not interleaved, so that a change of the machine looks like a difference"
                    .to_owned(),
            ),
            () => None,
        };
        let text = match doubt {
            Some(doubt) => format!("How sure: little, because {doubt}."),
            None => format!(
                "How sure: at least {least} runs of each; equal variants are called different in at most 1 of 20 such comparisons."
            ),
        };
        let figures = vec![("runs_least", least as f64), ("invalid", invalid as f64)];
        Some(Sentence { kind: Kind::Confidence, text, figures })
    }

    /// Which runs are missing.
    fn advice(&self) -> Option<Sentence> {
        let text = self.missing_runs().into_iter().next()?;
        Some(Sentence { kind: Kind::Advice, text: format!("Next: {text}"), figures: Vec::new() })
    }
}

/// `b, c and 4 more`.
fn shortened(names: &[&str]) -> String {
    let shown = &names[..names.len().min(NAMES_MAX)];
    match names.len() - shown.len() {
        0 => stdx::list_and(shown),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
