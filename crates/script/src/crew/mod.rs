//! The crew: a worker's VUs, kept busy by the scenarios' executors. It is [`Users`] to the engine: what scripts ask for goes
//! out, and what became of it comes back in.
//!
//! ```text
//! poll(now):  answers ▸ sleepers ▸ scenarios (who begins an iteration, who has to stop) ─▶ asks, and when to come back
//! ```

mod exchange;
mod outcome;
mod samples;
mod seat;
mod system;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use metrics::tally::MetricId;
use stdx::Nanos;
use workload::arrival::Lane;
use workload::executor::{Executor, Scenario};
use workload::{Ask, Ending, Reply, Users};

use crate::action::{Action, Answer, Asked, HttpAnswer, Ticket};
use crate::exception::Exception;
use crate::host::{Host as _, Level};
use crate::options::end;
use crate::program::Program;
use crate::realm::Realm;
use crate::seat::{Sample, Stage, TagList};
use crate::vu::{Call, Turn, Vu};

use self::exchange::Exchange;
pub use self::outcome::Outcome;
use self::samples::{Around, Recorder, Sampled};
pub use self::samples::{Emit, Point, PointTags};
use self::seat::World;
pub use self::system::{SystemTag, SystemTags};

/// The time since any fixed moment.
pub type Clock = Arc<dyn Fn() -> Nanos + Send + Sync>;
/// Takes a line of the log: how grave it is, what it came from, what it says.
pub type Log = Arc<dyn Fn(Level, &str, &str) + Send + Sync>;

/// What a crew is to do.
#[derive(Clone)]
pub struct CrewPlan {
    /// The script.
    pub program: Program,
    /// When iterations begin.
    pub scenarios: Vec<Scenario>,
    /// What they are to the script.
    pub stage: Stage,
    /// What `setup` returned, as JSON.
    pub data: Option<Arc<str>>,
    /// How many redirects are followed where a request does not say.
    pub max_redirects: u32,
    /// Bodies are not shown to scripts unless a request wants them.
    pub discard_bodies: bool,
    /// The `User-Agent` of requests that name none.
    pub user_agent: String,
    /// How many requests of a batch are under way at once, in all and to one host; 0 for no limit.
    pub batch: (usize, usize),
    /// An iteration takes at least this long.
    pub min_iteration: Nanos,
    /// Empty metrics, with the submetrics that thresholds want.
    pub tally: metrics::tally::Tally,
    /// Tags of all samples.
    pub tags: TagList,
    /// Which of k6's own tags samples have.
    pub system_tags: SystemTags,
    /// Takes each sample, where there are outputs.
    pub emit: Option<Emit>,
    /// The time.
    pub clock: Clock,
    /// The log.
    pub log: Log,
    /// Where what was seen goes once all is over.
    pub outcome: Arc<Mutex<Outcome>>,
    /// Iterations that were begun of each scenario, where VUs share them.
    pub begun: Arc<Vec<AtomicU64>>,
}

/// What lines of exceptions come from.
const STACK: &str = "stacktrace";
/// k6's limit of a request.
const TIMEOUT: Nanos = Nanos::from_secs(60);
/// While the number of VUs changes it is looked at this often.
const RAMP_STEP: Nanos = Nanos::from_millis(10);

/// The users of one worker.
#[must_use]
pub fn crew(plan: &CrewPlan, lane: Lane) -> Box<dyn Users> {
    Box::new(Crew::new(plan.clone(), lane))
}

/// One worker's VUs.
struct Crew {
    plan: CrewPlan,
    lane: Lane,
    world: Rc<World>,
    /// What its VUs share, or why there is none.
    realm: Result<Rc<Realm>, Exception>,
    slots: Vec<Slot>,
    /// The scenarios' own state, by their number.
    works: Vec<Work>,
    /// When the scenarios' clock began.
    zero: Option<Nanos>,
    /// Answers that wait for their VU.
    answers: VecDeque<(Whose, Box<HttpAnswer>)>,
    /// What redirects ask for.
    redirects: VecDeque<(Whose, Exchange)>,
    /// Who is to be woken, and when.
    sleepers: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// What was sent, by its number; each number is answered once.
    sent: Vec<Option<(Whose, Exchange)>>,
    /// Numbers that are free.
    free: Vec<u32>,
    /// What is to be sent.
    asks: Vec<Ask>,
    /// What a VU asked for.
    asked: Vec<Asked>,
    samples: Vec<Sample>,
    recorder: Recorder,
    seen: Outcome,
    stopping: Option<Ending>,
}

