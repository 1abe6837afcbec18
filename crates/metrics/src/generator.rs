//! `Generator`: what the load generator saw of itself. The verdict is made from it.

use stdx::Nanos;

use crate::Histogram;

/// What the load generator saw of itself, from the run's start until now. Mergeable over workers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Generator {
    /// Worker threads.
    pub workers: u32,
    /// The I/O backend: `epoll`, `kqueue`, `uring` or `sim`.
    pub io: String,
    /// Hits that fell due within this time were sent together; 0 is exact pacing.
    pub tick: Nanos,
    /// The most hits that could be under way at once (`-max-workers`); 0 is no limit.
    pub max_in_flight: u64,
    /// Users of the closed loop; 0 in an open one.
    pub users: u64,
    /// The rate asked for, in hits per second, averaged over the run; 0 in a closed loop.
    pub rate_per_s: f64,
    /// The seed of the run's random choices.
    pub seed: u64,
    /// Hits that fell due until the end, or until the run was interrupted. `planned = sent + not_sent`, always.
    pub planned: u64,
    /// Hits that were begun.
    pub sent: u64,
    /// Hits that fell due and were never begun: the generator, or its limit on hits under way, was in the way.
    pub not_sent: u64,
    /// Begin of a hit minus its due time: how late the generator itself was. Hits held back by `max_in_flight` count
    /// into `held` instead, since there the limit and not the machine was late.
    pub lag: Histogram,
    /// Hits that had to wait for `max_in_flight`.
    pub held: u64,
    /// CPU time of the workers, user and system.
    pub cpu: Nanos,
    /// CPU share of the busiest worker, 0 to 1.
    pub cpu_busiest: f64,
    /// Wall time the workers ran.
    pub wall: Nanos,
    /// Times a worker's loop stood still for over 100 ms while it had work.
    pub stalls: u64,
    /// The longest of them.
    pub stall_longest: Nanos,
    /// Connections that failed for want of a file descriptor.
    pub descriptors_exhausted: u64,
    /// Connections that failed for want of a local port.
    pub ports_exhausted: u64,
    /// Connections made.
    pub connections: u64,
    /// Rows that the result stream's queue had no room for: they are in the live counts, not in the file.
    pub rows_dropped: u64,
    /// Result texts (errors, bodies, headers) cut for want of room.
    pub texts_cut: u64,
    /// The run was ended by a signal.
    pub interrupted: bool,
    /// The run came to its end and this is its last word. A stream without it was cut off.
    pub finished: bool,
}
