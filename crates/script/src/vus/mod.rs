//! The crew: a worker's VUs, kept busy by the scenarios' executors. It is [`VirtualUsers`] to the engine: what scripts ask for goes
//! out, and what became of it comes back in.
//!
//! ```text
//! poll(now):  answers ▸ sleepers ▸ scenarios (who begins an iteration, who has to stop) ─▶ asks, and when to come back
//! ```

mod cable;
mod control;
mod digest;
mod exchange;
mod failure;
mod http_plan;
mod live;
mod outcome;
mod parts;
mod ramp;
mod samples;
mod seat;
mod slot;
mod sockets;
mod system;
mod targets;
mod turns;
mod wake;
mod work;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use metrics::tally::MetricId;
use stdx::Nanos;
use workload::arrival::Shard;
use workload::executor::Scenario;
use workload::{
    Backpressure, Commands, EngineResponse, Pipe, PipeEvent, PollBudget, Segment, StopMode,
    VirtualUsers,
};

use crate::host::action::{Answer, Asked};
use crate::host::execution::Halt;
use crate::host::traits::{Host as _, Level, LogFields};
use crate::loader::program::Program;
use crate::runtime::context::{Sample, Stage, TagList};
use crate::runtime::exception::Exception;
use crate::runtime::realm::Realm;
use crate::runtime::vu::Vu;

pub use self::control::Control;
use self::control::Counters;
use self::exchange::Exchange;
pub use self::http_plan::{Debug, HttpPlan, Pace};
pub use self::live::Live;
use self::live::TELL_EVERY;
pub use self::outcome::Outcome;
pub use self::parts::PartTallies;
use self::samples::Recorder;
pub use self::samples::{Emit, Point, PointTags};
use self::seat::World;
use self::slot::{Post, Slot, Whose};
use self::sockets::{Opening, Sockets};
pub use self::system::{SystemTag, SystemTags};
use self::targets::KnownTargets;
pub use self::turns::SCRIPT_HINT;
use self::work::Work;

/// The time since any fixed moment.
pub type Clock = Arc<dyn Fn() -> Nanos + Send + Sync>;
/// Takes a line of the log: how grave it is, what it says, and its fields in the order of their names.
pub type Log = Arc<dyn Fn(Level, &str, LogFields<'_>) + Send + Sync>;

/// What a crew is to do.
#[derive(Clone)]
pub struct CrewPlan {
    /// The script.
    pub program: Program,
    /// When iterations begin.
    pub scenarios: Vec<Scenario>,
    /// The part of the test that is ours.
    pub segment: Segment,
    /// What they are to the script.
    pub stage: Stage,
    /// What there was of the test before.
    pub earlier: Earlier,
    /// What `setup` returned, as JSON.
    pub data: Option<Arc<str>>,
    /// How many redirects are followed where a request does not say.
    pub max_redirects: u32,
    /// Bodies are not shown to scripts unless a request wants them.
    pub discard_bodies: bool,
    /// The `User-Agent` of requests that name none.
    pub user_agent: String,
    /// What requests have in common besides.
    pub http: HttpPlan,
    /// How many requests of a batch are under way at once, in all and to one host; 0 for no limit.
    pub batch: (usize, usize),
    /// Who was refused a WebSocket waits before its next iteration, the longer the more often.
    pub backs_off: bool,
    /// An iteration takes at least this long.
    pub min_iteration: Nanos,
    /// Empty metrics, with the submetrics that thresholds want.
    pub tally: metrics::tally::Tally,
    /// Scenarios and groups are counted on their own as well.
    pub parts: bool,
    /// Tags of all samples.
    pub tags: TagList,
    /// Which of k6's own tags samples have.
    pub system_tags: SystemTags,
    /// Takes each sample, where there are outputs.
    pub emit: Option<Emit>,
    /// Who wants to know the metrics while the work goes on.
    pub live: Option<Arc<Live>>,
    /// The time.
    pub clock: Clock,
    /// The log.
    pub log: Log,
    /// Where what was seen goes once all is over.
    pub outcome: Arc<Mutex<Outcome>>,
    /// What all crews share.
    pub control: Arc<Control>,
    /// The test's options, as `exec.test.options` has them: JSON.
    pub options: Option<Arc<str>>,
    /// What the wall clock said when `clock` said 0, in milliseconds since 1970.
    pub unix_ms: f64,
}

impl CrewPlan {
    /// The time since 1970.
    pub(crate) fn unix_time(&self) -> Nanos {
        Nanos((self.unix_ms * 1e6) as u64).saturating_add((self.clock)())
    }
}

/// k6's limit of a request.
const TIMEOUT: Nanos = Nanos::from_secs(60);
/// `vus` and `vus_max` are seen this often, from the test's beginning on.
const GAUGE_STEP: Nanos = Nanos::SECOND;

/// What a test was before a stage of it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// How long it had gone on.
    pub elapsed: Nanos,
    /// How many VUs it had; those that have not come yet count.
    pub vus: u64,
}

/// The users of one worker.
#[must_use]
pub fn crew(plan: &CrewPlan, shard: Shard) -> Box<dyn VirtualUsers> {
    Box::new(Crew::new(plan.clone(), shard))
}

