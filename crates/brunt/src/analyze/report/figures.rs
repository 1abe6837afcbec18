//! `Figures`: what a report counts while it reads results: all requests, or those that are selected.

use metrics::tally::Assertion;
use metrics::{
    AgentRecord, Attacked, AttackedTargets, Batch, By, GateFigures, GateOutcome, Generator, Groups,
    JudgedRun, Phases, Selector, Summary, TargetRows, TargetTable, Timeline, Traffic, Verdict,
};
use recordings::{ClockShift, Generators, ServerRows};
use report::server::ServerSide;
use report::{BucketCounts, Buckets, Part};
use results::{Detail, ReadAhead, Selection};
use tools::ab::AbReport;

use super::assertions::Asserted;

/// What a report needs.
pub(super) struct FigureOptions<'a> {
    pub(super) selector: &'a Selector,
    pub(super) by: Option<&'a By>,
    pub(super) timeline: bool,
    pub(super) ab: bool,
    pub(super) traffic: bool,
    pub(super) phases: bool,
    pub(super) server_shift: ClockShift,
    pub(super) gates: Option<GateFigures>,
    pub(super) buckets: Option<&'a Buckets>,
    /// How much is known of each request.
    pub(super) detail: Detail,
    /// Rates leave out the time between runs.
    pub(super) is_native: bool,
}

/// What was read so far.
pub(super) struct Figures {
    /// Of the requests that are selected.
    pub(super) summary: Summary,
    /// Which these are, and the summary of all, where not all are.
    part: Option<(Selection, Box<Summary>)>,
    pub(super) groups: Option<Groups>,
    /// Requests by target, for a report with a conclusion, and what was attacked by them.
    by_target: Option<Attacked>,
    pub(super) attacked: Option<AttackedTargets>,
    /// Rows by target, for a report with a conclusion that has no table of all of them.
    pub(super) target_rows: Option<TargetRows>,
    pub(super) timeline: Option<Timeline>,
    /// Natively alone.
    pub(super) traffic: Option<Traffic>,
    pub(super) phases: Option<Phases>,
    /// The URL of the first target seen.
    pub(super) url: String,
    generators: Generators,
    pub(super) merged: Option<Generator>,
    pub(super) losses: Vec<String>,
    pub(super) ab: Option<AbReport>,
    pub(super) server: ServerRows,
    /// What each of several inputs says by itself.
    pub(super) parts: Vec<Part>,
    /// Gates, and a script's thresholds, checks and metrics.
    pub(super) asserted: Asserted,
    /// What gates select, where there are gates.
    gates: Option<GateFigures>,
    /// Response times between the bounds that were given.
    pub(super) buckets: Option<BucketCounts>,
    detail: Detail,
    /// The native dialect, whose rates leave out the time between runs.
    is_native: bool,
}

/// Whether rows by this have a row for each target.
fn is_by_target(by: Option<&By>) -> bool {
    matches!(by, Some(By::Target | By::Name | By::Request))
}

impl Figures {
    pub(super) fn new(options: FigureOptions<'_>) -> Self {
        Self {
            summary: Summary::new(),
            part: Selection::of(options.selector).map(|selection| (selection, Box::default())),
            groups: options.by.cloned().map(Groups::new),
            by_target: options.timeline.then(Attacked::default),
            attacked: None,
            target_rows: (options.timeline && !is_by_target(options.by)).then(TargetRows::default),
            timeline: options.timeline.then(Timeline::new),
            ab: options.ab.then(AbReport::default),
            traffic: options.traffic.then(Traffic::new),
            phases: options.phases.then(Phases::new),
            url: String::new(),
            generators: Generators::default(),
            merged: None,
            losses: Vec::new(),
            server: ServerRows::new(options.server_shift),
            parts: Vec::new(),
            asserted: Asserted::default(),
            gates: options.gates,
            buckets: options.buckets.map(BucketCounts::new),
            detail: options.detail,
            is_native: options.is_native,
        }
    }

