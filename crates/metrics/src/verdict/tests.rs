//! The rules one by one, the cases that misled users, and the error rates over simulated generators.

use stdx::Prng;

use super::late::JITTER;
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
    check(|g| (g.sent, g.not_sent) = (995, 5), "INVALID: 5 of 1000 requests were not sent");
    check(
        |g| (g.sent, g.not_sent, g.starved) = (500, 500, 400),
        "INVALID: 400 requests waited for targets, which came too slowly, and 500 were not sent",
    );
    check(
        |g| (g.sent, g.not_sent, g.starved) = (995, 5, 3),
        "INVALID: 5 of 1000 requests were not sent",
    );
    check(
        |g| (g.sent, g.not_sent) = (900, 100),
        "INVALID: 100 of 1000 requests were not sent; the rate was 90.00/s instead of 100.00/s",
    );
    check(
        |g| (g.stalls, g.stall_longest) = (2, Nanos::from_millis(301)),
        "INVALID: the generator stood still 2 times for over 100ms (longest 301ms)",
    );
    check(
        late(Nanos(6_000_000)),
        "INVALID: requests began late: schedule lag p99 6ms, response p99 20ms",
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

/// A generator in a container with a small quota was to end what else runs on its machine.
#[test]
fn issue_39_a_quota_is_named_as_the_cause_of_lateness() {
    let stopped = |time: u64, lag| {
        let mut generator = good();
        late(lag)(&mut generator);
        generator.throttled = Nanos::from_millis(time);
        Verdict::new(&answered_in(Nanos::from_millis(20)), Some(&generator), &[])
    };
    let verdict = stopped(1200, Nanos::from_millis(30));
    let text = verdict.to_string();
    let start =
        "INVALID: a CPU quota kept the generator from running for 1.2s; requests began late";
    assert!(text.starts_with(start), "{text}");
    assert!(verdict.remedies()[0].starts_with("raise the CPU quota"), "{:?}", verdict.remedies());
    assert!(verdict.reasons.iter().all(Reason::is_lateness));
    assert!(!stopped(90, Nanos::from_millis(30)).to_string().contains("quota"), "under 1 %");
    assert!(stopped(1200, Nanos::ZERO).is_valid(), "it was not late");
}

#[test]
fn issue_39_the_neighbour_and_the_limit_are_named() {
    let verdict = |lag, edit: fn(&mut Generator)| {
        let mut generator = good();
        late(lag)(&mut generator);
        edit(&mut generator);
        Verdict::new(&answered_in(Nanos::from_millis(20)), Some(&generator), &[])
    };
    let beside = |generator: &mut Generator| {
        generator.wall = Nanos::from_secs(10);
        (generator.neighbour, generator.neighbour_cpu) =
            ("node (77)".to_owned(), Nanos::from_secs(17));
    };
    let late_beside = verdict(Nanos::from_millis(30), beside);
    let start = "INVALID: the process node (77) used 1.7 of this machine's CPUs; requests began";
    assert!(late_beside.to_string().starts_with(start), "{late_beside}");
    assert!(late_beside.reasons.iter().all(Reason::is_lateness));
    assert!(late_beside.remedies()[0].starts_with("end what else runs here"));
    assert!(verdict(Nanos::ZERO, beside).is_valid(), "it was not late");
    let unsent = |held: u64| {
        let mut generator = good();
        (generator.not_sent, generator.sent) = (1, generator.planned - 1);
        (generator.held, generator.max_in_flight) = (held, 10);
        Verdict::new(&answered_in(Nanos::from_millis(20)), Some(&generator), &[])
    };
    assert!(unsent(3).to_string().contains("since at most 10 may be under way (-max-workers)"));
    assert!(!unsent(0).to_string().contains("-max-workers"));
    assert!(!unsent(0).remedies()[0].contains("-max-workers"));
}

/// Where 69 % of the requests found no descriptor, the advice was to end a neighbour that moved a quantile of the rest.
#[test]
fn issue_39_reasons_stand_in_the_order_of_what_they_cost() {
    let mut generator = good();
    late(Nanos::from_millis(30))(&mut generator);
    (generator.neighbour, generator.neighbour_cpu) = ("node (77)".to_owned(), Nanos::from_secs(17));
    (generator.stalls, generator.stall_longest) = (2, Nanos::from_millis(301));
    (generator.rows_dropped, generator.descriptors_exhausted) = (7, 690);
    let verdict = |generator: &Generator| {
        Verdict::new(&answered_in(Nanos::from_millis(20)), Some(generator), &[])
    };
    let starts = |generator: &Generator| -> Vec<String> {
        let reasons = verdict(generator).reasons;
        let start = |reason: &Reason| reason.to_string().chars().take(12).collect();
        reasons.iter().map(start).collect()
    };
    let after = ["7 rows were ", "the process ", "the generato", "requests beg"];
    assert_eq!(starts(&generator), [&["no file desc"][..], &after].concat());
    assert!(verdict(&generator).remedies()[0].contains("ulimit -n"));
    (generator.sent, generator.not_sent) = (700, 300);
    let before = ["300 of 1000 ", "the rate was", "no file desc"];
    assert_eq!(starts(&generator), [&before[..], &after].concat());
}

#[test]
fn issue_39_what_a_stop_left_out_is_not_laid_to_users() {
    let mut generator = Generator { self_paced: true, not_sent: 60, sent: 940, ..good() };
    (generator.stalls, generator.stall_longest) = (1, Nanos::SECOND);
    let first = |generator: &Generator| {
        let verdict = Verdict::new(&answered_in(Nanos::from_millis(20)), Some(generator), &[]);
        verdict.reasons[0].clone()
    };
    assert!(matches!(first(&generator), Reason::Stalls { .. }), "100 fell due in that second");
    (generator.not_sent, generator.sent) = (200, 800);
    assert!(matches!(first(&generator), Reason::NotBegun { .. }), "more than the stop explains");
}

#[test]
fn issue_39_quantiles_of_failures_alone_are_no_reason() {
    let mut generator = good();
    late(Nanos::from_millis(30))(&mut generator);
    let mut summary = answered_in(Nanos::from_millis(2));
    summary.requests = 1000;
    let is_valid = |summary: &Summary| Verdict::new(summary, Some(&generator), &[]).is_valid();
    assert!(is_valid(&summary), "all failed");
    summary.successes = 1;
    assert!(!is_valid(&summary));
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
    let hit =
        |(lag, took): (u64, u64)| Hit { lag: lag as f64, took: took as f64, ..Hit::default() };
    recorded(&hits.into_iter().map(hit).collect::<Vec<_>>())
}

/// What a generator and a report record of hits.
fn recorded(hits: &[Hit]) -> (Summary, Generator) {
    let (mut summary, mut generator) = (Summary::new(), good());
    generator.lag.clear();
    for hit in hits {
        generator.lag.record(Nanos(hit.lag as u64));
        generator.on_time.record(Nanos((hit.took + hit.unread - hit.unread_at_most) as u64));
        summary.response.record(Nanos(hit.response() as u64));
        summary.service.record(Nanos((hit.took + hit.unread) as u64));
    }
    (summary, generator)
}

/// A hit of a simulated run; times in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Hit {
    /// How late the generator began it.
    lag: f64,
    /// How long the server took.
    took: f64,
    /// How long the answer waited while the generator stood still.
    unread: f64,
    /// How long that may have been, as far as the generator knows.
    unread_at_most: f64,
}

