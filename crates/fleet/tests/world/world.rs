//! `World`: agents with clocks of their own, a coordinator with a journal, and links between them that lose, double and delay.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fleet::{
    Agent, AgentConfig, AgentInput, AgentOutput, Assignment, Config, Coordinator, Digest, Epoch,
    FromAgent, FromCoordinator, Hello, Incarnation, Input, Name, Output, Policy, Record,
};
use stdx::{Nanos, Prng};

use crate::load::{Load, SECOND};
use crate::oracles::Oracles;
use crate::plan::{Fault, Plan};

const TICK: u64 = SECOND / 4;

/// The archive of every run.
const ARCHIVE: Digest = Digest([3; 32]);

/// A process of an agent.
pub(crate) struct Host {
    pub(crate) agent: Agent,
    pub(crate) epoch: Epoch,
    pub(crate) load: Option<Load>,
    pub(crate) alive: bool,
    /// The true time until which it stands still, and what reached it meanwhile.
    paused_until: u64,
    cut_until: u64,
    ahead: u64,
    drift_ppm: i64,
}

impl Host {
    /// The agent's clock.
    pub(crate) fn clock(&self, now: u64) -> Nanos {
        let drift = i128::from(now) * i128::from(self.drift_ppm) / 1_000_000;
        Nanos((i128::from(now) + i128::from(self.ahead) + drift) as u64)
    }

    /// The true time of an instant of the agent's clock.
    fn true_time(&self, at: Nanos) -> u64 {
        let since = i128::from(at.0) - i128::from(self.ahead);
        (since * 1_000_000 / (1_000_000 + i128::from(self.drift_ppm))).max(0) as u64
    }
}

/// What happens at a time.
#[derive(Clone, Debug)]
enum Event {
    Tick,
    AgentTick(usize),
    ToAgent(usize, FromCoordinator),
    ToCoordinator(usize, FromAgent),
    /// The journal of this incarnation is on disk up to this record.
    Written(u64, u64),
    Prepared(usize, Epoch),
    Measure(usize, Epoch),
    /// The agent's load comes to its barrier of this number.
    Barrier(usize, Epoch, u32),
    Fault(Fault),
    /// The coordinator's next process begins.
    Restore,
    /// The agent's next process begins.
    Rejoin(usize),
}

struct Scheduled(u64, u64, Event);

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        (self.0, self.1) == (other.0, other.1)
    }
}

impl Eq for Scheduled {}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0, self.1).cmp(&(other.0, other.1))
    }
}

/// A simulated run.
pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) now: u64,
    pub(crate) hosts: Vec<Host>,
    pub(crate) names: Vec<Name>,
    pub(crate) oracles: Oracles,
    rng: Prng,
    queue: BinaryHeap<Reverse<Scheduled>>,
    serial: u64,
    coordinator: Option<Coordinator>,
    incarnation: u64,
    /// Records on disk, and those on the way there.
    disk: Vec<Record>,
    buffer: Vec<Record>,
    bus_down_until: u64,
    epochs: u64,
}

impl World {
    pub(crate) fn new(seed: u64, plan: Plan) -> Self {
        let names: Vec<Name> =
            (0..plan.agents).map(|at| Name::new(&format!("agent-{at:03}")).unwrap()).collect();
        let mut world = Self {
            oracles: Oracles::new(names.len()),
            now: 0,
            hosts: Vec::new(),
            names,
            rng: Prng::new(seed ^ 0x9e37_79b9),
            queue: BinaryHeap::new(),
            serial: 0,
            coordinator: None,
            incarnation: 0,
            disk: Vec::new(),
            buffer: Vec::new(),
            bus_down_until: 0,
            epochs: 0,
            plan,
        };
        for at in 0..world.plan.agents {
            let host = world.host();
            world.hosts.push(host);
            let first = world.rng.below(SECOND);
            world.schedule(first, Event::AgentTick(at));
        }
        for (at, fault) in world.plan.faults.clone() {
            world.schedule(at, Event::Fault(fault));
        }
        world.restore();
        world.schedule(0, Event::Tick);
        world
    }

    /// Runs until the run is over and its agents left, or a time that no run may take has passed.
    pub(crate) fn run(&mut self) {
        let limit = (self.plan.seconds + 240) * SECOND;
        while let Some(Reverse(Scheduled(at, _, event))) = self.queue.pop() {
            self.now = at;
            if at > limit || self.oracles.is_over() && at > self.oracles.over_at() + 30 * SECOND {
                break;
            }
            self.happen(event);
        }
    }

    fn host(&mut self) -> Host {
        self.epochs += 1;
        let epoch = Epoch(self.epochs);
        let cores = 1 + self.rng.below(16) as u32;
        let hello = Hello { version: "0.1.0".to_owned(), cores, labels: Vec::new() };
        let ahead = self.rng.below(1_000_000 * SECOND);
        let drift_ppm = self.rng.below(200) as i64 - 100;
        let config =
            AgentConfig { epoch, hello, spool_bytes_max: 1 << 20, alone_max: Nanos(60 * SECOND) };
        let clock = Nanos(self.now + ahead);
        Host {
            agent: Agent::new(config, clock),
            epoch,
            load: None,
            alive: true,
            paused_until: 0,
            cut_until: 0,
            ahead,
            drift_ppm,
        }
    }

