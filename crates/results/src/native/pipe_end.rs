//! `PipeEnd`: what the reader of a pipe took with it when it ended before the run did, as Ctrl-C ends `tee`. The writer could
//! not say so any more; it is bounded from what is there.

use metrics::{Batch, Generator};
use stdx::Nanos;

/// What was seen of a stream that was written into a pipe.
#[derive(Debug, Default)]
pub(super) struct PipeEnd {
    rows: u64,
    /// When the last answer came.
    done: Nanos,
}

/// A generator's record comes each second, and is in the pipe within 100 ms: the stream went on for no longer after its last.
const SILENCE_MAX: Nanos = Nanos::from_millis(1_100);

impl PipeEnd {
    /// Takes in rows.
    pub(super) fn add(&mut self, batch: &Batch) {
        self.rows += batch.samples.len() as u64;
        let done = batch.samples.iter().map(|sample| sample.done);
        self.done = done.fold(self.done, Nanos::max);
    }

    /// The record that the generator would have written as its last, from the last one that it wrote.
    ///
    /// Hits lost, at most: `sent + X T - rows`, with `sent` by its last record, the rate `X` of hits begun until then, and the
    /// time `T` from then to the record that did not come.
    pub(super) fn last_word(&self, last: Option<Generator>) -> Generator {
        let seen = last.filter(|last| last.wall > Nanos::ZERO);
        let (begun, until) = seen.as_ref().map_or((self.rows, self.done), |g| (g.sent, g.wall));
        let rate_per_ns = begun as f64 / until.0.max(1) as f64;
        let after = (rate_per_ns * SILENCE_MAX.0 as f64).ceil() as u64;
        let lost_at_end = (begun + after).saturating_sub(self.rows).max(1);
        Generator { lost_at_end, interrupted: true, finished: true, ..seen.unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use metrics::Sample;

    use super::*;

    /// 50 rows a second, the last of them at `until` (ms).
    fn rows(until: u64) -> PipeEnd {
        let mut end = PipeEnd::default();
        let hit = |n| Sample { done: Nanos::from_millis(n), ..Sample::default() };
        let samples = (0..=until).step_by(20).map(hit).collect();
        end.add(&Batch { samples, ..Batch::default() });
        end
    }

    /// Issue 41: that of a pipeline which Ctrl-C ended was INVALID, and nothing was counted.
    #[test]
    fn what_a_reader_took_with_it_is_bounded() {
        let record = |sent, wall| Generator {
            workers: 2,
            sent,
            planned: sent,
            wall: Nanos::from_secs(wall),
            ..Generator::default()
        };
        // Until 2.5 s 126 rows; the run may have gone on until 3.1 s.
        let last = rows(2_500).last_word(Some(record(101, 2)));
        assert_eq!((last.lost_at_end, last.interrupted, last.finished), (31, true, true));
        assert_eq!((last.workers, last.sent), (2, 101));
        // A server that stood still from the first second on: of 151 requests, 51 have rows.
        assert_eq!(rows(1_000).last_word(Some(record(151, 3))).lost_at_end, 156);
        // Before the first record.
        assert_eq!(rows(500).last_word(None).lost_at_end, 58);
        assert_eq!(PipeEnd::default().last_word(None).lost_at_end, 1);
    }
}
