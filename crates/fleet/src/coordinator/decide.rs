//! What a coordinator decides, and what each agent is to do: functions of its state and the time alone.

use stdx::Nanos;

use super::config::{
    BARRIER_LEAD, Config, EXCHANGES_MIN, GATHER_FOR, LEAD_MIN, LOST_AFTER, Policy,
};
use super::state::{Member, Phase, State};
use crate::ids::Name;
use crate::message::{AgentState, Assignment, Command};
use crate::record::Record;
use crate::split;

/// The next decision, if one is due.
pub(super) fn next(state: &State, config: &Config, now: Nanos) -> Option<Record> {
    match state.phase {
        Phase::Gathering => gather(state, config, now),
        Phase::Preparing => prepare(state, config, now),
        Phase::Running => {
            let lost = lose(state, now).or_else(|| watch(state, config, now));
            lost.or_else(|| barrier(state, now))
        }
        Phase::Stopping => lose(state, now).or_else(|| settle(state, config, now)),
        Phase::Over => None,
    }
}

/// What an agent is to do now.
pub(super) fn command(state: &State, config: &Config, member: &Member, now: Nanos) -> Command {
    match (state.phase, &member.state) {
        (Phase::Over, _) => Command::Release,
        (Phase::Stopping, AgentState::Draining | AgentState::Released | AgentState::Failed(_)) => {
            Command::Beat
        }
        (Phase::Stopping, _) => Command::Stop(state.cause.clone().unwrap_or_default()),
        (_, AgentState::Joining) => Command::Welcome,
        (Phase::Preparing, AgentState::Waiting) => match &member.share {
            Some(share) => Command::Prepare(Assignment {
                archive: config.archive,
                setup: config.setup,
                share: share.clone(),
            }),
            None => Command::Beat,
        },
        (Phase::Running, AgentState::Ready) => start(state, member, now),
        (Phase::Running, AgentState::Armed | AgentState::Running) => pass(state, member, now),
        _ => Command::Beat,
    }
}

/// The start by the agent's clock, once that is known.
fn start(state: &State, member: &Member, now: Nanos) -> Command {
    let at = state.started.filter(|_| member.clock.len() >= EXCHANGES_MIN);
    match at.and_then(|at| member.clock.to_agent(at, now)) {
        Some(at) => Command::Start { at },
        None => Command::Beat,
    }
}

/// The next barrier that an agent may pass, by its clock.
fn pass(state: &State, member: &Member, now: Nanos) -> Command {
    let passed = member.barriers.passed;
    let at = state.barriers.get(passed as usize);
    // A process that took over has no sample of the clock yet, or a bad one of an agent that stood still.
    let at = at.filter(|_| member.clock.len() >= EXCHANGES_MIN);
    at.and_then(|at| member.clock.to_agent(*at, now))
        .map_or(Command::Beat, |at| Command::Pass { barrier: passed + 1, at })
}

/// The next barrier, once all agents that have load wait at it.
fn barrier(state: &State, now: Nanos) -> Option<Record> {
    let number = state.barriers.len() as u32 + 1;
    let has_load = |member: &&Member| {
        let is_loading = matches!(member.state, AgentState::Armed | AgentState::Running);
        member.lost.is_none() && is_loading
    };
    // Those that have not shown their start yet will reach it as well.
    let is_to_start =
        |member: &Member| member.lost.is_none() && matches!(member.state, AgentState::Ready);
    let mut loading = state.members.values().filter(has_load).peekable();
    let is_reached = loading.peek().is_some()
        && loading.all(|member| member.barriers.reached >= number)
        && !state.members.values().any(is_to_start);
    is_reached.then(|| Record::Barrier { number, at: now + BARRIER_LEAD })
}

fn gather(state: &State, config: &Config, now: Nanos) -> Option<Record> {
    if is_gathered(state, config, now) {
        let weights: Vec<u64> =
            state.members.values().map(|member| u64::from(member.hello.cores.max(1))).collect();
        return Some(match split::shares(&weights) {
            Ok(shares) => Record::Assigned(shares),
            Err(error) => Record::Stopping { cause: error.to_string() },
        });
    }
    let (joined, within) = (state.members.len(), config.ready_within.rounded());
    is_late(state, config, now).then(|| Record::Stopping {
        cause: match config.agents {
            Some(agents) => format!("{joined} of {agents} agents joined within {within}"),
            None => format!("no agent joined within {within}"),
        },
    })
}