    fn schedule(&mut self, at: u64, event: Event) {
        self.serial += 1;
        self.queue.push(Reverse(Scheduled(at.max(self.now), self.serial, event)));
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Tick => {
                self.schedule(self.now + TICK, Event::Tick);
                // Its host knows when the bus is away.
                let is_deaf = self.now < self.bus_down_until;
                self.coordinate(if is_deaf { Input::Deaf } else { Input::Tick });
            }
            Event::AgentTick(at) => {
                self.schedule(self.now + TICK, Event::AgentTick(at));
                self.act(at, AgentInput::Tick);
            }
            Event::ToAgent(at, message) => self.deliver(at, message),
            Event::ToCoordinator(at, message) => {
                let name = self.names[at].clone();
                self.coordinate(Input::Message(&name, &message));
            }
            Event::Written(incarnation, number) => self.written(incarnation, number),
            Event::Prepared(at, epoch) if self.hosts[at].epoch == epoch => {
                self.oracles.ready(at);
                self.act(at, AgentInput::Prepared(Ok(())));
            }
            Event::Measure(at, epoch) if self.hosts[at].epoch == epoch => self.measure(at),
            Event::Barrier(at, epoch, number) if self.hosts[at].epoch == epoch => {
                self.reach(at, number);
            }
            Event::Prepared(..) | Event::Measure(..) | Event::Barrier(..) => {}
            Event::Fault(fault) => self.fail(fault),
            Event::Restore => self.restore(),
            Event::Rejoin(at) => {
                let host = self.host();
                self.oracles.replaced(at, std::mem::replace(&mut self.hosts[at], host));
            }
        }
    }

    fn fail(&mut self, fault: Fault) {
        match fault {
            Fault::Kill(at) => {
                self.hosts[at].alive = false;
                self.schedule(self.now + SECOND, Event::Rejoin(at));
            }
            Fault::Pause(at, long) => self.hosts[at].paused_until = self.now + long,
            Fault::Partition(at, long) => self.hosts[at].cut_until = self.now + long,
            Fault::BusDown(long) => self.bus_down_until = self.now + long,
            Fault::Abort => self.coordinate(Input::Abort("the user's".to_owned())),
            Fault::Restart(long) => {
                self.coordinator = None;
                self.buffer.clear();
                self.schedule(self.now + long, Event::Restore);
            }
            Fault::TakeOver => {
                // The journal refuses the old one's next record; what it had not written is lost with it.
                if let Some(mut old) = self.coordinator.take() {
                    let mut out = Vec::new();
                    old.handle(Nanos(self.now), Input::Fenced, &mut out);
                    old.handle(Nanos(self.now), Input::Tick, &mut out);
                    assert_eq!(out, [], "a fenced coordinator is silent");
                }
                self.buffer.clear();
                self.restore();
            }
        }
    }

    fn restore(&mut self) {
        if self.coordinator.is_some() {
            return;
        }
        self.incarnation += 1;
        let policy = if self.plan.goes_on { Policy::GoOn } else { Policy::Fail };
        let config = Config {
            run: Name::new("run").unwrap(),
            incarnation: Incarnation(self.incarnation),
            version: "0.1.0".to_owned(),
            agents: Some(self.plan.agents),
            archive: ARCHIVE,
            setup: None,
            ready_within: Nanos(30 * SECOND),
            lead: Nanos(2 * SECOND),
            drain_within: Nanos(30 * SECOND),
            policy,
        };
        let mut out = Vec::new();
        self.oracles.restarted();
        let journal = self.disk.clone();
        let coordinator = Coordinator::restore(config, Nanos(self.now), journal, &mut out);
        self.coordinator = Some(coordinator);
        self.carry_out(out);
    }

    fn coordinate(&mut self, input: Input<'_>) {
        let Some(coordinator) = &mut self.coordinator else { return };
        let mut out = Vec::new();
        coordinator.handle(Nanos(self.now), input, &mut out);
        self.oracles.backlog(coordinator.backlog());
        self.carry_out(out);
    }

    fn carry_out(&mut self, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Send(name, message) => {
                    if let Ok(at) = self.names.binary_search(&name) {
                        self.transmit(at, Event::ToAgent(at, message));
                    }
                }
                Output::Append(record) => {
                    self.buffer.push(record);
                    let number = (self.disk.len() + self.buffer.len()) as u64;
                    let at = self.now + self.rng.below(self.plan.disk_max + 1);
                    self.schedule(at, Event::Written(self.incarnation, number));
                }
                Output::Merge(name, delta) => {
                    let at = self.names.binary_search(&name).unwrap();
                    self.oracles.merge(at, &delta);
                }
                Output::Phase(phase) => self.oracles.phase(self.now, phase),
                Output::Over(outcome) => self.oracles.over(self.now, outcome),
            }
        }
    }

    fn written(&mut self, incarnation: u64, number: u64) {
        let fresh = (number as usize).saturating_sub(self.disk.len());
        if incarnation != self.incarnation || self.coordinator.is_none() || fresh == 0 {
            return;
        }
        self.disk.extend(self.buffer.drain(..fresh));
        self.coordinate(Input::Written(number));
    }

    /// Sends a message over a link that may lose, double and delay it.
    fn transmit(&mut self, at: usize, event: Event) {
        let is_cut = self.now < self.bus_down_until || self.now < self.hosts[at].cut_until;
        if is_cut || self.rng.below(100) < self.plan.lost {
            return;
        }
        if self.rng.below(100) < self.plan.doubled {
            let way = self.rng.below(4 * self.plan.delay_max + 1);
            self.schedule(self.now + way, event.clone());
        }
        let way = self.rng.below(self.plan.delay_max + 1);
        self.schedule(self.now + way, event);
    }

    fn deliver(&mut self, at: usize, message: FromCoordinator) {
        let host = &self.hosts[at];
        if host.alive && self.now < host.paused_until {
            let later = host.paused_until;
            self.schedule(later, Event::ToAgent(at, message));
            return;
        }
        self.act(at, AgentInput::Message(&message));
    }

    fn act(&mut self, at: usize, input: AgentInput<'_>) {
        let host = &mut self.hosts[at];
        if !host.alive || self.now < host.paused_until {
            return;
        }
        let mut out = Vec::new();
        host.agent.handle(host.clock(self.now), input, &mut out);
        self.oracles.spool(host.agent.spool().bytes());
        for output in out {
            self.agent_output(at, output);
        }
    }

    fn agent_output(&mut self, at: usize, output: AgentOutput) {
        let clock = self.hosts[at].clock(self.now);
        match output {
            AgentOutput::Send(message) => self.transmit(at, Event::ToCoordinator(at, message)),
            AgentOutput::Prepare(assignment) => self.prepare(at, &assignment),
            AgentOutput::StartLoad { at: start } => self.start(at, start),
            AgentOutput::SkipOverdue { before } => {
                if let Some(load) = &mut self.hosts[at].load {
                    let (interval, counts, payload) = load.skip(before);
                    self.act(at, AgentInput::Delta(interval, counts, payload));
                }
            }
            AgentOutput::Pass { barrier, at: instant } => {
                let instant = self.hosts[at].true_time(instant);
                self.oracles.passed(at, barrier, instant);
                let next = self.now.max(instant) + self.rng.below(2 * SECOND);
                self.schedule(next, Event::Barrier(at, self.hosts[at].epoch, barrier + 1));
            }
            AgentOutput::StopLoad(_) => {
                let host = &mut self.hosts[at];
                if let Some(load) = &mut host.load {
                    load.stop(clock);
                }
                self.measure(at);
            }
            AgentOutput::Leave => {}
        }
    }

    fn prepare(&mut self, at: usize, assignment: &Assignment) {
        assert_eq!(assignment.archive, ARCHIVE);
        assignment.share.segment().unwrap();
        let long = self.rng.below(2 * SECOND);
        let epoch = self.hosts[at].epoch;
        self.schedule(self.now + long, Event::Prepared(at, epoch));
    }

    fn start(&mut self, at: usize, start: Nanos) {
        let seed = self.rng.next_u64();
        self.oracles.started(self.hosts[at].true_time(start));
        let host = &mut self.hosts[at];
        assert!(host.load.is_none(), "an agent's process starts once");
        let load = Load::new(start, self.plan.rate, self.plan.seconds, seed);
        host.load = Some(load);
        let (first, epoch) = (host.true_time(Nanos(start.0 + SECOND)), host.epoch);
        self.schedule(first, Event::Measure(at, epoch));
        let barrier = first + self.rng.below(SECOND);
        self.schedule(barrier, Event::Barrier(at, epoch, 1));
    }

    fn reach(&mut self, at: usize, number: u32) {
        let host = &self.hosts[at];
        if !host.alive || self.oracles.has_ended(host.epoch) {
            return;
        }
        if self.now < host.paused_until {
            let later = host.paused_until;
            self.schedule(later, Event::Barrier(at, host.epoch, number));
            return;
        }
        self.oracles.reached(at, number);
        self.act(at, AgentInput::AtBarrier(number));
    }

    fn measure(&mut self, at: usize) {
        let (now, clock) = (self.now, self.hosts[at].clock(self.now));
        let host = &mut self.hosts[at];
        let Some(load) = host.load.as_mut().filter(|_| host.alive) else { return };
        let epoch = host.epoch;
        if now < host.paused_until {
            let later = host.paused_until + SECOND;
            self.schedule(later, Event::Measure(at, epoch));
            return;
        }
        if self.oracles.has_ended(epoch) {
            return;
        }
        let (interval, counts, payload, is_last) = load.measure(clock);
        if is_last {
            self.oracles.ended(now, epoch);
        } else {
            self.schedule(now + SECOND, Event::Measure(at, epoch));
        }
        self.act(at, AgentInput::Delta(interval, counts, payload));
        if is_last {
            self.act(at, AgentInput::Ended);
        }
    }
}
