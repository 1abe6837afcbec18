//! Servers of a known capacity: what a client sees of them. They judge nothing.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use metrics::{FailureKind, Sample};
use stdx::{Nanos, Prng};

/// The capacity of every simulated server (1/s).
pub(super) const CAPACITY: f64 = 50.0;
/// A client gives up after so long (s).
pub(super) const TIMEOUT: f64 = 30.0;

/// Times that requests take in a worker.
#[derive(Clone, Copy, Debug)]
pub(super) enum Service {
    /// Five workers, 100 ms each time.
    Fixed,
    /// Five workers, exponential.
    Exponential,
    /// One worker, exponential.
    One,
    /// Five workers, two kinds of requests: a third takes 200 ms on average, the others 50 ms.
    Mixed,
}

impl Service {
    pub(super) const ALL: [Self; 4] = [Self::Fixed, Self::Exponential, Self::One, Self::Mixed];

    pub(super) fn workers(self) -> usize {
        if matches!(self, Self::One) { 1 } else { 5 }
    }

    pub(super) fn draw(self, rng: &mut Prng) -> f64 {
        match self {
            Self::Fixed => 0.1,
            Self::Exponential => 0.1 * rng.exponential(),
            Self::One => 0.02 * rng.exponential(),
            Self::Mixed if rng.next_f64() < 1.0 / 3.0 => 0.2 * rng.exponential(),
            Self::Mixed => 0.05 * rng.exponential(),
        }
    }
}

/// In which order a server takes its queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Order {
    First,
    Last,
    /// Nine times in ten the newest first, as a server does that prefers kept-alive connections.
    Sticky,
    /// Requests on connections that had an answer before go before those on new ones. A client sends on a connection that is idle,
    /// and opens one where none is: new ones starve.
    Starving,
    /// Processor sharing: all requests at once, each the slower the more there are.
    Shared,
}

impl Order {
    pub(super) const ALL: [Self; 5] =
        [Self::First, Self::Last, Self::Sticky, Self::Starving, Self::Shared];
}

/// What else is wrong with a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fault {
    None,
    /// A request beyond so many in its queue gets status 503 at once.
    Limiter(usize),
    /// It answers nothing from second 7 on, for so long.
    Pause(f64),
    /// Each second its requests take this share longer.
    Drift(f64),
}

/// A load: its rate at a moment, and whether arrivals are at random.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrivals {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) seconds: f64,
    pub(super) random: f64,
}

impl Arrivals {
    pub(super) fn times(self, rng: &mut Prng) -> Vec<f64> {
        let (mut all, mut at) = (Vec::new(), 0.0);
        while at < self.seconds {
            all.push(at);
            let rate = self.from + (self.to - self.from) * at / self.seconds;
            at += (self.random * rng.exponential() + 1.0 - self.random) / rate;
        }
        all
    }
}

/// What a client sees of a server under a load, in the order of its answers.
pub(super) fn simulate(
    service: Service,
    order: Order,
    fault: Fault,
    load: Arrivals,
    seed: u64,
) -> Vec<Sample> {
    let mut rng = Prng::new(seed);
    let arrivals = load.times(&mut rng);
    let mut samples = match order {
        Order::Shared => shared(service, &arrivals, &mut rng),
        _ => queued(Workers::new(service, order, fault), arrivals, &mut rng),
    };
    samples.sort_by_key(|sample| sample.done);
    samples
}

/// Every request is worked on at once: of more requests than workers each has its share of them. With a clock that runs at this share,
/// a request is done when its own work's time has passed on it.
fn shared(service: Service, arrivals: &[f64], rng: &mut Prng) -> Vec<Sample> {
    let workers = service.workers() as f64;
    let (mut now, mut clock) = (0.0, 0.0);
    let mut under_way: BinaryHeap<Reverse<(u64, u64)>> = BinaryHeap::new();
    let mut samples = Vec::with_capacity(arrivals.len());
    let mut next = arrivals.iter().copied().peekable();
    loop {
        let speed = (workers / under_way.len().max(1) as f64).min(1.0);
        let first = under_way.peek().map(|Reverse((end, _))| *end as f64 / 1e9);
        let done = first.map_or(f64::INFINITY, |end| now + (end - clock).max(0.0) / speed);
        match next.peek().copied() {
            Some(at) if at <= done => {
                next.next();
                clock += speed * (at - now);
                now = at;
                under_way.push(Reverse((ns_of(clock + service.draw(rng)), ns_of(at))));
            }
            _ => {
                let Some(Reverse((_, due))) = under_way.pop() else { break };
                clock += speed * (done - now);
                now = done;
                samples.push(sample(due, ns_of(done).max(due), 200));
            }
        }
    }
    samples
}

