//! `PlotBuilder`: response times over time, one series per attack and outcome, from batches streamed in. Memory is bounded
//! per series and in the number of series; what that cost is noted in the figure.

use std::collections::HashMap;

use metrics::{Batch, Sample, TargetTable};
use thiserror::Error;

use super::lttb;
use crate::figure::{Axis, Colour, Figure, Scale, Series, Style};
use crate::number::{counted, grouped};

/// Points per series (16 bytes each) at most; past it, half of them are removed: of four neighbours in time, the slowest and
/// the fastest stay.
pub const POINTS_MAX: usize = 2_000_000;

/// Attacks with a series of their own at most; hits of further ones are left out and counted.
pub const SERIES_MAX: usize = 200;

/// The usual number of points drawn per series.
pub const THRESHOLD: usize = 4000;

/// Why a threshold cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("threshold {0} is too small (expected 0 for every point, or at least 3)")]
pub struct ThresholdError(pub usize);

/// Collects points until the figure is drawn.
#[derive(Debug)]
pub struct PlotBuilder {
    threshold: usize,
    points_max: usize,
    attacks: Vec<Attack>,
    /// Index into `attacks` by label and attack name.
    index: HashMap<(String, String), usize>,
    left_out: u64,
}

/// One attack of one file.
#[derive(Debug)]
struct Attack {
    label: String,
    name: String,
    ok: Points,
    error: Points,
}

/// Moments (Unix time in ns) and response times (ns), in order of arrival.
#[derive(Debug, Default)]
struct Points {
    list: Vec<(i64, u64)>,
    /// Points so far, those that were removed included.
    seen: u64,
}

impl PlotBuilder {
    /// A plot with at most `threshold` points per series, chosen to preserve the line's shape (LTTB); 0 draws all.
    ///
    /// # Errors
    /// The threshold is 1 or 2, too few points for a line.
    pub fn new(threshold: usize) -> Result<Self, ThresholdError> {
        if matches!(threshold, 1 | 2) {
            return Err(ThresholdError(threshold));
        }
        Ok(Self {
            threshold,
            points_max: POINTS_MAX,
            attacks: Vec::new(),
            index: HashMap::new(),
            left_out: 0,
        })
    }

    /// Adds every sample of a batch. `label` names the file: attacks of the same name in several files stay apart.
    pub fn add(&mut self, batch: &Batch, targets: &TargetTable, label: &str) {
        let mut last: Option<(&str, Option<usize>)> = None;
        for sample in &batch.samples {
            let name = attack_name(sample, targets);
            let at = match last {
                Some((known, at)) if known == name => at,
                _ => self.attack(label, name),
            };
            last = Some((name, at));
            match at {
                Some(at) => self.attacks[at].add(batch.epoch, sample, self.points_max),
                None => self.left_out += 1,
            }
        }
    }

    /// The index of an attack; `None` where there is no room for another.
    fn attack(&mut self, label: &str, name: &str) -> Option<usize> {
        let key = (label.to_owned(), name.to_owned());
        if let Some(&at) = self.index.get(&key) {
            return Some(at);
        }
        if self.attacks.len() == SERIES_MAX {
            return None;
        }
        self.attacks.push(Attack {
            label: label.to_owned(),
            name: name.to_owned(),
            ok: Points::default(),
            error: Points::default(),
        });
        self.index.insert(key, self.attacks.len() - 1);
        Some(self.attacks.len() - 1)
    }

