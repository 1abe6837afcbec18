//! `AgentHost`: a thread that runs an agent, one run after the other, with its transport. What waits for the coordinator is in
//! memory: it outlives the message system and the coordinator, and dies with this process.

mod fetch;
mod work;

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use fleet::{
    ALONE_MAX, Agent, AgentBody, AgentConfig, AgentInput, AgentOutput, AgentState, Barriers, Beat,
    Command, Epoch, FromAgent, FromCoordinator, Hello, Incarnation, Name, Pauses, SPOOL_BYTES_MAX,
};
use stdx::Nanos;

use crate::agent_handle::{AgentHandle, AgentOrder, AgentReport, agent_channels};
use crate::clock::HostClock;
use crate::error::ControlError;
use crate::transport::{Deliver, Incoming, Role, Subject, Transport};

use fetch::{Fetch, Fetched, PartInbox};
use work::WorkState;

/// How long the thread waits for something to happen.
const TICK: Duration = Duration::from_millis(100);

/// Messages and reports that may wait; further messages are dropped, as the transport may.
const WAITING_MAX: usize = 4096;

/// How long an agent without load and without data waits for a coordinator that is silent.
const SILENCE_MAX: Duration = Duration::from_secs(15);

/// How often an agent whose coordinator is silent offers itself to other runs.
const OFFER_EVERY: Duration = Duration::from_secs(1);

/// The same for one that a coordinator invited and did not take.
const WELCOME_WITHIN: Duration = Duration::from_secs(5);

/// How long an agent that was asked to stop waits for the run's end.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// What an agent is made from.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// Its name.
    pub name: Name,
    /// This program's version, its cores and labels.
    pub hello: Hello,
}

/// What an agent's user may want to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentNotice {
    /// It takes part in a run.
    Joined(Name),
    /// It cannot take part in a run, with the reason.
    Refused(Name, String),
    /// It has left a run, with the reason where the run did not end by itself.
    Left(Name, Option<String>),
}

/// What happens to an agent.
enum Event {
    Message(Incoming),
    Report(AgentReport),
    Fetched(Box<Fetched>),
    /// The load generator has gone.
    Gone,
    /// The process is to end.
    Stop,
}

/// An agent on a thread of its own.
#[derive(Debug)]
pub struct AgentHost {
    inbox: SyncSender<Event>,
    thread: thread::JoinHandle<()>,
}

impl AgentHost {
    /// Waits for runs from now on. The handle gets the orders of one run after the other; its load generator ends each with
    /// [`AgentReport::Ended`], the release too, before the agent takes another. `notice` is called on the agent's thread.
    ///
    /// # Errors
    /// The transport fails, or a thread cannot be started.
    pub fn start(
        transport: Arc<dyn Transport>,
        options: AgentOptions,
        notice: impl Fn(AgentNotice) + Send + 'static,
    ) -> Result<(AgentHandle, Self), ControlError> {
        let (inbox, queue) = sync_channel(WAITING_MAX);
        let parts = PartInbox::default();
        transport.listen(&Role::Agent(options.name.clone()), deliver(&inbox, &parts))?;
        let (handle, end) = agent_channels();
        let (to_host, reports) = (inbox.clone(), end.reports);
        thread::spawn(move || {
            while let Ok(report) = reports.recv() {
                to_host.send(Event::Report(report)).unwrap_or_default();
            }
            to_host.send(Event::Gone).unwrap_or_default();
        });
        let clock = HostClock::new();
        let host = Host {
            agent: Agent::new(config(&options, new_epoch()), clock.now()),
            epoch: Epoch(0),
            options,
            transport,
            clock,
            inbox: inbox.clone(),
            parts,
            orders: end.orders,
            notice: Box::new(notice),
            run: None,
            work: WorkState::default(),
            offered_at: Instant::now(),
            stop_at: None,
            has_ended: false,
        };
        let thread = thread::Builder::new()
            .name("agent".to_owned())
            .spawn(move || host.run(&queue))
            .map_err(ControlError::Thread)?;
        Ok((handle, Self { inbox, thread }))
    }

