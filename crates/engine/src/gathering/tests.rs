//! The controller against simulated truths: servers whose answers come as a law says, with noise from a seed.

use stdx::Prng;

use super::*;

/// What is true of a server and its client: answers a second and their median, both without the window, what the window makes of them
/// (factors), and how much both vary from one stretch to the next (standard deviation, of 1).
#[derive(Clone, Copy)]
struct Truth {
    rate_per_s: f64,
    p50: Nanos,
    with_window: (f64, f64),
    noise: f64,
}

const USERS: u32 = 64;

/// The server is the bottleneck: the window changes nothing.
const BOUND: Truth = Truth {
    rate_per_s: 100_000.0,
    p50: Nanos::from_micros(640),
    with_window: (1.0, 1.0),
    noise: 0.005,
};

/// Answers take as long as they take: what is gathered is late.
const IDLE: Truth = Truth { with_window: (0.7, 1.43), ..BOUND };

/// The loop of a worker: it wakes up for a batch, counts the answers, and waits.
struct Loop {
    gathering: Gathering,
    rng: Prng,
    users: u32,
    now: Nanos,
    /// Which 20 ms these are, and their ratio to the truth.
    level: (u64, f64),
}

impl Loop {
    fn new(seed: u64) -> Self {
        let (gathering, rng) = (Gathering::new(), Prng::new(seed));
        Self { gathering, rng, users: USERS, now: Nanos::ZERO, level: (u64::MAX, 1.0) }
    }

    /// Goes on for so long; gives the share of the answers that were gathered.
    fn run(&mut self, length: Nanos, truth: Truth) -> f64 {
        let (mut gathered, mut answers, until) = (0, 0, self.now + length);
        while self.now < until {
            let limits = self.gathering.wait_limits(self.now, self.users);
            let stretch = self.now.0 / STRETCH_MIN.0;
            if self.level.0 != stretch {
                self.level = (stretch, 1.0 + truth.noise * self.rng.normal());
            }
            let with_window = if limits.want > 1 { truth.with_window } else { (1.0, 1.0) };
            let rate = truth.rate_per_s * with_window.0 * self.level.1;
            let batch = limits.want.max(8);
            self.now += Nanos((f64::from(batch) * 1e9 / rate) as u64);
            for _ in 0..batch {
                let ratio = with_window.1 / self.level.1 * (0.7 + 0.6 * self.rng.next_f64());
                self.gathering.count(Nanos((truth.p50.0 as f64 * ratio) as u64));
                gathered += u64::from(self.gathering.is_open());
                answers += 1;
            }
        }
        gathered as f64 / answers as f64
    }

    fn secs(&mut self, secs: u64, truth: Truth) -> f64 {
        self.run(Nanos::from_secs(secs), truth)
    }
}

/// The share gathered in ten seconds, of each of 20 seeds.
fn shares(truth: Truth) -> Vec<f64> {
    (0..20).map(|seed| Loop::new(seed).secs(10, truth)).collect()
}

fn mean(shares: &[f64]) -> f64 {
    shares.iter().sum::<f64>() / shares.len() as f64
}

#[test]
fn where_the_server_is_the_bottleneck_all_but_the_checks_is_gathered() {
    for seed in 0..20 {
        let mut run = Loop::new(seed);
        let first = run.run(Nanos::from_millis(400), BOUND);
        assert!((0.35..0.45).contains(&first), "half of the first probe: {first}");
        let then = run.secs(8, BOUND);
        assert!((0.94..0.96).contains(&then), "all but the checks: {then}");
    }
    let gains = Truth { with_window: (1.05, 0.95), ..BOUND };
    assert!(mean(&shares(gains)) > 0.9);
}

#[test]
fn where_it_is_not_hardly_anything_is() {
    for truth in [IDLE, Truth { noise: 0.05, ..IDLE }] {
        let shares = shares(truth);
        // Probes in cycles 0, 4 and 16, each ended within some round trips.
        assert!(shares.iter().all(|share| *share < 0.004), "{shares:?}");
    }
    // What is hidden from a single stretch is seen in several.
    for small in [0.05, 0.03] {
        let truth = Truth { with_window: (1.0 - small, 1.0 + small), ..BOUND };
        let shares = shares(truth);
        assert!(shares.iter().all(|share| *share < 0.11), "no more than probes: {shares:?}");
    }
    // By one figure alone.
    for with_window in [(0.96, 1.0), (1.0, 1.04)] {
        assert!(mean(&shares(Truth { with_window, ..BOUND })) < 0.11);
    }
}

