//! Gates, and a script's thresholds and checks, the agents of a fleet and the events of a run, as native rows: the expression, the metric, the check or the agent in `name`, the rest as JSON in `note`. Unknown keys
//! are skipped and missing ones are empty, so that older and newer files read.

use metrics::tally::{Assertion, Check, Contains, Kind, MetricSummary, ThresholdOutcome};
use metrics::{
    AgentRecord, ClockOffset, Event, EventKind, Gap, GateOutcome, GateState, GateUnit, Provenance,
};
use serde_json::{Value, json};
use stdx::Nanos;

use super::observed::Observed;

/// The kind of a row with the result of a threshold.
pub(crate) const KIND_THRESHOLD: u8 = 5;
/// The kind of a row that says how often a check held.
pub(crate) const KIND_CHECK: u8 = 6;
/// The kind of a row with the result of a gate.
pub(crate) const KIND_GATE: u8 = 7;
/// The kind of a row with the statistics of a script's metric.
pub(crate) const KIND_METRIC: u8 = 8;

/// The kind of a row with what an agent of a fleet did.
pub(crate) const KIND_AGENT: u8 = 9;
/// The kind of a row with what was done to the run.
pub(crate) const KIND_EVENT: u8 = 10;
/// The kind of a row that says how the run was made.
pub(crate) const KIND_PROVENANCE: u8 = 11;

const KINDS: [Kind; 4] = [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend];
const CONTENTS: [Contains; 3] = [Contains::Default, Contains::Time, Contains::Data];

/// The row's columns, and its note.
pub(crate) fn encode(assertion: &Assertion, timestamp: i64) -> (Observed<'_>, String) {
    match assertion {
        Assertion::Threshold { outcome, kind, contains } => {
            let columns = Observed {
                kind: KIND_THRESHOLD,
                timestamp,
                name: &outcome.metric,
                ..Observed::default()
            };
            let note = json!({
                "source": outcome.source,
                "figure": outcome.figure.map(number),
                "holds": outcome.holds,
                "type": kind.name(),
                "contains": contains.name(),
            });
            (columns, note.to_string())
        }
        Assertion::Check(check) => {
            let columns =
                Observed { kind: KIND_CHECK, timestamp, name: &check.name, ..Observed::default() };
            let note =
                json!({ "group": check.group, "passes": check.passes, "fails": check.fails });
            (columns, note.to_string())
        }
        Assertion::Gate(outcome) => {
            let name = &outcome.expression;
            let columns = Observed { kind: KIND_GATE, timestamp, name, ..Observed::default() };
            (columns, gate_note(outcome))
        }
        Assertion::Metric(metric) => {
            let name = &metric.metric;
            let columns = Observed { kind: KIND_METRIC, timestamp, name, ..Observed::default() };
            (columns, metric_note(metric))
        }
        Assertion::Agent(agent) => {
            let name = &agent.name;
            let columns = Observed { kind: KIND_AGENT, timestamp, name, ..Observed::default() };
            (columns, agent_note(agent))
        }
        Assertion::Event(event) => {
            let (name, note) = event_columns(event);
            (Observed { kind: KIND_EVENT, timestamp: event.at, name, ..Observed::default() }, note)
        }
        Assertion::Provenance(provenance) => {
            let name = &provenance.command;
            let columns =
                Observed { kind: KIND_PROVENANCE, timestamp, name, ..Observed::default() };
            (columns, provenance_note(provenance))
        }
    }
}

/// The name and the note of an event.
fn event_columns(event: &Event) -> (&str, String) {
    let what = event.what.name();
    match &event.what {
        EventKind::Mark(text) | EventKind::Ended(text) => {
            (text, json!({ "what": what }).to_string())
        }
        EventKind::Pause | EventKind::Resume => ("", json!({ "what": what }).to_string()),
        EventKind::Rate(rate) => ("", json!({ "what": what, "value": number(*rate) }).to_string()),
        EventKind::Users(users) => ("", json!({ "what": what, "value": users }).to_string()),
    }
}

fn provenance_note(provenance: &Provenance) -> String {
    json!({
        "zone_s": provenance.zone_s,
        "host": provenance.host,
        "cores": provenance.cores,
        "kernel": provenance.kernel,
        "processor": provenance.processor,
        "brunt": provenance.brunt,
        "commit": provenance.commit,
    })
    .to_string()
}

