//! `Seen`: what was watched beside a run, as figures: what its servers took, how busy the machine was, how long requests took by
//! the servers' own logs.

use std::fs::File;
use std::path::Path;

use metrics::Batch;
use metrics::server::{Reading, Row, Served, Side};
use results::{Item, Reader};

/// Sources of one run that are told apart; further ones are left out.
const SOURCES_MAX: usize = 256;

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The servers' trees, by source.
    trees: Vec<(String, Mean, f64)>,
    cpu: Mean,
    load: Mean,
    /// What the servers' logs told of requests.
    pub(super) side: Side,
    /// What was amiss with sources, in words.
    pub(super) incidents: Vec<String>,
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
        Some(seen)
    }

    fn add(&mut self, row: &Row, (from, to): (i64, i64)) {
        let within = (from..=to).contains(&row.at());
        match row {
            Row::Reading(reading) if within => self.reading(reading),
            // A request ends in the log after its answer has: what was served for this run is told a little later.
            Row::Served(served) if served.at >= from => self.served(served),
            Row::Incident(incident) if self.incidents.len() < SOURCES_MAX => {
                self.incidents.push(format!("{}: {}", incident.source, incident.what));
            }
            _ => {}
        }
    }

    fn reading(&mut self, reading: &Reading) {
        if reading.source == "machine" {
            self.cpu.add(reading.value("cpu"));
            self.load.add(reading.value("load1"));
        } else if reading.source.starts_with("tree ") || reading.source.starts_with("process ") {
            let known = self.trees.iter().position(|(source, ..)| *source == reading.source);
            let at = known.unwrap_or_else(|| {
                self.trees.push((reading.source.clone(), Mean::default(), 0.0));
                self.trees.len() - 1
            });
            let (_, cpu, rss) = &mut self.trees[at];
            cpu.add(reading.value("cpu"));
            *rss = rss.max(reading.value("rss").unwrap_or(0.0));
            self.trees.truncate(SOURCES_MAX);
        }
    }

    /// Ids are of use only where answers have them too; here nobody asks.
    fn served(&mut self, served: &Served) {
        self.side.add(&Row::Served(Served { id: String::new(), ..served.clone() }));
    }

    /// As figures of a run of so many requests in so many seconds.
    #[must_use]
    pub(super) fn figures(&self, requests: u64, seconds: f64) -> Vec<(&'static str, f64)> {
        // A tree holds the processes that it is told beside.
        let whole = |source: &str| {
            let id = source.split(' ').nth(1);
            let tree = |(other, ..): &&(String, Mean, f64)| {
                other.starts_with("tree ") && other.split(' ').nth(1) == id
            };
            source.starts_with("tree ") || !self.trees.iter().any(|one| tree(&one))
        };
        let trees: Vec<&(String, Mean, f64)> =
            self.trees.iter().filter(|(source, ..)| whole(source)).collect();
        let cpus: Vec<f64> = trees.iter().filter_map(|(_, cpu, _)| cpu.value()).collect();
        let mut figures = Vec::new();
        if !cpus.is_empty() {
            let cpu: f64 = cpus.iter().sum();
            figures.push(("server.cpu", cpu));
            if requests > 0 {
                figures.push(("server.cpu_per_request", cpu * seconds * 1e9 / requests as f64));
            }
        }
        if !trees.is_empty() {
            figures.push(("server.rss", trees.iter().map(|(.., rss)| rss).sum()));
        }
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

    #[test]
    fn trees_add_up_and_processes_in_them_do_not() {
        let mut seen = Seen::default();
        let rows = [
            reading(1, "tree 7 puma", &[("cpu", 0.5), ("rss", 100.0)]),
            reading(2, "tree 7 puma", &[("cpu", 1.5), ("rss", 300.0)]),
            reading(2, "process 7 puma", &[("cpu", 1.5), ("rss", 300.0)]),
            reading(2, "process 9 nginx", &[("cpu", 0.25), ("rss", 50.0)]),
            reading(2, "machine", &[("cpu", 0.4), ("load1", 2.0)]),
            reading(99, "tree 7 puma", &[("cpu", 9.0), ("rss", 900.0)]),
        ];
        rows.iter().for_each(|row| seen.add(row, (0, 10)));
        let figures = seen.figures(100, 2.0);
        let value =
            |name: &str| figures.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        assert_eq!((value("server.cpu"), value("server.rss")), (Some(1.25), Some(350.0)));
        assert_eq!(value("server.cpu_per_request"), Some(25e6));
        assert_eq!((value("machine.cpu"), value("machine.load1")), (Some(0.4), Some(2.0)));
        assert_eq!(value("server.p50"), None);
        for (name, _) in figures {
            assert!(study::plan::Figure::named(name).is_some(), "{name}");
        }
    }

    #[test]
    fn the_applications_log_is_the_one_that_counts() {
        let mut seen = Seen::default();
        let served = |source: &str, ms: u64, views: Option<Nanos>| {
            let (source, total) = (source.to_owned(), Nanos::from_millis(ms));
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
