//! `Times`: each request's times, exact to the microsecond up to a bound and to three significant digits beyond it, and
//! ab's statistics of them.

use metrics::{Histogram, Sample};
use stdx::Nanos;

/// Requests with individual times at most: 4 Mi, 96 MiB. Past it all times go into histograms.
pub const ROWS_MAX: usize = 4 << 20;

/// The times of one request, in microseconds; those that do not fit are cut to 71 minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// When it began, as Unix time.
    pub begin_us: u64,
    /// Connecting and the TLS handshake; 0 on a reused connection.
    pub connect_us: u32,
    /// From its start to its end.
    pub total_us: u32,
    /// From the request written to the first byte of the response.
    pub wait_us: u32,
}

impl Row {
    /// ab's view of a hit: it begins with the connection, not when it was due.
    pub(super) fn of(sample: &Sample, epoch: i64) -> Self {
        let connect = sample.dial + sample.tls;
        let begin = sample.sent.saturating_sub(connect);
        let answered = sample.first_byte < sample.done || sample.bytes_in + sample.wire_in > 0;
        let wait =
            if answered { sample.first_byte.saturating_sub(sample.sent) } else { Nanos::ZERO };
        Self {
            begin_us: u64::try_from(epoch).unwrap_or(0).saturating_add(begin.0) / 1000,
            connect_us: micros(connect),
            total_us: micros(sample.service() + connect),
            wait_us: micros(wait),
        }
    }

    /// All but connecting.
    #[must_use]
    pub fn processing_us(&self) -> u32 {
        self.total_us.saturating_sub(self.connect_us)
    }
}

fn micros(time: Nanos) -> u32 {
    u32::try_from(time.0 / 1000).unwrap_or(u32::MAX)
}

/// Which of a request's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Connect,
    Processing,
    Waiting,
    Total,
}

impl Part {
    pub(super) const ALL: [Self; 4] = [Self::Connect, Self::Processing, Self::Waiting, Self::Total];

    fn of(self, row: &Row) -> u32 {
        match self {
            Self::Connect => row.connect_us,
            Self::Processing => row.processing_us(),
            Self::Waiting => row.wait_us,
            Self::Total => row.total_us,
        }
    }
}

/// Statistics of one time, in microseconds, by ab's definitions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stats {
    pub(super) min: u64,
    pub(super) mean: u64,
    /// Of the sample: the sum of squares over n - 1; 0 for one request.
    pub(super) deviation: f64,
    pub(super) median: u64,
    pub(super) max: u64,
}

/// The times of all requests.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    rows: Vec<Row>,
    /// Connect, processing, waiting, total, once there are too many rows.
    coarse: Option<Box<[Histogram; 4]>>,
}

impl Times {
    pub(super) fn add(&mut self, row: Row) {
        if self.coarse.is_none() && self.rows.len() < ROWS_MAX {
            self.rows.push(row);
            return;
        }
        let histograms =
            self.coarse.get_or_insert_with(|| Box::new([(); 4].map(|()| Histogram::new())));
        for row in std::mem::take(&mut self.rows).iter().chain([&row]) {
            for part in Part::ALL {
                histograms[part as usize].record(Nanos(u64::from(part.of(row)) * 1000));
            }
        }
    }

    pub(super) fn is_coarse(&self) -> bool {
        self.coarse.is_some()
    }

    pub(super) fn rows_by_total(&self) -> Option<Vec<Row>> {
        if self.is_coarse() {
            return None;
        }
        let mut rows = self.rows.clone();
        rows.sort_by_key(|row| row.total_us);
        Some(rows)
    }

    /// The statistics of one time.
    pub(super) fn stats(&self, part: Part) -> Stats {
        match &self.coarse {
            Some(histograms) => coarse(&histograms[part as usize]),
            None => exact(&self.sorted(part)),
        }
    }

    /// Total times by rank.
    pub(super) fn totals(&self) -> Ranked<'_> {
        match &self.coarse {
            Some(histograms) => Ranked::Coarse(&histograms[Part::Total as usize]),
            None => Ranked::Exact(self.sorted(Part::Total)),
        }
    }

    fn sorted(&self, part: Part) -> Vec<u32> {
        let mut times: Vec<u32> = self.rows.iter().map(|row| part.of(row)).collect();
        times.sort_unstable();
        times
    }
}

/// Times by rank.
pub(super) enum Ranked<'a> {
    Exact(Vec<u32>),
    Coarse(&'a Histogram),
}

