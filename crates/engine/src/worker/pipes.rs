//! Pipes: connections that have left HTTP. Bytes go to and from the user whose request asked for it; the engine does not
//! read them.

use metrics::{FailureKind, GrpcStatus, NO_TARGET, Outcome, Sample};
use net::Io;
use stdx::Nanos;
use wire::h1::response::ResponseDecoder;
use workload::{
    Backpressure, Commands, CustomFailure, CustomOutcome, CustomSample, Pipe, PipeCommand,
    PipeEvent,
};

use super::Worker;
use super::finish::add_with;
use super::state::INPUT_LEN;
use super::transfer::BODY_PIECE;
use crate::captured::CapturedResponse;
use crate::conn::State;
use crate::dial_addresses::DialAddresses;
use crate::failure::Failure;
use crate::ids::{ConnId, Id as _};
use crate::schedule::Schedule;

/// Bytes that wait for room in a pipe's socket, at most: 64 MiB. A server that does not read loses its connection then.
const UNSENT_MAX: usize = 64 << 20;
/// How long a pipe that its user closed may take to send what it has.
const CLOSE_WAIT: Nanos = Nanos::from_secs(2);
/// Room that a pipe keeps for what it could not send at once.
const KEPT_MAX: usize = 4 << 10;

impl<I: Io> Worker<I> {
    /// Whether the response to the hit that a connection serves makes a pipe of it.
    pub(super) fn becomes_pipe(&self, conn_id: ConnId) -> bool {
        let conn = &self.conns[conn_id];
        let asked = conn.hit.is_some_and(|hit| self.hits[hit].kind.is_upgrade());
        asked && conn.decoder.status() == 101 && conn.pipelined.len() == 0
    }

    /// The server has switched protocols: the connection is its user's, and the hit is done.
    pub(super) fn make_pipe(&mut self, conn_id: ConnId) {
        let conn = &mut self.conns[conn_id];
        let Some(hit) = conn.hit else { return };
        // Before its user gets the response, which names the pipe.
        conn.state = State::Piped;
        self.write_row(hit, None);
        let conn = &mut self.conns[conn_id];
        conn.hit = None;
        conn.served += 1;
        // A pipe may last for hours and do nothing.
        conn.captured = CapturedResponse::default();
        conn.decoder = ResponseDecoder::new();
        conn.content = None;
        conn.addresses = DialAddresses::default();
        self.hits[hit].conn = None;
        self.remove_hit(hit);
    }

    /// The pipe that a connection is, once it is one.
    pub(super) fn pipe_of(&self, conn_id: ConnId) -> Option<Pipe> {
        let conn = self.conns.get(conn_id).filter(|conn| conn.state == State::Piped)?;
        Some(Pipe { place: conn_id.index(), serial: conn.serial })
    }

    /// The connection that a pipe is, if it is there still.
    fn conn_of(&self, pipe: Pipe) -> Option<ConnId> {
        let conn_id = ConnId::from_index(pipe.place);
        (self.pipe_of(conn_id) == Some(pipe)).then_some(conn_id)
    }

    /// Bytes came. They are dropped where the user has closed the pipe.
    pub(super) fn feed_pipe(&mut self, conn_id: ConnId, bytes: &[u8]) {
        if bytes.is_empty() || self.conns[conn_id].closes {
            return;
        }
        if self.send_pipe_event(conn_id, PipeEvent::Bytes(bytes)) == Backpressure::Pause
            && let Some(conn) = self.conns.get_mut(conn_id)
        {
            conn.is_paused = true;
            conn.sock.into_iter().for_each(|sock| self.io.pause(sock));
        }
    }