/// A VU and what it is doing.
struct Slot {
    vu: Vu,
    scenario: usize,
    /// Its number within the scenario, from 0, over all workers.
    index: u64,
    iterations: u64,
    state: State,
    /// When it is to be woken.
    until: Option<Nanos>,
    /// When it will be: the first of its places among the sleepers.
    alarm: Option<Nanos>,
    /// Its number in the test.
    number: u64,
    /// Bytes sent and received in this iteration.
    bytes: (u64, u64),
}

impl Slot {
    /// Whose samples are its.
    fn sampled(&self) -> Sampled {
        let iteration = self.iterations.saturating_sub(1);
        Sampled { work: self.scenario, vu: self.number, iteration }
    }
}

/// Who waits for what: a VU in one of its iterations, with the ticket of what it asked for.
#[derive(Clone, Copy, Debug)]
struct Whose {
    slot: usize,
    iteration: u64,
    ticket: Ticket,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    /// In an iteration that began then.
    Busy(Nanos),
    /// It rests, since its iteration was too short.
    Resting,
}

/// A scenario under way on this worker.
#[derive(Debug, Default)]
struct Work {
    /// The number of the next iteration of an arrival rate, among this worker's.
    next: u64,
    over: bool,
    /// Its VUs that are in an iteration, and those that may begin one.
    busy: usize,
    idle: usize,
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
        outcome.merge(&self.seen);
    }
}

impl Users for Crew {
    fn poll(&mut self, now: Nanos, asks: &mut Vec<Ask>) -> Option<Nanos> {
        let zero = *self.zero.get_or_insert(now);
        self.world.set_now(now);
        while let Some((whose, answer)) = self.answers.pop_front() {
            self.answered(whose, Answer::Http(answer), now);
        }
        while let Some((whose, exchange)) = self.redirects.pop_front() {
            if self.is_wanted(whose) {
                self.send(whose, exchange);
            }
        }
        self.wake_sleepers(now);
        for work in 0..self.works.len() {
            self.work(work, now, zero);
        }
        asks.append(&mut self.asks);
        self.next_wake(now, zero)
    }

    fn answer(&mut self, user: u32, reply: &Reply<'_>) {
        let Some((whose, exchange)) = self.sent.get_mut(user as usize).and_then(Option::take)
        else {
            return;
        };
        self.free.push(user);
        if !self.is_wanted(whose) {
            return;
        }
        let slot = &mut self.slots[whose.slot];
        slot.bytes = (slot.bytes.0 + reply.bytes_out, slot.bytes.1 + reply.wire_in);
        let (sampled, at) = (slot.sampled(), self.world.sampled_at());
        self.recorder.http(&mut self.seen.tally, sampled, &exchange, reply, at);
        match exchange.redirected(reply) {
            Some(next) => self.redirects.push_back((whose, next)),
            None => self.answers.push_back((whose, exchange.answer(reply))),
        }
    }

    fn stop(&mut self, ending: Ending) {
        self.stopping = self.stopping.max(Some(ending));
    }

    fn is_over(&self) -> bool {
        self.works.iter().all(|work| work.over && work.busy == 0)
    }
}

impl Crew {
    fn new(plan: CrewPlan, lane: Lane) -> Self {
        let world = Rc::new(World::new(&plan));
        let recorder = Recorder::new(&plan);
        let realm = Realm::new(&plan.program);
        let works = plan.scenarios.iter().map(|_| Work::default()).collect();
        let seen = Outcome { tally: plan.tally.clone(), ..Outcome::default() };
        let mut crew = Self {
            plan,
            lane,
            world,
            realm,
            slots: Vec::new(),
            works,
            zero: None,
            answers: VecDeque::new(),
            redirects: VecDeque::new(),
            sleepers: BinaryHeap::new(),
            sent: Vec::new(),
            free: Vec::new(),
            asks: Vec::new(),
            asked: Vec::new(),
            samples: Vec::new(),
            recorder,
            seen,
            stopping: None,
        };
        crew.fill();
        crew
    }

