//! The judge of the server's sentence: simulated servers whose capacity is known, under every order of their queue, judged by the
//! rules. `BRUNT_SHOW=1 cargo test -p report --lib simulated -- --nocapture` prints the tables of docs/design/conclusions.md.

mod scripts;
mod server;

use metrics::{Batch, Generator, Sample, Summary, Timeline, Verdict};

use self::server::{Arrivals, CAPACITY, Fault, Order, Service, TIMEOUT, ns_of, sample, simulate};
use super::facts::Facts;
use super::outcome::{Doubt, Outcome};
use crate::{Input, part_of};

fn outcome(samples: Vec<Sample>, rate: f64) -> (Outcome, Facts) {
    with_input(samples, rate, |input| {
        let facts = Facts::of(input);
        (Outcome::of(&facts), facts)
    })
}

/// What is said of these samples, sent at this rate by a generator without a fault.
fn with_input<T>(samples: Vec<Sample>, rate: f64, read: impl Fn(&Input<'_>) -> T) -> T {
    let requests = samples.len() as u64;
    let generator = Generator {
        rate_per_s: rate,
        planned: requests,
        sent: requests,
        finished: true,
        ..Generator::new()
    };
    with_generator(samples, &generator, read)
}

fn with_generator<T>(
    samples: Vec<Sample>,
    generator: &Generator,
    read: impl Fn(&Input<'_>) -> T,
) -> T {
    let batch = Batch { epoch: 0, samples, texts: Vec::new() };
    let (mut timeline, mut summary) = (Timeline::new(), Summary::new());
    timeline.add(&batch);
    summary.add(&batch);
    let verdict = Verdict::default();
    read(&Input {
        title: "",
        summary: &summary,
        verdict: &verdict,
        generator: Some(generator),
        losses: &[],
        groups: None,
        attacked: None,
        by_target: None,
        timeline: Some(&timeline),
        traffic: None,
        buckets: None,
        server: None,
        selected: "",
        parts: &[],
        assertions: &[],
    })
}

/// The second of two runs lets the first one's backlog look like a step and a fall.
#[test]
fn issue_39_parts_are_judged_by_their_own_backlogs() {
    let run = |share: f64| {
        let load = even(share, 20.0);
        simulate(Service::Exponential, Order::First, Fault::None, load, 1)
    };
    let part = |name: &str, share: f64| {
        with_input(run(share), share * CAPACITY, |input| part_of(name, input))
    };
    let parts = [part("a.arrow", 1.5), part("b\u{1b}.arrow", 0.5)];
    let text = with_input(run(0.5), 0.5 * CAPACITY, |input| {
        crate::text(&Input { parts: &parts, ..*input })
    });
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("a.arrow: ") && lines[0].contains("overloaded"), "{text}");
    assert!(lines[1].ends_with("the server kept up.") && !lines[1].contains('\u{1b}'), "{text}");
    assert!(lines[2].starts_with("25/s"), "the whole: {text}");
}

/// How many runs were said to keep up, to fall behind (or to fail), and not to tell.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    kept_up: u32,
    behind: u32,
    unclear: u32,
}

impl Counts {
    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::KeptUp => self.kept_up += 1,
            Outcome::Unclear(_) | Outcome::Unjudged => self.unclear += 1,
            _ => self.behind += 1,
        }
    }

    fn merge(&mut self, other: Self) {
        self.kept_up += other.kept_up;
        self.behind += other.behind;
        self.unclear += other.unclear;
    }

    fn all(self) -> f64 {
        f64::from(self.kept_up + self.behind + self.unclear)
    }
}

fn shown() -> bool {
    std::env::var_os("BRUNT_SHOW").is_some()
}

/// Seeds of a cell of the table: fewer of long runs, which take long to simulate.
fn seeds(seconds: f64) -> usize {
    match shown() {
        true if seconds >= 600.0 => 6,
        true => 60,
        false => 4,
    }
}

