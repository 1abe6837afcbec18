//! `Code`: lines of a script, indented by the blocks that are open.

/// Lines of a script.
#[derive(Debug, Default)]
pub(super) struct Code {
    text: String,
    depth: usize,
}

impl Code {
    /// Lines that stand in so many blocks.
    pub(super) fn at(depth: usize) -> Self {
        Self { text: String::new(), depth }
    }

    /// Adds a line; texts in it that have several lines stay as they are.
    pub(super) fn line(&mut self, line: &str) {
        if !line.is_empty() {
            (0..self.depth).for_each(|_| self.text.push_str("  "));
            self.text.push_str(line);
        }
        self.text.push('\n');
    }

    /// Adds a line that opens a block.
    pub(super) fn open(&mut self, line: &str) {
        self.line(line);
        self.depth += 1;
    }

    /// Adds a line that closes a block.
    pub(super) fn close(&mut self, line: &str) {
        self.depth = self.depth.saturating_sub(1);
        self.line(line);
    }

    /// An empty line, unless a block has just been opened or there is one.
    pub(super) fn space(&mut self) {
        let is_start = self.text.is_empty() || self.text.ends_with("{\n");
        if !is_start && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Adds what was written apart.
    pub(super) fn append(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}
