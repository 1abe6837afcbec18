//! `Place`: where in a file something stands.

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

    /// The place of a byte of a text.
    #[must_use]
    pub fn of(text: &str, offset: u32) -> Self {
        let before = &text.as_bytes()[..(offset as usize).min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        Self { line: line as u32, column: (before.len() - start + 1) as u32 }
    }
}
