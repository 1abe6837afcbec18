//! `Tail`: follows a file that others write to. It begins at what is its end now; rotated, it is read to its end and the new
//! one from its beginning; cut short, it is read from its beginning.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

/// Bytes read in one look; what is more waits for the next.
const LOOK_MAX: usize = 16 << 20;
/// Bytes read at once.
const READ: usize = 256 << 10;
/// Bytes of a line; the rest of a longer one is thrown away.
const LINE_MAX: usize = 64 << 10;

/// Follows a file.
#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    file: Option<Opened>,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// Bytes of long lines were thrown away, which was said.
    told_long: bool,
    /// It was not to be found the last time, which was said.
    told_missing: bool,
    buf: Vec<u8>,
}

/// The file as it was opened.
#[derive(Debug)]
struct Opened {
    file: File,
    /// Which file it is: its device and number.
    identity: (u64, u64),
    /// How far it was read.
    at: u64,
}

/// What takes what a file says.
pub(crate) trait Listener {
    /// A whole line, without its end.
    fn line(&mut self, line: &[u8]);
    /// Something was amiss.
    fn told(&mut self, what: String);
}

impl Tail {
    /// Begins where the file ends now. One that is not there yet is read from its beginning once it is.
    pub(crate) fn new(path: PathBuf) -> Self {
        let file = Opened::new(&path).ok().map(|mut opened| {
            opened.at = opened.file.metadata().map_or(0, |found| found.len());
            opened
        });
        let (line, buf) = (Vec::new(), Vec::new());
        Self { path, file, line, told_long: false, told_missing: false, buf }
    }

    /// Gives every line that was written since the last look.
    pub(crate) fn look(&mut self, listener: &mut impl Listener) {
        let mut room = LOOK_MAX;
        if let Some(mut opened) = self.file.take() {
            let read = self.read(&mut opened, &mut room, listener);
            match read {
                Ok(()) => self.file = Some(opened),
                Err(error) => listener.told(format!("cannot be read: {error}")),
            }
        }
        let found = fs::metadata(&self.path).ok();
        self.tell_missing(found.is_some(), listener);
        let Some(found) = found else { return };
        let is_same = |opened: &Opened| opened.identity == (found.dev(), found.ino());
        if self.file.as_ref().is_some_and(is_same) {
            return;
        }
        // What lies behind the limit of one look is read before the new file is.
        if room == 0 {
            return;
        }
        if self.file.is_some() {
            self.end_line(listener);
            listener.told("was replaced: the new one is read from its beginning".to_owned());
        }
        self.file = Opened::new(&self.path).ok();
        if let Some(mut opened) = self.file.take() {
            let read = self.read(&mut opened, &mut room, listener);
            self.file = read.is_ok().then_some(opened);
        }
    }

    /// Gives what stands behind the last line's end, once nothing follows.
    pub(crate) fn finish(&mut self, listener: &mut impl Listener) {
        self.look(listener);
        self.end_line(listener);
    }

    fn end_line(&mut self, listener: &mut impl Listener) {
        if !self.line.is_empty() {
            listener.line(&std::mem::take(&mut self.line));
        }
    }

    /// Says once that the file is not there, until it is.
    fn tell_missing(&mut self, is_there: bool, listener: &mut impl Listener) {
        if !is_there && !self.told_missing {
            listener.told("is not there".to_owned());
        }
        self.told_missing = !is_there;
    }

    fn read(
        &mut self,
        opened: &mut Opened,
        room: &mut usize,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        if opened.file.metadata()?.len() < opened.at {
            self.line.clear();
            opened.at = 0;
            listener.told("was cut short: it is read from its beginning".to_owned());
        }
        let mut buf = std::mem::take(&mut self.buf);
        buf.resize(READ, 0);
        while *room > 0 {
            let len = READ.min(*room);
            let len = opened.file.read_at(&mut buf[..len], opened.at)?;
            if len == 0 {
                break;
            }
            opened.at += len as u64;
            *room -= len;
            self.take(&buf[..len], listener);
        }
        self.buf = buf;
        Ok(())
    }