/// Whether all have joined that the run takes.
fn is_gathered(state: &State, config: &Config, now: Nanos) -> bool {
    let joined = state.members.len();
    match config.agents {
        Some(agents) => joined >= agents,
        None => joined > 0 && now >= state.since + GATHER_FOR,
    }
}

fn prepare(state: &State, config: &Config, now: Nanos) -> Option<Record> {
    let failed = state.members.iter().find_map(|(name, member)| match &member.state {
        AgentState::Failed(cause) => Some(format!("{name}: {cause}")),
        _ if is_silent(member, now) => Some(format!("{name}: {}", silence())),
        _ => None,
    });
    if let Some(cause) = failed {
        return Some(Record::Stopping { cause });
    }
    let unready: Vec<&Name> = state
        .members
        .iter()
        .filter(|(_, member)| !is_ready(member))
        .map(|(name, _)| name)
        .collect();
    if unready.is_empty() {
        return Some(Record::Started { at: now + config.lead.at_least(LEAD_MIN) });
    }
    is_late(state, config, now).then(|| Record::Stopping { cause: late(state, config, &unready) })
}

/// `7 of 10 agents were ready within 30s; agent-8 prepares`.
fn late(state: &State, config: &Config, unready: &[&Name]) -> String {
    const NAMES_MAX: usize = 5;
    let ready = state.members.len() - unready.len();
    let (all, within) = (state.members.len(), config.ready_within);
    let mut text = format!("{ready} of {all} agents were ready within {within}");
    let names: Vec<&str> = unready.iter().take(NAMES_MAX).map(|name| name.as_str()).collect();
    text += &format!("; not {}", stdx::list_and(&names));
    if let Some(more @ 1..) = unready.len().checked_sub(NAMES_MAX) {
        text += &format!(" (and {more} more)");
    }
    text
}

/// An agent that can start on time: ready, with a clock that is known.
fn is_ready(member: &Member) -> bool {
    member.state == AgentState::Ready && member.clock.len() >= EXCHANGES_MIN
}

fn is_late(state: &State, config: &Config, now: Nanos) -> bool {
    now > state.since + config.ready_within
}

fn is_silent(member: &Member, now: Nanos) -> bool {
    now > member.received + LOST_AFTER
}

fn silence() -> String {
    format!("not heard of for {LOST_AFTER}")
}

/// An agent to give up.
fn lose(state: &State, now: Nanos) -> Option<Record> {
    let is_open = |member: &Member| member.lost.is_none() && !member.is_complete();
    state.members.iter().filter(|(_, member)| is_open(member)).find_map(|(name, member)| {
        let cause = match &member.state {
            AgentState::Failed(cause) => cause.clone(),
            AgentState::Released => "it left".to_owned(),
            _ if is_silent(member, now) => silence(),
            _ => return None,
        };
        Some(Record::Lost { agent: name.clone(), cause })
    })
}

fn watch(state: &State, config: &Config, now: Nanos) -> Option<Record> {
    let lost = state.members.iter().find_map(|(name, member)| {
        member.lost.as_ref().map(|cause| format!("{name} is lost: {cause}"))
    });
    match (lost, config.policy) {
        (Some(cause), Policy::Fail) => Some(Record::Stopping { cause }),
        _ => settle(state, config, now),
    }
}

/// The end, once every agent's last delta is applied. Agents that are lost may come back with theirs until the time for that
/// is over.
fn settle(state: &State, config: &Config, now: Nanos) -> Option<Record> {
    let is_open = |member: &&Member| !member.is_complete();
    // Before the start, no agent has anything to bring.
    let never_began = state.started.is_none();
    let mut open = state.members.values().filter(is_open).peekable();
    if never_began || open.peek().is_none() {
        return Some(Record::Over);
    }
    let all_lost = open.all(|member| member.lost.is_some());
    let grace = match config.policy {
        Policy::Fail => LOST_AFTER,
        Policy::GoOn => config.drain_within,
    };
    let is_overdue = state.phase == Phase::Stopping && now > state.since + config.drain_within;
    let is_hopeless = all_lost && now > state.since.max(state.progress) + grace;
    (is_overdue || is_hopeless).then_some(Record::Over)
}
