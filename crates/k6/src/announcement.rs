//! What is about to be run, in k6's words: a line for the test, and one for each scenario.

use stdx::Nanos;
use workload::executor::{ArrivalKind, Executor, Scenario};
use workload::{Segment, SegmentSlice};

use script::Options;

/// `scenarios: (33.33%) 2 scenarios, …` and the scenarios, the earliest first; `script` and others stand above it.
pub(super) fn text(execution: &str, path: &str, outputs: &str, options: &Options) -> String {
    let reservation = options.reservation();
    let count = options.scenarios.len();
    let mut text = format!(
        "\n     execution: {execution}\n        script: {path}\n        output: {outputs}\n\n     \
         scenarios: ({:.2}%) {count} scenario{}, {} max VUs, {} max duration (incl. graceful stop):\n",
        options.segment.vus().share() * 100.0,
        if count == 1 { "" } else { "s" },
        reservation.vus,
        to_tenths(reservation.end),
    );
    let mut scenarios: Vec<&Scenario> = options.scenarios.iter().collect();
    scenarios.sort_by_key(|scenario| scenario.start);
    for scenario in scenarios {
        let words = words(scenario, &options.segment);
        text.push_str(&format!("              * {}: {words}\n", scenario.name));
    }
    text + "\n"
}

/// To a tenth of a second.
fn to_tenths(time: Nanos) -> Nanos {
    const TENTH: u64 = 100_000_000;
    Nanos(time.0.saturating_add(TENTH / 2) / TENTH * TENTH)
}

/// What a scenario does in this segment of the test.
fn words(scenario: &Scenario, segment: &Segment) -> String {
    let own = segment.vus();
    let (load, facts) = load(&scenario.executor, segment, own);
    if let Executor::ExternallyControlled { .. } = scenario.executor {
        return load;
    }
    let time = |name: &str, time: Nanos| (time > Nanos::ZERO).then(|| format!("{name}: {time}"));
    let exec = (scenario.exec != "default").then(|| format!("exec: {}", scenario.exec));
    let base =
        [exec, time("startTime", scenario.start), time("gracefulStop", scenario.graceful_stop)];
    let facts: Vec<String> = facts.into_iter().chain(base.into_iter().flatten()).collect();
    if facts.is_empty() { load } else { format!("{load} ({})", facts.join(", ")) }
}

/// The load, and what stands first between the brackets.
fn load(executor: &Executor, segment: &Segment, own: &SegmentSlice) -> (String, Option<String>) {
    let limit = |time: &Nanos| Some(format!("maxDuration: {time}"));
    match executor {
        Executor::SharedIterations { vus, iterations, max_duration } => {
            let iterations = segment.shared_by(*vus).count(*iterations);
            let text = format!("{iterations} iterations shared among {} VUs", own.count(*vus));
            (text, limit(max_duration))
        }
        Executor::PerVuIterations { vus, iterations, max_duration } => {
            let text = format!("{iterations} iterations for each of {} VUs", own.count(*vus));
            (text, limit(max_duration))
        }
        Executor::ConstantVus { vus, duration } => {
            (format!("{} looping VUs for {duration}", own.count(*vus)), None)
        }
        Executor::RampingVus { stages, graceful_ramp_down, .. } => {
            let (vus, duration) = (own.count(executor.vus_max()), executor.duration());
            let text =
                format!("Up to {vus} looping VUs for {duration} over {} stages", stages.len());
            let held = *graceful_ramp_down > Nanos::ZERO;
            (text, held.then(|| format!("gracefulRampDown: {graceful_ramp_down}")))
        }
        Executor::ArrivalRate { kind, start_per_s, stages, vus, vus_max } => {
            let duration = executor.duration();
            let most = stages.iter().map(|stage| stage.1).fold(*start_per_s, f64::max);
            let text = match kind {
                ArrivalKind::Constant => {
                    let rate = most * segment.shared_by(*vus_max).share();
                    format!("{rate:.2} iterations/s for {duration}")
                }
                ArrivalKind::Ramping => {
                    let rate = most * own.share();
                    let stages = stages.len();
                    format!("Up to {rate:.2} iterations/s for {duration} over {stages} stages")
                }
            };
            let (vus, most) = (own.count(*vus), own.count(*vus_max));
            let range = if most > vus { format!("{vus}-{most}") } else { vus.to_string() };
            (text, Some(format!("maxVUs: {range}")))
        }
        // The part of a segment is seen in the test's own line alone.
        Executor::ExternallyControlled { vus, vus_max, duration } => {
            let time = if *duration == Nanos::MAX {
                "infinite duration".to_owned()
            } else {
                format!("{duration} duration")
            };
            let text = format!(
                "Externally controlled execution with {vus} VUs, {vus_max} max VUs, {time}"
            );
            (text, None)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// What k6 1.4.0 prints and computes (`inspect --execution-requirements`) for all executors, alone and together, in segments.
    const RECORDED: &str = include_str!("announcement/recorded.json");

    #[test]
    fn tests_and_their_segments_are_announced_as_by_k6() {
        let cases: Vec<Value> = serde_json::from_str(RECORDED).unwrap();
        assert_eq!(cases.len(), 96);
        for case in &cases {
            let Value::Object(given) = case["options"].clone() else { panic!("{case}") };
            let options = Options::of(given).unwrap();
            let reservation = options.reservation();
            assert_eq!(reservation.end.to_string(), case["totalDuration"], "{case}");
            assert_eq!(reservation.vus, case["maxVUs"], "{case}");
            let text = text("local", "x.js", "-", &options);
            let shown = |line: &&str| line.contains("scenarios:") || line.starts_with('*');
            let lines: Vec<&str> = text.lines().map(str::trim).filter(shown).collect();
            assert_eq!(Value::from(lines), case["lines"], "{case}");
        }
    }
}
