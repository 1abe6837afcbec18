//! `Recorder`: where samples are counted, with their tags, and where those go that outputs want.
//!
//! ```text
//! an answer, a script's sample, an iteration's end ─▶ tags (looked at only where wanted) ─▶ Tally
//!                                                    └─ with outputs: Point ─▶ Emit, in batches
//! ```

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use metrics::tally::{MetricId, Tags, Tally};
use stdx::Nanos;
use workload::EngineResponse;

use crate::calls::pending::CallLabels;
use crate::host::execution::Stage;
use crate::host::http::HttpRequest;
use crate::host::metrics::MetricRegistry;
use crate::host::sample::{Sample, TagList};
use crate::host::system_tags::{SystemTag, SystemTags};
use crate::http::call::HttpCall;
use crate::http::call_tags::CallTags;
use crate::http::row_tags::RowTags;
use crate::pool::plan::{VuPoolPlan, shown_tags, tags_of};
use crate::pool::slot::SampleOrigin;
use crate::record::output::{OutputSample, OutputTags, SampleSink};
use crate::record::summary_groups::{GroupKey, SummaryGroups};
use crate::record::vu_stats::GroupTallies;
use crate::sockets::state::SocketLabels;

/// Points are handed over when so many have come together.
const BATCH: usize = 512;

/// A request that was answered, or failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answered<'a> {
    pub(crate) call: &'a HttpCall,
    pub(crate) reply: &'a EngineResponse<'a>,
    /// When, on the pool's clock.
    pub(crate) at: Nanos,
}

/// Where samples of a socket come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SocketSample<'a> {
    pub(crate) owner: SampleOrigin,
    pub(crate) labels: &'a SocketLabels,
    /// When, on the pool's clock.
    pub(crate) at: Nanos,
}

/// Counts samples.
pub(crate) struct Recorder {
    /// The metrics of the test.
    pub(crate) tally: Tally,
    registry: MetricRegistry,
    system: SystemTags,
    /// The scenarios' names, and the tags of the run and the scenario, by their number.
    scenarios: Vec<(String, TagList)>,
    /// The tags of what is no scenario's.
    run: Arc<OutputTags>,
    sinks: SampleSinks,
    row_tags: RowTags,
    /// The group of samples outside of any.
    pub(crate) outside: Rc<str>,
}

/// The tags that rows have columns for.
const ROW_COLUMNS: [&str; 4] = ["name", "method", "status", "url"];

impl Recorder {
    pub(crate) fn new(plan: &VuPoolPlan, registry: MetricRegistry) -> Self {
        let scenarios = plan.work.scenarios.iter();
        let scenarios = scenarios.map(|scenario| (scenario.name.clone(), tags_of(plan, scenario)));
        Self {
            tally: plan.samples.tally.clone(),
            registry,
            // `setup` and `teardown` are of no scenario.
            system: match plan.work.stage {
                Stage::Iteration => plan.samples.system_tags,
                _ => plan.samples.system_tags.without(SystemTag::Scenario),
            },
            scenarios: scenarios.collect(),
            run: Arc::new(OutputTags {
                tags: sorted(&shown_tags(plan.samples.tags.clone())),
                metadata: Vec::new(),
            }),
            sinks: SampleSinks {
                emit: plan.samples.emit.clone(),
                parts: SummaryGroups::new(plan),
                points: Vec::new(),
            },
            row_tags: RowTags::default(),
            outside: "".into(),
        }
    }

    /// Declares the metrics of users that the tally lacks.
    fn declare(&mut self) {
        let known = self.tally.len() - metrics::tally::BUILTIN.len();
        for own in self.registry.from(known) {
            self.tally.declare(&own.name, own.kind, own.contains);
        }
    }