    /// Cuts bytes into lines.
    fn take(&mut self, bytes: &[u8], listener: &mut impl Listener) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (piece, after) = (&rest[..end], &rest[end + 1..]);
            if self.line.is_empty() && piece.len() <= LINE_MAX {
                listener.line(without_return(piece));
            } else {
                self.keep(piece, listener);
                listener.line(without_return(&self.line));
                self.line.clear();
            }
            rest = after;
        }
        self.keep(rest, listener);
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

impl Opened {
    fn new(path: &PathBuf) -> io::Result<Self> {
        let file = File::open(path)?;
        let found = file.metadata()?;
        Ok(Self { file, identity: (found.dev(), found.ino()), at: 0 })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::kept::tests::Scratch;

    #[derive(Default)]
    struct Heard {
        lines: Vec<String>,
        told: Vec<String>,
    }

    impl Listener for Heard {
        fn line(&mut self, line: &[u8]) {
            self.lines.push(String::from_utf8_lossy(line).into_owned());
        }
        fn told(&mut self, what: String) {
            self.told.push(what);
        }
    }

    /// A file that is followed.
    struct Followed {
        scratch: Scratch,
        tail: Tail,
    }

    impl Followed {
        fn new(name: &str, before: Option<&str>) -> Self {
            let scratch = Scratch::new(name);
            if let Some(before) = before {
                scratch.write("log", before);
            }
            let tail = Tail::new(scratch.0.join("log"));
            Self { scratch, tail }
        }

        fn append(&self, text: &str) {
            let path = self.scratch.0.join("log");
            let mut file = File::options().append(true).create(true).open(path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }

        fn check(&mut self, lines: &[&str], told: &[&str]) {
            let mut heard = Heard::default();
            self.tail.look(&mut heard);
            assert_eq!(heard.lines, lines);
            let words = heard.told.iter().map(|what| what.split(':').next().unwrap_or_default());
            assert_eq!(words.collect::<Vec<_>>(), told);
        }
    }

    #[test]
    fn only_what_is_new_and_whole() {
        let mut log = Followed::new("tail", Some("old\nhal"));
        log.append("f\none\ntw");
        log.check(&["f", "one"], &[]);
        log.append("o\r\n\n");
        log.check(&["two", ""], &[]);
        log.append("unended");
        log.check(&[], &[]);
        let mut heard = Heard::default();
        log.tail.finish(&mut heard);
        assert_eq!(heard.lines, ["unended"]);
    }

    #[test]
    fn a_file_that_comes_later_is_read_from_its_beginning() {
        let mut log = Followed::new("tail-later", None);
        log.check(&[], &["is not there"]);
        log.check(&[], &[]);
        log.append("one\n");
        log.check(&["one"], &[]);
    }

    #[test]
    fn rotation_and_truncation_lose_nothing() {
        let mut log = Followed::new("tail-rotated", Some(""));
        log.append("one\n");
        log.check(&["one"], &[]);
        log.append("two\nthree");
        std::fs::rename(log.scratch.0.join("log"), log.scratch.0.join("log.1")).unwrap();
        log.append("four\n");
        log.check(&["two", "three", "four"], &["was replaced"]);
        // As copytruncate does.
        log.scratch.write("log", "");
        log.check(&[], &["was cut short"]);
        log.append("five\n");
        log.check(&["five"], &[]);
        std::fs::remove_file(log.scratch.0.join("log")).unwrap();
        log.check(&[], &["is not there"]);
    }

    #[test]
    fn much_and_long_is_bounded() {
        let mut log = Followed::new("tail-long", Some(""));
        log.append(&format!("{}\nshort\n", "x".repeat(3 * LINE_MAX)));
        let mut heard = Heard::default();
        log.tail.look(&mut heard);
        let lens: Vec<usize> = heard.lines.iter().map(String::len).collect();
        assert_eq!((lens, heard.told.len()), (vec![LINE_MAX, 5], 1));
        log.append(&"0123456789abcde\n".repeat(LOOK_MAX / 16 + 1));
        for lines in [LOOK_MAX / 16, 1, 0] {
            let mut heard = Heard::default();
            log.tail.look(&mut heard);
            assert_eq!(heard.lines.len(), lines);
        }
    }
}