fn even(share: f64, seconds: f64) -> Arrivals {
    Arrivals { from: share * CAPACITY, to: share * CAPACITY, seconds, random: 1.0 }
}

/// Outcomes of a few seeds.
fn outcomes(fault: Fault, load: Arrivals) -> Vec<(Outcome, Facts)> {
    let mean = (load.from + load.to) / 2.0;
    let runs = (0..10).map(|seed| simulate(Service::Exponential, Order::Sticky, fault, load, seed));
    runs.map(|samples| outcome(samples, mean)).collect()
}

#[track_caller]
fn all_are(fault: Fault, load: Arrivals, expected: Outcome) -> Vec<Facts> {
    let found = outcomes(fault, load);
    for (outcome, facts) in &found {
        assert_eq!(*outcome, expected, "{fault:?} {load:?}: {facts:?}");
    }
    found.into_iter().map(|(_, facts)| facts).collect()
}

#[test]
fn a_pause_is_found_and_not_invented() {
    for facts in all_are(Fault::Pause(6.0), even(0.5, 20.0), Outcome::Paused) {
        let pause = facts.backlog.and_then(|backlog| backlog.pause).unwrap();
        let (at, length) = (pause.at.as_secs_f64(), pause.length.as_secs_f64());
        assert!((at - 7.0).abs() < 0.5 && (length - 6.0).abs() < 0.5, "{pause:?}");
    }
    all_are(Fault::Pause(0.5), even(0.5, 20.0), Outcome::KeptUp);
    // One request each two seconds: seconds without an answer are usual.
    all_are(Fault::None, even(0.01, 120.0), Outcome::KeptUp);
}

#[test]
fn a_limiter_and_timeouts_hide_no_overload() {
    all_are(Fault::Limiter(10), even(1.5, 20.0), Outcome::TurnedAway);
    all_are(Fault::None, even(2.0, 90.0), Outcome::TimedOut);
}

/// Capacity falls from 50/s to 25/s within 50 s; 35/s are asked.
#[test]
fn a_server_that_becomes_slower_says_since_when() {
    for facts in all_are(Fault::Drift(0.02), even(0.7, 60.0), Outcome::Overloaded) {
        let at =
            facts.backlog.and_then(|backlog| backlog.onset).map(|onset| onset.at.as_secs_f64());
        assert!(
            at.is_some_and(|at| (10.0..45.0).contains(&at)),
            "capacity is 35/s after 21 s: {at:?}"
        );
    }
}

#[test]
fn a_ramp_is_judged_by_the_load_at_the_moment() {
    let ramp = Arrivals { from: 0.1 * CAPACITY, to: 1.9 * CAPACITY, seconds: 60.0, random: 1.0 };
    for facts in all_are(Fault::None, ramp, Outcome::Overloaded) {
        let onset = facts.backlog.and_then(|backlog| backlog.onset).expect("an onset");
        let at = onset.at.as_secs_f64() / 30.0;
        for share in [onset.answered / CAPACITY, onset.asked / CAPACITY, at] {
            assert!((share - 1.0).abs() < 0.1, "{onset:?}");
        }
    }
    let below = Arrivals { to: 0.8 * CAPACITY, ..ramp };
    for facts in all_are(Fault::None, below, Outcome::KeptUp) {
        assert!(facts.loads().is_some_and(|[_, most]| most > 0.7 * CAPACITY), "{facts:?}");
    }
}

/// Steps of 10/s up to 80/s, 10 s each: the one to 60/s is the first that is more than the capacity.
#[test]
fn steps_are_judged_by_the_first_that_is_too_much() {
    let steps = (1..=8).flat_map(|step| {
        let from = 10.0 * f64::from(step - 1);
        dues(10.0 * f64::from(step), from, from + 10.0)
    });
    let mut free = [0.0f64; 5];
    let samples = steps.map(|due| {
        let first = free.iter_mut().min_by(|one, other| one.total_cmp(other)).expect("a worker");
        *first = first.max(due) + 0.1;
        sample(ns_of(due), ns_of(*first), 200)
    });
    let (found, facts) = outcome(samples.collect(), 45.0);
    assert_eq!(found, Outcome::Overloaded, "{facts:?}");
    let onset = facts.backlog.and_then(|backlog| backlog.onset).expect("an onset");
    assert!((onset.at.as_secs_f64() - 50.0).abs() < 1.0, "{onset:?}");
    assert!(
        (onset.answered / CAPACITY - 1.0).abs() < 0.05 && (onset.asked - 60.0).abs() < 2.0,
        "{onset:?}"
    );
}

