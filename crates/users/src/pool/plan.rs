//! `VuPoolPlan`: what the VUs of a stage are to do.

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use metrics::tally::Tally;
use stdx::Nanos;
use workload::Segment;
use workload::executor::Scenario;

use crate::host::execution::{ScenarioInfo, Stage};
use crate::host::sample::TagList;
use crate::host::system_tags::SystemTags;
use crate::host::traits::{Level, LogFields};
use crate::http::plan::HttpPlan;
use crate::pool::control::Control;
use crate::record::live_metrics::LiveMetrics;
use crate::record::output::SampleSink;
use crate::record::vu_stats::VuStats;

/// The time since any fixed moment.
pub type Clock = Arc<dyn Fn() -> Nanos + Send + Sync>;
/// Takes a line of the log: how grave it is, what it says, and its fields in the order of their names.
pub type Log = Arc<dyn Fn(Level, &str, LogFields<'_>) + Send + Sync>;

/// What a pool is to do.
#[derive(Clone)]
pub struct VuPoolPlan {
    /// When iterations begin.
    pub scenarios: Vec<Scenario>,
    /// The part of the test that is ours.
    pub segment: Segment,
    /// What they are to the script.
    pub stage: Stage,
    /// What there was of the test before.
    pub earlier: PriorStages,
    /// What `setup` returned, as JSON.
    pub data: Option<Arc<str>>,
    /// How many redirects are followed where a request does not say.
    pub max_redirects: u32,
    /// Bodies are not shown to scripts unless a request wants them.
    pub discard_bodies: bool,
    /// Header fields of requests that do not say them: `User-Agent`.
    pub default_headers: Arc<[(String, String)]>,
    /// What requests have in common besides.
    pub http: HttpPlan,
    /// How many requests of a batch are under way at once, in all and to one host; 0 for no limit.
    pub batch: (usize, usize),
    /// A VU that was refused a WebSocket waits before its next iteration, twice as long each time.
    pub backs_off: bool,
    /// An iteration takes at least this long.
    pub min_iteration: Nanos,
    /// Empty metrics, with the submetrics that thresholds want.
    pub tally: Tally,
    /// Scenarios and groups are counted on their own as well.
    pub parts: bool,
    /// Tags of all samples.
    pub tags: TagList,
    /// Which of k6's tags to add to samples.
    pub system_tags: SystemTags,
    /// Whether the rows of requests have their tags.
    pub row_tags: bool,
    /// Takes each sample, where there are outputs.
    pub emit: Option<SampleSink>,
    /// Where metrics are published while the test runs.
    pub live: Option<Arc<LiveMetrics>>,
    /// The time.
    pub clock: Clock,
    /// The log.
    pub log: Log,
    /// Where what was seen goes once all is over.
    pub outcome: Arc<Mutex<VuStats>>,
    /// What all pools share.
    pub control: Arc<Control>,
    /// The test's options, as `exec.test.options` has them: JSON.
    pub options: Option<Arc<str>>,
    /// What the wall clock said when `clock` said 0, in milliseconds since 1970.
    pub unix_ms: f64,
}

impl VuPoolPlan {
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
    let scenario = &plan.scenarios[number];
    (plan.stage == Stage::Iteration).then(|| {
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
    let mut tags = plan.tags.clone();
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
