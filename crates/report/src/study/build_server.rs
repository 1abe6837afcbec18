//! A study for a build server: JUnit with a case for each expected ordering, and Markdown for a job's summary.

use super::report::StudyReport;
use crate::conclusion::markdown_texts;
use crate::escape;
use crate::junit::suite_of;
use crate::test_case::JunitCase;

impl StudyReport {
    /// As JUnit's XML. A case fails where an expected ordering did not hold, or nothing is known of it.
    #[must_use]
    pub fn junit(&self) -> String {
        let case = |[workload, ordering, word, medians]: [String; 4]| {
            let figure = format!("{word} ({medians})");
            let failure = (!word.starts_with("as expected")).then(|| figure.clone());
            JunitCase::new(&format!("{workload}: {ordering}"), figure, failure)
        };
        let mut cases: Vec<JunitCase> = self.orderings().into_iter().map(case).collect();
        if cases.is_empty() {
            let found = self.conclusion().join("\n");
            cases.push(JunitCase::new("nothing was expected", found, None));
        }
        suite_of(&self.input.title, &cases)
    }

    /// The conclusion in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        format!(
            "### {}\n\n{}",
            escape::markdown(&self.input.title),
            markdown_texts(&self.conclusion())
        )
    }
}
