//! The search, its trials and its result, as data. Decisions are made elsewhere.

use metrics::Objective;
use stdx::Nanos;

/// Bisection ends where the bracket's ends are no more than this factor apart.
pub const BRACKET: f64 = 1.1;

/// What is searched, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// What the server must keep. Its conditions are ceilings.
    pub objective: Objective,
    /// What is raised until it does not.
    pub by: By,
    /// What the load consists of.
    pub subject: Subject,
    /// The lowest load; above 0.
    pub from: f64,
    /// The highest load, if any; at least `from`.
    pub to: Option<f64>,
    /// How long a step near the limit is measured, without its warm-up.
    pub step: Nanos,
    /// What it leaves out before that.
    pub warmup: Nanos,
    /// How long a step of the climb and of the halving is, as a share of one near the limit: above 0, at most 1.
    pub probe: f64,
    /// Half the width of the answer's interval, as a share of the answer, at which the search ends.
    pub precision: f64,
    /// Steps at most.
    pub steps_max: usize,
    /// How long the search may take; `None` where only the steps bound it.
    pub budget: Option<Nanos>,
}

/// What is raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Hits per second of an open loop; of a script, iterations per second.
    Rate,
    /// Connections of a closed loop; of a script, virtual users. Whole numbers.
    Connections,
}

/// What a load consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Requests: a rate is of requests, and a connection sends one after the other.
    Requests,
    /// Iterations of a script, of several requests each: a rate is of iterations, and a virtual user does one after the other.
    Iterations,
}

/// What a load is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Requests a second.
    Requests,
    /// Connections.
    Connections,
    /// Iterations of a script a second.
    Iterations,
    /// Virtual users of a script.
    Vus,
}

impl Search {
    /// What its loads are counted in.
    #[must_use]
    pub const fn unit(&self) -> Unit {
        match (self.by, self.subject) {
            (By::Rate, Subject::Requests) => Unit::Requests,
            (By::Connections, Subject::Requests) => Unit::Connections,
            (By::Rate, Subject::Iterations) => Unit::Iterations,
            (By::Connections, Subject::Iterations) => Unit::Vus,
        }
    }
}

/// A step to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Hits per second, or connections.
    pub load: f64,
    /// What it leaves out at its start.
    pub warmup: Nanos,
    /// How long it is measured after that.
    pub measure: Nanos,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Run this and add the step.
    Run(Trial),
    /// There is no more to do.
    Done(SearchOutcome),
}

/// What the search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchOutcome {
    /// Why it ended.
    pub stop_reason: StopReason,
    /// The limit; `None` where no load was seen to meet the objective.
    pub answer: Option<Answer>,
}

/// The limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The highest load that meets the objective, as far as is known.
    pub load: f64,
    /// It is above this, with 97.5 %.
    pub low: f64,
    /// It is below this, with 97.5 %. `None` where no load missed the objective: it lies at `load` or anywhere above.
    pub high: Option<f64>,
}

impl Answer {
    /// Half the width of its interval, as a share of it; `None` where it has no upper bound.
    #[must_use]
    pub fn half_width(self) -> Option<f64> {
        self.high.map(|high| (high - self.low) / (2.0 * self.load))
    }
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The interval is as narrow as configured.
    Found,
    /// The steps are used up; the interval is wider than configured.
    StepsUsed,
    /// The budget is used up; the interval is wider than configured.
    BudgetUsed,
    /// The objective is missed at the lowest load.
    LowestMissed,
    /// The highest load allowed meets it.
    HighestMet,
    /// The generator could not offer more.
    Generator,
    /// Steps contradict each other; the interval includes them, and is wider than configured.
    Contradiction,
    /// The user ended it.
    Interrupted,
}

impl StopReason {
    /// Its name in documents; never changed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::StepsUsed => "steps used",
            Self::BudgetUsed => "budget used",
            Self::LowestMissed => "lowest load missed",
            Self::HighestMet => "highest load met",
            Self::Generator => "generator",
            Self::Contradiction => "contradiction",
            Self::Interrupted => "interrupted",
        }
    }
}

impl By {
    /// A load that can be offered: connections are whole.
    #[must_use]
    pub fn offered(self, load: f64) -> f64 {
        match self {
            // Rounded to thousandths, so that the printed, stored and offered rates are the same number.
            Self::Rate => (load * 1e3).round().max(1.0) / 1e3,
            Self::Connections => load.round().max(1.0),
        }
    }

    /// A limit in whole connections lies below the fraction that was computed.
    pub(super) fn settled(self, load: f64) -> f64 {
        match self {
            Self::Rate => load,
            Self::Connections => load.floor().max(1.0),
        }
    }
}
