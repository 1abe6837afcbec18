//! `LiveServer`: the server's side of a run as the live page shows it: its tables, and lines of processors and memory.

use metrics::server::{Reading, Row, Side};
use report::server::ServerSide;
use serde_json::{Value, json};

/// Lines of one chart at most.
const LINES_MAX: usize = 8;
/// Characters of a line's name.
const NAME_MAX: usize = 32;
/// Bytes of a MiB.
const MIB: f64 = 1_048_576.0;

/// What was seen of the servers.
#[derive(Default)]
pub(super) struct LiveServer {
    side: Side,
    lines: Vec<Line>,
}

/// A chart of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chart {
    /// In cores.
    Processors,
    /// In MiB.
    Memory,
}

/// A line of a chart.
struct Line {
    host: String,
    source: String,
    measure: &'static str,
    chart: Chart,
    label: String,
    /// The sum of what was read since the last period, and how often.
    read: (f64, u32),
}

impl LiveServer {
    pub(super) fn add(&mut self, row: &Row) {
        self.side.add(row);
        let Row::Reading(reading) = row else { return };
        for (measure, chart, scale) in drawn(reading) {
            let Some(value) = reading.value(measure).filter(|value| value.is_finite()) else {
                continue;
            };
            if let Some(line) = self.line(reading, measure, chart) {
                line.read.0 += value * scale;
                line.read.1 += 1;
            }
        }
    }

    /// The line of a measure; `None` where its chart is full.
    fn line(
        &mut self,
        reading: &Reading,
        measure: &'static str,
        chart: Chart,
    ) -> Option<&mut Line> {
        let is_it = |line: &Line| {
            line.measure == measure && line.source == reading.source && line.host == reading.host
        };
        if let Some(at) = self.lines.iter().position(is_it) {
            return self.lines.get_mut(at);
        }
        if self.lines.iter().filter(|line| line.chart == chart).count() >= LINES_MAX {
            return None;
        }
        let name = match (measure, &*reading.source) {
            ("load1", _) => "load, 1 min",
            ("cpu", "machine") => "cores busy",
            ("memory.used", _) => "memory used",
            (_, source) => source,
        };
        self.lines.push(Line {
            host: reading.host.clone(),
            source: reading.source.clone(),
            measure,
            chart,
            label: name.chars().take(NAME_MAX).collect(),
            read: (0.0, 0),
        });
        self.lines.last_mut()
    }

    /// The means of the period that ends now, by line; `None` where nothing was read.
    pub(super) fn period(&mut self) -> Vec<Option<f64>> {
        let mean = |line: &mut Line| {
            let (sum, count) = std::mem::take(&mut line.read);
            (count > 0).then(|| sum / f64::from(count))
        };
        self.lines.iter_mut().map(mean).collect()
    }

    /// The names of the lines, and the tables; null where nothing was seen.
    pub(super) fn json(&self) -> Value {
        if self.side.sources().is_empty() && self.side.logs().is_empty() {
            return Value::Null;
        }
        let server =
            ServerSide { side: &self.side, client: None, offset_ns: 0, offset_error_ns: None };
        let tables = server.live_tables().into_iter().map(
            |table| json!({ "title": table.title, "columns": table.columns, "rows": table.rows }),
        );
        let lines = self.lines.iter().map(|line| {
            let chart = if line.chart == Chart::Memory { "memory" } else { "processors" };
            json!([line.label, chart])
        });
        json!({ "lines": lines.collect::<Vec<_>>(), "tables": tables.collect::<Vec<_>>() })
    }
}

/// What is drawn of a reading: measures, their charts, and what they are multiplied by.
fn drawn(reading: &Reading) -> Vec<(&'static str, Chart, f64)> {
    let kind = reading.source.split(' ').next().unwrap_or_default();
    match kind {
        "machine" => {
            let cores = reading.value("cores").unwrap_or(1.0);
            vec![
                ("cpu", Chart::Processors, cores),
                ("load1", Chart::Processors, 1.0),
                ("memory.used", Chart::Memory, 1.0 / MIB),
            ]
        }
        "process" | "tree" | "cgroup" => vec![
            ("cpu", Chart::Processors, 1.0),
            ("rss", Chart::Memory, 1.0 / MIB),
            ("memory", Chart::Memory, 1.0 / MIB),
        ],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(source: &str, values: &[(&str, f64)]) -> Row {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Row::Reading(Reading { at: 1, host: "web1".into(), source: source.into(), values })
    }

    #[test]
    fn a_period_has_the_means_of_each_line() {
        let mut server = LiveServer::default();
        assert_eq!(server.json(), Value::Null);
        server.add(&reading("machine", &[("cpu", 0.5), ("cores", 2.0), ("load1", 1.5)]));
        server.add(&reading("tree 7 puma", &[("cpu", 0.2), ("rss", 3.0 * MIB)]));
        server.add(&reading("tree 7 puma", &[("cpu", 0.6), ("rss", f64::NAN)]));
        server.add(&reading("core 0", &[("cpu", 1.0)]));
        assert_eq!(server.period(), [Some(1.0), Some(1.5), Some(0.4), Some(3.0)]);
        assert_eq!(server.period(), [None; 4]);
        let json = server.json();
        assert_eq!(json["lines"][0], json!(["cores busy", "processors"]));
        assert_eq!(json["lines"][3], json!(["tree 7 puma", "memory"]));
        let title = |table: &Value| table["title"].as_str().unwrap().to_owned();
        let titles: Vec<String> = json["tables"].as_array().unwrap().iter().map(title).collect();
        assert!(titles.contains(&"Machine web1".to_owned()), "{titles:?}");
    }

    #[test]
    fn a_chart_has_few_lines() {
        let mut server = LiveServer::default();
        for number in 0..100 {
            server.add(&reading(&format!("process {number} ruby"), &[("cpu", 1.0)]));
        }
        assert_eq!(server.period().len(), LINES_MAX);
    }
}