    /// The figure: seconds since each attack's own first hit, response times in milliseconds.
    #[must_use]
    pub fn finish(self, title: &str) -> Figure {
        let mut notes = Vec::new();
        if self.left_out > 0 {
            let left_out = counted(self.left_out, "request");
            notes.push(format!("{left_out} of more than {SERIES_MAX} attacks not drawn."));
        }
        let names = self.names();
        let has_errors = self.attacks.iter().any(|attack| attack.error.seen > 0);
        let mut series = Vec::new();
        let numbered = self.attacks.into_iter().zip(names).enumerate();
        for (number, (attack, name)) in numbered {
            let Some(start) = attack.start() else { continue };
            let outcomes = [
                (attack.ok, "OK", Colour::calm(number)),
                (attack.error, "ERROR", Colour::alarm(number)),
            ];
            for (points, outcome, colour) in outcomes.into_iter().filter(|(p, ..)| p.seen > 0) {
                let label = if has_errors { format!("{name}: {outcome}") } else { name.clone() };
                notes.extend(points.note(&label, self.points_max));
                let points = points.downsampled(start, self.threshold);
                series.push(Series { label, style: Style::Line, colour, points });
            }
        }
        Figure {
            title: title.to_owned(),
            x: Axis { label: "Seconds elapsed".to_owned(), scale: Scale::Linear },
            y: Axis { label: "Latency (ms)".to_owned(), scale: Scale::Log },
            series,
            notes,
        }
    }

    /// What each attack is called: by its name, with its file where two share a name or it has none.
    fn names(&self) -> Vec<String> {
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for attack in &self.attacks {
            *uses.entry(&attack.name).or_default() += 1;
        }
        let name = |attack: &Attack| match (attack.name.as_str(), attack.label.as_str()) {
            ("", "") => "attack".to_owned(),
            ("", label) => label.to_owned(),
            (name, label) if uses[name] > 1 => format!("{name} ({label})"),
            (name, _) => name.to_owned(),
        };
        self.attacks.iter().map(name).collect()
    }
}

/// The attack's name; a hit outside the table belongs to the table's first attack, since a stream has one name.
pub(super) fn attack_name<'a>(sample: &Sample, targets: &'a TargetTable) -> &'a str {
    let label = targets.get(sample.target).or_else(|| targets.first());
    label.map_or("", |label| label.attack)
}

impl Attack {
    fn add(&mut self, epoch: i64, sample: &Sample, points_max: usize) {
        let points = if sample.is_success() { &mut self.ok } else { &mut self.error };
        let at = epoch.saturating_add_unsigned(sample.intended.0);
        points.add((at, sample.response().0), points_max);
    }

    /// When its first hit was due.
    fn start(&self) -> Option<i64> {
        self.ok.list.iter().chain(&self.error.list).map(|point| point.0).min()
    }
}

impl Points {
    fn add(&mut self, point: (i64, u64), points_max: usize) {
        if self.list.len() >= points_max {
            self.thin();
        }
        self.list.push(point);
        self.seen += 1;
    }

    /// Halves the points: of four neighbours in time the fastest and the slowest stay.
    fn thin(&mut self) {
        self.list.sort_unstable();
        let first = self.list[0];
        let mut kept = 0;
        for from in (0..self.list.len()).step_by(4) {
            let four = &self.list[from..(from + 4).min(self.list.len())];
            let low = four.iter().copied().min_by_key(|point| point.1).unwrap_or(first);
            let high = four.iter().copied().max_by_key(|point| point.1).unwrap_or(first);
            self.list[kept] = low.min(high);
            self.list[kept + 1] = low.max(high);
            kept += 2;
        }
        self.list.truncate(kept);
        // The attack's begin must not move.
        self.list[0] = first;
    }

    fn note(&self, label: &str, points_max: usize) -> Option<String> {
        (self.seen > points_max as u64).then(|| {
            let (kept, seen) = (grouped(self.list.len() as u64), counted(self.seen, "point"));
            format!("{label}: drawn from {kept} of {seen} (slowest and fastest kept).")
        })
    }

    fn downsampled(mut self, start: i64, threshold: usize) -> Vec<(f64, f64)> {
        self.list.sort_unstable();
        let seconds = |at: i64| at.saturating_sub(start) as f64 / 1e9;
        let points: Vec<(f64, f64)> =
            self.list.iter().map(|&(at, time)| (seconds(at), time as f64 / 1e6)).collect();
        lttb::downsample(points, threshold)
    }
}

