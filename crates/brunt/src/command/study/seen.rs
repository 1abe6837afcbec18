//! `Seen`: what was watched beside a run, as figures: what its servers took, how busy the machine was, how long requests took by
//! the servers' own logs.

use std::fs::File;
use std::path::Path;

use metrics::Batch;
use metrics::server::{Reading, Row, Served, Side};
use results::{Item, Reader};

/// Incidents of one run that are kept.
const INCIDENTS_MAX: usize = 256;
/// Nanoseconds of a second.
const SECOND_NS: i64 = 1_000_000_000;

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    servers: Servers,
    cpu: Mean,
    load: Mean,
    /// What the servers' logs told of requests.
    pub(super) side: Side,
    /// What was amiss with sources, in words.
    pub(super) incidents: Vec<String>,
}

/// What all processes of the servers took together, look by look. The rows of trees say the same again.
#[derive(Debug, Default)]
struct Servers {
    /// The look that is being read: when it was, and the sums of its processes, which there may be none of yet.
    at: i64,
    cpu_sum: Option<f64>,
    rss_sum: Option<f64>,
    cpu: Mean,
    rss_most: Option<f64>,
}

impl Servers {
    fn add(&mut self, reading: &Reading) {
        if reading.at != self.at {
            self.end_look();
            self.at = reading.at;
        }
        let plus = |sum: Option<f64>, value: Option<f64>| match (sum, value) {
            (sum, None) => sum,
            (sum, Some(value)) => Some(sum.unwrap_or(0.0) + value),
        };
        self.cpu_sum = plus(self.cpu_sum, reading.value("cpu"));
        self.rss_sum = plus(self.rss_sum, reading.value("rss"));
    }

    fn end_look(&mut self) {
        self.cpu.add(self.cpu_sum.take());
        self.rss_most = [self.rss_most, self.rss_sum.take()].into_iter().flatten().reduce(f64::max);
    }
}

/// A mean as it grows.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.sum += value;
            self.count += 1;
        }
    }

    fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

impl Seen {
    /// Reads a watcher's file, of which the time from `from` to `to` (Unix, ns) counts. `None` where there is none, or
    /// nothing in it.
    #[must_use]
    pub(super) fn read(path: &Path, (from, to): (i64, i64)) -> Option<Self> {
        let file = File::open(path).ok()?;
        let input: results::Input = (path.display().to_string(), Box::new(file));
        let mut reader = Reader::open(vec![input]).ok()?;
        let (mut batch, mut seen) = (Batch::default(), Self::default());
        // What comes after damage is lost; what came before is what was seen.
        while let Ok(Some(item)) = reader.next(&mut batch) {
            if let Item::Server(row) = item {
                seen.add(&row, (from, to));
            }
        }
        seen.servers.end_look();
        Some(seen)
    }

    fn add(&mut self, row: &Row, (from, to): (i64, i64)) {
        let within = (from..=to).contains(&row.at());
        match row {
            Row::Reading(reading) if within => self.reading(reading),
            // A request ends in the log after its answer has: what was served for this run is told a little later, by clocks
            // that may have whole seconds alone.
            Row::Served(served) if served.at >= from - from.rem_euclid(SECOND_NS) => {
                self.served(served);
            }
            Row::Incident(incident) if self.incidents.len() < INCIDENTS_MAX => {
                self.incidents.push(format!("{}: {}", incident.source, incident.what));
            }
            _ => {}
        }
    }

    fn reading(&mut self, reading: &Reading) {
        if reading.source == "machine" {
            self.cpu.add(reading.value("cpu"));
            self.load.add(reading.value("load1"));
        } else if reading.source.starts_with("process ") {
            self.servers.add(reading);
        }
    }

    /// Ids are of use only where answers have them too; here nobody asks.
    fn served(&mut self, served: &Served) {
        self.side.add(&Row::Served(Served { id: String::new(), ..served.clone() }));
    }

