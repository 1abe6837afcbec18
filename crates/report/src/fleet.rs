//! The agents of a fleet, for every report: what each sent, how late it was, how its clock differs, and whether its figures may be
//! believed.

use metrics::AgentRecord;
use metrics::tally::Assertion;

use crate::columns::Columns;
use crate::escape;
use crate::number::{duration, grouped};
use crate::object::{Object, json_list};

/// The heads of the table.
pub(crate) const AGENT_HEADS: [&str; 9] =
    ["Agent", "cores", "share", "planned", "sent", "lag p99", "CPU", "clock", "verdict"];

/// A row for each agent.
pub(crate) fn agent_rows(all: &[Assertion]) -> Vec<Vec<String>> {
    let row = |agent: &AgentRecord| {
        vec![
            agent.name.clone(),
            agent.cores.to_string(),
            agent.share.clone(),
            grouped(agent.planned),
            grouped(agent.sent),
            duration(agent.lag_p99),
            format!("{:.1}%", agent.cpu_busiest * 100.0),
            clock(agent),
            verdict(agent).to_owned(),
        ]
    };
    Assertion::agents(all).map(row).collect()
}

/// How far its clock is ahead, and the largest error of that.
fn clock(agent: &AgentRecord) -> String {
    let Some(clock) = agent.clock else { return "not compared".to_owned() };
    let (sign, size) = match clock.offset_ns {
        ..0 => ("-", clock.offset_ns.unsigned_abs()),
        _ => ("+", clock.offset_ns.unsigned_abs()),
    };
    let time = |ns: u64| stdx::Nanos(ns).rounded();
    format!("{sign}{} ± {}", time(size), time(clock.bound_ns))
}

fn verdict(agent: &AgentRecord) -> &'static str {
    if agent.is_valid() { "VALID" } else { "INVALID" }
}

/// As a table of text after an empty line; nothing without a fleet.
pub(crate) fn text(all: &[Assertion]) -> String {
    let rows = agent_rows(all);
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Columns::default();
    table.row(AGENT_HEADS.map(str::to_owned));
    rows.into_iter().for_each(|row| {
        table.add(row.iter().map(|cell| escape::terminal(cell)).collect());
    });
    format!("\n{}", table.lines())
}

/// As a table of Markdown; nothing without a fleet.
pub(crate) fn markdown(all: &[Assertion]) -> String {
    let rows = agent_rows(all);
    if rows.is_empty() {
        return String::new();
    }
    let mut out =
        format!("\n| {} |\n|---|---:|---|---:|---:|---:|---:|---:|---|\n", AGENT_HEADS.join(" | "));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| escape::markdown(cell)).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out
}

/// As JSON; `None` without a fleet.
pub(crate) fn json(all: &[Assertion]) -> Option<String> {
    let list: Vec<String> = Assertion::agents(all).map(agent_json).collect();
    (!list.is_empty()).then(|| Object::new().put("agents", json_list(list.into_iter())).end())
}

fn agent_json(agent: &AgentRecord) -> String {
    let null = || "null".to_owned();
    let reasons = agent.reasons.iter().map(|reason| escape::json(reason));
    Object::new()
        .text("name", &agent.name)
        .number("number", u64::from(agent.number))
        .number("cores", u64::from(agent.cores))
        .text("share", &agent.share)
        .number("planned", agent.planned)
        .number("sent", agent.sent)
        .number("unknown", agent.unknown)
        .number("lag_p99", agent.lag_p99.0)
        .float("cpu_busiest", agent.cpu_busiest)
        .put("offset_ns", agent.clock.map_or_else(null, |clock| clock.offset_ns.to_string()))
        .put("offset_bound_ns", agent.clock.map_or_else(null, |clock| clock.bound_ns.to_string()))
        .number("pauses", u64::from(agent.pauses))
        .number("pause_longest", agent.pause_longest.0)
        .text("verdict", verdict(agent))
        .put("reasons", json_list(reasons))
        .end()
}

#[cfg(test)]
mod tests {
    use metrics::ClockOffset;
    use stdx::Nanos;

    use super::*;

    fn fleet() -> [Assertion; 2] {
        let agent = AgentRecord {
            number: 1,
            name: "a|1".to_owned(),
            cores: 4,
            share: "0:1/2".to_owned(),
            planned: 1500,
            sent: 1500,
            lag_p99: Nanos::from_micros(120),
            cpu_busiest: 0.25,
            clock: Some(ClockOffset { offset_ns: -1_500_000, bound_ns: 200_000 }),
            ..AgentRecord::default()
        };
        let slow = AgentRecord {
            number: 2,
            name: "slow".to_owned(),
            clock: None,
            reasons: vec!["12 of 1500 requests were not sent".to_owned()],
            ..agent.clone()
        };
        [agent, slow].map(|agent| Assertion::Agent(Box::new(agent)))
    }

    #[test]
    fn each_agent_has_a_row() {
        let expect = "
Agent  cores  share  planned  sent   lag p99  CPU    clock           verdict
a|1    4      0:1/2  1,500    1,500  120µs    25.0%  -1.5ms ± 200µs  VALID
slow   4      0:1/2  1,500    1,500  120µs    25.0%  not compared    INVALID
";
        assert_eq!(text(&fleet()), expect);
        assert!(markdown(&fleet()).contains("| a\\|1 | 4 |"));
        assert!(text(&[]).is_empty() && markdown(&[]).is_empty() && json(&[]).is_none());
    }

    #[test]
    fn json_has_the_clock_and_the_verdict() {
        let json = json(&fleet()).unwrap();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let agents = &value["agents"];
        assert_eq!(agents[0]["offset_ns"], -1_500_000);
        assert_eq!(agents[0]["offset_bound_ns"], 200_000);
        assert_eq!(agents[0]["verdict"], "VALID");
        assert_eq!(agents[1]["verdict"], "INVALID");
        assert!(agents[1]["offset_ns"].is_null());
        assert_eq!(agents[1]["reasons"][0], "12 of 1500 requests were not sent");
    }
}
