//! `Measure` summarises the readings of one value: its mean, its bounds and its course. `SourceSummary` has all measures of a
//! source. Both are of bounded size for any input.

use stdx::Nanos;

use super::Reading;
use crate::grid::{Grid, Joins};

/// Measures of one source at most; further ones are counted.
pub const MEASURES_MAX: usize = 256;

/// Measures with a course over time: those that a report draws.
const DRAWN: [&str; 6] = ["cpu", "load1", "rss", "memory", "memory.used", "threads"];

/// One value of a source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measure {
    /// How often it was read.
    pub count: u64,
    /// The sum of what was read.
    pub sum: f64,
    /// The least; 0 where nothing was read.
    pub min: f64,
    /// The greatest; 0 where nothing was read.
    pub max: f64,
    /// The latest.
    pub last: f64,
    /// The value times the seconds since the reading before it, summed up: CPU in cores becomes CPU seconds.
    pub integral: f64,
    course: Option<Course>,
}

impl Measure {
    /// The mean of the readings; 0 without readings.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }

    /// How it went over time: Unix time in nanoseconds, and the mean of the readings in a cell that begins there. Empty for
    /// measures that no report draws.
    pub fn course(&self) -> impl Iterator<Item = (i64, f64)> + '_ {
        self.course.iter().flat_map(Course::points)
    }

    fn named(name: &str) -> Self {
        let course = DRAWN.contains(&name).then(Course::new);
        Self { course, ..Self::default() }
    }

    fn read(&mut self, at: i64, value: f64, since: Nanos) {
        if !value.is_finite() {
            return;
        }
        (self.min, self.max) = match self.count {
            0 => (value, value),
            _ => (self.min.min(value), self.max.max(value)),
        };
        self.count += 1;
        self.sum += value;
        self.last = value;
        self.integral += value * since.as_secs_f64();
        if let Some(course) = &mut self.course {
            course.add(at, Mean { count: 1, sum: value });
        }
    }

    fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        (self.min, self.max) = match self.count {
            0 => (other.min, other.max),
            _ => (self.min.min(other.min), self.max.max(other.max)),
        };
        self.count += other.count;
        self.sum += other.sum;
        self.last = other.last;
        self.integral += other.integral;
        if let (Some(course), Some(theirs)) = (&mut self.course, &other.course) {
            course.merge(theirs);
        }
    }
}

/// A value over time.
#[derive(Clone, Debug, PartialEq)]
struct Course(Grid<Mean>);

/// A cell's readings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Mean {
    count: u64,
    sum: f64,
}

impl Joins for Mean {
    fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
    }
}

impl Course {
    fn new() -> Self {
        Self(Grid::new())
    }

    fn add(&mut self, at: i64, mean: Mean) {
        self.0.begin_at(at);
        let cell = self.0.at(at);
        self.0.cell(cell).join(&mean);
    }

    fn merge(&mut self, other: &Self) {
        for (index, mean) in other.0.cells().enumerate().filter(|(_, mean)| mean.count > 0) {
            self.add(other.0.bounds(index).start, *mean);
        }
    }

    fn points(&self) -> impl Iterator<Item = (i64, f64)> + '_ {
        let filled = self.0.cells().enumerate().filter(|(_, mean)| mean.count > 0);
        filled.map(|(index, mean)| (self.0.bounds(index).start, mean.sum / mean.count as f64))
    }
}

/// All readings of one source, such as the machine, a core or a process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceSummary {
    /// The machine's name.
    pub host: String,
    /// What was read, as in [`Reading::source`].
    pub source: String,
    /// How often it was read.
    pub readings: u64,
    /// When it was first read, Unix time in nanoseconds.
    pub first: i64,
    /// When it was last read.
    pub last: i64,
    /// Measures by name, in the order they were first seen; at most [`MEASURES_MAX`].
    pub measures: Vec<(String, Measure)>,
    /// Values of measures past the bound.
    pub left_out: u64,
}

impl SourceSummary {
    /// The measure of this name.
    #[must_use]
    pub fn measure(&self, name: &str) -> Option<&Measure> {
        self.measures.iter().find(|(known, _)| known == name).map(|(_, measure)| measure)
    }

    /// From the first reading to the last.
    #[must_use]
    pub fn span(&self) -> Nanos {
        Nanos(u64::try_from(self.last.saturating_sub(self.first)).unwrap_or(0))
    }

