//! What `watch` prints: a line for people at each look, or a line of JSON for each row.

use std::fmt::Write;

use metrics::server::{Reading, Row};
use serde_json::{Value, json};
use stdx::Bytes;

/// A look as one line, `at` being its local time; then a line for each incident.
pub(super) fn line(at: &str, rows: &[Row]) -> String {
    let mut text = at.to_owned();
    for (index, row) in rows.iter().enumerate() {
        match row {
            Row::Reading(reading) if reading.source == "machine" => machine(&mut text, reading),
            Row::Reading(_) if is_member(rows, index) => {}
            Row::Reading(reading) => process(&mut text, reading),
            Row::Served(_) | Row::Incident(_) => {}
        }
    }
    let served = rows.iter().filter(|row| matches!(row, Row::Served(_))).count();
    if served > 0 {
        add(&mut text, format_args!("  logs {served}"));
    }
    text.push('\n');
    for row in rows {
        if let Row::Incident(incident) = row {
            add(&mut text, format_args!("{at}  {}: {}\n", incident.source, incident.what));
        }
    }
    text
}

fn add(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("a String takes everything");
}

fn machine(text: &mut String, reading: &Reading) {
    let value = |name: &str| reading.value(name);
    if let Some(load) = value("load1") {
        add(text, format_args!("  load {load:.2}"));
    }
    if let (Some(cpu), Some(user), Some(system)) =
        (value("cpu"), value("cpu.user"), value("cpu.system"))
    {
        let [cpu, user, system] = [cpu, user, system].map(|share| share * 100.0);
        add(text, format_args!("  cpu {cpu:.0}% (user {user:.0}, system {system:.0})"));
    }
    if let (Some(used), Some(total)) = (value("memory.used"), value("memory.total")) {
        add(text, format_args!("  memory {} of {}", size(used), size(total)));
    }
    if let (Some(inward), Some(outward)) = (value("net.in"), value("net.out")) {
        add(text, format_args!("  net {}/s in {}/s out", size(inward), size(outward)));
    }
}

/// Whether the row at this index is of a process in a tree: a tree's row comes after those of its members, of which the first
/// is its root.
fn is_member(rows: &[Row], index: usize) -> bool {
    if !source(&rows[index]).starts_with("process ") {
        return false;
    }
    let begun = |root: &str| {
        let is_root = |row: &Row| source(row).strip_prefix("process ") == Some(root);
        rows[..=index].iter().any(is_root)
    };
    rows[index..].iter().any(|row| source(row).strip_prefix("tree ").is_some_and(begun))
}

fn source(row: &Row) -> &str {
    match row {
        Row::Reading(reading) => &reading.source,
        Row::Served(_) | Row::Incident(_) => "",
    }
}

/// A process, a tree or a group.
fn process(text: &mut String, reading: &Reading) {
    let (kind, name) = reading.source.split_once(' ').unwrap_or_default();
    if !matches!(kind, "tree" | "cgroup" | "process") {
        return;
    }
    add(text, format_args!("  | {name}"));
    if let Some(cpu) = reading.value("cpu") {
        add(text, format_args!(" {cpu:.2} cores"));
    }
    if let Some(bytes) = reading.value("rss").or_else(|| reading.value("memory")) {
        add(text, format_args!(" {}", size(bytes)));
    }
}

fn size(bytes: f64) -> String {
    Bytes(bytes.max(0.0) as u64).to_string()
}

/// A row as one object.
pub(super) fn json(row: &Row) -> Value {
    match row {
        Row::Reading(reading) => {
            let value = |value: f64| {
                if value.is_finite() { json!(value) } else { json!(value.to_string()) }
            };
            let values: serde_json::Map<String, Value> = reading
                .values
                .iter()
                .map(|(name, number)| (name.clone(), value(*number)))
                .collect();
            json!({
                "kind": "reading", "at": reading.at, "host": reading.host, "source": reading.source,
                "values": values,
            })
        }
        Row::Served(served) => json!({
            "kind": "served", "at": served.at, "host": served.host, "source": served.source,
            "method": served.method, "path": served.path, "status": served.status,
            "total": served.total.map(|time| time.0), "views": served.views.map(|time| time.0),
            "database": served.database.map(|time| time.0),
            "queue": served.queue.map(|time| time.0), "id": served.id,
        }),
        Row::Incident(incident) => json!({
            "kind": "incident", "at": incident.at, "host": incident.host, "source": incident.source,
            "what": incident.what,
        }),
    }
}

#[cfg(test)]
mod tests {
    use metrics::server::{Incident, ServedRequest};

    use super::*;

    fn reading(source: &str, values: &[(&str, f64)]) -> Row {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Row::Reading(Reading { at: 7, host: "h".into(), source: source.into(), values })
    }

    #[test]
    fn one_line_a_look() {
        let rows = [
            reading(
                "machine",
                &[
                    ("load1", 0.5),
                    ("cpu", 0.456),
                    ("cpu.user", 0.3),
                    ("cpu.system", 0.1),
                    ("memory.used", 1048576.0),
                    ("memory.total", 4194304.0),
                ],
            ),
            reading("core 0", &[("cpu", 1.0)]),
            reading("process 7 nginx", &[("cpu", 0.25)]),
            reading("process 10 puma", &[("cpu", 0.5)]),
            reading("process 11 puma", &[("cpu", 1.0)]),
            reading("tree 10 puma", &[("cpu", 1.5), ("rss", 2048.0)]),
            reading("process 20 redis", &[("cpu", 0.75)]),
            Row::Served(ServedRequest::default()),
            Row::Incident(Incident {
                source: "s".into(),
                what: "is gone".into(),
                ..Incident::default()
            }),
        ];
        let text = line("12:00:00", &rows);
        let expected = format!(
            "12:00:00  load 0.50  cpu 46% (user 30, system 10)  memory {} of {}  | 7 nginx 0.25 cores  | 10 puma 1.50 cores {}  | 20 redis 0.75 cores  logs 1\n\
             12:00:00  s: is gone\n",
            Bytes(1 << 20),
            Bytes(4 << 20),
            Bytes(2048)
        );
        assert_eq!(text, expected);
        assert_eq!(line("t", &[]), "t\n");
    }

    #[test]
    fn rows_as_json() {
        let text = json(&reading("machine", &[("load1", 0.5), ("x", f64::INFINITY)])).to_string();
        let expected = r#"{"at":7,"host":"h","kind":"reading","source":"machine","values":{"load1":0.5,"x":"inf"}}"#;
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(parsed(&text), parsed(expected));
        let served = Row::Served(ServedRequest { path: "/a".into(), ..ServedRequest::default() });
        assert_eq!(json(&served)["path"], "/a");
        assert_eq!(json(&served)["views"], Value::Null);
    }
}