/// A server without a queue: `wait` says how long a request takes (s) that is the so many-th and due then; `None` is a timeout.
fn unqueued(
    dues: impl IntoIterator<Item = f64>,
    wait: impl Fn(usize, f64) -> Option<f64>,
) -> Vec<Sample> {
    let one = |(number, due): (usize, f64)| match wait(number, due) {
        Some(wait) => sample(ns_of(due), ns_of(due + wait), 200),
        None => sample(ns_of(due), ns_of(due + TIMEOUT), 0),
    };
    let mut samples: Vec<Sample> = dues.into_iter().enumerate().map(one).collect();
    samples.sort_by_key(|sample| sample.done);
    samples
}

/// So many requests a second from one time to another (s).
fn dues(rate: f64, from: f64, to: f64) -> impl Iterator<Item = f64> {
    (0..((to - from) * rate) as usize).map(move |number| from + number as f64 / rate)
}

#[test]
fn long_answers_without_a_queue_are_no_overload() {
    let unclear = Outcome::Unclear(Doubt::Steady);
    for (rate, seconds, wait, expected) in [
        (10.0, 5.0, 4.0, unclear),
        (20.0, 12.0, 10.0, unclear),
        (20.0, 10.0, 9.0, unclear),
        (10.0, 60.0, 4.0, Outcome::KeptUp),
    ] {
        let found = outcome(unqueued(dues(rate, 0.0, seconds), |_, _| Some(wait)), rate).0;
        assert_eq!(found, expected, "{rate}/s for {seconds} s, each {wait} s");
    }
    // One of twenty requests goes to a slow place.
    for (seconds, expected) in [(10.0, unclear), (20.0, unclear), (120.0, Outcome::KeptUp)] {
        let slow = |number: usize, _| Some(if number % 20 == 7 { 15.0 } else { 0.01 });
        let found = outcome(unqueued(dues(50.0, 0.0, seconds), slow), 50.0).0;
        assert_eq!(found, expected, "{seconds} s");
    }
}

#[test]
fn requests_that_hang_are_no_queue() {
    let hang = |each: usize| move |number: usize, _| (number % each != 3).then_some(0.01);
    let found = outcome(unqueued(dues(50.0, 0.0, 60.0), hang(33)), 50.0).0;
    assert_eq!(found, Outcome::Unclear(Doubt::Steady));
    let found = outcome(unqueued(dues(50.0, 0.0, 60.0), hang(100)), 50.0).0;
    assert_eq!(found, Outcome::KeptUp, "one in a hundred is an error, which is named");
    // Nothing is answered any more from second 7 of 10 on, until it is stopped.
    let stuck = |_, due: f64| Some(if due < 7.0 { 0.01 } else { 20.0 - due });
    let (found, facts) = outcome(unqueued(dues(50.0, 0.0, 10.0), stuck), 50.0);
    assert_eq!(found, Outcome::Paused, "{facts:?}");
}

