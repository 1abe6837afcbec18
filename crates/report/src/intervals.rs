//! Intervals of quantiles on every report: in the text where one is wide, on the page and in JSON always.

use crate::Input;
use crate::conclusion::Conclusion;
use crate::number::duration;
use crate::object::Object;
use crate::quantiles::{Interval, LEVEL, QuantileBounds, of_blocks};

/// What the line of a text has.
pub(crate) const LABEL: &str = "[95 % sure: 50, 95, 99]";
/// A text has the intervals where one is wider than this share of its quantile.
const WIDE: f64 = 0.1;

/// The quantiles with their intervals; `None` where no run as a whole was seen over time.
fn bounded(input: &Input<'_>) -> Option<Vec<QuantileBounds>> {
    let mut all = of_blocks(input)?;
    // A server that falls behind has no quantiles, only moments.
    if !Conclusion::of(input).is_of_steady_load() {
        all.iter_mut().for_each(|one| one.interval = None);
    }
    Some(all)
}

impl QuantileBounds {
    /// `84ms (80ms to 91ms)`, `84ms (80ms to no end)`, `84ms (not known)`.
    fn words(&self) -> String {
        let value = duration(self.value);
        match self.interval {
            None => format!("{value} (not known)"),
            Some(Interval { low, high: Some(high) }) => {
                format!("{value} ({} to {})", duration(low), duration(high))
            }
            Some(Interval { low, high: None }) => format!("{value} ({} to no end)", duration(low)),
        }
    }

    fn is_wide(&self) -> bool {
        self.interval.is_some_and(|Interval { low, high }| {
            // Without an upper bound it is at least as wide as below.
            let width = high.unwrap_or(self.value).saturating_sub(low);
            width.0 as f64 > WIDE * self.value.0 as f64
        })
    }
}

/// The quantiles that a sentence and a text have: 50, 95 and 99.
fn is_shown(one: &QuantileBounds) -> bool {
    ["50", "95", "99"].contains(&one.name)
}

/// The values of a text's line, which [`LABEL`] names; `None` where all intervals are narrow, and where there is none.
pub(crate) fn text(input: &Input<'_>) -> Option<String> {
    let all = bounded(input)?;
    let shown: Vec<&QuantileBounds> = all.iter().filter(|one| is_shown(one)).collect();
    let words: Vec<String> = shown.iter().map(|one| one.words()).collect();
    shown.iter().any(|one| one.is_wide()).then(|| words.join(", "))
}

/// A table of a page.
pub(crate) fn html(out: &mut String, input: &Input<'_>) {
    let Some(all) = bounded(input) else { return };
    if all.iter().all(|one| one.interval.is_none()) {
        return;
    }
    let row = |one: &QuantileBounds| {
        let (low, high) = match one.interval {
            None => ("not known".to_owned(), String::new()),
            Some(Interval { low, high }) => {
                (duration(low), high.map_or("no end".to_owned(), duration))
            }
        };
        vec![one.name.to_owned(), duration(one.value), low, high]
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    let heads = ["percentile", "response", "from (95 % sure)", "to"];
    crate::page::table(out, "How far percentiles may lie from these", &heads, &rows, 0);
}

/// `{"level":0.95,"50th":[84000000,91000000],…}`: `null` as an interval that is not known, and as an end that there is not; `None`
/// where no run as a whole was seen over time.
pub(crate) fn json(input: &Input<'_>) -> Option<String> {
    let all = bounded(input)?;
    let interval = |one: &QuantileBounds| match one.interval {
        None => "null".to_owned(),
        Some(Interval { low, high }) => {
            let high = high.map_or("null".to_owned(), |high| high.0.to_string());
            format!("[{},{high}]", low.0)
        }
    };
    let object = Object::new().float("level", LEVEL);
    let object = all.iter().fold(object, |object, one| object.put(one.key, interval(one)));
    Some(object.end())
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::*;

    #[test]
    fn an_interval_is_in_words() {
        let ms = Nanos::from_millis;
        let one = |interval| QuantileBounds { name: "95", key: "95th", value: ms(84), interval };
        let some = |high| Some(Interval { low: ms(80), high });
        assert_eq!(one(None).words(), "84ms (not known)");
        assert_eq!(one(some(Some(ms(86)))).words(), "84ms (80ms to 86ms)");
        assert_eq!(one(some(None)).words(), "84ms (80ms to no end)");
        assert!(!one(some(Some(ms(86)))).is_wide() && one(some(Some(ms(90)))).is_wide());
        let open = Interval { low: ms(70), high: None };
        assert!(one(Some(open)).is_wide() && !one(None).is_wide() && !one(some(None)).is_wide());
    }
}
