//! `Checks`: how often a script's checks held. One that fails is what its author calls a failure, whatever the answer's status.

use metrics::tally::Assertion;

use super::words::share;
use crate::number::{counted, grouped};

/// From this share of a script's checks on their failures decide the server's result, as those of requests do.
const FAILING_MIN: f64 = 0.05;

/// The checks of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Checks {
    /// How often one was made.
    pub(super) all: u64,
    /// How often one failed.
    pub(super) failed: u64,
    /// The one that failed most often, ...
    pub(super) worst: String,
    /// ... and how often.
    pub(super) worst_failed: u64,
}

impl Checks {
    pub(super) fn of(assertions: &[Assertion]) -> Self {
        let checks = assertions.iter().filter_map(|assertion| match assertion {
            Assertion::Check(check) => Some(check),
            _ => None,
        });
        let mut all = Self::default();
        for check in checks {
            all.all += check.passes + check.fails;
            all.failed += check.fails;
            if check.fails > all.worst_failed {
                (all.worst_failed, all.worst) = (check.fails, check.name.clone());
            }
        }
        all
    }

    /// So many fail that the server did not do what was asked of it.
    pub(super) fn are_failing(&self) -> bool {
        self.failed > 0 && self.failed as f64 >= FAILING_MIN * self.all as f64
    }

    /// `360 of 360 checks fail`.
    pub(super) fn words(&self) -> String {
        let (failed, all) = (grouped(self.failed), counted(self.all, "check"));
        format!("{failed} of {all} {}", if self.all == 1 { "fails" } else { "fail" })
    }

    /// The sentence on the check that failed most often, beside one that has their number.
    pub(super) fn worst_sentence(&self) -> Option<String> {
        (self.failed > 0).then(|| match self.worst_failed == self.failed {
            true => format!("All of them are of the check \"{}\".", self.worst),
            false => {
                let times = counted(self.worst_failed, "time");
                format!("The check that fails most often is \"{}\" ({times}).", self.worst)
            }
        })
    }

    /// The sentence on checks that failed.
    pub(super) fn sentence(&self) -> Option<String> {
        let part = share(self.failed as f64 / self.all.max(1) as f64);
        let which = if self.worst_failed == self.failed { "each time" } else { "most often" };
        (self.failed > 0).then(|| format!("{} ({part}), {which} \"{}\".", self.words(), self.worst))
    }
}

#[cfg(test)]
mod tests {
    use metrics::tally::Check;

    use super::*;

    #[test]
    fn checks_are_counted_and_the_worst_is_named() {
        let check = |name: &str, passes, fails| {
            Assertion::Check(Check { group: String::new(), name: name.to_owned(), passes, fails })
        };
        let checks = Checks::of(&[check("is 200", 90, 10), check("has title", 0, 100)]);
        assert!(checks.are_failing());
        assert_eq!(
            checks.sentence().unwrap(),
            "110 of 200 checks fail (55%), most often \"has title\"."
        );
        let rare = Checks::of(&[check("is 200", 99, 1)]);
        assert!(!rare.are_failing() && rare.sentence().is_some());
        assert_eq!(
            checks.worst_sentence().unwrap(),
            "The check that fails most often is \"has title\" (100 times)."
        );
        assert_eq!(rare.worst_sentence().unwrap(), "All of them are of the check \"is 200\".");
        assert!(!Checks::default().are_failing() && Checks::default().sentence().is_none());
    }
}
