//! What a rule found.

/// Something that breaks a house rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    /// The file, relative to the root.
    pub(crate) file: String,
    /// The line, from 1; 0 is the file as a whole.
    pub(crate) line: usize,
    /// The rule's name, as `tidy-allow.txt` uses it.
    pub(crate) rule: &'static str,
    /// What is wrong.
    pub(crate) text: String,
}

impl Problem {
    /// A problem of `rule` in `file` at `line`.
    pub(super) fn new(
        file: &str,
        line: usize,
        rule: &'static str,
        text: impl Into<String>,
    ) -> Self {
        Self { file: file.to_owned(), line, rule, text: text.into() }
    }
}