    pub(super) fn of(reading: &Reading) -> Self {
        let (host, source) = (reading.host.clone(), reading.source.clone());
        Self { host, source, first: reading.at, last: reading.at, ..Self::default() }
    }

    pub(super) fn read(&mut self, reading: &Reading) {
        let since = match self.readings {
            0 => Nanos::ZERO,
            _ => Nanos(u64::try_from(reading.at.saturating_sub(self.last)).unwrap_or(0)),
        };
        self.readings += 1;
        self.first = self.first.min(reading.at);
        self.last = self.last.max(reading.at);
        for (name, value) in &reading.values {
            match self.measure_mut(name) {
                Some(measure) => measure.read(reading.at, *value, since),
                None => self.left_out += 1,
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        (self.first, self.last) = match self.readings {
            0 => (other.first, other.last),
            _ => (self.first.min(other.first), self.last.max(other.last)),
        };
        self.readings += other.readings;
        self.left_out += other.left_out;
        for (name, theirs) in &other.measures {
            match self.measure_mut(name) {
                Some(measure) => measure.merge(theirs),
                None => self.left_out += theirs.count,
            }
        }
    }

    /// The measure of this name, made where there is room; names mostly come in the same order.
    fn measure_mut(&mut self, name: &str) -> Option<&mut Measure> {
        let at = match self.measures.iter().position(|(known, _)| known == name) {
            Some(at) => at,
            None if self.measures.len() == MEASURES_MAX => return None,
            None => {
                self.measures.push((name.to_owned(), Measure::named(name)));
                self.measures.len() - 1
            }
        };
        Some(&mut self.measures[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn reading(at: i64, values: &[(&str, f64)]) -> Reading {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Reading { at: at * SECOND, source: "tree 7 puma".to_owned(), values, ..Reading::default() }
    }

    fn summary(readings: &[Reading]) -> SourceSummary {
        let mut summary = SourceSummary::of(&readings[0]);
        readings.iter().for_each(|reading| summary.read(reading));
        summary
    }

    #[test]
    fn cores_over_time_are_cpu_seconds() {
        let all = [
            reading(10, &[("rss", 5.0)]),
            reading(11, &[("cpu", 1.0), ("rss", 7.0)]),
            reading(13, &[("cpu", 0.5), ("rss", 6.0), ("threads", f64::NAN)]),
        ];
        let summary = summary(&all);
        let cpu = summary.measure("cpu").unwrap();
        assert_eq!((cpu.count, cpu.mean(), cpu.min, cpu.max), (2, 0.75, 0.5, 1.0));
        assert_eq!(cpu.integral, 1.0 + 2.0 * 0.5);
        let rss = summary.measure("rss").unwrap();
        assert_eq!((rss.max, rss.last), (7.0, 6.0));
        let course: Vec<(i64, f64)> = rss.course().map(|(at, y)| (at / SECOND, y)).collect();
        assert_eq!(course, [(10, 5.0), (11, 7.0), (13, 6.0)]);
        assert_eq!((summary.span(), summary.readings), (Nanos(3 * SECOND as u64), 3));
        assert_eq!(summary.measure("threads").map(|measure| measure.count), Some(0));
    }

    #[test]
    fn two_halves_merge_into_the_whole() {
        let all: Vec<Reading> = (0..10).map(|n| reading(n, &[("cpu", n as f64)])).collect();
        let (whole, mut front, back) = (summary(&all), summary(&all[..5]), summary(&all[5..]));
        front.merge(&back);
        let (a, b) = (whole.measure("cpu").unwrap(), front.measure("cpu").unwrap());
        assert_eq!((a.mean(), a.max, a.count), (b.mean(), b.max, b.count));
        assert_eq!(a.course().collect::<Vec<_>>(), b.course().collect::<Vec<_>>());
        assert_eq!((whole.first, whole.last), (front.first, front.last));
    }

    #[test]
    fn measures_without_room_are_counted() {
        let names: Vec<String> = (0..MEASURES_MAX + 3).map(|n| format!("m{n}")).collect();
        let values = names.into_iter().map(|name| (name, 1.0)).collect();
        let summary = summary(&[Reading { values, ..Reading::default() }]);
        assert_eq!((summary.measures.len(), summary.left_out), (MEASURES_MAX, 3));
    }
}
