//! `Records`: what is known of each agent while a run goes on, and what becomes of it in the results.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use control::AgentView;
use fleet::{AgentOutcome, Name, Outcome};
use metrics::tally::Assertion;
use metrics::{AgentRecord, ClockOffset, Generator};
use recordings::Generators;
use stdx::Nanos;

use crate::payload::OwnRecord;
use crate::work::WholeLoad;

/// What became of a run of a fleet.
#[derive(Clone, Debug, Default)]
pub struct FleetOutcome {
    /// Why it ended early, where neither the user nor the command asked for it.
    pub failed: Option<String>,
    /// Each agent, in the order of their names, for the results.
    pub agents: Vec<Assertion>,
}

/// What is known of each agent, shared by the execution, which a session owns, and the command, which reports it at the end.
#[derive(Clone, Debug)]
pub struct Records(Rc<RefCell<Inner>>);

#[derive(Debug)]
struct Inner {
    /// What the plan says of the whole load.
    whole: WholeLoad,
    agents: BTreeMap<Name, AgentEntry>,
    outcome: FleetOutcome,
}

/// What is known of an agent.
#[derive(Debug, Default)]
struct AgentEntry {
    number: u16,
    cores: u32,
    share: String,
    own: OwnRecord,
    /// Rows that came.
    rows: u64,
    /// Payloads that could not be read.
    unreadable: Option<&'static str>,
}

/// An agent reports each second; its report is there a second later at the latest.
const REPORT_WITHIN: Nanos = Nanos::from_secs(2);

impl Records {
    /// Nothing is known of any agent yet.
    #[must_use]
    pub(crate) fn new(whole: WholeLoad) -> Self {
        let (agents, outcome) = (BTreeMap::new(), FleetOutcome::default());
        Self(Rc::new(RefCell::new(Inner { whole, agents, outcome })))
    }

    /// What became of the run, once its session has ended.
    #[must_use]
    pub fn outcome(&self) -> FleetOutcome {
        self.0.borrow().outcome.clone()
    }

    /// Takes note of the agents before the start: they are numbered in the order of their names, from 1.
    pub(crate) fn number(&self, views: &[AgentView]) {
        let inner = &mut *self.0.borrow_mut();
        let weights: Vec<u64> = views.iter().map(|view| u64::from(view.cores)).collect();
        let shares = fleet::shares(&weights).unwrap_or_default();
        for (at, view) in views.iter().enumerate() {
            let known = inner.agents.entry(view.name.clone()).or_default();
            known.cores = view.cores;
            known.share = shares.get(at).map(|share| share.segment.clone()).unwrap_or_default();
        }
        for (number, known) in (1..).zip(inner.agents.values_mut()) {
            known.number = number;
        }
    }

    /// How many agents the run has.
    #[must_use]
    pub fn agents(&self) -> usize {
        self.0.borrow().agents.len()
    }

    /// The number of an agent; 0 of one that is none of the run.
    pub(crate) fn number_of(&self, agent: &Name) -> u16 {
        self.0.borrow().agents.get(agent).map_or(0, |known| known.number)
    }

    /// Takes an agent's newer record of its load generator.
    pub(crate) fn note(&self, agent: &Name, own: OwnRecord) {
        if let Some(known) = self.0.borrow_mut().agents.get_mut(agent) {
            known.own = own;
        }
    }

    /// Rows of the agent came.
    pub(crate) fn note_rows(&self, agent: &Name, rows: usize) {
        if let Some(known) = self.0.borrow_mut().agents.get_mut(agent) {
            known.rows = known.rows.saturating_add(rows as u64);
        }
    }

    /// A payload of the agent could not be read.
    pub(crate) fn note_unreadable(&self, agent: &Name, why: &'static str) {
        if let Some(known) = self.0.borrow_mut().agents.get_mut(agent) {
            known.unreadable = Some(why);
        }
    }

