//! `Shape`: how a load went that was not even: a ramp, steps, a burst. "About 30/s to 200/s" is all three of them.

use stdx::Nanos;

use super::line::Line;
use super::words::time;

/// The bins that a run is looked at in.
const BINS: usize = 64;
/// Fewer say nothing of a shape.
const BINS_MIN: usize = 8;
/// The most levels.
const LEVELS_MAX: usize = 12;
/// How much more a level has to explain than chance does, in squared standard deviations of its counts.
const LEVEL_COST: f64 = 12.0;
/// Rates that differ by less than this share are the same.
const SAME: f64 = 0.06;

/// How counts differ from their shape.
#[derive(Clone, Copy, Debug)]
enum Noise {
    /// By a request or two: brunt paces a load, if not by random arrivals.
    Paced,
    /// As at random (Poisson).
    Random,
}

impl Noise {
    fn variance(self, expected: f64) -> f64 {
        match self {
            Self::Paced => 1.0,
            Self::Random => expected.max(1.0),
        }
    }

    /// By how much a count may differ: some standard deviations, and a share of it.
    fn allowed(self, expected: f64) -> f64 {
        match self {
            Self::Paced => 2.0 + 0.01 * expected,
            Self::Random => 4.0 * expected.max(1.0).sqrt() + 0.05 * expected,
        }
    }
}

/// Requests that were due in a time (s).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bin {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) count: f64,
}

impl Bin {
    fn rate(&self) -> f64 {
        self.count / (self.to - self.from).max(1e-9)
    }

    fn middle(&self) -> f64 {
        f64::midpoint(self.from, self.to)
    }

    fn is_near(&self, rate: f64, noise: Noise) -> bool {
        let expected = rate * (self.to - self.from);
        (self.count - expected).abs() <= noise.allowed(expected)
    }
}

/// A part of a load, from one time to another (s), at a rate that goes evenly from one to another (1/s).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) rates: [f64; 2],
}

/// A load in parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shape {
    pub(super) parts: Vec<Part>,
}

impl Shape {
    /// Of requests that were due in times which follow each other; `None` where they went in no way that has a name.
    pub(super) fn of(bins: &[Bin]) -> Option<Self> {
        let bins = joined(bins);
        if bins.len() < BINS_MIN {
            return None;
        }
        let fit = |noise| {
            let fits = [ramp(&bins, noise), steps(&bins, noise)].into_iter().flatten();
            let best = fits.min_by(|one, other| one.1.total_cmp(&other.1));
            best.map(|(parts, _)| Self { parts })
        };
        // Pacing that is a little off has more levels than were asked for.
        let fits = [Noise::Paced, Noise::Random].map(fit);
        let named = fits.iter().flatten().find(|one| one.words(&|_| String::new(), "").is_some());
        named.or(fits.iter().flatten().next()).cloned()
    }

    /// The time (s) from which on more than this rate was asked, the last one before a time at which it was.
    pub(super) fn above(&self, rate: f64, at: f64) -> Option<f64> {
        let place = self.parts.iter().position(|part| part.to > at && rate < part.most())?;
        let first = self.parts[..=place].iter().rposition(|part| part.least() < rate);
        let part = self.parts[first.unwrap_or(0)];
        let [low, high] = part.rates;
        let is_crossed = first.is_some() && low < rate && rate < high;
        Some(match first {
            _ if is_crossed => part.from + (part.to - part.from) * (rate - low) / (high - low),
            Some(before) => self.parts.get(before + 1).map_or(part.to, |next| next.from),
            None => part.from,
        })
    }

    /// The rate asked just after a time (s).
    pub(super) fn rate_after(&self, at: f64) -> Option<f64> {
        let part = self.parts.iter().find(|part| part.to > at + 1e-9)?;
        let share = ((at - part.from) / (part.to - part.from).max(1e-9)).clamp(0.0, 1.0);
        Some(part.rates[0] + share * (part.rates[1] - part.rates[0]))
    }

    /// `Rising evenly from 20/s to 180/s for 32s`, `30/s for 25s, from 8s to 10s 200/s`; `None` where it has too many parts for words.
    pub(super) fn words(&self, rate: &dyn Fn(f64) -> String, taken: &str) -> Option<String> {
        let rate = |of: f64| rate(round(of));
        let at = |seconds: f64| time(Nanos::from_secs_f64((seconds * 10.0).round() / 10.0));
        let mean = |part: &Part| rate(f64::midpoint(part.rates[0], part.rates[1]));
        match self.parts.as_slice() {
            [one] => {
                let [from, to] = one.rates;
                let way = if from < to { "Rising" } else { "Falling" };
                Some(format!("{way} evenly from {} to {} for {taken}", rate(from), rate(to)))
            }
            [one, other] => Some(format!(
                "{} for {taken}, from {} on {}",
                mean(one),
                at(other.from),
                mean(other)
            )),
            [one, burst, last] if one.is_like(last) => {
                let (from, to) = (at(burst.from), at(burst.to));
                Some(format!("{} for {taken}, from {from} to {to} {}", mean(one), mean(burst)))
            }
            [first, .., last] if self.is_one_way() => Some(format!(
                "In {} steps from {} to {} for {taken}",
                self.parts.len(),
                mean(first),
                mean(last)
            )),
            _ => None,
        }
    }

