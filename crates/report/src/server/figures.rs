//! Figures of client and server together: the percentile curves, and what went on over time, on one axis.

use metrics::server::{Log, Measure, Side, SourceSummary};
use metrics::{Histogram, Timeline};
use stdx::Nanos;

use super::machine::is_process;
use crate::figure::{Axis, Colour, Figure, Scale, Series, Style, shortened};
use crate::number::{counted, grouped};
use crate::sheet::FigureSheet;

/// Points of a percentile curve at the most: one each fifth of a percent.
const POINTS: u64 = 500;
/// Processes drawn; the rest is counted in a note.
const PROCESSES_MAX: usize = 6;
/// The colours of processes: none is the client's response time.
const PROCESS_COLOURS: [usize; PROCESSES_MAX] = [4, 6, 3, 7, 1, 2];
/// How many times the least median the greatest time is where the axis is logarithmic.
const LOG_FROM: u64 = 20;
/// Why the server has no curves.
const UNTIMED: &str = "No log says how long requests took";
/// Characters of a process' name in a legend.
const NAME_MAX: usize = 32;

/// The time within which a share of requests was served: the client's, the server's, and of it views and database. The
/// server's are those of the log nearest to the application, of all hosts together.
#[must_use]
pub fn percentiles(title: &str, client: Option<&Histogram>, side: &Side) -> Figure {
    let log = side.applications();
    let part = |of: fn(&Log) -> &Histogram| log.as_ref().map(of);
    let curves = [
        ("Client", client, Colour::RESPONSE),
        ("Server, total", part(|log| &log.total), Colour::SERVER),
        ("Server, views", part(|log| &log.views), Colour::VIEWS),
        ("Server, database", part(|log| &log.database), Colour::DATABASE),
    ];
    let drawn = curves.into_iter().filter_map(|(label, times, colour)| {
        let times = times.filter(|times| times.count() > 0)?;
        Some((label, times, colour))
    });
    let drawn: Vec<_> = drawn.collect();
    let scale = scale(drawn.iter().map(|(_, times, _)| *times));
    let series: Vec<Series> = drawn
        .into_iter()
        .map(|(label, times, colour)| Series {
            label: label.to_owned(),
            style: Style::Line,
            colour,
            points: shares(times),
        })
        .collect();
    let counts = client.zip(log.as_ref()).filter(|(client, log)| client.count() != log.requests);
    let counts = counts.map(|(client, log)| {
        let (client, server) = (counted(client.count(), "request"), grouped(log.requests));
        format!("The client counts {client}, the server's log {server}.")
    });
    let untimed = log.is_none().then(|| format!("{UNTIMED}: only the client's times are drawn."));
    let notes = untimed.filter(|_| !series.is_empty()).into_iter().chain(counts);
    Figure {
        title: title.to_owned(),
        x: Axis { label: "Share of requests (%)".to_owned(), scale: Scale::Linear },
        y: Axis { label: "Time (s)".to_owned(), scale },
        series,
        notes: notes.collect(),
    }
}

/// A logarithmic axis where a linear one would draw some median on the axis.
fn scale<'a>(all: impl Iterator<Item = &'a Histogram> + Clone) -> Scale {
    let least = all.clone().map(|times| times.quantile(0.5)).min().unwrap_or(Nanos::ZERO);
    let greatest = all.map(Histogram::max).max().unwrap_or(Nanos::ZERO);
    if greatest.0 / LOG_FROM > least.0 { Scale::Log } else { Scale::Linear }
}

fn shares(times: &Histogram) -> Vec<(f64, f64)> {
    // More points than requests would draw stairs.
    let steps = times.count().clamp(1, POINTS);
    let share = |step: u64| step as f64 / steps as f64;
    let point = |step: u64| (share(step) * 100.0, times.quantile(share(step)).as_secs_f64());
    (0..=steps).map(point).collect()
}

/// What went on over time on both sides, a figure each for rates, times, processors and memory. All have the same axis: the
/// client's run and a few seconds around it, or all that was watched where there is no client.
#[must_use]
pub fn over_time(title: &str, client: Option<&Timeline>, side: &Side) -> FigureSheet {
    // The server's side is known by the second.
    let client = client.filter(|client| client.cells().len() > 0);
    let client = client.map(|client| client.widened(Nanos::SECOND));
    let client = client.as_ref();
    let clock = Clock::of(client, side);
    let mut figures = vec![
        rates(&clock, client, side),
        times(&clock, client, side),
        processors(&clock, side),
        memory(&clock, side),
    ];
    figures.retain(|figure| !figure.series.is_empty());
    same_ends(&mut figures);
    FigureSheet { title: title.to_owned(), figures }
}