    /// The load generators of all agents as one.
    pub(crate) fn generator(&self) -> Generator {
        let inner = self.0.borrow();
        let mut all = Generators::default();
        for (at, known) in inner.agents.values().enumerate() {
            all.note(at, known.own.generator.clone());
        }
        let WholeLoad { users, rate_per_s, max_in_flight, .. } = inner.whole;
        let merged = all.merged().unwrap_or_default();
        Generator { users, rate_per_s, max_in_flight, ..merged }
    }

    /// The run is over.
    pub(crate) fn end(&self, outcome: &Outcome, failed: Option<String>) {
        let inner = &mut *self.0.borrow_mut();
        let record = |agent: &AgentOutcome| {
            let known = inner.agents.get(&agent.name)?;
            Some(Assertion::Agent(Box::new(known.record(agent, inner.whole.sends_all_rows))))
        };
        let agents = outcome.agents.iter().filter_map(record).collect();
        inner.outcome = FleetOutcome { failed, agents };
    }

    /// The control plane ended without a word of the run's end.
    pub(crate) fn end_without_outcome(&self, cause: &str) {
        let inner = &mut *self.0.borrow_mut();
        let record = |(name, known): (&Name, &AgentEntry)| {
            let mut record = known.without_outcome(name);
            record.reasons.push("its end is not known".to_owned());
            Assertion::Agent(Box::new(record))
        };
        let agents = inner.agents.iter().map(record).collect();
        inner.outcome = FleetOutcome { failed: Some(cause.to_owned()), agents };
    }
}

impl AgentEntry {
    fn without_outcome(&self, name: &Name) -> AgentRecord {
        let generator = &self.own.generator;
        AgentRecord {
            number: self.number,
            name: name.to_string(),
            cores: self.cores,
            share: self.share.clone(),
            planned: generator.planned,
            sent: generator.sent,
            lag_p99: generator.lag.quantile(0.99),
            cpu_busiest: generator.cpu_busiest,
            reasons: self.own.reasons.clone(),
            ..AgentRecord::default()
        }
    }

    /// Its record; `sends_all_rows` is whether each request that ended has a row.
    fn record(&self, agent: &AgentOutcome, sends_all_rows: bool) -> AgentRecord {
        let offset = agent.offset.as_ref();
        let mut record = AgentRecord {
            planned: agent.counts.planned,
            unknown: agent.unknown,
            clock: offset
                .map(|offset| ClockOffset { offset_ns: offset.ahead_ns, bound_ns: offset.bound.0 }),
            pauses: agent.pauses.count,
            pause_longest: agent.pauses.longest,
            ..self.without_outcome(&agent.name)
        };
        record.reasons.extend(self.doubts(agent));
        record.reasons.extend(self.doubt_of_rows(agent, sends_all_rows));
        record
    }

    /// Rows and counts come on ways of their own: one that is more than the other is a fault of packing, or a lie.
    fn doubt_of_rows(&self, agent: &AgentOutcome, sends_all_rows: bool) -> Option<String> {
        let counted = agent.counts.answered.saturating_add(agent.counts.failed);
        let dropped = self.own.generator.rows_dropped;
        // Of an agent whose results are not all here, rows are missing for a reason that is known.
        let is_whole = agent.complete && agent.payloads_lost == 0 && self.unreadable.is_none();
        let is_short = sends_all_rows && is_whole && self.rows.saturating_add(dropped) < counted;
        (self.rows > counted || is_short).then(|| {
            let rows = stdx::counted(self.rows, "row");
            format!("{rows} came of it for the {counted} requests that it counted")
        })
    }

    /// What it may have sent since its last report, which no count has: at its rate until then, for as long as the next report
    /// may take to come. `None` where it had nothing to send.
    fn uncounted(&self) -> Option<String> {
        let generator = &self.own.generator;
        if generator.wall == Nanos::ZERO {
            return Some("what it sent is in no count".to_owned());
        }
        let rate_per_ns = generator.planned as f64 / generator.wall.0 as f64;
        let requests = (rate_per_ns * REPORT_WITHIN.0 as f64).ceil() as u64;
        let requests = (requests > 0).then(|| stdx::counted(requests, "request"))?;
        Some(format!(
            "up to {requests} that it sent after its last report are in no count, more if it still runs"
        ))
    }

