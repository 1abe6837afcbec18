//! The report in the text format of OpenMetrics, which GitLab compares between branches (`artifacts:reports:metrics`) and
//! Prometheus's tools read. Times are seconds.
//!
//! Source: OpenMetrics 1.0.0, section 3.2 (text format).

use std::fmt::Write as _;

use metrics::tally::Assertion;
use metrics::{GateState, Histogram};

use crate::Input;

/// The quantiles of times, as the other reports have them.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// The report as a document of OpenMetrics.
#[must_use]
pub fn open_metrics(input: &Input<'_>) -> String {
    let summary = input.summary;
    let mut out = String::new();
    family(&mut out, "brunt_requests", "counter", "", "Requests that ended.");
    value(&mut out, "brunt_requests_total", "", summary.requests as f64);
    family(&mut out, "brunt_failed_requests", "counter", "", "Requests that did not succeed.");
    value(&mut out, "brunt_failed_requests_total", "", summary.failed() as f64);
    family(&mut out, "brunt_responses", "counter", "", "Responses, by status.");
    for (status, count) in summary.status_codes().into_iter().filter(|(status, _)| *status > 0) {
        value(
            &mut out,
            "brunt_responses_total",
            &label("status", &status.to_string()),
            count as f64,
        );
    }
    if let Some(outcomes) = crate::input::other_outcomes(summary) {
        family(&mut out, "brunt_outcomes", "counter", "", "Answers, by outcome.");
        for (outcome, count) in outcomes {
            let label = label("outcome", &outcome.to_string());
            value(&mut out, "brunt_outcomes_total", &label, count as f64);
        }
    }
    family(&mut out, "brunt_answered_per_second", "gauge", "", "Successful requests per second.");
    value(&mut out, "brunt_answered_per_second", "", summary.throughput());
    times(&mut out, "brunt_response_seconds", "From when a request was due.", &summary.response);
    if summary.service.count() > 0 {
        times(&mut out, "brunt_service_seconds", "From when it was sent.", &summary.service);
    }
    family(
        &mut out,
        "brunt_measurement_valid",
        "gauge",
        "",
        "Whether the figures may be believed.",
    );
    value(&mut out, "brunt_measurement_valid", "", f64::from(u8::from(input.verdict.is_valid())));
    gates(&mut out, input.assertions);
    out.push_str("# EOF\n");
    out
}

/// Which gates did not pass.
fn gates(out: &mut String, assertions: &[Assertion]) {
    let all = assertions.iter().filter_map(|one| match one {
        Assertion::Gate(gate) => Some(gate),
        _ => None,
    });
    let mut all = all.peekable();
    if all.peek().is_some() {
        family(out, "brunt_gate_passed", "gauge", "", "Whether a gate passed.");
    }
    for gate in all {
        let passed = matches!(gate.state, GateState::Passed);
        let mut labels = label("gate", &gate.expression);
        if !gate.run.is_empty() {
            labels = format!("{labels},{}", label("run", &gate.run));
        }
        value(out, "brunt_gate_passed", &labels, f64::from(u8::from(passed)));
    }
}

fn times(out: &mut String, name: &str, help: &str, times: &Histogram) {
    family(out, name, "summary", "seconds", help);
    for quantile in QUANTILES {
        let labels = label("quantile", &quantile.to_string());
        value(out, name, &labels, times.quantile(quantile).as_secs_f64());
    }
    value(out, &format!("{name}_sum"), "", times.sum() as f64 / 1e9);
    value(out, &format!("{name}_count"), "", times.count() as f64);
}

/// What stands before the samples of a name.
fn family(out: &mut String, name: &str, kind: &str, unit: &str, help: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "# TYPE {name} {kind}");
    if !unit.is_empty() {
        let _ = writeln!(out, "# UNIT {name} {unit}");
    }
    let _ = writeln!(out, "# HELP {name} {help}");
}

fn value(out: &mut String, name: &str, labels: &str, value: f64) {
    let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    let _ = writeln!(out, "{name}{labels} {value}");
}

/// A label; its value is escaped as the format asks for.
fn label(name: &str, text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{name}=\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use metrics::{Batch, FailureKind, GateOutcome, GateUnit, Sample, Summary, Verdict};
    use stdx::Nanos;

    use super::*;

    fn input<'a>(summary: &'a Summary, verdict: &'a Verdict) -> Input<'a> {
        Input {
            title: "",
            summary,
            verdict,
            generator: None,
            losses: &[],
            groups: None,
            attacked: None,
            by_target: None,
            timeline: None,
            traffic: None,
            buckets: None,
            server: None,
            selected: "",
            parts: &[],
            assertions: &[],
        }
    }

    #[test]
    fn each_name_has_its_type_and_the_document_its_end() {
        let row = |status, failure, ms| Sample {
            outcome: metrics::Outcome::http(status),
            failure,
            done: Nanos::from_millis(ms),
            first_byte: Nanos::from_millis(ms),
            ..Sample::default()
        };
        let samples = vec![
            row(200, FailureKind::None, 10),
            row(200, FailureKind::None, 30),
            row(0, FailureKind::Refused, 1),
        ];
        let mut summary = Summary::new();
        summary.add(&Batch { samples, ..Batch::default() });
        let verdict = Verdict::new(&summary, None, &[]);
        let gate = GateOutcome {
            expression: "p99{name:\"a\"}>1ms".to_owned(),
            run: String::new(),
            value: Some(30e6),
            unit: GateUnit::Time,
            state: GateState::Crossed,
        };
        let assertions = [Assertion::Gate(gate)];
        let input = Input { assertions: &assertions, ..input(&summary, &verdict) };
        let text = open_metrics(&input);
        for line in [
            "# TYPE brunt_requests counter",
            "brunt_requests_total 3",
            "brunt_failed_requests_total 1",
            "brunt_responses_total{status=\"200\"} 2",
            "# UNIT brunt_response_seconds seconds",
            "brunt_response_seconds_count 3",
            "brunt_gate_passed{gate=\"p99{name:\\\"a\\\"}>1ms\"} 0",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}: {text}");
        }
        assert!(text.ends_with("\n# EOF\n"));
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        for sample in samples {
            let (name, number) = sample.rsplit_once(' ').expect("a name and a value");
            let name = name.split('{').next().expect("a name");
            let family = ["_total", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            let declared = |name: &str| text.contains(&format!("# TYPE {name} "));
            assert!(declared(name) || family.is_some_and(declared), "{sample}");
            assert!(number.parse::<f64>().is_ok_and(f64::is_finite), "{sample}");
        }
    }
}
