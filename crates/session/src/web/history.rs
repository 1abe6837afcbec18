//! `History`: the periods of a run, bounded: where there are too many, old ones are merged in pairs.

use serde_json::Value;

use super::frame::Frame;

/// Periods that are kept, at most: half an hour of seconds.
pub(super) const PERIODS_MAX: usize = 1800;

/// The periods of a run, by time.
#[derive(Clone, Debug, Default)]
pub(super) struct History(Vec<Frame>);

impl History {
    /// Adds the newest period.
    pub(super) fn push(&mut self, frame: Frame) {
        if self.0.len() >= PERIODS_MAX {
            let recent = self.0.split_off(PERIODS_MAX / 2);
            let merged = self.0.chunks(2).map(|pair| match pair {
                [one, other] => one.and(other),
                _ => pair[0].clone(),
            });
            self.0 = merged.chain(recent).collect();
        }
        self.0.push(frame);
    }

    /// All periods, for a page that was opened just now.
    pub(super) fn json(&self) -> Value {
        self.0.iter().map(Frame::json).collect()
    }
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::*;

    #[test]
    fn a_long_run_loses_detail_and_no_requests() {
        let mut history = History::default();
        for second in 0..10_000 {
            let (from, to) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
            history.push(Frame { from, to, ended: 3, ..Frame::default() });
        }
        assert!(history.0.len() <= PERIODS_MAX);
        assert_eq!(history.0.iter().map(|frame| frame.ended).sum::<u64>(), 30_000);
        assert!(history.0.windows(2).all(|pair| pair[0].to == pair[1].from), "no gap");
        let newest = history.0.last().unwrap();
        assert_eq!((newest.from, newest.to), (Nanos::from_secs(9999), Nanos::from_secs(10_000)));
    }
}
