//! The sentences and units that the text, the JSON and the figure of a fit share.

use stdx::{Nanos, are};
use study::scaling::{Estimate, Fit, Gain, Kind, LowerBound, Observation, Prediction, Refusal};
use study::seek::By;

use crate::number::{counted, duration, number};

/// The model with its parameters.
pub(super) fn model_words(fit: &Fit) -> String {
    if let Some(bound) = fit.lower_bound() {
        return format!(
            "{}, whose parameters these loads do not determine: {}",
            title(fit.kind),
            bound_words(fit.by, &bound)
        );
    }
    let parameters = fit.parameters.iter().map(|(name, value)| parameter(fit.kind, name, value));
    format!("{}: {}", title(fit.kind), parameters.collect::<Vec<_>>().join(", "))
}

/// `capacity at least 45/s; a measurement at 90/s would tell more`.
fn bound_words(by: By, bound: &LowerBound) -> String {
    format!(
        "capacity at least {}/s, which is all that was measured; a measurement at {} would tell more",
        number(bound.capacity_per_s),
        loaded(by, bound.next_load)
    )
}

/// The findings of a fit, each with its name: model, error, knee and what else follows from it.
pub(super) fn findings(fit: &Fit) -> Vec<(&'static str, String)> {
    let error = fit.error * 100.0;
    let mut lines = vec![
        ("Model", model_words(fit)),
        ("Error", format!("{error:.1}% typically between measured and predicted")),
    ];
    if fit.by == By::Connections {
        let knee = knee(fit).filter(|_| fit.lower_bound().is_none());
        lines.extend(knee.map(|text| ("Knee", text)));
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

/// The number of users above which more of them only queue: the capacity times the time of a lone user's cycle.
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
pub(super) fn refused(by: By, refusal: &Refusal) -> String {
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

/// What was measured, load by load.
pub(super) fn levels(observations: &[Observation]) -> Vec<(f64, Vec<Observation>)> {
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
    // Where the number of workers is unknown, so is the service time of one of them.
    debug_assert!(kind != Kind::Usl || name != "workers");
    match value.interval {
        Some((low, high)) if name == "workers" && low == high => format!("{name} {}", shown(low)),
        Some((low, high)) if name == "workers" => {
            format!("{name} {} ({} to {})", shown(value.value), shown(low), shown(high))
        }
        _ => format!("{name} {}", ranged(value, shown)),
    }
}

pub(super) fn ranged(value: &Estimate, shown: impl Fn(f64) -> String) -> String {
    match value.interval {
        Some((low, high)) => format!("{} ({} to {})", shown(value.value), shown(low), shown(high)),
        None => shown(value.value),
    }
}

/// What is predicted: where the value is not determined, its interval alone.
pub(super) fn predicted_words(
    predicted: &Prediction,
    value: &Estimate,
    shown: impl Fn(f64) -> String,
) -> String {
    match (predicted.is_determined, value.interval) {
        (true, _) => ranged(value, shown),
        (false, Some((low, high))) => format!("{} to {}", shown(low), shown(high)),
        (false, None) => String::new(),
    }
}

pub(super) fn seconds(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "no end".to_owned();
    }
    duration(Nanos((seconds * 1e9).round().max(0.0) as u64))
}

pub(super) const fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Closed => "closed network (mean value analysis)",
        Kind::Mmc => "M/M/c",
        Kind::Mgc => "M/G/c (Allen-Cunneen)",
        Kind::Usl => "Universal Scalability Law",
    }
}

pub(super) const fn unit(by: By) -> &'static str {
    match by {
        By::Connections => "users",
        By::Rate => "rate/s",
    }
}

pub(super) const fn by_name(by: By) -> &'static str {
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