    /// A failure's text without its request, which a pipe has left behind.
    fn text_of(&self, failure: &Failure) -> String {
        let mut text = Vec::new();
        self.prepared.settings.failure_text.write(&failure.of_request("", ""), &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// A pipe ends: its user gets the event, and the connection is closed.
    pub(super) fn end_pipe(&mut self, conn_id: ConnId, lost: Option<&Failure>) {
        let text = lost.map(|failure| self.text_of(failure)).unwrap_or_default();
        let what = match lost {
            Some(failure) => PipeEvent::Lost(failure.kind.name(), &text),
            None => PipeEvent::End,
        };
        if !self.conns[conn_id].closes {
            self.send_pipe_event(conn_id, what);
        }
        self.drop_conn(conn_id);
    }

    fn send_pipe_event(&mut self, conn_id: ConnId, what: PipeEvent<'_>) -> Backpressure {
        let (Some(pipe), Schedule::Users(users)) = (self.pipe_of(conn_id), &mut self.schedule)
        else {
            return Backpressure::Continue;
        };
        users.handle_pipe_event(pipe, self.now, what)
    }

    /// Does what users want done with their pipes, and writes their rows.
    pub(super) fn apply_commands(&mut self, commands: &mut Commands) {
        let mut from = 0;
        for (pipe, order) in commands.pipe_commands.drain(..) {
            let conn = self.conn_of(pipe);
            match (order, conn) {
                (PipeCommand::Send(len), conn) => {
                    let bytes = &commands.bytes[from..from + len];
                    from += len;
                    if let Some(conn) = conn {
                        self.send_on_pipe(conn, bytes);
                    }
                }
                (PipeCommand::Close, Some(conn)) => self.close_pipe(conn),
                (PipeCommand::Resume, Some(conn)) => self.resume_pipe(conn),
                (PipeCommand::Close | PipeCommand::Resume, None) => {}
            }
        }
        commands.clear_bytes(INPUT_LEN);
        for (user, command) in commands.stream_commands.drain(..) {
            self.apply_stream_command(user, command);
        }
        for trip in commands.samples.drain(..) {
            self.write_custom_sample(&trip);
        }
    }

    fn send_on_pipe(&mut self, conn_id: ConnId, bytes: &[u8]) {
        if self.conns[conn_id].closes {
            return;
        }
        if self.conns[conn_id].unsent.len() + bytes.len() > UNSENT_MAX {
            let text = "the server does not read: 64 MiB wait to be sent";
            return self.end_pipe(conn_id, Some(&Failure::other(FailureKind::TooLarge, text)));
        }
        if self.conns[conn_id].unsent.make_room(bytes.len()).is_err() {
            let text = "the server does not read: no memory is left for what waits (-memory-limit)";
            return self.end_pipe(conn_id, Some(&Failure::other(FailureKind::TooLarge, text)));
        }
        for piece in bytes.chunks(BODY_PIECE) {
            // What failed has closed the connection.
            if self.conns.contains(conn_id) {
                self.transmit(conn_id, piece);
            }
        }
    }

    fn close_pipe(&mut self, conn_id: ConnId) {
        let conn = &mut self.conns[conn_id];
        if std::mem::replace(&mut conn.closes, true) {
            return;
        }
        // RFC 8446, 6.1.
        if let Some(session) = &mut conn.tls {
            session.close_notify();
            self.transmit_records(conn_id);
        }
        if !self.conns[conn_id].has_unsent() {
            self.drop_conn(conn_id);
            return;
        }
        // A server that waits for us to read would never read what we send.
        self.resume_pipe(conn_id);
        if let Some(pipe) = self.pipe_of(conn_id) {
            self.closing.push_back((self.now.saturating_add(CLOSE_WAIT), pipe));
        }
    }

    /// Closes the pipes whose servers took too long to read what was left.
    pub(super) fn drop_closing(&mut self) {
        while self.closing.front().is_some_and(|(due, _)| *due <= self.now)
            && self.has_budget()
            && let Some((_, pipe)) = self.closing.pop_front()
        {
            if let Some(conn_id) = self.conn_of(pipe) {
                self.drop_conn(conn_id);
            }
        }
    }

    /// All that a pipe had to send is sent.
    pub(super) fn pipe_sent(&mut self, conn_id: ConnId) {
        let conn = &mut self.conns[conn_id];
        conn.unsent.trim(KEPT_MAX);
        if conn.closes {
            self.drop_conn(conn_id);
        }
    }

    fn resume_pipe(&mut self, conn_id: ConnId) {
        let conn = &mut self.conns[conn_id];
        if std::mem::take(&mut conn.is_paused)
            && let Some(sock) = conn.sock
        {
            self.io.resume(sock);
            self.unread.push_back((conn_id, sock));
        }
    }

    /// Counts what a user measured itself and writes its row.
    fn write_custom_sample(&mut self, trip: &CustomSample) {
        self.self_metrics.planned += 1;
        self.self_metrics.sent += 1;
        self.lag.record(trip.sent.saturating_sub(trip.due));
        let waited = self.self_metrics.waited_unread(trip.sent, self.now);
        self.on_time.record(trip.done.saturating_sub(trip.sent).saturating_sub(waited));
        let seq = self.next_seq;
        self.next_seq += 1;
        let sample = Sample { seq, ..sample_of(trip) };
        if sample.failure != FailureKind::None {
            self.self_metrics.note_failure(sample.failure);
        }
        self.recorder.add(sample, |batch, sample| {
            sample.line = add_with(batch, |texts| texts.extend_from_slice(trip.line.as_bytes()));
            let failure = trip.failure.as_ref().map(|(_, text)| text);
            let refusal = Some(&trip.error).filter(|text| !text.is_empty());
            if let Some(text) = failure.or(refusal) {
                sample.error = add_with(batch, |texts| texts.extend_from_slice(text.as_bytes()));
            }
        });
    }
}

/// The row of what a user measured itself, without its number and its texts.
#[must_use]
pub fn sample_of(trip: &CustomSample) -> Sample {
    let failure = trip.failure.as_ref().map(|(failure, _)| kind_of(*failure));
    Sample {
        intended: trip.due,
        sent: trip.sent,
        first_byte: trip.done,
        done: trip.done,
        bytes_out: trip.bytes_out,
        bytes_in: trip.bytes_in,
        wire_in: trip.bytes_in,
        target: NO_TARGET,
        outcome: if failure.is_some() { Outcome::None } else { outcome_of(trip.outcome) },
        failure: failure.unwrap_or_default(),
        reused: true,
        conn: trip.serial,
        ..Sample::default()
    }
}

fn outcome_of(outcome: CustomOutcome) -> Outcome {
    match outcome {
        CustomOutcome::Message => Outcome::Message,
        CustomOutcome::Grpc(status) => Outcome::Grpc(GrpcStatus::from_number(status)),
    }
}

const fn kind_of(failure: CustomFailure) -> FailureKind {
    match failure {
        CustomFailure::Timeout => FailureKind::Timeout,
        CustomFailure::Lost => FailureKind::Eof,
        CustomFailure::Refused => FailureKind::Rejected,
        CustomFailure::Stopped => FailureKind::Stopped,
    }
}