    /// Counts what was seen of a request. Its bytes are counted when the iteration ends.
    pub(crate) fn http(&mut self, owner: SampleOrigin, sent: &Answered<'_>) {
        let Answered { call, reply, at } = *sent;
        let http = call.tags(reply);
        let request = call.request();
        let timings = &http.timings;
        let milliseconds = |time: Nanos| time.0 as f64 / 1e6;
        let values = [
            (MetricId::HTTP_REQS, 1.0),
            (MetricId::HTTP_REQ_DURATION, milliseconds(timings.duration())),
            (MetricId::HTTP_REQ_BLOCKED, milliseconds(timings.blocked)),
            (MetricId::HTTP_REQ_CONNECTING, milliseconds(timings.connecting)),
            (MetricId::HTTP_REQ_TLS_HANDSHAKING, milliseconds(timings.tls_handshaking)),
            (MetricId::HTTP_REQ_SENDING, milliseconds(timings.sending)),
            (MetricId::HTTP_REQ_WAITING, milliseconds(timings.waiting)),
            (MetricId::HTTP_REQ_RECEIVING, milliseconds(timings.receiving)),
            (MetricId::HTTP_REQ_FAILED, f64::from(u8::from(http.expected == Some(false)))),
        ];
        // Where no statuses are expected, `http_req_failed` has no sample.
        let values = &values[..if http.expected.is_some() { 9 } else { 8 }];
        let tags = SampleTags {
            system: self.system,
            common: &self.scenarios[owner.work],
            owner,
            group: &request.group,
            check: None,
            http: Some(&http),
            socket: None,
            grpc: None,
            own: &request.tags,
            vu_tags: request.vu_tags.as_deref(),
            metadata: request.metadata.as_deref(),
        };
        self.sinks.add(&mut self.tally, &tags, at, values);
    }

    /// Counts a sample that a script made.
    pub(crate) fn script(&mut self, owner: SampleOrigin, sample: &Sample) {
        if sample.metric.0 as usize >= self.tally.len() {
            self.declare();
        }
        let tags = SampleTags {
            system: self.system,
            common: &self.scenarios[owner.work],
            owner,
            group: &sample.group,
            check: sample.check.as_deref(),
            http: None,
            socket: None,
            grpc: None,
            own: sample.tags.as_deref().map_or(&[], Vec::as_slice),
            vu_tags: sample.vu_tags.as_deref(),
            metadata: sample.metadata.as_deref(),
        };
        if let Some(check) = tags.check_tag() {
            self.tally.check(tags.group_tag(), check, sample.value != 0.0);
        }
        self.tally.group(tags.group_tag());
        self.sinks.add(&mut self.tally, &tags, sample.at, &[(sample.metric, sample.value)]);
    }

    /// Counts what was seen of a socket.
    pub(crate) fn socket(&mut self, of: &SocketSample<'_>, values: &[(MetricId, f64)]) {
        let SocketSample { owner, labels, at } = *of;
        let request = &labels.http;
        let tags = SampleTags {
            system: self.system,
            common: &self.scenarios[owner.work],
            owner,
            group: &request.group,
            check: None,
            http: None,
            socket: Some(labels),
            grpc: None,
            own: &request.tags,
            vu_tags: request.vu_tags.as_deref(),
            metadata: request.metadata.as_deref(),
        };
        self.sinks.add(&mut self.tally, &tags, at, values);
    }

    /// Counts what was seen of a call of gRPC.
    pub(crate) fn grpc(
        &mut self,
        owner: SampleOrigin,
        labels: &CallLabels<'_>,
        at: Nanos,
        values: &[(MetricId, f64)],
    ) {
        let request = labels.http;
        let tags = SampleTags {
            system: self.system,
            common: &self.scenarios[owner.work],
            owner,
            group: &request.group,
            check: None,
            http: None,
            socket: None,
            grpc: Some(labels),
            own: &request.tags,
            vu_tags: request.vu_tags.as_deref(),
            metadata: request.metadata.as_deref(),
        };
        self.sinks.add(&mut self.tally, &tags, at, values);
    }

