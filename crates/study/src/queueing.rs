//! What queueing theory says of servers whose law is known: a yardstick for what is measured.

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

    /// The share of the jobs whose response (waiting and service) takes longer than `time_s`, in the long run.
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

#[cfg(test)]
mod tests {
    use super::*;

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
