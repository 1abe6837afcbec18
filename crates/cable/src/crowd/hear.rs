//! What comes through a pipe: WebSocket messages become what a user acts on. Deliveries are known by their token alone;
//! nothing of them is decoded or copied.

use stdx::Nanos;
use wire::cable::CommandKind;

use super::heard::{self, Heard};
use super::state::{Crowd, Phase};
use super::user::{Silence, Stage};
use crate::plan::Pattern;
use crate::token::Token;

impl Crowd {
    /// Bytes came for a user.
    pub(super) fn hear(&mut self, user: usize, now: Nanos, bytes: &[u8]) {
        let how = (self.cable.mark, self.cable.plan.codec);
        let mut heard = std::mem::take(&mut self.heard);
        let seat = &mut self.users[user];
        let (Some(session), Some(pipe)) = (&mut seat.session, seat.pipe) else { return };
        let life = seat.life;
        let out = &mut self.buffers.out;
        out.clear();
        let taken =
            session.handle_bytes(bytes, out, &mut |event| heard::read(&event, how, &mut heard));
        if !out.is_empty() {
            self.commands.send(pipe, out);
        }
        for what in heard.drain(..) {
            // What ends a connection voids what came after it.
            if self.users[user].life == life && self.users[user].session.is_some() {
                self.heed(user, now, what);
            }
        }
        self.heard = heard;
        if let Err(error) = taken
            && self.users[user].session.is_some()
        {
            self.lose(user, now, format!("broken WebSocket: {error}"));
        }
    }

    fn heed(&mut self, user: usize, now: Nanos, what: Heard) {
        match what {
            Heard::Delivery(token, bytes) => self.delivered(user, now, token, bytes),
            Heard::Ping => self.pinged(user, now),
            Heard::Unknown => self.outcome.unknown += 1,
            Heard::Malformed(problem) => self.outcome.note(problem),
            Heard::Welcome => self.welcomed(user),
            Heard::Confirmed => {
                if matches!(self.users[user].stage, Stage::Subscribing) {
                    self.confirmed(user, now);
                }
            }
            Heard::Rejected => self.turn_away(user, now, "subscription rejected"),
            Heard::Disconnected { reason, comes_back: true } => {
                self.lose(user, now, format!("disconnected: {reason}"));
            }
            Heard::Disconnected { reason, comes_back: false } => {
                self.turn_away(user, now, format!("disconnected for good: {reason}"));
            }
            Heard::Closed(code) => {
                let problem = match code {
                    Some(code) => format!("WebSocket closed: {code}"),
                    None => "WebSocket closed".to_owned(),
                };
                self.lose(user, now, problem);
            }
        }
    }

    fn welcomed(&mut self, user: usize) {
        if self.phase == Phase::Over || !matches!(self.users[user].stage, Stage::Greeting) {
            return;
        }
        self.users[user].stage = Stage::Subscribing;
        // A session that cannot send any more is about to tell why.
        self.command(user, CommandKind::Subscribe, None);
    }

    fn pinged(&mut self, user: usize, now: Nanos) {
        self.outcome.pings += 1;
        let seat = &mut self.users[user];
        if !seat.is_subscribed() {
            return;
        }
        let gap = now.saturating_sub(seat.heard);
        if seat.silence != Silence::Fresh {
            self.outcome.ping_gap.record(gap);
        }
        self.outcome.silence_longest = self.outcome.silence_longest.at_least(gap);
        (seat.heard, seat.silence) = (now, Silence::Heard);
    }

    fn delivered(&mut self, user: usize, now: Nanos, token: Token, bytes: usize) {
        match self.cable.plan.pattern {
            Pattern::Echo { .. } => self.echoed(user, now, token, bytes),
            Pattern::Broadcast { .. } => self.received_broadcast(user, now, token),
            Pattern::Idle | Pattern::Herd { .. } => self.outcome.unknown += 1,
        }
    }
}
