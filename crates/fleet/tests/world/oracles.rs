//! `Oracles`: what must hold in every run, whatever goes wrong.

use std::collections::{BTreeMap, BTreeSet};

use fleet::{AgentState, Counts, Delta, Epoch, HOLD_MAX, Outcome, Phase, Seq, WINDOW};
use metrics::Histogram;
use stdx::Nanos;

use crate::load::{SECOND, values};
use crate::plan::Fault;
use crate::world::{Host, World};

/// What the merged result has of an agent.
#[derive(Clone, Default)]
struct Merged {
    seq: Seq,
    counts: Counts,
    values: Vec<u64>,
}

/// What was seen of a run.
pub(crate) struct Oracles {
    merged: Vec<Merged>,
    /// Processes that were replaced, with the agent's place.
    replaced: Vec<(usize, Host)>,
    /// Places where a process was ready: it may have died since, unnoticed for three seconds.
    ready: BTreeSet<usize>,
    starts: Vec<u64>,
    /// Agents that reached a barrier, and the true times at which they pass it.
    reached: BTreeMap<u32, BTreeSet<usize>>,
    passed: BTreeMap<u32, Vec<u64>>,
    /// When each process's load ended.
    ended: BTreeMap<Epoch, u64>,
    outcome: Option<Outcome>,
    over_at: u64,
    stopping_at: Option<u64>,
    backlog_max: usize,
    spool_max: usize,
    pub(crate) restarts: usize,
}

impl Oracles {
    pub(crate) fn new(agents: usize) -> Self {
        Self {
            merged: vec![Merged::default(); agents],
            replaced: Vec::new(),
            ready: BTreeSet::new(),
            starts: Vec::new(),
            reached: BTreeMap::new(),
            passed: BTreeMap::new(),
            ended: BTreeMap::new(),
            outcome: None,
            over_at: 0,
            stopping_at: None,
            backlog_max: 0,
            spool_max: 0,
            restarts: 0,
        }
    }

    /// A new process of the coordinator merges the journal again.
    pub(crate) fn restarted(&mut self) {
        self.restarts += 1;
        self.merged.fill(Merged::default());
    }

    pub(crate) fn merge(&mut self, at: usize, delta: &Delta) {
        let merged = &mut self.merged[at];
        assert_eq!(delta.seq, merged.seq.next(), "each delta once, in order");
        merged.seq = delta.seq;
        merged.counts = merged.counts.checked_add(delta.counts).unwrap();
        merged.values.extend(values(&delta.payload));
    }

    pub(crate) fn phase(&mut self, now: u64, phase: Phase) {
        if phase == Phase::Stopping {
            self.stopping_at.get_or_insert(now);
        }
    }

    pub(crate) fn over(&mut self, now: u64, outcome: Outcome) {
        // A coordinator that takes over a run that is over says so again.
        if self.outcome.is_none() {
            self.over_at = now;
        }
        self.outcome = Some(outcome);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.outcome.is_some()
    }

    pub(crate) fn over_at(&self) -> u64 {
        self.over_at
    }

    pub(crate) fn outcome(&self) -> &Outcome {
        self.outcome.as_ref().expect("every run ends")
    }

    pub(crate) fn ready(&mut self, at: usize) {
        self.ready.insert(at);
    }

    pub(crate) fn started(&mut self, true_time: u64) {
        assert_eq!(self.ready.len(), self.merged.len(), "no load before all are ready");
        self.starts.push(true_time);
    }

    pub(crate) fn reached(&mut self, at: usize, barrier: u32) {
        self.reached.entry(barrier).or_default().insert(at);
    }

    pub(crate) fn passed(&mut self, at: usize, barrier: u32, true_time: u64) {
        let has_reached = |reached: &BTreeSet<usize>| reached.contains(&at);
        assert!(self.reached.get(&barrier).is_some_and(has_reached), "it waited at the barrier");
        self.passed.entry(barrier).or_default().push(true_time);
    }

    pub(crate) fn replaced(&mut self, at: usize, host: Host) {
        self.replaced.push((at, host));
    }

    pub(crate) fn ended(&mut self, now: u64, epoch: Epoch) {
        self.ended.insert(epoch, now);
    }

    pub(crate) fn has_ended(&self, epoch: Epoch) -> bool {
        self.ended.contains_key(&epoch)
    }

    pub(crate) fn backlog(&mut self, backlog: usize) {
        self.backlog_max = self.backlog_max.max(backlog);
    }

    pub(crate) fn spool(&mut self, bytes: usize) {
        self.spool_max = self.spool_max.max(bytes);
    }

    /// The time between the first and the last start.
    pub(crate) fn skew(&self) -> u64 {
        spread(&self.starts)
    }

    /// The same of the barrier where it is longest.
    pub(crate) fn barrier_skew(&self) -> u64 {
        self.passed.values().map(|times| spread(times)).max().unwrap_or(0)
    }

    /// The last that any agent passed.
    pub(crate) fn last_barrier(&self) -> u32 {
        self.passed.keys().max().copied().unwrap_or(0)
    }

