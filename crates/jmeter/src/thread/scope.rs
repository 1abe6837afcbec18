//! `Thread`: the variables of one thread and what it keeps, as texts and controllers see them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use jmx::{Class, Place, SampleView, Scope, Shared, Thrown, Writing};
use stdx::Nanos;
use users::Host;

use crate::http::cache::CacheStore;
use crate::http::charset::decode;
use crate::http::cookies::CookieStore;
use crate::objects::Objects;
use crate::plan::compile::Program;
use crate::plan::group::GroupKind;
use crate::plan::node::Part;
use crate::plan::property::{flag, text};
use crate::random::Random;
use crate::results::sample::SampleResult;
use crate::script::{Changes, Wishes};
use crate::texts::Texts;
use crate::thread::transaction::Transaction;
use crate::world::{Base, LogLevel, World, lock};

/// One thread.
pub(crate) struct Thread {
    pub(crate) world: Arc<World>,
    pub(crate) program: Arc<Program>,
    pub(crate) host: Rc<dyn Host>,
    pub(crate) group: usize,
    /// Its number in the group, from 1.
    pub(crate) number: u64,
    /// `Group 1-1`.
    pub(crate) name: String,
    pub(crate) variables: Texts,
    /// From 1 once the first iteration has begun.
    pub(crate) iteration: u64,
    pub(crate) random: Random,
    counts: HashMap<u64, u64>,
    /// The name of the sampler that runs.
    pub(crate) sampler: String,
    pub(crate) previous: Option<Rc<RefCell<SampleResult>>>,
    pub(crate) transactions: Vec<Transaction>,
    /// A sampler of this thread has begun.
    pub(crate) has_sampled: bool,
    cookies: HashMap<usize, CookieStore>,
    caches: HashMap<usize, CacheStore>,
    /// Random numbers of elements that each thread has for itself.
    pub(crate) randoms: HashMap<usize, Random>,
    /// Counters that each thread has for itself.
    pub(crate) counters: HashMap<usize, i64>,
    /// When a timer of this thread let it go on last.
    pub(crate) paces: HashMap<usize, Nanos>,
    /// The next request is of another user: it takes a new connection.
    pub(crate) is_new_user: bool,
    /// What a pre-processor allows the sample that runs.
    pub(crate) sample_timeout_ms: Option<u64>,
    /// Values that a pre-processor gives to arguments of the sampler that runs, by their names.
    pub(crate) replacements: Vec<(String, String)>,
    /// Variables that are no texts.
    pub(crate) objects: Objects,
    /// What scripts change of the request that is next.
    pub(crate) changes: Changes,
    /// What scripts have the thread do.
    pub(crate) wishes: Wishes,
    /// What a function of a text has thrown first, until what it stands in has been taken for failed.
    pub(crate) thrown: Option<Thrown>,
}

impl Thread {
    /// A thread that has not begun.
    pub(crate) fn new(world: &Arc<World>, host: Rc<dyn Host>, group: usize, number: u64) -> Self {
        let program = Arc::clone(world.program());
        let name = thread_name(&program, group, number);
        let mut variables = Texts::default();
        for (name, value) in &program.variables {
            variables.insert(name, value.clone());
        }
        variables.insert("JMeterThread.last_sample_ok", "true".to_owned());
        Self {
            host,
            group,
            number,
            name,
            variables,
            iteration: 0,
            random: Random::new(world.plan.seed, (group as u64) << 32 | number),
            counts: HashMap::new(),
            sampler: String::new(),
            previous: None,
            transactions: Vec::new(),
            has_sampled: false,
            cookies: HashMap::new(),
            caches: HashMap::new(),
            randoms: HashMap::new(),
            counters: HashMap::new(),
            paces: HashMap::new(),
            is_new_user: false,
            sample_timeout_ms: None,
            replacements: Vec::new(),
            objects: Objects::default(),
            changes: Changes::default(),
            wishes: Wishes::default(),
            thrown: None,
            program,
            world: Arc::clone(world),
        }
    }

    /// When its group runs.
    pub(crate) fn kind(&self) -> GroupKind {
        self.program.groups[self.group].kind
    }

    /// Milliseconds since 1970.
    pub(crate) fn unix_ms_now(&self) -> i64 {
        (self.host.unix_time().0 / 1_000_000) as i64
    }

    /// Seconds since 1970.
    pub(crate) fn unix_s(&self) -> i64 {
        self.unix_ms_now() / 1_000
    }

    /// The cookies of a manager, with the manager's own in it.
    pub(crate) fn cookie_store(&mut self, manager: &Part) -> &mut CookieStore {
        if !self.cookies.get(&manager.number).is_some_and(|store| store.is_filled) {
            let mut store = CookieStore::default();
            store.fill(&manager.element, self);
            self.cookies.insert(manager.number, store);
        }
        self.cookies.entry(manager.number).or_default()
    }

    /// What was seen of a cache manager.
    pub(crate) fn cache_store(&mut self, manager: &Part) -> &mut CacheStore {
        self.caches.entry(manager.number).or_default()
    }

