//! What was done to a run while it went on, for every report: moments that someone marked, and changes of its load.

use metrics::tally::Assertion;
use metrics::{Event, EventKind, Timeline};

use crate::columns::Columns;
use crate::escape;
use crate::figure::{Colour, Figure, Series, Stroke, Style};
use crate::input::Input;
use crate::number::counted;
use crate::object::{Object, json_list};
use crate::run_name::{json_of_run, of_run};

/// The heads of the table.
pub(crate) const EVENT_HEADS: [&str; 2] = ["After", "event"];
/// Changes of the load that a sentence names.
const NAMED_MAX: usize = 5;

/// A row for each event, by time: seconds since the first request was due, and what was done.
pub(crate) fn event_rows(input: &Input<'_>) -> Vec<Vec<String>> {
    let row =
        |event: &Event| vec![after(input, event), of_run(&event.what.to_string(), &event.run)];
    by_time(input).into_iter().map(row).collect()
}

fn by_time<'a>(input: &Input<'a>) -> Vec<&'a Event> {
    let mut events: Vec<&Event> = Assertion::events(input.assertions).collect();
    events.sort_by_key(|event| event.at);
    events
}

/// Seconds since the first request was due.
fn after(input: &Input<'_>, event: &Event) -> String {
    let first = if input.summary.requests > 0 { input.summary.earliest } else { event.at };
    format!("{:.2}s", event.at.saturating_sub(first) as f64 / 1e9)
}

/// As a table of text after an empty line; nothing without events.
pub(crate) fn text(input: &Input<'_>) -> String {
    let rows = event_rows(input);
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Columns::default();
    table.row(EVENT_HEADS.map(str::to_owned));
    for row in rows {
        table.add(row.iter().map(|cell| escape::terminal(cell)).collect());
    }
    format!("\n{}", table.lines())
}

/// As a table of Markdown; nothing without events.
pub(crate) fn markdown(input: &Input<'_>) -> String {
    let rows = event_rows(input);
    if rows.is_empty() {
        return String::new();
    }
    let mut out = format!("\n| {} |\n|---:|---|\n", EVENT_HEADS.join(" | "));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| escape::markdown(cell)).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out
}

/// As a JSON list; `None` without events.
pub(crate) fn json(input: &Input<'_>) -> Option<String> {
    let list: Vec<String> = by_time(input).into_iter().map(event_json).collect();
    (!list.is_empty()).then(|| json_list(list.into_iter()))
}

fn event_json(event: &Event) -> String {
    let object =
        json_of_run(&event.run).put("at", event.at.to_string()).text("what", event.what.name());
    let object: Object = match &event.what {
        EventKind::Mark(text) | EventKind::Ended(text) => object.text("text", text),
        EventKind::Rate(rate) => object.float("value", *rate),
        EventKind::Users(users) => object.number("value", *users),
        EventKind::Pause | EventKind::Resume => object,
    };
    object.end()
}

/// That the load is not that of the plan, where someone changed it.
pub(crate) fn caveat(input: &Input<'_>) -> Option<String> {
    let events = by_time(input);
    let changes: Vec<_> = events.iter().filter(|event| event.what.changes_load()).collect();
    if changes.is_empty() {
        return None;
    }
    let of = |event: &&&Event| format!("{} after {}", event.what, after(input, event));
    let mut words: Vec<String> = changes.iter().take(NAMED_MAX).map(of).collect();
    if changes.len() > NAMED_MAX {
        words.push(format!("{} more", changes.len() - NAMED_MAX));
    }
    let count = counted(changes.len() as u64, "time");
    Some(format!("The load was changed by hand {count}: {}.", words.join(", ")))
}

/// Draws events as vertical lines into figures over the time since this timeline's start.
pub(crate) fn draw(figures: &mut [Figure], input: &Input<'_>, timeline: &Timeline) {
    let uprights = |label: &str, colour, wanted: fn(&EventKind) -> bool| {
        let events = by_time(input).into_iter().filter(|event| wanted(&event.what));
        let at = |event: &Event| event.at.saturating_sub(timeline.start()) as f64 / 1e9;
        Series {
            label: label.to_owned(),
            style: Style::Upright(Stroke::Dashed),
            colour,
            points: events.map(|event| (at(event), 0.0)).collect(),
        }
    };
    let all = [
        uprights("marks", Colour::VIEWS, |what| !what.changes_load()),
        uprights("changes of the load", Colour::DATABASE, EventKind::changes_load),
    ];
    for series in all.into_iter().filter(|series| !series.points.is_empty()) {
        figures.iter_mut().for_each(|figure| figure.series.push(series.clone()));
    }
}

#[cfg(test)]
mod tests {
    use metrics::{Batch, Sample, Summary, Verdict};

    use super::*;

    #[test]
    fn events_are_by_time_and_escaped() {
        let event = |at, what| Assertion::Event(Event { at, what, run: String::new() });
        let assertions = [
            event(5_500_000_000, EventKind::Pause),
            event(3_000_000_000, EventKind::Rate(40.0)),
            event(4_000_000_000, EventKind::Mark("deploy | \u{1b}[31m".to_owned())),
        ];
        let mut summary = Summary::new();
        let sample = Sample { outcome: metrics::Outcome::Http(200), ..Sample::default() };
        summary.add(&Batch { epoch: 1_000_000_000, samples: vec![sample], ..Batch::default() });
        let verdict = Verdict::default();
        let input = Input {
            title: "",
            summary: &summary,
            verdict: &verdict,
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
            assertions: &assertions,
        };
        let lines = text(&input);
        assert!(
            lines.contains("2.00s  rate 40/s\n") && lines.contains("4.50s  paused\n"),
            "{lines}"
        );
        assert!(!lines.contains('\u{1b}'));
        assert!(markdown(&input).contains("| 3.00s | deploy \\|"));
        let json: serde_json::Value = serde_json::from_str(&json(&input).unwrap()).unwrap();
        assert_eq!((&json[0]["what"], &json[0]["value"]), (&"rate".into(), &40.into()));
        assert_eq!(json[1]["at"], 4_000_000_000_u64);
        let caveat = caveat(&input).unwrap();
        let expect =
            "The load was changed by hand 2 times: rate 40/s after 2.00s, paused after 4.50s.";
        assert_eq!(caveat, expect);
    }
}
