//! `-bars`: metrics of labelled runs, and figures of another program (`-value`), as charts of bars.

use cli::{CommandError, usage_error};
use metrics::metric_name;
use report::{Bar, BarChart, BarSheet};
use stdx::Nanos;

use super::flags::GivenValue;
use super::load::{Label, Run};

/// One metric of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Metric {
    Rate,
    Throughput,
    Duration,
    Transfer,
    Longest,
    Mean,
    /// The time within which this percentage was served.
    Percentile(f64),
    Errors,
}

/// The metrics beside quantiles, by the names of [`metric_name`].
const NAMED: [(&str, Metric); 7] = [
    ("rate", Metric::Rate),
    ("throughput", Metric::Throughput),
    ("duration", Metric::Duration),
    ("transfer", Metric::Transfer),
    ("latency.max", Metric::Longest),
    ("latency.mean", Metric::Mean),
    ("errors", Metric::Errors),
];

const BODIES: &str = "Transfer rate: a format without bytes on the wire is drawn with its bodies' bytes, heads left out.";

/// The charts.
pub(super) fn sheet(
    title: &str,
    list: &str,
    labels: &[Label],
    values: &[GivenValue],
) -> Result<BarSheet, CommandError> {
    let mut charts = Vec::new();
    let mut notes = Vec::new();
    for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let metric = Metric::parse(name)?;
        charts.push(metric.chart(name, labels)?);
        let without_wire = |run: &Run| run.summary.as_ref().is_some_and(|s| s.wire_in == 0);
        let bodies = labels.iter().flat_map(|label| &label.runs).any(without_wire);
        if metric == Metric::Transfer && bodies {
            notes.push(BODIES.to_owned());
        }
    }
    for value in values {
        charts.push(given(value, labels)?);
    }
    Ok(BarSheet { title: title.to_owned(), charts, notes })
}

impl Metric {
    fn parse(name: &str) -> Result<Self, CommandError> {
        let whole = metric_name::canonical(name);
        if let Some((_, metric)) = NAMED.iter().find(|(of, _)| *of == whole) {
            return Ok(*metric);
        }
        let percent = whole.strip_prefix("latency.p").and_then(|rest| rest.parse::<f64>().ok());
        match percent.filter(|percent| (0.0..=100.0).contains(percent)) {
            Some(percent) => Ok(Self::Percentile(percent)),
            None => {
                let names = NAMED.map(|(name, _)| name).join(", ");
                Err(usage_error(format!(
                    "flag -bars: unknown metric \"{name}\" (expected {names}, or a percentile as latency.p99 or p99)"
                )))
            }
        }
    }

    /// What is measured, and its unit.
    fn title(self, name: &str) -> (String, &'static str) {
        match self {
            Self::Rate => ("Requests per second".to_owned(), "1/s"),
            Self::Throughput => ("Successes per second".to_owned(), "1/s"),
            Self::Duration => ("Total time taken".to_owned(), "s"),
            Self::Transfer => ("Transfer rate".to_owned(), "Kbytes/s"),
            Self::Longest => ("Longest request".to_owned(), "ms"),
            Self::Mean => ("Mean time per request".to_owned(), "ms"),
            Self::Percentile(50.0) => ("Median time per request".to_owned(), "ms"),
            Self::Percentile(_) => {
                (format!("Time per request, {}", metric_name::of_latency(name)), "ms")
            }
            Self::Errors => ("Errors".to_owned(), "%"),
        }
    }

    fn chart(self, name: &str, labels: &[Label]) -> Result<BarChart, CommandError> {
        let bar = |label: &Label| {
            let values = label.runs.iter().map(|run| self.of(name, run));
            let name = label.shown().to_owned();
            Ok(Bar { label: name, values: values.collect::<Result<_, CommandError>>()? })
        };
        let bars = labels.iter().map(bar).collect::<Result<_, CommandError>>()?;
        let (title, unit) = self.title(name);
        Ok(BarChart { name: name.to_owned(), title, unit: unit.to_owned(), bars })
    }

    /// Its value of a run. Times are those of the run's column.
    fn of(self, name: &str, run: &Run) -> Result<f64, CommandError> {
        let millis = |time: Nanos| time.as_millis_f64();
        match self {
            Self::Longest => return Ok(millis(run.times.max())),
            Self::Mean => return Ok(millis(run.times.mean())),
            Self::Percentile(percent) => return Ok(millis(run.times.percentile(percent))),
            _ => {}
        }
        let Some(summary) = &run.summary else {
            let file = &run.name;
            return Err(usage_error(format!(
                "flag -bars: {file} is a table of times, which have no {name}"
            )));
        };
        Ok(match self {
            Self::Throughput => summary.throughput(),
            Self::Duration => summary.elapsed().as_secs_f64(),
            Self::Transfer => summary.received_per_s() / 1024.0,
            Self::Errors if summary.requests == 0 => 0.0,
            Self::Errors => (1.0 - summary.success_ratio()) * 100.0,
            _ => summary.completions(),
        })
    }
}

