//! `Repeat`: something that happened several times in a run: pauses, outages.

use stdx::Nanos;

use super::words::time;
use crate::number::counted;

/// How often, and how long in all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Repeat {
    pub(super) times: u64,
    pub(super) sum: Nanos,
    pub(super) longest: Nanos,
    /// When the first one began, after the first request was due.
    pub(super) first: Nanos,
    /// When the last one did.
    pub(super) last: Nanos,
}

impl Repeat {
    /// Of beginnings and lengths in the order of time; `None` of less than two.
    pub(super) fn of(spans: &[(Nanos, Nanos)]) -> Option<Self> {
        let ([(first, _), .., (last, _)], lengths) = (spans, spans.iter().map(|span| span.1))
        else {
            return None;
        };
        Some(Self {
            times: spans.len() as u64,
            sum: Nanos(lengths.clone().map(|length| length.0).sum()),
            longest: lengths.max()?,
            first: *first,
            last: *last,
        })
    }

    /// `3 times, 4.2s in all, the first at 2s, the last at 12s`.
    pub(super) fn words(&self) -> String {
        format!(
            "{}, {} in all, the first at {}, the last at {}",
            counted(self.times, "time"),
            time(self.sum),
            time(self.first),
            time(self.last)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_once_is_no_repeat() {
        let span = |at: u64, length: u64| (Nanos::from_millis(at), Nanos::from_millis(length));
        assert_eq!(Repeat::of(&[]), None);
        assert_eq!(Repeat::of(&[span(2_000, 900)]), None);
        let three = [span(2_000, 900), span(7_000, 2_100), span(12_000, 1_200)];
        let words = Repeat::of(&three).expect("a repeat").words();
        assert_eq!(words, "3 times, 4.2s in all, the first at 2s, the last at 12s");
    }
}