    /// Why its figures may not be believed, beside what its load generator says.
    fn doubts(&self, agent: &AgentOutcome) -> Vec<String> {
        let mut doubts = Vec::new();
        if let Some(cause) = &agent.lost {
            doubts.push(format!("lost: {cause}"));
            doubts.extend(self.uncounted().filter(|_| !agent.complete));
        }
        if agent.unknown > 0 {
            let requests = stdx::counted(agent.unknown, "request");
            doubts.push(format!("what became of {requests} is not known"));
        } else if !agent.complete {
            doubts.push("its last results did not arrive".to_owned());
        }
        if agent.payloads_lost > 0 {
            let lost = stdx::counted(agent.payloads_lost, "part");
            doubts.push(format!("{lost} of its results found no room on their way"));
        }
        if agent.counts != agent.totals {
            doubts.push("its counts do not come to its own total".to_owned());
        }
        if let Some(why) = self.unreadable {
            doubts.push(format!("results that cannot be read ({why})"));
        }
        if agent.pauses.count > 0 {
            let times = stdx::counted(u64::from(agent.pauses.count), "time");
            let longest = agent.pauses.longest.rounded();
            doubts.push(format!("its process stood still {times} (longest {longest})"));
        }
        doubts
    }
}

#[cfg(test)]
mod tests {
    use fleet::Counts;

    use super::*;

    #[test]
    fn rows_are_held_against_counts() {
        let counts = Counts { planned: 10, answered: 7, failed: 3, not_sent: 0 };
        let outcome = |complete, payloads_lost| AgentOutcome {
            name: Name::new("a").unwrap(),
            counts,
            totals: counts,
            unknown: 0,
            payloads_lost,
            complete,
            lost: None,
            pauses: fleet::Pauses::default(),
            offset: None,
        };
        let entry = |rows, dropped| {
            let generator = Generator { rows_dropped: dropped, ..Generator::default() };
            let own = OwnRecord { generator, ..OwnRecord::default() };
            AgentEntry { rows, own, ..AgentEntry::default() }
        };
        let is_doubted = |(rows, dropped), (complete, lost), all| {
            entry(rows, dropped).doubt_of_rows(&outcome(complete, lost), all).is_some()
        };
        let cases = [
            ((10, 0), (true, 0), true, false),
            ((500, 0), (true, 0), true, true),
            ((11, 0), (false, 1), false, true),
            ((9, 0), (true, 0), true, true),
            ((9, 1), (true, 0), true, false),
            ((9, 0), (true, 0), false, false),
            ((9, 0), (false, 0), true, false),
            ((9, 0), (true, 1), true, false),
        ];
        for (rows, state, all, expect) in cases {
            assert_eq!(is_doubted(rows, state, all), expect, "{rows:?} {state:?} {all}");
        }
        let doubt = entry(2_600, 0).doubt_of_rows(&outcome(true, 0), true).unwrap();
        assert_eq!(doubt, "2600 rows came of it for the 10 requests that it counted");
    }
    /// Issue 41: of an agent that was killed at 100/s, 44 requests were in no count, and none was said to be unknown.
    #[test]
    fn a_killed_agent_may_have_sent_what_no_count_has() {
        let entry = |planned, seconds| {
            let wall = Nanos::from_secs(seconds);
            let generator = Generator { planned, wall, ..Generator::default() };
            AgentEntry {
                own: OwnRecord { generator, ..OwnRecord::default() },
                ..AgentEntry::default()
            }
        };
        let words = "up to 200 requests that it sent after its last report are in no count, more if it still runs";
        assert_eq!(entry(400, 4).uncounted().as_deref(), Some(words));
        assert_eq!(entry(0, 4).uncounted(), None);
        assert_eq!(entry(0, 0).uncounted().as_deref(), Some("what it sent is in no count"));
    }
}
