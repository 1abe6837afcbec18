//! `Lines`: bytes of a file, cut into lines.

use super::listener::Listener;

/// Bytes of a line; the rest of a longer one is thrown away.
pub(super) const LINE_MAX: usize = 64 << 10;

/// Cuts bytes into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// The bytes begin in the middle of a line: up to its end they are no line.
    begins_inside: bool,
    /// Bytes of long lines were thrown away, which was said.
    told_long: bool,
}

impl Lines {
    /// The first line's beginning is not among the bytes: the line is left out.
    pub(super) fn begun() -> Self {
        Self { begins_inside: true, ..Self::default() }
    }

    /// Gives every line that these bytes complete.
    pub(super) fn take(&mut self, bytes: &[u8], listener: &mut impl Listener) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (piece, after) = (&rest[..end], &rest[end + 1..]);
            self.end(piece, listener);
            rest = after;
        }
        if !self.begins_inside {
            self.keep(rest, listener);
        }
    }

    /// Takes the last piece of a line.
    fn end(&mut self, piece: &[u8], listener: &mut impl Listener) {
        if std::mem::replace(&mut self.begins_inside, false) {
            return;
        }
        if self.line.is_empty() && piece.len() <= LINE_MAX {
            listener.line(without_return(piece));
        } else {
            self.keep(piece, listener);
            listener.line(without_return(&self.line));
            self.line.clear();
        }
    }

    /// Gives what stands behind the last line's end: nothing follows.
    pub(super) fn finish(&mut self, listener: &mut impl Listener) {
        if !self.line.is_empty() {
            listener.line(&std::mem::take(&mut self.line));
        }
    }

    fn keep(&mut self, piece: &[u8], listener: &mut impl Listener) {
        let room = LINE_MAX - self.line.len().min(LINE_MAX);
        self.line.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room && !std::mem::replace(&mut self.told_long, true) {
            listener.told(format!("has lines of more than {LINE_MAX} bytes: they are cut"));
        }
    }
}

/// Windows' line ends have one byte more.
fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
