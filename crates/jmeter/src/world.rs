//! `World`: what all threads of a run share: stages, properties, files, locks, the flow of results.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jmx::{Element, Writing};
use stdx::Nanos;

use crate::config::data_file::{DataFile, DataText};
use crate::objects::Objects;
use crate::plan::compile::Program;
use crate::plan::group::GroupKind;
use crate::results::sample::SampleResult;
use crate::texts::Texts;
use crate::timer::pace::Pace;

/// Where a relative path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// In the folder of the plan.
    Plan,
    /// In the folder that the command was called in.
    Work,
}

/// Reads and writes files for threads.
pub trait Disk: Send + Sync {
    /// The bytes of a file; `None` where it cannot be read.
    fn read(&self, path: &str, base: Base) -> Option<Vec<u8>>;
    /// Writes a file; whether that could be done.
    fn write(&self, path: &str, bytes: &[u8], how: Writing) -> bool;
}

/// The levels of JMeter's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// `DEBUG`.
    Debug,
    /// `INFO`.
    Info,
    /// `WARN`.
    Warn,
    /// `ERROR`.
    Error,
}

/// Takes what threads make known.
pub trait Sink: Send + Sync {
    /// A sample, with those below it.
    fn sample(&self, sample: &SampleResult);
    /// The same for a listener in whose scope it is.
    fn collect(&self, listener: &Element, sample: &SampleResult);
    /// A line of the log: its level, the class of JMeter's that would write it, the thread, and the text.
    fn log(&self, level: LogLevel, from: &str, thread: &str, text: &str);
}

/// How a test is to end before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stopping {
    /// Threads end after the samples under way.
    Gracefully,
    /// Threads end at once.
    Now,
}

/// What a world is made of.
pub struct WorldPlan {
    /// The plan.
    pub program: Arc<Program>,
    /// JMeter's properties at the start.
    pub properties: HashMap<String, String>,
    /// The name of the plan's file.
    pub file_name: String,
    /// Files.
    pub disk: Arc<dyn Disk>,
    /// Results and the log.
    pub sink: Arc<dyn Sink>,
    /// What random numbers follow from.
    pub seed: u64,
    /// By how many seconds the local time is ahead of UTC at a moment, in milliseconds since 1970.
    pub utc_offset_s: fn(i64) -> i32,
    /// The name and the address of this machine.
    pub machine: (String, String),
}

/// What all threads of a run share.
pub struct World {
    pub(crate) plan: WorldPlan,
    pub(crate) properties: Mutex<Texts>,
    /// Properties that are no texts.
    pub(crate) objects: Mutex<Objects>,
    groups: Vec<GroupState>,
    /// Set once all is to end at once, also what scripts and extractors are in the midst of.
    ending: Arc<AtomicBool>,
    /// How each stage was stopped: 0 for not at all.
    stopped: [AtomicU8; 3],
    active: AtomicU64,
    started: AtomicU64,
    pub(crate) counts: Mutex<HashMap<(u64, u64), u64>>,
    /// Rounds of Throughput controllers: those in which they ran, and all.
    rounds: Mutex<HashMap<usize, (u64, u64)>>,
    locks: Mutex<HashSet<String>>,
    pub(crate) files: Mutex<HashMap<String, DataFile>>,
    /// The texts of data files, by path and encoding.
    pub(crate) texts: Mutex<HashMap<(String, String), Arc<DataText>>>,
    /// The names of variables that results show: `sample_variables`.
    pub(crate) shown: Vec<String>,
    pub(crate) counters: Mutex<HashMap<usize, i64>>,
    pub(crate) paces: Mutex<HashMap<(usize, usize), Pace>>,
}

#[derive(Debug)]
struct GroupState {
    /// When it began; `u64::MAX` while it has not.
    began: AtomicU64,
    unfinished: AtomicU64,
    active: AtomicU64,
    arrivals: AtomicU64,
}

const NEVER: u64 = u64::MAX;

impl World {
    /// Of a run that has not begun.
    #[must_use]
    pub fn new(plan: WorldPlan) -> Arc<Self> {
        let groups = plan.program.groups.iter().map(|group| GroupState {
            began: AtomicU64::new(NEVER),
            unfinished: AtomicU64::new(group.threads),
            active: AtomicU64::new(0),
            arrivals: AtomicU64::new(0),
        });
        Arc::new(Self {
            properties: Mutex::new(Texts::of(&plan.properties)),
            objects: Mutex::default(),
            groups: groups.collect(),
            ending: Arc::default(),
            stopped: Default::default(),
            active: AtomicU64::new(0),
            started: AtomicU64::new(0),
            counts: Mutex::default(),
            rounds: Mutex::default(),
            locks: Mutex::default(),
            files: Mutex::default(),
            texts: Mutex::default(),
            shown: names(plan.properties.get("sample_variables").map_or("", String::as_str)),
            counters: Mutex::default(),
            paces: Mutex::default(),
            plan,
        })
    }

