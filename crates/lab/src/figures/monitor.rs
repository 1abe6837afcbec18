//! `MonitorFigures`: figures of the monitor beside a run: CPU time and memory of the servers, load of the machine, and response
//! times in the servers' logs.

use std::fs::File;
use std::path::Path;

use metrics::Batch;
use metrics::server::{Reading, Row, ServedRequest, Side};
use results::{Item, Reader};

/// Incidents of one run that are stored, at most.
const INCIDENTS_MAX: usize = 256;
/// Nanoseconds of a second.
const SECOND_NS: i64 = 1_000_000_000;

/// Figures of one monitor file.
#[derive(Debug, Default)]
pub(crate) struct MonitorFigures {
    servers: Servers,
    cpu: Mean,
    load: Mean,
    /// The requests in the servers' logs.
    pub(crate) side: Side,
    /// Failures of sources, in words.
    pub(crate) incidents: Vec<String>,
}

/// CPU and memory of all server processes together, sample by sample. Rows of process trees repeat them, and do not count.
#[derive(Debug, Default)]
struct Servers {
    /// The time of the current sample (Unix, ns), and the sums over its processes; `None` without any.
    at: i64,
    cpu_sum: Option<f64>,
    rss_sum: Option<f64>,
    cpu: Mean,
    rss_max: Option<f64>,
}

impl Servers {
    fn add(&mut self, reading: &Reading) {
        if reading.at != self.at {
            self.end_sample();
            self.at = reading.at;
        }
        let plus = |sum: Option<f64>, value: Option<f64>| match (sum, value) {
            (sum, None) => sum,
            (sum, Some(value)) => Some(sum.unwrap_or(0.0) + value),
        };
        self.cpu_sum = plus(self.cpu_sum, reading.value("cpu"));
        self.rss_sum = plus(self.rss_sum, reading.value("rss"));
    }

    fn end_sample(&mut self) {
        self.cpu.add(self.cpu_sum.take());
        self.rss_max = [self.rss_max, self.rss_sum.take()].into_iter().flatten().reduce(f64::max);
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

impl MonitorFigures {
    /// Reads a monitor's file; the time from `from` to `to` (Unix, ns) counts. `None` if the file does not exist or is empty.
    #[must_use]
    pub(crate) fn read(path: &Path, (from, to): (i64, i64)) -> Option<Self> {
        let file = File::open(path).ok()?;
        let input: results::Input = (path.display().to_string(), Box::new(file));
        let mut reader = Reader::open(vec![input]).ok()?;
        let (mut batch, mut figures) = (Batch::default(), Self::default());
        // Rows before damage count.
        while let Ok(Some(item)) = reader.next(&mut batch) {
            if let Item::Server(row) = item {
                figures.add(&row, (from, to));
            }
        }
        figures.servers.end_sample();
        Some(figures)
    }

    fn add(&mut self, row: &Row, (from, to): (i64, i64)) {
        let within = (from..=to).contains(&row.at());
        match row {
            Row::Reading(reading) if within => self.reading(reading),
            // A server logs a request after its response, with a clock that may have whole seconds: there is no upper bound, and
            // the lower one is rounded down to a second.
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

    /// Without the ids of requests, which serve only to match them with responses.
    fn served(&mut self, served: &ServedRequest) {
        self.side.add(&Row::Served(ServedRequest { id: String::new(), ..served.clone() }));
    }

    /// Named figures of a run of `requests` requests in `seconds` seconds.
    #[must_use]
    pub(crate) fn figures(&self, requests: u64, seconds: f64) -> Vec<(&'static str, f64)> {
        let mut figures = Vec::new();
        if let Some(cpu) = self.servers.cpu.value() {
            figures.push(("server.cpu", cpu));
            if requests > 0 {
                figures.push(("server.cpu_per_request", cpu * seconds * 1e9 / requests as f64));
            }
        }
        figures.extend(self.servers.rss_max.map(|rss| ("server.rss", rss)));
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

    /// A cluster of a master and two workers, and a proxy: each process counts once, though there are rows of the tree as well.
    #[test]
    fn each_process_of_the_servers_counts_once() {
        let mut figures = MonitorFigures::default();
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
        rows.iter().for_each(|row| figures.add(row, (0, 10)));
        figures.servers.end_sample();
        let values = figures.figures(100, 2.0);
        let value =
            |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        assert_eq!((value("server.cpu"), value("server.rss")), (Some(1.0), Some(350.0)));
        assert_eq!(value("server.cpu_per_request"), Some(20e6));
        assert_eq!((value("machine.cpu"), value("machine.load1")), (Some(0.4), Some(2.0)));
        assert_eq!(value("server.p50"), None);
        for (name, _) in values {
            assert!(study::plan::Figure::named(name).is_some(), "{name}");
        }
    }

    /// A log whose clock has whole seconds dates a request in the first second of a run before the run.
    #[test]
    fn a_log_of_whole_seconds_loses_no_first_second() {
        let mut figures = MonitorFigures::default();
        let served = |at: i64| {
            let (source, total) = ("nginx".to_owned(), Some(Nanos::MILLI));
            Row::Served(ServedRequest { at, source, total, ..ServedRequest::default() })
        };
        let from = 7 * SECOND_NS + 300;
        for at in [7 * SECOND_NS - 1, 7 * SECOND_NS, 8 * SECOND_NS] {
            figures.add(&served(at), (from, i64::MAX));
        }
        let count = figures.side.applications().map(|log| log.total.count());
        assert_eq!(count, Some(2));
    }

    #[test]
    fn the_applications_log_is_the_one_that_counts() {
        let mut figures = MonitorFigures::default();
        let served = |source: &str, ms: u64, views: Option<Nanos>| {
            let (source, total) = (source.to_owned(), Some(Nanos::from_millis(ms)));
            Row::Served(ServedRequest { at: 5, source, total, views, ..ServedRequest::default() })
        };
        (0..3).for_each(|_| figures.add(&served("nginx", 90, None), (0, 10)));
        figures.add(&served("rails", 20, Some(Nanos::MILLI)), (0, 10));
        let values = figures.figures(4, 1.0);
        let p50 = values.iter().find(|(name, _)| *name == "server.p50").unwrap().1;
        assert!((p50 / 20e6 - 1.0).abs() < 0.01, "{p50}");
        assert!(MonitorFigures::read(Path::new("/nowhere/watch.arrow"), (0, 1)).is_none());
    }
}
