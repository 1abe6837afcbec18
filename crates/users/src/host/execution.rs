//! `ExecutionInfo`: the place of an iteration in its test, as module `k6/execution` has it.

use std::rc::Rc;

/// Which part of a script runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The modules themselves. Nothing may be asked for.
    Init,
    /// `setup`.
    Setup,
    /// A scenario's function.
    Iteration,
    /// `teardown`.
    Teardown,
    /// `handleSummary`.
    Summary,
}

impl Stage {
    /// The group of its samples.
    #[must_use]
    pub const fn group(self) -> &'static str {
        match self {
            Self::Setup => "::setup",
            Self::Teardown => "::teardown",
            Self::Init | Self::Iteration | Self::Summary => "",
        }
    }
}

/// A scenario, as its VUs see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScenarioInfo {
    /// Its number among the scenarios.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Its executor's name.
    pub executor: &'static str,
    /// What stands in `__ENV` above the test's own.
    pub env: Vec<(String, String)>,
    /// The tags of its samples, the run's among them.
    pub tags: Vec<(String, String)>,
}

/// Where an iteration stands in its test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecutionInfo {
    /// The scenario; `None` in `setup` and `teardown`.
    pub scenario: Option<Rc<ScenarioInfo>>,
    /// The VU's number in this process, from 1; 0 in `setup` and `teardown`.
    pub vu: u64,
    /// The same in the test, where several processes share it.
    pub vu_in_test: u64,
    /// The iteration's number among those of this VU, from 0.
    pub vu_iteration: u64,
    /// The same among those of this VU in this scenario.
    pub vu_iteration_in_scenario: u64,
    /// The iteration's number among all of the scenario in this process.
    pub scenario_iteration: u64,
    /// The same in the test, where several processes share it.
    pub scenario_iteration_in_test: u64,
}

/// Why a script wants the test to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbortReason {
    /// `exec.test.abort`: at once.
    Abort(String),
    /// A VU could not be made: at once.
    Broken(String),
    /// What `setup` returned cannot be JSON: the test does not begin.
    NotJson(String),
    /// `exec.test.fail`: as it would anyway, but as a failed one.
    Fail(String),
}
