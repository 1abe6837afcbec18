//! `SelfMetrics`: a worker's measurements of itself: its lateness, stalls and exhausted resources.

use metrics::{FailureKind, Generator};
use net::machine;
use stdx::Nanos;

/// A loop that stood still for longer than this has stalled.
pub(crate) const STALL: Nanos = Nanos::from_millis(100);

/// A worker's measurements of itself.
#[derive(Debug, Default)]
pub(crate) struct SelfMetrics {
    pub(crate) planned: u64,
    pub(crate) sent: u64,
    pub(crate) warmup_hits: u64,
    pub(crate) not_sent: u64,
    pub(crate) held: u64,
    pub(crate) connections: u64,
    pub(crate) texts_cut: u64,
    stalls: u64,
    stall_longest: Nanos,
    descriptors_exhausted: u64,
    ports_exhausted: u64,
    pub(crate) pauses: u64,
    cpu_at_start: Nanos,
    began: Nanos,
    /// When the loop last went to sleep or woke up.
    turned: Nanos,
}

impl SelfMetrics {
    pub(crate) fn new(now: Nanos) -> Self {
        let cpu_at_start = machine::thread_cpu_time();
        Self { cpu_at_start, began: now, turned: now, ..Self::default() }
    }

    /// The loop goes to sleep until `until` at the latest.
    pub(crate) fn sleep(&mut self, now: Nanos) {
        self.note_stall(now.saturating_sub(self.turned));
    }

    /// The loop woke up; it had asked for `until`.
    pub(crate) fn wake(&mut self, until: Nanos, now: Nanos) {
        self.note_stall(now.saturating_sub(until));
        self.turned = now;
    }

    /// The loop goes on without sleep.
    pub(crate) fn go_on(&mut self, now: Nanos) {
        self.sleep(now);
        self.turned = now;
    }

    fn note_stall(&mut self, length: Nanos) {
        if length > STALL {
            self.stalls += 1;
            self.stall_longest = self.stall_longest.max(length);
        }
    }

    pub(crate) fn note_failure(&mut self, kind: FailureKind) {
        self.descriptors_exhausted += u64::from(kind == FailureKind::DescriptorsExhausted);
        self.ports_exhausted += u64::from(kind == FailureKind::PortsExhausted);
    }

    /// Writes the measurements into the record; the caller owns the histogram of lag.
    pub(crate) fn write_to(&self, record: &mut Generator, now: Nanos) {
        let cpu = machine::thread_cpu_time().saturating_sub(self.cpu_at_start);
        let wall = now.saturating_sub(self.began);
        record.workers = 1;
        record.planned = self.planned;
        record.sent = self.sent;
        record.warmup_hits = self.warmup_hits;
        record.not_sent = self.not_sent;
        record.held = self.held;
        record.connections = self.connections;
        record.texts_cut = self.texts_cut;
        record.stalls = self.stalls;
        record.stall_longest = self.stall_longest;
        record.descriptors_exhausted = self.descriptors_exhausted;
        record.ports_exhausted = self.ports_exhausted;
        record.pauses = self.pauses;
        record.cpu = cpu;
        record.wall = wall;
        record.cpu_busiest = if wall == Nanos::ZERO { 0.0 } else { cpu.0 as f64 / wall.0 as f64 };
    }
}