#[cfg(test)]
mod tests {
    use metrics::{FailureKind, TargetLabel};
    use stdx::Nanos;

    use super::*;

    fn batch(epoch: i64, times: &[(u64, u64)], status: u16) -> Batch {
        let samples = times.iter().map(|&(due, took)| Sample {
            intended: Nanos(due),
            sent: Nanos(due),
            done: Nanos(due + took),
            outcome: metrics::Outcome::http(status),
            failure: if status == 0 { FailureKind::Refused } else { FailureKind::None },
            ..Sample::default()
        });
        Batch { epoch, samples: samples.collect(), texts: Vec::new() }
    }

    fn table(attack: &str) -> TargetTable {
        TargetTable::from(vec![TargetLabel { attack: attack.into(), ..TargetLabel::default() }])
    }

    #[test]
    fn files_that_share_a_name_stay_apart() {
        let mut plot = PlotBuilder::new(0).unwrap();
        let ten: Vec<(u64, u64)> = (0..10).map(|n| (n * 1_000_000_000, 2_000_000)).collect();
        plot.add(&batch(5_000_000_000, &ten, 200), &table("a"), "one.bin");
        plot.add(&batch(9_000_000_000, &ten, 200), &table("a"), "two.bin");
        plot.add(&batch(9_000_000_000, &ten[3..], 500), &table("a"), "two.bin");
        plot.add(&batch(0, &ten[3..], 0), &table(""), "three.bin");
        let figure = plot.finish("t");
        let labels: Vec<&str> = figure.series.iter().map(|s| s.label.as_str()).collect();
        assert_eq!(
            labels,
            ["a (one.bin): OK", "a (two.bin): OK", "a (two.bin): ERROR", "three.bin: ERROR"]
        );
        let counts: Vec<usize> = figure.series.iter().map(|s| s.points.len()).collect();
        assert_eq!(counts, [10, 10, 7, 7]);
        let firsts: Vec<(f64, f64)> = figure.series.iter().map(|s| s.points[0]).collect();
        assert_eq!(firsts, [(0.0, 2.0), (0.0, 2.0), (3.0, 2.0), (0.0, 2.0)]);
    }

    #[test]
    fn thinning_keeps_extremes_and_says_so() {
        let mut plot = PlotBuilder::new(0).unwrap();
        plot.points_max = 100;
        let slow = |n: u64| if n == 777 { 900_000_000 } else { 1_000_000 + n };
        let many: Vec<(u64, u64)> = (0..1000).map(|n| (n * 1_000, slow(n))).collect();
        plot.add(&batch(0, &many, 200), &table("a"), "");
        let figure = plot.finish("t");
        let points = &figure.series[0].points;
        assert!(points.len() <= 100 && points.len() >= 50, "{}", points.len());
        assert_eq!(points[0].0, 0.0);
        assert!(points.iter().any(|point| point.1 == 900.0));
        assert!(points.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        assert!(figure.notes[0].contains("of 1,000 points"), "{:?}", figure.notes);
    }

    #[test]
    fn too_many_attacks_are_counted() {
        let mut plot = PlotBuilder::new(THRESHOLD).unwrap();
        for n in 0..SERIES_MAX + 3 {
            plot.add(&batch(0, &[(0, 1)], 200), &table(&n.to_string()), "");
        }
        let figure = plot.finish("t");
        assert_eq!(figure.series.len(), SERIES_MAX);
        assert!(figure.notes[0].starts_with("3 requests"), "{:?}", figure.notes);
    }

    #[test]
    fn thresholds_no_line_can_be_drawn_with() {
        for threshold in [1, 2] {
            assert_eq!(PlotBuilder::new(threshold).unwrap_err(), ThresholdError(threshold));
        }
        assert!(PlotBuilder::new(0).is_ok() && PlotBuilder::new(3).is_ok());
    }
}