/// Seconds before the run and after it that are drawn.
const AROUND_S: f64 = 3.0;

/// The axis of time.
struct Clock {
    /// Unix time (ns) of its 0.
    start: i64,
    /// Seconds drawn, from and to.
    from: f64,
    to: f64,
}

impl Clock {
    fn of(client: Option<&Timeline>, side: &Side) -> Self {
        if let Some(client) = client {
            let long = client.cells().len() as f64 * client.width().as_secs_f64();
            return Self { start: client.start(), from: -AROUND_S, to: long + AROUND_S };
        }
        let spans = side.sources().iter().map(|source| (source.first, source.last));
        let spans = spans.chain(side.logs().iter().map(|log| (log.first, log.last)));
        let (start, end) =
            spans.fold((i64::MAX, i64::MIN), |(first, last), (a, b)| (first.min(a), last.max(b)));
        let long = if start > end { 0.0 } else { end.saturating_sub(start) as f64 / 1e9 };
        Self { start: start.min(end), from: 0.0, to: long }
    }

    fn seconds(&self, at: i64) -> f64 {
        at.saturating_sub(self.start) as f64 / 1e9
    }

    /// Points in seconds of the axis, without those outside of it.
    fn points(&self, all: impl Iterator<Item = (i64, f64)>) -> Vec<(f64, f64)> {
        let points = all.map(|(at, y)| (self.seconds(at), y));
        points.filter(|(x, _)| (self.from..=self.to).contains(x)).collect()
    }
}

/// Gives all figures the same start and end: a gap at either end extends the axis and is not drawn.
fn same_ends(figures: &mut [Figure]) {
    let series = figures.iter().flat_map(|figure| &figure.series);
    let xs = series.flat_map(|series| series.points.iter().map(|point| point.0));
    let (from, to) = xs.fold((0.0, 0.0), |(from, to): (f64, f64), x| (from.min(x), to.max(x)));
    for first in figures.iter_mut().filter_map(|figure| figure.series.first_mut()) {
        first.points.insert(0, (from, f64::NAN));
        first.points.push((to, f64::NAN));
    }
}

fn figure(title: &str, y: &str, scale: Scale, series: Vec<Series>) -> Figure {
    Figure {
        title: title.to_owned(),
        x: Axis { label: "Seconds elapsed".to_owned(), scale: Scale::Linear },
        y: Axis { label: y.to_owned(), scale },
        series: series.into_iter().filter(|series| !series.points.is_empty()).collect(),
        notes: Vec::new(),
    }
}

fn line(label: &str, colour: Colour, points: Vec<(f64, f64)>) -> Series {
    Series { label: label.to_owned(), style: Style::Line, colour, points }
}

/// One value for each cell in which requests were due, at the cell's begin.
fn cells(client: Option<&Timeline>, of: impl Fn(&metrics::Cell, f64) -> f64) -> Vec<(f64, f64)> {
    let Some(client) = client else { return Vec::new() };
    let width = client.width().as_secs_f64();
    let due = client.cells().enumerate().filter(|(_, cell)| cell.hits > 0).map(|(n, _)| n + 1);
    let due = client.cells().take(due.last().unwrap_or(0)).enumerate();
    due.map(|(n, cell)| (n as f64 * width, of(cell, width))).collect()
}

fn rates(clock: &Clock, client: Option<&Timeline>, side: &Side) -> Figure {
    let offered = cells(client, |cell, width| cell.hits as f64 / width);
    let mut series = vec![line("Client, requests due", Colour::ASKED, offered)];
    if let Some(log) = side.application() {
        let width = log.width().as_secs_f64();
        let done = log.over_time().map(|(at, cell)| (at, cell.requests as f64 / width));
        let label = format!("Server, completed ({})", log.source);
        series.push(line(&label, Colour::SERVER, clock.points(done)));
    }
    let mut figure = figure("Requests a second, both sides", "Per second", Scale::Linear, series);
    figure.notes.extend(coarse(side));
    figure
}

