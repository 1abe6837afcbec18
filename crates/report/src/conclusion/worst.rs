//! `Worst`: the one target that has nearly all failures, or nearly all slow answers, of a run with several.

use metrics::{By, FailureReason, Group, Groups, OTHER};
use stdx::Nanos;

use super::class::{Class, is_servers};
use super::words::{share, time};
use crate::Input;
use crate::figure::shortened;
use crate::number::{counted, grouped};

/// A target has so much of the failures that they are its own, ...
const PART_MIN: f64 = 0.8;
/// ... and so many times its part of the requests: one that has most requests has most failures, too.
const TIMES_MIN: f64 = 1.5;
/// Of fewer failures, or slow answers, nothing is said.
const COUNT_MIN: u64 = 5;
/// Of fewer slow answers chance decides whose they are.
const SLOW_MIN: u64 = 20;
/// Characters of a target in a sentence; more are cut.
const NAME_MAX: usize = 100;

/// A target with its part of what went wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Worst {
    /// `GET http://h/pay`, or its name.
    pub(super) name: String,
    /// Its requests.
    pub(super) hits: u64,
    /// Those of them that failed, or took long.
    pub(super) bad: u64,
    /// The same of all targets.
    pub(super) all_bad: u64,
    /// No request of it ever succeeded, and that is not for want of something here.
    pub(super) is_dead: bool,
}

/// The target with nearly all answers that took long.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Slowest {
    /// The target, with the answers that took longer.
    pub(super) target: Worst,
    /// Than this.
    pub(super) than: Nanos,
    /// Its part of all requests.
    pub(super) share: f64,
}

impl Worst {
    /// Of failures.
    pub(super) fn of(input: &Input<'_>) -> Option<Self> {
        most(input, &|group| group.hits - group.successes, COUNT_MIN)
    }

    /// `all of them are of GET http://h/pay, of which no request succeeded`.
    pub(super) fn words(&self) -> String {
        let part = match self.bad == self.all_bad {
            true => "all of them are".to_owned(),
            false => format!("{} of them are", share(self.bad as f64 / self.all_bad as f64)),
        };
        let rest = match self.bad == self.hits {
            true => format!("of which no request succeeded ({} sent)", grouped(self.hits)),
            false => format!(
                "which is {} of its {}",
                share(self.bad as f64 / self.hits.max(1) as f64),
                counted(self.hits, "request")
            ),
        };
        format!("{part} of {}, {rest}", self.name)
    }
}

impl Slowest {
    /// Of answers that took longer than half of what most of the slowest took.
    pub(super) fn of(input: &Input<'_>) -> Option<Self> {
        let than = Nanos(input.summary.response.quantile(0.99).0 / 2);
        let slow = |group: &Group| group.response.count() - group.response.count_below(than);
        let target = most(input, &slow, SLOW_MIN)?;
        let share = target.hits as f64 / input.summary.requests.max(1) as f64;
        Some(Self { target, than, share })
    }

    /// `all 98 requests that took longer than 1.2s are of GET http://h/slow, 44% of whose requests are among them; it is 25% of what was
    /// asked`.
    pub(super) fn words(&self) -> String {
        let target = &self.target;
        let which = match target.bad == target.all_bad {
            true => format!("All {}", counted(target.bad, "request")),
            false => {
                format!("{} of {}", grouped(target.bad), counted(target.all_bad, "request"))
            }
        };
        format!(
            "{which} that took longer than {} are of {}: {} of its requests, which are {} of the run's",
            time(self.than),
            target.name,
            share(target.bad as f64 / target.hits.max(1) as f64),
            share(self.share)
        )
    }
}

/// The target with most of what `bad` counts, where that is nearly all and far more than its part of the requests.
fn most(input: &Input<'_>, bad: &dyn Fn(&Group) -> u64, least: u64) -> Option<Worst> {
    let by_name = |groups: &&Groups| matches!(groups.by(), By::Request | By::Name);
    let all = input.by_target.or(input.groups.filter(by_name))?.list();
    let (hits, all_bad) = all
        .iter()
        .fold((0, 0), |(hits, count), (_, group)| (hits + group.hits, count + bad(group)));
    let named = all.iter().filter(|(name, _)| name != OTHER);
    let (name, group) = named.max_by_key(|(_, group)| bad(group))?;
    let worst = Worst {
        name: shortened(name, NAME_MAX),
        hits: group.hits,
        bad: bad(group),
        all_bad,
        is_dead: group.hits >= COUNT_MIN && group.successes == 0 && are_servers(group),
    };
    let part = worst.bad as f64 / all_bad.max(1) as f64;
    let of_requests = group.hits as f64 / hits.max(1) as f64;
    let is_its = worst.bad >= least && part >= PART_MIN && part >= TIMES_MIN * of_requests;
    (all.len() > 1 && is_its).then_some(worst)
}

