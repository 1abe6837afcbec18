//! The terminal: how wide it is, and what has to be taken away of what was drawn on it. It draws nothing.

use std::os::fd::AsFd;

/// Columns where nothing tells.
const WIDTH: usize = 80;

/// How many columns the terminal behind this stream has now: as it says itself, else `COLUMNS`, else 80.
#[must_use]
pub(crate) fn width(stream: &impl AsFd) -> usize {
    let given = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    net::machine::terminal_columns(stream).map(usize::from).or_else(given).unwrap_or(WIDTH)
}

/// Lines that were drawn, to be drawn over.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    /// The columns of each line.
    columns: Vec<usize>,
}

impl Drawn {
    /// Takes note of what is drawn now.
    pub(crate) fn note(&mut self, text: &str) {
        self.columns = text.lines().map(columns).collect();
    }

    /// What goes back to where it began and takes it away; empty where nothing was drawn. On a terminal that has become
    /// narrower since, its lines take more rows.
    #[must_use]
    pub(crate) fn take_away(&mut self, width: usize) -> String {
        let rows = |columns: usize| columns.div_ceil(width.max(1)).max(1);
        let rows: usize = std::mem::take(&mut self.columns).into_iter().map(rows).sum();
        if rows == 0 { String::new() } else { format!("\x1b[{rows}A\x1b[0J") }
    }
}

/// The columns that a line takes: its characters but for colours.
fn columns(line: &str) -> usize {
    let mut columns = 0;
    let mut in_colour = false;
    for c in line.chars() {
        match (in_colour, c) {
            (false, '\x1b') => in_colour = true,
            (false, _) => columns += 1,
            (true, 'm') => in_colour = false,
            (true, _) => {}
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_take_more_rows_where_the_terminal_became_narrower() {
        let mut drawn = Drawn::default();
        assert_eq!(drawn.take_away(40), "");
        let line = "x".repeat(75);
        let text = format!("\x1b[36m{line}\x1b[0m\n\nshort\n");
        drawn.note(&text);
        assert_eq!(drawn.take_away(80), "\x1b[3A\x1b[0J");
        assert_eq!(drawn.take_away(80), "", "it is gone");
        drawn.note(&text);
        assert_eq!(drawn.take_away(40), "\x1b[4A\x1b[0J");
        drawn.note(&text);
        assert_eq!(drawn.take_away(25), "\x1b[5A\x1b[0J");
    }
}
