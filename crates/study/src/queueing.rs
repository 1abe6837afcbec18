//! Queueing theory of servers with a known law: a reference for measurements.

/// A server of `workers` that do one job at a time each, with exponential service times, one queue without a bound, and
/// Poisson arrivals: M/M/c.
///
/// Source of the equations: Gross, Shortle, Thompson and Harris, Fundamentals of Queueing Theory, 4th edition, 2.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mmc {
    /// How many jobs are worked at together; at least 1.
    pub workers: u32,
    /// Mean service time in seconds; above 0.
    pub service_s: f64,
}

impl Mmc {
    /// Jobs per second it can do at most: `c / s`.
    #[must_use]
    pub fn capacity_per_s(self) -> f64 {
        f64::from(self.workers) / self.service_s
    }

    /// Erlang's C: the share of the jobs that wait at all, at `rate_per_s` below the capacity; 1 from the capacity on.
    ///
    /// With `a = rate * s` and Erlang's B by its recursion `B(0) = 1, B(k) = a B(k-1) / (k + a B(k-1))`,
    /// `C = B / (1 - (a / c)(1 - B))`.
    #[must_use]
    pub fn waiting_share(self, rate_per_s: f64) -> f64 {
        let offered = rate_per_s * self.service_s;
        let busy = offered / f64::from(self.workers);
        if busy >= 1.0 {
            return 1.0;
        }
        let step = |b: f64, k: u32| offered * b / (f64::from(k) + offered * b);
        let blocked = (1..=self.workers).fold(1.0, step);
        blocked / (1.0 - busy * (1.0 - blocked))
    }

    /// The long-run share of jobs with a response time (waiting and service) above `time_s`.
    ///
    /// With `m = 1 / s` and `d = c m - rate`, a job that waits does so for an exponential time of rate `d`, so
    /// `P(T > t) = (1 - C) e^(-m t) + C (m e^(-d t) - d e^(-m t)) / (m - d)`.
    #[must_use]
    pub fn slower_than(self, rate_per_s: f64, time_s: f64) -> f64 {
        let waiting = self.waiting_share(rate_per_s);
        let (done, gone) = (1.0 / self.service_s, self.capacity_per_s() - rate_per_s);
        if gone <= 0.0 {
            return 1.0;
        }
        let served = (-done * time_s).exp();
        let waited = if ((done - gone) / done).abs() < 1e-9 {
            (1.0 + done * time_s) * served
        } else {
            (done * (-gone * time_s).exp() - gone * served) / (done - gone)
        };
        (1.0 - waiting) * served + waiting * waited
    }

    /// Mean seconds from arrival to end, in the long run: `s + C s / (c - rate s)`; infinite from the capacity on.
    #[must_use]
    pub fn mean_response_s(self, rate_per_s: f64) -> f64 {
        self.service_s + self.mean_wait_s(rate_per_s)
    }

    /// Mean seconds a job waits for a worker, those that need not wait included.
    fn mean_wait_s(self, rate_per_s: f64) -> f64 {
        let spare = f64::from(self.workers) - rate_per_s * self.service_s;
        if spare <= 0.0 {
            return f64::INFINITY;
        }
        self.waiting_share(rate_per_s) * self.service_s / spare
    }

    /// The highest rate per second at which no more than the share `slow` of the jobs takes longer than `time_s`; 0 where
    /// even a lone job does.
    #[must_use]
    pub fn rate_for(self, time_s: f64, slow: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.capacity_per_s());
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if self.slower_than(middle, time_s) <= slow { low = middle } else { high = middle }
        }
        low
    }
}

/// The same server with arrivals and service times of any law: M/G/c and GI/G/c, by Allen's and Cunneen's approximation. Jobs
/// wait `variability` times as long as with M/M/c (Allen, Probability, Statistics and Queueing Theory, 2nd edition, 1990, 5.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mgc {
    /// The server.
    pub server: Mmc,
    /// `(ca^2 + cs^2) / 2` of the coefficients of variation of the times between arrivals and of service; 0 or more. 1 is
    /// M/M/c, 1/2 random arrivals at workers that always take as long, 0 a clockwork.
    pub variability: f64,
}

