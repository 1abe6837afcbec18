//! `CoordinatorHost`: a thread that runs the coordinator of one run, with its transport, journal and lease.

mod invitations;
mod lease;
mod options;
mod serving;

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use fleet::{
    AgentBody, AgentState, Command, Coordinator, Epoch, FrameError, FromAgent, FromCoordinator,
    Hello, Incarnation, Input, Name, Outcome, Output, Phase, Record,
};
use stdx::{Nanos, private_file};

use crate::clock::HostClock;
use crate::coordinator_handle::{
    AgentView, CoordinatorEvent, CoordinatorHandle, CoordinatorOrder, EventSender,
    coordinator_channels,
};
use crate::error::ControlError;
use crate::files::{RunFiles, run_folder};
use crate::journal::{Journal, JournalEvent};
use crate::quota::Quotas;
use crate::refusals::Refusals;
use crate::transport::{Deliver, Incoming, LEASE_TTL, Lease, Role, Subject, Transport};

use invitations::{Invitation, Invitations};
use options::OPTIONS;
use serving::FileServer;

pub use options::CoordinatorOptions;

/// How long the thread waits for something to happen.
const TICK: Duration = Duration::from_millis(100);

/// How often the command hears of all agents.
const VIEW: Duration = Duration::from_secs(1);

/// How long agents may take to leave, once the run is over.
const LEAVE_WITHIN: Duration = Duration::from_secs(2);

/// Messages and orders that may wait; further messages are dropped, as the transport may.
const WAITING_MAX: usize = 8192;

/// What happens to a coordinator.
enum Event {
    Message(Incoming),
    Journal(JournalEvent),
    Order(CoordinatorOrder),
    /// The command has gone.
    Gone,
    /// Another process has the run's lease.
    Fenced,
}

/// The coordinator of one run, on a thread of its own.
#[derive(Debug)]
pub struct CoordinatorHost;

impl CoordinatorHost {
    /// Begins a run: its journal is `dir/runs/RUN/journal`.
    ///
    /// # Errors
    /// The run has a coordinator or a journal already, or transport or disk fail.
    pub fn start(
        transport: Arc<dyn Transport>,
        dir: &Path,
        options: CoordinatorOptions,
        files: RunFiles,
    ) -> Result<CoordinatorHandle, ControlError> {
        files.check()?;
        let lease = transport.take_lease(&options.run)?;
        let folder = run_folder(dir, &options.run);
        let failed = |error| ControlError::file(&folder, error);
        private_file::make_folder(&folder).map_err(failed)?;
        let (inbox, events) = sync_channel(WAITING_MAX);
        let journal = Journal::create(&folder.join(JOURNAL), notify(&inbox))?;
        files.save(&folder).map_err(failed)?;
        let saved = folder.join(OPTIONS);
        options.save(&saved).map_err(|error| ControlError::file(&saved, error))?;
        launch(transport, (options, files), (lease, journal, Vec::new()), (inbox, events))
    }

    /// Goes on with a run after its coordinator has died: the handle gets every delta of the journal again, in their order. One that
    /// still lives has lost the lease; its journal is read once it has let go of it, since agents drop what it acknowledged.
    ///
    /// # Errors
    /// There is no such run, it has a coordinator, or transport or disk fail.
    pub fn resume(
        transport: Arc<dyn Transport>,
        dir: &Path,
        run: &Name,
    ) -> Result<CoordinatorHandle, ControlError> {
        let folder = run_folder(dir, run);
        let options = CoordinatorOptions::load(dir, run)
            .map_err(|error| ControlError::file(&folder.join(OPTIONS), error))?;
        let files =
            RunFiles::of_run(dir, run).map_err(|error| ControlError::file(&folder, error))?;
        let lease = transport.take_lease(run)?;
        let (inbox, events) = sync_channel(WAITING_MAX);
        let (journal, records) = Journal::resume(&folder.join(JOURNAL), LEASE_TTL, notify(&inbox))?;
        launch(transport, (options, files), (lease, journal, records), (inbox, events))
    }
}

/// The journal's file in the folder of a run.
const JOURNAL: &str = "journal";

fn notify(inbox: &SyncSender<Event>) -> impl FnMut(JournalEvent) + Send + 'static {
    let inbox = inbox.clone();
    // A coordinator that ended needs no notice.
    move |event| inbox.send(Event::Journal(event)).unwrap_or_default()
}

