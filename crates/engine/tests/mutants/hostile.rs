//! `Hostile`: a server whose outputs are mutated on their way out. It keeps the order of a connection's pieces, and their pauses.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use net::{Key, Output, Peer};
use stdx::Nanos;

use crate::mutation::{End, Mutator};

/// A connection, as the outside sees it.
#[derive(Default)]
struct Conn {
    /// The server within has not closed it.
    is_open_within: bool,
    /// Nothing more of the server within goes out.
    is_muted: bool,
    /// When its last piece goes out.
    last_at: Nanos,
    /// Outputs that wait.
    waiting: usize,
}

/// A server behind a mutator.
pub(crate) struct Hostile {
    within: Box<dyn Peer>,
    mutator: Mutator,
    conns: HashMap<Key, Conn>,
    /// Outputs by their time, and then by their number.
    waiting: BTreeMap<(Nanos, u64), (Key, Output)>,
    numbered: u64,
    now: Nanos,
    /// Outputs that were mutated.
    changed: Rc<Cell<u64>>,
}

impl Hostile {
    pub(crate) fn new(within: Box<dyn Peer>, mutator: Mutator, changed: Rc<Cell<u64>>) -> Self {
        let (conns, waiting) = (HashMap::new(), BTreeMap::new());
        Self { within, mutator, conns, waiting, numbered: 0, now: Nanos::ZERO, changed }
    }

    /// Mutates what the server within has to send.
    fn take_outputs(&mut self) {
        while let Some((key, output)) = self.within.poll_output() {
            let Some(conn) = self.conns.get_mut(&key) else { continue };
            conn.is_open_within &= matches!(output, Output::Bytes(_));
            if conn.is_muted {
                continue;
            }
            let bytes = match output {
                Output::Bytes(bytes) => bytes,
                ending => {
                    conn.is_muted = true;
                    self.schedule(key, Nanos::ZERO, ending);
                    continue;
                }
            };
            let mutation = self.mutator.mutate(bytes);
            self.changed.set(self.changed.get() + u64::from(mutation.is_changed));
            conn.is_muted = mutation.end != End::Open;
            for (pause, piece) in mutation.pieces {
                self.schedule(key, pause, Output::Bytes(piece));
            }
            match mutation.end {
                End::Open => {}
                End::Close => self.schedule(key, Nanos::ZERO, Output::Close),
                End::Reset => self.schedule(key, Nanos::ZERO, Output::Reset),
            }
        }
    }

    /// Has an output go out after those before it on its connection.
    fn schedule(&mut self, key: Key, pause: Nanos, output: Output) {
        let Some(conn) = self.conns.get_mut(&key) else { return };
        conn.last_at = conn.last_at.max(self.now).saturating_add(pause);
        conn.waiting += 1;
        self.waiting.insert((conn.last_at, self.numbered), (key, output));
        self.numbered += 1;
    }

    /// The connection is over for the outside.
    fn forget(&mut self, key: Key) {
        self.waiting.retain(|_, (other, _)| *other != key);
        if self.conns.remove(&key).is_some_and(|conn| conn.is_open_within) {
            self.within.handle_close(self.now, key);
        }
    }
}

impl Peer for Hostile {
    fn handle_open(&mut self, now: Nanos, conn: Key) {
        self.now = now;
        let fresh = Conn { is_open_within: true, last_at: now, ..Conn::default() };
        self.conns.insert(conn, fresh);
        self.within.handle_open(now, conn);
    }

    fn handle_bytes(&mut self, now: Nanos, conn: Key, bytes: &[u8]) {
        self.now = now;
        if self.conns.get(&conn).is_some_and(|conn| conn.is_open_within) {
            self.within.handle_bytes(now, conn, bytes);
        }
    }

    fn handle_close(&mut self, now: Nanos, conn: Key) {
        self.now = now;
        self.forget(conn);
    }

    fn next_deadline(&self) -> Option<Nanos> {
        // What is due already goes out with the next poll.
        let waiting = self.waiting.keys().next().map(|(at, _)| *at);
        self.within.next_deadline().into_iter().chain(waiting).min()
    }

    fn handle_deadline(&mut self, now: Nanos) {
        self.now = now;
        if self.within.next_deadline().is_some_and(|at| at <= now) {
            self.within.handle_deadline(now);
        }
    }

    fn poll_output(&mut self) -> Option<(Key, Output)> {
        self.take_outputs();
        let entry = self.waiting.first_entry().filter(|entry| entry.key().0 <= self.now)?;
        let (key, output) = entry.remove();
        if let Some(conn) = self.conns.get_mut(&key) {
            conn.waiting -= 1;
        }
        if !matches!(output, Output::Bytes(_)) {
            self.forget(key);
        }
        Some((key, output))
    }

    fn handle_drained(&mut self, now: Nanos, conn: Key) {
        self.now = now;
        // A server without end would have another part of it go out for each piece.
        if self.conns.get(&conn).is_some_and(|conn| conn.is_open_within && conn.waiting == 0) {
            self.within.handle_drained(now, conn);
        }
    }
}
