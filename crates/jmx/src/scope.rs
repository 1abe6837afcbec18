//! `Scope`: what texts are evaluated in: a thread with its variables, and the world around it.

use std::collections::HashMap;

use crate::sample::SampleView;
use crate::thrown::Thrown;

/// What a text is evaluated in.
pub trait Scope {
    /// A variable of the thread.
    fn variable(&self, name: &str) -> Option<String>;
    /// Sets a variable of the thread.
    fn set_variable(&mut self, name: &str, value: String);
    /// Removes a variable of the thread. A scope that cannot empties it.
    fn remove_variable(&mut self, name: &str) {
        self.set_variable(name, String::new());
    }
    /// A property, which all threads share.
    fn property(&self, name: &str) -> Option<String>;
    /// Sets a property; returns what it was.
    fn set_property(&mut self, name: &str, value: String) -> Option<String>;
    /// Removes a property. A scope that cannot empties it.
    fn remove_property(&mut self, name: &str) {
        self.set_property(name, String::new());
    }
    /// A random number, all 64 bits of it.
    fn random(&mut self) -> u64;
    /// Milliseconds since 1970.
    fn unix_ms(&self) -> i64;
    /// The number of the thread in its group, from 1; 0 outside of any.
    fn thread_number(&self) -> u64 {
        0
    }
    /// A text of the place: the thread's group, the plan, the sampler that runs.
    fn place(&self, _place: Place) -> String {
        String::new()
    }
    /// The iteration of the thread, from 1.
    fn iteration(&self) -> u64 {
        0
    }
    /// The next number of a counter, from 1. Each call in a plan has one for itself; of all threads, or of this one.
    fn count(&mut self, call: u64, shared: Shared) -> u64;
    /// The text of a file; `None` where it cannot be read.
    fn file(&mut self, _path: &str, _encoding: &str) -> Option<String> {
        None
    }
    /// The text of a file whose relative path begins at the plan; `None` where it cannot be read.
    fn plan_file(&mut self, path: &str, encoding: &str) -> Option<String> {
        self.file(path, encoding)
    }
    /// Writes a file; whether that could be done.
    fn write_file(&mut self, _path: &str, _text: &str, _how: Writing) -> bool {
        false
    }
    /// The name of this machine.
    fn machine_name(&self) -> String {
        "localhost".to_owned()
    }
    /// The address of this machine.
    fn machine_address(&self) -> String {
        "127.0.0.1".to_owned()
    }
    /// By how many seconds the local time is ahead of UTC at a moment, in milliseconds since 1970.
    fn utc_offset_s(&self, _unix_ms: i64) -> i32 {
        0
    }
    /// Shows the sample before this text is evaluated; does not call `see` where there is none.
    fn previous_sample(&self, _see: &mut dyn FnMut(&SampleView<'_>)) {}
    /// Writes a line to the log.
    fn log(&self, _level: &str, _text: &str) {}
    /// Takes what a function has thrown; the text that it stands in goes on without a value for it.
    fn throw(&mut self, thrown: Thrown);
}

/// A place whose name functions return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The thread group.
    Group,
    /// The plan.
    Plan,
    /// The sampler that runs.
    Sampler,
}

/// Which threads count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// All of them.
    AllThreads,
    /// Each for itself.
    OneThread,
}

/// What becomes of a file that is there before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// The text goes to its end.
    Append,
    /// The text takes its place.
    Replace,
}

/// A scope of variables and properties alone, outside of any thread: a plan is looked at in it before its threads begin.
#[derive(Clone, Debug, Default)]
pub struct MemoryScope {
    /// The variables.
    pub variables: HashMap<String, String>,
    /// The properties.
    pub properties: HashMap<String, String>,
    /// What the clock says, in milliseconds since 1970.
    pub unix_ms: i64,
    /// The state of its random numbers.
    pub seed: u64,
    /// What a function has thrown first.
    pub thrown: Option<Thrown>,
    counts: HashMap<u64, u64>,
}

impl Scope for MemoryScope {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn set_variable(&mut self, name: &str, value: String) {
        self.variables.insert(name.to_owned(), value);
    }

    fn remove_variable(&mut self, name: &str) {
        self.variables.remove(name);
    }

    fn property(&self, name: &str) -> Option<String> {
        self.properties.get(name).cloned()
    }

    fn set_property(&mut self, name: &str, value: String) -> Option<String> {
        self.properties.insert(name.to_owned(), value)
    }

    fn remove_property(&mut self, name: &str) {
        self.properties.remove(name);
    }

    fn random(&mut self) -> u64 {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.seed ^ (self.seed >> 29)
    }

    fn unix_ms(&self) -> i64 {
        self.unix_ms
    }

    fn throw(&mut self, thrown: Thrown) {
        self.thrown.get_or_insert(thrown);
    }

    fn count(&mut self, call: u64, _: Shared) -> u64 {
        let count = self.counts.entry(call).or_default();
        *count += 1;
        *count
    }
}
