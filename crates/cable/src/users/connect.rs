//! Connecting: handshakes, their answers, and when a user reconnects.

use std::borrow::Cow;
use std::sync::Arc;

use stdx::Nanos;
use wire::ws::{DeflateOffer, HandshakeError, Limits, Offer, Role, WsSession};
use workload::{EngineResponse, Pipe, RequestCommand, RequestKind, Target};

use super::state::{CableUsers, Phase};
use super::timer_queue::Entry;
use super::user::{PingState, Stage};
use super::user_table::UserId;
use crate::plan::Pattern;

/// The first wait of a refused user; each further one is twice as long.
const BACKOFF_FIRST: Nanos = Nanos::from_millis(100);
/// The longest wait.
const BACKOFF_MAX: Nanos = Nanos::from_secs(5);
/// A user that loses its connection sooner than this counts as refused: else a server that confirms and drops would be hammered.
const LASTS: Nanos = Nanos::SECOND;
/// The longest message taken: 256 KiB. All sockets may have one half read.
const MESSAGE_MAX: usize = 256 << 10;

/// How a user's way up ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    Subscribed,
    GivenUp,
}

impl CableUsers {
    /// Asks for a WebSocket.
    pub(super) fn connect(&mut self, user: UserId, due: Nanos) {
        if self.phase != Phase::Running {
            return;
        }
        let mut key = [0; 16];
        key[..8].copy_from_slice(&self.random.next_u64().to_le_bytes());
        key[8..].copy_from_slice(&self.random.next_u64().to_le_bytes());
        let plan = &self.cable.plan;
        let protocols = vec![plan.codec.subprotocol().to_owned()];
        let offer = Offer::new(key, protocols, DeflateOffer::None).expect("the name is a token");
        let number = self.global(user) + 1;
        let fields = offer.fields().into_iter().map(|(name, value)| (name.into(), value));
        let own = plan.headers.iter().map(|(name, text)| (name.clone(), text.text(number).into()));
        let target = Arc::new(Target {
            method: "GET".to_owned(),
            url: plan.http_url.clone(),
            headers: fields.chain(own).collect(),
            body: Arc::from([]),
            weight: 1,
            name: String::new(),
        });
        let timeout = plan.timeout;
        let entry = &mut self.users[user];
        entry.generation += 1;
        entry.due = due;
        entry.stage = Stage::Opening(Box::new(offer));
        self.report.attempts += 1;
        let (user, owner) = (user.0, 0);
        self.commands.requests.push(RequestCommand {
            user,
            target,
            timeout,
            body_max: u64::MAX,
            owner,
            fresh_connection: false,
            kind: RequestKind::Upgrade,
            tls: None,
            redirected: false,
            led_from: None,
            tags: None,
        });
    }

    /// Handles the answer to a handshake.
    pub(super) fn answered(&mut self, user: UserId, reply: &EngineResponse<'_>) {
        let stage = std::mem::take(&mut self.users[user].stage);
        let Stage::Opening(offer) = stage else {
            self.users[user].stage = stage;
            return self.refuse_pipe(reply.pipe);
        };
        if self.phase == Phase::Over {
            return self.refuse_pipe(reply.pipe);
        }
        let head = reply.head.as_deref().unwrap_or_default();
        let agreed = offer.check_head(reply.status, head);
        let (agreed, pipe) = match (agreed, reply.pipe) {
            // Servers of old choose no subprotocol, and speak JSON.
            (Ok(agreed), Some(pipe))
                if agreed.protocol.is_some() || self.cable.plan.codec.is_text() =>
            {
                (agreed, pipe)
            }
            (agreed, pipe) => {
                self.refuse_pipe(pipe);
                return self.refused(user, reply, agreed.err().as_ref());
            }
        };
        let limits = Limits { message_bytes_max: MESSAGE_MAX, ..Limits::default() };
        let session = WsSession::new(Role::Client, &agreed, limits, self.random.next_u64());
        let entry = &mut self.users[user];
        (entry.session, entry.pipe, entry.stage) = (Some(session), Some(pipe), Stage::Greeting);
        let generation = entry.generation;
        self.take_place(pipe, user);
        self.report.opened += 1;
        self.cable.barrier.note_open();
        let at = reply.done.saturating_add(self.cable.plan.timeout);
        self.timers.limit(Entry { at, user, generation });
    }

    fn refuse_pipe(&mut self, pipe: Option<Pipe>) {
        pipe.into_iter().for_each(|pipe| self.commands.close(pipe));
    }

    /// There is no WebSocket.
    fn refused(
        &mut self,
        user: UserId,
        reply: &EngineResponse<'_>,
        error: Option<&HandshakeError>,
    ) {
        let problem = match (&reply.failure, error) {
            // Other texts have addresses in them, each its own.
            (Some(("tls", text)), _) => format!("handshake: {text}"),
            (Some((kind, _)), _) => format!("handshake: {kind}"),
            (None, Some(error)) => format!("handshake: {error}"),
            (None, None) => "handshake: the server does not speak the codec".to_owned(),
        };
        self.report.refused += 1;
        self.report.note(problem);
        self.schedule_reconnect(user, reply.done);
    }

