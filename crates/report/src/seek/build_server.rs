//! A search for a build server: JUnit, and Markdown for a job's summary or a pull request.

use super::{SeekInput, conclusion, text};
use crate::conclusion::markdown_texts;
use crate::junit::suite_of;
use crate::test_case::JunitCase;

/// As JUnit's XML: one case, which fails where no load met the objective.
#[must_use]
pub fn junit(input: &SeekInput<'_>) -> String {
    let found = conclusion(input).join("\n");
    let failure = input.outcome.answer.is_none().then(|| found.clone());
    let name = format!("a load meets {}", input.search.objective);
    suite_of("brunt seek", &[JunitCase::new(&name, found, failure)])
}

/// The conclusion and the table of steps in Markdown.
#[must_use]
pub fn markdown(input: &SeekInput<'_>) -> String {
    let list = markdown_texts(&conclusion(input));
    format!("### Search for the limit\n\n{list}\n```\n{}```\n", text(input))
}