impl Hit {
    fn response(&self) -> f64 {
        self.lag + self.took + self.unread
    }
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
fn a_machines_own_jitter_is_a_remark() {
    // nginx at 50/s for 5 s beside nothing: three of 250 hits were due while the machine did something else.
    let jitter = |late: u64, took: u64, hits: usize| {
        run_of((0..250).map(move |hit| if hit < hits { (late, took) } else { (30_000, 190_000) }))
    };
    let verdict =
        |(summary, generator): (Summary, Generator)| Verdict::new(&summary, Some(&generator), &[]);
    let few = verdict(jitter(240_000, 196_000, 4));
    assert!(few.is_valid());
    assert_eq!(
        few.to_string(),
        "VALID (late wake-ups of this machine raised p99 from 196µs to 436µs; p50, p90 and p95 are good, and so is service time)"
    );
    assert_eq!(few.jitter.len(), JUDGED.len());
    // More than that is more than jitter, and so is what meets one request in twenty, or in ten.
    let verdict_of = |late, hits| verdict(jitter(late, 196_000, hits));
    for (late, hits) in [(5_100_000, 4), (1_100_000, 15), (240_000, 40)] {
        let judged = verdict_of(late, hits);
        assert!(!judged.is_valid() && judged.jitter.is_empty(), "{late} {hits}: {judged}");
    }
    assert_eq!(verdict_of(30_000, 4).to_string(), "VALID");
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

/// A run that a rule of the verdict is tried on.
#[derive(Debug, Default)]
struct Run {
    hits: Vec<Hit>,
    /// Times the generator noticed that it stood still, and the longest.
    stalls: (u64, f64),
    /// Users of a closed loop, the time it ran, and the share of its rate that the generator lost.
    users: u64,
    time: f64,
    rate_lost: f64,
}

impl Run {
    /// What the verdict says.
    fn is_valid(&self) -> bool {
        let (mut summary, mut generator) = recorded(&self.hits);
        (generator.stalls, generator.stall_longest) = (self.stalls.0, Nanos(self.stalls.1 as u64));
        if self.users > 0 {
            (generator.users, generator.rate_per_s) = (self.users, 0.0);
            if self.hits.iter().all(|hit| hit.lag == 0.0) {
                generator.lag.clear();
            }
            (summary.earliest, summary.latest, summary.end) = (0, 0, self.time as i64);
        }
        Verdict::new(&summary, Some(&generator), &[]).is_valid()
    }

    /// What it should say: by how much the printed quantiles, without rounding, exceed those of the server alone, and what the
    /// rate lost. `None` where that is within a fifth of the limit, where either answer is right.
    fn should_be_valid(&self) -> Option<bool> {
        let mut response: Vec<f64> = self.hits.iter().map(Hit::response).collect();
        let mut alone: Vec<f64> = self.hits.iter().map(|hit| hit.took).collect();
        let excess = JUDGED.map(|q| {
            let (response, alone) = (exact(&mut response, q), exact(&mut alone, q));
            let jitter = JITTER.iter().find(|(of, _)| *of == q && self.users == 0);
            let floor = jitter.map_or(LAG_FLOOR, |(_, most)| *most);
            (response - alone) / (LAG_SHARE_MAX * alone).max(floor.0 as f64)
        });
        let most = excess.into_iter().fold(self.rate_lost / RATE_TOLERANCE, f64::max);
        ((most - 1.0).abs() > 0.2).then_some(most < 1.0)
    }
}

/// The exact quantile of times in nanoseconds.
fn exact(times: &mut [f64], q: f64) -> f64 {
    times.sort_by(f64::total_cmp);
    times[((q * times.len() as f64).ceil() as usize).clamp(1, times.len()) - 1]
}

/// Hits of a run of an open loop.
const HITS: usize = 200;

/// A server's times: a median of 10 µs to 10 s, and a tail between none and a very long one.
fn server(rng: &mut Prng) -> (f64, f64) {
    (10f64.powf(4.0 + 6.0 * rng.next_f64()), rng.next_f64())
}

fn took(rng: &mut Prng, (median, tail): (f64, f64)) -> f64 {
    median * (1.0 - rng.next_f64()).powf(-tail).min(100.0)
}

/// Wake-ups of 20 to 70 µs, as a quiet machine has them.
fn wake_up(rng: &mut Prng) -> f64 {
    20e3 + 50e3 * rng.next_f64()
}

/// An open loop of which each hit is as late as `late` says, apart from wake-ups.
fn late_run(rng: &mut Prng, late: impl Fn(&mut Prng, usize) -> f64) -> Run {
    let server = server(rng);
    let hit =
        |at| Hit { lag: wake_up(rng) + late(rng, at), took: took(rng, server), ..Hit::default() };
    Run { hits: (0..HITS).map(hit).collect(), ..Run::default() }
}

fn quiet(rng: &mut Prng) -> Run {
    late_run(rng, |_, _| 0.0)
}

/// A neighbour takes the core now and then: one hit in twelve waits.
fn neighbour(rng: &mut Prng) -> Run {
    let size = 10f64.powf(4.0 + 5.0 * rng.next_f64());
    late_run(rng, |rng, _| {
        let waits = rng.next_f64() < 1.0 / 12.0;
        if waits { size * (0.5 + rng.next_f64()) } else { 0.0 }
    })
}

/// A generator that falls behind more and more.
fn drift(rng: &mut Prng) -> Run {
    let size = 10f64.powf(4.0 + 5.0 * rng.next_f64());
    late_run(rng, |_, at| size * at as f64 / HITS as f64)
}

/// Times in which the generator does nothing: 1 to 3 of 10 µs to 1 s, in a run that lasts 1 s to 100 s.
struct Stops {
    spans: Vec<(f64, f64)>,
    time: f64,
}

impl Stops {
    fn new(rng: &mut Prng) -> Self {
        let time = 10f64.powf(9.0 + 2.0 * rng.next_f64());
        let length = 10f64.powf(4.0 + 5.0 * rng.next_f64());
        let number = 1 + rng.below(3);
        let span = |n: u64| {
            let from = time * (n as f64 + rng.next_f64()) / number as f64;
            (from, from + length)
        };
        Self { spans: (0..number).map(span).collect(), time }
    }

    /// When the generator is back from what it does at `at`, and from when it was away.
    fn back(&self, at: f64) -> (f64, Option<f64>) {
        let away = self.spans.iter().find(|(from, to)| (*from..*to).contains(&at));
        away.map_or((at, None), |(from, to)| (*to, Some(*from)))
    }

    /// A hit that is due then, and when its answer was read.
    fn hit(&self, due: f64, wake_up: f64, took: f64) -> (Hit, f64) {
        let (begun, _) = self.back(due + wake_up);
        let (read, away) = self.back(begun + took);
        let unread = read - begun - took;
        // Less than 20 ms goes unnoticed.
        let noticed = away.map(|from| read - from).filter(|length| *length > 2e7);
        let unread_at_most = noticed.map_or(0.0, |length| length.min(read - begun));
        (Hit { lag: begun - due, took, unread, unread_at_most }, read)
    }

    fn noticed(&self) -> (u64, f64) {
        let lengths = self.spans.iter().map(|(from, to)| to - from).filter(|length| *length > 1e8);
        lengths.fold((0, 0.0), |(times, longest), length| (times + 1, length.max(longest)))
    }
}

/// An open loop that stands still: its hits begin late, and its answers are read late.
fn open_stop(rng: &mut Prng) -> Run {
    let (server, stops) = (server(rng), Stops::new(rng));
    let hit = |at| {
        let due = stops.time * at as f64 / HITS as f64;
        stops.hit(due, wake_up(rng), took(rng, server)).0
    };
    Run { hits: (0..HITS).map(hit).collect(), stalls: stops.noticed(), ..Run::default() }
}

/// A closed loop that stands still: its users' answers are read late, and meanwhile they send nothing.
fn closed_stop(rng: &mut Prng) -> Run {
    let (server, stops) = (server(rng), Stops::new(rng));
    // As many as make some hundreds of hits; servers too fast for that are tried with pauses between a user's requests.
    let users = ((HITS as f64 * server.0 / stops.time) as u64).clamp(1, 200);
    let pause = (users as f64 * stops.time / HITS as f64 - server.0).max(0.0);
    let (mut hits, mut lost) = (Vec::new(), 0.0);
    for _ in 0..users {
        let mut at = pause * rng.next_f64();
        while at < stops.time {
            let (hit, read) = stops.hit(at, 0.0, took(rng, server));
            lost += hit.lag + hit.unread;
            hits.push(hit);
            at = read + pause;
        }
    }
    let rate_lost = lost / (users as f64 * stops.time);
    Run { hits, stalls: stops.noticed(), users, time: stops.time, rate_lost }
}

/// 12,000 runs: a quiet generator, and disturbances of 10 µs to 1 s; servers that answer in 10 µs to 10 s with long and short
/// tails. The table stands in docs/design/verdict.md.
#[test]
fn wrong_verdicts_are_rare() {
    type Kind = (&'static str, fn(&mut Prng) -> Run);
    let kinds: [Kind; 5] = [
        ("quiet", quiet),
        ("neighbour", neighbour),
        ("drift", drift),
        ("an open loop stands still", open_stop),
        ("a closed loop stands still", closed_stop),
    ];
    let mut rng = Prng::new(16);
    for (name, run) in kinds {
        // By what should be said (0: INVALID, 1: VALID), right and wrong; and how many had stalls that were noticed.
        let (mut right, mut wrong, mut stalled) = ([0u32; 2], [0u32; 2], [0u32; 2]);
        for _ in 0..2400 {
            let run = run(&mut rng);
            let Some(truth) = run.should_be_valid() else { continue };
            let of = if run.is_valid() == truth { &mut right } else { &mut wrong };
            of[usize::from(truth)] += 1;
            stalled[usize::from(truth)] += u32::from(run.stalls.0 > 0);
        }
        println!(
            "{name}: should be VALID {} right {} wrong, {} with stalls; INVALID {} right {} wrong, {} with stalls",
            right[1], wrong[1], stalled[1], right[0], wrong[0], stalled[0]
        );
        for side in 0..2 {
            let all = right[side] + wrong[side];
            assert!(wrong[side] * 50 <= all, "{name}: {} of {all} wrong", wrong[side]);
        }
    }
}

/// Ten seconds of hits at 100/s that take 20 ms, and of which some are read so much later than the generator knows.
fn stalled(late: usize, unread: u64) -> (Summary, Generator) {
    let wait = unread as f64;
    let hit = |at| {
        let unread = if at < late { wait } else { 0.0 };
        Hit { took: 20e6, unread, unread_at_most: unread, ..Hit::default() }
    };
    let (mut summary, mut generator) = recorded(&(0..1000).map(hit).collect::<Vec<_>>());
    (generator.stalls, generator.stall_longest) = (1, Nanos::from_millis(150));
    (summary.earliest, summary.latest, summary.end) = (0, 0, 10_000_000_000);
    (summary, generator)
}

#[test]
fn a_stall_counts_where_it_moved_a_printed_figure() {
    let check = |(summary, generator): (Summary, Generator), expect: &str| {
        assert_eq!(Verdict::new(&summary, Some(&generator), &[]).to_string(), expect);
    };
    check(stalled(3, 150_000_000), "VALID");
    check(
        stalled(15, 150_000_000),
        "INVALID: the generator stood still 1 time for over 100ms (longest 150ms); late starts and answers read late raised p99 \
         from 20ms to 170ms; p50, p90 and p95 are good",
    );
    // A closed loop sends less meanwhile: 3 of 20 users lost 150 ms of 10 s each, then all of them 150 ms.
    let closed = |late, users| {
        let (summary, generator) = stalled(late, 150_000_000);
        (summary, Generator { users, rate_per_s: 0.0, ..generator })
    };
    check(closed(3, 20), "VALID");
    check(
        closed(3, 3),
        "INVALID: the generator cost its users 1.5% of their time, and the rate with it; the generator stood still 1 time for \
         over 100ms (longest 150ms)",
    );
    // How many users of a script are active is unknown: the stall is 150 ms of 20 s, or of 10 s, on however many workers.
    let script = |seconds| {
        let (summary, generator) = closed(3, 3);
        let wall = Nanos::from_secs(seconds);
        (summary, Generator { self_paced: true, workers: 16, wall, ..generator })
    };
    check(script(20), "VALID");
    check(script(10), "INVALID: the generator stood still 1 time for over 100ms (longest 150ms)");
}