    /// Counts values of the host's own, such as an iteration's duration. The VU's tags are those of the end of its iteration.
    pub(crate) fn own(
        &mut self,
        owner: SampleOrigin,
        around: &SampleContext<'_>,
        values: &[(MetricId, f64)],
    ) {
        let tags = SampleTags {
            system: self.system,
            common: &self.scenarios[owner.work],
            owner,
            group: around.group,
            check: None,
            http: None,
            socket: None,
            grpc: None,
            own: &[],
            vu_tags: around.vu_tags,
            metadata: around.metadata,
        };
        self.sinks.add(&mut self.tally, &tags, around.at, values);
    }

    /// Counts a value of the test as a whole.
    pub(crate) fn gauge(&mut self, at: Nanos, metric: MetricId, value: f64) {
        self.tally.add(metric, value, &());
        if self.sinks.emit.is_some() {
            let tags = Arc::clone(&self.run);
            self.sinks.points.push(OutputSample { metric, at, value, tags });
            self.sinks.flush(BATCH);
        }
    }

    /// The tags of a request as its row has them: those of the run, the scenario, the VU and the request, the scenario and the group
    /// themselves, and nothing that the row has a column for.
    pub(crate) fn row_tags(&mut self, scenario: usize, request: &HttpRequest) -> Arc<str> {
        let Self { row_tags, scenarios, system, .. } = self;
        row_tags.get(scenario, request, || row_text(&scenarios[scenario], *system, request))
    }

    /// The tallies of scenarios and groups; empty unless the plan asks for them (`SamplePlan::parts`).
    pub(crate) fn parts(&self) -> GroupTallies {
        self.sinks.parts.as_ref().map(SummaryGroups::tallies).unwrap_or_default()
    }

    /// Whether something waits to be handed over to outputs.
    pub(crate) fn holds_samples(&self) -> bool {
        !self.sinks.points.is_empty()
    }

    /// Hands over what outputs want, if there is so much of it.
    pub(crate) fn flush(&mut self, least: usize) {
        self.sinks.flush(least);
    }
}

/// The tags of a request of a scenario, by its name and its tags, as text.
fn row_text(scenario: &(String, TagList), system: SystemTags, request: &HttpRequest) -> String {
    let (name, common) = scenario;
    let own = [
        (SystemTag::Group, "group", &*request.group),
        (SystemTag::Scenario, "scenario", name.as_str()),
    ];
    let own = own.into_iter().filter(|(tag, _, value)| system.has(*tag) && !value.is_empty());
    let given = [Some(common), request.vu_tags.as_deref(), Some(&request.tags)];
    let given = given.into_iter().flatten().flatten();
    let given = given.map(|(name, value)| (name.as_str(), value.as_str()));
    let given = given.filter(|(name, _)| !ROW_COLUMNS.contains(name));
    metrics::row_tags(own.map(|(_, name, value)| (name, value)).chain(given))
}

/// Where samples go besides the tally of the test.
struct SampleSinks {
    emit: Option<SampleSink>,
    parts: Option<SummaryGroups>,
    points: Vec<OutputSample>,
}

impl SampleSinks {
    /// Counts samples of the same tags: in the test's tally, in those of its parts, and for outputs.
    fn add(
        &mut self,
        tally: &mut Tally,
        tags: &SampleTags<'_>,
        at: Nanos,
        values: &[(MetricId, f64)],
    ) {
        for (metric, value) in values {
            tally.add(*metric, *value, tags);
        }
        if let Some(parts) = &mut self.parts {
            let passed = values.first().is_some_and(|(_, value)| *value != 0.0);
            let check = tags.check_tag().map(|name| (name, passed));
            let part = GroupKey { work: tags.owner.work, group: tags.group_tag(), check };
            parts.add(part, values, tags);
        }
        if self.emit.is_some() {
            let collected = Arc::new(tags.collected());
            for (metric, value) in values {
                let tags = Arc::clone(&collected);
                self.points.push(OutputSample { metric: *metric, at, value: *value, tags });
            }
            self.flush(BATCH);
        }
    }

    /// Hands over what outputs want, if there is so much of it.
    fn flush(&mut self, least: usize) {
        if let Some(emit) = self.emit.as_ref().filter(|_| self.points.len() >= least.max(1)) {
            emit(std::mem::replace(&mut self.points, Vec::with_capacity(BATCH)));
        }
    }
}

