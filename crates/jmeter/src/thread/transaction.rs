//! `Transaction`: a transaction under way, and the sample that it becomes.

use crate::results::sample::{SampleKind, SampleResult};

/// A transaction under way.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    pub(crate) controller: usize,
    /// Its samples stand below its own.
    pub(crate) is_parent: bool,
    /// It stands in a parent: its samples are the parent's.
    pub(crate) is_hollow: bool,
    /// Pauses between its samples count as its time.
    pub(crate) has_timers: bool,
    pub(crate) began_ms: i64,
    /// When its last sample ended.
    pub(crate) last_ms: i64,
    pub(crate) paused_ms: i64,
    pub(crate) samples: u64,
    pub(crate) failures: u64,
    /// The code of the first sample that failed.
    pub(crate) failed_code: String,
    pub(crate) bytes: (u64, u64),
    pub(crate) sent_bytes: u64,
    pub(crate) latency_ms: u64,
    pub(crate) connect_ms: u64,
    pub(crate) children: Vec<SampleResult>,
    pub(crate) kept_bytes: usize,
    /// Children without their bodies, since there was no room for them.
    pub(crate) bodies_left_out: u64,
    /// A sample was in it: its thread is known.
    pub(crate) has_any: bool,
}

/// Samples below a transaction at most.
const CHILDREN_MAX: usize = 100_000;
/// Bytes of their bodies and texts at most: 64 MiB.
const BODIES_MAX: usize = 64 << 20;

impl Transaction {
    /// Of a controller, begun now.
    pub(crate) fn new(controller: usize, now_ms: i64) -> Self {
        Self {
            controller,
            is_parent: false,
            is_hollow: false,
            has_timers: true,
            began_ms: now_ms,
            last_ms: now_ms,
            paused_ms: 0,
            samples: 0,
            failures: 0,
            failed_code: String::new(),
            bytes: (0, 0),
            sent_bytes: 0,
            latency_ms: 0,
            connect_ms: 0,
            children: Vec::new(),
            kept_bytes: 0,
            bodies_left_out: 0,
            has_any: false,
        }
    }

    pub(crate) fn add(&mut self, sample: &SampleResult) {
        self.has_any = true;
        self.paused_ms += (sample.start_ms - self.last_ms).max(0);
        self.last_ms = sample.end_ms();
        self.bytes.0 += sample.header_bytes;
        self.bytes.1 += sample.body_bytes;
        self.sent_bytes += sample.sent_bytes;
        self.latency_ms += sample.latency_ms;
        self.connect_ms += sample.connect_ms;
        if !sample.is_success {
            if self.failures == 0 {
                sample.code.clone_into(&mut self.failed_code);
            }
            self.failures += 1;
        }
        if self.is_parent {
            self.samples += 1;
            if self.children.len() < CHILDREN_MAX {
                self.add_child(sample);
            }
        }
    }

    /// Keeps a sample below this one: its texts as long as all of them have room.
    fn add_child(&mut self, sample: &SampleResult) {
        let bytes = sample.kept_bytes();
        if self.kept_bytes.saturating_add(bytes) <= BODIES_MAX {
            self.kept_bytes += bytes;
            return self.children.push(sample.clone());
        }
        self.bodies_left_out += 1;
        self.children.push(sample.without_bodies());
    }

    pub(crate) fn sample(self, label: String, now_ms: i64) -> SampleResult {
        let whole = (now_ms - self.began_ms).max(0);
        let paused = self.paused_ms + (now_ms - self.last_ms).max(0);
        let idle = if self.has_timers { 0 } else { paused.min(whole) };
        let is_success = self.failures == 0;
        SampleResult {
            label,
            start_ms: self.began_ms,
            elapsed_ms: (whole - idle) as u64,
            idle_ms: idle as u64,
            latency_ms: self.latency_ms.min((whole - idle) as u64),
            connect_ms: self.connect_ms.min((whole - idle) as u64),
            code: match (is_success, self.is_parent) {
                (true, _) => "200".to_owned(),
                (false, true) => self.failed_code,
                (false, false) => String::new(),
            },
            message: format!(
                "Number of samples in transaction : {}, number of failing samples : {}",
                self.samples, self.failures
            ),
            is_success,
            header_bytes: self.bytes.0,
            body_bytes: self.bytes.1,
            sent_bytes: self.sent_bytes,
            children: self.children,
            kind: SampleKind::Transaction,
            ..SampleResult::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_44_bodies_below_a_transaction_are_bounded() {
        let mut open = Transaction { is_parent: true, ..Transaction::new(0, 0) };
        let page =
            SampleResult { body: vec![0; 30 << 20], is_success: true, ..SampleResult::default() };
        (0..5).for_each(|_| open.add(&page));
        assert_eq!((open.samples, open.children.len(), open.bodies_left_out), (5, 5, 3));
        assert!(open.children.iter().map(|child| child.body.len()).sum::<usize>() <= BODIES_MAX);
    }
}