    /// Each part is above the one before, or each below it.
    fn is_one_way(&self) -> bool {
        let rises =
            self.parts.windows(2).filter(|pair| pair[0].rates[0] < pair[1].rates[0]).count();
        rises == 0 || rises + 1 == self.parts.len()
    }
}

impl Part {
    fn least(&self) -> f64 {
        self.rates[0].min(self.rates[1])
    }

    fn most(&self) -> f64 {
        self.rates[0].max(self.rates[1])
    }

    fn is_like(&self, other: &Self) -> bool {
        let [one, other] = [self.rates[0], other.rates[0]];
        (one - other).abs() <= SAME * one.max(other)
    }
}

/// A rate as it was asked for: to two digits, where that is within a hundredth of it.
fn round(rate: f64) -> f64 {
    let unit = 10f64.powf(rate.max(1e-9).log10().floor() - 1.0);
    let round = (rate / unit).round() * unit;
    if (round - rate).abs() <= 0.01 * rate { round } else { rate }
}

/// At most [`BINS`] of them.
fn joined(bins: &[Bin]) -> Vec<Bin> {
    let each = bins.len().div_ceil(BINS).max(1);
    let join = |bins: &[Bin]| Bin {
        from: bins[0].from,
        to: bins[bins.len() - 1].to,
        count: bins.iter().map(|bin| bin.count).sum(),
    };
    bins.chunks(each).map(join).collect()
}

/// One line through all rates, with its cost.
fn ramp(bins: &[Bin], noise: Noise) -> Option<(Vec<Part>, f64)> {
    let points: Vec<(f64, f64)> = bins.iter().map(|bin| (bin.middle(), bin.rate())).collect();
    let line = Line::through(&points);
    let (from, to) = (bins[0].from, bins[bins.len() - 1].to);
    let mean = points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64;
    let middle = points.iter().map(|point| point.0).sum::<f64>() / points.len() as f64;
    let rate = |at: f64| mean + line.slope * (at - middle);
    let rates = [rate(from).max(0.0), rate(to).max(0.0)];
    let is_it = bins.iter().all(|bin| bin.is_near(rate(bin.middle()), noise));
    let is_level = (rates[0] - rates[1]).abs() <= SAME * rates[0].max(rates[1]);
    let cost = |bin: &Bin| {
        let expected = rate(bin.middle()) * (bin.to - bin.from);
        (bin.count - expected).powi(2) / noise.variance(expected)
    };
    // It has two figures, as two levels have.
    let cost = bins.iter().map(cost).sum::<f64>() + 2.0 * LEVEL_COST;
    (is_it && !is_level).then(|| (vec![Part { from, to, rates }], cost))
}

/// Levels, each of as many bins as explain the counts best, with their cost.
fn steps(bins: &[Bin], noise: Noise) -> Option<(Vec<Part>, f64)> {
    let (bounds, cost) = levels(bins, noise)?;
    let level = |pair: &[usize]| {
        let bins = &bins[pair[0]..pair[1]];
        let (from, to) = (bins[0].from, bins[bins.len() - 1].to);
        let rate = bins.iter().map(|bin| bin.count).sum::<f64>() / (to - from).max(1e-9);
        (Part { from, to, rates: [rate; 2] }, bins.len())
    };
    let parts = whole_levels(&bounds.windows(2).map(level).collect::<Vec<_>>());
    let is_it = |bin: &Bin| {
        let within = parts.iter().find(|part| part.from <= bin.from && bin.to <= part.to);
        within.is_none_or(|part| bin.is_near(part.rates[0], noise))
    };
    let is_it = parts.len() > 1 && parts.len() <= LEVELS_MAX && bins.iter().all(is_it);
    is_it.then_some((parts, cost))
}

/// Levels without the bins in which one passes into the next, which lie between both; these say when.
fn whole_levels(levels: &[(Part, usize)]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (at, (part, bins)) in levels.iter().enumerate() {
        let next = levels.get(at + 1).map(|level| level.0);
        let Some(last) = parts.last_mut() else {
            parts.push(*part);
            continue;
        };
        match next {
            Some(next) if *bins == 1 && is_between(part, last, &next) => {
                let share = (part.rates[0] - next.rates[0]) / (last.rates[0] - next.rates[0]);
                last.to = part.from + (part.to - part.from) * share;
            }
            _ if last.is_like(part) => last.to = part.to,
            _ => {
                let from = last.to;
                parts.push(Part { from, ..*part });
            }
        }
    }
    parts
}

