//! `CheckedResults`: the results of a plan that runs as a load test: its listeners' files, and how often each assertion held.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jmeter::{LogLevel, SampleResult, Sink};
use jmx::Element;
use metrics::tally::{Assertion, Check};

use super::results::PlanResults;

/// The results of a plan.
pub(super) struct CheckedResults {
    files: Arc<PlanResults>,
    checks: Mutex<Checks>,
}

/// Checks by sampler and assertion, in the order they were first seen.
#[derive(Default)]
struct Checks {
    places: HashMap<(String, String), usize>,
    list: Vec<Check>,
}

/// Checks that are counted apart at most: labels may have variables in them.
const CHECKS_MAX: usize = 2_000;
/// The check of a sampler that fails by itself: its status, or a script of its own.
const SUCCEEDS: &str = "succeeds";

impl CheckedResults {
    pub(super) fn new(files: Arc<PlanResults>) -> Self {
        Self { files, checks: Mutex::default() }
    }

    /// How often each assertion held.
    pub(super) fn asserted(&self) -> Vec<Assertion> {
        let checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        checks.list.iter().cloned().map(Assertion::Check).collect()
    }
}

impl Sink for CheckedResults {
    fn sample(&self, sample: &SampleResult) {
        self.files.sample(sample);
        let mut checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        checks.add(sample);
    }

    fn collect(&self, listener: &Element, sample: &SampleResult) {
        self.files.collect(listener, sample);
    }

    fn log(&self, level: LogLevel, from: &str, thread: &str, text: &str) {
        self.files.log(level, from, thread, text);
    }
}

impl Checks {
    /// Counts the assertions of a sample; one without any counts by its success, unless it is a request, which results have.
    fn add(&mut self, sample: &SampleResult) {
        for one in &sample.assertions {
            let Some(check) = self.check(&sample.label, &one.name) else { continue };
            let fails = one.is_failure || one.is_error;
            check.fails += u64::from(fails);
            check.passes += u64::from(!fails);
        }
        let is_own = sample.assertions.is_empty() && !sample.is_success && sample.url.is_empty();
        if let Some(check) = is_own.then(|| self.check(&sample.label, SUCCEEDS)).flatten() {
            check.fails += 1;
        }
        sample.children.iter().for_each(|child| self.add(child));
    }

    /// The check of this name; `None` where there are too many.
    fn check(&mut self, group: &str, name: &str) -> Option<&mut Check> {
        let key = (group.to_owned(), name.to_owned());
        if !self.places.contains_key(&key) && self.list.len() < CHECKS_MAX {
            self.places.insert(key.clone(), self.list.len());
            let (group, name) = (format!("::{group}"), name.to_owned());
            self.list.push(Check { group, name, passes: 0, fails: 0 });
        }
        self.places.get(&key).map(|at| &mut self.list[*at])
    }
}