fn sorted(tags: &TagList) -> TagList {
    let mut tags = tags.clone();
    tags.sort_unstable();
    tags
}

/// Where and when a value of the host's own was seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleContext<'a> {
    pub(crate) at: Nanos,
    pub(crate) group: &'a str,
    pub(crate) vu_tags: Option<&'a TagList>,
    pub(crate) metadata: Option<&'a TagList>,
}

/// The tags of a sample. Those that a script gives it stand above all but what only we can know of a request; then come the
/// VU's, k6's own, the scenario's and the run's.
struct SampleTags<'a> {
    system: SystemTags,
    /// The scenario's name, the scenario's and the run's tags.
    common: &'a (String, TagList),
    owner: SampleOrigin,
    group: &'a str,
    check: Option<&'a str>,
    http: Option<&'a CallTags<'a>>,
    socket: Option<&'a SocketLabels>,
    grpc: Option<&'a CallLabels<'a>>,
    own: &'a [(String, String)],
    vu_tags: Option<&'a TagList>,
    metadata: Option<&'a TagList>,
}

fn found<'a>(tags: &'a [(String, String)], name: &str) -> Option<&'a str> {
    tags.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

impl SampleTags<'_> {
    /// The group, where `systemTags` has it; else empty.
    fn group_tag(&self) -> &str {
        if self.system.has(SystemTag::Group) { self.group } else { "" }
    }

    /// The check, where `systemTags` has it.
    fn check_tag(&self) -> Option<&str> {
        self.check.filter(|_| self.system.has(SystemTag::Check))
    }

    /// The tags that a script cannot override.
    fn known(&self, name: &str) -> Option<Cow<'_, str>> {
        if let (Some(check), "check") = (self.check, name) {
            return self.system.has(SystemTag::Check).then_some(Cow::Borrowed(check));
        }
        if let Some(labels) = self.grpc {
            return labels.tag(name, self.system);
        }
        match self.socket {
            Some(labels) => labels.tag(name, self.system),
            None => self.http?.tag(name, self.system),
        }
    }

    /// All of them.
    fn collected(&self) -> OutputTags {
        let mut all: TagList = self.common.1.clone();
        let mut set = |name: &str, value: &str| match all.iter_mut().find(|tag| tag.0 == name) {
            Some(tag) => value.clone_into(&mut tag.1),
            None => all.push((name.to_owned(), value.to_owned())),
        };
        if self.system.has(SystemTag::Group) {
            set("group", self.group);
        }
        if self.system.has(SystemTag::Scenario) {
            set("scenario", &self.common.0);
        }
        for (name, value) in self.vu_tags.into_iter().flatten().chain(self.own) {
            set(name, value);
        }
        for name in CallTags::TAGS.into_iter().chain(["check", "subproto", "service"]) {
            if let Some(value) = self.known(name) {
                set(name, &value);
            }
        }
        let mut metadata: TagList = self.metadata.cloned().unwrap_or_default();
        for (tag, number) in
            [(SystemTag::Vu, self.owner.vu), (SystemTag::Iter, self.owner.iteration)]
        {
            if self.system.has(tag) {
                metadata.push((tag.name().to_owned(), number.to_string()));
            }
        }
        all.sort_unstable();
        metadata.sort_unstable();
        OutputTags { tags: all, metadata }
    }
}

impl Tags for SampleTags<'_> {
    fn tag(&self, name: &str) -> Option<Cow<'_, str>> {
        if let Some(known) = self.known(name) {
            return Some(known);
        }
        let given = found(self.own, name).or_else(|| found(self.vu_tags?, name));
        let text = given.or_else(|| match name {
            "scenario" if self.system.has(SystemTag::Scenario) => Some(self.common.0.as_str()),
            "group" if self.system.has(SystemTag::Group) => Some(self.group),
            _ => found(&self.common.1, name),
        });
        text.map(Cow::Borrowed)
    }
}
