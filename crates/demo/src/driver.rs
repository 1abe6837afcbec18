//! `Driver`: a [`ServerMachine`] over an [`Io`]: sockets, what they have not taken yet, and TLS. It knows no HTTP.

use std::sync::Arc;

use net::{Event, Io, Key, Peer, Progress, Sock};
use stdx::Nanos;
use wire::tls::TlsSession;
use wire::tls::rustls::ServerConfig;

use crate::ServerMachine;
use crate::action::Action;

/// Bytes read at once: 64 KiB.
const READ: usize = 64 << 10;
/// The most connections; further ones are reset.
const CLIENTS_MAX: usize = 1 << 20;
/// Listeners have keys from here up, clients below.
pub(crate) const LISTENERS: Key = 1 << 31;

/// Drives a machine; one turn at a time.
#[derive(Debug)]
pub(crate) struct Driver<I> {
    pub(crate) io: I,
    machine: ServerMachine,
    /// For each listener, how TLS is spoken on it.
    listeners: Vec<Option<Arc<ServerConfig>>>,
    clients: Vec<Option<Client>>,
    free: Vec<Key>,
    /// Connections that have something to read which was left for want of room.
    left: Vec<Key>,
    /// For how long the server stood still: its machine does not know of that time.
    frozen: Nanos,
    input: Vec<u8>,
    plaintext: Vec<u8>,
    output: Vec<u8>,
}

/// One connection.
#[derive(Debug)]
struct Client {
    sock: Sock,
    session: Option<Box<TlsSession>>,
    /// What the socket has not taken yet, from `sent` on.
    unsent: Vec<u8>,
    sent: usize,
    /// It is closed when all is sent.
    closing: bool,
    /// There may be bytes to read for which no further event comes.
    left: bool,
}

impl<I: Io> Driver<I> {
    /// A driver without clients. The listener of key [`LISTENERS`]` + i` speaks TLS as `listeners[i]` says.
    pub(crate) fn new(
        io: I,
        machine: ServerMachine,
        listeners: Vec<Option<Arc<ServerConfig>>>,
    ) -> Self {
        Self {
            io,
            machine,
            listeners,
            clients: Vec::new(),
            free: Vec::new(),
            left: Vec::new(),
            frozen: Nanos::ZERO,
            input: vec![0; READ],
            plaintext: Vec::new(),
            output: Vec::new(),
        }
    }

    /// The machine, for its counters.
    pub(crate) fn machine(&self) -> &ServerMachine {
        &self.machine
    }

    /// Waits until something is to be done, and does it.
    pub(crate) fn turn(&mut self) {
        let until = self.machine.next_deadline().map(|due| due.saturating_add(self.frozen));
        let now = self.io.wait(until).saturating_sub(self.frozen);
        if self.machine.next_deadline().is_some_and(|due| due <= now) {
            self.machine.handle_deadline(now);
            self.flush(now);
        }
        while let Some(event) = self.io.next_event() {
            self.handle(now, &event);
            self.flush(now);
        }
        while let Some(key) = self.left.pop() {
            // The end of the stream may have been reported already, while there was no room.
            self.read(now, key, true);
            self.flush(now);
        }
    }

    /// Takes so much time out of the machine's: it stood still.
    pub(crate) fn skip(&mut self, time: Nanos) {
        self.frozen = self.frozen.saturating_add(time);
    }

    fn handle(&mut self, now: Nanos, event: &Event) {
        match *event {
            Event::Accepted { listener, sock } => self.accept(now, listener, sock),
            Event::Ready(key, ready) => {
                if ready.writable {
                    self.write(now, key);
                }
                if ready.readable || ready.closed {
                    self.read(now, key, ready.closed);
                }
            }
            Event::Refused(key, _) => self.drop_client(now, key),
            Event::Connected(_) | Event::Resolved(..) | Event::Woken => (),
        }
    }

    fn accept(&mut self, now: Nanos, listener: Key, sock: Sock) {
        let tls = self.listeners.get((listener - LISTENERS) as usize).cloned().flatten();
        let session = tls.map(|config| TlsSession::server(&config).map(Box::new)).transpose();
        let (Ok(session), true) = (session, self.clients.len() - self.free.len() < CLIENTS_MAX)
        else {
            return self.io.reset(sock);
        };
        let unsent = Vec::new();
        let client = Client { sock, session, unsent, sent: 0, closing: false, left: false };
        let key = self.free.pop().unwrap_or_else(|| {
            self.clients.push(None);
            (self.clients.len() - 1) as Key
        });
        self.clients[key as usize] = Some(client);
        self.machine.handle_open(now, key);
        self.io.set_key(sock, key);
    }

