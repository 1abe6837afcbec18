//! Iterations that are due at once begin, and go on, a few at a time: answers are looked at in between.

use std::sync::atomic::Ordering;

use stdx::Nanos;
use workload::{Share, Wishes};

use super::Test;

/// Polls once with a share; gives how many lines were logged, and whether the crew wants to go on at once.
fn poll(test: &mut Test, now: Nanos, share: Share) -> (usize, bool) {
    test.clock.store(now.0, Ordering::Relaxed);
    let mut wishes = Wishes { share, ..Wishes::default() };
    let wake = test.crews[0].poll(now, &mut wishes);
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
        let polled: Vec<_> = [Share::FULL, Share::NONE, Share::ONE, Share::FULL, Share::FULL]
            .into_iter()
            .map(|share| poll(&mut test, now, share))
            .collect();
        assert_eq!(polled, [(8, true), (0, true), (1, true), (8, true), (8, true)], "{second} s");
        assert_eq!(poll(&mut test, now, Share::FULL), (5, false), "all 30");
    }
}

#[test]
fn iterations_of_a_rate_begin_a_few_at_a_time() {
    let options = r#"{"scenarios":{"s":{"executor":"constant-arrival-rate","rate":20,"timeUnit":"1s","duration":"60s","preAllocatedVUs":40}}}"#;
    let mut test = Test::new("export default function () { log('begins'); sleep(5) }", options, 1);
    poll(&mut test, Nanos::ZERO, Share::FULL);
    let polled = [Share::FULL, Share::NONE, Share::FULL, Share::FULL, Share::FULL]
        .map(|share| poll(&mut test, Nanos::from_millis(1_010), share));
    assert_eq!(polled, [(8, true), (0, true), (8, true), (4, false), (0, false)]);
}
