//! `Finding`: one thing that is wrong, where, and what to do.

use crate::place::Place;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The test does not measure what its author meant.
    Error,
    /// The test probably does not measure what its author meant.
    Warning,
    /// The test could do with less, or another way is the one of today.
    Note,
}

impl Severity {
    /// The word for it, which is SARIF's level as well.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// The rules, each with a name that never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// An option or a field that k6 does not know.
    UnknownOption,
    /// A threshold on a metric that nothing makes.
    UnmadeMetric,
    /// A check whose condition assigns.
    CheckAssigns,
    /// A check whose function gives nothing back.
    CheckGivesNothing,
    /// A check that is never reached.
    UnreachedCheck,
    /// `open()` where files cannot be read any more.
    OpenInIteration,
    /// Users in a closed loop that never pause.
    NoSleep,
    /// A pause where iterations begin at a rate.
    SleepAtRate,
    /// A request whose URL varies and names its metrics.
    VaryingName,
    /// Bodies that are kept and never looked at.
    UnreadBodies,
    /// A module that has another name today.
    OldModule,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 11] = [
        Self::UnknownOption,
        Self::UnmadeMetric,
        Self::CheckAssigns,
        Self::CheckGivesNothing,
        Self::UnreachedCheck,
        Self::OpenInIteration,
        Self::NoSleep,
        Self::SleepAtRate,
        Self::VaryingName,
        Self::UnreadBodies,
        Self::OldModule,
    ];

    /// Its name, in reports and in `-skip`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::UnknownOption => "unknown-option",
            Self::UnmadeMetric => "unmade-metric",
            Self::CheckAssigns => "check-assigns",
            Self::CheckGivesNothing => "check-gives-nothing",
            Self::UnreachedCheck => "unreached-check",
            Self::OpenInIteration => "open-in-iteration",
            Self::NoSleep => "no-sleep",
            Self::SleepAtRate => "sleep-at-rate",
            Self::VaryingName => "varying-name",
            Self::UnreadBodies => "unread-bodies",
            Self::OldModule => "old-module",
        }
    }

    /// How bad it is.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::UnknownOption
            | Self::UnmadeMetric
            | Self::CheckAssigns
            | Self::CheckGivesNothing
            | Self::UnreachedCheck
            | Self::OpenInIteration => Severity::Error,
            Self::NoSleep | Self::VaryingName => Severity::Warning,
            Self::SleepAtRate | Self::UnreadBodies | Self::OldModule => Severity::Note,
        }
    }

    /// The cure, as one sentence.
    #[must_use]
    pub fn cure(self) -> &'static str {
        match self {
            Self::UnknownOption => "write the name as k6 has it: what is unknown is ignored",
            Self::UnmadeMetric => "make the metric in init code, or name one of k6's",
            Self::CheckAssigns => "compare by ===",
            Self::CheckGivesNothing => "return the condition, or write the function without braces",
            Self::UnreachedCheck => "move the check before the statement that ends the function",
            Self::OpenInIteration => {
                "open the file in init code: outside of functions, or in a SharedArray"
            }
            Self::NoSleep => {
                "call sleep() where a person would pause, or use an arrival-rate executor"
            }
            Self::SleepAtRate => {
                "leave the pause out: the rate decides when iterations begin, and a VU that sleeps is one more that is needed"
            }
            Self::VaryingName => {
                "give the request a name: { tags: { name: '/items/:id' } }, or http.url`…`"
            }
            Self::UnreadBodies => {
                "set discardResponseBodies: true, which costs less memory and CPU time"
            }
            Self::OldModule => "import it by its name of today",
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The file, as its caller calls it.
    pub file: String,
    /// Where in the file.
    pub place: Place,
    /// What is wrong there, as one sentence without a full stop.
    pub message: String,
}