fn provenance(command: &str, note: &Value) -> Provenance {
    let text = |key: &str| note[key].as_str().unwrap_or_default().to_owned();
    let zone_s = note["zone_s"].as_i64().filter(|zone_s| zone_s.abs() <= ZONE_MAX_S).unwrap_or(0);
    Provenance {
        command: command.to_owned(),
        zone_s: i32::try_from(zone_s).unwrap_or(0),
        host: text("host"),
        cores: note["cores"].as_u64().unwrap_or(0),
        kernel: text("kernel"),
        processor: text("processor"),
        brunt: text("brunt"),
        commit: text("commit"),
        run: String::new(),
    }
}

/// No zone is farther from UTC: 26 hours.
const ZONE_MAX_S: i64 = 26 * 3600;

/// The event of such a name and note. One of a newer version is a mark.
fn event(name: &str, note: &Value, at: i64) -> Event {
    let what = match note["what"].as_str().unwrap_or_default() {
        "pause" => EventKind::Pause,
        "resume" => EventKind::Resume,
        "rate" => EventKind::Rate(figure(&note["value"]).unwrap_or(0.0)),
        "users" => EventKind::Users(note["value"].as_u64().unwrap_or(0)),
        "ended" => EventKind::Ended(name.to_owned()),
        "mark" | "" => EventKind::Mark(name.to_owned()),
        other => EventKind::Mark(format!("{other} {name}").trim_end().to_owned()),
    };
    Event { at, what, run: String::new() }
}

/// The note of a gate.
fn gate_note(outcome: &GateOutcome) -> String {
    let (state, gap) = match outcome.state {
        GateState::Passed => ("passed", None),
        GateState::Crossed => ("crossed", None),
        GateState::Undecided(gap) => ("undecided", Some(gap)),
    };
    let (value, unit) = (outcome.value.map(number), outcome.unit.name());
    let reason = gap.map(Gap::name);
    let mut note = json!({ "value": value, "unit": unit, "outcome": state, "reason": reason });
    match gap {
        Some(Gap::Late { on_time }) => note["on_time"] = number(on_time),
        Some(Gap::NotSent { not_sent, planned }) => {
            (note["not_sent"], note["planned"]) = (not_sent.into(), planned.into());
        }
        Some(Gap::NotBegun { iterations }) => note["iterations"] = iterations.into(),
        Some(Gap::FewSuccesses { successes, requests }) => {
            (note["successes"], note["requests"]) = (successes.into(), requests.into());
        }
        Some(Gap::NeverAnswered { users, of }) => {
            (note["users"], note["of"]) = (users.into(), of.into());
        }
        _ => {}
    }
    note.to_string()
}

/// The note of a metric.
fn metric_note(metric: &MetricSummary) -> String {
    let statistics = metric.statistics.iter().map(|(name, value)| json!([name, number(*value)]));
    json!({
        "scenario": metric.scenario,
        "group": metric.group,
        "type": metric.kind.name(),
        "contains": metric.contains.name(),
        "statistics": statistics.collect::<Vec<_>>(),
    })
    .to_string()
}

/// The note of an agent.
fn agent_note(agent: &AgentRecord) -> String {
    json!({
        "number": agent.number,
        "cores": agent.cores,
        "share": agent.share,
        "planned": agent.planned,
        "sent": agent.sent,
        "unknown": agent.unknown,
        "lag_p99": agent.lag_p99.0,
        "cpu_busiest": number(agent.cpu_busiest),
        "offset": agent.clock.map(|clock| clock.offset_ns),
        "offset_bound": agent.clock.map(|clock| clock.bound_ns),
        "pauses": agent.pauses,
        "pause_longest": agent.pause_longest.0,
        "reasons": agent.reasons,
    })
    .to_string()
}

/// The agent of such a note.
fn agent(name: &str, note: &Value) -> AgentRecord {
    let count = |key: &str| note[key].as_u64().unwrap_or(0);
    let clock = note["offset"].as_i64().zip(note["offset_bound"].as_u64());
    let reasons = note["reasons"].as_array().into_iter().flatten();
    AgentRecord {
        number: u16::try_from(count("number")).unwrap_or(0),
        name: name.to_owned(),
        cores: u32::try_from(count("cores")).unwrap_or(u32::MAX),
        share: note["share"].as_str().unwrap_or_default().to_owned(),
        planned: count("planned"),
        sent: count("sent"),
        unknown: count("unknown"),
        lag_p99: Nanos(count("lag_p99")),
        cpu_busiest: figure(&note["cpu_busiest"]).unwrap_or(0.0),
        clock: clock.map(|(offset_ns, bound_ns)| ClockOffset { offset_ns, bound_ns }),
        pauses: u32::try_from(count("pauses")).unwrap_or(u32::MAX),
        pause_longest: Nanos(count("pause_longest")),
        reasons: reasons.filter_map(|reason| reason.as_str().map(str::to_owned)).collect(),
    }
}

