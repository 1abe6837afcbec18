//! `StopPolicy`: when a run is ended from outside, by the user or by a deadline.

use std::time::Duration;

/// When a run is ended before its plan is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StopPolicy {
    /// What the user's first interrupt does; the second always aborts.
    pub on_interrupt: OnInterrupt,
    /// When the run is aborted; `None` waits for its end.
    pub deadline: Option<Deadline>,
}

/// What the user's first interrupt does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnInterrupt {
    /// No more requests are begun; those under way are waited for.
    #[default]
    Drain,
    /// The run ends at once.
    Abort,
}

/// When a run is aborted with what is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// How long the run is to take; `None` is until its requests are sent.
    pub after: Option<Duration>,
    /// How long after that, or after an interrupt, requests under way are waited for.
    pub grace: Duration,
    /// What it means that the deadline passed.
    pub kind: DeadlineKind,
}

/// What it means that a deadline passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadlineKind {
    /// The run was to end then: it counts as finished.
    Planned,
    /// The run took too long: it counts as interrupted.
    Overrun,
}
