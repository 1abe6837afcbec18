//! `canonical`: the one name of a metric, such as `latency.p50`, for every name that a command line may give it. It knows
//! names alone: whether a run has the metric is its caller's to say.
//!
//! ```text
//! metric    = [family "."] statistic | other
//! family    = "latency" (also "response") | "service" | "rtt" | "ready" | "fan_out" | "server"
//! statistic = "min" | "mean" | "max" ("longest") | "pNN.N" | "median" | "NNth"
//! other     = "throughput" | "rate" | "errors" | "duration" | … : as it is
//! ```
//!
//! A statistic without a family is of the response time.

use std::borrow::Cow;

/// What times a statistic may be of.
const FAMILIES: [&str; 6] = ["latency", "service", "rtt", "ready", "fan_out", "server"];
/// The family of a statistic without one.
const LATENCY: &str = "latency";
/// Other names of families and statistics: of the reports' words, of other tools, of older versions.
const ALIASES: [(&str, &str); 7] = [
    ("response", LATENCY),
    ("median", "p50"),
    ("longest", "max"),
    ("50th", "p50"),
    ("90th", "p90"),
    ("95th", "p95"),
    ("99th", "p99"),
];

/// The name of a metric in every command: `latency.p50` for `p50`, `median`, `response.p50`. A name that is no statistic of
/// times is given back as it is.
#[must_use]
pub fn canonical(name: &str) -> Cow<'_, str> {
    let (family, statistic) = match name.split_once('.') {
        Some((family, rest)) if FAMILIES.contains(&unaliased(family)) => (Some(family), rest),
        _ => (None, name),
    };
    let statistic = unaliased(statistic);
    if !is_statistic(statistic) {
        return Cow::Borrowed(name);
    }
    let family = unaliased(family.unwrap_or(LATENCY));
    Cow::Owned(format!("{family}.{}", without_zeros(statistic)))
}

/// The statistic of the response time that a name stands for: `p50` for `latency.p50` and `median`. Any other name is given
/// back as it is.
#[must_use]
pub fn of_latency(name: &str) -> Cow<'_, str> {
    let full = canonical(name);
    match full.strip_prefix(LATENCY).and_then(|rest| rest.strip_prefix('.')) {
        Some(statistic) if is_statistic(statistic) => Cow::Owned(statistic.to_owned()),
        _ => full,
    }
}

fn unaliased(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, of)| of)
}

fn is_statistic(name: &str) -> bool {
    matches!(name, "min" | "mean" | "max") || percentile_digits(name).is_some()
}

/// The digits of `pNN.N`, whatever their value: its range is checked where it is used.
fn percentile_digits(name: &str) -> Option<&str> {
    let digits = name.strip_prefix('p')?;
    let is_decimal = digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.matches('.').count() <= 1;
    is_decimal.then_some(digits)
}

/// `p99.90` as `p99.9`: one percentile has one name.
fn without_zeros(statistic: &str) -> &str {
    match percentile_digits(statistic) {
        Some(digits) if digits.contains('.') => {
            statistic.trim_end_matches('0').trim_end_matches('.')
        }
        _ => statistic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alias_stands_for_one_name() {
        let cases = [
            (
                "latency.p50",
                &["p50", "median", "50th", "response.p50", "latency.median", "p50.0"][..],
            ),
            ("latency.p99", &["p99", "99th", "response.99th", "p99.", "p99.00"]),
            ("latency.p99.9", &["p99.9", "p99.90", "response.p99.9"]),
            ("latency.max", &["max", "longest", "response.longest"]),
            ("latency.mean", &["mean", "response.mean"]),
            ("service.p90", &["service.p90", "service.90th"]),
            ("rtt.p50", &["rtt.p50", "rtt.median"]),
            ("server.mean", &["server.mean"]),
        ];
        for (name, aliases) in cases {
            assert_eq!(canonical(name), name);
            for alias in aliases {
                assert_eq!(canonical(alias), name, "{alias}");
            }
        }
    }

    #[test]
    fn other_names_stay_as_they_are() {
        let names = ["rate", "throughput", "errors", "server.cpu", "p", "pNaN", "p1e3", "p1.2.3"];
        for name in names.into_iter().chain(["latency.speed", "latency", "", ".", "x.p50"]) {
            assert_eq!(canonical(name), name);
            assert_eq!(of_latency(name), name);
        }
    }

    #[test]
    fn statistics_of_the_latency_have_a_short_name() {
        for (name, short) in
            [("latency.p99.9", "p99.9"), ("median", "p50"), ("max", "max"), ("rtt.p50", "rtt.p50")]
        {
            assert_eq!(of_latency(name), short, "{name}");
        }
    }
}