    /// Reads while there is something and the machine wants it. `to_the_end` reads on after a short read as well.
    fn read(&mut self, now: Nanos, key: Key, to_the_end: bool) {
        while let Some(client) = self.client(key).filter(|client| !client.closing) {
            let (sock, idle) = (client.sock, client.unsent.is_empty());
            if !idle || !self.machine.wants_bytes(key) {
                self.leave(key);
                return;
            }
            match self.io.recv(sock, &mut self.input) {
                Progress::Bytes(0) | Progress::Failed(_) => return self.drop_client(now, key),
                Progress::Later => return,
                Progress::Bytes(len) => {
                    self.take_in(now, key, len);
                    self.flush(now);
                    if len < READ && !to_the_end {
                        return;
                    }
                }
            }
        }
    }

    fn leave(&mut self, key: Key) {
        if let Some(client) = self.client(key) {
            client.left = true;
        }
    }

    /// Gives the machine the first `len` bytes of `input`, through TLS if that is spoken.
    fn take_in(&mut self, now: Nanos, key: Key, len: usize) {
        let Some(client) = self.clients[key as usize].as_mut() else { return };
        let Some(session) = &mut client.session else {
            return self.machine.handle_bytes(now, key, &self.input[..len]);
        };
        self.plaintext.clear();
        let result = session.handle_bytes(&self.input[..len], &mut self.plaintext);
        session.poll_transmit(&mut client.unsent);
        if result.is_err() {
            // The alert is sent, and nothing after it.
            client.closing = true;
            self.machine.handle_close(now, key);
        } else if !self.plaintext.is_empty() {
            self.machine.handle_bytes(now, key, &self.plaintext);
        }
        self.write(now, key);
    }

    /// Does what the machine says.
    fn flush(&mut self, now: Nanos) {
        let mut output = std::mem::take(&mut self.output);
        while let Some((key, action)) = self.machine.poll_into(&mut output) {
            match action {
                Action::Send => self.send(now, key, &output),
                Action::Close => self.close(now, key),
                Action::Reset => {
                    if let Some(client) = self.forget(key) {
                        self.io.reset(client.sock);
                    }
                }
            }
        }
        self.output = output;
    }

    /// Sends at once what the socket takes, and keeps the rest.
    fn send(&mut self, now: Nanos, key: Key, bytes: &[u8]) {
        let Some(client) = self.clients.get_mut(key as usize).and_then(Option::as_mut) else {
            return;
        };
        let mut rest = bytes;
        if let Some(session) = &mut client.session {
            while !rest.is_empty() {
                let taken = session.send(rest);
                session.poll_transmit(&mut client.unsent);
                rest = &rest[taken..];
                if taken == 0 {
                    return self.drop_client(now, key);
                }
            }
        } else if client.unsent.is_empty() {
            while let (false, Progress::Bytes(len)) =
                (rest.is_empty(), self.io.send(client.sock, rest))
            {
                rest = &rest[len..];
            }
            if rest.is_empty() {
                return self.drained(now, key);
            }
        }
        client.unsent.extend_from_slice(rest);
        self.write(now, key);
    }

    /// Sends what was kept.
    fn write(&mut self, now: Nanos, key: Key) {
        let Some(client) = self.clients.get_mut(key as usize).and_then(Option::as_mut) else {
            return;
        };
        while client.sent < client.unsent.len() {
            match self.io.send(client.sock, &client.unsent[client.sent..]) {
                Progress::Bytes(len) => client.sent += len,
                Progress::Later => return,
                Progress::Failed(_) => return self.drop_client(now, key),
            }
        }
        if client.unsent.is_empty() && !client.closing {
            return;
        }
        client.unsent.clear();
        client.sent = 0;
        if client.closing {
            return self.drop_client(now, key);
        }
        self.drained(now, key);
    }

    /// All is sent: the machine may have more, and so may the client.
    fn drained(&mut self, now: Nanos, key: Key) {
        self.machine.handle_drained(now, key);
        if let Some(client) = self.client(key).filter(|client| client.left) {
            client.left = false;
            self.left.push(key);
        }
    }

    /// Closes when all is sent.
    fn close(&mut self, now: Nanos, key: Key) {
        let Some(client) = self.client(key) else { return };
        client.closing = true;
        if let Some(session) = &mut client.session {
            session.close_notify();
            session.poll_transmit(&mut client.unsent);
        }
        self.write(now, key);
    }

    fn drop_client(&mut self, now: Nanos, key: Key) {
        if let Some(client) = self.forget(key) {
            self.machine.handle_close(now, key);
            self.io.close(client.sock);
        }
    }

    fn forget(&mut self, key: Key) -> Option<Client> {
        let client = self.clients.get_mut(key as usize)?.take()?;
        self.free.push(key);
        Some(client)
    }

    fn client(&mut self, key: Key) -> Option<&mut Client> {
        self.clients.get_mut(key as usize)?.as_mut()
    }
}