    /// Makes the VUs that scenarios want from the start.
    fn fill(&mut self) {
        let mut first = 0;
        for at in 0..self.plan.scenarios.len() {
            let executor = &self.plan.scenarios[at].executor;
            let (vus, most) = match executor {
                Executor::ArrivalRate { vus, vus_max, .. } => (*vus, *vus_max),
                other => (other.vus_max(), other.vus_max()),
            };
            for index in (self.lane.first..vus).step_by(self.lane.step as usize) {
                self.hire(at, index, first + index + 1);
            }
            first += most;
        }
    }

    /// Makes a VU; gives its place.
    fn hire(&mut self, scenario: usize, index: u64, number: u64) -> Option<usize> {
        let host = Rc::clone(&self.world) as Rc<dyn crate::Host>;
        let vu = self.realm.clone().and_then(|realm| Vu::new(&realm, host, number));
        let vu = match vu {
            Ok(vu) => vu,
            Err(exception) => {
                self.note(exception);
                return None;
            }
        };
        self.works[scenario].idle += 1;
        self.slots.push(Slot {
            vu,
            scenario,
            index,
            iterations: 0,
            state: State::Idle,
            until: None,
            alarm: None,
            number,
            bytes: (0, 0),
        });
        Some(self.slots.len() - 1)
    }

    /// Logs what a script threw.
    fn note(&mut self, exception: Exception) {
        (self.plan.log)(Level::Error, STACK, &exception.to_string());
        self.seen.exception.get_or_insert(exception);
    }

    /// A VU has ended its iteration, or its rest: it may begin another.
    fn set_idle(&mut self, slot: usize) {
        let Slot { scenario, state, until, .. } = &mut self.slots[slot];
        *state = State::Idle;
        *until = None;
        self.works[*scenario].idle += 1;
    }

    fn wake_sleepers(&mut self, now: Nanos) {
        while let Some(Reverse((at, slot))) = self.sleepers.peek().copied() {
            if at > now {
                return;
            }
            self.sleepers.pop();
            if self.slots[slot].alarm == Some(at) {
                self.slots[slot].alarm = None;
            }
            match (self.slots[slot].until, self.slots[slot].state) {
                // It has other plans by now.
                (None, _) | (_, State::Idle) => {}
                (Some(until), _) if until > now => self.wake_at(slot, until),
                (Some(_), State::Busy(_)) => self.wake(slot, now),
                (Some(_), State::Resting) => self.set_idle(slot),
            }
        }
    }

    /// A VU is to be woken then. It has few places among the sleepers, however often it changes its mind.
    fn wake_at(&mut self, slot: usize, until: Nanos) {
        let asleep = &mut self.slots[slot];
        asleep.until = Some(until);
        if asleep.alarm.is_none_or(|alarm| until < alarm) {
            asleep.alarm = Some(until);
            self.sleepers.push(Reverse((until, slot)));
        }
    }

    /// Begins and ends iterations of a scenario.
    fn work(&mut self, work: usize, now: Nanos, zero: Nanos) {
        let scenario = &self.plan.scenarios[work];
        let elapsed = now.saturating_sub(zero);
        if self.works[work].over || elapsed < scenario.start {
            return;
        }
        let at = elapsed.saturating_sub(scenario.start);
        let ends_now = self.stopping == Some(Ending::Now) || elapsed >= end(scenario);
        let begins = self.stopping.is_none() && at < scenario.executor.duration();
        match &scenario.executor {
            Executor::ArrivalRate { .. } => self.begin_due(work, at, begins, now),
            _ => self.begin_idle(work, at, begins, now),
        }
        if ends_now {
            self.end_busy(work, |_| true);
        } else if let Executor::RampingVus { graceful_ramp_down, .. } =
            self.plan.scenarios[work].executor
        {
            self.end_ramped(work, at, graceful_ramp_down);
        }
        self.works[work].over = self.works[work].busy == 0 && (!begins || self.is_done(work));
        if self.works[work].over {
            self.count_undone(work);
        }
    }

