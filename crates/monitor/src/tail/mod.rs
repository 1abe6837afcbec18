//! `Tail` follows a file that others write to. It starts at the file's present end. After a rotation it reads the new file from
//! its beginning, and the old one as long as it grows; a truncated file is read from its beginning.

mod line_sink;
mod lines;
mod tailed_file;

use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use stdx::{Nanos, counted, were};

pub(crate) use self::line_sink::LineSink;
use self::tailed_file::{Identity, TailedFile, identity};

/// Bytes of one poll; the rest waits for the next.
const POLL_MAX: usize = 16 << 20;
/// Bytes of the last poll.
const LAST_MAX: usize = 64 << 20;
/// How long a file that lost its name must not grow before it is closed. Servers write to it until a signal makes them open the
/// new one.
const SILENT: Nanos = Nanos::from_secs(30);

/// Follows a file.
#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    /// The file of that name.
    file: Option<TailedFile>,
    /// The one that had the name before.
    former: Option<Former>,
    /// The file that was there at the start and could not be opened, and how long it was.
    unopened: Option<(Identity, u64)>,
    /// The present problem, which has been reported.
    problem: Option<String>,
    buf: Vec<u8>,
}

/// A file that lost its name.
#[derive(Debug)]
struct Former {
    file: TailedFile,
    /// When it was last found longer.
    last_growth: Nanos,
}

impl Tail {
    /// Begins where the file ends now. One that is not there yet is read from its beginning once it is.
    pub(crate) fn new(path: PathBuf) -> Self {
        let found = fs::metadata(&path).ok();
        let file = TailedFile::new(&path).ok().map(|file| {
            let len = file.len().unwrap_or(0);
            file.skip(len)
        });
        let unopened =
            found.filter(|_| file.is_none()).map(|found| (identity(&found), found.len()));
        Self { path, file, former: None, unopened, problem: None, buf: Vec::new() }
    }

    /// Passes on every line that was written since the last poll, at `now` of a clock that does not jump.
    pub(crate) fn poll(&mut self, now: Nanos, sink: &mut impl LineSink) {
        self.read(now, POLL_MAX, sink);
    }

    /// Polls for the last time, and passes on the text after the last line's end. Bytes beyond the bound of one poll are
    /// reported.
    pub(crate) fn finish(&mut self, now: Nanos, sink: &mut impl LineSink) {
        let room = self.read(now, LAST_MAX, sink);
        let former = self.former.iter_mut().map(|former| &mut former.file);
        let mut left = 0u64;
        for file in former.chain(&mut self.file) {
            file.end_line(sink);
            left = left.saturating_add(file.left());
        }
        if room == 0 && left > 0 {
            sink.incident(format!(
                "{} {} not read before the end",
                counted(left, "byte"),
                were(left)
            ));
        }
    }

    /// Reads all there is; returns the room that is left. A problem is reported once, until it changes.
    fn read(&mut self, now: Nanos, mut room: usize, sink: &mut impl LineSink) -> usize {
        let former = self.read_former(now, &mut room, sink);
        let named = self.read_named(&mut room, sink);
        let followed = self
            .follow(now, sink)
            .and_then(|is_new| if is_new { self.read_named(&mut room, sink) } else { Ok(()) });
        let problem = former.and(named).and(followed).err().map(|error| match error.kind() {
            ErrorKind::NotFound => "is not there".to_owned(),
            _ => format!("cannot be read: {error}"),
        });
        if problem != self.problem {
            problem.iter().for_each(|what| sink.incident(what.clone()));
            self.problem = problem;
        }
        room
    }

    fn read_named(&mut self, room: &mut usize, sink: &mut impl LineSink) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.read(&mut self.buf, room, sink).map(drop)
    }

    /// Reads the file that lost its name, and closes it once it no longer grows.
    fn read_former(
        &mut self,
        now: Nanos,
        room: &mut usize,
        sink: &mut impl LineSink,
    ) -> io::Result<()> {
        let Some(former) = &mut self.former else { return Ok(()) };
        let had_room = *room > 0;
        let read = former.file.read(&mut self.buf, room, sink);
        if read.as_ref().is_ok_and(|len| *len > 0) || !had_room {
            former.last_growth = now;
        } else if now.saturating_sub(former.last_growth) >= SILENT {
            former.file.end_line(sink);
            self.former = None;
        }
        read.map(drop)
    }

    /// Opens the file that has the name now, where it is another; says whether it is.
    fn follow(&mut self, now: Nanos, sink: &mut impl LineSink) -> io::Result<bool> {
        let found = identity(&fs::metadata(&self.path)?);
        if self.file.as_ref().is_some_and(|file| file.identity == found) {
            return Ok(false);
        }
        let mut file = TailedFile::new(&self.path)?;
        // Its contents before the start do not belong to the run.
        if let Some((_, len)) = self.unopened.take().filter(|(which, _)| *which == file.identity) {
            file = file.skip(len);
        }
        if let Some(before) = self.file.replace(file) {
            self.retire(before, now, sink);
            sink.incident("was replaced: the new one is read from its beginning".to_owned());
        }
        Ok(true)
    }

    /// Keeps a file that lost its name. One that lost it before is let go of.
    fn retire(&mut self, file: TailedFile, now: Nanos, sink: &mut impl LineSink) {
        let Some(mut older) = self.former.replace(Former { file, last_growth: now }) else {
            return;
        };
        older.file.end_line(sink);
        match older.file.left() {
            0 => {}
            left => sink.incident(format!(
                "was replaced twice: {} {} not read",
                counted(left, "byte"),
                were(left)
            )),
        }
    }
}

#[cfg(test)]
mod tests;
