//! `start`: forms a fleet for a run, and waits until all of it has its start.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cli::Interrupts;
use control::{
    AgentView, CoordinatorEvent, CoordinatorHandle, CoordinatorHost, CoordinatorOptions,
    CoordinatorOrder, NatsAccess, NatsTransport, RunFiles, Transport,
};
use fleet::{GATHER_FOR, LEAD_MIN, Name, Phase};
use stdx::Nanos;

use crate::error::RemoteError;
use crate::execution::FleetExecution;
use crate::records::Records;
use crate::work::FleetWork;

/// How often interrupts are looked at while the fleet forms.
const POLL: Duration = Duration::from_millis(50);

/// How long deltas may take to come in after the last request ended or timed out.
const DRAIN: Nanos = Nanos::from_secs(10);

/// The fleet that a command asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetOptions {
    /// The folder of `brunt fleet up`.
    pub dir: PathBuf,
    /// How many agents the run needs; `None`: all that wait.
    pub agents: Option<usize>,
    /// Labels (`KEY=VALUE`) that an agent must have, all of them.
    pub labels: Vec<String>,
    /// How long they may take to join, and then to make ready.
    pub ready_within: Nanos,
    /// The run goes on without an agent that was lost.
    pub goes_on: bool,
}

/// Forms the fleet and returns once the instant of the start is agreed on. `notice` gets a line for each step.
///
/// # Errors
/// The plan cannot go to other machines, the message system cannot be reached, or the fleet does not form in time: the reason names
/// the agents.
pub fn start(
    work: &FleetWork,
    options: &FleetOptions,
    interrupts: &Interrupts,
    notice: &mut dyn FnMut(&str),
) -> Result<(FleetExecution, Records), RemoteError> {
    let bytes = work.content.encode()?;
    let access = NatsAccess::of_coordinator(&options.dir)?;
    let transport: Arc<dyn Transport> =
        Arc::new(NatsTransport::connect(&access, |text| session::warn(&text))?);
    let run = run_name();
    let files = RunFiles { archive: bytes, setup: work.setup.clone() };
    let options_of_run = CoordinatorOptions {
        run: run.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        agents: options.agents,
        labels: options.labels.clone(),
        archive: files.archive_digest(),
        setup: files.setup_digest(),
        ready_within: options.ready_within,
        lead: LEAD_MIN,
        drain_within: work.longest_end.saturating_add(DRAIN),
        goes_on: options.goes_on,
    };
    let handle = CoordinatorHost::start(transport, &options.dir, options_of_run, files)?;
    let awaited = match options.agents {
        Some(agents) => format!("waiting for {}", stdx::counted(agents as u64, "agent")),
        None => format!("taking all agents that wait, for {GATHER_FOR}"),
    };
    notice(&format!("run {run}: {awaited}"));
    let mut gathering = Gathering::default();
    let start = gathering.wait(&handle, interrupts, notice).map_err(|error| match error {
        RemoteError::NotStarted(cause) if !options.labels.is_empty() => {
            let labels = options.labels.join(" and ");
            RemoteError::NotStarted(format!("{cause} (only those with {labels} are taken)"))
        }
        error => error,
    })?;
    let records = Records::new(work.whole);
    records.number(&gathering.views);
    Ok((FleetExecution::new(handle, records.clone(), start, work.targets), records))
}

/// A fleet that forms.
#[derive(Default)]
pub(crate) struct Gathering {
    views: Vec<AgentView>,
    /// They were shown since all of them had joined.
    is_complete: bool,
    has_asked: bool,
}

impl Gathering {
    /// A run that a process takes over: its agents are shown first of all.
    pub(crate) fn of_resumed() -> Self {
        Self { is_complete: true, ..Self::default() }
    }

    /// The agents, as they were shown last.
    pub(crate) fn views(&self) -> &[AgentView] {
        &self.views
    }

    /// Waits for the instant of the start, and its Unix time in nanoseconds.
    ///
    /// # Errors
    /// The run ended before it.
    pub(crate) fn wait(
        &mut self,
        handle: &CoordinatorHandle,
        interrupts: &Interrupts,
        notice: &mut dyn FnMut(&str),
    ) -> Result<(Instant, i64), RemoteError> {
        let (mut start, mut has_joined) = (None, false);
        loop {
            if interrupts.seen() > 0 && !self.has_asked {
                self.has_asked = true;
                let order = CoordinatorOrder::Abort("interrupted".to_owned());
                // A control plane that has gone says so itself.
                handle.orders.send(order).unwrap_or_default();
            }
            let event = match handle.events.recv_timeout(POLL) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(RemoteError::NotStarted("the control plane ended".to_owned()));
                }
            };
            match event {
                CoordinatorEvent::Start { at, unix_ns } => start = Some((at, unix_ns)),
                CoordinatorEvent::Phase(phase) => {
                    notice_phase(&phase, notice);
                    has_joined |= phase > Phase::Gathering;
                }
                CoordinatorEvent::Agents(views) => {
                    self.note(views, notice);
                    self.is_complete |= has_joined;
                }
                CoordinatorEvent::Refused(agent, cause) => {
                    notice(&format!("agent {agent} cannot take part: {cause}"));
                }
                CoordinatorEvent::Over(_) if self.has_asked => {
                    return Err(RemoteError::Interrupted);
                }
                CoordinatorEvent::Over(outcome) => {
                    let cause = outcome.cause.unwrap_or_else(|| "it ended at once".to_owned());
                    return Err(RemoteError::NotStarted(cause));
                }
                CoordinatorEvent::Failed(cause) => return Err(RemoteError::NotStarted(cause)),
                CoordinatorEvent::Merge(..) => {}
            }
            // The start is agreed on 2 s ahead, and all agents are shown once a second.
            if let Some(start) = start
                && self.is_complete
            {
                return Ok(start);
            }
        }
    }

    fn note(&mut self, views: Vec<AgentView>, notice: &mut dyn FnMut(&str)) {
        for view in &views {
            if !self.views.iter().any(|known| known.name == view.name) {
                let cores = stdx::counted(u64::from(view.cores), "core");
                notice(&format!("agent {} joined ({cores})", view.name));
            }
        }
        self.views = views;
    }
}

fn notice_phase(phase: &Phase, notice: &mut dyn FnMut(&str)) {
    match phase {
        Phase::Preparing => notice("the fleet is complete, and makes ready"),
        Phase::Running => notice("all agents are ready: the load starts in 2s"),
        _ => {}
    }
}

/// A name that no run of this fleet had: the time, and this process.
fn run_name() -> Name {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let text = format!("{:x}-{:x}", now.as_millis(), std::process::id());
    Name::new(&text).expect("digits and a hyphen, and short")
}
