//! `ListWriter`: standard output on a thread of its own. A pipe that is not read holds up neither what is recorded nor the end.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

/// How many texts wait to be written. What does not fit stays with the one who writes.
const TEXTS_MAX: usize = 16;

/// Writes texts as they come.
#[derive(Debug)]
pub(super) struct ListWriter {
    texts: SyncSender<String>,
    /// Has how the writing ended, once it has.
    end: Receiver<io::Result<()>>,
}

/// What became of a text.
#[derive(Debug)]
pub(super) enum Handover {
    Done,
    /// There is no room for it: here it is again.
    Full(String),
    /// Nothing can be written any more.
    Failed(io::Error),
}

impl ListWriter {
    /// Starts to write. The thread ends with the process where it cannot go on.
    pub(super) fn start(out: impl Write + Send + 'static) -> io::Result<Self> {
        let (texts, queue) = sync_channel(TEXTS_MAX);
        let (ending, end) = sync_channel(1);
        let thread = std::thread::Builder::new().name("list".to_owned());
        thread.spawn(move || {
            // Where the owner is gone it needs no result.
            ending.send(write_all(&queue, out)).ok();
        })?;
        Ok(Self { texts, end })
    }

    /// Hands over a text; waits for nothing.
    pub(super) fn hand_over(&self, text: String) -> Handover {
        match self.texts.try_send(text) {
            Ok(()) => Handover::Done,
            Err(TrySendError::Full(text)) => Handover::Full(text),
            Err(TrySendError::Disconnected(_)) => Handover::Failed(self.failure()),
        }
    }

    /// The thread drops its queue before it says why.
    fn failure(&self) -> io::Error {
        match self.end.recv() {
            Ok(Err(error)) => error,
            Ok(Ok(())) | Err(_) => io::ErrorKind::BrokenPipe.into(),
        }
    }

    /// Ends it: waits so long for what was handed over. `None`: it is not written by then.
    pub(super) fn end(self, patience: Duration) -> Option<io::Result<()>> {
        drop(self.texts);
        self.end.recv_timeout(patience).ok()
    }
}

fn write_all(queue: &Receiver<String>, mut out: impl Write) -> io::Result<()> {
    for text in queue {
        out.write_all(text.as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A pipe that is not read before its other end says so.
    struct Stuck {
        go: Receiver<()>,
        seen: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.go.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
            self.seen.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn stuck() -> (ListWriter, SyncSender<()>, Arc<Mutex<Vec<u8>>>) {
        let (go, stuck) = sync_channel(1000);
        let seen = Arc::default();
        let out = Stuck { go: stuck, seen: Arc::clone(&seen) };
        (ListWriter::start(out).unwrap(), go, seen)
    }

    /// Fault of an attack: `brunt record | sleep 1000` did not end with Ctrl-C.
    #[test]
    fn a_pipe_that_is_not_read_blocks_nothing() {
        let (writer, _go, seen) = stuck();
        let texts = (0..100).map(|number| writer.hand_over(format!("{number}\n")));
        let full = texts.filter(|handover| matches!(handover, Handover::Full(_))).count();
        assert!(full >= 100 - TEXTS_MAX - 1, "{full}");
        assert!(writer.end(Duration::from_millis(10)).is_none());
        assert!(seen.lock().unwrap().is_empty());
    }

    #[test]
    fn what_was_handed_over_is_written_before_the_end() {
        let (writer, go, seen) = stuck();
        for text in ["a", "b", "c"] {
            assert!(matches!(writer.hand_over(text.to_owned()), Handover::Done));
            go.send(()).unwrap();
        }
        assert!(writer.end(Duration::from_secs(20)).unwrap().is_ok());
        assert_eq!(*seen.lock().unwrap(), b"abc");
    }

    #[test]
    fn a_failure_is_said_once_it_is_known() {
        let (writer, go, _) = stuck();
        drop(go);
        let failure = loop {
            match writer.hand_over("a".to_owned()) {
                Handover::Failed(error) => break error,
                _ => std::thread::yield_now(),
            }
        };
        assert_eq!(failure.kind(), io::ErrorKind::BrokenPipe);
    }
}
