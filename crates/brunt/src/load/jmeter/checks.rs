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
/// The check of all assertions behind these.
const OTHERS: &str = "(others)";
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
            let check = self.check(&sample.label, &one.name);
            let fails = one.is_failure || one.is_error;
            check.fails += u64::from(fails);
            check.passes += u64::from(!fails);
        }
        let is_own = sample.assertions.is_empty() && !sample.is_success && sample.url.is_empty();
        if is_own {
            self.check(&sample.label, SUCCEEDS).fails += 1;
        }
        sample.children.iter().for_each(|child| self.add(child));
    }

    /// The check of this name; where there are too many, that of all others.
    fn check(&mut self, group: &str, name: &str) -> &mut Check {
        let mut key = (group.to_owned(), name.to_owned());
        if !self.places.contains_key(&key) && self.list.len() >= CHECKS_MAX {
            key = (String::new(), OTHERS.to_owned());
        }
        let at = *self.places.entry(key).or_insert_with_key(|(group, name)| {
            let (group, name) = (format!("::{group}"), name.clone());
            self.list.push(Check { group, name, passes: 0, fails: 0 });
            self.list.len() - 1
        });
        &mut self.list[at]
    }
}

#[cfg(test)]
mod tests {
    use jmeter::AssertionResult;

    use super::*;

    #[test]
    fn issue_44_no_assertion_is_left_uncounted() {
        let mut checks = Checks::default();
        let assertion = AssertionResult { is_failure: true, ..AssertionResult::default() };
        for number in 0..CHECKS_MAX + 3 {
            let label = format!("item {number}");
            let assertions = vec![assertion.clone()];
            checks.add(&SampleResult { label, assertions, ..SampleResult::default() });
        }
        let last = checks.list.last().expect("checks");
        assert_eq!((last.name.as_str(), last.fails), (OTHERS, 3));
        assert_eq!(checks.list.len(), CHECKS_MAX + 1);
    }
}
