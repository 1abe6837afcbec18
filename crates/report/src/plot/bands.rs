//! `BandBuilder`: response times over time of many runs. Each label is a band, from the median to the 99th percentile of
//! what all its runs had at that moment: as many lines of single requests would hide each other. Memory is bounded in the
//! number of bands and in the length of a [`Timeline`].

use metrics::{Batch, Sample, TargetTable, Timeline};

use super::builder::attack_name;
use crate::figure::{Axis, Colour, Figure, Scale, Series, Style};
use crate::number::{counted, grouped};

/// Bands at most; hits of further labels are left out and counted.
pub const BANDS_MAX: usize = 8;

/// Collects runs until the figure is drawn.
#[derive(Debug, Default)]
pub struct BandBuilder {
    bands: Vec<Band>,
    /// The run that is read, and the moment (Unix time in ns) of its first hit.
    run: Option<(usize, i64)>,
    left_out: u64,
}

/// The runs of one label.
#[derive(Debug)]
struct Band {
    name: String,
    /// Times count from each run's first hit.
    timeline: Timeline,
    runs: u64,
    last_run: usize,
}

impl BandBuilder {
    /// Adds a batch of the run with this number; runs come one after the other. Runs with the same label are one band; runs
    /// without a label are one band for each name of an attack.
    pub fn add(&mut self, run: usize, label: Option<&str>, batch: &Batch, targets: &TargetTable) {
        let zero = self.zero(run, batch);
        let epoch = batch.epoch.saturating_sub(zero);
        for samples in
            batch.samples.chunk_by(|a, b| name_of(a, label, targets) == name_of(b, label, targets))
        {
            match self.band(run, name_of(&samples[0], label, targets)) {
                Some(at) => self.bands[at].timeline.add_samples(epoch, samples),
                None => self.left_out += samples.len() as u64,
            }
        }
    }

    /// When the run's first hit was due. Rows come nearly in order, so the first batch has it.
    fn zero(&mut self, run: usize, batch: &Batch) -> i64 {
        let first = batch.samples.iter().map(|sample| sample.intended.0).min().unwrap_or(0);
        match self.run {
            Some((known, zero)) if known == run => zero,
            _ => {
                let zero = batch.epoch.saturating_add_unsigned(first);
                self.run = Some((run, zero));
                zero
            }
        }
    }

    /// The index of a run's band; `None` where there is no room for another.
    fn band(&mut self, run: usize, name: &str) -> Option<usize> {
        let found = self.bands.iter().position(|band| band.name == name);
        if let Some(at) = found {
            let band = &mut self.bands[at];
            band.runs += u64::from(band.last_run != run);
            band.last_run = run;
            return Some(at);
        }
        if self.bands.len() == BANDS_MAX {
            return None;
        }
        let timeline = Timeline::new();
        self.bands.push(Band { name: name.to_owned(), timeline, runs: 1, last_run: run });
        Some(self.bands.len() - 1)
    }

    /// The figure: seconds since each run's first hit, response times in milliseconds.
    #[must_use]
    pub fn finish(self, title: &str) -> Figure {
        let mut notes = vec![
            "A line is the median of all runs of a label at that moment; its band reaches to their 99th percentile."
                .to_owned(),
        ];
        if self.left_out > 0 {
            let left_out = counted(self.left_out, "request");
            notes.push(format!("{left_out} of more than {BANDS_MAX} labels not drawn."));
        }
        let mut series = Vec::new();
        for (number, band) in self.bands.iter().enumerate() {
            notes.extend(band.failed());
            series.extend(band.series(Colour::calm(number)));
        }
        Figure {
            title: title.to_owned(),
            x: Axis { label: "Seconds elapsed".to_owned(), scale: Scale::Linear },
            y: Axis { label: "Latency (ms)".to_owned(), scale: Scale::Log },
            series,
            notes,
        }
    }
}

/// The name of a hit's band: its run's label, else its attack's name.
fn name_of<'a>(sample: &Sample, label: Option<&'a str>, targets: &'a TargetTable) -> &'a str {
    label.unwrap_or_else(|| attack_name(sample, targets))
}

impl Band {
    fn name(&self) -> &str {
        if self.name.is_empty() { "runs" } else { &self.name }
    }

