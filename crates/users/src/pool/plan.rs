//! `VuPoolPlan`: what the VUs of a stage are to do.

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use stdx::Nanos;
use workload::Segment;
use workload::executor::Scenario;

use crate::host::execution::{ScenarioInfo, Stage};
use crate::host::sample::TagList;
use crate::host::traits::{Level, LogFields};
use crate::http::plan::HttpPlan;
use crate::pool::control::Control;
use crate::record::plan::SamplePlan;
use crate::record::vu_stats::VuStats;

/// The time since any fixed moment.
pub type Clock = Arc<dyn Fn() -> Nanos + Send + Sync>;
/// Takes a line of the log: how grave it is, what it says, and its fields in the order of their names.
pub type Log = Arc<dyn Fn(Level, &str, LogFields<'_>) + Send + Sync>;

/// What a pool is to do.
#[derive(Clone)]
pub struct VuPoolPlan {
    /// When iterations begin, and what they are.
    pub work: WorkPlan,
    /// What requests of all users have in common.
    pub http: HttpPlan,
    /// What is counted, and where it goes.
    pub samples: SamplePlan,
    /// The time.
    pub clock: Clock,
    /// What the wall clock said when `clock` said 0, in milliseconds since 1970.
    pub unix_ms: f64,
    /// The log.
    pub log: Log,
    /// Where what was seen goes once all is over.
    pub outcome: Arc<Mutex<VuStats>>,
    /// What all pools share.
    pub control: Arc<Control>,
    /// The test's options, as `exec.test.options` has them: JSON.
    pub options: Option<Arc<str>>,
}

/// When iterations begin, and what they are.
#[derive(Clone)]
pub struct WorkPlan {
    /// When iterations begin.
    pub scenarios: Vec<Scenario>,
    /// The part of the test that is ours.
    pub segment: Segment,
    /// What they are to the user.
    pub stage: Stage,
    /// What there was of the test before.
    pub earlier: PriorStages,
    /// What `setup` returned, as JSON.
    pub data: Option<Arc<str>>,
    /// An iteration takes at least this long.
    pub min_iteration: Nanos,
    /// A user that was refused a WebSocket waits before its next iteration, twice as long each time.
    pub backs_off: bool,
}

impl WorkPlan {
    /// All iterations of these scenarios, with nothing of the test before them; a user that was refused a WebSocket waits.
    #[must_use]
    pub fn of(scenarios: Vec<Scenario>) -> Self {
        Self {
            scenarios,
            segment: Segment::default(),
            stage: Stage::Iteration,
            earlier: PriorStages::default(),
            data: None,
            min_iteration: Nanos::ZERO,
            backs_off: true,
        }
    }
}

impl VuPoolPlan {
    /// How many users there are at most, on all workers.
    #[must_use]
    pub fn vus_max(&self) -> u64 {
        self.work.scenarios.iter().map(|scenario| scenario.executor.vus_max()).sum()
    }

    /// The time since 1970.
    pub(crate) fn unix_time(&self) -> Nanos {
        Nanos((self.unix_ms * 1e6) as u64).saturating_add((self.clock)())
    }
}

/// k6's limit of a request.
pub(crate) const TIMEOUT: Nanos = Nanos::from_secs(60);
/// What a test was before a stage of it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriorStages {
    /// How long it had gone on.
    pub elapsed: Nanos,
    /// How many VUs it had; those that have not come yet count.
    pub vus: u64,
}

/// What a scenario is to the script.
pub(crate) fn scenario_info(plan: &VuPoolPlan, number: usize) -> Option<Rc<ScenarioInfo>> {
    let scenario = &plan.work.scenarios[number];
    (plan.work.stage == Stage::Iteration).then(|| {
        Rc::new(ScenarioInfo {
            number,
            name: scenario.name.clone(),
            executor: scenario.executor.name(),
            env: scenario.env.clone(),
            tags: tags_of(plan, scenario),
        })
    })
}

/// The tags of a scenario's samples: the run's, and above them its own.
pub(crate) fn tags_of(plan: &VuPoolPlan, scenario: &Scenario) -> TagList {
    let mut tags = plan.samples.tags.clone();
    for (name, value) in &scenario.tags {
        tags.retain(|(known, _)| known != name);
        tags.push((name.clone(), value.clone()));
    }
    shown_tags(tags)
}

/// Tags without passwords of URLs.
pub(crate) fn shown_tags(mut tags: TagList) -> TagList {
    for (_, value) in &mut tags {
        *value = stdx::shown_url(value).into_owned();
    }
    tags
}
