//! `Wakes`: the streams that have something to do. The `h2` crate reports one by waking its waker; our wakers only record it, and
//! the session reads the record at its next turn.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

/// The notes of one session.
#[derive(Debug)]
pub(super) struct Wakes {
    notes: Arc<Notes>,
    connection: Waker,
    /// One for each stream number, made when it is first used.
    streams: Vec<Waker>,
}

/// Wakers are shared by their contract, so the notes are too; one thread alone uses them.
#[derive(Debug, Default)]
struct Notes {
    connection: AtomicBool,
    streams: Mutex<Vec<u32>>,
}

impl Wake for Notes {
    fn wake(self: Arc<Self>) {
        self.connection.store(true, Ordering::Relaxed);
    }
}

struct StreamNote {
    notes: Arc<Notes>,
    number: u32,
}

impl Wake for StreamNote {
    fn wake(self: Arc<Self>) {
        let mut streams = self.notes.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.push(self.number);
    }
}

impl Default for Wakes {
    fn default() -> Self {
        let notes = Arc::new(Notes::default());
        Self { connection: Waker::from(Arc::clone(&notes)), notes, streams: Vec::new() }
    }
}

impl Wakes {
    /// What notes that the connection has something to do.
    pub(super) fn connection(&self) -> &Waker {
        &self.connection
    }

    pub(super) fn wake_connection(&self) {
        self.notes.connection.store(true, Ordering::Relaxed);
    }

    /// Whether the connection had something to do; it has not any more.
    pub(super) fn take_connection(&self) -> bool {
        self.notes.connection.swap(false, Ordering::Relaxed)
    }

    /// Marks a stream as one with events.
    pub(super) fn stream(&mut self, number: u32) -> &Waker {
        while self.streams.len() <= number as usize {
            let note =
                StreamNote { notes: Arc::clone(&self.notes), number: self.streams.len() as u32 };
            self.streams.push(Waker::from(Arc::new(note)));
        }
        &self.streams[number as usize]
    }

    /// Moves the streams that have events; gives whether there are any.
    pub(super) fn take_streams(&self, lively: &mut VecDeque<u32>) -> bool {
        let mut streams = self.notes.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let any = !streams.is_empty();
        lively.extend(streams.drain(..));
        any
    }
}
