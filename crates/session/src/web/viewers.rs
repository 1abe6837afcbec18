//! `Viewers`: the browsers that look on. One thread writes to all of them, and waits for none: the connection of a browser that
//! reads too slowly is closed. Its `EventSource` connects again, and gets all of the history.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Browsers at a time, at most.
const VIEWERS_MAX: usize = 64;
/// Events that wait for one browser, at most.
const WAITING_MAX: usize = 30;
/// How long browsers get for the last events, together, before the process ends.
const LAST: Duration = Duration::from_millis(200);
/// How often a full socket is tried again.
const RETRY: Duration = Duration::from_millis(100);
/// The head of a stream of events (WHATWG HTML, 9.2).
const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\
                    Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n";

/// The browsers that look on.
#[derive(Clone, Default)]
pub(super) struct Viewers(Arc<(Mutex<Room>, Condvar)>);

#[derive(Default)]
struct Room {
    /// Those who came since the thread looked last, with what they get first.
    came: Vec<(TcpStream, Arc<str>)>,
    /// Events since then.
    events: Vec<Arc<str>>,
    present: usize,
    /// Until when the last events are written, once they are known.
    until: Option<Instant>,
    is_over: bool,
}

struct Viewer {
    socket: TcpStream,
    waiting: VecDeque<Arc<str>>,
    /// Bytes of the first event that were written.
    written: usize,
}

impl Viewers {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system refuses it.
    pub(super) fn start() -> io::Result<Self> {
        let viewers = Self::default();
        let shared = viewers.clone();
        std::thread::Builder::new().name("viewers".to_owned()).spawn(move || shared.serve())?;
        Ok(viewers)
    }

    fn room(&self) -> MutexGuard<'_, Room> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a browser in, which gets `first` before all events; refuses it where there are too many.
    pub(super) fn add(&self, socket: TcpStream, first: &str) {
        let mut room = self.room();
        if room.present + room.came.len() >= VIEWERS_MAX || room.until.is_some() {
            return;
        }
        // A socket that cannot be set so would make all others wait.
        if socket.set_nonblocking(true).is_ok() {
            room.came.push((socket, format!("{HEAD}{first}").into()));
            self.0.1.notify_one();
        }
    }

    /// Sends an event to all.
    pub(super) fn send(&self, event: String) {
        let mut room = self.room();
        if room.present + room.came.len() > 0 {
            room.events.push(event.into());
            self.0.1.notify_one();
        }
    }

    /// Sends the last event, and gives browsers [`LAST`] to take what waits for them.
    pub(super) fn close(&self, event: String) {
        self.send(event);
        let mut room = self.room();
        room.until = Some(Instant::now() + LAST);
        self.0.1.notify_all();
        let over = self.0.1.wait_timeout_while(room, LAST, |room| !room.is_over);
        drop(over);
    }

    fn serve(&self) {
        let mut viewers: Vec<Viewer> = Vec::new();
        loop {
            let is_behind = viewers.iter().any(|viewer| !viewer.waiting.is_empty());
            let mut room = self.next(is_behind);
            let events = std::mem::take(&mut room.events);
            // A browser that comes now has in its first event what these say.
            viewers.retain_mut(|viewer| viewer.take(&events));
            viewers.extend(room.came.drain(..).map(|(socket, first)| Viewer::new(socket, first)));
            room.present = viewers.len();
            let until = room.until;
            drop(room);
            viewers.retain_mut(|viewer| viewer.write().is_ok());
            let is_written = viewers.iter().all(|viewer| viewer.waiting.is_empty());
            let mut room = self.room();
            room.present = viewers.len();
            if until.is_some_and(|until| is_written || Instant::now() >= until) {
                room.is_over = true;
                self.0.1.notify_all();
                return;
            }
        }
    }

    /// Waits until there is something to do; for [`RETRY`] at most where a browser is behind.
    fn next(&self, is_behind: bool) -> MutexGuard<'_, Room> {
        let is_idle = |room: &mut Room| {
            room.came.is_empty() && room.events.is_empty() && (is_behind || room.until.is_none())
        };
        let room = self.room();
        if is_behind {
            let waited = self.0.1.wait_timeout_while(room, RETRY, is_idle);
            return waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        self.0.1.wait_while(room, is_idle).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Viewer {
    fn new(socket: TcpStream, first: Arc<str>) -> Self {
        Self { socket, waiting: [first].into(), written: 0 }
    }

    /// Queues events; false where too many wait.
    fn take(&mut self, events: &[Arc<str>]) -> bool {
        self.waiting.extend(events.iter().map(Arc::clone));
        self.waiting.len() <= WAITING_MAX
    }

    /// Writes what the socket takes.
    fn write(&mut self) -> io::Result<()> {
        while let Some(event) = self.waiting.front() {
            match self.socket.write(&event.as_bytes()[self.written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(len) => self.written += len,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.written == event.len() {
                self.written = 0;
                self.waiting.pop_front();
            }
        }
        Ok(())
    }
}