/// Its failures are the server's: none is for want of something here, and none was under way at the end.
fn are_servers(group: &Group) -> bool {
    let class = |why: FailureReason| match why {
        FailureReason::Kind(kind) => Class::Failure(kind),
        FailureReason::Outcome(outcome) => Class::Status(outcome),
    };
    group.failures.most_frequent().into_iter().all(|(why, _)| is_servers(class(why)))
}

#[cfg(test)]
mod tests {
    use metrics::{Batch, NO_TARGET, Outcome, Sample, Summary, TargetTable, Verdict};

    use super::*;
    use crate::conclusion::Conclusion;
    use crate::conclusion::facts::Facts;
    use crate::conclusion::tests::steady;

    /// 60 requests of each of these targets; the status and the time (ms) of the n-th.
    fn seen(targets: u64, answer: &dyn Fn(u64, u64) -> (u16, u64)) -> [Option<String>; 2] {
        let (mut summary, mut groups) = (Summary::new(), Groups::by_request());
        for n in 0..60 * targets {
            let target = n % targets;
            let mut batch = Batch::default();
            let line = batch.add_text(format!("GET http://h/|{target}").as_bytes());
            let (status, ms) = answer(target, n / targets);
            let intended = Nanos::from_millis(n * 10);
            batch.samples.push(Sample {
                target: NO_TARGET,
                line,
                outcome: Outcome::http(status),
                intended,
                sent: intended,
                done: intended + Nanos::from_millis(ms),
                ..Sample::default()
            });
            summary.add(&batch);
            groups.add(&batch, &TargetTable::default());
        }
        let verdict = Verdict::default();
        let input = Input {
            title: "",
            summary: &summary,
            verdict: &verdict,
            generator: None,
            losses: &[],
            groups: None,
            by_target: Some(&groups),
            attacked: None,
            timeline: None,
            traffic: None,
            buckets: None,
            server: None,
            selected: "",
            parts: &[],
            assertions: &[],
        };
        let worst = Worst::of(&input).map(|worst| worst.words());
        [worst, Slowest::of(&input).map(|slowest| slowest.words())]
    }

    #[test]
    fn the_target_that_has_the_failures_is_named() {
        let [worst, slowest] = seen(4, &|target, _| (if target == 2 { 500 } else { 200 }, 10));
        let worst = worst.expect("a target");
        assert!(
            worst.starts_with("all of them are of ") && worst.contains("no request"),
            "{worst}"
        );
        assert_eq!(slowest, None);
        let some = |target, n| (if target == 1 && n % 2 == 0 || n == 7 { 500 } else { 200 }, 10);
        let [worst, _] = seen(4, &some);
        let worst = worst.expect("a target");
        assert!(worst.ends_with("of its 60 requests") && !worst.starts_with("all"), "{worst}");
        let [none, _] = seen(4, &|_, n| (if n % 3 == 0 { 500 } else { 200 }, 10));
        assert_eq!(none, None);
        assert_eq!(seen(1, &|_, n| (if n % 3 == 0 { 500 } else { 200 }, 10))[0], None);
    }

    #[test]
    fn the_target_that_has_the_slow_answers_is_named() {
        let [_, slowest] = seen(4, &|target, n| (200, if target == 3 { 50 * n } else { 10 }));
        let words = slowest.expect("a target");
        assert!(
            words.starts_with("All ") && words.contains(" requests that took longer than "),
            "{words}"
        );
        assert!(words.ends_with(" of its requests, which are 25% of the run's"), "{words}");
        assert_eq!(seen(4, &|_, n| (200, 50 * n))[1], None);
    }

    #[test]
    fn a_page_that_never_worked_is_never_green() {
        let worst = Worst {
            name: "GET http://h/pay".to_owned(),
            hits: 36,
            bad: 36,
            all_bad: 36,
            is_dead: true,
        };
        let classes = vec![(Class::Status(Outcome::http(500)), 36)];
        let facts = Facts { successes: 1_764, classes, worst: Some(worst.clone()), ..steady() };
        let conclusion = Conclusion::from_facts(&facts);
        assert_eq!(conclusion.outcome_name(), "failing");
        let expected = "36 of 1,800 requests (2%) failed: 36 got status 500; all of them are of GET http://h/pay, of which no \
                        request succeeded (36 sent).";
        assert_eq!(conclusion.text().lines().nth(1), Some(expected));
        let sometimes = Worst { hits: 72, is_dead: false, ..worst };
        let facts = Facts { worst: Some(sometimes), ..facts };
        assert_eq!(Conclusion::from_facts(&facts).outcome_name(), "kept up");
    }
}
