//! `Lines`: bytes of a file, cut into lines.

use super::line_sink::LineSink;

/// Bytes of a line; the rest of a longer one is thrown away.
pub(super) const LINE_MAX: usize = 64 << 10;

/// Cuts bytes into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The start of an incomplete line.
    line: Vec<u8>,
    /// The bytes begin in the middle of a line: up to its end they are no line.
    starts_inside: bool,
    /// Bytes of long lines were cut off, which has been reported.
    long_reported: bool,
}

impl Lines {
    /// The first line's beginning is not among the bytes: the line is left out.
    pub(super) fn inside_a_line() -> Self {
        Self { starts_inside: true, ..Self::default() }
    }

    /// Gives every line that these bytes complete.
    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut impl LineSink) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (piece, after) = (&rest[..end], &rest[end + 1..]);
            self.end(piece, sink);
            rest = after;
        }
        if !self.starts_inside {
            self.append(rest, sink);
        }
    }

    /// Takes the last piece of a line.
    fn end(&mut self, piece: &[u8], sink: &mut impl LineSink) {
        if std::mem::replace(&mut self.starts_inside, false) {
            return;
        }
        if self.line.is_empty() && piece.len() <= LINE_MAX {
            sink.line(without_return(piece));
        } else {
            self.append(piece, sink);
            sink.line(without_return(&self.line));
            self.line.clear();
        }
    }

    /// Passes on the text after the last line's end: nothing follows it.
    pub(super) fn finish(&mut self, sink: &mut impl LineSink) {
        if !self.line.is_empty() {
            sink.line(&std::mem::take(&mut self.line));
        }
    }

    fn append(&mut self, piece: &[u8], sink: &mut impl LineSink) {
        let room = LINE_MAX - self.line.len().min(LINE_MAX);
        self.line.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room && !std::mem::replace(&mut self.long_reported, true) {
            sink.incident(format!("has lines of more than {LINE_MAX} bytes: they are cut"));
        }
    }
}

/// Windows' line ends have one byte more.
fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
