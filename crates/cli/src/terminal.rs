//! The terminal: its width, and the sequence that erases what was drawn on it. Nothing is drawn here.

use std::os::fd::AsFd;

/// Columns of a terminal that does not report them.
const WIDTH: usize = 80;

/// The columns of the terminal behind this stream: as the terminal reports them, else `COLUMNS`, else 80.
#[must_use]
pub fn width(stream: &impl AsFd) -> usize {
    let given = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    let size = net::machine::terminal_size(stream);
    size.map(|(columns, _)| usize::from(columns)).or_else(given).unwrap_or(WIDTH)
}

/// Columns and rows of the terminal behind this stream, as it reports them; `None` where it is none, or has no size.
pub fn size(stream: &impl AsFd) -> Option<(u16, u16)> {
    net::machine::terminal_size(stream).filter(|(_, rows)| *rows > 0)
}

/// The lines drawn last, which the next ones replace.
#[derive(Debug, Default)]
pub struct DrawnLines {
    /// The columns of each line.
    columns: Vec<usize>,
}

impl DrawnLines {
    /// Records the text that is drawn now.
    pub fn record(&mut self, text: &str) {
        self.columns = text.lines().map(columns).collect();
    }

    /// The escape sequence that erases the lines; empty where nothing was drawn. On a terminal that has become narrower since,
    /// the lines take more rows.
    #[must_use]
    pub fn erase(&mut self, width: usize) -> String {
        let rows = |columns: usize| columns.div_ceil(width.max(1)).max(1);
        let rows: usize = std::mem::take(&mut self.columns).into_iter().map(rows).sum();
        if rows == 0 { String::new() } else { format!("\x1b[{rows}A\x1b[0J") }
    }
}

/// The columns of a line: its characters without colour sequences.
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
        let mut drawn = DrawnLines::default();
        assert_eq!(drawn.erase(40), "");
        let line = "x".repeat(75);
        let text = format!("\x1b[36m{line}\x1b[0m\n\nshort\n");
        drawn.record(&text);
        assert_eq!(drawn.erase(80), "\x1b[3A\x1b[0J");
        assert_eq!(drawn.erase(80), "", "it is gone");
        drawn.record(&text);
        assert_eq!(drawn.erase(40), "\x1b[4A\x1b[0J");
        drawn.record(&text);
        assert_eq!(drawn.erase(25), "\x1b[5A\x1b[0J");
    }
}
