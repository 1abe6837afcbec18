//! A fit, or its refusal, as one line of JSON.

use study::scaling::{Estimate, Fit, Gain, Observation, Prediction};

use super::input::FitInput;
use super::words::{by_name, levels, refused};
use crate::escape;
use crate::number::go_json;
use crate::object::{Object, json_list};

/// The whole as one line of JSON. A key is never renamed: docs/reference/fit-json.md.
#[must_use]
pub fn json(input: &FitInput<'_>) -> String {
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
                object.put(name, parameter_json(fit, name, value))
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
                .put("next_load", optional(fit.lower_bound().map(|bound| bound.next_load)))
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
    let form = if one.is_determined { Form::Whole } else { Form::IntervalAlone };
    Object::new()
        .float("load", one.load)
        .put("extrapolated", if one.is_extrapolated { "true" } else { "false" })
        .put("throughput", estimate_json(&one.throughput_per_s, form))
        .put("mean", estimate_json(&one.mean_s, form))
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

/// What the measurements determine of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Whole,
    IntervalAlone,
}

/// A parameter; far below the knee without a value, and of the capacity no more than what it is at least.
fn parameter_json(fit: &Fit, name: &str, value: &Estimate) -> String {
    match fit.lower_bound() {
        None => estimate_json(value, Form::Whole),
        Some(bound) if name == "capacity" => Object::new()
            .put("value", "null")
            .float("low", bound.capacity_per_s)
            .put("high", "null")
            .end(),
        Some(_) => estimate_json(value, Form::IntervalAlone),
    }
}

fn estimate_json(one: &Estimate, form: Form) -> String {
    let bound = |of: fn((f64, f64)) -> f64| optional(one.interval.map(of));
    Object::new()
        .put("value", optional((form == Form::Whole).then_some(one.value)))
        .put("low", bound(|both| both.0))
        .put("high", bound(|both| both.1))
        .end()
}

/// A number; `null` where it is absent or not finite.
fn optional(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or("null".to_owned(), go_json)
}
