//! `SubResults`: which rows of CSV repeat others. Behind a sample JMeter writes the samples it is made of, as `LABEL-0`, `LABEL-1`,
//! and a row for each transaction, which adds up those of its samples.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// What a row says of its place among others. Times are Unix times, ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowPlace<'a> {
    pub(super) thread: &'a [u8],
    pub(super) label: &'a [u8],
    pub(super) message: &'a [u8],
    pub(super) start: i64,
    pub(super) end: i64,
}

/// The last sample of each thread.
#[derive(Default)]
pub(super) struct SubResults {
    last: HashMap<u64, Parent>,
    hasher: RandomState,
}

#[derive(Default)]
struct Parent {
    label: Vec<u8>,
    start: i64,
    end: i64,
    /// The number of its next sub-result.
    next: u64,
}

/// Threads that are known at once.
const THREADS_MAX: usize = 1 << 16;
/// The first words of what a transaction says in place of a message.
const TRANSACTION: &[u8] = b"Number of samples in transaction : ";

/// Whether a message is that of a transaction.
pub(super) fn is_transaction(message: &[u8]) -> bool {
    message.starts_with(TRANSACTION)
}

impl SubResults {
    /// Whether a row repeats what others say.
    pub(super) fn repeats(&mut self, row: &RowPlace<'_>) -> bool {
        if is_transaction(row.message) {
            return true;
        }
        if self.last.len() > THREADS_MAX {
            self.last.clear();
        }
        let parent = self.last.entry(self.hasher.hash_one(row.thread)).or_default();
        let repeats = parent.has(row);
        if !repeats {
            parent.become_row(row);
        }
        repeats
    }
}

impl Parent {
    /// Whether a row is the next of its sub-results, or one of theirs.
    fn has(&mut self, row: &RowPlace<'_>) -> bool {
        let Some(number) = number_in(row.label, &self.label) else { return false };
        let is_within = row.start >= self.start && row.end <= self.end;
        let is_next = number == self.next && (number > 0 || row.start == self.start);
        let is_of_last = self.next > 0 && number == self.next - 1;
        self.next += u64::from(is_within && is_next);
        is_within && (is_next || is_of_last)
    }

    fn become_row(&mut self, row: &RowPlace<'_>) {
        self.label.clear();
        self.label.extend_from_slice(row.label);
        (self.start, self.end, self.next) = (row.start, row.end, 0);
    }
}

/// The number behind a parent's label: 3 of `LABEL-3` and `LABEL-3-1`.
fn number_in(label: &[u8], parent: &[u8]) -> Option<u64> {
    let rest = label.strip_prefix(parent)?.strip_prefix(b"-")?;
    let first = rest.split(|byte| *byte == b'-').next()?;
    let numbers = rest.split(|byte| *byte == b'-');
    let all = numbers.into_iter().all(|one| super::moment::whole(one).is_some());
    super::moment::whole(first).filter(|_| all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_results_and_transactions_repeat() {
        let mut sub_results = SubResults::default();
        let mut repeats = |thread: &str, label: &str, (start, end)| {
            let (thread, label) = (thread.as_bytes(), label.as_bytes());
            sub_results.repeats(&RowPlace { thread, label, message: b"OK", start, end })
        };
        assert!(!repeats("1", "home", (0, 90)));
        assert!(!repeats("2", "home", (0, 50)));
        assert!(repeats("1", "home-0", (0, 30)));
        assert!(repeats("1", "home-1", (31, 90)));
        assert!(repeats("1", "home-1-0", (31, 40)));
        assert!(repeats("2", "home-0", (0, 50)));
        // A sampler of that name, after the other.
        assert!(!repeats("1", "home-2", (91, 95)));
        assert!(!repeats("1", "home", (100, 120)));
        assert!(!repeats("1", "home-1", (120, 130)));
        let message = b"Number of samples in transaction : 2, number of failing samples : 0";
        let row = RowPlace { thread: b"1", label: b"t", message, start: 0, end: 9 };
        assert!(sub_results.repeats(&row));
    }
}
