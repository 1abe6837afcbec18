//! Iterations that are due at once begin, and go on, a few at a time: answers are looked at in between.

use std::sync::atomic::Ordering;

use stdx::Nanos;
use workload::{Commands, PollBudget};

use super::Test;

/// Polls once with a share; gives how many lines were logged, and whether the crew wants to go on at once.
fn poll(test: &mut Test, now: Nanos, budget: PollBudget) -> (usize, bool) {
    test.clock.store(now.0, Ordering::Relaxed);
    let mut commands = Commands { budget, ..Commands::default() };
    let wake = test.crews[0].poll(now, &mut commands);
    let lines = std::mem::take(&mut *test.lines.lock().unwrap());
    (lines.len(), wake.is_some_and(|wake| wake <= now))
}

#[test]
fn many_users_begin_and_wake_a_few_at_a_time() {
    let source = "export default function () { log('begins'); sleep(5); log('goes on'); sleep(5) }";
    let options = r#"{"scenarios":{"s":{"executor":"constant-vus","vus":30,"duration":"60s"}}}"#;
    let mut test = Test::new(source, options, 1);
    for second in [0, 5] {
        let now = Nanos::from_secs(second);
        let polled: Vec<_> = [
            PollBudget::FULL,
            PollBudget::NONE,
            PollBudget::ONE,
            PollBudget::FULL,
            PollBudget::FULL,
        ]
        .into_iter()
        .map(|budget| poll(&mut test, now, budget))
        .collect();
        assert_eq!(polled, [(8, true), (0, true), (1, true), (8, true), (8, true)], "{second} s");
        assert_eq!(poll(&mut test, now, PollBudget::FULL), (5, false), "all 30");
    }
}

#[test]
fn iterations_of_a_rate_begin_a_few_at_a_time() {
    let options = r#"{"scenarios":{"s":{"executor":"constant-arrival-rate","rate":20,"timeUnit":"1s","duration":"60s","preAllocatedVUs":40}}}"#;
    let mut test = Test::new("export default function () { log('begins'); sleep(5) }", options, 1);
    poll(&mut test, Nanos::ZERO, PollBudget::FULL);
    let polled =
        [PollBudget::FULL, PollBudget::NONE, PollBudget::FULL, PollBudget::FULL, PollBudget::FULL]
            .map(|budget| poll(&mut test, Nanos::from_millis(1_010), budget));
    assert_eq!(polled, [(8, true), (0, true), (8, true), (4, false), (0, false)]);
}