    /// Barriers that every agent passed.
    pub(crate) fn barriers(&self) -> usize {
        self.passed.values().filter(|times| times.len() == self.merged.len()).count()
    }

    /// Agents that started.
    pub(crate) fn starts(&self) -> usize {
        self.starts.len()
    }
}

fn spread(times: &[u64]) -> u64 {
    let first = times.iter().min().copied().unwrap_or(0);
    times.iter().max().copied().unwrap_or(0) - first
}

/// Holds a run that ended against its plan.
pub(crate) fn check(world: &World) {
    let (plan, oracles) = (&world.plan, &world.oracles);
    assert!(oracles.is_over(), "the run ends");
    totals(world);
    assert!(oracles.starts() <= plan.agents, "an agent's work is started once");
    // The second copy of a message takes up to four times the way.
    let way = plan.delay_max * if plan.doubled > 0 { 4 } else { 1 };
    assert!(oracles.skew() <= 2 * way + SECOND / 100, "skew {} ns", oracles.skew());
    assert!(oracles.barrier_skew() <= 2 * way + SECOND / 100, "{} ns", oracles.barrier_skew());
    assert!(oracles.backlog_max <= plan.agents * (HOLD_MAX + WINDOW as usize + 4));
    assert!(oracles.spool_max <= 1 << 20);
    let is_calm = plan.lost == 0 && plan.faults.iter().all(|(_, fault)| *fault == Fault::Abort);
    if is_calm {
        calm(world);
    }
    // Without a limit of its own, an agent that hears nothing would load for ever.
    let is_cut = |host: &&Host| host.alive && !matches!(host.agent.state(), AgentState::Released);
    let left = world.hosts.iter().filter(is_cut).count();
    let may_stay = plan.faults.len() * plan.agents;
    assert!(left <= may_stay, "{left} agents are not released after a calm run");
}

/// `planned = answered + failed + not sent + unknown` for each agent; merged = measured where all of it came.
fn totals(world: &World) {
    let outcome = world.oracles.outcome();
    let (mut merged, mut whole) = (Histogram::new(), Histogram::new());
    for agent in &outcome.agents {
        let at = world.names.binary_search(&agent.name).unwrap();
        let seen = &world.oracles.merged[at];
        assert_eq!(agent.counts, seen.counts, "{}: applied and merged together", agent.name);
        assert_eq!(agent.counts, agent.totals, "{}: deltas make up the totals", agent.name);
        let counts = agent.counts;
        let ended = counts.answered + counts.failed + counts.not_sent;
        assert_eq!(counts.planned, ended + agent.unknown, "{}", agent.name);
        let host = loaded_host(world, at);
        let truth = host.and_then(|host| host.load.as_ref());
        let (truth, all) =
            truth.map_or((Counts::default(), &[][..]), |load| (load.truth, &load.values[..]));
        assert_eq!(seen.values, all[..seen.values.len()], "{}: a prefix of the truth", agent.name);
        assert!(counts.planned <= truth.planned);
        if agent.complete {
            assert_eq!((counts, agent.unknown), (truth, 0), "{}: all of the truth", agent.name);
            seen.values.iter().for_each(|value| merged.record(Nanos(*value)));
            all.iter().for_each(|value| whole.record(Nanos(*value)));
        }
        let is_excused = agent.lost.is_some() || outcome.cause.is_some();
        assert!(agent.complete || is_excused, "{}: neither complete nor lost", agent.name);
    }
    assert_eq!(merged, whole, "the merged histogram is the whole one, bit for bit");
}

/// The process of an agent that had load.
fn loaded_host(world: &World, at: usize) -> Option<&Host> {
    let before =
        world.oracles.replaced.iter().filter(|(place, _)| *place == at).map(|(_, host)| host);
    before.chain([&world.hosts[at]]).find(|host| host.load.is_some())
}

/// What holds where nothing goes wrong, or the user alone ends the run.
fn calm(world: &World) {
    let (plan, oracles) = (&world.plan, &world.oracles);
    let outcome = oracles.outcome();
    let is_aborted = plan.has(|fault| *fault == Fault::Abort);
    if !is_aborted {
        assert_eq!(outcome.cause, None);
        let planned = plan.rate * plan.seconds * plan.agents as u64;
        assert_eq!(outcome.counts().planned, planned, "what was planned, to one request");
    }
    assert!(outcome.agents.iter().all(|agent| agent.lost.is_none()));
    let has_ended = |at: &usize| oracles.has_ended(world.hosts[*at].epoch);
    let together = oracles.passed.keys().all(|barrier| {
        let reached = &oracles.reached[barrier];
        (0..plan.agents).all(|at| reached.contains(&at) || has_ended(&at))
    });
    assert!(together, "no agent with load passes a barrier before all such agents have reached it");
    if let Some(stopping) = oracles.stopping_at {
        for host in world.hosts.iter().filter(|host| host.load.is_some()) {
            let ended = oracles.ended[&host.epoch].saturating_sub(stopping);
            assert!(
                ended <= 2 * SECOND + plan.disk_max,
                "all stop within two seconds, not {ended} ns"
            );
        }
    }
}
