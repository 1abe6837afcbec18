//! `Connections`: the thread that reads requests and writes answers, of all connections at once and waiting for none. Each has a
//! time of its own; where there are too many, the one that has waited longest goes.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::mem;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::answers::{Answers, UnderWay};
use super::request::{Arrived, Request, Response, Rules};

/// How long a request may take to come, and its answer to go.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// Connections at a time, at most, without those whose request is being answered.
const CONNECTIONS_MAX: usize = 256;
/// After the system refused a client (no descriptors are left), so long nothing is asked of it.
const PAUSE: Duration = Duration::from_millis(100);

/// All connections of a listener.
pub(super) struct Connections {
    socket: TcpListener,
    rules: Rules,
    patience: Duration,
    answers: Answers,
    work: SyncSender<Work>,
    returned: Arc<Mutex<Vec<Connection>>>,
    /// A byte comes when something was returned.
    woken: UnixStream,
    /// The longest waiting first.
    open: Vec<Connection>,
    /// From when clients are accepted again.
    accepts_from: Instant,
}

/// A request that came whole.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) client: TcpStream,
    pub(super) request: Request,
    under_way: UnderWay,
}

/// Where connections go back to with their answers.
pub(super) struct Returned {
    patience: Duration,
    /// No more than there are requests under way.
    list: Arc<Mutex<Vec<Connection>>>,
    wake: UnixStream,
}

impl Returned {
    /// Has an answer written.
    pub(super) fn give_back(&self, work: Work, response: &Response) {
        let until = Instant::now() + self.patience;
        let stage =
            Stage::Answers { bytes: response.bytes(), written: 0, under_way: work.under_way };
        let connection = Connection { client: work.client, until, stage };
        self.list.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        // Where it is full, the thread is woken already.
        (&self.wake).write_all(&[0]).ok();
    }
}

struct Connection {
    client: TcpStream,
    /// When it is closed, done or not.
    until: Instant,
    stage: Stage,
}

enum Stage {
    /// What has come of the request.
    Asks(Vec<u8>),
    Answers {
        bytes: Vec<u8>,
        written: usize,
        #[expect(dead_code, reason = "it is held")]
        under_way: UnderWay,
    },
}

/// What becomes of a connection.
enum Turn {
    Waits(Connection),
    Asked(TcpStream, Request),
    Ended,
}

impl Connection {
    fn wants(&self) -> PollFlags {
        match self.stage {
            Stage::Asks(_) => PollFlags::POLLIN,
            Stage::Answers { .. } => PollFlags::POLLOUT,
        }
    }

    /// Reads or writes what it can. A client that disconnects, or sends a malformed request, is not an error of ours.
    fn turn(mut self, rules: &Rules, refuse: impl FnOnce(&Response) -> Stage) -> Turn {
        let done = match &mut self.stage {
            Stage::Asks(bytes) => match read(&mut self.client, bytes, rules) {
                Ok(Arrived::Begun) => return Turn::Waits(self),
                Ok(Arrived::Whole(request)) => return Turn::Asked(self.client, request),
                Ok(Arrived::Refused(response)) => {
                    self.stage = refuse(&response);
                    return Turn::Waits(self);
                }
                Err(_) => true,
            },
            Stage::Answers { bytes, written, .. } => {
                matches!(write(&mut self.client, bytes, written), Ok(true) | Err(_))
            }
        };
        if done { Turn::Ended } else { Turn::Waits(self) }
    }
}

/// Reads what is there.
///
/// # Errors
/// The client is gone.
fn read(client: &mut TcpStream, bytes: &mut Vec<u8>, rules: &Rules) -> io::Result<Arrived> {
    let mut buf = [0; 4096];
    loop {
        match client.read(&mut buf) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(len) => bytes.extend_from_slice(&buf[..len]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Arrived::Begun),
            Err(error) => return Err(error),
        }
        match rules.read(bytes) {
            Arrived::Begun => {}
            arrived => return Ok(arrived),
        }
    }
}

