//! The sections of reports: every table and note of the server's side, as text, HTML and Markdown.

use std::fmt::Write as _;

use stdx::Nanos;

use super::capacity::Capacity;
use super::network_and_queue::NetworkAndQueue;
use super::side::ServerSide;
use super::table::{LiveTable, Table};
use super::{machine, requests};
use crate::number::{counted, grouped};
use crate::{escape, page};

impl ServerSide<'_> {
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

    /// The same as the tables of a page. What the requests tell comes first: the machine's table is long.
    pub(crate) fn html(&self, out: &mut String) {
        let tables = self.request_tables().into_iter().chain(self.machine_tables());
        for table in tables.filter(|table| !table.rows.is_empty()) {
            let heads: Vec<&str> = std::iter::once("").chain(table.heads).collect();
            page::table(out, &table.title, &heads, &table.rows, table.more);
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

    /// The same as tables for a page that is drawn anew; texts in them are not escaped.
    #[must_use]
    pub fn live_tables(&self) -> Vec<LiveTable> {
        let tables = self.request_tables().into_iter().chain(self.machine_tables());
        let tables = tables.filter(|table| !table.rows.is_empty());
        tables.map(Table::live).collect()
    }

    /// The tables in their order; those without rows are left out.
    fn tables(&self) -> Vec<Table> {
        let mut tables = self.machine_tables();
        tables.extend(self.request_tables());
        tables.retain(|table| !table.rows.is_empty());
        tables
    }

    fn machine_tables(&self) -> Vec<Table> {
        let mut tables = machine::tables(self);
        tables.push(machine::processes(self));
        tables
    }

    fn request_tables(&self) -> Vec<Table> {
        let mut tables = vec![requests::answers(self), requests::times(self)];
        tables.extend(NetworkAndQueue::of(self).map(|between| between.table()));
        tables.push(Capacity::of(self).table());
        tables.push(requests::endpoints(self));
        tables.push(machine::scrapes(self));
        tables.push(self.incidents());
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
        notes.extend(NetworkAndQueue::of(self).map(|between| between.note()));
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
}