/// Starts the threads of a coordinator.
fn launch(
    transport: Arc<dyn Transport>,
    (options, files): (CoordinatorOptions, RunFiles),
    (lease, journal, records): (Lease, Journal, Vec<Record>),
    (inbox, queue): (SyncSender<Event>, Receiver<Event>),
) -> Result<CoordinatorHandle, ControlError> {
    let quotas = Quotas::default();
    let (handle, end) = coordinator_channels(&quotas);
    let files = FileServer::start(Arc::clone(&transport), options.version.clone(), files)
        .map_err(ControlError::Thread)?;
    let deliver = deliver(&inbox, &quotas, Arc::downgrade(&files));
    transport.listen(&Role::Coordinator(options.run.clone()), deliver)?;
    let clock = HostClock::new();
    let mut out = Vec::new();
    let config = options.config(lease.incarnation);
    let coordinator = Coordinator::restore(config, clock.now(), records, &mut out);
    let fenced = inbox.clone();
    let lease_guard = lease::keep(Arc::clone(&transport), lease.clone(), move || {
        fenced.send(Event::Fenced).unwrap_or_default();
    });
    let orders = end.orders;
    thread::spawn(move || {
        while let Ok(order) = orders.recv() {
            inbox.send(Event::Order(order)).unwrap_or_default();
        }
        inbox.send(Event::Gone).unwrap_or_default();
    });
    let host = Host {
        options,
        incarnation: lease.incarnation,
        _lease: lease_guard,
        _files: files,
        quotas,
        transport,
        journal,
        clock,
        coordinator,
        invitations: Invitations::default(),
        refusals: Refusals::default(),
        members: 1,
        events: end.events,
        view_at: Instant::now(),
        over: None,
    };
    thread::Builder::new()
        .name("coordinator".to_owned())
        .spawn(move || host.run(&queue, out))
        .map_err(ControlError::Thread)?;
    Ok(handle)
}

/// Messages of the transport into the inbox, as long as their agents have room there; what asks for files to their server.
fn deliver(inbox: &SyncSender<Event>, quotas: &Quotas, files: Weak<FileServer>) -> Deliver {
    let (inbox, quotas) = (inbox.clone(), quotas.clone());
    Arc::new(move |message| {
        let (agent, bytes) = match &message.subject {
            Subject::Fetch { .. } => return FileServer::handle(&files, message),
            Subject::Hello(agent) | Subject::Up { agent, .. } => {
                (agent.clone(), message.bytes.len())
            }
            Subject::Down { .. } | Subject::Part { .. } => return,
        };
        if quotas.admit(&agent, bytes, message.at)
            && inbox.try_send(Event::Message(message)).is_err()
        {
            quotas.taken(&agent, bytes);
        }
    })
}

/// The thread's state.
struct Host {
    options: CoordinatorOptions,
    incarnation: Incarnation,
    /// The lease is renewed while this lives.
    _lease: Arc<()>,
    /// Agents get the run's files while this lives.
    _files: Arc<FileServer>,
    quotas: Quotas,
    transport: Arc<dyn Transport>,
    journal: Journal,
    clock: HostClock,
    coordinator: Coordinator,
    invitations: Invitations,
    refusals: Refusals,
    /// Agents of the run, when they were shown last.
    members: usize,
    events: EventSender,
    view_at: Instant,
    /// The outcome, and when the command gets it at the latest: agents leave first.
    over: Option<(Box<Outcome>, Instant)>,
}

