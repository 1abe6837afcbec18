//! What a command reports to the CI service that it runs in: GitHub's job summary, and annotations. Elsewhere nothing happens.
//!
//! Source: GitHub's documentation, "Workflow commands for GitHub Actions": `GITHUB_STEP_SUMMARY` is a file of Markdown that grows,
//! at most 1 MiB a step; `::error title=T::TEXT` on a line of output is an annotation.

use std::fs::OpenOptions;
use std::io::Write as _;

use crate::stderr::eprint_line;
use crate::system_text::reason;

/// The most that one command adds to a summary: a step has 1 MiB for all of its commands.
const SUMMARY_BYTES_MAX: usize = 256 << 10;

/// Adds a report in Markdown to the summary of the GitHub job that this process runs in, if it does. A summary that cannot be
/// written is worth a line, and no more.
pub fn append_job_summary(markdown: impl FnOnce() -> String) {
    let Some(path) = variable("GITHUB_STEP_SUMMARY") else { return };
    let text = cut(&markdown());
    let written = OpenOptions::new().append(true).create(true).open(&path);
    if let Err(error) = written.and_then(|mut file| file.write_all(text.as_bytes())) {
        let reason = reason(&error);
        eprint_line(&format!("brunt: the job summary {path} cannot be written: {reason}"));
    }
}

/// Whether this process runs in a GitHub job that has a summary.
#[must_use]
pub fn has_job_summary() -> bool {
    variable("GITHUB_STEP_SUMMARY").is_some()
}

/// Marks the GitHub job that this process runs in as failed for this reason, if it does: an annotation of its page.
pub fn annotate_failure(title: &str, text: &str) {
    if variable("GITHUB_ACTIONS").as_deref() == Some("true") {
        eprint_line(&annotation(title, text));
    }
}

/// A variable that is not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn annotation(title: &str, text: &str) -> String {
    let text = escaped(text);
    let title = escaped(title).replace(':', "%3A").replace(',', "%2C");
    format!("::error title={title}::{text}")
}

/// As the runner decodes it.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The document with an empty line before it, cut after a line where it is too long.
fn cut(markdown: &str) -> String {
    if markdown.len() <= SUMMARY_BYTES_MAX {
        return format!("\n{markdown}");
    }
    let head = &markdown.as_bytes()[..SUMMARY_BYTES_MAX];
    let end = head.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    format!("\n{}\n(The rest of the report did not fit into the job summary.)\n", &markdown[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_are_one_line() {
        assert_eq!(
            annotation("brunt: gate", "p99 > 100%\nof it"),
            "::error title=brunt%3A gate::p99 > 100%25%0Aof it"
        );
    }

    #[test]
    fn a_long_report_is_cut_after_a_line() {
        assert_eq!(cut("# a\n"), "\n# a\n");
        let long = "zwölf Zeichen\n".repeat(40_000);
        let text = cut(&long);
        assert!(text.len() < SUMMARY_BYTES_MAX + 100);
        let kept = text.lines().skip(1).take_while(|line| !line.is_empty());
        assert!(kept.clone().all(|line| line == "zwölf Zeichen") && kept.count() > 10_000);
        assert!(text.ends_with("did not fit into the job summary.)\n"));
        assert_eq!(cut(&"x".repeat(SUMMARY_BYTES_MAX + 1)).lines().count(), 3, "one long line");
    }
}
