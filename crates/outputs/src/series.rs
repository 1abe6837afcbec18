//! `SeriesTable`: samples added up by metric and tags since the start of the run.

use std::collections::HashMap;

use metrics::tally::{Contains, Kind, MetricId, Trend};
use stdx::MemoryShare;

use crate::exponential::ExponentialHistogram;
use crate::sample::Sample;
use crate::tags::{TagList, TagSets, bytes_of};

/// Series at most; samples of further ones are counted and not sent.
pub(crate) const SERIES_MAX: usize = 20_000;

/// How a trend is added up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Distribution {
    /// For percentiles.
    Percentiles,
    /// In exponential buckets of this scale.
    Exponential(i32),
    /// In buckets with [`EXPLICIT_BOUNDS`].
    Explicit,
}

/// What was seen of a series.
#[derive(Clone, Debug)]
pub(crate) enum State {
    Counter(f64),
    Gauge(f64),
    Rate { nonzero: u64, total: u64 },
    Trend(Trend),
    Exponential(ExponentialHistogram),
    Explicit { buckets: Vec<u64>, count: u64, sum: f64, min: f64, max: f64 },
}

/// A metric's name, and what its values are.
#[derive(Clone, Debug)]
pub(crate) struct MetricInfo {
    pub(crate) name: String,
    pub(crate) contains: Contains,
}

/// One metric with one list of tags.
pub(crate) struct Series {
    pub(crate) metric: u32,
    tags: u32,
    pub(crate) state: State,
    /// The Unix time of its last sample, in nanoseconds.
    pub(crate) last_ns: i64,
    /// Whether there were samples since it was sent.
    pub(crate) is_new: bool,
    /// What was sent last, in milliseconds; times of a series must grow.
    pub(crate) sent_ms: i64,
}

/// All series of a run.
pub(crate) struct SeriesTable {
    distribution: Distribution,
    /// What times are multiplied by; they come in milliseconds.
    time_factor: f64,
    tags: TagSets,
    metrics: Vec<MetricInfo>,
    /// By the metric's number outside: its place in `metrics`.
    places: HashMap<MetricId, u32>,
    by_key: HashMap<(u32, u32), u32>,
    pub(crate) all: Vec<Series>,
    pub(crate) refused: u64,
    /// What the series take of what the process may.
    memory: MemoryShare,
    bytes: usize,
}

/// Bytes of a series, at most: a trend has buckets.
const TREND_BYTES: usize = 4 << 10;
const SERIES_BYTES: usize = 256;

impl SeriesTable {
    pub(crate) fn new(distribution: Distribution, time_factor: f64) -> Self {
        Self {
            distribution,
            time_factor,
            tags: TagSets::default(),
            metrics: Vec::new(),
            places: HashMap::new(),
            by_key: HashMap::new(),
            all: Vec::new(),
            refused: 0,
            memory: MemoryShare::default(),
            bytes: 0,
        }
    }

    pub(crate) fn add(&mut self, sample: &Sample<'_>) {
        let Some(tags) = self.tags.number(sample.tags, SERIES_MAX) else {
            self.refused += 1;
            return;
        };
        let metric = self.place(sample);
        let at = match self.by_key.get(&(metric, tags)).copied() {
            Some(at) => at,
            None if self.all.len() >= SERIES_MAX || !self.has_room_for(sample) => {
                self.refused += 1;
                return;
            }
            None => {
                let at = self.all.len() as u32;
                self.by_key.insert((metric, tags), at);
                let state = State::new(sample.kind, self.distribution);
                let (last_ns, sent_ms) = (sample.unix_ns, i64::MIN);
                self.all.push(Series { metric, tags, state, last_ns, is_new: true, sent_ms });
                at
            }
        };
        let factor = if sample.contains == Contains::Time { self.time_factor } else { 1.0 };
        let series = &mut self.all[at as usize];
        series.last_ns = series.last_ns.max(sample.unix_ns);
        series.is_new = true;
        series.state.add(sample.value * factor);
    }

    /// Takes the memory of one more series, if there is so much: an eighth of what the process may take at most is theirs. Each is
    /// sent with its tags, also where several have the same.
    fn has_room_for(&mut self, sample: &Sample<'_>) -> bool {
        let own = if sample.kind == Kind::Trend { TREND_BYTES } else { SERIES_BYTES };
        let bytes = own + bytes_of(sample.tags);
        self.bytes += bytes;
        let fits = self.bytes <= stdx::within_memory(usize::MAX, 8)
            && self.memory.resize(self.bytes).is_ok();
        if !fits {
            self.bytes -= bytes;
        }
        fits
    }

    fn place(&mut self, sample: &Sample<'_>) -> u32 {
        let metrics = &mut self.metrics;
        *self.places.entry(sample.metric).or_insert_with(|| {
            let Sample { name, contains, .. } = *sample;
            metrics.push(MetricInfo { name: name.to_owned(), contains });
            metrics.len() as u32 - 1
        })
    }

    /// The metrics, in the order of [`Series::metric`].
    pub(crate) fn metrics(&self) -> &[MetricInfo] {
        &self.metrics
    }

    pub(crate) fn tags(&self, series: &Series) -> &TagList {
        self.tags.list(series.tags)
    }
}

impl State {
    fn new(kind: Kind, distribution: Distribution) -> Self {
        match (kind, distribution) {
            (Kind::Counter, _) => Self::Counter(0.0),
            (Kind::Gauge, _) => Self::Gauge(0.0),
            (Kind::Rate, _) => Self::Rate { nonzero: 0, total: 0 },
            (Kind::Trend, Distribution::Percentiles) => Self::Trend(Trend::default()),
            (Kind::Trend, Distribution::Exponential(scale)) => {
                Self::Exponential(ExponentialHistogram::new(scale))
            }
            (Kind::Trend, Distribution::Explicit) => Self::Explicit {
                buckets: vec![0; EXPLICIT_BOUNDS.len() + 1],
                count: 0,
                sum: 0.0,
                min: 0.0,
                max: 0.0,
            },
        }
    }

    fn add(&mut self, value: f64) {
        match self {
            Self::Counter(sum) => *sum += value,
            Self::Gauge(last) => *last = value,
            Self::Rate { nonzero, total } => {
                *nonzero += u64::from(value != 0.0);
                *total += 1;
            }
            Self::Trend(trend) => trend.add(value),
            Self::Exponential(histogram) => histogram.add(value),
            Self::Explicit { buckets, count, sum, min, max } => {
                buckets[EXPLICIT_BOUNDS.partition_point(|bound| *bound < value)] += 1;
                (*min, *max) =
                    if *count == 0 { (value, value) } else { (min.min(value), max.max(value)) };
                *count += 1;
                *sum += value;
            }
        }
    }
}

/// OpenTelemetry's default bounds, in milliseconds or bytes.
pub(crate) const EXPLICIT_BOUNDS: [f64; 15] = [
    0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1000.0, 2500.0, 5000.0, 7500.0,
    10_000.0,
];