/// A note that a log has times in whole seconds only, while the client's cells start with its first request. The cells are
/// drawn where the log has them: both sides' cells start there, and shifting one would separate simultaneous events.
fn coarse(side: &Side) -> Option<String> {
    let log = side.application().filter(|log| log.has_whole_seconds())?;
    Some(format!(
        "The log {} tells moments in whole seconds: the server's curves lie up to a second before the client's.",
        log.source
    ))
}

fn times(clock: &Clock, client: Option<&Timeline>, side: &Side) -> Figure {
    let quantile = |q: f64| {
        cells(client, |cell, _| match cell.hits {
            0 => f64::NAN,
            _ => cell.response.quantile(q).as_millis_f64(),
        })
    };
    let mut series = vec![
        line("Client p99", Colour::RESPONSE_P99, quantile(0.99)),
        line("Client p50", Colour::RESPONSE, quantile(0.5)),
    ];
    if let Some(log) = side.application() {
        let of = |q: f64| {
            let filled = log.over_time().filter(|(_, cell)| cell.total.count() > 0);
            clock.points(filled.map(|(at, cell)| (at, cell.total.quantile(q).as_millis_f64())))
        };
        series.push(line("Server p99", Colour::SERVER_P99, of(0.99)));
        series.push(line("Server p50", Colour::SERVER, of(0.5)));
    }
    let mut figure = figure("Times, both sides", "Time (ms)", Scale::Log, series);
    figure.notes.extend(coarse(side));
    figure
}

/// Cores busy with processes and all in all, and the load: all in units of one thread that runs.
fn processors(clock: &Clock, side: &Side) -> Figure {
    let mut series = Vec::new();
    let machines: Vec<&SourceSummary> =
        side.sources().iter().filter(|source| source.source == "machine").collect();
    let host = |machine: &SourceSummary| match machines.len() {
        1 => String::new(),
        _ => format!(" of {}", machine.host),
    };
    for (number, machine) in machines.iter().enumerate() {
        let cores = machine.measure("cores").map_or(1.0, |cores| cores.max);
        let of = |name: &str, times: f64| {
            let course = machine.measure(name).into_iter().flat_map(Measure::course);
            clock.points(course.map(|(at, y)| (at, y * times)))
        };
        let (load, busy) = (of("load1", 1.0), of("cpu", cores));
        series.push(line(
            &format!("Load, 1 min{}", host(machine)),
            Colour::alarm(1 + number),
            load,
        ));
        series.push(line(&format!("Cores busy{}", host(machine)), Colour::calm(5), busy));
    }
    let (more, processes) = of_processes(clock, side, "cpu", 1.0);
    series.extend(processes);
    let mut figure = figure("Processors", "Cores, or load", Scale::Linear, series);
    figure.notes.extend(more);
    figure
}

fn memory(clock: &Clock, side: &Side) -> Figure {
    let (more, mut series) = of_processes(clock, side, "rss", 1.0 / f64::from(1 << 20));
    series.extend(of_processes(clock, side, "memory", 1.0 / f64::from(1 << 20)).1);
    let mut figure = figure("Memory of processes", "MiB", Scale::Linear, series);
    figure.notes.extend(more);
    figure
}

/// A measure of each process, or of trees where there are any, and a note where there are more than are drawn.
fn of_processes(
    clock: &Clock,
    side: &Side,
    name: &str,
    times: f64,
) -> (Option<String>, Vec<Series>) {
    let has_trees = side.sources().iter().any(|source| source.source.starts_with("tree "));
    let with = side.sources().iter().filter(|source| {
        is_process(&source.source) && !(has_trees && source.source.starts_with("process "))
    });
    let all: Vec<(&SourceSummary, &Measure)> =
        with.filter_map(|source| Some((source, source.measure(name)?))).collect();
    let more = all.len().saturating_sub(PROCESSES_MAX);
    let note = (more > 0).then(|| format!("{more} more processes are not drawn."));
    let drawn = all.into_iter().take(PROCESSES_MAX).enumerate();
    let series = drawn.map(|(number, (source, measure))| {
        let points = clock.points(measure.course().map(|(at, y)| (at, y * times)));
        line(
            &shortened(&source.source, NAME_MAX),
            Colour::calm(PROCESS_COLOURS[number % PROCESSES_MAX]),
            points,
        )
    });
    (note, series.collect())
}