impl Host {
    fn run(mut self, queue: &Receiver<Event>, mut out: Vec<Output>) {
        let mut ticked = Instant::now();
        self.show_agents();
        self.carry_out(&mut out);
        while !self.is_finished() {
            match queue.recv_timeout(TICK) {
                Ok(event) => {
                    if let Err(cause) = self.handle(event, &mut out) {
                        self.report(CoordinatorEvent::Failed(cause));
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if ticked.elapsed() >= TICK {
                ticked = Instant::now();
                let input = if self.transport.is_away() { Input::Deaf } else { Input::Tick };
                self.coordinator.handle(self.clock.now(), input, &mut out);
            }
            self.carry_out(&mut out);
            self.view();
        }
        if let Some((outcome, _)) = self.over.take() {
            self.report(CoordinatorEvent::Over(outcome));
        }
    }

    /// Takes an event.
    ///
    /// # Errors
    /// The coordinator cannot go on, with the reason.
    fn handle(&mut self, event: Event, out: &mut Vec<Output>) -> Result<(), String> {
        let now = self.clock.now();
        match event {
            Event::Message(message) => self.handle_message(&message, out),
            Event::Journal(JournalEvent::Written(number)) => {
                self.coordinator.handle(now, Input::Written(number), out);
            }
            Event::Journal(JournalEvent::Failed(error)) => {
                return Err(format!("the run's journal cannot be written: {error}"));
            }
            Event::Order(CoordinatorOrder::Abort(cause)) => {
                self.coordinator.handle(now, Input::Abort(cause), out);
            }
            Event::Gone => {
                let cause = "the command of the run ended".to_owned();
                self.coordinator.handle(now, Input::Abort(cause), out);
            }
            Event::Fenced => {
                return Err(format!("another process coordinates the run {}", self.options.run));
            }
        }
        Ok(())
    }

    fn handle_message(&mut self, message: &Incoming, out: &mut Vec<Output>) {
        let at = self.clock.at(message.at);
        let (agent, is_waiting) = match &message.subject {
            Subject::Hello(agent) => (agent, true),
            Subject::Up { agent, .. } => (agent, false),
            Subject::Down { .. } | Subject::Fetch { .. } | Subject::Part { .. } => return,
        };
        self.quotas.taken(agent, message.bytes.len());
        let decoded: FromAgent = match fleet::decode(&message.bytes) {
            Ok(decoded) => decoded,
            Err(error) => return self.refuse_frame(agent, &error),
        };
        match &decoded.body {
            AgentBody::Hello(hello) if is_waiting => {
                self.invite(at, (agent, decoded.epoch, hello), out);
            }
            _ if is_waiting => {}
            // It comes again, as one that was lost.
            AgentBody::Delta(_) if !self.quotas.takes_delta(agent, self.members) => {}
            _ => self.coordinator.handle(at, Input::Message(agent, &decoded), out),
        }
    }

    /// A message that cannot be read: only that of another protocol is worth a word.
    fn refuse_frame(&mut self, agent: &Name, error: &FrameError) {
        if matches!(error, FrameError::Protocol { .. }) {
            self.report_refusal(agent, &error.to_string());
        }
    }

    /// Tells the command of an agent that cannot take part: once for each reason, and then how often.
    fn report_refusal(&mut self, agent: &Name, cause: &str) {
        if let Some(told) = self.refusals.note(agent, cause) {
            self.report(CoordinatorEvent::Refused(agent.clone(), told));
        }
    }

    /// Asks an agent that waits to join, where the run has need of it.
    fn invite(&mut self, now: Nanos, asker: (&Name, Epoch, &Hello), out: &mut Vec<Output>) {
        let (agent, epoch, _) = asker;
        if self.coordinator.phase() != Phase::Gathering {
            return;
        }
        let members: Vec<Name> = self.coordinator.agents(now).map(|agent| agent.name).collect();
        members.iter().for_each(|member| self.invitations.joined(member));
        let others = members.iter().filter(|member| *member != agent).count();
        let command = match self.invitations.answer(now, &self.options, others, asker) {
            Invitation::Join => Command::Introduce,
            Invitation::Refuse(cause) => Command::Refuse(cause),
            Invitation::None => return,
        };
        let message = FromCoordinator {
            run: self.options.run.clone(),
            incarnation: self.incarnation,
            epoch,
            sent: self.clock.now(),
            command,
        };
        out.push(Output::Send(agent.clone(), message));
    }

    fn carry_out(&mut self, out: &mut Vec<Output>) {
        for output in out.drain(..) {
            match output {
                Output::Send(agent, message) => self.send(agent, &message),
                Output::Append(record) => {
                    if let Record::Delta { agent, delta } = &record {
                        self.quotas.delta_taken(agent, delta.payload.len());
                    }
                    self.journal.append(&record);
                }
                Output::Merge(agent, delta) => {
                    self.report(CoordinatorEvent::Merge(agent, Box::new(delta)));
                }
                Output::Phase(phase) => self.enter(phase),
                Output::Over(outcome) => {
                    self.over = Some((Box::new(outcome), Instant::now() + LEAVE_WITHIN));
                }
            }
        }
    }

    fn enter(&mut self, phase: Phase) {
        self.report(CoordinatorEvent::Phase(phase));
        if phase == Phase::Running
            && let Some(at) = self.coordinator.started()
        {
            let unix_ns = i64::try_from(at.0).unwrap_or(i64::MAX);
            self.report(CoordinatorEvent::Start { at: self.clock.instant(at), unix_ns });
        }
    }

    fn send(&mut self, agent: Name, message: &FromCoordinator) {
        if let Command::Refuse(cause) = &message.command {
            self.report_refusal(&agent, cause);
        }
        // Commands are far below the largest frame.
        if let Ok(bytes) = fleet::encode(&self.options.version, message) {
            let subject = Subject::Down { run: self.options.run.clone(), agent };
            self.transport.send(&subject, bytes);
        }
    }

    /// Shows the command all agents, once a second.
    fn view(&mut self) {
        if self.view_at.elapsed() < VIEW {
            return;
        }
        self.view_at = Instant::now();
        self.show_agents();
    }

    fn show_agents(&mut self) {
        let views = self.coordinator.agents(self.clock.now()).map(|agent| AgentView {
            name: agent.name,
            cores: agent.cores,
            state: agent.state,
            offset: agent.offset,
            lost: agent.lost,
        });
        let views: Vec<AgentView> = views.collect();
        self.members = views.len();
        self.report(CoordinatorEvent::Agents(views));
    }

    /// The run is over, and every agent that can be reached has left.
    fn is_finished(&self) -> bool {
        let Some((_, until)) = &self.over else { return false };
        let mut agents = self.coordinator.agents(self.clock.now());
        let has_left =
            agents.all(|agent| agent.lost.is_some() || agent.state == AgentState::Released);
        has_left || Instant::now() >= *until
    }

    fn report(&self, event: CoordinatorEvent) {
        // A command that has gone reads nothing; its run is being ended.
        self.events.send(event).unwrap_or_default();
    }
}
