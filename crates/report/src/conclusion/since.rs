//! Words for when failures began and ended, where they lie in one span of the run.

use metrics::FailureKind;
use stdx::Nanos;

use super::class::Class;
use super::facts::Facts;
use super::outage::Outage;
use super::repeat::Repeat;
use super::words::{share, time};

/// One class has so much of the failures that it stands for all.
const CLASS_MIN: f64 = 0.95;
/// Failures of which so many mean that nothing listened are those of a server that was gone.
const GONE_MIN: f64 = 0.95;

/// `; from 9s on all had their connection refused`; empty where failures have no moment.
pub(super) fn since(facts: &Facts) -> String {
    let Some(outage) = facts.outage else { return again(facts) };
    let who = if outage.share == 1.0 { "all".to_owned() } else { share(outage.share) };
    let others = match (facts.is_closed(), outage.until) {
        (false, _) if outage.is_all && outage.share < 1.0 => ", and none elsewhere".to_owned(),
        (false, _) => String::new(),
        (true, None) => format!("; {} succeeded before", facts.of_requests(outage.others_per_s)),
        (true, Some(_)) => {
            format!("; {} succeeded in the rest", facts.of_requests(outage.others_per_s))
        }
    };
    format!("; {} {who} {}{others}", span(&outage), how(facts))
}

/// `; 3 times, 4.2s in all, the first at 2s, the last at 12s, all failed`; empty where failures have no moments.
fn again(facts: &Facts) -> String {
    let words = |all: Repeat| format!("; {}, all {}", all.words(), how(facts));
    facts.outages.map_or(String::new(), words)
}

/// `was gone from 6.88s to 7.25s (375ms), as at a restart, and kept up before and after`: for less than a second nothing listened.
pub(super) fn gap(facts: &Facts) -> Option<String> {
    use FailureKind::{Dial, Eof, Refused, Reset};
    let outage = facts.outage.filter(|outage| outage.share == 1.0 && outage.from > Nanos::ZERO)?;
    let until = outage.until?;
    let is_gone = |class| matches!(class, Class::Failure(Dial | Eof | Refused | Reset));
    (facts.share_of(is_gone) >= GONE_MIN * facts.failed_share()).then(|| {
        format!(
            "was gone from {} to {} ({}), as at a restart, and kept up before and after",
            time(outage.from),
            time(until),
            time(outage.length)
        )
    })
}

/// `from 9s on`, `in the first 500ms`, `from 7s to 11.2s (4.2s)`.
fn span(outage: &Outage) -> String {
    match outage.until {
        None => format!("from {} on", time(outage.from)),
        Some(until) if outage.from == Nanos::ZERO => format!("in the first {}", time(until)),
        Some(until) => {
            format!("from {} to {} ({})", time(outage.from), time(until), time(outage.length))
        }
    }
}

/// What became of them, where nearly all of them have the same class.
fn how(facts: &Facts) -> String {
    let most = facts.classes.first();
    let most = most.filter(|(_, count)| *count as f64 >= CLASS_MIN * facts.failed() as f64);
    most.map_or_else(|| "failed".to_owned(), |(class, _)| facts.words_of(*class))
}

#[cfg(test)]
mod tests {
    use metrics::FailureKind;

    use super::*;
    use crate::conclusion::Conclusion;
    use crate::conclusion::facts::Offered;
    use crate::conclusion::tests::steady;

    const REFUSED: Class = Class::Failure(FailureKind::Refused);
    const STATUS: Class = Class::Status(metrics::Outcome::Http(500));

    fn failing(class: Class, count: u64, outage: Outage) -> Facts {
        let classes = vec![(class, count)];
        Facts { successes: 1_800 - count, classes, outage: Some(outage), ..steady() }
    }

    fn outage(from: u64, until: Option<u64>) -> Outage {
        let length = Nanos::from_millis(until.unwrap_or(30_000) - from);
        let until = until.map(Nanos::from_millis);
        let from = Nanos::from_millis(from);
        Outage { from, until, length, share: 1.0, is_all: true, others_per_s: 60.0 }
    }

    #[test]
    fn a_server_that_died_and_one_that_came_back_read_differently() {
        let first = |facts: &Facts| Conclusion::from_facts(facts).first().to_owned();
        let died = failing(REFUSED, 900, outage(15_000, None));
        assert_eq!(
            first(&died),
            "60/s for 30s, 30/s answered with success: 50% of the requests fail; from 15s on all had their connection refused."
        );
        let back = failing(REFUSED, 252, outage(7_000, Some(11_200)));
        assert!(
            first(&back).ends_with("; from 7s to 11.2s (4.2s) all had their connection refused.")
        );
        let begins = failing(REFUSED, 30, outage(0, Some(500)));
        assert!(
            first(&begins).ends_with("; in the first 500ms all had their connection refused."),
            "{}",
            first(&begins)
        );
        let some = Outage { share: 0.4, ..outage(12_000, None) };
        let some = first(&failing(STATUS, 400, some));
        assert!(some.ends_with("; from 12s on 40% got status 500, and none elsewhere."), "{some}");
        let users = Facts { offered: Offered::Users(8), ..died };
        assert!(first(&users).contains("refused; 60/s succeeded before."), "{}", first(&users));
    }

    #[test]
    fn a_server_that_was_down_for_seconds_did_not_keep_up() {
        let result = |from, until, count| {
            Conclusion::from_facts(&failing(REFUSED, count, outage(from, Some(until))))
        };
        let down = result(7_000, 8_300, 78);
        assert_eq!(down.outcome_name(), "failing");
        assert!(!down.badge().contains("good"), "{}", down.badge());
        let gap = result(7_000, 7_500, 30);
        assert_eq!(gap.outcome_name(), "kept up");
        assert_eq!(
            gap.first(),
            "60/s for 30s: the server was gone from 7s to 7.5s (500ms), as at a restart, and kept up before and after; 1.7% of the \
             requests failed."
        );
    }
    #[test]
    fn a_server_that_was_down_twice_says_when() {
        let (first, last) = (Nanos::from_secs(2), Nanos::from_secs(12));
        let sum = Nanos::from_millis(1_600);
        let outages = Repeat { times: 2, sum, longest: Nanos::from_millis(900), first, last };
        let classes = vec![(REFUSED, 70)];
        let facts = Facts { successes: 1_730, classes, outages: Some(outages), ..steady() };
        let two = Conclusion::from_facts(&facts);
        assert_eq!(two.outcome_name(), "kept up");
        let words = "; 2 times, 1.6s in all, the first at 2s, the last at 12s, all had their connection refused.";
        assert!(two.first().ends_with(words), "{}", two.first());
        let outages = Some(Repeat { longest: Nanos::SECOND, ..outages });
        assert_eq!(Conclusion::from_facts(&Facts { outages, ..facts }).outcome_name(), "failing");
    }
}