    /// The plan.
    pub(crate) fn program(&self) -> &Arc<Program> {
        &self.plan.program
    }

    /// When a group began; begins it where all that is before it is over. `None` where it is not its turn yet.
    pub(crate) fn began(&self, group: usize, now: Nanos) -> Option<Nanos> {
        let state = &self.groups[group];
        let known = state.began.load(Ordering::Acquire);
        if known != NEVER {
            return Some(Nanos(known));
        }
        if !self.is_its_turn(group) {
            return None;
        }
        let set = state.began.compare_exchange(NEVER, now.0, Ordering::AcqRel, Ordering::Acquire);
        Some(Nanos(set.err().unwrap_or(now.0)))
    }

    fn is_its_turn(&self, group: usize) -> bool {
        let program = self.program();
        let kind = program.groups[group].kind;
        program.groups.iter().enumerate().all(|(at, other)| {
            let earlier = (other.kind as u8) < kind as u8;
            let serialized = program.serializes && other.kind == kind && at < group;
            !(earlier || serialized) || self.groups[at].unfinished.load(Ordering::Acquire) == 0
        })
    }

    /// Whether threads of this stage are to end.
    pub(crate) fn stopping(&self, kind: GroupKind) -> Option<Stopping> {
        let set_up = self.stopped(GroupKind::SetUp);
        let main = self.stopped(GroupKind::Main);
        match kind {
            GroupKind::SetUp => set_up,
            GroupKind::Main => set_up.max(main),
            GroupKind::TearDown => {
                let main = main.filter(|_| !self.program().tears_down_when_stopped);
                set_up.max(main).max(self.stopped(GroupKind::TearDown))
            }
        }
    }

    fn stopped(&self, kind: GroupKind) -> Option<Stopping> {
        match self.stopped[kind as usize].load(Ordering::Acquire) {
            0 => None,
            1 => Some(Stopping::Gracefully),
            _ => Some(Stopping::Now),
        }
    }

    /// The test is to end, as a thread of this stage wants it.
    pub(crate) fn stop(&self, kind: GroupKind, how: Stopping) {
        self.stopped[kind as usize].fetch_max(1 + how as u8, Ordering::AcqRel);
    }

    /// All threads end at once, whatever they are in the midst of.
    pub fn end(&self) {
        for kind in [GroupKind::SetUp, GroupKind::Main, GroupKind::TearDown] {
            self.stop(kind, Stopping::Now);
        }
        self.ending.store(true, Ordering::Relaxed);
    }

    /// What this system's thread does now ends with this world.
    pub(crate) fn watch_end(&self) {
        jmx::end_with(&self.ending);
    }

    /// A thread of a group begins its work.
    pub(crate) fn enter(&self, group: usize) {
        self.active.fetch_add(1, Ordering::AcqRel);
        self.started.fetch_add(1, Ordering::AcqRel);
        self.groups[group].active.fetch_add(1, Ordering::AcqRel);
    }

    /// A thread that has begun its work ends it.
    pub(crate) fn leave(&self, group: usize) {
        self.active.fetch_sub(1, Ordering::AcqRel);
        self.groups[group].active.fetch_sub(1, Ordering::AcqRel);
    }

    /// A user of a group is done for good.
    pub(crate) fn finish(&self, group: usize) {
        self.groups[group].unfinished.fetch_sub(1, Ordering::AcqRel);
    }

    /// Threads at work: of a group, and of all.
    pub(crate) fn active(&self, group: usize) -> (u64, u64) {
        let own = self.groups[group].active.load(Ordering::Acquire);
        (own, self.active.load(Ordering::Acquire))
    }

    /// The number of the arrival that is next in a group, from 0.
    pub(crate) fn next_arrival(&self, group: usize) -> u64 {
        self.groups[group].arrivals.fetch_add(1, Ordering::AcqRel)
    }

    /// One more round of a controller that all threads share; whether it runs in it.
    pub(crate) fn shared_round(&self, controller: usize, runs: &dyn Fn(u64, u64) -> bool) -> bool {
        let mut rounds = lock(&self.rounds);
        let (ran, all) = rounds.entry(controller).or_default();
        *all += 1;
        let now = runs(*ran, *all);
        *ran += u64::from(now);
        now
    }

    pub(crate) fn try_lock(&self, name: &str) -> bool {
        lock(&self.locks).insert(name.to_owned())
    }

    pub(crate) fn unlock(&self, name: &str) {
        lock(&self.locks).remove(name);
    }

    /// Threads at work, those that have begun, and those that have ended.
    #[must_use]
    pub fn threads(&self) -> (u64, u64, u64) {
        let active = self.active.load(Ordering::Acquire);
        let started = self.started.load(Ordering::Acquire);
        (active, started, started - active.min(started))
    }

    /// A property.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<String> {
        lock(&self.properties).get(name).cloned()
    }
}

fn names(list: &str) -> Vec<String> {
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// What is locked here is whole at any moment.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