    /// A cookie as a variable, where the test is to have them.
    pub(crate) fn save_cookie(&mut self, name: &str, value: String) {
        let word = self.world.property("CookieManager.save.cookies");
        if word.is_some_and(|word| word.trim() == "true") {
            self.put(&format!("COOKIE_{name}"), value);
        }
    }

    pub(crate) fn put(&mut self, name: &str, value: String) {
        self.variables.insert(name, value);
    }

    /// A property as a number; 0 where it is none.
    pub(crate) fn number_of(&mut self, part: &Part, name: &str) -> f64 {
        text(&part.element.properties, name, self).trim().parse().unwrap_or(0.0)
    }

    /// Writes a line to JMeter's log.
    pub(crate) fn write_log(&self, level: LogLevel, from: &str, text: &str) {
        self.world.plan.sink.log(level, from, &self.name, text);
    }

    /// What cookie and cache managers forget when an iteration begins.
    pub(crate) fn forget(&mut self) {
        let same_user = self.program.groups[self.group].same_user;
        let program = Arc::clone(&self.program);
        for part in &program.managers {
            let (by_group, each) = match part.class() {
                Class::CookieManager => {
                    ("CookieManager.controlledByThreadGroup", "CookieManager.clearEachIteration")
                }
                _ => ("CacheManager.controlledByThread", "clearEachIteration"),
            };
            let by_group = flag(&part.element.properties, by_group, self) == Some(true);
            let clears = match by_group {
                true => !same_user,
                false => flag(&part.element.properties, each, self) == Some(true),
            };
            if clears {
                self.cookies.remove(&part.number);
                self.caches.remove(&part.number);
            }
        }
    }
}

/// The name of a thread: its group, the group's number in its stage, its own.
fn thread_name(program: &Program, group: usize, number: u64) -> String {
    let own = &program.groups[group];
    let before = program.groups_of(own.kind).take_while(|at| *at < group).count();
    format!("{} {}-{number}", own.name, before + 1)
}

impl Scope for Thread {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn set_variable(&mut self, name: &str, value: String) {
        self.put(name, value);
    }

    fn remove_variable(&mut self, name: &str) {
        self.variables.remove(name);
    }

    fn property(&self, name: &str) -> Option<String> {
        self.world.property(name)
    }

    fn remove_property(&mut self, name: &str) {
        lock(&self.world.properties).remove(name);
    }

    fn set_property(&mut self, name: &str, value: String) -> Option<String> {
        let mut properties = lock(&self.world.properties);
        let before = properties.get(name).cloned();
        properties.insert(name, value);
        before
    }

    fn throw(&mut self, thrown: Thrown) {
        self.thrown.get_or_insert(thrown);
    }

    fn random(&mut self) -> u64 {
        self.random.next()
    }

    fn unix_ms(&self) -> i64 {
        self.unix_ms_now()
    }

    fn thread_number(&self) -> u64 {
        self.number
    }

    fn place(&self, place: Place) -> String {
        match place {
            Place::Group => self.program.groups[self.group].name.clone(),
            Place::Plan => self.world.plan.file_name.clone(),
            Place::Sampler => self.sampler.clone(),
        }
    }

    fn iteration(&self) -> u64 {
        self.iteration
    }

    fn count(&mut self, call: u64, shared: Shared) -> u64 {
        let mut all;
        let count = match shared {
            Shared::OneThread => self.counts.entry(call).or_default(),
            Shared::AllThreads => {
                all = lock(&self.world.counts);
                all.entry((call, 0)).or_default()
            }
        };
        *count += 1;
        *count
    }

    fn file(&mut self, path: &str, encoding: &str) -> Option<String> {
        let bytes = self.world.plan.disk.read(path, Base::Work)?;
        Some(decode(&bytes, encoding).into_owned())
    }

    fn plan_file(&mut self, path: &str, encoding: &str) -> Option<String> {
        let bytes = self.world.plan.disk.read(path, Base::Plan)?;
        Some(decode(&bytes, encoding).into_owned())
    }

    fn write_file(&mut self, path: &str, text: &str, how: Writing) -> bool {
        self.world.plan.disk.write(path, text.as_bytes(), how)
    }

    fn machine_name(&self) -> String {
        self.world.plan.machine.0.clone()
    }

    fn machine_address(&self) -> String {
        self.world.plan.machine.1.clone()
    }

    fn utc_offset_s(&self, unix_ms: i64) -> i32 {
        (self.world.plan.utc_offset_s)(unix_ms)
    }

    fn previous_sample(&self, see: &mut dyn FnMut(&SampleView<'_>)) {
        if let Some(Ok(sample)) = self.previous.as_ref().map(|sample| sample.try_borrow()) {
            sample.with_view(|view| see(view));
        }
    }

    fn log(&self, level: &str, text: &str) {
        let level = match level.to_ascii_uppercase().as_str() {
            "DEBUG" | "TRACE" => LogLevel::Debug,
            "WARN" => LogLevel::Warn,
            "ERROR" => LogLevel::Error,
            _ => LogLevel::Info,
        };
        self.write_log(level, "o.a.j.f.LogFunction", text);
    }
}