/// Writes what is taken; whether that was all.
///
/// # Errors
/// The client is gone.
fn write(client: &mut TcpStream, bytes: &[u8], written: &mut usize) -> io::Result<bool> {
    while *written < bytes.len() {
        match client.write(&bytes[*written..]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(len) => *written += len,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

impl Connections {
    /// Those of a socket; whole requests go to `work`, and come back with their answers.
    ///
    /// # Errors
    /// The system refuses it.
    pub(super) fn new(
        socket: TcpListener,
        rules: Rules,
        (patience, answers): (Duration, Answers),
        work: SyncSender<Work>,
    ) -> io::Result<(Self, Returned)> {
        socket.set_nonblocking(true)?;
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let list = Arc::<Mutex<Vec<Connection>>>::default();
        let returned = Returned { patience, list: Arc::clone(&list), wake };
        let (open, accepts_from) = (Vec::new(), Instant::now());
        let own = Self {
            socket,
            rules,
            patience,
            answers,
            work,
            returned: list,
            woken,
            open,
            accepts_from,
        };
        Ok((own, returned))
    }

    /// Attends to them for as long as the process lives.
    pub(super) fn attend(mut self) {
        loop {
            let ready = self.wait();
            self.take_turns(&ready);
            let back =
                mem::take(&mut *self.returned.lock().unwrap_or_else(PoisonError::into_inner));
            for connection in back {
                self.advance(connection);
            }
            self.accept();
        }
    }

    /// Waits until something happens; which of the connections can go on.
    fn wait(&mut self) -> Vec<bool> {
        let now = Instant::now();
        let accepts = now >= self.accepts_from;
        let ends = self.open.iter().map(|one| one.until);
        let until = ends.chain((!accepts).then_some(self.accepts_from)).min();
        // A millisecond more: what is waited for is over then.
        let left =
            until.map(|until| until.saturating_duration_since(now) + Duration::from_millis(1));
        let timeout = left.map_or(PollTimeout::NONE, |left| {
            PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
        });
        let mut fds = vec![PollFd::new(self.woken.as_fd(), PollFlags::POLLIN)];
        fds.extend(self.open.iter().map(|one| PollFd::new(one.client.as_fd(), one.wants())));
        if accepts {
            fds.push(PollFd::new(self.socket.as_fd(), PollFlags::POLLIN));
        }
        if poll(&mut fds, timeout).is_err() {
            // Interrupted: they are looked at again.
            return vec![false; self.open.len()];
        }
        let ready = fds[1..=self.open.len()].iter().map(|fd| fd.any() != Some(false)).collect();
        let mut bytes = [0; 64];
        while (&self.woken).read(&mut bytes).is_ok_and(|len| len > 0) {}
        ready
    }

    fn take_turns(&mut self, ready: &[bool]) {
        let now = Instant::now();
        let open = mem::take(&mut self.open);
        for (connection, is_ready) in open.into_iter().zip(ready) {
            // Also one that sends a byte now and then has no more time than others.
            match is_ready {
                _ if connection.until <= now => {}
                true => self.advance(connection),
                false => self.open.push(connection),
            }
        }
    }

    /// Has a connection go on, and keeps it where it waits.
    fn advance(&mut self, connection: Connection) {
        let answers = &self.answers;
        let answer = |response: &Response| Stage::Answers {
            bytes: response.bytes(),
            written: 0,
            under_way: answers.begin(),
        };
        match connection.turn(&self.rules, answer) {
            Turn::Waits(connection) => self.open.push(connection),
            Turn::Ended => {}
            Turn::Asked(client, request) => {
                let work = Work { client, request, under_way: self.answers.begin() };
                let Err(TrySendError::Full(work) | TrySendError::Disconnected(work)) =
                    self.work.try_send(work)
                else {
                    return;
                };
                let busy = Response::refusal("503 Service Unavailable", "too many ask at once");
                let stage =
                    Stage::Answers { bytes: busy.bytes(), written: 0, under_way: work.under_way };
                let until = Instant::now() + self.patience;
                self.open.push(Connection { client: work.client, until, stage });
            }
        }
    }

    /// Lets in all who wait. Where there are too many, the one that has waited longest goes.
    fn accept(&mut self) {
        if Instant::now() < self.accepts_from {
            return;
        }
        loop {
            match self.socket.accept() {
                Ok((client, _)) => {
                    if client.set_nonblocking(true).is_err() {
                        continue;
                    }
                    if self.open.len() >= CONNECTIONS_MAX {
                        self.drop_oldest();
                    }
                    let until = Instant::now() + self.patience;
                    // What it sends is often there already.
                    self.advance(Connection { client, until, stage: Stage::Asks(Vec::new()) });
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(_) => {
                    // No descriptor is left, perhaps for those that are here.
                    self.drop_oldest();
                    self.accepts_from = Instant::now() + PAUSE;
                    return;
                }
            }
        }
    }

    fn drop_oldest(&mut self) {
        let oldest = self.open.iter().enumerate().min_by_key(|(_, one)| one.until);
        if let Some((at, _)) = oldest {
            self.open.remove(at);
        }
    }
}
