//! Files that are written to, rotated, cut short, and worse.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use super::lines::LINE_MAX;
use super::*;
use crate::kernel_file::tests::Scratch;

#[derive(Default)]
struct Collector {
    lines: Vec<String>,
    incidents: Vec<String>,
}

impl LineSink for Collector {
    fn line(&mut self, line: &[u8]) {
        self.lines.push(String::from_utf8_lossy(line).into_owned());
    }
    fn incident(&mut self, what: String) {
        self.incidents.push(what);
    }
}

/// A file that is followed.
struct TailFixture {
    scratch: Scratch,
    tail: Tail,
    second: u64,
}

impl TailFixture {
    fn new(name: &str, before: Option<&str>) -> Self {
        let scratch = Scratch::new(name);
        if let Some(before) = before {
            scratch.write("log", before);
        }
        let tail = Tail::new(scratch.0.join("log"));
        Self { scratch, tail, second: 0 }
    }

    fn append(&self, text: &str) {
        self.append_to("log", text);
    }

    fn append_to(&self, name: &str, text: &str) {
        let path = self.scratch.0.join(name);
        let mut file = File::options().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        std::fs::rename(self.scratch.0.join(from), self.scratch.0.join(to)).unwrap();
    }

    fn check(&mut self, lines: &[&str], incidents: &[&str]) {
        let mut collector = Collector::default();
        self.second += 1;
        self.tail.poll(Nanos::from_secs(self.second), &mut collector);
        compare(&collector, lines, incidents);
    }

    fn finish(mut self, lines: &[&str], incidents: &[&str]) {
        let mut collector = Collector::default();
        self.tail.finish(Nanos::from_secs(self.second), &mut collector);
        compare(&collector, lines, incidents);
    }
}

fn compare(collector: &Collector, lines: &[&str], incidents: &[&str]) {
    assert_eq!(collector.lines, lines);
    let words = collector.incidents.iter().map(|what| what.split(':').next().unwrap_or_default());
    assert_eq!(words.collect::<Vec<_>>(), incidents, "{:?}", collector.incidents);
}

#[test]
fn only_what_is_new_and_whole() {
    let mut log = TailFixture::new("tail", Some("old\nhal"));
    log.append("f\none\ntw");
    // Half of the first was there before.
    log.check(&["one"], &[]);
    log.append("o\r\n\n");
    log.check(&["two", ""], &[]);
    log.append("unended");
    log.check(&[], &[]);
    log.finish(&["unended"], &[]);
}

#[test]
fn a_file_that_comes_later_is_read_from_its_beginning() {
    let mut log = TailFixture::new("tail-later", None);
    log.check(&[], &["is not there"]);
    log.check(&[], &[]);
    log.append("one\n");
    log.check(&["one"], &[]);
}

#[test]
fn rotation_and_truncation_lose_nothing() {
    let mut log = TailFixture::new("tail-rotated", Some(""));
    log.append("one\n");
    log.check(&["one"], &[]);
    log.append("two\nthr");
    log.rename("log", "log.1");
    log.append("four\n");
    log.check(&["two", "four"], &["was replaced"]);
    // The server writes to the old one until a signal makes it open the new one.
    log.append_to("log.1", "ee\nfive\n");
    log.append("six\n");
    log.check(&["three", "five", "six"], &[]);
    // As copytruncate does.
    log.scratch.write("log", "");
    log.check(&[], &["was cut short"]);
    log.append("seven\n");
    log.append_to("log.1", "eight\nnine");
    log.check(&["eight", "seven"], &[]);
    // Silent for long enough, it is let go of.
    log.second += 30;
    log.check(&["nine"], &[]);
    log.append_to("log.1", "ten\n");
    log.check(&[], &[]);
    std::fs::remove_file(log.scratch.0.join("log")).unwrap();
    log.check(&[], &["is not there"]);
}

