//! What assertions say of a sample.

use jmx::{
    AssertionFailure, CHILDREN_FAILED, Failing, Reach, SampleView, Scope, assert_sample,
    assertion_reach, assumes_success,
};

use super::scope::Thread;
use crate::plan::node::Part;
use crate::results::sample::{AssertionResult, SampleResult};
use crate::script;

impl Thread {
    /// Judges a sample and notes what came of it.
    pub(crate) fn judge(&mut self, sample: &mut SampleResult, assertions: &[Part]) {
        for part in assertions {
            let mut result = AssertionResult {
                name: part.element.name.evaluate(self),
                ..AssertionResult::default()
            };
            match script::is_script(part.class()) {
                true => script::judge(part, sample, &mut result, self),
                false => self.judge_by(part, sample, &mut result),
            }
            if let Some(thrown) = self.thrown.take() {
                (result.is_error, result.message) = (true, thrown.message);
            }
            sample.is_success &= !(result.is_failure || result.is_error);
            sample.assertions.push(result);
        }
        let word = sample.is_success.to_string();
        self.set_variable("JMeterThread.last_sample_ok", word);
    }

    /// Judges a sample by one assertion.
    fn judge_by(&mut self, part: &Part, sample: &mut SampleResult, result: &mut AssertionResult) {
        if assumes_success(&part.element, self) {
            sample.is_success = true;
        }
        let reach = assertion_reach(&part.element, self);
        if let Some(failure) = self.failure(part, sample, &reach) {
            result.is_failure = failure.kind == Failing::Failure;
            result.is_error = failure.kind == Failing::Error;
            result.message = failure.message;
        }
    }

    /// Why a sample fails an assertion, where it does.
    fn failure(
        &mut self,
        part: &Part,
        sample: &mut SampleResult,
        reach: &Reach,
    ) -> Option<AssertionFailure> {
        if let Reach::Variable(_) | Reach::Main = reach {
            return sample.with_view(|view| assert_sample(&part.element, self, view));
        }
        let own = matches!(reach, Reach::All)
            .then(|| sample.with_view(|view| assert_sample(&part.element, self, view)))
            .flatten();
        let below = self.failures_below(part, sample);
        own.or_else(|| {
            below.then(|| AssertionFailure {
                message: CHILDREN_FAILED.to_owned(),
                kind: Failing::Failure,
            })
        })
    }

    /// Judges the samples below; whether one of them failed.
    fn failures_below(&mut self, part: &Part, sample: &mut SampleResult) -> bool {
        let mut any = false;
        for child in &mut sample.children {
            let see = |view: &SampleView<'_>| assert_sample(&part.element, self, view);
            let Some(failure) = child.with_view(see) else { continue };
            any = true;
            child.is_success = false;
            child.assertions.push(AssertionResult {
                name: part.element.name.written().to_owned(),
                is_failure: failure.kind == Failing::Failure,
                is_error: failure.kind == Failing::Error,
                message: failure.message,
            });
        }
        any
    }
}
