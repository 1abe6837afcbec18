//! What comes through a pipe: WebSocket messages become what a user acts on. Deliveries are known by their token alone;
//! nothing of them is decoded or copied.

use stdx::Nanos;
use wire::cable::{Codec, CommandKind, Kind};
use wire::ws::Event;

use super::user::{Silence, Stage};
use super::{Crowd, Phase};
use crate::plan::Pattern;
use crate::token::{Mark, Token};

/// Something that came for a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// The connection is ready.
    Welcome,
    /// A sign of life.
    Ping,
    /// The subscription is confirmed.
    Confirmed,
    /// It is rejected.
    Rejected,
    /// The server is about to close, and wants the user back or not.
    Disconnected { reason: String, comes_back: bool },
    /// A message with a token of this run, and its length.
    Delivery(Token, usize),
    /// A message without.
    Unknown,
    /// Bytes that are no message.
    Malformed(String),
    /// The WebSocket is closed.
    Closed(Option<u16>),
}

/// Reads one event of a WebSocket.
fn read(event: &Event<'_>, (mark, codec): (Mark, Codec), heard: &mut Vec<Heard>) {
    let message = match event {
        Event::Text(text) => text.as_bytes(),
        Event::Binary(bytes) => bytes,
        Event::Ping(_) | Event::Pong(_) => return,
        Event::Close { code, .. } => return heard.push(Heard::Closed(*code)),
    };
    let before = heard.len();
    heard.extend(mark.tokens(message).map(|token| Heard::Delivery(token, message.len())));
    if heard.len() > before {
        return;
    }
    heard.push(match codec.decode(message) {
        Err(error) => Heard::Malformed(format!("malformed message: {error}")),
        Ok(incoming) => match incoming.kind {
            Kind::Welcome => Heard::Welcome,
            Kind::Ping => Heard::Ping,
            Kind::Confirm => Heard::Confirmed,
            Kind::Reject => Heard::Rejected,
            Kind::Disconnect => Heard::Disconnected {
                reason: incoming.reason.decoded().chars().take(REASON_MAX).collect(),
                comes_back: incoming.reconnect.unwrap_or(true),
            },
            _ => Heard::Unknown,
        },
    });
}

/// Characters of a server's reason that are kept.
const REASON_MAX: usize = 80;

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
        let taken = session.handle_bytes(bytes, out, &mut |event| read(&event, how, &mut heard));
        if !out.is_empty() {
            self.wishes.send(pipe, out);
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