impl Ranked<'_> {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Exact(times) => times.len() as u64,
            Self::Coarse(times) => times.count(),
        }
    }

    /// The time, in microseconds, with `rank` quicker ones before it; the slowest for a rank past the end.
    pub(super) fn at(&self, rank: u64) -> u64 {
        let rank = rank.min(self.len().saturating_sub(1));
        match self {
            Self::Exact(times) => times.get(rank as usize).map_or(0, |&time| u64::from(time)),
            Self::Coarse(times) => {
                let share = (rank + 1) as f64 / self.len().max(1) as f64;
                times.quantile(share).0 / 1000
            }
        }
    }
}

fn exact(sorted: &[u32]) -> Stats {
    let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
        return Stats::default();
    };
    let n = sorted.len();
    let mean = sorted.iter().map(|&time| u64::from(time)).sum::<u64>() / n as u64;
    let squares: f64 = sorted.iter().map(|&time| (f64::from(time) - mean as f64).powi(2)).sum();
    Stats {
        min: u64::from(min),
        mean,
        deviation: if n > 1 { (squares / (n - 1) as f64).sqrt() } else { 0.0 },
        median: median(sorted),
        max: u64::from(max),
    }
}

/// ab's median: of an odd number above 1 it is the mean of the middle one and the one after it, of an even number the
/// second of the two in the middle.
fn median(sorted: &[u32]) -> u64 {
    let (n, middle) = (sorted.len(), sorted.len() / 2);
    if n > 1 && n % 2 == 1 {
        return (u64::from(sorted[middle]) + u64::from(sorted[middle + 1])) / 2;
    }
    u64::from(sorted[middle])
}

fn coarse(times: &Histogram) -> Stats {
    let n = times.count() as f64;
    Stats {
        min: times.min().0 / 1000,
        mean: times.mean().0 / 1000,
        deviation: times.stddev_ns() / 1000.0 * (n / (n - 1.0).max(1.0)).sqrt(),
        median: times.quantile(0.5).0 / 1000,
        max: times.max().0 / 1000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_abs() {
        let cases: [(&[u32], u64); 5] =
            [(&[7], 7), (&[1, 9], 9), (&[1, 2, 9], 5), (&[1, 2, 4, 9], 4), (&[1, 2, 3, 8, 9], 5)];
        for (sorted, expect) in cases {
            assert_eq!(median(sorted), expect, "{sorted:?}");
        }
    }

    #[test]
    fn statistics_are_of_the_sample() {
        let stats = exact(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((stats.min, stats.mean, stats.median, stats.max), (2, 5, 5, 9));
        assert!((stats.deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12, "{stats:?}");
        assert_eq!(exact(&[]), Stats::default());
        assert!(exact(&[3]).deviation.abs() < f64::EPSILON);
    }

    #[test]
    fn too_many_rows_become_histograms_and_none_is_lost() {
        let mut times = Times { rows: Vec::new(), coarse: None };
        let row = |total_us| Row { total_us, connect_us: 1, ..Row::default() };
        (0..ROWS_MAX as u32).for_each(|n| times.add(row(n % 1000)));
        assert!(!times.is_coarse() && times.rows_by_total().is_some());
        times.add(row(5_000_000));
        assert!(times.is_coarse() && times.rows_by_total().is_none());
        assert_eq!(times.totals().len(), ROWS_MAX as u64 + 1);
        assert_eq!(times.totals().at(u64::MAX), 5_000_000);
        let median = times.stats(Part::Total).median;
        assert!((499..=501).contains(&median), "{median}");
        assert_eq!(times.stats(Part::Connect).max, 1);
    }

    #[test]
    fn a_request_begins_with_its_connection() {
        let us = |n: u64| Nanos(n * 1000);
        let sample = Sample {
            intended: us(10),
            sent: us(900),
            first_byte: us(1500),
            done: us(2000),
            dial: us(300),
            tls: us(100),
            wire_in: 5,
            ..Sample::default()
        };
        let row = Row::of(&sample, 1_000_000);
        assert_eq!(row, Row { begin_us: 1500, connect_us: 400, total_us: 1500, wait_us: 600 });
        assert_eq!(row.processing_us(), 1100);
        let silent = Sample { first_byte: us(2000), wire_in: 0, ..sample };
        assert_eq!(Row::of(&silent, 0).wait_us, 0, "nothing was waited for to the end");
    }
}