    /// Whether a scenario has begun all its iterations.
    fn is_done(&self, work: usize) -> bool {
        match &self.plan.scenarios[work].executor {
            Executor::SharedIterations { iterations, .. } => {
                self.plan.begun[work].load(Ordering::Relaxed) >= *iterations
            }
            Executor::PerVuIterations { iterations, .. } => self
                .slots
                .iter()
                .all(|slot| slot.scenario != work || slot.iterations >= *iterations),
            _ => false,
        }
    }

    /// Iterations that were never begun, since the time was up.
    fn count_undone(&mut self, work: usize) {
        let undone = match &self.plan.scenarios[work].executor {
            Executor::PerVuIterations { iterations, .. } => {
                let of = self.slots.iter().filter(|slot| slot.scenario == work);
                of.map(|slot| iterations.saturating_sub(slot.iterations)).sum()
            }
            Executor::SharedIterations { iterations, .. } => {
                // The first who comes here counts them for all.
                let before = self.plan.begun[work].swap(*iterations, Ordering::Relaxed);
                iterations.saturating_sub(before)
            }
            _ => 0,
        };
        self.drop_iterations(work, undone);
    }

    fn drop_iterations(&mut self, work: usize, count: u64) {
        if count > 0 {
            let sampled = Sampled { work, vu: 0, iteration: 0 };
            let outside = Rc::clone(&self.recorder.outside);
            let at = self.world.sampled_at();
            let around = Around { at, group: &outside, vu_tags: None, metadata: None };
            let value = (MetricId::DROPPED_ITERATIONS, count as f64);
            self.recorder.own(&mut self.seen.tally, sampled, &around, &[value]);
        }
    }

