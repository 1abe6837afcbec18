//! `Columns`: rows of cells, each column as wide as its widest cell and two spaces. The last cell of a row counts for no
//! width, which is how Go's tabwriter, and so Vegeta, lays out text.

/// Rows of cells to be aligned.
#[derive(Default)]
pub(crate) struct Columns {
    rows: Vec<Vec<String>>,
    right: Vec<usize>,
}

impl Columns {
    /// Adds a row.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    /// Adds a row of as many cells as there are.
    pub(crate) fn add(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Aligns column number `column` to the right.
    pub(crate) fn right(mut self, columns: &[usize]) -> Self {
        self.right.extend_from_slice(columns);
        self
    }

    /// The rows as lines.
    pub(crate) fn lines(&self) -> String {
        let widths: Vec<usize> = (0..self.rows.iter().map(Vec::len).max().unwrap_or(0))
            .map(|column| self.width(column))
            .collect();
        let mut out = String::new();
        for row in &self.rows {
            for (column, cell) in row.iter().enumerate() {
                let room = widths[column].saturating_sub(cell.chars().count());
                match (self.right.contains(&column), column + 1 == row.len()) {
                    (true, last) => {
                        out.extend(std::iter::repeat_n(' ', room));
                        out.push_str(cell);
                        out.push_str(if last { "" } else { "  " });
                    }
                    (false, true) => out.push_str(cell),
                    (false, false) => {
                        out.push_str(cell);
                        out.extend(std::iter::repeat_n(' ', room + 2));
                    }
                }
            }
            out.push('\n');
        }
        out
    }

    /// Width of the widest cell of a column.
    fn width(&self, column: usize) -> usize {
        let counts = |row: &&Vec<String>| column + 1 < row.len() || self.right.contains(&column);
        let cells = self.rows.iter().filter(counts).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligns_all_but_the_last_cell() {
        let mut columns = Columns::default();
        columns.row(["a".into(), "µs".into(), "x".into()]);
        columns.row(["abc".into(), "1".into(), "long last".into()]);
        assert_eq!(columns.lines(), "a    µs  x\nabc  1   long last\n");
    }

    #[test]
    fn aligns_numbers_to_the_right() {
        let mut columns = Columns::default().right(&[1]);
        columns.row(["a".into(), "1".into()]);
        columns.row(["b".into(), "100".into()]);
        assert_eq!(columns.lines(), "a    1\nb  100\n");
    }
}
