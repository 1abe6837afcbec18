//! `Place`: where in a file something stands, and `Lines`, which finds it.

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The byte of the line, from 1.
    pub column: u32,
}

impl Place {
    /// The beginning of a text.
    pub const START: Self = Self { line: 1, column: 1 };
}

/// Where the lines of a text begin, in bytes. A bundle may have as many findings as lines, and each needs its place.
#[derive(Debug)]
pub(crate) struct Lines {
    starts: Vec<u32>,
    len: u32,
}

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect();
        Self { starts, len: text.len() as u32 }
    }

    /// The place of a byte; beyond the end, that of the end.
    pub(crate) fn place(&self, offset: u32) -> Place {
        let offset = offset.min(self.len);
        let line = self.starts.partition_point(|start| *start <= offset);
        Place { line: line as u32, column: offset - self.starts[line - 1] + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_has_a_line_and_a_column() {
        let lines = Lines::of("ab\n\ncd");
        let places = [0, 2, 3, 4, 5, 99].map(|offset| lines.place(offset));
        let expect = [(1, 1), (1, 3), (2, 1), (3, 1), (3, 2), (3, 3)];
        assert_eq!(places.map(|place| (place.line, place.column)), expect);
        assert_eq!(Lines::of("").place(0), Place::START);
    }
}
