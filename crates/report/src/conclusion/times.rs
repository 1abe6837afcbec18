//! Sentences on response times.

use stdx::Nanos;

use super::facts::{Facts, QUANTILES};
use super::outcome::Outcome;
use super::sentence::{Kind, Sentence};
use super::words::{share, time};

/// A quantile is stated where so many requests lie beyond it: the count of those varies by 1 / √5, less than half, from run to
/// run (Poisson).
const BEYOND_MIN: f64 = 5.0;
/// Medians that grow by less are not worth a word, ...
const SLOWER_MIN: Nanos = Nanos::from_millis(20);
/// ... and those of the last third that are less than so many times the first one's.
const SLOWER_TIMES: u64 = 2;

/// Response times; none that the generator itself raised, and none without successes.
pub(super) fn latency(facts: &Facts, outcome: Outcome) -> Option<Sentence> {
    if outcome.is_without_figures() {
        return None;
    }
    let growing = facts.course.filter(|one| outcome == Outcome::Overloaded && one.is_growing());
    let mut parts: Vec<String> = Vec::new();
    let mut figures = Vec::new();
    let names = [("Half of the requests", "p50"), ("95 of 100", "p95"), ("99 of 100", "p99")];
    for ((words, name), value) in names.into_iter().zip(stated(facts, outcome)) {
        let Some(value) = value else { continue };
        parts.push(format!("{words} took at most {}", time(value)));
        figures.push((name, value.0 as f64));
    }
    let mut text = match late(facts, outcome).filter(|_| !parts.is_empty()) {
        Some(late) => late + &lower(&short(&parts)),
        None => short(&parts),
    };
    if let Some(longest) = longest(facts, outcome) {
        text += &format!(", and the longest {}", time(longest));
        figures.push(("max", longest.0 as f64));
    }
    if let Some(course) = growing {
        let [first, _, last] = course.thirds.map(|third| third.p50);
        figures.extend([("p50_first_third", first.0 as f64), ("p50_last_third", last.0 as f64)]);
        let grew = format!(
            "The median response time grew from {} in the run's first third to {} in its last",
            time(first),
            time(last)
        );
        text = if text.is_empty() { grew } else { format!("{grew}; {}", lower(&text)) };
    }
    (!text.is_empty()).then(|| Sentence { kind: Kind::Latency, text: text + ".", figures })
}

/// What waits and what does not, where a server is overloaded and half of the requests do not see it.
fn late(facts: &Facts, outcome: Outcome) -> Option<String> {
    let is_all_the_time = !facts.course.is_some_and(|course| course.is_growing())
        && facts.backlog.is_none_or(|backlog| backlog.onset.is_none());
    let is_wanted = outcome == Outcome::Overloaded && facts.slowest.is_none() && is_all_the_time;
    let late = facts.late.filter(|_| is_wanted)?;
    Some(format!(
        "The server takes some requests before others: {} waited longer than {}, and the rest hardly; ",
        share(late.share),
        time(late.than)
    ))
}

/// The longest time, where users waited for a server that stood still: they are so few that percentiles hardly show it.
fn longest(facts: &Facts, outcome: Outcome) -> Option<Nanos> {
    let is_stated = outcome == Outcome::Paused && facts.is_closed() && facts.failed() == 0;
    (is_stated && facts.measurement.is_good() && facts.longest > facts.times[2])
        .then_some(facts.longest)
}

/// The medians of the first and the last third of a run in which answers became slower all the time.
pub(super) fn slower_medians(facts: &Facts) -> Option<[Nanos; 2]> {
    let [first, middle, last] = facts.course?.thirds.map(|third| third.p50);
    let rises = first < middle && middle < last && last.0 >= SLOWER_TIMES * first.0;
    (rises && last.saturating_sub(first) >= SLOWER_MIN && !facts.raised[0]).then_some([first, last])
}

/// `; the median response time grew from 30ms to 330ms over the run`: a server may become slower without a queue, and users then ask
/// for less.
pub(super) fn slower(facts: &Facts) -> String {
    slower_medians(facts).map_or(String::new(), |[first, last]| {
        format!(
            "; the median response time grew from {} to {} over the run",
            time(first),
            time(last)
        )
    })
}

/// Which of the 50th, 95th and 99th percentiles may be stated: those that the generator did not raise, no timeout cut, and enough
/// requests lie beyond.
pub(super) fn stated(facts: &Facts, outcome: Outcome) -> [Option<Nanos>; 3] {
    let is_stated = |at: usize| {
        let value = facts.times[at];
        let is_cut =
            facts.timed_out_from.is_some_and(|from| value.0 as f64 >= from.0 as f64 * 0.999);
        let is_known = facts.requests as f64 * (1.0 - QUANTILES[at]) >= BEYOND_MIN;
        (is_known && !is_cut && !facts.raised[at] && !outcome.is_without_figures()).then_some(value)
    };
    std::array::from_fn(is_stated)
}

/// `Half of the requests took at most 12ms, 95 of 100 at most 30ms`.
fn short(parts: &[String]) -> String {
    let Some((first, rest)) = parts.split_first() else { return String::new() };
    let rest = rest.iter().map(|part| part.replacen(" took at most", " at most", 1));
    std::iter::once(first.clone()).chain(rest).collect::<Vec<_>>().join(", ")
}

fn lower(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
