//! `Generator`: what the load generator saw of itself. The verdict is made from it.

use stdx::Nanos;

use crate::{Histogram, IterationCourse, Landing, Sketch};

/// Hosts that only redirects named of which a record has the names.
pub const REDIRECT_HOSTS_MAX: usize = 5;

/// What the load generator saw of itself, from the run's start until now. Mergeable over workers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Generator {
    /// Worker threads.
    pub workers: u32,
    /// A worker thread had real-time priority (`-rt`).
    pub real_time: bool,
    /// A target lies on the generator's machine, as far as its address shows: they share its cores.
    pub server_here: bool,
    /// The I/O backend: `epoll`, `kqueue`, `io_uring` or `sim`.
    pub io: String,
    /// Hits that fell due within this time were sent together; 0 is exact pacing.
    pub tick: Nanos,
    /// The most hits that could be under way at once (`-max-workers`); 0 is no limit.
    pub max_in_flight: u64,
    /// Users of the closed loop; 0 in an open one.
    pub users: u64,
    /// Each user decides when it sends, as a script's VUs do: `users` is the maximum; how many are active or thinking is
    /// unknown.
    pub self_paced: bool,
    /// The planned rate, in hits per second, averaged over the run; 0 in a closed loop.
    pub rate_per_s: f64,
    /// The seed of the run's random choices.
    pub seed: u64,
    /// Hits that fell due until the end, or until the run was interrupted. `planned = sent + not_sent`, always.
    pub planned: u64,
    /// Hits that were begun.
    pub sent: u64,
    /// Hits of the warm-up (`--warmup`), which count nowhere else.
    pub warmup_hits: u64,
    /// Hits that fell due and were never begun: the generator, or its limit on hits under way, was in the way.
    pub not_sent: u64,
    /// Begin of a hit minus its due time: how late the generator itself was. Hits held back by `max_in_flight` count
    /// into `held` instead, since there the limit and not the machine was late.
    pub lag: Histogram,
    /// Response times without each hit's own `lag`, and without the time that its answer may have waited while a worker's loop
    /// stood still: what they would have been, had the generator begun every hit when it was due and read at once. Empty in
    /// records of older versions, and there also in closed loops without think time.
    pub on_time: Sketch,
    /// Hits that had to wait for `max_in_flight`.
    pub held: u64,
    /// Hits that had to wait for their target, which came later than they were due (`-lazy`).
    pub starved: u64,
    /// CPU time of the workers, user and system.
    pub cpu: Nanos,
    /// CPU share of the busiest worker, 0 to 1.
    pub cpu_busiest: f64,
    /// Wall time the workers ran.
    pub wall: Nanos,
    /// Times a worker's loop stood still for over 100 ms, of the worker that did so most often.
    pub stalls: u64,
    /// The longest of them.
    pub stall_longest: Nanos,
    /// How long a CPU quota kept the generator's process from running, over all its processors.
    pub throttled: Nanos,
    /// The other process of the generator's machine that used most of its CPUs meanwhile, as `node (1234)`; empty where none used a
    /// quarter of a core.
    pub neighbour: String,
    /// The time that it used.
    pub neighbour_cpu: Nanos,
    /// Connections that failed for want of a file descriptor.
    pub descriptors_exhausted: u64,
    /// Connections that failed for want of a local port.
    pub ports_exhausted: u64,
    /// Times that users dialled nothing for a millisecond, since no descriptor or port was left.
    pub pauses: u64,
    /// Requests that were sent to hosts that no target names, since redirects led there.
    pub redirected: u64,
    /// The first of these hosts, at most [`REDIRECT_HOSTS_MAX`].
    pub redirect_hosts: Vec<String>,
    /// Where redirects led, at most [`crate::LANDINGS_MAX`].
    pub landings: Vec<Landing>,
    /// Iterations of scripts that fell due by an arrival rate, over the run; empty where there is none.
    pub iterations: IterationCourse,
    /// Hits that were sent a second time: the kept connection of the first closed before its answer began, or an HTTP/2 server said
    /// that it had not processed them. A server may have worked on the first.
    pub sent_again: u64,
    /// Users of a closed loop that waited in vain for each of their answers, until the timeout.
    pub never_answered: u64,
    /// Connections made.
    pub connections: u64,
    /// Rows that the result stream's queue had no room for: they are in the live counts, not in the file.
    pub rows_dropped: u64,
    /// Hits that the reader of a pipe took with it when it ended before the run did, at most: they are in no count. The reader of
    /// what is left says so, since its writer could not any more.
    pub lost_at_end: u64,
    /// Result texts (errors, bodies, headers) cut for want of room.
    pub texts_cut: u64,
    /// Hits whose answer's time is by the kernel, which stamped it when it came; of the others it is when a worker had read it.
    pub kernel_times: u64,
    /// The run was ended by a signal.
    pub interrupted: bool,
    /// The run came to its end and this is its last word. A stream without it was cut off.
    pub finished: bool,
}

impl Generator {
    /// The most of its time that a user can have lost to stalls, which are counted once where they stopped all workers.
    pub(crate) fn stalled_share(&self) -> f64 {
        self.stalls as f64 * self.stall_longest.0 as f64 / self.wall.0.max(1) as f64
    }

    /// An empty record with the whole memory of its histograms.
    #[must_use]
    pub fn new() -> Self {
        Self { lag: Histogram::new(), on_time: Sketch::new(), ..Self::default() }
    }

