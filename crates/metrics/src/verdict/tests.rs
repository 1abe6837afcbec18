//! The rules one by one, the cases that misled users, and the error rates over simulated generators.

use stdx::Prng;

use super::*;

/// A generator that did all it should: 1000 hits at 100/s, each begun 10 µs late.
fn good() -> Generator {
    let mut generator = Generator {
        workers: 2,
        rate_per_s: 100.0,
        planned: 1000,
        sent: 1000,
        cpu_busiest: 0.3,
        wall: Nanos::from_secs(10),
        finished: true,
        ..Generator::new()
    };
    generator.lag.record_n(Nanos::from_micros(10), 1000);
    generator
}

fn answered_in(response: Nanos) -> Summary {
    let mut summary = Summary::new();
    summary.response.record_n(response, 1000);
    summary
}

fn late(lag: Nanos) -> impl Fn(&mut Generator) {
    move |generator| generator.lag.record_n(lag, 100)
}

fn check(change: impl Fn(&mut Generator), expect: &str) {
    let mut generator = good();
    change(&mut generator);
    let verdict = Verdict::new(&answered_in(Nanos::from_millis(20)), Some(&generator), &[]);
    assert_eq!(verdict.to_string(), expect);
    assert_eq!(verdict.is_valid(), expect == "VALID");
}

#[test]
fn each_reason_names_its_figures() {
    check(|_| (), "VALID");
    check(|g| (g.sent, g.not_sent) = (995, 5), "INVALID: 5 of 1000 hits were not sent");
    check(
        |g| (g.sent, g.not_sent) = (900, 100),
        "INVALID: 100 of 1000 hits were not sent; the rate was 90.00/s instead of 100.00/s",
    );
    check(
        |g| (g.stalls, g.stall_longest) = (2, Nanos::from_millis(301)),
        "INVALID: the generator stood still 2 times for over 100ms (longest 301ms)",
    );
    check(
        late(Nanos(6_000_000)),
        "INVALID: hits began late: schedule lag p99 6ms, response p99 20ms",
    );
    check(
        |g| g.descriptors_exhausted = 3,
        "INVALID: no file descriptor was left for 3 connections",
    );
    check(|g| g.ports_exhausted = 4, "INVALID: no local port was left for 4 connections");
    check(|g| g.rows_dropped = 7, "INVALID: 7 rows were dropped before being written");
    check(
        |g| g.finished = false,
        "INVALID: the stream was cut off before the generator's last word",
    );
    check(
        |g| {
            g.cpu_busiest = 0.99;
            late(Nanos(2_000_000))(g);
        },
        "INVALID: the generator's busiest core was at 99% with lag p99 2ms",
    );
}

#[test]
fn small_faults_are_let_pass() {
    check(|g| g.cpu_busiest = 0.99, "VALID");
    check(late(Nanos(4_900_000)), "VALID");
    check(|g| (g.planned, g.sent, g.interrupted) = (500, 500, true), "VALID");
    check(|g| (g.users, g.rate_per_s, g.sent) = (8, 0.0, 1), "VALID");
    let mut generator = good();
    late(Nanos(6_000_000))(&mut generator);
    let slow = answered_in(Nanos::from_secs(1));
    assert!(Verdict::new(&slow, Some(&generator), &[]).is_valid(), "6 ms of a second");
}

#[test]
fn without_a_record_it_says_so() {
    let (summary, lost) = (Summary::new(), ["the file ends in the middle of a row".to_owned()]);
    let verdict = Verdict::new(&summary, None, &[]);
    assert_eq!(
        verdict.to_string(),
        "VALID (as far as this format tells: it holds no record of the generator)"
    );
    let verdict = Verdict::new(&summary, None, &lost);
    assert_eq!(verdict.to_string(), "INVALID: the file ends in the middle of a row");
    let cut = Generator { finished: false, ..good() };
    let verdict = Verdict::new(&summary, Some(&cut), &lost);
    assert_eq!(verdict.reasons, [Reason::Lost(lost[0].clone())]);
}