/// What was sent and is not answered.
enum Sent {
    Http(Exchange),
    Socket(Box<Opening>),
}

/// One worker's VUs.
struct Crew {
    plan: CrewPlan,
    shard: Shard,
    world: Rc<World>,
    /// What its VUs share, or why there is none.
    realm: Result<Rc<Realm>, Exception>,
    slots: Vec<Slot>,
    /// What `setup` returned.
    data: Option<Rc<str>>,
    /// When each scenario's last iteration has ended, from the start.
    ends: Vec<Nanos>,
    /// What others may see of this crew.
    counters: Arc<Counters>,
    /// When the gauges are seen next, from the test's beginning on.
    gauges_at: Nanos,
    /// When those who want to know the metrics are told next.
    tell_at: Nanos,
    /// The scenarios' own state, by their number.
    works: Vec<Work>,
    /// When the scenarios' clock began.
    zero: Option<Nanos>,
    /// Answers that wait for their VU.
    answers: VecDeque<(Whose, Answer)>,
    /// What redirects ask for.
    redirects: VecDeque<(Whose, Exchange)>,
    /// What is sent once the rate of requests allows it, and when.
    held: VecDeque<(Nanos, Whose, Exchange)>,
    /// Who is to be woken, and when.
    sleepers: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// What was sent, by its number; each number is answered once.
    sent: Vec<Option<(Whose, Sent)>>,
    /// Numbers that are free.
    free: Vec<u32>,
    /// What is to be sent.
    commands: Commands,
    /// What may still be begun in this poll.
    budget: PollBudget,
    sockets: Sockets,
    targets: KnownTargets,
    /// What a VU asked for.
    asked: Vec<Asked>,
    samples: Vec<Sample>,
    recorder: Recorder,
    seen: Outcome,
    stopping: Option<StopMode>,
}

impl std::fmt::Debug for Crew {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Crew").field("vus", &self.slots.len()).finish_non_exhaustive()
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        let mut outcome = self.plan.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        self.seen.samples_dropped = self.slots.iter().map(|slot| slot.vu.samples_dropped()).sum();
        self.recorder.flush(0);
        self.seen.parts = self.recorder.parts();
        outcome.merge(&self.seen);
    }
}

impl VirtualUsers for Crew {
    fn poll(&mut self, now: Nanos, commands: &mut Commands) -> Option<Nanos> {
        let zero = *self.zero.get_or_insert_with(|| {
            self.plan.control.begin((self.plan.clock)());
            now
        });
        self.budget = commands.budget;
        self.world.set_zero(zero);
        self.world.set_now(now);
        while let Some((whose, answer)) = self.answers.pop_front() {
            self.answered(whose, answer, now);
        }
        while let Some((whose, exchange)) = self.redirects.pop_front() {
            if self.is_wanted(whose) {
                self.send(whose, exchange);
            }
        }
        while let Some((_, whose, exchange)) = self.held.pop_front_if(|(at, ..)| *at <= now) {
            if self.is_wanted(whose) {
                self.send_now(whose, exchange);
            }
        }
        self.wake_sleepers(now);
        self.work(now, zero);
        self.publish();
        self.gauge(now, zero);
        self.tell(now);
        // The caller has done all that it was told before.
        std::mem::swap(commands, &mut self.commands);
        let told = self.plan.live.as_ref().map(|_| self.tell_at);
        self.next_wake(now, zero).into_iter().chain(told).min()
    }

    fn handle_response(&mut self, user: u32, reply: &EngineResponse<'_>) {
        let Some((whose, sent)) = self.sent.get_mut(user as usize).and_then(Option::take) else {
            return;
        };
        self.free.push(user);
        if !self.is_wanted(whose) {
            reply.pipe.into_iter().for_each(|pipe| self.commands.close(pipe));
            return;
        }
        let slot = &mut self.slots[whose.slot];
        slot.bytes = (slot.bytes.0 + reply.bytes_out, slot.bytes.1 + reply.wire_in);
        let exchange = match sent {
            Sent::Http(exchange) => exchange,
            Sent::Socket(opening) => return self.opened(whose, *opening, reply),
        };
        let (sampled, at) = (slot.sampled(), self.world.sampled_at());
        self.recorder.http(&mut self.seen.tally, sampled, (&exchange, reply), at);
        if let Some(debug) = self.plan.http.debug {
            let (asked, answered) = exchange.shown(reply, debug == Debug::Full);
            let fields = [("source", "http-debug")];
            (self.plan.log)(Level::Info, &asked, &fields);
            (self.plan.log)(Level::Info, &answered, &fields);
        }
        match exchange.next(reply, &self.plan) {
            Some(next) => self.redirects.push_back((whose, next)),
            None => self.answers.push_back((whose, Answer::Http(exchange.answer(reply)))),
        }
    }

    fn handle_pipe_event(&mut self, pipe: Pipe, now: Nanos, what: PipeEvent<'_>) -> Backpressure {
        self.heard(pipe, now, what)
    }

    fn stop(&mut self, ending: StopMode) {
        self.stopping = self.stopping.max(Some(ending));
    }

