//! What comes through a pipe: WebSocket messages become what a user acts on. Deliveries are known by their token alone;
//! nothing of them is decoded or copied.

use stdx::Nanos;
use wire::cable::CommandKind;

use super::server_message::{self, ServerMessage};
use super::state::{CableUsers, Phase};
use super::user::{PingState, Stage};
use super::user_table::UserId;
use crate::plan::Pattern;
use crate::token::Token;

impl CableUsers {
    /// Bytes came for a user.
    pub(super) fn receive(&mut self, user: UserId, now: Nanos, bytes: &[u8]) {
        let (run_token, codec) = (self.cable.run_token, self.cable.plan.codec);
        let mut messages = std::mem::take(&mut self.messages);
        let entry = &mut self.users[user];
        let (Some(session), Some(pipe)) = (&mut entry.session, entry.pipe) else { return };
        let generation = entry.generation;
        let out = &mut self.buffers.out;
        out.clear();
        let taken = session.handle_bytes(bytes, out, &mut |event| {
            server_message::read(&event, run_token, codec, &mut messages);
        });
        if !out.is_empty() {
            self.commands.send(pipe, out);
        }
        for what in messages.drain(..) {
            // What ends a connection voids what came after it.
            if self.users[user].generation == generation && self.users[user].session.is_some() {
                self.act_on(user, now, what);
            }
        }
        self.messages = messages;
        if let Err(error) = taken
            && self.users[user].session.is_some()
        {
            self.connection_lost(user, now, format!("broken WebSocket: {error}"));
        }
    }

    fn act_on(&mut self, user: UserId, now: Nanos, what: ServerMessage) {
        match what {
            ServerMessage::Delivery(token, bytes) => self.delivered(user, now, token, bytes),
            ServerMessage::Ping => self.pinged(user, now),
            ServerMessage::Unknown => self.report.unknown += 1,
            ServerMessage::Malformed(problem) => self.report.note(problem),
            ServerMessage::Welcome => self.welcomed(user),
            ServerMessage::Confirmed => {
                if matches!(self.users[user].stage, Stage::Subscribing) {
                    self.confirmed(user, now);
                }
            }
            ServerMessage::Rejected => self.turn_away(user, now, "subscription rejected"),
            ServerMessage::Disconnected { reason, comes_back: true } => {
                self.connection_lost(user, now, format!("disconnected: {reason}"));
            }
            ServerMessage::Disconnected { reason, comes_back: false } => {
                self.turn_away(user, now, format!("disconnected for good: {reason}"));
            }
            ServerMessage::Closed(code) => {
                let problem = match code {
                    Some(code) => format!("WebSocket closed: {code}"),
                    None => "WebSocket closed".to_owned(),
                };
                self.connection_lost(user, now, problem);
            }
        }
    }

    fn welcomed(&mut self, user: UserId) {
        if self.phase == Phase::Over || !matches!(self.users[user].stage, Stage::Greeting) {
            return;
        }
        self.users[user].stage = Stage::Subscribing;
        // A session that cannot send any more is about to report why.
        self.command(user, CommandKind::Subscribe, None);
    }

    fn pinged(&mut self, user: UserId, now: Nanos) {
        self.report.pings += 1;
        let entry = &mut self.users[user];
        if !entry.is_subscribed() {
            return;
        }
        let gap = now.saturating_sub(entry.last_ping);
        if entry.ping_state != PingState::NoneYet {
            self.report.ping_gap.record(gap);
        }
        self.report.silence_longest = self.report.silence_longest.at_least(gap);
        (entry.last_ping, entry.ping_state) = (now, PingState::Regular);
    }

    fn delivered(&mut self, user: UserId, now: Nanos, token: Token, bytes: usize) {
        match self.cable.plan.pattern {
            Pattern::Echo { .. } => self.echoed(user, now, token, bytes),
            Pattern::Broadcast { .. } => self.received_broadcast(user, now, token),
            Pattern::Idle | Pattern::Herd { .. } => self.report.unknown += 1,
        }
    }
}