    /// The band and the line of its medians.
    fn series(&self, colour: Colour) -> [Series; 2] {
        let timeline = self.timeline.fitted();
        let width = timeline.width().as_secs_f64();
        let due = timeline.cells().enumerate().filter(|(_, cell)| cell.hits > 0);
        let due = due.map(|(at, _)| at + 1).last().unwrap_or(0);
        let quantile = |q: f64| -> Vec<(f64, f64)> {
            let time = |cell: &metrics::Cell| match cell.hits {
                0 => f64::NAN,
                _ => cell.response.quantile(q).as_millis_f64(),
            };
            let cells = timeline.cells().take(due).enumerate();
            cells.map(|(at, cell)| (at as f64 * width, time(cell))).collect()
        };
        let (medians, p99) = (quantile(0.5), quantile(0.99));
        let low = medians.iter().map(|point| point.1).collect();
        let (name, runs) = (self.name(), counted(self.runs, "run"));
        let series = |label, style, points| Series { label, style, colour, points };
        [
            series(format!("{name}: p50 to p99"), Style::Band(low), p99),
            series(format!("{name}: p50 of {runs}"), Style::Line, medians),
        ]
    }

    /// A note on requests without success, which are drawn like the others.
    fn failed(&self) -> Option<String> {
        let sum = |of: fn(&metrics::Cell) -> u64| self.timeline.cells().map(of).sum::<u64>();
        let (errors, hits) = (sum(|cell| cell.errors), sum(|cell| cell.hits));
        let all = counted(hits, "request");
        (errors > 0).then(|| format!("{}: {} of {all} failed.", self.name(), grouped(errors)))
    }
}

#[cfg(test)]
mod tests {
    use metrics::TargetLabel;
    use stdx::Nanos;

    use super::*;

    /// 200 hits in a second from this epoch on, of so many milliseconds each.
    fn batch(epoch: i64, took_ms: u64, status: u16) -> Batch {
        let sample = |n: u64| {
            let intended = Nanos::from_millis(n * 5);
            let done = intended + Nanos::from_millis(took_ms);
            Sample {
                intended,
                sent: intended,
                done,
                outcome: metrics::Outcome::http(status),
                ..Sample::default()
            }
        };
        Batch { epoch, samples: (0..200).map(sample).collect(), texts: Vec::new() }
    }

    fn table(attack: &str) -> TargetTable {
        TargetTable::from(vec![TargetLabel { attack: attack.into(), ..TargetLabel::default() }])
    }

    #[test]
    fn runs_of_a_label_are_one_band() {
        let mut bands = BandBuilder::default();
        for run in 0..8 {
            let (label, took) = if run % 2 == 0 { ("old", 10 + run) } else { ("new", 5) };
            let epoch = 1_000_000_000_000 * (run as i64 + 1);
            bands.add(run as usize, Some(label), &batch(epoch, took, 200), &table("x"));
        }
        let figure = bands.finish("t");
        let labels: Vec<&str> = figure.series.iter().map(|one| one.label.as_str()).collect();
        let expect =
            ["old: p50 to p99", "old: p50 of 4 runs", "new: p50 to p99", "new: p50 of 4 runs"];
        assert_eq!(labels, expect);
        let Style::Band(low) = &figure.series[0].style else { panic!("{:?}", figure.series[0]) };
        let (low, high) = (low[0], figure.series[0].points[0].1);
        assert!((low - 12.0).abs() < 0.2 && (high - 16.0).abs() < 0.2, "{low} to {high}");
        let xs: Vec<f64> = figure.series[0].points.iter().map(|point| point.0).collect();
        assert_eq!((xs[0], xs.len() > 4), (0.0, true), "runs begin together: {xs:?}");
    }

    #[test]
    fn runs_without_a_label_are_one_band_and_failures_are_counted() {
        let mut bands = BandBuilder::default();
        for run in 0..4 {
            let status = if run == 3 { 500 } else { 200 };
            bands.add(run, None, &batch(run as i64, 7, status), &table(""));
        }
        let figure = bands.finish("t");
        assert_eq!(figure.series[1].label, "runs: p50 of 4 runs");
        assert!(figure.notes.contains(&"runs: 200 of 800 requests failed.".to_owned()));
    }

    #[test]
    fn more_labels_than_bands_are_counted() {
        let mut bands = BandBuilder::default();
        for run in 0..BANDS_MAX + 1 {
            bands.add(run, Some(&run.to_string()), &batch(0, 7, 200), &table(""));
        }
        let figure = bands.finish("t");
        assert_eq!(figure.series.len(), 2 * BANDS_MAX);
        assert!(figure.notes[1].starts_with("200 requests of more than 8"), "{:?}", figure.notes);
    }
}