/// Hits of a generator, each as its own lag and the time the server took.
fn run_of(hits: impl IntoIterator<Item = (u64, u64)>) -> (Summary, Generator) {
    let (mut summary, mut generator) = (Summary::new(), good());
    generator.lag.clear();
    for (lag, took) in hits {
        generator.lag.record(Nanos(lag));
        generator.on_time.record(Nanos(took));
        summary.response.record(Nanos(lag + took));
        summary.service.record(Nanos(took));
    }
    (summary, generator)
}

/// Hits whose quantiles are the given times, in microseconds: 50, 90 and 99 of 100 within the first three.
fn quantiles_of(us: [u64; 4]) -> impl Iterator<Item = u64> {
    (0..1000).map(move |hit| 1000 * us[[500, 900, 990].iter().filter(|end| hit >= **end).count()])
}

#[test]
fn late_starts_are_judged_by_what_they_raise() {
    // nginx at 300/s on a busy machine: the lag of a hit was up to 2.9 ms, and 93 % of the p99.
    let late = quantiles_of([40, 600, 2_900, 3_000]).zip(quantiles_of([170, 180, 400, 910]));
    let (summary, generator) = run_of(late);
    let verdict = Verdict::new(&summary, Some(&generator), &[]);
    assert_eq!(
        verdict.to_string(),
        "INVALID: late starts raised p90 from 180µs to 780µs, p95 from 401µs to 3.3ms and p99 from 401µs to 3.3ms; \
         p50 is good, and so is service time"
    );
    // Puma at 60/s: some hits began 7.3 ms late, and the slowest answers were not among them.
    let late = (0..1000).map(|hit| if hit % 50 == 0 { 7_300_000 } else { 60_000 });
    let took = (0..1000).map(|hit| if hit % 50 == 1 { 63_275_000 } else { 42_000_000 });
    let (summary, generator) = run_of(late.zip(took));
    assert_eq!(generator.lag.quantile(0.99).rounded().to_string(), "7.3ms");
    assert_eq!(Verdict::new(&summary, Some(&generator), &[]).to_string(), "VALID");
    // With kernel time stamps beside: response p99 8.3 ms, of which 4.7 ms are the generator's.
    let late = quantiles_of([50, 60, 4_700, 4_700]).zip(quantiles_of([200, 300, 3_600, 3_600]));
    let (summary, generator) = run_of(late);
    assert_eq!(
        Verdict::new(&summary, Some(&generator), &[]).to_string(),
        "INVALID: late starts raised p95 from 3.6ms to 8.3ms and p99 from 3.6ms to 8.3ms; p50 and p90 are good, and so is service time"
    );
}

#[test]
fn a_wake_up_and_a_tick_are_no_lateness() {
    let (summary, mut generator) = run_of((0..100).map(|_| (90_000, 150_000)));
    assert!(Verdict::new(&summary, Some(&generator), &[]).is_valid(), "90µs is a wake-up");
    generator.cpu_busiest = 1.0;
    assert!(Verdict::new(&summary, Some(&generator), &[]).is_valid(), "a busy core alone");
    let (summary, mut generator) = run_of((0..100).map(|_| (900_000, 150_000)));
    assert!(!Verdict::new(&summary, Some(&generator), &[]).is_valid());
    generator.tick = Nanos::MILLI;
    assert!(Verdict::new(&summary, Some(&generator), &[]).is_valid(), "as asked for: --tick 1ms");
}

#[test]
fn a_record_of_other_hits_is_judged_by_its_lag() {
    let (mut summary, mut generator) = run_of((0..1000).map(|_| (900_000, 150_000)));
    for _ in 0..100 {
        summary.response.record(Nanos(150_000));
    }
    assert!(Verdict::new(&summary, Some(&generator), &[]).is_valid(), "lag below 5ms");
    generator.lag.record_n(Nanos::from_millis(6), 100);
    assert!(matches!(
        Verdict::new(&summary, Some(&generator), &[]).reasons[..],
        [Reason::Lag { .. }]
    ));
}

/// A run's disturbance of the generator, and what it does to hit number `hit` of `hits`: its lag in nanoseconds.
type Disturbance = fn(rng: &mut Prng, hit: u64, hits: u64, size: f64) -> f64;

