//! `TableView`: what is no single run on the live page: figures and tables, and how far it is.

use serde_json::{Value, json};
use stdx::Nanos;

use super::board::{Phase, Shared, event};
use crate::clock::unix_ns;

/// Figures and tables on the live page. The page says that it has ended when this is dropped.
pub struct TableView {
    shared: Shared,
    began: i64,
    state: TableState,
}

/// What a page shows.
#[derive(Clone, Debug, Default)]
pub struct TableState {
    /// Names and texts of figures.
    pub tiles: Vec<(String, String)>,
    /// Tables, each with its title, heads and rows of cells.
    pub tables: Vec<(String, Vec<String>, Vec<Vec<Value>>)>,
    /// The share that is done, 0 to 1.
    pub done: f64,
}

impl TableView {
    pub(super) fn new(shared: Shared, began: i64) -> Self {
        Self { shared, began, state: TableState::default() }
    }

    /// Shows this from now on, and what was printed meanwhile.
    pub fn set(&mut self, state: TableState) {
        self.state = state;
        self.show(Phase::Running);
    }

    fn show(&self, phase: Phase) {
        self.shared.send_log();
        let elapsed = Nanos(unix_ns().saturating_sub(self.began).max(0).unsigned_abs());
        let tables = self.state.tables.iter().map(
            |(title, columns, rows)| json!({ "title": title, "columns": columns, "rows": rows }),
        );
        let tables: Vec<Value> = tables.collect();
        let state = json!({
            "elapsed": elapsed.as_secs_f64(),
            "phase": phase.name(),
            "done": self.state.done,
            "more": { "tiles": self.state.tiles, "tables": tables },
        });
        let mut board = self.shared.board();
        let event = event("state", &state);
        board.state = state;
        self.shared.viewers.send(event);
    }
}

impl Drop for TableView {
    fn drop(&mut self) {
        self.show(Phase::Ended);
    }
}