/// The metric of such a note. What is no pair of a name and a number is left out.
fn metric(name: &str, note: &Value) -> MetricSummary {
    let text = |key: &str| note[key].as_str().unwrap_or_default();
    let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), figure(&pair[1])?));
    let statistics = note["statistics"].as_array();
    MetricSummary {
        scenario: text("scenario").to_owned(),
        group: text("group").to_owned(),
        metric: name.to_owned(),
        kind: kind_named(text("type")),
        contains: contains_named(text("contains")),
        statistics: statistics.into_iter().flatten().filter_map(pair).collect(),
        run: String::new(),
    }
}

/// The type of this name; a trend for an unknown one.
fn kind_named(name: &str) -> Kind {
    KINDS.into_iter().find(|known| known.name() == name).unwrap_or(Kind::Trend)
}

/// What a metric's values are, by this name; numbers for an unknown one.
fn contains_named(name: &str) -> Contains {
    CONTENTS.into_iter().find(|known| known.name() == name).unwrap_or(Contains::Default)
}

/// The gate of such a note. Only what says that it passed has passed.
fn gate(expression: &str, note: &Value) -> GateOutcome {
    let unit = note["unit"].as_str().unwrap_or_default();
    GateOutcome {
        expression: expression.to_owned(),
        value: figure(&note["value"]),
        unit: GateUnit::ALL
            .into_iter()
            .find(|known| known.name() == unit)
            .unwrap_or(GateUnit::Count),
        state: match note["outcome"].as_str() {
            Some("passed") => GateState::Passed,
            Some("crossed") => GateState::Crossed,
            _ => GateState::Undecided(gap(note)),
        },
        run: String::new(),
    }
}

/// Why a gate is undecided.
fn gap(note: &Value) -> Gap {
    let count = |key: &str| note[key].as_u64().unwrap_or(0);
    match Gap::named(note["reason"].as_str().unwrap_or_default()) {
        Some(Gap::Late { .. }) => Gap::Late { on_time: figure(&note["on_time"]).unwrap_or(0.0) },
        Some(Gap::NotSent { .. }) => {
            Gap::NotSent { not_sent: count("not_sent"), planned: count("planned") }
        }
        Some(Gap::FewSuccesses { .. }) => {
            Gap::FewSuccesses { successes: count("successes"), requests: count("requests") }
        }
        Some(Gap::NotBegun { .. }) => Gap::NotBegun { iterations: count("iterations") },
        Some(Gap::NeverAnswered { .. }) => {
            Gap::NeverAnswered { users: count("users"), of: count("of") }
        }
        known => known.unwrap_or(Gap::Unknown),
    }
}

/// A number, or the text that stands for one.
fn figure(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// JSON has no infinities and no NaN: they are written as text.
fn number(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(value.to_string()) }
}