    /// As figures of a run of so many requests in so many seconds.
    #[must_use]
    pub(super) fn figures(&self, requests: u64, seconds: f64) -> Vec<(&'static str, f64)> {
        let mut figures = Vec::new();
        if let Some(cpu) = self.servers.cpu.value() {
            figures.push(("server.cpu", cpu));
            if requests > 0 {
                figures.push(("server.cpu_per_request", cpu * seconds * 1e9 / requests as f64));
            }
        }
        figures.extend(self.servers.rss_most.map(|rss| ("server.rss", rss)));
        figures.extend(self.cpu.value().map(|cpu| ("machine.cpu", cpu)));
        figures.extend(self.load.value().map(|load| ("machine.load1", load)));
        if let Some(times) = self.side.applications().map(|log| log.total) {
            figures.push(("server.mean", times.mean().0 as f64));
            figures.push(("server.p50", times.quantile(0.5).0 as f64));
            figures.push(("server.p99", times.quantile(0.99).0 as f64));
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::Nanos;

    fn reading(at: i64, source: &str, values: &[(&str, f64)]) -> Row {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Row::Reading(Reading { at, source: source.into(), values, ..Reading::default() })
    }

    /// A cluster of a master and two workers, and a proxy: each process once, though the watcher tells of the tree as well.
    #[test]
    fn each_process_of_the_servers_counts_once() {
        let mut seen = Seen::default();
        let rows = [
            reading(1, "process 7 puma", &[("rss", 40.0)]),
            reading(2, "tree 7 puma", &[("cpu", 1.25), ("rss", 300.0)]),
            reading(2, "process 7 puma", &[("cpu", 0.25), ("rss", 100.0)]),
            reading(2, "process 8 puma", &[("cpu", 0.5), ("rss", 100.0)]),
            reading(2, "process 9 puma", &[("cpu", 0.5), ("rss", 100.0)]),
            reading(2, "process 20 nginx", &[("cpu", 0.25), ("rss", 50.0)]),
            reading(2, "machine", &[("cpu", 0.4), ("load1", 2.0)]),
            reading(3, "process 7 puma", &[("cpu", 0.5), ("rss", 90.0)]),
            reading(99, "process 7 puma", &[("cpu", 9.0), ("rss", 900.0)]),
        ];
        rows.iter().for_each(|row| seen.add(row, (0, 10)));
        seen.servers.end_look();
        let figures = seen.figures(100, 2.0);
        let value =
            |name: &str| figures.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        assert_eq!((value("server.cpu"), value("server.rss")), (Some(1.0), Some(350.0)));
        assert_eq!(value("server.cpu_per_request"), Some(20e6));
        assert_eq!((value("machine.cpu"), value("machine.load1")), (Some(0.4), Some(2.0)));
        assert_eq!(value("server.p50"), None);
        for (name, _) in figures {
            assert!(study::plan::Figure::named(name).is_some(), "{name}");
        }
    }

    /// A log whose clock has whole seconds tells of a request in a run's first second by a time before the run.
    #[test]
    fn a_log_of_whole_seconds_loses_no_first_second() {
        let mut seen = Seen::default();
        let served = |at: i64| {
            let (source, total) = ("nginx".to_owned(), Some(Nanos::MILLI));
            Row::Served(Served { at, source, total, ..Served::default() })
        };
        let from = 7 * SECOND_NS + 300;
        for at in [7 * SECOND_NS - 1, 7 * SECOND_NS, 8 * SECOND_NS] {
            seen.add(&served(at), (from, i64::MAX));
        }
        let count = seen.side.applications().map(|log| log.total.count());
        assert_eq!(count, Some(2));
    }

    #[test]
    fn the_applications_log_is_the_one_that_counts() {
        let mut seen = Seen::default();
        let served = |source: &str, ms: u64, views: Option<Nanos>| {
            let (source, total) = (source.to_owned(), Some(Nanos::from_millis(ms)));
            Row::Served(Served { at: 5, source, total, views, ..Served::default() })
        };
        (0..3).for_each(|_| seen.add(&served("nginx", 90, None), (0, 10)));
        seen.add(&served("rails", 20, Some(Nanos::MILLI)), (0, 10));
        let figures = seen.figures(4, 1.0);
        let p50 = figures.iter().find(|(name, _)| *name == "server.p50").unwrap().1;
        assert!((p50 / 20e6 - 1.0).abs() < 0.01, "{p50}");
        assert!(Seen::read(Path::new("/nowhere/watch.arrow"), (0, 1)).is_none());
    }
}
