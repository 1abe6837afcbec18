//! `ClockOffset` bounds the offset of another machine's clock by the `Date` header of its responses. The header has whole
//! seconds, so one response leaves an interval of a second; each further one, requested at the right moment, halves it, down to
//! the round trip time.

use stdx::{Nanos, days_since_1970};

/// A second, in nanoseconds.
const SECOND: i64 = 1_000_000_000;

/// What is known of the difference: the other clock minus ours lies between `low` and `high` (ns).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockOffset {
    bounds: Option<(i64, i64)>,
    /// Answers that no single difference explains: a clock was set meanwhile, or a cache answered.
    contradictions: u32,
}

impl ClockOffset {
    /// Adds a response with `date` (Unix time in whole seconds), requested at `sent` and received at `received` (our Unix time,
    /// ns).
    pub fn add(&mut self, sent: i64, received: i64, date_s: i64) {
        // The header was written between both moments, in the second that begins with `date`.
        let begin = date_s.saturating_mul(SECOND);
        let found =
            (begin.saturating_sub(received), begin.saturating_add(SECOND).saturating_sub(sent));
        let Some((low, high)) = self.bounds else {
            self.bounds = Some(found);
            return;
        };
        let both = (low.max(found.0), high.min(found.1));
        if both.0 <= both.1 {
            self.bounds = Some(both);
        } else {
            // Nothing of before is worth keeping.
            (self.bounds, self.contradictions) = (Some(found), self.contradictions + 1);
        }
    }

    /// The difference to add to our clock to have the other's, and how wrong that may be; both in nanoseconds. Nothing before
    /// the first answer.
    #[must_use]
    pub fn estimate(&self) -> Option<(i64, i64)> {
        let (low, high) = self.bounds?;
        let half = (high - low) / 2;
        Some((low + half, high - low - half))
    }

    /// How many answers contradicted those before them.
    #[must_use]
    pub fn contradictions(&self) -> u32 {
        self.contradictions
    }

    /// How long to wait at `now` (our Unix time, ns) before the next request, so that its response halves the interval: the
    /// other clock's second then ends in the middle of the interval.
    #[must_use]
    pub fn wait(&self, now: i64) -> Nanos {
        let middle = self.estimate().map_or(0, |(offset, _)| offset);
        let into_second = (now.saturating_add(middle)).rem_euclid(SECOND);
        Nanos((SECOND - into_second) as u64)
    }
}

/// The Unix time, in seconds, of a `Date` header: `Sun, 06 Nov 1994 08:49:37 GMT`. RFC 9110, 5.6.7; the forms that are obsolete
/// there are not understood.
#[must_use]
pub fn http_date(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = words.as_slice() else { return None };
    let number = |text: &str, max: i64| text.parse::<i64>().ok().filter(|n| (0..=max).contains(n));
    let month = MONTHS.iter().position(|known| known == month)? as i64 + 1;
    let (day, year) = (number(day, 31).filter(|day| *day > 0)?, number(year, 9999)?);
    let mut parts = time.split(':');
    let mut part = |max: i64| number(parts.next()?, max);
    let (hour, minute, second) = (part(23)?, part(59)?, part(60)?);
    Some(days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates() {
        let cases = [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, 00 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 24:49:37 GMT", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(http_date(text), expected, "{text}");
        }
    }

    proptest! {
        /// A server with a known clock, requested at the proposed moments.
        #[test]
        fn finds_a_known_difference(
            offset in -5_000_000_000_000i64..5_000_000_000_000,
            start in 0..1_000_000_000i64,
            ways in prop::collection::vec((1_000..2_000_000i64, 1_000..2_000_000i64), 12),
        ) {
            let mut clock = ClockOffset::default();
            let mut now = 1_700_000_000 * SECOND + start;
            for (there, back) in ways {
                now += clock.wait(now).0 as i64;
                let date = (now + there + offset).div_euclid(SECOND);
                clock.add(now, now + there + back, date);
                now += there + back;
            }
            let (estimate, error) = clock.estimate().unwrap();
            prop_assert!((estimate - offset).abs() <= error, "{estimate} ± {error}, not {offset}");
            prop_assert!(error < 5_000_000, "{error}");
            prop_assert_eq!(clock.contradictions(), 0);
        }
    }

    #[test]
    fn a_clock_that_is_set_is_reported() {
        let mut clock = ClockOffset::default();
        assert_eq!(clock.estimate(), None);
        clock.add(0, 10, 0);
        clock.add(SECOND, SECOND + 10, 100);
        assert_eq!(clock.contradictions(), 1);
        let (estimate, error) = clock.estimate().unwrap();
        assert!((estimate - 99 * SECOND).abs() <= error, "{estimate} ± {error}");
    }
}