#[test]
fn a_gap_in_the_load_is_not_the_servers() {
    let found = |dues: Vec<f64>, wait: f64| {
        let rate = dues.len() as f64 / dues.last().unwrap();
        outcome(unqueued(dues, |_, _| Some(wait)), rate).0
    };
    let gap = |rate: f64, on: f64, off: f64| {
        dues(rate, 0.0, on).chain(dues(rate, on + off, on + off + on)).collect::<Vec<_>>()
    };
    for (rate, on, off, wait) in [
        (50.0, 3.0, 3.0, 0.3),
        (500.0, 4.0, 4.0, 0.3),
        (500.0, 4.0, 4.0, 0.13),
        (50.0, 4.0, 4.0, 1.5),
        (50.0, 60.0, 60.0, 0.3),
    ] {
        let dues = gap(rate, on, off);
        let (found, facts) = outcome(unqueued(dues, |_, _| Some(wait)), rate);
        assert_eq!(found, Outcome::KeptUp, "{rate}/s, {on} s, gap of {off} s: {facts:?}");
    }
    let trickle = dues(200.0, 0.0, 2.0).chain([2.5, 3.5]).chain(dues(200.0, 4.0, 6.0)).collect();
    assert_eq!(found(trickle, 0.3), Outcome::KeptUp);
    let bursts =
        (0..12).flat_map(|burst| dues(1000.0, 5.0 * burst as f64, 5.0 * burst as f64 + 0.05));
    assert_eq!(found(bursts.collect(), 1.1), Outcome::KeptUp);
}

/// The counts of a load (in shares of the capacity) and a length, over all servers and orders.
fn row(share: f64, seconds: f64, fault: Fault) -> Counts {
    let mut all = Counts::default();
    for service in Service::ALL {
        for (place, order) in Order::ALL.into_iter().enumerate() {
            for random in [0.0, 1.0] {
                let mut counts = Counts::default();
                // The same arrivals and times make nearly the same backlog in each order.
                for seed in (1000 * place as u64..).take(seeds(seconds)) {
                    let rate = share * CAPACITY;
                    let load = Arrivals { from: rate, to: rate, seconds, random };
                    counts.add(outcome(simulate(service, order, fault, load, seed), rate).0);
                }
                if shown() {
                    println!("{share} x {seconds}s {service:?} {order:?} {random}: {counts:?}");
                }
                all.merge(counts);
            }
        }
    }
    all
}

/// Loads in shares of the capacity, and lengths (s).
const GRID: [(f64, f64); 14] = [
    (0.3, 20.0),
    (0.6, 20.0),
    (0.8, 20.0),
    (0.8, 60.0),
    (1.1, 20.0),
    (1.1, 60.0),
    (1.25, 20.0),
    (1.5, 20.0),
    (1.5, 60.0),
    (2.0, 10.0),
    (2.0, 60.0),
    (0.3, 600.0),
    (0.8, 600.0),
    (1.1, 600.0),
];
/// Those that take long to simulate, only where the table is shown.
const LONG: [(f64, f64); 4] = [(2.0, 60.0), (0.3, 600.0), (0.8, 600.0), (1.1, 600.0)];

#[test]
fn the_servers_sentence_is_right_whatever_the_queues_order() {
    check_rows(0);
}

#[test]
fn the_servers_sentence_is_right_in_the_other_rows_too() {
    check_rows(1);
}

/// Every second row, from this one on: the halves run side by side.
fn check_rows(first: usize) {
    let rows = GRID.into_iter().filter(|row| shown() || !LONG.contains(row));
    for (share, seconds) in rows.skip(first).step_by(2) {
        let counts = row(share, seconds, Fault::None);
        eprintln!(
            "| {share} | {seconds} s | {} | {} | {} |",
            counts.kept_up, counts.behind, counts.unclear
        );
        let all = counts.all();
        // One more is chance where the seeds are few.
        let few = 0.01 * all + 1.0;
        if share >= 1.1 {
            assert!(f64::from(counts.kept_up) <= few, "{share} x {seconds} s: {counts:?}");
        }
        if share <= 0.8 {
            assert!(f64::from(counts.behind) <= few, "{share} x {seconds} s: {counts:?}");
        }
        if !(0.8..=1.25).contains(&share) && seconds >= 20.0 {
            assert!(f64::from(counts.unclear) <= 0.05 * all, "{share} x {seconds} s: {counts:?}");
        }
    }
}