    pub(super) fn add(&mut self, batch: &mut Batch, targets: &TargetTable) {
        if let Some((selection, whole)) = &mut self.part {
            whole.add(batch);
            selection.retain(batch, targets);
        }
        if let Some(rows) = &mut self.target_rows {
            rows.add(batch, targets, &self.summary);
        }
        self.summary.add(batch);
        self.server.hits(batch);
        if let Some(buckets) = &mut self.buckets {
            buckets.add(batch);
        }
        if let Some(groups) = &mut self.groups {
            groups.add(batch, targets);
        }
        if let Some(by_target) = &mut self.by_target {
            by_target.add(batch, targets);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.add(batch);
        }
        if let Some(gates) = &mut self.gates {
            gates.add(batch, targets);
        }
        if let Some(ab) = &mut self.ab {
            ab.add(batch, targets);
        }
        match &mut self.traffic {
            // `sent` is a copy of `intended` then, and gaps between sends would be made up.
            Some(traffic) if self.detail == Detail::StartAndEnd => traffic.in_flight.add(batch),
            Some(traffic) => traffic.add(batch),
            None => {}
        }
        if let Some(phases) = &mut self.phases {
            phases.add(batch);
            if self.url.is_empty() {
                let first = targets.first();
                self.url = first.map_or(String::new(), |label| label.url.to_owned());
            }
        }
    }

    /// Names what was attacked. Service times exist only where it was recorded when hits were sent; a foreign format's would be
    /// made up.
    pub(super) fn keep_what_was_measured(&mut self, reader: &ReadAhead) {
        self.attacked =
            self.by_target.as_ref().and_then(|by_target| by_target.targets(reader.targets()));
        let whole = self.part.as_mut().map(|(_, whole)| &mut **whole);
        for summary in whole.into_iter().chain([&mut self.summary]) {
            if self.is_native {
                (summary.apart, summary.waits_before) = metrics::apart(reader.spans());
            }
            if self.detail == Detail::StartAndEnd {
                summary.service.clear();
            }
        }
        if let Some(phases) = self.phases.as_mut().filter(|_| self.detail == Detail::StartAndEnd) {
            phases.keep_responses();
        }
    }

    /// Judges the gates, and adds them to what was asserted of the run.
    pub(super) fn judge_gates(&mut self) -> Vec<GateOutcome> {
        let Some(gates) = &self.gates else { return Vec::new() };
        let outcomes = gates.outcomes(&JudgedRun {
            summary: &self.summary,
            is_part: self.part.is_some(),
            generator: self.merged.as_ref(),
            has_service_times: self.detail != Detail::StartAndEnd,
            asserted: self.asserted.list(),
        });
        outcomes.iter().cloned().for_each(|one| self.asserted.add(Assertion::Gate(one)));
        outcomes
    }

    /// What was seen of the servers; `None` where nothing was.
    pub(super) fn server_side(&self) -> Option<ServerSide<'_>> {
        let ServerRows { side, shift } = &self.server;
        let (offset_ns, offset_error_ns) = (shift.by_ns, shift.error_ns);
        let client = Some(&self.summary);
        (!side.is_empty()).then_some(ServerSide { side, client, offset_ns, offset_error_ns })
    }

    /// Takes a generator's newer view of itself.
    pub(super) fn note(&mut self, input: usize, generator: Generator) {
        self.generators.note(input, generator);
        self.merged = self.generators.merged();
    }

    /// Whether a result of the whole run has no place in a report of a part.
    pub(super) fn leaves_out(&self, assertion: &Assertion) -> bool {
        let is_whole = matches!(
            assertion,
            Assertion::Threshold { .. } | Assertion::Check(_) | Assertion::Metric(_)
        );
        is_whole && self.part.is_some()
    }

    /// Warns of a selector that selects nothing.
    pub(super) fn warn_of_nothing(&self, selected: &str) {
        if self.summary.requests == 0 && self.whole().requests > 0 {
            cli::eprint_line(&format!("brunt report: no request has {selected} (-where)"));
        }
    }

    /// All requests, of which the verdict is.
    fn whole(&self) -> &Summary {
        self.part.as_ref().map_or(&self.summary, |(_, whole)| whole)
    }

    /// Groups of agents have the names that the table of agents has.
    pub(super) fn name_agents(&mut self) {
        let agents: Vec<&AgentRecord> = Assertion::agents(self.asserted.list()).collect();
        if let Some(groups) = &mut self.groups {
            groups.name_agents(&agents);
        }
    }

    pub(super) fn verdict(&self) -> Verdict {
        Verdict::new(self.whole(), self.merged.as_ref(), &self.losses)
            .with_agents(self.asserted.list())
    }

    /// The verdict in the middle of a stream, which is not cut off but goes on.
    pub(super) fn verdict_so_far(&self) -> Verdict {
        let mut generator = self.merged.clone();
        if let Some(generator) = &mut generator {
            generator.finished = true;
        }
        Verdict::new(self.whole(), generator.as_ref(), &self.losses)
            .with_agents(self.asserted.list())
    }
}