impl Mgc {
    /// Mean seconds from arrival to end; infinite from the capacity on.
    #[must_use]
    pub fn mean_response_s(self, rate_per_s: f64) -> f64 {
        let wait = self.server.mean_wait_s(rate_per_s);
        // Without variation there is no waiting, unless the work exceeds the capacity: then it is infinite.
        let wait = if wait.is_finite() { self.variability * wait } else { wait };
        self.server.service_s + wait
    }
}

/// A closed network: each user sends a request, waits for the response, and sends the next. A job spends `delay_s` without
/// queueing (the network, thinking), and queues for a server of several workers.
///
/// The result is that of exact mean value analysis for a station with a load-dependent rate (Reiser and Lavenberg, Mean-Value
/// Analysis of Closed Multichain Queuing Networks, 1980): the probabilities of `k` jobs at the server satisfy
/// `p(k) / p(k - 1) = (N - k + 1) s / (d min(k, c))` (Gross and others, Fundamentals, 4th edition, 2.7, the machine repair model), which stays
/// accurate with many users, where the recursion does not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closed {
    /// The server.
    pub server: Mmc,
    /// Mean seconds elsewhere; 0 or more.
    pub delay_s: f64,
}

impl Closed {
    /// Jobs ended per second with so many users, a whole number.
    #[must_use]
    pub fn throughput_per_s(self, users: f64) -> f64 {
        let Mmc { workers, service_s } = self.server;
        let (workers, users) = (f64::from(workers), users.round().max(0.0));
        if self.delay_s <= 0.0 {
            return users.min(workers) / service_s;
        }
        // Weights stay near 1: both sums are divided whenever they grow large.
        let (mut weight, mut all, mut busy) = (1.0, 1.0, 0.0);
        for k in 1..=users as u64 {
            let at_work = (k as f64).min(workers);
            weight *= (users - k as f64 + 1.0) * service_s / (self.delay_s * at_work);
            all += weight;
            busy += weight * at_work;
            if all > 1e200 {
                (weight, busy) = (weight / all, busy / all);
                all = 1.0;
            }
        }
        busy / all / service_s
    }