    /// A connection ends, and not by us: the user comes back.
    pub(super) fn connection_lost(
        &mut self,
        user: UserId,
        now: Nanos,
        why: impl Into<Cow<'static, str>>,
    ) {
        let entry = &mut self.users[user];
        if entry.is_subscribed() {
            entry.lost_at.get_or_insert(now);
            if now.saturating_sub(entry.since) >= LASTS {
                entry.refusals = 0;
            }
        }
        self.report.dropped += 1;
        self.report.note(why);
        let lasted = entry.is_subscribed() && entry.refusals == 0;
        self.disconnect(user);
        if lasted {
            self.reconnect_within_jitter(user, now);
        } else {
            self.schedule_reconnect(user, now);
        }
    }

    /// A user goes and does not come back.
    pub(super) fn turn_away(
        &mut self,
        user: UserId,
        now: Nanos,
        why: impl Into<Cow<'static, str>>,
    ) {
        self.report.turned_away += 1;
        self.report.note(why);
        self.disconnect(user);
        self.users[user].stage = Stage::Gone;
        self.settle(user, now, Settled::GivenUp);
    }

    /// A user that was refused comes back after a while, the longer the more often it was.
    fn schedule_reconnect(&mut self, user: UserId, now: Nanos) {
        // A herd waits until all are up or given up; the other patterns start without users that the server refuses.
        if !matches!(self.cable.plan.pattern, Pattern::Herd { .. }) {
            self.settle(user, now, Settled::GivenUp);
        }
        let entry = &mut self.users[user];
        entry.refusals = entry.refusals.saturating_add(1);
        let mut wait = Nanos::ZERO;
        if self.cable.plan.backs_off {
            wait = backoff(entry.refusals, self.random.next_f64());
            self.report.backoffs += 1;
            self.report.backed_off += wait;
        }
        self.timers.add(Entry { at: now + wait, user, generation: entry.generation });
    }

    /// A user that was dropped comes back.
    pub(super) fn reconnect_within_jitter(&mut self, user: UserId, from: Nanos) {
        let within = self.cable.plan.jitter.0 as f64 * self.random.next_f64();
        let at = from + Nanos(within as u64);
        self.timers.add(Entry { at, user, generation: self.users[user].generation });
    }

    /// Takes a user's connection away, if it has one.
    pub(super) fn disconnect(&mut self, user: UserId) {
        if self.users[user].is_subscribed() {
            self.leave(user);
        }
        let entry = &mut self.users[user];
        entry.stage = Stage::Away;
        entry.session = None;
        if let Some(pipe) = entry.pipe.take() {
            self.places[pipe.place as usize] = 0;
            self.cable.barrier.note_closed();
            self.commands.close(pipe);
        }
    }

    /// A user is up in this round, or is waited for no more.
    pub(super) fn settle(&mut self, user: UserId, now: Nanos, settled: Settled) {
        let entry = &mut self.users[user];
        if entry.settled > self.round {
            return;
        }
        entry.settled = self.round + 1;
        let seen = self.report.round(self.round);
        match settled {
            Settled::Subscribed => {
                seen.subscribed += 1;
                seen.ready.record(now.saturating_sub(self.round_began));
            }
            Settled::GivenUp => seen.given_up += 1,
        }
        self.cable.barrier.settle(self.round, now);
    }

    /// A user's subscription is confirmed.
    pub(super) fn confirmed(&mut self, user: UserId, now: Nanos) {
        let entry = &mut self.users[user];
        entry.stage = Stage::Subscribed;
        (entry.since, entry.last_ping, entry.ping_state) = (now, now, PingState::NoneYet);
        self.report.subscribed += 1;
        self.report.ready.record(now.saturating_sub(entry.due));
        if let Some(lost) = entry.lost_at.take() {
            self.report.recovered.record(now.saturating_sub(lost));
        }
        match self.cable.plan.pattern {
            Pattern::Echo { every } => self.begin_echo(user, every, now),
            Pattern::Broadcast { .. } => self.join(user, now),
            Pattern::Idle | Pattern::Herd { .. } => {}
        }
        self.settle(user, now, Settled::Subscribed);
    }

    /// The user of a pipe.
    pub(super) fn user_of(&self, pipe: Pipe) -> Option<UserId> {
        let user = UserId(self.places.get(pipe.place as usize)?.checked_sub(1)?);
        (self.users[user].pipe == Some(pipe)).then_some(user)
    }

    fn take_place(&mut self, pipe: Pipe, user: UserId) {
        let place = pipe.place as usize;
        if self.places.len() <= place {
            self.places.resize(place + 1, 0);
        }
        self.places[place] = user.0 + 1;
    }
}

/// How long to wait after so many refusals in a row: `min(100 ms * 2^(n-1), 5 s)`, less up to half of it by chance (0 to 1).
fn backoff(refusals: u16, chance: f64) -> Nanos {
    let doublings = u32::from(refusals.saturating_sub(1)).min(16);
    let most = (BACKOFF_FIRST.0 << doublings).min(BACKOFF_MAX.0);
    Nanos((most as f64 * (1.0 - chance / 2.0)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_five_seconds() {
        let waits =
            [1, 2, 3, 6, 7, 8, u16::MAX].map(|refusals| backoff(refusals, 0.0).0 / 1_000_000);
        assert_eq!(waits, [100, 200, 400, 3_200, 5_000, 5_000, 5_000]);
        assert_eq!(backoff(1, 1.0), Nanos::from_millis(50), "chance takes up to half");
    }
}