/// A figure from elsewhere: its labels are those of the files, where there are files.
fn given(value: &GivenValue, labels: &[Label]) -> Result<BarChart, CommandError> {
    let bar = |label: &Label| Bar { label: label.shown().to_owned(), values: Vec::new() };
    let mut bars: Vec<Bar> = labels.iter().map(bar).collect();
    for (label, number) in &value.values {
        match bars.iter_mut().find(|bar| bar.label == *label) {
            Some(bar) => bar.values.push(*number),
            None if labels.is_empty() => {
                bars.push(Bar { label: label.clone(), values: vec![*number] });
            }
            None => {
                let name = &value.name;
                return Err(usage_error(format!(
                    "flag -value: \"{name}\": no file has the label \"{label}\""
                )));
            }
        }
    }
    let (name, unit) = (value.name.clone(), value.unit.clone());
    Ok(BarChart { title: name.clone(), name, unit, bars })
}

#[cfg(test)]
mod tests {
    use metrics::{Batch, Histogram, Sample, Summary};

    use super::*;

    /// Seed 002's run as rows: 10,000 hits in 251.725273 s, 28,570,213 bytes on the wire.
    fn label(name: &str, hits: u64, seconds: f64, wire: u64) -> Label {
        let took = Nanos((seconds * 1e9) as u64);
        let sample = |n: u64| Sample {
            done: if n == 0 { took } else { Nanos(6_192_000_000) },
            wire_in: if n == 0 { wire } else { 0 },
            outcome: metrics::Outcome::Http(if n % 4 == 3 { 500 } else { 200 }),
            ..Sample::default()
        };
        let samples: Vec<Sample> = (0..hits).map(sample).collect();
        let mut times = Histogram::default();
        samples.iter().for_each(|sample| times.record(sample.response()));
        let mut summary = Box::new(Summary::new());
        summary.add(&Batch { samples, ..Batch::default() });
        let run = Run { name: format!("{name}.bin"), times, summary: Some(summary) };
        Label { label: name.to_owned(), runs: vec![run] }
    }

    #[test]
    fn the_seeds_figures() {
        let labels = [label("rr", 10_000, 251.725_273, 28_570_213)];
        let sheet = sheet("t", "rate,duration,transfer,errors,longest", &labels, &[]).unwrap();
        let values: Vec<f64> = sheet.charts.iter().map(|chart| chart.bars[0].values[0]).collect();
        let expected = [39.73, 251.725_273, 110.84, 25.0, 251_725.273];
        for (value, expected) in values.iter().zip(expected) {
            assert!((value - expected).abs() < 0.005, "{value} {expected}");
        }
        assert!(sheet.notes.is_empty());
    }

    #[test]
    fn percentiles_are_metrics() {
        assert_eq!(Metric::parse("p99").ok(), Some(Metric::Percentile(99.0)));
        assert_eq!(Metric::parse("median").ok(), Some(Metric::Percentile(50.0)));
        assert_eq!(Metric::parse("latency.p50").ok(), Some(Metric::Percentile(50.0)));
        assert_eq!(Metric::parse("longest").ok(), Metric::parse("latency.max").ok());
        for name in ["p101", "p", "pNaN", "speed"] {
            assert!(Metric::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn figures_from_elsewhere_need_a_label_that_is_there() {
        let value = |label: &str| GivenValue {
            name: "load average".to_owned(),
            unit: String::new(),
            values: vec![(label.to_owned(), 3.15), (label.to_owned(), 3.4)],
        };
        let labels = [label("rr", 3, 1.0, 0)];
        let chart = &sheet("t", "", &labels, &[value("rr")]).unwrap().charts[0];
        assert_eq!(chart.bars[0].values, [3.15, 3.4]);
        assert!(sheet("t", "", &labels, &[value("other")]).is_err());
        assert_eq!(sheet("t", "", &[], &[value("other")]).unwrap().charts[0].bars.len(), 1);
    }

    #[test]
    fn the_only_file_is_called_by_its_name() {
        let only = [Label { label: String::new(), ..label("rr", 3, 1.0, 0) }];
        let value = GivenValue {
            name: "load".to_owned(),
            unit: String::new(),
            values: vec![("rr.bin".to_owned(), 3.0)],
        };
        let charts = sheet("t", "rate", &only, &[value]).unwrap().charts;
        let bars = charts.iter().map(|chart| chart.bars[0].label.as_str());
        assert_eq!(bars.collect::<Vec<_>>(), ["rr.bin", "rr.bin"]);
        assert_eq!(charts[1].bars[0].values, [3.0]);
    }

    #[test]
    fn a_table_of_times_has_no_rate() {
        let mut labels = [label("rr", 3, 1.0, 0)];
        assert_eq!(sheet("t", "transfer", &labels, &[]).unwrap().notes, [BODIES]);
        labels[0].runs[0].summary = None;
        assert!(sheet("t", "rate", &labels, &[]).is_err());
        assert!(sheet("t", "p90,longest,mean", &labels, &[]).is_ok());
    }
}
