//! `SummaryMode`: how much the summary says, by the words of `--summary-mode`.

/// How detailed the summary is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SummaryMode {
    Compact,
    Full,
    Legacy,
    Disabled,
}

impl SummaryMode {
    /// k6's words.
    pub(super) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "compact" => Self::Compact,
            "full" => Self::Full,
            "legacy" => Self::Legacy,
            "disabled" => Self::Disabled,
            _ => return None,
        })
    }
}
