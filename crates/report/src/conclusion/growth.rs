//! `MemoryGrowth`: memory of a watched process that grows all through a run.

use metrics::server::SourceSummary;

use crate::server::ServerSide;

/// A part of the load's time at its beginning, in which a server warms up.
const WARM_UP: f64 = 0.25;
/// Values that are needed, and seconds.
const VALUES_MIN: usize = 8;
const SECONDS_MIN: f64 = 5.0;
/// Values that are compared with each other; of more, each of so many stretches has its mean.
const VALUES_MAX: usize = 120;
/// It grows by at least so many bytes, and by such a share.
const GROWN_MIN: f64 = 8e6;
const GROWN_SHARE_MIN: f64 = 0.05;
/// Mann and Kendall's statistic: chance alone goes so far once in 1,000 times.
const CHANCE_MAX: f64 = 3.3;
/// What the last half grows by beside the whole: memory that fills up to a size ends growing.
const LAST_HALF_MIN: f64 = 0.5;

/// A growth, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MemoryGrowth {
    /// The process' name.
    pub(super) name: String,
    pub(super) per_minute: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl MemoryGrowth {
    /// The greatest, of all watched processes and trees of them.
    pub(super) fn of(server: &ServerSide<'_>) -> Option<Self> {
        let is_process = |one: &&SourceSummary| {
            ["process ", "tree "].iter().any(|kind| one.source.starts_with(kind))
        };
        let sources = server.side.sources().iter().filter(is_process);
        let found = sources.filter_map(|one| {
            let within = server.client.map(|client| client.earliest..=client.latest);
            let is_within = |at: i64| within.as_ref().is_none_or(|within| within.contains(&at));
            let points = one.measure("rss")?.course().filter(|(at, _)| is_within(*at));
            let points: Vec<(f64, f64)> =
                points.map(|(at, value)| ((at - one.first) as f64 / 1e9, value)).collect();
            let (per_s, from, to) = growth(&points)?;
            let name = one.source.splitn(3, ' ').nth(2)?.to_owned();
            Some(Self { name, per_minute: 60.0 * per_s, from, to })
        });
        found.max_by(|one, other| one.per_minute.total_cmp(&other.per_minute))
    }
}

/// The growth per second of values at times in seconds, with the first and the last of them after the warm-up; `None` where it
/// may be chance, is small, or has ended.
fn growth(points: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    let (begin, end) = (points.first()?.0, points.last()?.0);
    let warm = points.partition_point(|(at, _)| *at < begin + WARM_UP * (end - begin));
    let points = thinned(&points[warm..]);
    let (first, last) = (points.first()?, points.last()?);
    let span = last.0 - first.0;
    if points.len() < VALUES_MIN || span < SECONDS_MIN || statistic(&points) < CHANCE_MAX {
        return None;
    }
    let per_s = slope(&points);
    let grown = per_s * span;
    let goes_on = slope(&points[points.len() / 2..]) >= LAST_HALF_MIN * per_s;
    let is_large = grown >= GROWN_MIN && grown >= GROWN_SHARE_MIN * first.1;
    (is_large && goes_on).then_some((per_s, first.1, last.1))
}

/// At most [`VALUES_MAX`], each the mean of a stretch.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let each = points.len().div_ceil(VALUES_MAX).max(1);
    let mean = |stretch: &[(f64, f64)]| {
        let n = stretch.len() as f64;
        let (at, value) =
            stretch.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (at / n, value / n)
    };
    points.chunks(each).map(mean).collect()
}

/// Mann and Kendall's: pairs that rise less pairs that fall, `S`, by its deviation `√(n(n−1)(2n+5)/18)` without a trend.
/// Source: Kendall, Rank Correlation Methods, 1975.
fn statistic(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let s: f64 = pairs(points)
        .map(|(one, other)| match other.1.total_cmp(&one.1) {
            std::cmp::Ordering::Less => -1.0,
            std::cmp::Ordering::Equal => 0.0,
            std::cmp::Ordering::Greater => 1.0,
        })
        .sum();
    s / (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt()
}

/// Theil and Sen's: the median of the slopes of all pairs. Source: Sen, J. Am. Stat. Assoc. 63 (1968).
fn slope(points: &[(f64, f64)]) -> f64 {
    let rising = pairs(points).filter(|(one, other)| other.0 > one.0);
    let mut slopes: Vec<f64> =
        rising.map(|(one, other)| (other.1 - one.1) / (other.0 - one.0)).collect();
    slopes.sort_by(f64::total_cmp);
    slopes.get(slopes.len() / 2).copied().unwrap_or(0.0)
}

/// Each value with each later one.
fn pairs(points: &[(f64, f64)]) -> impl Iterator<Item = ((f64, f64), (f64, f64))> + '_ {
    let later = move |at: usize| points[at + 1..].iter().map(move |other| (points[at], *other));
    (0..points.len()).flat_map(later)
}

#[cfg(test)]
mod tests {
    use stdx::Prng;

    use super::*;

    const MB: f64 = 1e6;

    fn points(seconds: usize, value: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (0..seconds).map(|at| (at as f64, value(at as f64))).collect()
    }

    #[test]
    fn a_leak_has_its_rate() {
        let (per_s, from, to) = growth(&points(21, |at| (205.0 + 7.75 * at) * MB)).unwrap();
        assert!((per_s / MB - 7.75).abs() < 1e-6, "{per_s}");
        assert!(from < to && to == 360.0 * MB, "{from} {to}");
        let long = growth(&points(3600, |at| (200.0 + 0.02 * at) * MB)).unwrap();
        assert!((long.0 / MB - 0.02).abs() < 1e-6, "{long:?}");
    }

    #[test]
    fn warming_up_steps_and_the_work_of_a_collector_are_no_leak() {
        assert_eq!(
            growth(&points(60, |at| 200.0 * MB + 90.0 * MB * (1.0 - (-at / 8.0).exp()))),
            None
        );
        assert_eq!(growth(&points(60, |at| if at < 40.0 { 200.0 * MB } else { 260.0 * MB })), None);
        assert_eq!(growth(&points(60, |at| (200.0 + 40.0 * (at / 7.0).fract()) * MB)), None);
        assert_eq!(growth(&points(60, |_| 200.0 * MB)), None);
        assert_eq!(growth(&points(60, |at| (200.0 + 0.01 * at) * MB)), None, "0.6 MB are no news");
        assert_eq!(growth(&points(5, |at| (200.0 + 20.0 * at) * MB)), None, "too short");
        assert_eq!(growth(&[]), None);
    }

    /// Noise alone, as great as it may be.
    #[test]
    fn noise_is_seldom_a_leak() {
        let alarms = (0..1_000).filter(|seed| {
            let mut rng = Prng::new(*seed);
            let noisy: Vec<(f64, f64)> =
                (0..60).map(|at| (f64::from(at), (200.0 + 60.0 * rng.next_f64()) * MB)).collect();
            growth(&noisy).is_some()
        });
        let alarms = alarms.count();
        assert!(alarms <= 5, "{alarms} of 1,000");
    }
}
