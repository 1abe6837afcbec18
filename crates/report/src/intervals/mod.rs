//! How far quantiles of the response times may lie from what a run shows, on every report; none of a run that was not stationary, of
//! a part of the requests, and of several runs.

mod block_means;

use metrics::{Sketch, Timeline};
use stdx::Nanos;

pub(crate) use self::block_means::Interval;
use self::block_means::{BLOCKS, interval, is_stationary};
use crate::Input;
use crate::conclusion::Conclusion;
use crate::number::duration;
use crate::object::Object;

/// The quantiles, with their names and their keys in JSON.
const QUANTILES: [(&str, &str, f64); 5] = [
    ("50", "50th", 0.5),
    ("90", "90th", 0.9),
    ("95", "95th", 0.95),
    ("99", "99th", 0.99),
    ("99.9", "99.9th", 0.999),
];
/// A text has the intervals where one is wider than this share of its quantile.
const WIDE: f64 = 0.1;

/// A quantile with its interval.
#[derive(Clone, Copy, Debug)]
struct Bounded {
    name: &'static str,
    key: &'static str,
    value: Nanos,
    interval: Option<Interval>,
}

/// The quantiles with their intervals; `None` where no run as a whole was seen over time.
fn bounded(input: &Input<'_>) -> Option<Vec<Bounded>> {
    let mut all = of_blocks(input)?;
    // A server that falls behind has no quantiles, only moments.
    if !Conclusion::of(input).is_of_steady_load() {
        all.iter_mut().for_each(|one| one.interval = None);
    }
    Some(all)
}

/// The interval of the 95th percentile by the response times alone, whatever the load was.
pub(crate) fn of_p95(input: &Input<'_>) -> Option<Interval> {
    of_blocks(input)?.into_iter().find(|one| one.name == "95")?.interval
}

fn of_blocks(input: &Input<'_>) -> Option<Vec<Bounded>> {
    let summary = input.summary;
    let is_whole = summary.apart == Nanos::ZERO && input.selected.is_empty();
    let timeline = input.timeline.filter(|_| is_whole && summary.requests > 0)?;
    let blocks = blocks(timeline);
    let all = &summary.response;
    let tells = is_stationary(&blocks, all);
    let cut = summary.timed_out_from.map(|from| from.0);
    let of = |(name, key, q): &(&'static str, &'static str, f64)| {
        let value = all.quantile(*q);
        let is_cut = |time: Nanos| cut.is_some_and(|from| time.0 as f64 >= from.0 as f64 * 0.999);
        let found = interval(&blocks, all, *q).filter(|_| tells && !is_cut(value));
        let interval =
            found.map(|one| Interval { high: one.high.filter(|at| !is_cut(*at)), ..one });
        Bounded { name, key, value, interval }
    };
    Some(QUANTILES.iter().map(of).collect())
}

/// The response times in blocks of about as many hits, in the order in which they were due.
fn blocks(timeline: &Timeline) -> Vec<Sketch> {
    let all: u64 = timeline.cells().map(|cell| cell.hits).sum();
    let mut blocks = vec![Sketch::new(); BLOCKS];
    let mut before = 0;
    for cell in timeline.cells().filter(|cell| cell.hits > 0) {
        // By the middle of the cell.
        let at = (2 * before + cell.hits) * BLOCKS as u64 / (2 * all.max(1));
        blocks[(at as usize).min(BLOCKS - 1)].merge(&cell.response);
        before += cell.hits;
    }
    blocks.retain(|block| block.count() > 0);
    blocks
}

impl Bounded {
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
fn is_shown(one: &Bounded) -> bool {
    ["50", "95", "99"].contains(&one.name)
}

/// A line of a text; empty where all intervals are narrow, and where there is none.
pub(crate) fn text(input: &Input<'_>) -> String {
    let Some(all) = bounded(input) else { return String::new() };
    let shown: Vec<&Bounded> = all.iter().filter(|one| is_shown(one)).collect();
    if !shown.iter().any(|one| one.is_wide()) {
        return String::new();
    }
    let words: Vec<String> = shown.iter().map(|one| one.words()).collect();
    let mut out = String::new();
    let label = "[95 % sure: 50, 95, 99]";
    crate::text::line(&mut out, "Intervals", label, format_args!("{}", words.join(", ")));
    out
}

/// A table of a page.
pub(crate) fn html(out: &mut String, input: &Input<'_>) {
    let Some(all) = bounded(input) else { return };
    if all.iter().all(|one| one.interval.is_none()) {
        return;
    }
    let row = |one: &Bounded| {
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
    let interval = |one: &Bounded| match one.interval {
        None => "null".to_owned(),
        Some(Interval { low, high }) => {
            let high = high.map_or("null".to_owned(), |high| high.0.to_string());
            format!("[{},{high}]", low.0)
        }
    };
    let object = Object::new().float("level", block_means::LEVEL);
    let object = all.iter().fold(object, |object, one| object.put(one.key, interval(one)));
    Some(object.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_in_words() {
        let ms = Nanos::from_millis;
        let one = |interval| Bounded { name: "95", key: "95th", value: ms(84), interval };
        let some = |high| Some(Interval { low: ms(80), high });
        assert_eq!(one(None).words(), "84ms (not known)");
        assert_eq!(one(some(Some(ms(86)))).words(), "84ms (80ms to 86ms)");
        assert_eq!(one(some(None)).words(), "84ms (80ms to no end)");
        assert!(!one(some(Some(ms(86)))).is_wide() && one(some(Some(ms(90)))).is_wide());
        let open = Interval { low: ms(70), high: None };
        assert!(one(Some(open)).is_wide() && !one(None).is_wide() && !one(some(None)).is_wide());
    }
}
