//! A comparison as one line of JSON. A key is never renamed: docs/reference/compare-json.md.

use study::contrast::{
    Change, Distance, Doubt, LimitVerdict, Measure, QuantileShift, Scale, Unequal, What,
};

use super::{Apart, Contrasts, Row, Variant, VariantRun};
use crate::number::go_json;
use crate::object::{Object, json_list};
use crate::{conclusion, escape};

impl Contrasts {
    /// As one line of JSON; times in nanoseconds, changes and shares as fractions.
    #[must_use]
    pub fn json(&self) -> String {
        let cautions = self.cautions();
        Object::new()
            .put("conclusion", conclusion::json_sentences(&self.conclusion()))
            .put("variants", json_list(self.variants.iter().map(variant)))
            .put("metrics", self.metrics_json())
            .put("comparisons", self.comparisons_json())
            .text("primary", self.rules.primary.map_or("", Measure::name))
            .float("min_effect", self.rules.effect_min)
            .float("min_errors", self.rules.errors_min)
            .number("seed", self.rules.seed)
            .put("cautions", json_list(cautions.iter().map(|caution| escape::json(caution))))
            .end()
            + "\n"
    }

    /// Only `metrics`.
    pub(crate) fn metrics_json(&self) -> String {
        let first = self.variants.first().map_or("", |first| &first.label);
        json_list(self.rows.iter().flat_map(|row| {
            row.found.changes.iter().map(move |change| metric(change, &row.label, first))
        }))
    }

    /// Only `comparisons`.
    pub(crate) fn comparisons_json(&self) -> String {
        let first = self.variants.first().map_or("", |first| &first.label);
        json_list(self.rows.iter().map(|row| comparison(row, first)))
    }
}

/// One measure's change.
fn metric(change: &Change, label: &str, against: &str) -> String {
    let bound = |of: fn((f64, f64)) -> f64| optional(change.interval.map(of));
    let scale = match change.measure.scale() {
        Scale::Ratio => "ratio",
        Scale::Difference => "difference",
    };
    Object::new()
        .text("name", change.measure.name())
        .text("label", label)
        .text("against", against)
        .text("verdict", change.finding.name())
        .float("change", change.change)
        .put("low", bound(|both| both.0))
        .put("high", bound(|both| both.1))
        .text("scale", scale)
        .float("before", change.centres.0)
        .float("after", change.centres.1)
        .put("noise_floor", optional(change.floor))
        .float("p", change.p)
        .float("p_adjusted", change.p_family)
        .put("runs_needed", runs_needed(change.runs_needed))
        .end()
}

fn comparison(row: &Row, against: &str) -> String {
    let found = &row.found;
    let verdicts = row.verdicts.iter().map(|(limit, verdict)| {
        let word = match verdict {
            LimitVerdict::Within => "kept",
            LimitVerdict::Exceeded => "passed",
            LimitVerdict::Unclear => "unclear",
            LimitVerdict::Undecided => "undecided",
        };
        Object::new().text("limit", &limit.to_string()).text("verdict", word).end()
    });
    Object::new()
        .text("label", &row.label)
        .text("against", against)
        .text("unit", "run")
        .number("runs", found.runs.1 as u64)
        .number("runs_against", found.runs.0 as u64)
        .put("like_for_like", if row.is_like_for_like() { "true" } else { "false" })
        .put("unequal", json_list(row.unequal.iter().map(unequal)))
        .put("apart", json_list(row.apart.iter().map(apart)))
        .put("distribution", distance(&found.distance))
        .put("spread", distance(&found.spread))
        .put("shift", json_list(found.shifts.iter().map(shift)))
        .float("p_least", found.p_least)
        .put("runs_needed", runs_needed(row.needed().map(|needed| needed.runs)))
        .put("fail_on", json_list(verdicts))
        .end()
}

fn apart(one: &Apart) -> String {
    Object::new().text("what", one.what).text("text", &one.words).end()
}

fn unequal(one: &Unequal) -> String {
    let Unequal::Figure(what, a, b) = one else {
        return Object::new().text("what", "loop").end();
    };
    let name = match what {
        What::Users => "users",
        What::Rate => "rate",
        What::Begun => "rate_begun",
        What::InFlight => "in_flight",
        What::Connections => "connections",
        What::Workers => "workers",
        What::Processes => "processes",
        What::Seconds => "seconds",
    };
    Object::new().text("what", name).float("against", *a).float("value", *b).end()
}

fn distance(distance: &Distance) -> String {
    Object::new().float("ks_distance", distance.distance).float("p", distance.p).end()
}

fn shift(shift: &QuantileShift) -> String {
    let bound = |of: fn((f64, f64)) -> f64| optional(shift.interval.map(of));
    Object::new()
        .float("percentile", shift.percent)
        .float("before", shift.centres.0)
        .float("after", shift.centres.1)
        .float("change", shift.change)
        .put("low", bound(|both| both.0))
        .put("high", bound(|both| both.1))
        .end()
}

fn variant(variant: &Variant) -> String {
    Object::new()
        .text("label", &variant.label)
        .put("runs", json_list(variant.runs.iter().map(run)))
        .number("left_out", (variant.left_out + variant.empty) as u64)
        .number("without_requests", variant.empty as u64)
        .end()
}

fn run(run: &VariantRun) -> String {
    let (load, times) = (&run.load, &run.figures.times);
    let mean = times.sum() as f64 / times.count().max(1) as f64;
    Object::new()
        .text("name", &run.name)
        .number("requests", times.count())
        .float("mean", mean)
        .number("50th", times.quantile(0.5).0)
        .number("90th", times.quantile(0.9).0)
        .number("99th", times.quantile(0.99).0)
        .float("throughput", run.figures.throughput_per_s)
        .float("errors", run.figures.errors)
        .float("users", load.users)
        .float("rate", load.rate_per_s)
        .float("in_flight", load.in_flight)
        .float("connections", load.connections)
        .float("processes", load.processes)
        .put("invalid", json_list(run.invalid.iter().map(|reason| escape::json(reason))))
        .put("doubts", json_list(run.figures.doubts.iter().map(doubt)))
        .end()
}

fn runs_needed(runs: Option<usize>) -> String {
    runs.map_or("null".to_owned(), |runs| runs.to_string())
}

fn doubt((measure, doubt): &(Measure, Doubt)) -> String {
    let (why, counts) = match doubt {
        Doubt::Invalid => ("invalid", "false"),
        Doubt::InvalidButNeeded => ("invalid", "true"),
        Doubt::Outlier => ("outlier", "false"),
    };
    Object::new().text("name", measure.name()).text("why", why).put("counts", counts).end()
}

fn optional(value: Option<f64>) -> String {
    value.map_or("null".to_owned(), go_json)
}
