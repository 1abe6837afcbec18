//! `Queue`: first come, first served, before a number of workers that do one job at a time. Virtual time only: a job's
//! end is a number in a heap, and no thread sleeps.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use stdx::Nanos;

/// Jobs in service and jobs that wait for a free worker.
#[derive(Debug)]
pub struct Queue<T> {
    workers: usize,
    limit: usize,
    running: BinaryHeap<Reverse<Running<T>>>,
    waiting: VecDeque<Waiting<T>>,
    offered: u64,
    waiting_max: usize,
}

/// Whether a job started, waits, or was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// A worker began with it.
    Started,
    /// It waits.
    Waiting,
    /// As many wait as may; it is refused.
    Full,
}

#[derive(Debug)]
struct Waiting<T> {
    service: Nanos,
    job: T,
}

/// A job in service. Of two that end together the one begun first comes first.
#[derive(Debug)]
struct Running<T> {
    end: Nanos,
    begun: u64,
    job: T,
}

impl<T> Queue<T> {
    /// A queue before `workers` workers (0: as many as needed) in which at most `limit` jobs wait.
    #[must_use]
    pub fn new(workers: u32, limit: usize) -> Self {
        let workers = if workers == 0 { usize::MAX } else { workers as usize };
        let (running, waiting) = (BinaryHeap::new(), VecDeque::new());
        Self { workers, limit, running, waiting, offered: 0, waiting_max: 0 }
    }

    /// Takes a job that arrived at `now` and will keep a worker for `service`. Jobs that ended by `now` must have been
    /// taken out by [`Queue::poll_done`] before.
    pub fn offer(&mut self, now: Nanos, service: Nanos, job: T) -> Offer {
        debug_assert!(
            self.next_end().is_none_or(|end| end > now),
            "ended jobs are taken out first"
        );
        if self.running.len() < self.workers {
            self.begin(now, service, job);
            return Offer::Started;
        }
        if self.waiting.len() >= self.limit {
            return Offer::Full;
        }
        self.waiting.push_back(Waiting { service, job });
        self.waiting_max = self.waiting_max.max(self.waiting.len());
        Offer::Waiting
    }

    /// The next job that ended by `now`, and when it did. Its worker takes up the next one at that very time, however
    /// late this is called: the caller's delays are not the workers'.
    pub fn poll_done(&mut self, now: Nanos) -> Option<(Nanos, T)> {
        if self.next_end()? > now {
            return None;
        }
        let Reverse(done) = self.running.pop()?;
        if let Some(next) = self.waiting.pop_front() {
            self.begin(done.end, next.service, next.job);
        }
        Some((done.end, done.job))
    }

    /// When the next job ends.
    #[must_use]
    pub fn next_end(&self) -> Option<Nanos> {
        self.running.peek().map(|Reverse(next)| next.end)
    }

    /// How many jobs wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The most jobs that ever waited at once.
    #[must_use]
    pub fn waiting_max(&self) -> usize {
        self.waiting_max
    }

    /// How many jobs are in service.
    #[must_use]
    pub fn in_service(&self) -> usize {
        self.running.len()
    }

    fn begin(&mut self, at: Nanos, service: Nanos, job: T) {
        self.offered += 1;
        let end = at.saturating_add(service);
        self.running.push(Reverse(Running { end, begun: self.offered, job }));
    }
}

impl<T> Ord for Running<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.end, self.begun).cmp(&(other.end, other.begun))
    }
}

impl<T> PartialOrd for Running<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Running<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Running<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::Prng;

    const MS: fn(u64) -> Nanos = Nanos::from_millis;

    #[test]
    fn first_come_first_served_and_bounded() {
        let mut queue = Queue::new(2, 1);
        assert_eq!(queue.offer(MS(0), MS(10), 'a'), Offer::Started);
        assert_eq!(queue.offer(MS(0), MS(30), 'b'), Offer::Started);
        assert_eq!(queue.offer(MS(1), MS(5), 'c'), Offer::Waiting);
        assert_eq!(queue.offer(MS(2), MS(5), 'd'), Offer::Full);
        assert_eq!((queue.waiting(), queue.waiting_max(), queue.in_service()), (1, 1, 2));
        assert_eq!(queue.poll_done(MS(9)), None);
        assert_eq!(queue.poll_done(MS(40)), Some((MS(10), 'a')));
        assert_eq!(queue.poll_done(MS(40)), Some((MS(15), 'c')), "begun at 10, though asked at 40");
        assert_eq!(queue.poll_done(MS(40)), Some((MS(30), 'b')));
        assert_eq!((queue.poll_done(MS(40)), queue.next_end()), (None, None));
    }

    #[test]
    fn without_workers_nobody_waits() {
        let mut queue = Queue::new(0, 0);
        assert!((0..1000).all(|i| queue.offer(MS(0), MS(1), i) == Offer::Started));
        let order: Vec<i32> = std::iter::from_fn(|| queue.poll_done(MS(1))).map(|d| d.1).collect();
        assert!(order.is_sorted() && order.len() == 1000);
    }

    /// The probability that an arrival has to wait (Erlang, 1917): `load` in Erlangs on `workers`.
    fn erlang_c(workers: u32, load: f64) -> f64 {
        let mut blocked = 1.0;
        for n in 1..=workers {
            blocked = load * blocked / (f64::from(n) + load * blocked);
        }
        let busy = load / f64::from(workers);
        blocked / (1.0 - busy * (1.0 - blocked))
    }

    #[test]
    fn mean_wait_is_erlangs() {
        let (workers, mean_s, rate) = (6, 0.06, 50.0);
        let mut queue = Queue::new(workers, usize::MAX);
        let mut rng = Prng::new(17);
        let (mut now_s, mut waited_s, n) = (0.0, 0.0, 1_000_000);
        let mut done = |queue: &mut Queue<(f64, f64)>, now| {
            while let Some((end, (arrived, service))) = queue.poll_done(now) {
                waited_s += end.as_secs_f64() - arrived - service;
            }
        };
        for _ in 0..n {
            now_s += rng.exponential() / rate;
            let (now, service) = (Nanos::from_secs_f64(now_s), mean_s * rng.exponential());
            done(&mut queue, now);
            queue.offer(now, Nanos::from_secs_f64(service), (now_s, service));
        }
        done(&mut queue, Nanos::MAX);
        let expected = erlang_c(workers, rate * mean_s) / (f64::from(workers) / mean_s - rate);
        let measured = waited_s / f64::from(n);
        assert!((measured / expected - 1.0).abs() < 0.05, "{measured} against {expected}");
    }
}
