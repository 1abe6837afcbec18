//! A fitted model for people and programs: the table of measured and predicted figures, what one worker more would bring, JSON,
//! the figure with both, and the words of a refusal.

use stdx::{Nanos, are};
use study::scaling::{Estimate, Fit, Gain, Kind, Observation, Prediction, Refusal, Sweep};
use study::seek::By;

use crate::columns::Columns;
use crate::escape;
use crate::figure::{Axis, Colour, Figure, Scale, Series, Style};
use crate::number::{counted, duration, go_json, number};
use crate::object::{Object, json_list};

/// A sweep and what came of it.
#[derive(Clone, Copy, Debug)]
pub struct FitInput<'a> {
    /// What was measured.
    pub sweep: &'a Sweep,
    /// What fits it, or why nothing does.
    pub found: &'a Result<Fit, Refusal>,
    /// Loads asked for beside those measured; above 0.
    pub at: &'a [f64],
    /// What must be known of the measurements, one sentence each.
    pub notes: &'a [String],
}

/// From a measurement to the end of its stroke, as a factor of the load.
const STROKE: f64 = 1.04;
/// Points of a predicted curve.
const POINTS: u32 = 160;

/// The tables, the model and what it says; a refusal in a sentence.
#[must_use]
pub fn fit_text(input: &FitInput<'_>) -> String {
    let by = input.sweep.by;
    let mut out = String::new();
    match input.found {
        Err(refusal) => {
            out.push_str(&measured_table(input.sweep));
            out.push_str(&format!("\nRefused  {}\n", refused(by, refusal)));
        }
        Ok(fit) => {
            out.push_str(&table(fit, input.at));
            out.push('\n');
            lines(fit).iter().for_each(|(name, text)| out.push_str(&format!("{name:<9}{text}\n")));
        }
    }
    for note in input.notes {
        out.push_str(&format!("Note     {}\n", escape::terminal(note)));
    }
    out
}

/// The model and how well it fits, or the refusal, in a sentence.
#[must_use]
pub(crate) fn fit_sentence(input: &FitInput<'_>) -> String {
    match input.found {
        Err(refusal) => format!("no model: {}.", refused(input.sweep.by, refusal)),
        Ok(fit) => {
            let (model, error) = (model_words(fit), fit.error * 100.0);
            format!("a model that is {error:.1}% off typically: {model}.")
        }
    }
}

/// The model with its parameters.
fn model_words(fit: &Fit) -> String {
    let parameters = fit.parameters.iter().map(|(name, value)| parameter(fit.kind, name, value));
    format!("{}: {}", title(fit.kind), parameters.collect::<Vec<_>>().join(", "))
}

