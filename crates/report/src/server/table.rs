//! `Table`: one table of the server's side, as text and as Markdown.

use std::fmt::Write as _;

use crate::columns::Columns;
use crate::escape;

/// A table of a report; texts in it are not escaped.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Table {
    pub(super) title: String,
    /// Heads of all columns but the first.
    pub(super) heads: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
    /// Rows that are not shown.
    pub(super) more: usize,
}

/// A table as a page gets it that is drawn anew while the run goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveTable {
    /// Its title, which stays the same.
    pub title: String,
    /// The heads of all columns.
    pub columns: Vec<String>,
    /// A cell for each column.
    pub rows: Vec<Vec<String>>,
}

/// Rows of a table; the rest is counted.
const ROWS_MAX: usize = 30;

impl Table {
    /// A table of at most [`ROWS_MAX`] rows.
    pub(super) fn new(
        title: &str,
        heads: Vec<&'static str>,
        rows: impl Iterator<Item = Vec<String>>,
    ) -> Self {
        let mut rows: Vec<Vec<String>> = rows.collect();
        let more = rows.len().saturating_sub(ROWS_MAX);
        rows.truncate(ROWS_MAX);
        Self { title: title.to_owned(), heads, rows, more }
    }

    /// For a live page. What a title counts follows a comma, and is left out.
    pub(super) fn live(self) -> LiveTable {
        let title = self.title.split(", ").next().unwrap_or_default().to_owned();
        let heads = self.heads.into_iter().map(str::to_owned);
        LiveTable {
            title,
            columns: std::iter::once(String::new()).chain(heads).collect(),
            rows: self.rows,
        }
    }

    pub(super) fn text(&self) -> String {
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

    pub(super) fn markdown(&self) -> String {
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
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// A size for people, in binary units.
pub(crate) fn size(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes;
    let mut unit = 0;
    while value.abs() >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{value:.0} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}
