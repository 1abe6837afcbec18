//! The sink: bounded, never waiting, honest about a broken output.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use metrics::Generator;
use results::{Encoding, Sink, WriteError, writer};

use crate::rows::{Shared, decode, info, plain, targets};

#[test]
fn writes_rows_and_the_last_note() {
    let out = Shared::default();
    let writer = writer(Encoding::Arrow, Box::new(out.clone()), &info()).unwrap();
    let sink = Sink::start(writer, targets(), 8).unwrap();
    for second in 0..5 {
        sink.offer(plain(10, second * 1000)).unwrap();
    }
    sink.note(Generator { sent: 1, ..Generator::default() });
    sink.note(Generator { sent: 50, finished: true, ..Generator::default() });
    let report = sink.finish();
    assert!(report.error.is_none());
    let bytes = out.0.lock().unwrap().clone();
    assert_eq!((report.rows, report.bytes, report.rows_dropped), (50, bytes.len() as u64, 0));
    let found = decode(&[&bytes]);
    assert_eq!(found.rows.len(), 50);
    assert_eq!(found.generators.last().map(|g| (g.sent, g.finished)), Some((50, true)));
}

/// An output that is stuck until it is let go.
#[derive(Clone, Default)]
struct Stuck(Arc<(Mutex<bool>, Condvar)>);

impl Write for Stuck {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (open, changed) = &*self.0;
        let guard = open.lock().unwrap();
        drop(changed.wait_timeout_while(guard, Duration::from_secs(20), |open| !*open).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn gives_batches_back_when_the_output_is_stuck() {
    let out = Stuck::default();
    let writer = writer(Encoding::Csv, Box::new(out.clone()), &info()).unwrap();
    let sink = Sink::start(writer, targets(), 2).unwrap();
    // One batch is larger than the writer's buffer, so the first write gets stuck.
    let mut accepted = 0;
    let refused = loop {
        match sink.offer(plain(20_000, 0)) {
            Ok(()) => accepted += 1,
            Err(batch) => break batch,
        }
        assert!(accepted <= 3);
    };
    assert_eq!(refused.samples.len(), 20_000);
    *out.0.0.lock().unwrap() = true;
    out.0.1.notify_all();
    let report = sink.finish();
    assert_eq!(report.rows, accepted * 20_000);
}

/// An output that has no room, or no reader.
struct Broken(io::ErrorKind);

impl Write for Broken {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn drops_and_counts_once_the_output_is_broken() {
    for (kind, closed) in [(io::ErrorKind::StorageFull, false), (io::ErrorKind::BrokenPipe, true)] {
        let writer = writer(Encoding::Gob, Box::new(Broken(kind)), &info()).unwrap();
        let sink = Sink::start(writer, targets(), 4).unwrap();
        sink.offer(plain(20_000, 0)).unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while sink.broken().is_none() {
            assert!(Instant::now() < until);
            std::thread::yield_now();
        }
        sink.offer(plain(10, 0)).unwrap();
        let report = sink.finish();
        assert_eq!((report.rows, report.rows_dropped), (0, 20_010));
        let as_closed = matches!(report.error, Some(WriteError::ClosedPipe));
        let as_full = matches!(report.error, Some(WriteError::DiskFull));
        assert_eq!((as_closed, as_full), (closed, !closed));
    }
}

#[test]
fn a_native_output_that_is_full_says_so_at_the_start() {
    let opened = writer(Encoding::Arrow, Box::new(Broken(io::ErrorKind::StorageFull)), &info());
    assert!(matches!(opened.err(), Some(WriteError::DiskFull)));
}

/// An output that counts its flushes and bytes.
#[derive(Clone, Default)]
struct Watched(Arc<Mutex<(u32, usize)>>);

impl Write for Watched {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().1 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap().0 += 1;
        Ok(())
    }
}

/// Issue 19: rows that came just after a flush of nothing waited for half a second, and a kill in that time cost a second and a half.
#[test]
fn rows_do_not_wait_after_a_flush_of_nothing() {
    // A thread that the system puts aside waits for longer.
    let quickest = (0..5).map(|_| wait_after_a_flush_of_nothing()).min().unwrap();
    assert!(quickest < Duration::from_millis(400), "{quickest:?}");
}

/// The time that rows wait for in a sink which has just flushed without any.
fn wait_after_a_flush_of_nothing() -> Duration {
    let out = Watched::default();
    let writer = writer(Encoding::Csv, Box::new(out.clone()), &info()).unwrap();
    let sink = Sink::start(writer, targets(), 8).unwrap();
    let wait_for = |holds: &dyn Fn((u32, usize)) -> bool| {
        let begin = Instant::now();
        while !holds(*out.0.lock().unwrap()) {
            assert!(begin.elapsed() < Duration::from_secs(20));
            std::thread::park_timeout(Duration::from_millis(1));
        }
        begin.elapsed()
    };
    wait_for(&|(flushes, _)| flushes > 0);
    sink.offer(plain(10, 0)).unwrap();
    let waited = wait_for(&|(_, bytes)| bytes > 0);
    sink.finish();
    waited
}
