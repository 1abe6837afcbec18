//! The server's side beside the client's: machine, processes, requests by log, what lies between client and server, capacity,
//! endpoints, incidents. The same tables go into text, HTML and Markdown.

mod beyond;
mod capacity;
mod figures;
mod json;
mod machine;
mod requests;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use metrics::Summary;
use metrics::server::{Log, Measure, Side};
use stdx::Nanos;

use crate::columns::Columns;
use crate::number::{counted, grouped};
use crate::{escape, html};

pub use beyond::Beyond;
pub use capacity::Capacity;
pub use figures::{server_over_time, server_percentiles};

/// What was seen of the servers, beside what the client saw.
#[derive(Clone, Copy, Debug)]
pub struct ServerSide<'a> {
    /// What was seen of the servers.
    pub side: &'a Side,
    /// What the client saw in the same run; absent where there is none.
    pub client: Option<&'a Summary>,
    /// By how much the servers' clock was moved onto the client's, in nanoseconds; 0 where it was not.
    pub offset_ns: i64,
    /// How wrong that may be, in nanoseconds, where it was measured; absent where it was given.
    pub offset_error_ns: Option<i64>,
}

/// A table of a report; texts in it are not escaped.
#[derive(Debug, Default, PartialEq)]
struct Table {
    title: String,
    /// Heads of all columns but the first.
    heads: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// Rows that are not shown.
    more: usize,
}

/// Rows of a table; the rest is counted.
const ROWS_MAX: usize = 30;

impl<'a> ServerSide<'a> {
    /// The section of a text report; empty where nothing was seen.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        for table in self.tables() {
            let _ = writeln!(out, "\n{}", table.text().trim_end());
        }
        for note in self.notes() {
            let _ = write!(out, "\n{}\n", escape::terminal(&note));
        }
        out.trim_start().to_owned()
    }

    /// The same as the tables of a page.
    pub(crate) fn html(&self, out: &mut String) {
        for table in self.tables() {
            let heads: Vec<&str> = std::iter::once("").chain(table.heads).collect();
            html::table(out, &table.title, &heads, &table.rows, table.more);
        }
        for note in self.notes() {
            let _ = writeln!(out, "<p class=\"faint\">{}</p>", escape::xml(&note));
        }
    }

    /// The same as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut out = String::new();
        for table in self.tables() {
            out.push_str(&table.markdown());
        }
        for note in self.notes() {
            let _ = writeln!(out, "\n{}", escape::markdown(&note));
        }
        out
    }

    /// The tables in their order; those without rows are left out.
    fn tables(&self) -> Vec<Table> {
        let mut tables = machine::tables(self);
        tables.push(machine::processes(self));
        tables.push(requests::answers(self));
        tables.push(requests::times(self));
        tables.extend(Beyond::of(self).map(|beyond| beyond.table()));
        tables.push(Capacity::of(self).table());
        tables.push(requests::endpoints(self));
        tables.push(machine::scrapes(self));
        tables.push(self.incidents());
        tables.retain(|table| !table.rows.is_empty());
        tables
    }

    fn incidents(&self) -> Table {
        let rows = self.side.incidents().iter().map(|(incident, count)| {
            let of = format!("{} {}", incident.host, incident.source);
            vec![format!("{}: {}", of.trim(), incident.what), grouped(*count)]
        });
        Table::new("Incidents on the server's side", vec!["times"], rows)
    }

    /// What a reader must know.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(Beyond::of(self).map(|beyond| beyond.note()));
        let capacity = Capacity::of(self);
        notes.extend(capacity.apart_note());
        notes.extend(capacity.bound_note());
        notes.extend(capacity.note());
        notes.extend(self.offset_note());
        let left_out = self.side.left_out();
        for (count, what) in [
            (left_out.readings, ("reading", "of further sources")),
            (left_out.requests, ("request", "of further logs")),
            (left_out.incidents, ("further incident", "")),
            (left_out.ids, ("id", "of requests, of which the other side had not told in time")),
        ] {
            if count > 0 {
                let (noun, of) = what;
                notes.push(format!(
                    "Left out: {}.",
                    format!("{} {of}", counted(count, noun)).trim_end()
                ));
            }
        }
        notes
    }

    /// By how much the server's times are moved, and why.
    fn offset_note(&self) -> Option<String> {
        if self.offset_ns == 0 && self.offset_error_ns.is_none() {
            return None;
        }
        let size = Nanos(self.offset_ns.unsigned_abs());
        let way = if self.offset_ns > 0 { "later" } else { "earlier" };
        let why = match self.offset_error_ns {
            None => "as was asked for".to_owned(),
            Some(error) => {
                let error = Nanos(error.unsigned_abs());
                format!("by the Date headers of its answers, which leave a doubt of {error}")
            }
        };
        Some(format!("The server's times are moved by {size} to {way} ones, {why}."))
    }

    /// The requests of the log nearest to the application, of all hosts together.
    fn application(&self) -> Option<Log> {
        self.side.applications()
    }

    /// The mean of a measure while the run went on, where its course is kept and has readings then; else of all readings.
    fn mean(&self, measure: &Measure) -> f64 {
        let Some(client) = self.client.filter(|client| client.requests > 0) else {
            return measure.mean();
        };
        let within = |at: &(i64, f64)| (client.earliest..=client.end).contains(&at.0);
        let (sum, count) =
            measure.course().filter(within).fold((0.0, 0u32), |(sum, n), (_, y)| (sum + y, n + 1));
        if count == 0 { measure.mean() } else { sum / f64::from(count) }
    }
}

impl Table {
    /// A table of at most [`ROWS_MAX`] rows.
    fn new(title: &str, heads: Vec<&'static str>, rows: impl Iterator<Item = Vec<String>>) -> Self {
        let mut rows: Vec<Vec<String>> = rows.collect();
        let more = rows.len().saturating_sub(ROWS_MAX);
        rows.truncate(ROWS_MAX);
        Self { title: title.to_owned(), heads, rows, more }
    }

    fn text(&self) -> String {
        let numbers: Vec<usize> = (1..=self.heads.len()).collect();
        let mut columns = Columns::default().right(&numbers);
        let heads = self.heads.iter().map(|head| (*head).to_owned());
        columns.add(std::iter::once(escape::terminal(&self.title)).chain(heads).collect());
        for row in &self.rows {
            columns.add(row.iter().map(|cell| escape::terminal(cell)).collect());
        }
        let lines = columns.lines();
        let mut out: String = lines.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
        if self.more > 0 {
            let _ = writeln!(out, "and {} more", self.more);
        }
        out
    }

    fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = String>| {
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let heads = self.heads.iter().map(|head| (*head).to_owned());
        let mut out = String::from("\n");
        out += &line(&mut std::iter::once(escape::markdown(&self.title)).chain(heads));
        out += &format!("|---|{}\n", "---:|".repeat(self.heads.len()));
        for row in &self.rows {
            out += &line(&mut row.iter().map(|cell| escape::markdown(cell)));
        }
        if self.more > 0 {
            let _ = writeln!(out, "\n{} more are not shown.", self.more);
        }
        out
    }
}

/// A share as percent.
fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// A size for people, in binary units.
fn size(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes;
    let mut unit = 0;
    while value.abs() >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{value:.0} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}