    /// Ends the agent. A run that it takes part in is asked to end first, for up to 10 s.
    pub fn stop(self) {
        self.inbox.send(Event::Stop).unwrap_or_default();
        // A panic of the thread was printed.
        self.thread.join().unwrap_or_default();
    }
}

/// Messages of the transport into the inbox, as long as there is room; parts of files to who fetches them.
fn deliver(inbox: &SyncSender<Event>, parts: &PartInbox) -> Deliver {
    let (inbox, parts) = (inbox.clone(), parts.clone());
    Arc::new(move |message| match &message.subject {
        Subject::Part { .. } => parts.deliver(message),
        _ => inbox.try_send(Event::Message(message)).unwrap_or_default(),
    })
}

fn config(options: &AgentOptions, epoch: Epoch) -> AgentConfig {
    AgentConfig {
        epoch,
        hello: options.hello.clone(),
        spool_bytes_max: SPOOL_BYTES_MAX,
        alone_max: ALONE_MAX,
    }
}

/// A random number from the system: std seeds its hashers with it.
fn new_epoch() -> Epoch {
    Epoch(RandomState::new().hash_one(Instant::now()))
}

/// The run that an agent belongs to.
struct Run {
    name: Name,
    incarnation: Incarnation,
    /// When its coordinator was last heard of.
    at: Instant,
    has_joined: bool,
}

/// The thread's state.
struct Host {
    options: AgentOptions,
    transport: Arc<dyn Transport>,
    clock: HostClock,
    inbox: SyncSender<Event>,
    parts: PartInbox,
    orders: SyncSender<AgentOrder>,
    notice: Box<dyn Fn(AgentNotice) + Send>,
    agent: Agent,
    epoch: Epoch,
    run: Option<Run>,
    work: WorkState,
    /// When an agent whose coordinator is silent offered itself to other runs.
    offered_at: Instant,
    /// When the agent ends at the latest, once it was asked to.
    stop_at: Option<Instant>,
    has_ended: bool,
}