/// The gate, threshold, check, event or provenance of such a row, which is of this Unix time (ns).
///
/// # Errors
/// The note is no JSON object; the reason.
pub(crate) fn decode(kind: u8, name: &str, note: &str, at: i64) -> Result<Assertion, String> {
    let note: Value = serde_json::from_str(note).map_err(|error| error.to_string())?;
    if !note.is_object() {
        return Err("a gate, threshold or check that is no object".to_owned());
    }
    if kind == KIND_METRIC {
        return Ok(Assertion::Metric(metric(name, &note)));
    }
    if kind == KIND_AGENT {
        return Ok(Assertion::Agent(Box::new(agent(name, &note))));
    }
    if kind == KIND_EVENT {
        return Ok(Assertion::Event(event(name, &note, at)));
    }
    if kind == KIND_PROVENANCE {
        return Ok(Assertion::Provenance(Box::new(provenance(name, &note))));
    }
    if kind == KIND_GATE {
        return Ok(Assertion::Gate(gate(name, &note)));
    }
    let text = |key: &str| note[key].as_str().unwrap_or_default().to_owned();
    if kind == KIND_CHECK {
        let count = |key: &str| note[key].as_u64().unwrap_or(0);
        let (group, passes, fails) = (text("group"), count("passes"), count("fails"));
        return Ok(Assertion::Check(Check { group, name: name.to_owned(), passes, fails }));
    }
    let figure = figure(&note["figure"]);
    let (source, holds) = (text("source"), note["holds"] == true);
    let (kind, contains) = (text("type"), text("contains"));
    Ok(Assertion::Threshold {
        outcome: ThresholdOutcome {
            metric: name.to_owned(),
            source,
            figure,
            holds,
            run: String::new(),
        },
        kind: kind_named(&kind),
        contains: contains_named(&contains),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(figure: Option<f64>, holds: bool) -> Assertion {
        let (metric, source) = ("http_req_duration{name:\"a\"}".to_owned(), "p(95)<200".to_owned());
        Assertion::Threshold {
            outcome: ThresholdOutcome { metric, source, figure, holds, run: String::new() },
            kind: Kind::Trend,
            contains: Contains::Time,
        }
    }

    fn metric_result() -> Assertion {
        Assertion::Metric(MetricSummary {
            scenario: "buyers".to_owned(),
            group: "::cart".to_owned(),
            metric: "wait{page:a}".to_owned(),
            kind: Kind::Trend,
            contains: Contains::Time,
            statistics: vec![("avg".to_owned(), 1.5), ("p(95)".to_owned(), f64::INFINITY)],
            run: String::new(),
        })
    }

    fn gate_result(value: Option<f64>, state: GateState) -> Assertion {
        let (expression, unit) = ("p99{name:a}>300ms".to_owned(), GateUnit::Time);
        Assertion::Gate(GateOutcome { expression, value, unit, state, run: String::new() })
    }

    fn event_of(what: EventKind) -> Assertion {
        Assertion::Event(Event { at: 7, what, run: String::new() })
    }

    #[test]
    fn leads_back() {
        let check = Check {
            group: "::outer::inner".to_owned(),
            name: "status \"200\"\n".to_owned(),
            passes: u64::MAX,
            fails: 3,
        };
        for assertion in [
            threshold(Some(312.25), false),
            threshold(Some(f64::INFINITY), true),
            threshold(None, false),
            Assertion::Check(check),
            metric_result(),
            gate_result(Some(3e8), GateState::Crossed),
            gate_result(Some(0.0), GateState::Passed),
            gate_result(None, GateState::Undecided(Gap::NoRequest)),
            gate_result(Some(3e8), GateState::Undecided(Gap::Late { on_time: 2.5e8 })),
            gate_result(
                Some(3e8),
                GateState::Undecided(Gap::NotSent { not_sent: 1301, planned: 2000 }),
            ),
            gate_result(
                Some(2e6),
                GateState::Undecided(Gap::FewSuccesses { successes: 3, requests: 40 }),
            ),
            gate_result(None, GateState::Undecided(Gap::NotBegun { iterations: 966 })),
            gate_result(None, GateState::Undecided(Gap::NeverAnswered { users: 15, of: 20 })),
            event_of(EventKind::Mark("deploy \"7\"\n".to_owned())),
            event_of(EventKind::Pause),
            event_of(EventKind::Resume),
            event_of(EventKind::Rate(0.5)),
            event_of(EventKind::Users(u64::MAX)),
            event_of(EventKind::Ended("gate max>1s is surely crossed".to_owned())),
        ] {
            let (columns, note) = encode(&assertion, 7);
            assert_eq!(columns.timestamp, 7);
            assert_eq!(decode(columns.kind, columns.name, &note, 7), Ok(assertion), "{note}");
        }
    }

    #[test]
    fn tolerates_what_is_missing_and_refuses_what_is_wrong() {
        for kind in [KIND_THRESHOLD, KIND_CHECK, KIND_GATE, KIND_METRIC, KIND_AGENT, KIND_EVENT] {
            assert!(decode(kind, "x", "{\"later\":[1]}", 7).is_ok(), "{kind}");
            for note in ["", "[]", "7", "{"] {
                assert!(decode(kind, "x", note, 7).is_err(), "{kind} {note}");
            }
        }
        let unknown = decode(KIND_THRESHOLD, "x", "{\"source\":\"rate>1\"}", 7).unwrap();
        assert!(!unknown.holds(), "a threshold that says nothing does not hold");
        let unknown =
            decode(KIND_GATE, "x", "{\"outcome\":\"later\",\"reason\":\"later\"}", 7).unwrap();
        assert!(!unknown.holds(), "a gate that says nothing is undecided");
    }
}
