//! Measured and predicted throughput and mean time over load, as one figure.

use study::scaling::{Fit, Observation};
use study::seek::By;

use super::input::FitInput;
use super::words::{findings, levels, refused, title};
use crate::figure::{Axis, Colour, Figure, Scale, Series, Style};

/// From a measurement to the end of its stroke, as a factor of the load.
const STROKE: f64 = 1.04;
/// Points of a predicted curve.
const POINTS: u32 = 160;

/// Measured and predicted throughput and mean time over load, in one figure; without a fit, what was measured.
#[must_use]
pub fn figure(input: &FitInput<'_>) -> Figure {
    let observed = match input.found {
        Ok(fit) => &fit.observations,
        Err(_) => &input.sweep.observations,
    };
    let loads = observed.iter().map(|one| one.load).chain(input.at.iter().copied());
    let greatest = loads.fold(1.0, f64::max);
    let mut series = Vec::new();
    if let Ok(fit) = input.found {
        let curve = |of: &dyn Fn(f64) -> f64| -> Vec<(f64, f64)> {
            let loads = curve_loads(fit, greatest).into_iter();
            // Beyond loads that are all far below the knee no curve is known.
            let known = loads.filter(|load| fit.lower_bound().is_none() || *load <= fit.range().1);
            known.map(|load| (load, of(load))).collect()
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
        Ok(fit) => (title(fit.kind), findings(fit)),
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

/// The mean at each load as a short stroke, which distinguishes measurements from curves; repeats are averaged. A page's chart
/// connects points across another line's point, so there is a gap at each of those, `beside`.
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
