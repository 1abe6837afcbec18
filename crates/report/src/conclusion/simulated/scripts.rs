//! The judge of scripts with arrival rates: an iteration is two requests and a pause between them, of servers whose capacity is known.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use metrics::{Generator, IterationCounts, IterationCourse, IterationMeter, Sample};
use stdx::{Nanos, Prng};

use super::super::facts::Facts;
use super::super::outcome::Outcome;
use super::server::{Arrivals, CAPACITY, Service, ns_of, sample};
use super::{Counts, seeds, shown, with_generator};

/// Requests of an iteration.
const REQUESTS: u32 = 2;
/// The iterations that a server can bear (1/s).
const ITERATIONS: f64 = CAPACITY / REQUESTS as f64;

/// What a client sees of a script's iterations.
struct Script {
    samples: Vec<Sample>,
    course: IterationCourse,
}

impl Script {
    /// Iterations that fall due at these times and pause for so long (s) between their requests; first come, first served.
    fn of(service: Service, load: Arrivals, pause: f64, seed: u64) -> Self {
        let mut rng = Prng::new(seed);
        let mut free = vec![0u64; service.workers()];
        let mut events: Vec<(u64, IterationCounts)> = Vec::new();
        let dues = load.times(&mut rng).into_iter().map(ns_of);
        let mut asked: BinaryHeap<Reverse<(u64, u32)>> =
            dues.map(|due| Reverse((due, 0))).collect();
        events.extend(
            asked.iter().map(|Reverse((due, _))| (*due, IterationCounts { due: 1, ended: 0 })),
        );
        let mut samples = Vec::new();
        while let Some(Reverse((at, request))) = asked.pop() {
            let worker = free.iter_mut().min().expect("a server has a worker");
            let done = at.max(*worker) + ns_of(service.draw(&mut rng));
            *worker = done;
            samples.push(sample(at, done, 200));
            match request + 1 {
                REQUESTS => events.push((done, IterationCounts { due: 0, ended: 1 })),
                next => asked.push(Reverse((done + ns_of(pause), next))),
            }
        }
        samples.sort_by_key(|sample| sample.done);
        events.sort_by_key(|event| event.0);
        Self { samples, course: course(&events) }
    }

    fn outcome(self) -> (Outcome, Facts, String) {
        let requests = self.samples.len() as u64;
        let generator = Generator {
            self_paced: true,
            users: 1_000,
            planned: requests,
            sent: requests,
            iterations: self.course,
            finished: true,
            ..Generator::new()
        };
        with_generator(self.samples, &generator, |input| {
            let facts = Facts::of(input);
            let first = crate::conclusion::sentences_of(input).first().cloned().unwrap_or_default();
            (Outcome::of(&facts), facts, first)
        })
    }
}

fn course(events: &[(u64, IterationCounts)]) -> IterationCourse {
    let (mut meter, mut all) = (IterationMeter::default(), IterationCounts::default());
    for (at, counts) in events {
        all = IterationCounts { due: all.due + counts.due, ended: all.ended + counts.ended };
        meter.note(Nanos(*at), all);
    }
    meter.course().clone()
}

fn load(share: f64, seconds: f64, random: f64) -> Arrivals {
    let rate = share * ITERATIONS;
    Arrivals { from: rate, to: rate, seconds, random }
}

/// The counts of a load (in shares of the capacity) and a length, over all servers and pauses.
fn row(share: f64, seconds: f64) -> Counts {
    let mut all = Counts::default();
    for service in Service::ALL {
        for (pause, random) in [(0.0, 0.0), (0.0, 1.0), (0.5, 1.0), (2.0, 0.0), (2.0, 1.0)] {
            let load = load(share, seconds, random);
            for seed in (0..).take(seeds(seconds)) {
                all.add(Script::of(service, load, pause, seed).outcome().0);
            }
        }
    }
    all
}

#[test]
fn issue_39_a_script_with_an_arrival_rate_is_judged() {
    let grid = [(0.3, 20.0), (0.6, 20.0), (0.8, 20.0), (0.8, 60.0), (1.1, 60.0), (1.25, 20.0)];
    let rest = [(0.6, 60.0), (1.5, 60.0), (2.0, 20.0), (0.8, 600.0), (1.1, 600.0)];
    for (share, seconds) in grid.into_iter().chain(rest) {
        if seconds >= 600.0 && !shown() {
            continue;
        }
        let counts = row(share, seconds);
        let Counts { kept_up, behind, unclear } = counts;
        eprintln!("| {share} | {seconds} s | {kept_up} | {behind} | {unclear} |");
        let few = 0.01 * counts.all() + 1.0;
        if share >= 1.1 {
            assert!(f64::from(kept_up) <= few, "{share} x {seconds} s: {counts:?}");
        }
        if share <= 0.8 {
            assert!(f64::from(behind) <= few, "{share} x {seconds} s: {counts:?}");
        }
        // Within 20 s few iterations of some seconds come to their end.
        if !(0.8..=1.25).contains(&share) && seconds >= 60.0 {
            assert!(f64::from(unclear) <= 0.05 * counts.all() + 1.0, "{share}: {counts:?}");
        }
    }
}

#[test]
fn issue_39_the_sentence_of_an_arrival_rate_has_iterations() {
    let said = |share: f64, to: f64| {
        let even = load(share, 60.0, 0.0);
        let load = Arrivals { to: to * ITERATIONS, ..even };
        Script::of(Service::Fixed, load, 0.5, 1).outcome()
    };
    let (outcome, facts, text) = said(0.6, 0.6);
    assert_eq!(outcome, Outcome::KeptUp, "{facts:?}");
    assert_eq!(text, "15 iterations/s of a script for 1m0s, all answered: the server kept up.");
    let (outcome, facts, text) = said(1.5, 1.5);
    assert_eq!(outcome, Outcome::Overloaded, "{facts:?}");
    assert!(text.starts_with("37.5 iterations/s of a script for 1m0s, "), "{text}");
    assert!(
        text.contains(" iterations/s completed: the server is overloaded and falls behind by "),
        "{text}"
    );
    let (outcome, facts, text) = said(0.2, 1.8);
    assert_eq!(outcome, Outcome::Overloaded, "{facts:?}");
    let most = facts.backlog.and_then(|one| one.onset).map_or(0.0, |onset| onset.answered);
    assert!((most / ITERATIONS - 1.0).abs() < 0.2, "{text}");
    let words = "Rising evenly from 5 to 45 for 1m0s (iterations/s of a script): ";
    assert!(text.starts_with(words), "{text}");
}

/// Iterations of 15 s in a run of 20 s: most are under way, and the server has no queue.
#[test]
fn issue_39_long_iterations_are_no_overload() {
    for (pause, random) in [(15.0, 0.0), (15.0, 1.0), (8.0, 1.0), (30.0, 0.0)] {
        for seed in 0..10 {
            let load = load(0.5, 20.0, random);
            let (outcome, facts, _) = Script::of(Service::Exponential, load, pause, seed).outcome();
            let is_right =
                matches!(outcome, Outcome::KeptUp | Outcome::Unclear(_) | Outcome::ByUsers);
            assert!(is_right, "{pause} s: {outcome:?} {facts:?}");
        }
    }
}