#[test]
fn noise_costs_chances_and_hides_no_harm() {
    let noisy = |with_window| mean(&shares(Truth { with_window, noise: 0.05, ..BOUND }));
    let (nothing, little, more) = (noisy((1.0, 1.0)), noisy((0.97, 1.03)), noisy((0.9, 1.1)));
    assert!(nothing > 0.25, "{nothing}");
    assert!(little < 0.2, "{little}");
    assert!(more < 0.05, "{more}");
}

#[test]
fn a_server_that_turns_idle_ends_it_at_once() {
    let mut reopened = 0;
    for seed in 0..20 {
        let mut run = Loop::new(seed);
        assert!(run.secs(4, BOUND) > 0.4);
        let then = run.secs(1, IDLE);
        assert!(then < 0.04, "closed within some round trips: {then}");
        assert!(run.secs(9, IDLE) < 0.01);
        // A probe is due after 64 cycles of 0.4 s at the latest.
        run.secs(26, BOUND);
        reopened += u64::from(run.secs(4, BOUND) > 0.9);
    }
    // A probe fails by chance now and then, and the next one is far.
    assert!(reopened >= 17, "{reopened} of 20");
}

#[test]
fn what_the_window_hides_is_found_by_the_next_check() {
    // The server becomes faster; with the window nothing of it is seen.
    let faster = Truth {
        rate_per_s: BOUND.rate_per_s * 1.4,
        p50: Nanos((BOUND.p50.0 as f64 / 1.4) as u64),
        with_window: (1.0 / 1.4, 1.4),
        ..BOUND
    };
    for seed in 0..20 {
        let mut run = Loop::new(seed);
        // A cycle is 400 ms: the check is 300 ms away.
        run.run(Nanos::from_millis(4_100), BOUND);
        assert!(run.run(Nanos::from_millis(300), faster) > 0.9, "nobody can know yet");
        let then = run.secs(2, faster);
        assert!(then < 0.02, "{then}");
    }
}

#[test]
fn few_answers_and_few_users_are_not_gathered() {
    let slow = Truth { rate_per_s: 5_000.0, p50: Nanos::from_millis(12), ..BOUND };
    assert_eq!(mean(&shares(slow)), 0.0, "the first stretch of a probe finds too few");
    let mut run = Loop { users: UNDER_WAY_MIN - 1, ..Loop::new(1) };
    assert_eq!(run.secs(2, BOUND), 0.0);
    let mut run = Loop::new(1);
    assert!(run.secs(2, BOUND) > 0.7);
    run.users = UNDER_WAY_MIN - 1;
    assert!(run.secs(1, BOUND) < 0.01, "users left");
    run.users = USERS;
    assert!(run.secs(2, BOUND) > 0.7);
    run.gathering.end();
    assert_eq!(run.secs(2, BOUND), 0.0);
}

#[test]
fn a_window_is_part_of_a_round_trip_within_its_bound() {
    let opened = |users, p50| {
        let mut run = Loop { users, ..Loop::new(1) };
        let truth = Truth { p50, ..BOUND };
        run.run(Nanos::from_millis(4_100), truth);
        run.gathering.wait_limits(run.now, users)
    };
    let limits = opened(64, Nanos::from_micros(640));
    assert_eq!(limits.want, 64 / SHARES[0]);
    let whole = limits.window * u64::from(SHARES[0]) * 2 / 3;
    assert!(whole.0.abs_diff(640_000) < 20_000, "{limits:?}");
    assert_eq!(opened(512, Nanos::from_millis(10)).window, WINDOW_MAX);
    assert_eq!(length_for(Nanos::ZERO), STRETCH_MIN);
    assert_eq!(length_for(Nanos::from_micros(1_250)), STRETCH_MIN);
    assert_eq!(length_for(Nanos::from_micros(2_500)), STRETCH_MIN * 2);
    assert_eq!(length_for(Nanos::from_millis(100)), STRETCH_MIN * 128);
}

#[test]
fn a_loop_that_stood_still_compares_nothing_across_it() {
    let mut run = Loop::new(1);
    run.run(Nanos::from_millis(200), BOUND);
    assert_eq!(run.gathering.state, State::Probing);
    run.now += Nanos::from_millis(300);
    assert_eq!(run.gathering.wait_limits(run.now, USERS), WaitLimits::AT_ONCE);
    assert_eq!((run.gathering.state, run.gathering.backoff), (State::Closed, 0));
    assert!(run.secs(2, BOUND) > 0.6, "the next probe is due in the next cycle");
}
