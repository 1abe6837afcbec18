//! `Gap`: why a run does not say whether a gate is crossed.

use stdx::{counted, were};
use thiserror::Error;

/// What results lack to decide a gate.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum Gap {
    /// The run has no such request.
    #[error("there is no such request")]
    NoRequest,
    /// The format does not record when requests were sent.
    #[error("the results do not say when requests were sent")]
    NoService,
    /// No rate was planned, or the results do not record it.
    #[error("the results have no planned rate")]
    NoPlannedRate,
    /// No request had the tag, or the results have no metric of it.
    #[error("the results have no figure of requests with this tag")]
    NoTag,
    /// The script has no threshold, or the results are not of a script.
    #[error("the results have no threshold")]
    NoThreshold,
    /// No check was made, or the results are not of a script.
    #[error("the results have no check")]
    NoCheck,
    /// Most requests failed, or too few succeeded for the statistic: the times are those of failures.
    #[error("{successes} of {} succeeded, too few for a figure of their times", counted(*.requests, "request"))]
    FewSuccesses {
        /// How many.
        successes: u64,
        /// Of how many.
        requests: u64,
    },
    /// The figure lies where requests were cut off by their timeout, below the limit.
    #[error("the figure is at the timeout: the true one is at least this")]
    TimedOut,
    /// The load generator was late itself, and without that the gate would come out the other way.
    #[error("the load generator was late itself, and that decides the gate")]
    Late {
        /// The figure without the generator's own lag, in the gate's unit.
        on_time: f64,
    },
    /// Too many requests were not sent; how they would have been answered is not known.
    #[error("{not_sent} of {} {} not sent", counted(*.planned, "planned request"), were(*.not_sent))]
    NotSent {
        /// How many.
        not_sent: u64,
        /// Of how many.
        planned: u64,
    },
    /// Too many iterations of a script were not begun; how their requests would have been answered is not known.
    #[error("{} fell due and {} never begun", counted(*.iterations, "iteration"), were(*.iterations))]
    NotBegun {
        /// How many.
        iterations: u64,
    },
    /// Too many users of a closed loop were never answered: the load was that of the others.
    #[error("{users} of {} {} never answered", counted(*.of, "user"), were(*.users))]
    NeverAnswered {
        /// How many.
        users: u64,
        /// Of how many.
        of: u64,
    },
    /// A reason of a newer version.
    #[error("the results do not say why")]
    Unknown,
}

/// Every reason, with its name in results. What a reason knows stands beside its name there.
const NAMES: [(Gap, &str); 13] = [
    (Gap::NoRequest, "no_request"),
    (Gap::NoService, "no_service_time"),
    (Gap::NoPlannedRate, "no_planned_rate"),
    (Gap::NoTag, "no_tag"),
    (Gap::NoThreshold, "no_threshold"),
    (Gap::NoCheck, "no_check"),
    (Gap::FewSuccesses { successes: 0, requests: 0 }, "few_successes"),
    (Gap::TimedOut, "timed_out"),
    (Gap::Late { on_time: 0.0 }, "late"),
    (Gap::NotSent { not_sent: 0, planned: 0 }, "not_sent"),
    (Gap::NotBegun { iterations: 0 }, "not_begun"),
    (Gap::NeverAnswered { users: 0, of: 0 }, "never_answered"),
    (Gap::Unknown, "unknown"),
];

impl Gap {
    /// The reason's name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        let is_same = |known: &Self| std::mem::discriminant(known) == std::mem::discriminant(&self);
        NAMES.iter().find(|(known, _)| is_same(known)).map_or("unknown", |(_, name)| name)
    }

    /// The reason of this name, with zeros for what it knows.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(gap, _)| *gap)
    }

    /// Requests were made, and no figure of them decides the gate.
    #[must_use]
    pub fn is_of_run(self) -> bool {
        self.is_of_generator() || matches!(self, Self::FewSuccesses { .. })
    }

    /// It is the load generator that kept the figure from being measured, and not the results that lack it.
    #[must_use]
    pub fn is_of_generator(self) -> bool {
        let is_unsent = matches!(self, Self::NotSent { .. } | Self::NotBegun { .. });
        is_unsent || matches!(self, Self::Late { .. } | Self::NeverAnswered { .. })
    }
}