#[test]
fn rotated_twice_at_once() {
    let mut log = TailFixture::new("tail-twice", Some(""));
    let mut incidents: &[&str] = &[];
    // The file before the last is closed: its lines are complete.
    for (old, lines) in [("1", &["one"][..]), ("2", &["two"]), ("3", &["unended", "three"])] {
        log.append(&format!("{}\n", lines.last().unwrap()));
        log.check(lines, incidents);
        log.append("unended");
        log.rename("log", old);
        incidents = &["was replaced"];
    }
}

/// Whether a file is unreadable: root can read any.
fn is_barred(path: &std::path::Path) -> bool {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
    File::open(path).is_err()
}

#[test]
fn an_unreadable_log_is_reported_once_and_its_past_is_left_alone() {
    let scratch = Scratch::new("tail-barred");
    scratch.write("log", "old\n");
    let path = scratch.0.join("log");
    if !is_barred(&path) {
        return;
    }
    let mut log = TailFixture { tail: Tail::new(path.clone()), scratch, second: 0 };
    log.check(&[], &["cannot be read"]);
    log.check(&[], &[]);
    let open = || std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&path, open()).unwrap();
    log.append("one\n");
    log.check(&["one"], &[]);
    // A successor that is not for us: the old one is read on.
    log.rename("log", "log.1");
    log.append("two\n");
    assert!(is_barred(&path));
    log.append_to("log.1", "three\n");
    log.check(&["three"], &["cannot be read"]);
    std::fs::set_permissions(&path, open()).unwrap();
    log.check(&["two"], &["was replaced"]);
}

#[test]
fn what_was_there_and_could_not_be_opened_begins_where_it_ended() {
    // As at the start of a log that only root may read, for any user of the test.
    let mut log = TailFixture::new("tail-unopened", Some("old\nha"));
    let found = std::fs::metadata(log.scratch.0.join("log")).unwrap();
    (log.tail.file, log.tail.unopened) = (None, Some((identity(&found), found.len())));
    log.append("lf\nnew\n");
    log.check(&["new"], &[]);
}

#[test]
fn a_pipe_is_reported_and_never_waited_for() {
    let mut log = TailFixture::new("tail-pipe", Some(""));
    let fifo = log.scratch.0.join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    log.rename("log", "log.1");
    log.rename("fifo", "log");
    log.append_to("log.1", "still here\n");
    log.check(&["still here"], &["cannot be read"]);
    log.check(&[], &[]);
    let mut tail = Tail::new(log.scratch.0.join("log"));
    let mut collector = Collector::default();
    tail.poll(Nanos::ZERO, &mut collector);
    assert_eq!(collector.incidents, ["cannot be read: it is no regular file"]);
}

#[test]
fn much_and_long_is_bounded() {
    let mut log = TailFixture::new("tail-long", Some(""));
    log.append(&format!("{}\nshort\n", "x".repeat(3 * LINE_MAX)));
    let mut collector = Collector::default();
    log.tail.poll(Nanos::ZERO, &mut collector);
    let lens: Vec<usize> = collector.lines.iter().map(String::len).collect();
    assert_eq!((lens, collector.incidents.len()), (vec![LINE_MAX, 5], 1));
    log.append(&"0123456789abcde\n".repeat(POLL_MAX / 16 + 1));
    for lines in [POLL_MAX / 16, 1, 0] {
        let mut collector = Collector::default();
        log.tail.poll(Nanos::ZERO, &mut collector);
        assert_eq!(collector.lines.len(), lines);
    }
}

#[test]
fn what_is_left_at_the_end_is_reported() {
    let log = TailFixture::new("tail-backlog", Some(""));
    let line = format!("{}\n", "y".repeat((64 << 10) - 1));
    log.append(&line.repeat(LAST_MAX / line.len()));
    log.append("behind the limit\n");
    let mut tail = log.tail;
    let mut collector = Collector::default();
    tail.finish(Nanos::ZERO, &mut collector);
    assert_eq!(collector.lines.len(), LAST_MAX / line.len());
    assert_eq!(collector.incidents, ["17 bytes were not read before the end"]);
}