    /// Mean seconds from asking to the answer, `elsewhere` counted in: Little's law, `N / X`.
    #[must_use]
    pub fn cycle_s(self, users: f64) -> f64 {
        users / self.throughput_per_s(users)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_times_are_the_textbooks() {
        // One worker: 1 / (m - rate). Two: s / (1 - p^2).
        for busy in [0.1, 0.5, 0.9] {
            let one = Mmc { workers: 1, service_s: 0.1 };
            assert!((one.mean_response_s(busy * 10.0) - 0.1 / (1.0 - busy)).abs() < 1e-12);
            let two = Mmc { workers: 2, service_s: 0.1 };
            let expect = 0.1 / (1.0 - busy * busy);
            assert!((two.mean_response_s(busy * 20.0) - expect).abs() < 1e-12);
            // Pollaczek and Khinchine, service that never varies: half the wait.
            let fixed = Mgc { server: one, variability: 0.5 };
            let expect = 0.1 + 0.1 * busy / (2.0 * (1.0 - busy));
            assert!((fixed.mean_response_s(busy * 10.0) - expect).abs() < 1e-12);
        }
        let clockwork = Mgc { server: Mmc { workers: 2, service_s: 0.1 }, variability: 0.0 };
        assert_eq!(clockwork.mean_response_s(19.9), 0.1);
        assert_eq!(clockwork.mean_response_s(20.0), f64::INFINITY);
    }

    /// Exact mean value analysis as it is written down, one user more at a time: the mean time at a station of one worker.
    fn by_recursion(users: u32, service: f64, delay: f64) -> f64 {
        let (mut queue, mut throughput) = (0.0, 0.0);
        for n in 1..=users {
            let response = service * (1.0 + queue);
            throughput = f64::from(n) / (delay + response);
            queue = throughput * response;
        }
        throughput
    }

    /// The same for several workers, by the chances of each number of jobs at the station (Reiser and Lavenberg, 1980).
    fn by_chances(users: usize, server: Mmc, delay: f64) -> f64 {
        let rate = |k: usize| (k as f64).min(f64::from(server.workers)) / server.service_s;
        let (mut chances, mut throughput) = (vec![1.0], 0.0);
        for n in 1..=users {
            let response: f64 = (1..=n).map(|k| k as f64 / rate(k) * chances[k - 1]).sum();
            throughput = n as f64 / (delay + response);
            let mut next = vec![0.0; n + 1];
            (1..=n).for_each(|k| next[k] = throughput / rate(k) * chances[k - 1]);
            next[0] = 1.0 - next.iter().sum::<f64>();
            chances = next;
        }
        throughput
    }

    #[test]
    fn a_closed_network_is_mean_value_analysis() {
        for (users, delay) in [(1, 0.5), (4, 0.5), (30, 0.2), (500, 3.0)] {
            let one = Closed { server: Mmc { workers: 1, service_s: 0.05 }, delay_s: delay };
            let expect = by_recursion(users, 0.05, delay);
            let found = one.throughput_per_s(f64::from(users));
            assert!((found / expect - 1.0).abs() < 1e-9, "{users}: {found} {expect}");
        }
        for (workers, users) in [(2, 1), (3, 4), (3, 12), (6, 20)] {
            let server = Mmc { workers, service_s: 0.06 };
            let expect = by_chances(users, server, 0.1);
            let found = Closed { server, delay_s: 0.1 }.throughput_per_s(users as f64);
            assert!((found / expect - 1.0).abs() < 1e-6, "{workers} {users}: {found} {expect}");
        }
    }

    #[test]
    fn a_closed_network_keeps_its_bounds() {
        let server = Mmc { workers: 6, service_s: 0.06 };
        for delay_s in [0.0, 1e-9, 0.01, 1.0] {
            let closed = Closed { server, delay_s };
            let mut before = 0.0;
            for users in [1.0, 2.0, 5.0, 6.0, 7.0, 64.0, 1000.0, 20_000.0] {
                let throughput = closed.throughput_per_s(users);
                let most = (users / (0.06 + delay_s)).min(100.0);
                assert!(
                    throughput <= most * (1.0 + 1e-9) && throughput >= before * (1.0 - 1e-9),
                    "{delay_s} {users}"
                );
                before = throughput;
            }
            assert!((before - 100.0).abs() < 1e-6, "{delay_s}: {before}");
        }
        let full = Closed { server, delay_s: 0.0 };
        assert!((full.cycle_s(64.0) - 0.64).abs() < 1e-12);
    }

    #[test]
    fn erlangs_c_is_erlangs() {
        // One worker: jobs wait as often as it is busy. Two: C = 2 p^2 / (1 + p).
        for busy in [0.1, 0.5, 0.9] {
            let one = Mmc { workers: 1, service_s: 1.0 };
            assert!((one.waiting_share(busy) - busy).abs() < 1e-12);
            let two = Mmc { workers: 2, service_s: 1.0 };
            let expect = 2.0 * busy * busy / (1.0 + busy);
            assert!((two.waiting_share(2.0 * busy) - expect).abs() < 1e-12);
        }
        // A published value: ten workers at 8 erlangs, 0.409.
        let ten = Mmc { workers: 10, service_s: 1.0 };
        assert!((ten.waiting_share(8.0) - 0.409).abs() < 0.001);
        assert_eq!(ten.waiting_share(10.0), 1.0);
    }

    #[test]
    fn responses_of_one_worker_are_exponential() {
        let one = Mmc { workers: 1, service_s: 0.1 };
        for (rate, time) in [(1.0f64, 0.3f64), (5.0, 0.1), (9.0, 2.0)] {
            let expect = (-(10.0 - rate) * time).exp();
            assert!((one.slower_than(rate, time) - expect).abs() < 1e-9, "{rate} {time}");
        }
    }

    #[test]
    fn the_removable_pole_is_removed() {
        // d = m where the rate is c m - m: 5/6 of the capacity.
        let six = Mmc { workers: 6, service_s: 0.06 };
        let at = six.slower_than(5.0 / 0.06, 0.5);
        let beside = six.slower_than(5.0 / 0.06 + 1e-4, 0.5);
        assert!((at / beside - 1.0).abs() < 1e-3, "{at} {beside}");
    }

    #[test]
    fn a_rate_and_its_share_belong_together() {
        let six = Mmc { workers: 6, service_s: 0.06 };
        let rate = six.rate_for(0.5, 0.01);
        assert!((80.0..100.0).contains(&rate), "{rate}");
        assert!((six.slower_than(rate, 0.5) - 0.01).abs() < 1e-9);
        assert_eq!(six.slower_than(100.0, 0.5), 1.0);
        assert_eq!(six.rate_for(0.05, 0.01), 0.0, "service alone takes longer");
    }
}