    fn is_over(&self) -> bool {
        self.works.iter().all(Work::is_over)
    }
}

impl Crew {
    fn new(plan: CrewPlan, shard: Shard) -> Self {
        let world = Rc::new(World::new(&plan));
        let recorder = Recorder::new(&plan);
        let realm = Realm::new(&plan.program);
        let work = |(at, scenario): (usize, &Scenario)| {
            let (function, role) = (scenario.exec.as_str().into(), work::role(&plan, at));
            let duration = scenario.executor.duration_of(plan.segment.vus());
            Work::new(Post { function, role }, duration)
        };
        let works = plan.scenarios.iter().enumerate().map(work).collect();
        let seen = Outcome { tally: plan.tally.clone(), ..Outcome::default() };
        let mut crew = Self {
            shard,
            world,
            realm,
            slots: Vec::new(),
            data: plan.data.as_deref().map(Into::into),
            ends: plan.scenarios.iter().map(Scenario::end).collect(),
            counters: plan.control.join(),
            gauges_at: GAUGE_STEP * (plan.earlier.elapsed.0 / GAUGE_STEP.0 + 1),
            tell_at: Nanos::ZERO,
            works,
            zero: None,
            answers: VecDeque::new(),
            redirects: VecDeque::new(),
            held: VecDeque::new(),
            sleepers: BinaryHeap::new(),
            sent: Vec::new(),
            free: Vec::new(),
            commands: Commands::default(),
            budget: PollBudget::default(),
            sockets: Sockets::default(),
            targets: KnownTargets::default(),
            asked: Vec::new(),
            samples: Vec::new(),
            recorder,
            seen,
            stopping: None,
            plan,
        };
        crew.fill();
        crew
    }

    /// Makes the VUs that scenarios want from the start: this worker's share of them.
    fn fill(&mut self) {
        let Shard { first, step } = self.shard;
        let is_test = self.plan.stage == Stage::Iteration;
        for number in (first..self.plan.control.staff.total).step_by(step as usize) {
            // `setup` and `teardown` are called by nobody.
            if self.hire(if is_test { number + 1 } else { 0 }).is_none() {
                return;
            }
        }
        self.publish();
    }

    /// Where a VU is that was made at the start, if it is on this worker.
    fn slot_of(&self, number: u64) -> Option<usize> {
        let Shard { first, step } = self.shard;
        let at = (number - 1).checked_sub(first).filter(|at| at.is_multiple_of(step))? / step;
        Some(at as usize).filter(|at| *at < self.slots.len())
    }

    /// Makes a VU; gives its place.
    fn hire(&mut self, number: u64) -> Option<usize> {
        self.budget.spend(PollBudget::CONNECTION);
        let host = Rc::clone(&self.world) as Rc<dyn crate::Host>;
        let vu = self.realm.clone().and_then(|realm| Vu::new(&realm, host, number));
        match vu {
            Ok(vu) => {
                self.slots.push(Slot::new(vu, number));
                Some(self.slots.len() - 1)
            }
            Err(exception) => {
                self.plan.control.halt(Halt::Broken(exception.text.clone()));
                self.note(exception, None);
                None
            }
        }
    }

    /// Tells others how far this crew is.
    fn publish(&self) {
        let Counters { completed, interrupted, active, initialized } = &*self.counters;
        completed.store(self.seen.iterations, Ordering::Relaxed);
        interrupted.store(self.seen.interrupted, Ordering::Relaxed);
        active.store(self.active() as u64, Ordering::Relaxed);
        initialized.store(self.slots.len() as u64, Ordering::Relaxed);
    }

    /// The first crew counts how many VUs all have. None of them works in `setup` and `teardown`.
    fn gauge(&mut self, now: Nanos, zero: Nanos) {
        let elapsed = self.plan.earlier.elapsed.saturating_add(now.saturating_sub(zero));
        if !self.gauges() || elapsed < self.gauges_at {
            return;
        }
        self.gauges_at = GAUGE_STEP * (elapsed.0 / GAUGE_STEP.0 + 1);
        let (active, all) = match self.plan.stage {
            Stage::Iteration => {
                let seen = self.plan.control.instance();
                (seen.active, seen.initialized)
            }
            _ => (0, self.plan.earlier.vus),
        };
        let at = self.world.sampled_at();
        for (metric, value) in [(MetricId::VUS, active), (MetricId::VUS_MAX, all)] {
            self.recorder.gauge(&mut self.seen.tally, at, metric, value as f64);
        }
    }

    /// Whether it is this crew that counts VUs.
    fn gauges(&self) -> bool {
        let stages = [Stage::Setup, Stage::Iteration, Stage::Teardown];
        self.shard.first == 0 && stages.contains(&self.plan.stage)
    }

    /// Tells those who want to know the metrics, if it is time.
    fn tell(&mut self, now: Nanos) {
        if let Some(live) = self.plan.live.as_ref().filter(|_| now >= self.tell_at) {
            self.tell_at = now.saturating_add(TELL_EVERY);
            live.tell(self.shard.first, &self.seen.tally);
        }
    }
}
