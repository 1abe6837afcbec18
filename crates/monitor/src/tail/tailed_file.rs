//! `TailedFile`: a regular file as it was opened, and how far it was read. Nothing else is opened: a pipe would wait for its writer.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::line_sink::LineSink;
use super::lines::Lines;

/// Bytes read at once.
const READ: usize = 256 << 10;

/// Which file it is: its device and number.
pub(super) type Identity = (u64, u64);

/// Which file this is.
pub(super) fn identity(found: &Metadata) -> Identity {
    (found.dev(), found.ino())
}

/// The file as it was opened.
#[derive(Debug)]
pub(super) struct TailedFile {
    file: File,
    pub(super) identity: Identity,
    /// How far it was read.
    at: u64,
    lines: Lines,
}

impl TailedFile {
    /// Opens it at its beginning.
    ///
    /// # Errors
    /// It cannot be read, or is no regular file.
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        regular(&fs::metadata(path)?)?;
        // It may have become a pipe since: opening one would wait, but for this flag.
        let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
        let found = file.metadata()?;
        regular(&found)?;
        Ok(Self { file, identity: identity(&found), at: 0, lines: Lines::default() })
    }

    /// Begins behind its first `at` bytes. A line that began before them is left out.
    pub(super) fn skip(mut self, at: u64) -> Self {
        let Some(last) = at.checked_sub(1) else { return self };
        let mut byte = [b'\n'];
        // An unreadable file is reported at the first poll.
        let is_inside =
            self.file.read_at(&mut byte, last).is_ok_and(|len| len > 0 && byte != *b"\n");
        (self.at, self.lines) =
            (at, if is_inside { Lines::inside_a_line() } else { Lines::default() });
        self
    }

    /// The bytes it has now.
    pub(super) fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// The bytes that were not read yet, as far as that can be known.
    pub(super) fn left(&self) -> u64 {
        self.len().unwrap_or(0).saturating_sub(self.at)
    }

    /// Reads on to its end, or until `room` is used up; returns the bytes read. After an error the next call continues where
    /// this one stopped.
    ///
    /// # Errors
    /// It cannot be read now.
    pub(super) fn read(
        &mut self,
        buf: &mut Vec<u8>,
        room: &mut usize,
        sink: &mut impl LineSink,
    ) -> io::Result<usize> {
        if self.len()? < self.at {
            (self.at, self.lines) = (0, Lines::default());
            sink.incident("was cut short: it is read from its beginning".to_owned());
        }
        buf.resize(READ, 0);
        let mut all = 0;
        while *room > 0 {
            let len = READ.min(*room);
            let len = self.file.read_at(&mut buf[..len], self.at)?;
            if len == 0 {
                break;
            }
            self.at += len as u64;
            *room -= len;
            all += len;
            self.lines.push(&buf[..len], sink);
        }
        Ok(all)
    }

    /// Passes on the text after the last line's end, if the whole file was read.
    pub(super) fn end_line(&mut self, sink: &mut impl LineSink) {
        if self.left() == 0 {
            self.lines.finish(sink);
        }
    }
}

fn regular(found: &Metadata) -> io::Result<()> {
    if found.is_file() { Ok(()) } else { Err(io::Error::other("it is no regular file")) }
}