impl Host {
    fn run(mut self, queue: &Receiver<Event>) {
        let mut out = Vec::new();
        self.renew();
        while !self.has_ended {
            match queue.recv_timeout(TICK) {
                Ok(event) => self.handle(event, &mut out),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.tick(&mut out);
            self.carry_out(&mut out);
        }
    }

    /// Waits for the next run, as a new process would: no number of a delta is used twice.
    fn renew(&mut self) {
        self.epoch = new_epoch();
        self.agent = Agent::new(config(&self.options, self.epoch), self.clock.now());
        self.run = None;
    }

    fn tick(&mut self, out: &mut Vec<AgentOutput>) {
        if let Some(until) = self.stop_at
            && (self.run.is_none() || Instant::now() >= until)
        {
            self.has_ended = true;
            return;
        }
        // While the load of the last run has not ended, the agent does not ask for another.
        if self.run.is_none() && self.work.is_busy() {
            return;
        }
        self.agent.handle(self.clock.now(), AgentInput::Tick, out);
        self.give_up_if_silent();
        self.offer_if_orphaned();
    }

    /// Its load is over, and its coordinator silent: what it measured waits for a command that resumes the run.
    fn is_orphaned(&self) -> bool {
        let is_silent = |run: &Run| run.has_joined && run.at.elapsed() > SILENCE_MAX;
        !self.work.is_busy() && self.run.as_ref().is_some_and(is_silent)
    }

    /// Offers an orphaned agent to other runs: one that has need of it comes before one that may never be resumed.
    fn offer_if_orphaned(&mut self) {
        if !self.is_orphaned() || self.offered_at.elapsed() < OFFER_EVERY {
            return;
        }
        self.offered_at = Instant::now();
        let body = AgentBody::Hello(self.options.hello.clone());
        let hello = FromAgent { epoch: self.epoch, body };
        if let Ok(bytes) = fleet::encode(&self.options.hello.version, &hello) {
            self.transport.send(&Subject::Hello(self.options.name.clone()), bytes);
        }
    }

    fn handle(&mut self, event: Event, out: &mut Vec<AgentOutput>) {
        match event {
            Event::Message(message) => self.handle_message(&message, out),
            Event::Report(report) => self.handle_report(report, out),
            Event::Fetched(fetched) => self.handle_fetched(*fetched, out),
            Event::Gone | Event::Stop if self.run.is_none() => self.has_ended = true,
            Event::Gone => self.end_run("its load generator ended", out),
            Event::Stop => self.end_run("it was interrupted", out),
        }
    }

    /// Asks for the end of the run, and ends with it.
    fn end_run(&mut self, cause: &str, out: &mut Vec<AgentOutput>) {
        self.stop_at = Some(Instant::now() + STOP_WITHIN);
        self.agent.handle(self.clock.now(), AgentInput::Abort(cause.to_owned()), out);
    }

    fn handle_message(&mut self, message: &Incoming, out: &mut Vec<AgentOutput>) {
        let Ok(decoded) = fleet::decode::<FromCoordinator>(&message.bytes) else { return };
        // The subject is what the sender had the right to; the message must not say another run.
        let is_of_subject =
            matches!(&message.subject, Subject::Down { run, .. } if *run == decoded.run);
        if !is_of_subject || decoded.epoch != self.epoch {
            return;
        }
        let is_of_other = self.run.as_ref().is_some_and(|run| run.name != decoded.run);
        if is_of_other && self.is_orphaned() && decoded.command == Command::Introduce {
            return self.leave_with(Some("its command is gone, and another run came".to_owned()));
        }
        if !self.belongs_to(&decoded) {
            return;
        }
        if let Command::Refuse(cause) = &decoded.command
            && *self.agent.state() == AgentState::Joining
        {
            (self.notice)(AgentNotice::Refused(decoded.run.clone(), cause.clone()));
        }
        self.agent.handle(self.clock.at(message.at), AgentInput::Message(&decoded), out);
        self.note_joined();
    }

    /// Whether the message is of this agent's run, or binds it to one.
    fn belongs_to(&mut self, message: &FromCoordinator) -> bool {
        if self.run.is_none() && self.work.is_busy() {
            return false;
        }
        let run = self.run.get_or_insert_with(|| Run {
            name: message.run.clone(),
            incarnation: message.incarnation,
            at: Instant::now(),
            has_joined: false,
        });
        let belongs = run.name == message.run && message.incarnation >= run.incarnation;
        if belongs {
            (run.incarnation, run.at) = (message.incarnation, Instant::now());
        }
        belongs
    }

    fn note_joined(&mut self) {
        let is_in = !matches!(self.agent.state(), AgentState::Joining | AgentState::Released);
        if let Some(run) = self.run.as_mut().filter(|run| is_in && !run.has_joined) {
            run.has_joined = true;
            (self.notice)(AgentNotice::Joined(run.name.clone()));
        }
    }

    fn handle_report(&mut self, report: AgentReport, out: &mut Vec<AgentOutput>) {
        let now = self.clock.now();
        if !self.work.takes(&report) {
            return;
        }
        let input = match report {
            AgentReport::Prepared(outcome) => AgentInput::Prepared(outcome),
            AgentReport::Measured { interval: (from, to), counts, payload } => {
                let interval = (self.clock.at(from), self.clock.at(to));
                AgentInput::Delta(interval, counts, payload)
            }
            AgentReport::AtBarrier(barrier) => AgentInput::AtBarrier(barrier),
            AgentReport::Ended => AgentInput::Ended,
            AgentReport::Abort(cause) => AgentInput::Abort(cause),
        };
        // What a run measured after it released this agent is of no use any more.
        if self.run.is_some() {
            self.agent.handle(now, input, out);
        }
    }

    fn handle_fetched(&mut self, fetched: Fetched, out: &mut Vec<AgentOutput>) {
        if fetched.epoch != self.epoch || *self.agent.state() != AgentState::Preparing {
            return;
        }
        let outcome = fetched.work.and_then(|work| self.order(AgentOrder::Prepare(work)));
        if let Err(cause) = outcome {
            self.agent.handle(self.clock.now(), AgentInput::Prepared(Err(cause)), out);
        }
    }

    /// Hands the load generator an order.
    ///
    /// # Errors
    /// It takes no orders any more, with the reason.
    fn order(&mut self, order: AgentOrder) -> Result<(), String> {
        self.work.ordered(&order);
        let sent = self.orders.try_send(order);
        sent.map_err(|_| "its load generator takes no orders".to_owned())
    }

    fn carry_out(&mut self, out: &mut Vec<AgentOutput>) {
        for output in out.drain(..) {
            let order = match output {
                AgentOutput::Send(message) => {
                    self.send(&message);
                    continue;
                }
                AgentOutput::Prepare(assignment) => {
                    self.fetch(assignment);
                    continue;
                }
                AgentOutput::Leave => {
                    self.leave();
                    continue;
                }
                AgentOutput::StartLoad { at } => AgentOrder::Start(self.clock.instant(at)),
                AgentOutput::SkipOverdue { before } => {
                    AgentOrder::SkipOverdue(self.clock.instant(before))
                }
                AgentOutput::Pass { barrier, at } => {
                    AgentOrder::Pass { barrier, at: self.clock.instant(at) }
                }
                AgentOutput::StopLoad(cause) => AgentOrder::Stop(cause),
            };
            // A load generator that has gone is an event of its own.
            self.order(order).unwrap_or_default();
        }
    }

    fn fetch(&self, assignment: fleet::Assignment) {
        let Some(run) = &self.run else { return };
        let AgentOptions { name, hello } = &self.options;
        let of = (hello.version.clone(), run.name.clone(), name.clone());
        let fetch = Fetch::new(Arc::clone(&self.transport), &self.parts, of);
        let (inbox, epoch) = (self.inbox.clone(), self.epoch);
        thread::spawn(move || {
            let work = fetch.work(assignment);
            let fetched = Fetched { epoch, work };
            inbox.send(Event::Fetched(Box::new(fetched))).unwrap_or_default();
        });
    }

    fn send(&self, message: &FromAgent) {
        let agent = self.options.name.clone();
        let subject = match (&self.run, &message.body) {
            (Some(run), _) => Subject::Up { run: run.name.clone(), agent },
            (None, AgentBody::Hello(_)) => Subject::Hello(agent),
            (None, _) => return,
        };
        // A delta is at most its payload and some numbers: it fits.
        if let Ok(bytes) = fleet::encode(&self.options.hello.version, message) {
            self.transport.send(&subject, bytes);
        }
    }

    /// The coordinator released this agent, or refused it.
    fn leave(&mut self) {
        let beat = Beat {
            state: AgentState::Released,
            echo: None,
            sent: self.clock.now(),
            made: self.agent.spool().made(),
            pauses: Pauses::default(),
            barriers: Barriers::default(),
        };
        self.send(&FromAgent { epoch: self.epoch, body: AgentBody::Beat(beat) });
        self.leave_with(None);
    }

    fn leave_with(&mut self, cause: Option<String>) {
        if let Some(run) = self.run.take()
            && run.has_joined
        {
            (self.notice)(AgentNotice::Left(run.name, cause.clone()));
        }
        if self.work.has_order() {
            self.order(AgentOrder::Leave(cause.map_or(Ok(()), Err))).unwrap_or_default();
        }
        self.renew();
    }

    /// Leaves a run whose coordinator has gone, unless it has load or data of it.
    fn give_up_if_silent(&mut self) {
        let Some(run) = &self.run else { return };
        let longest = match self.agent.state() {
            AgentState::Joining => WELCOME_WITHIN,
            AgentState::Armed | AgentState::Running => return,
            _ if self.agent.spool().is_empty() => SILENCE_MAX,
            _ => Duration::from_nanos(ALONE_MAX.0),
        };
        if run.at.elapsed() > longest {
            let silence = Nanos(longest.as_nanos() as u64).rounded();
            self.leave_with(Some(format!("no coordinator for {silence}")));
        }
    }
}