    /// Adds another worker's record: counts and CPU time are summed, shares, wall times, longest times and stalls (a process that
    /// is stopped stops all its workers, and that is one stop) are the maximum, and
    /// a text or setting that is missing here is copied. `finished` is true only where both have finished; a record without a
    /// run (`workers` 0) does not count for it.
    pub fn merge(&mut self, other: &Self) {
        self.finished = match (self.workers, other.workers) {
            (_, 0) => self.finished,
            (0, _) => other.finished,
            _ => self.finished && other.finished,
        };
        self.workers += other.workers;
        self.merge_settings(other);
        self.planned += other.planned;
        self.sent += other.sent;
        self.warmup_hits += other.warmup_hits;
        self.not_sent += other.not_sent;
        self.lag.merge(&other.lag);
        self.on_time.merge(&other.on_time);
        self.held += other.held;
        self.starved += other.starved;
        self.cpu += other.cpu;
        self.cpu_busiest = self.cpu_busiest.max(other.cpu_busiest);
        self.wall = self.wall.max(other.wall);
        self.stalls = self.stalls.max(other.stalls);
        self.stall_longest = self.stall_longest.max(other.stall_longest);
        self.throttled = self.throttled.max(other.throttled);
        if other.neighbour_cpu > self.neighbour_cpu {
            self.neighbour.clone_from(&other.neighbour);
            self.neighbour_cpu = other.neighbour_cpu;
        }
        self.descriptors_exhausted += other.descriptors_exhausted;
        self.ports_exhausted += other.ports_exhausted;
        self.pauses += other.pauses;
        self.redirected += other.redirected;
        self.merge_redirect_hosts(other);
        for one in &other.landings {
            Landing::add(&mut self.landings, one.clone());
        }
        self.iterations.merge(&other.iterations);
        self.sent_again += other.sent_again;
        self.never_answered += other.never_answered;
        self.connections += other.connections;
        self.rows_dropped += other.rows_dropped;
        self.lost_at_end += other.lost_at_end;
        self.texts_cut += other.texts_cut;
        self.kernel_times += other.kernel_times;
        self.interrupted |= other.interrupted;
    }

    /// Users of a closed loop that were never answered, where they made the load another one than was asked for: some and not all of
    /// them, in a run that was not interrupted while they tried. Of one request a user it is requests that time out.
    #[must_use]
    pub fn users_missing(&self) -> Option<u64> {
        let is_part = self.never_answered > 0 && self.never_answered < self.users;
        let is_load = self.sent >= 2 * self.users && !self.self_paced && !self.interrupted;
        (is_part && is_load).then_some(self.never_answered)
    }

    fn merge_redirect_hosts(&mut self, other: &Self) {
        for host in &other.redirect_hosts {
            if self.redirect_hosts.len() < REDIRECT_HOSTS_MAX && !self.redirect_hosts.contains(host)
            {
                self.redirect_hosts.push(host.clone());
            }
        }
    }

    /// Merges settings that are equal for every worker of a run: the maximum, since a record without a run has zeros.
    fn merge_settings(&mut self, other: &Self) {
        if self.io.is_empty() && !other.io.is_empty() {
            self.io.push_str(&other.io);
        }
        self.tick = self.tick.max(other.tick);
        self.max_in_flight = self.max_in_flight.max(other.max_in_flight);
        self.users = self.users.max(other.users);
        self.self_paced |= other.self_paced;
        self.real_time |= other.real_time;
        self.server_here |= other.server_here;
        self.rate_per_s = self.rate_per_s.max(other.rate_per_s);
        self.seed = self.seed.max(other.seed);
    }

    /// Empties the record; `io` and the histograms retain their memory.
    pub fn clear(&mut self) {
        let mut emptied = Self {
            io: std::mem::take(&mut self.io),
            lag: std::mem::take(&mut self.lag),
            on_time: std::mem::take(&mut self.on_time),
            ..Self::default()
        };
        emptied.io.clear();
        emptied.lag.clear();
        emptied.on_time.clear();
        *self = emptied;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(sent: u64, busy: f64, finished: bool) -> Generator {
        let mut worker = Generator {
            workers: 1,
            io: "epoll".to_owned(),
            planned: sent + 1,
            sent,
            not_sent: 1,
            cpu: Nanos(100),
            cpu_busiest: busy,
            wall: Nanos(sent),
            rate_per_s: 50.0,
            finished,
            ..Generator::new()
        };
        worker.lag.record(Nanos(sent));
        worker
    }

    #[test]
    fn workers_add_up() {
        let mut all = Generator::default();
        all.merge(&worker(10, 0.5, true));
        all.merge(&worker(20, 0.9, true));
        assert_eq!((all.workers, all.planned, all.sent, all.not_sent), (2, 32, 30, 2));
        assert_eq!((all.cpu, all.cpu_busiest, all.wall), (Nanos(200), 0.9, Nanos(20)));
        assert_eq!((all.io.as_str(), all.rate_per_s, all.lag.count()), ("epoll", 50.0, 2));
        assert!(all.finished);
        all.merge(&worker(1, 0.1, false));
        assert!(!all.finished, "one has not finished");
        let hosts = |hosts: &[&str]| Generator {
            workers: 1,
            redirected: 3,
            redirect_hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            ..Generator::new()
        };
        all.merge(&hosts(&["a", "b"]));
        all.merge(&hosts(&["b", "c", "d", "e", "f"]));
        assert_eq!((all.redirected, all.redirect_hosts.concat()), (6, "abcde".to_owned()));
        all.clear();
        assert_eq!(all, Generator::default());
    }
}