/// Measured and predicted at each load, those asked for at the end.
fn table(fit: &Fit, at: &[f64]) -> String {
    let mut table = Columns::default().right(&[0, 1, 2, 3, 4, 5, 6, 7]);
    let head =
        [unit(fit.by), "measured/s", "predicted/s", "mean", "predicted", "p50", "p99", "busy", ""];
    table.row(head.map(str::to_owned));
    let levels = levels(&fit.observations);
    for (load, measured) in &levels {
        table.row(cells(&fit.predict(*load), measured));
    }
    let asked = at.iter().filter(|load| !levels.iter().any(|(of, _)| of == *load));
    for load in asked {
        table.row(cells(&fit.predict(*load), &[]));
    }
    // The last cell of what was measured is blank.
    table.lines().lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn cells(predicted: &Prediction, measured: &[Observation]) -> [String; 9] {
    let mean = |of: fn(&Observation) -> f64| {
        let sum: f64 = measured.iter().map(of).sum();
        (!measured.is_empty()).then(|| sum / measured.len() as f64)
    };
    let blank = String::new;
    [
        number(predicted.load),
        mean(|one| one.throughput_per_s).map_or_else(blank, number),
        ranged(&predicted.throughput_per_s, number),
        mean(|one| one.mean_s).map_or_else(blank, seconds),
        ranged(&predicted.mean_s, seconds),
        predicted.p50_s.map_or_else(blank, seconds),
        predicted.p99_s.map_or_else(blank, seconds),
        predicted.utilisation.map_or_else(blank, |share| format!("{:.0}%", share * 100.0)),
        match (measured.is_empty(), predicted.is_extrapolated) {
            (false, _) => String::new(),
            (true, false) => "between".to_owned(),
            (true, true) => "extrapolated".to_owned(),
        },
    ]
}

/// What was measured, where nothing is predicted.
fn measured_table(sweep: &Sweep) -> String {
    let mut table = Columns::default().right(&[0, 1, 2, 3]);
    table.row([unit(sweep.by), "measured/s", "mean", "under way"].map(str::to_owned));
    let mut sorted = sweep.observations.clone();
    sorted.sort_by(|a, b| a.load.total_cmp(&b.load));
    for one in &sorted {
        let in_flight = number(one.in_flight());
        table.row([number(one.load), number(one.throughput_per_s), seconds(one.mean_s), in_flight]);
    }
    table.lines()
}

/// What is said of a fit below its table.
fn lines(fit: &Fit) -> Vec<(&'static str, String)> {
    let error = fit.error * 100.0;
    let mut lines = vec![
        ("Model", model_words(fit)),
        ("Error", format!("{error:.1}% typically between measured and predicted")),
    ];
    if fit.by == By::Connections {
        lines.extend(knee(fit).map(|text| ("Knee", text)));
        lines.push(("Little", little(fit)));
    }
    if !fit.overloaded.is_empty() {
        let loads: Vec<String> = fit.overloaded.iter().map(|load| number(*load)).collect();
        lines.push((
            "Overload",
            format!("not kept up with, taken for the capacity alone: {}", loads.join(", ")),
        ));
    }
    match fit.one_more_worker() {
        Some(gain) => lines.push(("Worker", worker(fit.by, &gain))),
        None if fit.kind != Kind::Usl => lines.push((
            "Worker",
            "how many workers there are cannot be told from these loads; measure from 1 user, or a low rate, to well beyond the knee".to_owned(),
        )),
        None => {}
    }
    let others = fit.others.iter().map(|(kind, error)| match error {
        Some(error) => format!("{} ({:.1}%)", kind.name(), error * 100.0),
        None => format!("{} (too few loads)", kind.name()),
    });
    let others = others.collect::<Vec<_>>().join(", ");
    if !others.is_empty() {
        lines.push(("Others", others));
    }
    let quantiles = fit.observations.iter().any(|one| one.p50_s.is_some() || one.p99_s.is_some());
    if quantiles {
        lines.push((
            "Quantile",
            "by their share of the mean at the nearest load measured".to_owned(),
        ));
    }
    lines
}

/// The users from which on more of them only wait: a server cannot be quicker than alone, nor do more than its capacity.
fn knee(fit: &Fit) -> Option<String> {
    let least = fit.observations.first()?;
    let knee = fit.model.capacity_per_s()? * (least.mean_s + fit.think_s);
    let (knee, at) = (users(knee), number(least.load));
    Some(format!("{knee} (capacity times the time at {at})"))
}

/// What Little's law says of users, throughput and times.
fn little(fit: &Fit) -> String {
    if fit.think_s > 0.0 {
        let think = seconds(fit.think_s);
        return format!("users wait {think} between an answer and the next request (N / X - R)");
    }
    let off = fit.observations.iter().map(|one| (one.in_flight() / one.load - 1.0).abs());
    let off = off.fold(0.0, f64::max) * 100.0;
    format!("throughput times mean time is within {off:.1}% of the users at each load")
}

/// What one worker more would bring.
fn worker(by: By, gain: &Gain) -> String {
    let [now, then] = [gain.capacity_per_s.0, gain.capacity_per_s.1].map(number);
    let [mean_now, mean_then] = [gain.mean_s.0, gain.mean_s.1].map(seconds);
    let (workers, more) = (gain.workers, gain.workers + 1);
    format!(
        "with {more} in place of {workers}: capacity {now}/s to {then}/s; at {} mean {mean_now} to {mean_then}",
        loaded(by, gain.load)
    )
}

/// Why nothing is fitted, in a sentence.
fn refused(by: By, refusal: &Refusal) -> String {
    match refusal {
        Refusal::TooFewLoads { loads, needed, overloaded } => {
            let left = if *overloaded > 0 {
                format!(
                    " ({overloaded} more were overloaded: the server answered less than it was asked)"
                )
            } else {
                String::new()
            };
            let (loads, are) = (counted(*loads as u64, "different load"), are(*loads as u64));
            format!("{loads} {are} too few: {needed} are needed{left}")
        }
        Refusal::TooClose { least, greatest } => format!(
            "the loads lie too close together, from {} to {}: the greatest must be {} times the least",
            number(*least),
            number(*greatest),
            study::scaling::RANGE_MIN
        ),
        Refusal::Little { load, in_flight } => format!(
            "the figures contradict one another: by Little's law {} requests were under way at {}",
            number(*in_flight),
            loaded(by, *load)
        ),
        Refusal::Poor { kind, error, load, measured, predicted } => {
            let figure = |value: f64| match by {
                By::Connections => format!("{}/s", number(value)),
                By::Rate => seconds(value),
            };
            format!(
                "no model fits: the best, {}, is off by {:.0}% typically (at most {:.0}% is taken), most at {}: {} measured, {} \
                 predicted",
                title(*kind),
                error * 100.0,
                study::scaling::ERROR_MAX * 100.0,
                loaded(by, *load),
                figure(*measured),
                figure(*predicted)
            )
        }
    }
}

/// The whole as one line of JSON. A key is never renamed: docs/reference/fit-json.md.
#[must_use]
pub fn fit_json(input: &FitInput<'_>) -> String {
    let by = input.sweep.by;
    let notes = input.notes.iter().map(|note| escape::json(note));
    let object = Object::new().text("by", by_name(by));
    let object = match input.found {
        Err(refusal) => object
            .put("model", "null")
            .text("refused", &refused(by, refusal))
            .put("measured", json_list(input.sweep.observations.iter().map(observation_json))),
        Ok(fit) => {
            let parameters = fit.parameters.iter().fold(Object::new(), |object, (name, value)| {
                object.put(name, estimate_json(value))
            });
            let loads = levels(&fit.observations).into_iter().map(|(load, _)| load);
            let mut loads: Vec<f64> = loads.chain(input.at.iter().copied()).collect();
            loads.sort_by(f64::total_cmp);
            loads.dedup();
            let predictions = loads.iter().map(|load| prediction_json(&fit.predict(*load)));
            let gain = fit.one_more_worker().map_or("null".to_owned(), |gain| gain_json(&gain));
            object
                .text("model", fit.kind.name())
                .put("refused", "null")
                .float("error", fit.error)
                .put("parameters", parameters.end())
                .float("think", fit.think_s)
                .put("measured", json_list(fit.observations.iter().map(observation_json)))
                .put("overloaded", json_list(fit.overloaded.iter().map(|load| go_json(*load))))
                .put("predictions", json_list(predictions))
                .put("one_more_worker", gain)
        }
    };
    object.put("notes", json_list(notes)).end() + "\n"
}

fn observation_json(one: &Observation) -> String {
    Object::new()
        .float("load", one.load)
        .float("throughput", one.throughput_per_s)
        .float("mean", one.mean_s)
        .put("p50", optional(one.p50_s))
        .put("p99", optional(one.p99_s))
        .float("in_flight", one.in_flight())
        .end()
}

fn prediction_json(one: &Prediction) -> String {
    Object::new()
        .float("load", one.load)
        .put("extrapolated", if one.is_extrapolated { "true" } else { "false" })
        .put("throughput", estimate_json(&one.throughput_per_s))
        .put("mean", estimate_json(&one.mean_s))
        .put("p50", optional(one.p50_s))
        .put("p99", optional(one.p99_s))
        .put("utilisation", optional(one.utilisation))
        .end()
}

fn gain_json(gain: &Gain) -> String {
    Object::new()
        .float("load", gain.load)
        .number("workers", u64::from(gain.workers))
        .float("capacity", gain.capacity_per_s.0)
        .float("capacity_then", gain.capacity_per_s.1)
        .float("throughput", gain.throughput_per_s.0)
        .float("throughput_then", gain.throughput_per_s.1)
        .put("mean", optional(Some(gain.mean_s.0)))
        .put("mean_then", optional(Some(gain.mean_s.1)))
        .end()
}

fn estimate_json(one: &Estimate) -> String {
    let bound = |of: fn((f64, f64)) -> f64| optional(one.interval.map(of));
    Object::new()
        .put("value", optional(Some(one.value)))
        .put("low", bound(|both| both.0))
        .put("high", bound(|both| both.1))
        .end()
}

/// A number; `null` where there is none, or no finite one.
fn optional(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or("null".to_owned(), go_json)
}

/// Measured and predicted throughput and mean time over load, in one figure; without a fit, what was measured.
#[must_use]
pub fn fit_figure(input: &FitInput<'_>) -> Figure {
    let observed = match input.found {
        Ok(fit) => &fit.observations,
        Err(_) => &input.sweep.observations,
    };
    let loads = observed.iter().map(|one| one.load).chain(input.at.iter().copied());
    let greatest = loads.fold(1.0, f64::max);
    let mut series = Vec::new();
    if let Ok(fit) = input.found {
        let curve = |of: &dyn Fn(f64) -> f64| -> Vec<(f64, f64)> {
            curve_loads(fit, greatest).into_iter().map(|load| (load, of(load))).collect()
        };
        let mean = |load| fit.model.mean_s(load, fit.think_s) * 1e3;
        let throughput = |load| fit.model.throughput_per_s(load, fit.think_s);
        let line = |label: &str, at, points| Series {
            label: label.to_owned(),
            style: Style::Line,
            colour: Colour::calm(at),
            points,
        };
        series.push(line("mean, predicted (ms)", 0, curve(&mean)));
        series.push(line("throughput, predicted (/s)", 1, curve(&throughput)));
    }
    let beside = input.found.as_ref().map_or(Vec::new(), |fit| curve_loads(fit, greatest));
    let mut mark = |label: &str, colour: usize, of: &dyn Fn(&Observation) -> f64| {
        let points = strokes(observed, &beside, of);
        let (label, colour) = (label.to_owned(), Colour::alarm(colour));
        series.push(Series { label, style: Style::Line, colour, points });
    };
    mark("mean, measured (ms)", 0, &|one| one.mean_s * 1e3);
    mark("throughput, measured (/s)", 1, &|one| one.throughput_per_s);
    let (title, mut notes) = match input.found {
        Ok(fit) => (self::title(fit.kind), lines(fit)),
        Err(refusal) => ("No model fits", vec![("Refused", refused(input.sweep.by, refusal))]),
    };
    notes.truncate(5);
    let (axis, scale) = match input.sweep.by {
        By::Connections => ("Users", Scale::Log),
        By::Rate => ("Requests per second offered", Scale::Linear),
    };
    Figure {
        title: title.to_owned(),
        x: Axis { label: axis.to_owned(), scale },
        y: Axis { label: "Mean time (ms), throughput (/s)".to_owned(), scale: Scale::Log },
        series,
        notes: notes.into_iter().map(|(name, text)| format!("{name}: {text}")).collect(),
    }
}

/// What was measured at each load as a short stroke, so that curves and measurements are told apart; repeats are averaged.
/// A page's chart joins what lies on either side of another line's point, so there is a gap at each of those, `beside`.
fn strokes(
    observed: &[Observation],
    beside: &[f64],
    of: impl Fn(&Observation) -> f64,
) -> Vec<(f64, f64)> {
    let mut sorted = observed.to_vec();
    sorted.sort_by(|a, b| a.load.total_cmp(&b.load));
    let levels: Vec<(f64, f64)> = levels(&sorted)
        .iter()
        .map(|(load, all)| (*load, all.iter().map(&of).sum::<f64>() / all.len() as f64))
        .collect();
    // Strokes of neighbours must not run into one another.
    let gaps = levels.windows(2).map(|pair| (pair[1].0 / pair[0].0).powf(0.4));
    let reach = gaps.fold(STROKE, f64::min);
    let ends = |load: f64| (load / reach, load * reach);
    let stroke = |(load, value): &(f64, f64)| {
        let (begin, end) = ends(*load);
        [(begin, *value), (end, *value), (end * (1.0 + (reach - 1.0) / 10.0), f64::NAN)]
    };
    let mut points: Vec<(f64, f64)> = levels.iter().flat_map(stroke).collect();
    let within =
        |x: f64| levels.iter().any(|(load, _)| (ends(*load).0..=ends(*load).1).contains(&x));
    points.extend(beside.iter().filter(|x| !within(**x)).map(|x| (*x, f64::NAN)));
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.dedup_by(|a, b| a.0 == b.0);
    points
}

/// Where a curve is drawn: whole users, closer together where there are few, or rates.
fn curve_loads(fit: &Fit, greatest: f64) -> Vec<f64> {
    let least = fit.range().0;
    let share = |at: u32| f64::from(at) / f64::from(POINTS);
    match fit.by {
        By::Connections => {
            let growth = greatest / least;
            let load = |at| (least * growth.powf(share(at))).round().max(1.0);
            let mut loads: Vec<f64> = (0..=POINTS).map(load).collect();
            loads.dedup();
            loads
        }
        By::Rate => (0..=POINTS).map(|at| least + (greatest - least) * share(at)).collect(),
    }
}

/// What was measured, load by load.
fn levels(observations: &[Observation]) -> Vec<(f64, Vec<Observation>)> {
    let levels = observations.chunk_by(|a, b| a.load == b.load);
    levels.map(|level| (level[0].load, level.to_vec())).collect()
}

/// A parameter with its unit and interval.
fn parameter(kind: Kind, name: &str, value: &Estimate) -> String {
    let shown = |value: f64| match name {
        "service" | "delay" => seconds(value),
        "capacity" | "single" => format!("{}/s", number(value)),
        "contention" | "coherency" => format!("{value:.3e}"),
        "peak" => users(value),
        _ => number(value),
    };
    // Where workers cannot be told, the service time of one of them cannot either.
    debug_assert!(kind != Kind::Usl || name != "workers");
    match value.interval {
        Some((low, high)) if name == "workers" && low == high => format!("{name} {}", shown(low)),
        Some((low, high)) if name == "workers" => {
            format!("{name} {} ({} to {})", shown(value.value), shown(low), shown(high))
        }
        _ => format!("{name} {}", ranged(value, shown)),
    }
}

fn ranged(value: &Estimate, shown: impl Fn(f64) -> String) -> String {
    match value.interval {
        Some((low, high)) => format!("{} ({} to {})", shown(value.value), shown(low), shown(high)),
        None => shown(value.value),
    }
}

fn seconds(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "no end".to_owned();
    }
    duration(Nanos((seconds * 1e9).round().max(0.0) as u64))
}

const fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Closed => "closed network (mean value analysis)",
        Kind::Mmc => "M/M/c",
        Kind::Mgc => "M/G/c (Allen-Cunneen)",
        Kind::Usl => "Universal Scalability Law",
    }
}

const fn unit(by: By) -> &'static str {
    match by {
        By::Connections => "users",
        By::Rate => "rate/s",
    }
}

const fn by_name(by: By) -> &'static str {
    match by {
        By::Connections => "users",
        By::Rate => "rate",
    }
}

/// `1 user`, `12.5 users`.
fn users(count: f64) -> String {
    format!("{} {}", number(count), if count == 1.0 { "user" } else { "users" })
}

fn loaded(by: By, load: f64) -> String {
    match by {
        By::Connections => users(load),
        By::Rate => format!("{}/s", number(load)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use study::queueing::{Closed, Mmc};
    use study::scaling::fit;

    use super::*;

    fn sweep(users: &[f64]) -> Sweep {
        let closed = Closed { server: Mmc { workers: 6, service_s: 0.06 }, delay_s: 0.02 };
        let at = |users: &f64| Observation {
            load: *users,
            throughput_per_s: closed.throughput_per_s(*users),
            mean_s: closed.cycle_s(*users),
            p50_s: Some(0.9 * closed.cycle_s(*users)),
            p99_s: None,
        };
        Sweep { by: By::Connections, observations: users.iter().map(at).collect() }
    }

    fn with(sweep: &Sweep, check: impl Fn(&FitInput<'_>)) {
        let found = fit(sweep, None, 1);
        let notes = ["a <note>\u{1b}".to_owned()];
        check(&FitInput { sweep, found: &found, at: &[10.0, 128.0], notes: &notes });
    }

    #[test]
    fn a_fit_in_words() {
        with(&sweep(&[1.0, 2.0, 4.0, 6.0, 8.0, 16.0, 48.0]), |input| {
            let text = fit_text(input);
            let row = |begin: &str| text.lines().find(|line| line.trim_start().starts_with(begin));
            assert!(row("128 ").unwrap().ends_with("extrapolated"), "{text}");
            assert!(row("10 ").unwrap().ends_with("between"), "{text}");
            assert!(
                text.contains("Model    closed network (mean value analysis): workers 6, "),
                "{text}"
            );
            assert!(text.contains("with 7 in place of 6: capacity 100/s to 116.7/s"), "{text}");
            assert!(text.contains("Knee     8 users") && text.contains("Others   usl"), "{text}");
            assert!(!text.contains('\u{1b}'), "{text}");
        });
    }

    #[test]
    fn a_fit_as_json() {
        with(&sweep(&[1.0, 2.0, 4.0, 6.0, 8.0, 16.0, 48.0]), |input| {
            let value: Value = serde_json::from_str(&fit_json(input)).unwrap();
            assert_eq!((&value["model"], &value["refused"]), (&"closed".into(), &Value::Null));
            assert_eq!(value["parameters"]["workers"]["value"], 6);
            let last = value["predictions"].as_array().unwrap().last().unwrap().clone();
            assert_eq!((&last["load"], &last["extrapolated"]), (&128.into(), &true.into()));
            assert!((last["mean"]["value"].as_f64().unwrap() - 1.28).abs() < 0.01, "{last}");
            assert!((last["p50"].as_f64().unwrap() - 0.9 * 1.28).abs() < 0.02, "{last}");
            assert_eq!(last["p99"], Value::Null);
            assert_eq!(value["one_more_worker"]["workers"], 6);
        });
    }

    #[test]
    fn a_refusal_has_its_reason() {
        with(&sweep(&[4.0]), |input| {
            let text = fit_text(input);
            assert!(text.contains("Refused  1 different load is too few: 2 are needed"), "{text}");
            let value: Value = serde_json::from_str(&fit_json(input)).unwrap();
            assert_eq!(value["model"], Value::Null);
            assert_eq!(value["measured"].as_array().unwrap().len(), 1);
            assert_eq!(fit_figure(input).title, "No model fits");
        });
        let poor = Refusal::Poor {
            kind: Kind::Usl,
            error: 0.4,
            load: 8.0,
            measured: 3.0,
            predicted: 60.0,
        };
        let words = refused(By::Connections, &poor);
        assert!(
            words.contains("off by 40% typically")
                && words.contains("most at 8 users: 3/s measured, 60/s"),
            "{words}"
        );
        let little = refused(By::Connections, &Refusal::Little { load: 4.0, in_flight: 100.0 });
        assert!(little.contains("100 requests were under way at 4 users"), "{little}");
        let close = refused(By::Rate, &Refusal::TooClose { least: 10.0, greatest: 11.0 });
        assert!(close.contains("from 10 to 11"), "{close}");
    }

    #[test]
    fn measured_and_predicted_share_a_figure() {
        with(&sweep(&[1.0, 2.0, 4.0, 8.0, 16.0]), |input| {
            let figure = fit_figure(input);
            let labels: Vec<&str> = figure.series.iter().map(|one| one.label.as_str()).collect();
            assert_eq!(labels.len(), 4);
            assert_eq!((labels[0], labels[2]), ("mean, predicted (ms)", "mean, measured (ms)"));
            let drawn = figure.series[2].points.iter().filter(|point| point.1.is_finite());
            assert_eq!(drawn.count(), 10, "a stroke each");
            let last = figure.series[0].points.last().unwrap();
            assert!(last.0 == 128.0 && (last.1 - 1280.0).abs() < 30.0, "{last:?}");
            let rising = |one: &Series| one.points.windows(2).all(|pair| pair[0].0 < pair[1].0);
            assert!(figure.series.iter().all(rising), "{figure:?}");
            assert!(figure.svg(crate::Size::default()).contains("Users"));
        });
    }
}