/// Workers with a queue before them.
struct Workers {
    service: Service,
    order: Order,
    fault: Fault,
    /// When the requests in the workers end and were due (ns), and whether they came on a new connection.
    busy: BinaryHeap<Reverse<(u64, u64)>>,
    queue: VecDeque<Waiting>,
    /// Connections that had an answer and are idle.
    idle: usize,
    samples: Vec<Sample>,
}

/// A request in a queue.
#[derive(Clone, Copy)]
struct Waiting {
    /// (s)
    due: f64,
    /// Its connection had an answer before.
    is_on_known: bool,
}

impl Workers {
    fn new(service: Service, order: Order, fault: Fault) -> Self {
        let (busy, queue, samples) = (BinaryHeap::new(), VecDeque::new(), Vec::new());
        Self { service, order, fault, busy, queue, idle: 0, samples }
    }

    fn arrive(&mut self, due: f64, rng: &mut Prng) {
        let is_on_known = self.idle > 0;
        self.idle -= usize::from(is_on_known);
        match self.fault {
            Fault::Limiter(most) if self.queue.len() >= most => {
                self.samples.push(sample(ns_of(due), ns_of(due) + 1_000_000, 503));
            }
            _ if self.busy.len() < self.service.workers() => self.begin(due, due, rng),
            _ => self.queue.push_back(Waiting { due, is_on_known }),
        }
    }

    fn begin(&mut self, due: f64, at: f64, rng: &mut Prng) {
        let slower = if let Fault::Drift(share) = self.fault { 1.0 + share * at } else { 1.0 };
        let until = at + slower * self.service.draw(rng);
        let end = match self.fault {
            Fault::Pause(length) if at < 7.0 + length && until > 7.0 => {
                until + 7.0 + length - at.max(7.0)
            }
            _ => until,
        };
        self.busy.push(Reverse((ns_of(end), ns_of(due))));
    }

    /// A worker is free at `done` (ns), and takes the next request.
    fn end(&mut self, done: u64, due: u64, rng: &mut Prng) {
        self.samples.push(sample(due, done, 200));
        self.idle += 1;
        let at = done as f64 / 1e9;
        let (samples, queue) = (&mut self.samples, &mut self.queue);
        queue.retain(|waiting| {
            let is_late = at - waiting.due > TIMEOUT;
            if is_late {
                samples.push(sample(ns_of(waiting.due), ns_of(waiting.due + TIMEOUT), 0));
            }
            !is_late
        });
        let known = || queue.iter().position(|waiting| waiting.is_on_known);
        let place = match self.order {
            Order::Last => queue.len().saturating_sub(1),
            Order::Sticky if rng.next_f64() < 0.9 => queue.len().saturating_sub(1),
            Order::Starving => known().unwrap_or(0),
            Order::First | Order::Sticky | Order::Shared => 0,
        };
        if let Some(waiting) = queue.remove(place) {
            self.begin(waiting.due, at, rng);
        }
    }
}

fn queued(mut workers: Workers, arrivals: Vec<f64>, rng: &mut Prng) -> Vec<Sample> {
    let mut next = arrivals.into_iter().peekable();
    loop {
        let done = workers.busy.peek().map_or(u64::MAX, |Reverse((done, _))| *done);
        match next.peek().copied() {
            Some(at) if ns_of(at) <= done => {
                next.next();
                workers.arrive(at, rng);
            }
            _ => {
                let Some(Reverse((done, due))) = workers.busy.pop() else { break };
                workers.end(done, due, rng);
            }
        }
    }
    workers.samples
}

/// A status of 0 is a timeout.
pub(super) fn sample(due: u64, done: u64, status: u16) -> Sample {
    let is_late = done - due > ns_of(TIMEOUT);
    let done = if is_late { due + ns_of(TIMEOUT) } else { done };
    let failed = is_late || status == 0;
    Sample {
        intended: Nanos(due),
        sent: Nanos(due),
        done: Nanos(done),
        outcome: metrics::Outcome::http(if failed { 0 } else { status }),
        failure: if failed { FailureKind::Timeout } else { FailureKind::None },
        ..Sample::default()
    }
}

pub(super) fn ns_of(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}