    /// Begins an iteration on each idle VU that may.
    fn begin_idle(&mut self, work: usize, at: Nanos, begins: bool, now: Nanos) {
        if !begins || self.works[work].idle == 0 {
            return;
        }
        let active = self.plan.scenarios[work].executor.vus_at(at);
        for slot in 0..self.slots.len() {
            let Slot { scenario, index, iterations, state, .. } = self.slots[slot];
            if scenario != work || state != State::Idle || index >= active {
                continue;
            }
            let granted = match &self.plan.scenarios[work].executor {
                Executor::PerVuIterations { iterations: most, .. } => iterations < *most,
                Executor::SharedIterations { iterations: most, .. } => {
                    let begun = &self.plan.begun[work];
                    let took = begun.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| {
                        (n < *most).then_some(n + 1)
                    });
                    took.is_ok()
                }
                _ => true,
            };
            if granted {
                self.begin(slot, now);
            }
        }
    }

    /// Begins the iterations that are due; those without a free VU are dropped.
    fn begin_due(&mut self, work: usize, at: Nanos, begins: bool, now: Nanos) {
        loop {
            let number = self.lane.first + self.works[work].next * self.lane.step;
            let due = self.plan.scenarios[work].executor.due(number);
            let Some(due) = due.filter(|due| *due <= at && self.stopping.is_none()) else { return };
            self.works[work].next += 1;
            let free = |slot: &Slot| slot.scenario == work && slot.state == State::Idle;
            let slot = self.slots.iter().position(free).or_else(|| self.hire_more(work));
            match slot.filter(|_| begins || due < self.plan.scenarios[work].executor.duration()) {
                Some(slot) => self.begin(slot, now),
                None => self.drop_iterations(work, 1),
            }
        }
    }

    /// One more VU, if the scenario may have one.
    fn hire_more(&mut self, work: usize) -> Option<usize> {
        let Executor::ArrivalRate { vus_max, .. } = self.plan.scenarios[work].executor else {
            return None;
        };
        let mine = self.slots.iter().filter(|slot| slot.scenario == work).count() as u64;
        let index = self.lane.first + mine * self.lane.step;
        if index >= vus_max {
            return None;
        }
        let before: u64 =
            self.plan.scenarios[..work].iter().map(|before| before.executor.vus_max()).sum();
        self.hire(work, index, before + index + 1)
    }

    fn begin(&mut self, slot: usize, now: Nanos) {
        let Slot { scenario: work, iterations, state, .. } = &mut self.slots[slot];
        *state = State::Busy(now);
        let work = *work;
        let scenario = &self.plan.scenarios[work];
        let call = Call {
            stage: self.plan.stage,
            function: scenario.exec.as_str().into(),
            iteration: *iterations,
            data: self.plan.data.as_deref().map(Into::into),
        };
        *iterations += 1;
        self.works[work].idle -= 1;
        self.works[work].busy += 1;
        self.set_deadline(work);
        let turn = self.slots[slot].vu.call(call);
        self.advance(slot, turn, now);
    }

    /// Brings an answer to whom it is for.
    fn answered(&mut self, whose: Whose, answer: Answer, now: Nanos) {
        if !self.is_wanted(whose) {
            return;
        }
        self.set_deadline(self.slots[whose.slot].scenario);
        if let Some(turn) = self.slots[whose.slot].vu.answer(whose.ticket, answer) {
            self.advance(whose.slot, turn, now);
        }
    }

    /// Goes on with a script whose time has come.
    fn wake(&mut self, slot: usize, now: Nanos) {
        self.set_deadline(self.slots[slot].scenario);
        if let Some(turn) = self.slots[slot].vu.wake() {
            self.advance(slot, turn, now);
        }
    }

    /// Whether the iteration that asked is still under way.
    fn is_wanted(&self, whose: Whose) -> bool {
        let slot = &self.slots[whose.slot];
        slot.iterations == whose.iteration && matches!(slot.state, State::Busy(_))
    }

    /// What runs now is interrupted at the end of its own scenario.
    fn set_deadline(&self, work: usize) {
        let zero = self.zero.unwrap_or_default();
        self.world.set_deadline(zero.saturating_add(end(&self.plan.scenarios[work])));
    }

    /// Carries out what a VU came to.
    fn advance(&mut self, slot: usize, turn: Turn, now: Nanos) {
        self.take_samples(slot);
        self.carry_out(slot);
        match turn {
            Turn::Waits { until: Some(until) } => self.wake_at(slot, until),
            Turn::Waits { until: None } => self.slots[slot].until = None,
            Turn::Done(done) => self.finish(slot, done, now),
            Turn::Cut => self.end_cut(slot),
        }
    }

    /// Begins what a VU asked for.
    fn carry_out(&mut self, slot: usize) {
        let mut asked = std::mem::take(&mut self.asked);
        self.slots[slot].vu.take_asked(&mut asked);
        let iteration = self.slots[slot].iterations;
        for Asked { ticket, action } in asked.drain(..) {
            let Action::Http(ask) = action;
            let exchange = Exchange::new(*ask, &self.plan);
            self.send(Whose { slot, iteration, ticket }, exchange);
        }
        self.asked = asked;
    }

    fn send(&mut self, whose: Whose, exchange: Exchange) {
        let user = self.free.pop().unwrap_or_else(|| {
            self.sent.push(None);
            (self.sent.len() - 1) as u32
        });
        let target = Arc::new(exchange.target());
        self.asks.push(Ask {
            user,
            target,
            timeout: exchange.timeout(),
            owner: whose.slot as u32,
            anew: false,
        });
        self.sent[user as usize] = Some((whose, exchange));
    }

    /// An iteration was ended before its end.
    fn end_cut(&mut self, slot: usize) {
        self.works[self.slots[slot].scenario].busy -= 1;
        self.set_idle(slot);
        self.seen.interrupted += 1;
    }

    fn finish(&mut self, slot: usize, done: Result<Option<String>, Exception>, now: Nanos) {
        let State::Busy(began) = self.slots[slot].state else { return };
        let took = self.world.elapsed_since(began);
        match done {
            Ok(returned) => self.seen.returned = returned.or(self.seen.returned.take()),
            Err(exception) => self.note(exception),
        }
        let work = self.slots[slot].scenario;
        self.works[work].busy -= 1;
        self.count_iteration(slot, took);
        if took >= self.plan.min_iteration {
            return self.set_idle(slot);
        }
        self.slots[slot].state = State::Resting;
        self.wake_at(slot, now.saturating_add(self.plan.min_iteration.saturating_sub(took)));
    }

    /// Counts an iteration that came to its end, or a call of `setup` or `teardown`.
    fn count_iteration(&mut self, slot: usize, took: Nanos) {
        let Slot { vu, bytes, .. } = &mut self.slots[slot];
        let (sent, received) = std::mem::take(bytes);
        let (vu_tags, metadata) = vu.tags();
        let around = Around {
            at: self.world.sampled_at(),
            group: self.plan.stage.group(),
            vu_tags: vu_tags.as_deref(),
            metadata: metadata.as_deref(),
        };
        let values = [
            (MetricId::DATA_SENT, sent as f64),
            (MetricId::DATA_RECEIVED, received as f64),
            (MetricId::ITERATION_DURATION, took.0 as f64 / 1e6),
            (MetricId::ITERATIONS, 1.0),
        ];
        let is_iteration = self.plan.stage == Stage::Iteration;
        let values = &values[..if is_iteration { 4 } else { 3 }];
        let sampled = self.slots[slot].sampled();
        self.recorder.own(&mut self.seen.tally, sampled, &around, values);
        self.seen.iterations += u64::from(is_iteration);
    }

    fn take_samples(&mut self, slot: usize) {
        let slot = &self.slots[slot];
        slot.vu.take_samples(&mut self.samples);
        for sample in self.samples.drain(..) {
            self.recorder.script(&mut self.seen.tally, slot.sampled(), &sample);
        }
    }

    /// Ends the iterations of a scenario's VUs that are to.
    fn end_busy(&mut self, work: usize, ends: impl Fn(&Slot) -> bool) {
        for slot in 0..self.slots.len() {
            let busy = matches!(self.slots[slot].state, State::Busy(_));
            if !busy || self.slots[slot].scenario != work || !ends(&self.slots[slot]) {
                continue;
            }
            // Whatever it waits for comes too late.
            self.slots[slot].vu.stop();
            self.take_samples(slot);
            self.end_cut(slot);
        }
    }

    /// Ends the iterations of VUs that have been one too many for longer than they may.
    fn end_ramped(&mut self, work: usize, at: Nanos, grace: Nanos) {
        let executor = &self.plan.scenarios[work].executor;
        let before = at.saturating_sub(grace);
        // Over all of the grace the ramp never needed them.
        let needed = executor.vus_at(before).max(executor.vus_at(at));
        if at > grace && needed < executor.vus_max() && before < executor.duration() {
            self.end_busy(work, |slot| slot.index >= needed);
        }
    }

    /// When there is something to do though nothing was answered.
    fn next_wake(&self, now: Nanos, zero: Nanos) -> Option<Nanos> {
        let mut wake = self.sleepers.peek().map(|Reverse((at, _))| *at);
        let mut at_latest = |at: Nanos| wake = Some(wake.map_or(at, |known| known.min(at)));
        for (work, scenario) in
            self.works.iter().zip(&self.plan.scenarios).filter(|(work, _)| !work.over)
        {
            let begin = zero.saturating_add(scenario.start);
            if now < begin {
                at_latest(begin);
                continue;
            }
            let number = self.lane.first + work.next * self.lane.step;
            match &scenario.executor {
                Executor::RampingVus { .. } => at_latest(now.saturating_add(RAMP_STEP)),
                executor => {
                    if let Some(due) = executor.due(number) {
                        at_latest(begin.saturating_add(due));
                    }
                }
            }
            for moment in [
                begin.saturating_add(scenario.executor.duration()),
                zero.saturating_add(end(scenario)),
            ] {
                if moment > now {
                    at_latest(moment);
                }
            }
        }
        // A script that waits for nothing goes on at once, after others had their turn.
        let may = |slot: &Slot| slot.state == State::Idle && self.may_begin(slot, now, zero);
        let any_idle = self.works.iter().any(|work| !work.over && work.idle > 0);
        if any_idle && self.slots.iter().any(may) { Some(now) } else { wake }
    }

    /// Whether an idle VU would begin an iteration if it were asked.
    fn may_begin(&self, slot: &Slot, now: Nanos, zero: Nanos) -> bool {
        let scenario = &self.plan.scenarios[slot.scenario];
        let at = now.saturating_sub(zero).saturating_sub(scenario.start);
        let begins = self.stopping.is_none()
            && now >= zero.saturating_add(scenario.start)
            && !self.works[slot.scenario].over
            && slot.index < scenario.executor.vus_at(at);
        match &scenario.executor {
            Executor::ArrivalRate { .. } => false,
            Executor::PerVuIterations { iterations, .. } => begins && slot.iterations < *iterations,
            Executor::SharedIterations { .. } => begins && !self.is_done(slot.scenario),
            _ => begins,
        }
    }
}
