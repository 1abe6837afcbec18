//! Streams of users: requests whose bodies are sent in parts, and whose responses are handed on as they come.

use metrics::FailureKind;
use net::Io;
use workload::{Backpressure, StreamCommand, StreamEvent};

use super::Worker;
use crate::failure::Failure;
use crate::ids::{ConnId, HitId, Id as _, StreamId};
use crate::schedule::Schedule;

/// Bytes of a request that wait for room in the server's windows, at most: 64 MiB, as of a pipe.
const UNSENT_MAX: usize = 64 << 20;

impl<I: Io> Worker<I> {
    /// Remembers the hit of a user's stream, for the commands that follow.
    pub(super) fn note_user_stream(&mut self, user: u32, hit: HitId) {
        let len = self.user_streams.len().max(user as usize + 1);
        self.user_streams.resize(len, HitId(u32::MAX));
        self.user_streams[user as usize] = hit;
    }

    /// The hit of a user's stream, while it is under way.
    fn user_stream(&self, user: u32) -> Option<HitId> {
        let id = self.user_streams.get(user as usize).copied()?;
        let hit = self.hits.get(id)?;
        (hit.user == Some(user) && hit.kind.is_stream()).then_some(id)
    }

    /// Does what a user wants done with its stream.
    pub(super) fn apply_stream_command(&mut self, user: u32, command: StreamCommand) {
        let Some(hit_id) = self.user_stream(user) else { return };
        match command {
            StreamCommand::Send(part) => self.send_part(hit_id, part),
            StreamCommand::End => self.end_parts(hit_id),
            StreamCommand::Cancel => self.abort_hit(hit_id, &Failure::unwanted()),
            StreamCommand::Resume => {
                let hit = &self.hits[hit_id];
                let (Some(conn), Some(stream)) = (hit.conn, hit.stream) else { return };
                if let Some(streams) = &mut self.conns[conn].streams {
                    streams.session.resume(stream.index());
                }
                self.cork(conn);
            }
        }
    }

    fn send_part(&mut self, hit_id: HitId, part: Vec<u8>) {
        let hit = &mut self.hits[hit_id];
        let Some(parted) = &mut hit.parted else { return };
        if parted.has_ended {
            return;
        }
        parted.bytes += part.len() as u64;
        let streams = hit.conn.and_then(|conn| self.conns[conn].streams.as_mut());
        let unsent = match (hit.stream, streams) {
            (Some(stream), Some(streams)) => {
                parted.is_begun = true;
                let stream = stream.index();
                let pushed = streams.session.push_part(stream, part);
                pushed.map(|()| streams.session.unsent_bytes(stream))
            }
            _ => {
                parted.waiting_bytes += part.len();
                parted.waiting.push(part);
                Ok(parted.waiting_bytes)
            }
        };
        let conn = hit.conn;
        match unsent {
            Ok(..=UNSENT_MAX) => conn.into_iter().for_each(|conn| self.cork(conn)),
            Ok(_) => {
                let text = "the server does not read: 64 MiB wait to be sent";
                self.abort_hit(hit_id, &Failure::other(FailureKind::TooLarge, text));
            }
            Err(_) => {
                let text =
                    "the server does not read: no memory is left for what waits (-memory-limit)";
                self.abort_hit(hit_id, &Failure::other(FailureKind::TooLarge, text));
            }
        }
    }

    fn end_parts(&mut self, hit_id: HitId) {
        let hit = &mut self.hits[hit_id];
        let Some(parted) = &mut hit.parted else { return };
        parted.has_ended = true;
        let (Some(conn), Some(stream)) = (hit.conn, hit.stream) else { return };
        if let Some(streams) = &mut self.conns[conn].streams {
            streams.session.end_parts(stream.index());
        }
        self.cork(conn);
    }

    /// The stream of a request in parts is open: what waited for it goes out.
    pub(super) fn begin_parts(&mut self, conn_id: ConnId, hit_id: HitId) {
        let hit = &mut self.hits[hit_id];
        let Some(parted) = &mut hit.parted else { return };
        let (waiting, has_ended) = (std::mem::take(&mut parted.waiting), parted.has_ended);
        parted.waiting_bytes = 0;
        let Some(stream) = hit.stream.map(StreamId::index) else { return };
        let Some(streams) = &mut self.conns[conn_id].streams else { return };
        let mut pushed = Ok(());
        for part in waiting {
            parted.is_begun = true;
            pushed = pushed.and_then(|()| streams.session.push_part(stream, part));
        }
        if has_ended {
            streams.session.end_parts(stream);
        }
        if pushed.is_err() {
            let text = "no memory is left for what waits to be sent (-memory-limit)";
            self.abort_hit(hit_id, &Failure::other(FailureKind::TooLarge, text));
        }
    }

    /// Hands the head of a stream's response to its user.
    pub(super) fn give_stream_head(&mut self, hit_id: HitId, status: u16, head: &[u8]) {
        let Some(user) = self.hits[hit_id].user else { return };
        if let Schedule::Users(users) = &mut self.schedule {
            self.has_answers = true;
            users.handle_stream_event(user, StreamEvent::Head(status, head));
        }
    }

    /// Hands a part of a stream's response to its user, and reads on when the user wants more.
    pub(super) fn give_stream_data(&mut self, conn: ConnId, stream: StreamId, data: &[u8]) {
        let Some(hit) = self.hit_of(conn, stream) else { return };
        let hit = &mut self.hits[hit];
        hit.progress.bytes_in += data.len() as u64;
        let (Some(user), Schedule::Users(users)) = (hit.user, &mut self.schedule) else { return };
        self.has_answers = true;
        if users.handle_stream_event(user, StreamEvent::Data(data)) == Backpressure::Pause
            && let Some(streams) = &mut self.conns[conn].streams
        {
            streams.session.pause(stream.index());
        }
    }
}