/// Wake-ups of 20 to 70 µs, as a quiet machine has them.
fn quiet(rng: &mut Prng, _: u64, _: u64, _: f64) -> f64 {
    20e3 + 50e3 * rng.next_f64()
}

/// One time the generator stood still: the hits of 3 % of the run are late, the first of them most.
fn one_stop(rng: &mut Prng, hit: u64, hits: u64, size: f64) -> f64 {
    let (from, len) = (hits / 3, (hits / 33).max(1));
    let late = hit.checked_sub(from).filter(|after| *after < len);
    quiet(rng, 0, 0, 0.0) + late.map_or(0.0, |after| size * (1.0 - after as f64 / len as f64))
}

/// A neighbour takes the core now and then: one hit in twelve waits.
fn neighbour(rng: &mut Prng, _: u64, _: u64, size: f64) -> f64 {
    let waits = rng.next_f64() < 1.0 / 12.0;
    quiet(rng, 0, 0, 0.0) + if waits { size * (0.5 + rng.next_f64()) } else { 0.0 }
}

/// A generator that falls behind more and more.
fn drift(rng: &mut Prng, hit: u64, hits: u64, size: f64) -> f64 {
    quiet(rng, 0, 0, 0.0) + size * hit as f64 / hits as f64
}

/// The exact quantile of times in nanoseconds.
fn exact(times: &mut [f64], q: f64) -> f64 {
    times.sort_by(f64::total_cmp);
    times[((q * times.len() as f64).ceil() as usize).clamp(1, times.len()) - 1]
}

/// How a run should be judged: by how much the printed quantiles of its own hits, without rounding, exceed those without lag.
/// `None` where that is within a fifth of the limit, where either answer is right.
fn truth(hits: &[(f64, f64)]) -> Option<bool> {
    let excess = JUDGED.map(|q| {
        let mut response: Vec<f64> = hits.iter().map(|(lag, took)| lag + took).collect();
        let mut alone: Vec<f64> = hits.iter().map(|(_, took)| *took).collect();
        let (response, alone) = (exact(&mut response, q), exact(&mut alone, q));
        (response - alone) / (LAG_SHARE_MAX * alone).max(LAG_FLOOR.0 as f64)
    });
    let most = excess.into_iter().fold(0.0, f64::max);
    ((most - 1.0).abs() > 0.2).then_some(most < 1.0)
}

/// 10,000 runs: a quiet generator and three disturbances of 10 µs to 1 s, servers that answer in 10 µs to 10 s with long and short tails.
/// The table stands in docs/design/verdict.md.
#[test]
fn wrong_verdicts_are_rare() {
    let kinds: [(&str, Disturbance); 4] =
        [("quiet", quiet), ("one stop", one_stop), ("neighbour", neighbour), ("drift", drift)];
    let mut rng = Prng::new(16);
    for (name, disturb) in kinds {
        let (mut right, mut wrong) = ([0u32; 2], [0u32; 2]);
        for _ in 0..2500 {
            let median = 10f64.powf(4.0 + 6.0 * rng.next_f64());
            let (tail, size) = (rng.next_f64(), 10f64.powf(4.0 + 5.0 * rng.next_f64()));
            let hits: Vec<(f64, f64)> = (0..200)
                .map(|hit| {
                    let took = median * (1.0 - rng.next_f64()).powf(-tail).min(100.0);
                    (disturb(&mut rng, hit, 200, size), took)
                })
                .collect();
            let Some(truth) = truth(&hits) else { continue };
            let whole = hits.iter().map(|(lag, took)| (*lag as u64, *took as u64));
            let (summary, generator) = run_of(whole);
            let valid = Verdict::new(&summary, Some(&generator), &[]).is_valid();
            if valid == truth {
                right[usize::from(truth)] += 1;
            } else {
                wrong[usize::from(truth)] += 1;
            }
        }
        println!(
            "{name}: should be VALID {} right {} wrong; INVALID {} right {} wrong",
            right[1], wrong[1], right[0], wrong[0]
        );
        for side in 0..2 {
            let all = right[side] + wrong[side];
            assert!(wrong[side] * 50 <= all, "{name}: {} of {all} wrong", wrong[side]);
        }
    }
}