fn is_between(part: &Part, before: &Part, after: &Part) -> bool {
    let [low, high] = [before.rates[0].min(after.rates[0]), before.rates[0].max(after.rates[0])];
    (low..=high).contains(&part.rates[0])
}

/// The bounds of the levels that cost least, and their cost: each costs the squared deviations of its counts, and [`LEVEL_COST`].
fn levels(bins: &[Bin], noise: Noise) -> Option<(Vec<usize>, f64)> {
    let (sums, squares) = (sums(bins, |count| count), sums(bins, |count| count * count));
    let cost = |from: usize, to: usize| {
        let mean = (sums[to] - sums[from]) / (to - from) as f64;
        let squared = squares[to] - squares[from] - (to - from) as f64 * mean * mean;
        squared / noise.variance(mean) + LEVEL_COST
    };
    // The least cost of the bins before each, and where its last level begins.
    let mut best = vec![(0.0, 0)];
    for to in 1..=bins.len() {
        let costs = (0..to).map(|from| (best[from].0 + cost(from, to), from));
        best.push(costs.min_by(|one, other| one.0.total_cmp(&other.0))?);
    }
    let mut bounds = vec![bins.len()];
    while let Some(last) = bounds.last().copied().filter(|last| *last > 0) {
        bounds.push(best[last].1);
    }
    bounds.reverse();
    Some((bounds, best[bins.len()].0))
}

fn sums(bins: &[Bin], of: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0];
    sums.extend(bins.iter().scan(0.0, |sum, bin| {
        *sum += of(bin.count);
        Some(*sum)
    }));
    sums
}

#[cfg(test)]
mod tests {
    use super::super::words::per_s;
    use super::*;

    /// Requests at a rate by the time (s), for so many seconds.
    fn shape(seconds: f64, rate: impl Fn(f64) -> f64) -> Option<Shape> {
        let width = seconds / 200.0;
        let mut dues = 0.0;
        let bin = |at: usize| {
            let from = at as f64 * width;
            // Requests are whole.
            let due = (0..50).map(|part| rate(from + width * (f64::from(part) + 0.5) / 50.0));
            let until = dues + due.sum::<f64>() * width / 50.0;
            let count = until.floor() - f64::floor(dues);
            dues = until;
            Bin { from, to: from + width, count }
        };
        Shape::of(&(0..200).map(bin).collect::<Vec<_>>())
    }

    fn words(seconds: f64, rate: impl Fn(f64) -> f64) -> String {
        let shape = shape(seconds, rate).expect("a shape");
        shape.words(&per_s, "25s").unwrap_or_else(|| panic!("{shape:?}"))
    }

    #[test]
    fn loads_are_called_by_their_shapes() {
        let ramp = words(32.0, |at| 20.0 + 5.0 * at);
        assert_eq!(ramp, "Rising evenly from 20/s to 180/s for 25s");
        let falling = words(30.0, |at| 200.0 - 5.0 * at);
        assert!(falling.starts_with("Falling evenly from 200/s to 5"), "{falling}");
        let burst = words(25.0, |at| if (8.0..10.0).contains(&at) { 200.0 } else { 30.0 });
        assert_eq!(burst, "30/s for 25s, from 8s to 10s 200/s");
        let off = |at: f64| if at < 9.0 { 190.0 } else { 208.0 };
        let uneven = words(25.0, |at| if (8.0..10.0).contains(&at) { off(at) } else { 30.0 });
        assert!(uneven.starts_with("30/s for 25s, from 8s to 10s "), "{uneven}");
        let later = words(25.0, |at| if at < 12.0 { 30.0 } else { 60.0 });
        assert_eq!(later, "30/s for 25s, from 12s on 60/s");
        let steps = words(50.0, |at| 20.0 * (1.0 + (at / 10.0).floor()));
        assert_eq!(steps, "In 5 steps from 20/s to 100/s for 25s");
        let wave = shape(60.0, |at| 60.0 + 50.0 * (at / 4.0).sin());
        assert_eq!(wave.and_then(|shape| shape.words(&per_s, "60s")), None);
    }

    #[test]
    fn a_rate_is_crossed_at_its_moment() {
        let ramp = shape(32.0, |at| 20.0 + 5.0 * at).expect("a ramp");
        let at = ramp.above(97.5, 19.8).expect("a moment");
        assert!((at - 15.5).abs() < 0.2, "{at}");
        let steps = shape(50.0, |at| 20.0 * (1.0 + (at / 10.0).floor())).expect("steps");
        let at = steps.above(70.0, 33.0).expect("a moment");
        assert!((at - 30.0).abs() < 0.2, "{at}");
        let asked = steps.rate_after(at).expect("a rate");
        assert!((asked - 80.0).abs() < 1.0, "{asked}");
        assert_eq!(steps.above(170.0, 33.0), None, "never asked");
    }
}
