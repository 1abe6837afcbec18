//! `Crowd`: one worker's users. They come, subscribe, do what the pattern says, and come back where they are dropped.
//!
//! ```text
//! poll ─▶ act (who is due: connect, perform) ─▶ stop waiting ─▶ pattern (echo, speech, herd) ─▶ watch pings ─▶ done?
//! answer ─▶ connect.rs     received ─▶ hear.rs ─▶ connect.rs, echo.rs, speech.rs
//! ```

mod agenda;
mod connect;
mod echo;
mod hear;
mod herd;
mod speech;
mod user;

use std::sync::{Arc, PoisonError};

use stdx::{Nanos, Prng};
use wire::cable::{Command, CommandKind};
use workload::arrival::Lane;
use workload::{Ending, Flow, Pipe, Received, Reply, Share, Users, Wishes};

use crate::outcome::Outcome;
use crate::plan::Pattern;
use crate::seen::Seen;
use crate::{Cable, token::Token};

use agenda::{Agenda, Entry};
use echo::Flights;
use hear::Heard;
use speech::Speech;
use user::{Silence, Stage, User};

/// How often sockets are looked at that hear no pings.
const WATCH_EVERY: Nanos = Nanos::SECOND;
/// How long a socket may hear no ping: Action Cable's own client waits so long before it takes the connection for lost.
const SILENCE_MAX: Nanos = Nanos::from_secs(6);
/// How long messages in flight are waited for after an interrupt, at most: some may never come.
const STOPPING_MAX: Nanos = Nanos::SECOND;
/// WebSocket code of a normal end. RFC 6455, 7.4.1.
const NORMAL: u16 = 1000;

/// One worker's users.
#[derive(Debug)]
pub(crate) struct Crowd {
    cable: Arc<Cable>,
    lane: Lane,
    users: Vec<User>,
    /// Whose pipe lies at a place: the user's index and 1; 0 for nobody's.
    places: Vec<u32>,
    agenda: Agenda,
    /// What may still be begun in this poll.
    share: Share,
    seen: Seen,
    speech: Speech,
    flights: Flights,
    /// A herd's round, from 0, and when it began.
    round: u32,
    round_began: Nanos,
    /// Users before this are cut off in this round.
    next_cut: usize,
    next_watch: Nanos,
    phase: Phase,
    /// Until when messages in flight are waited for after an interrupt.
    patience: Option<Nanos>,
    outcome: Outcome,
    random: Prng,
    /// What rows of messages are called.
    line: Arc<str>,
    wishes: Wishes,
    /// What came in one go, and what goes out; kept for their memory.
    heard: Vec<Heard>,
    buffers: Buffers,
}

/// Memory for what goes out.
#[derive(Debug, Default)]
struct Buffers {
    token: String,
    data: String,
    message: Vec<u8>,
    out: Vec<u8>,
}

/// How far a crowd is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    /// Nothing new begins.
    Stopping,
    Over,
}

impl Crowd {
    /// The users of one lane; nobody has come yet.
    pub(crate) fn new(cable: Arc<Cable>, lane: Lane) -> Self {
        let plan = &cable.plan;
        let count = u64::from(plan.users).saturating_sub(lane.first).div_ceil(lane.step) as usize;
        let subscribers = if matches!(plan.pattern, Pattern::Broadcast { .. }) { count } else { 0 };
        let word = match plan.pattern {
            Pattern::Broadcast { .. } => "BROADCAST",
            _ => "PERFORM",
        };
        let mut crowd = Self {
            users: (0..count).map(|_| User::default()).collect(),
            places: Vec::new(),
            agenda: Agenda::default(),
            share: Share::default(),
            seen: Seen::new(subscribers, cable.ledger.window()),
            speech: Speech::new(plan, lane),
            flights: Flights::default(),
            round: 0,
            round_began: Nanos::ZERO,
            // Nobody is cut off in the first round.
            next_cut: count,
            next_watch: WATCH_EVERY,
            phase: Phase::Running,
            patience: None,
            outcome: Outcome::default(),
            random: Prng::new(stdx::mix(plan.seed, lane.first + 1)),
            line: format!("{word} {}", plan.url).into(),
            wishes: Wishes::default(),
            heard: Vec::new(),
            buffers: Buffers::default(),
            lane,
            cable,
        };
        crowd.call();
        crowd
    }

    /// Puts everybody's coming on the agenda: evenly over the ramp.
    fn call(&mut self) {
        let plan = &self.cable.plan;
        for user in 0..self.users.len() as u32 {
            let global = self.lane.first + u64::from(user) * self.lane.step;
            let part = u128::from(plan.ramp.0) * u128::from(global) / u128::from(plan.users);
            self.agenda.add(Entry { at: Nanos(part as u64), user, life: 0 });
        }
    }

    /// A user's number in the whole run, from 0.
    fn global(&self, user: usize) -> u32 {
        (self.lane.first + user as u64 * self.lane.step) as u32
    }

    /// Has those act that are due.
    fn act(&mut self, now: Nanos) {
        while self.share.is_left() {
            let Some(Entry { at, user, life }) = self.agenda.due(now) else { return };
            let place = user as usize;
            if self.users[place].life != life {
                continue;
            }
            match self.users[place].stage {
                Stage::Away => {
                    self.share.take(Share::CONNECTION);
                    self.connect(place, at);
                }
                Stage::Subscribed => {
                    self.share.take(Share::MESSAGE);
                    self.perform_in_turn(place, at, now);
                }
                _ => {}
            }
        }
    }

    /// Ends the waiting of those whose welcome or confirmation has not come in time.
    fn stop_waiting(&mut self, now: Nanos) {
        while let Some(Entry { user, life, .. }) = self.agenda.overdue(now) {
            let user = user as usize;
            if self.users[user].life != life {
                continue;
            }
            let problem = match self.users[user].stage {
                Stage::Greeting => "no welcome in time",
                Stage::Subscribing => "no confirmation in time",
                _ => continue,
            };
            self.outcome.unconfirmed += 1;
            self.lose(user, now, problem);
        }
    }

    /// When the pattern's load ends: the duration after all users were up.
    fn end(&self) -> Option<Nanos> {
        let up = self.cable.muster.up_at(self.round)?;
        Some(up.saturating_add(self.cable.plan.duration))
    }

    /// Whether there is nothing more to do.
    fn is_done(&self, now: Nanos) -> bool {
        let stops = self.phase == Phase::Stopping;
        let ended = stops || self.end().is_some_and(|end| end <= now);
        match self.cable.plan.pattern {
            Pattern::Echo { .. } => ended && self.flights.waiting() == 0,
            Pattern::Broadcast { .. } => self.all_is_said(),
            Pattern::Idle => ended,
            Pattern::Herd { .. } => {
                stops || (ended && self.round + 1 == self.cable.muster.rounds())
            }
        }
    }

    /// Counts sockets that hear no pings.
    fn watch(&mut self, now: Nanos) {
        if now < self.next_watch {
            return;
        }
        self.next_watch = now + WATCH_EVERY;
        for user in self.users.iter_mut().filter(|user| user.is_subscribed()) {
            let silent = now.saturating_sub(user.heard);
            if silent > SILENCE_MAX {
                self.outcome.silence_longest = self.outcome.silence_longest.at_least(silent);
                if user.silence != Silence::Counted {
                    user.silence = Silence::Counted;
                    self.outcome.silences += 1;
                }
            }
        }
    }

    /// Whether messages in flight are waited for no more, since somebody wants the end.
    fn is_out_of_patience(&self, now: Nanos) -> bool {
        self.patience.is_some_and(|until| until <= now)
    }

    /// Sends a command of a user's through its WebSocket; gives its length, or `None` where it cannot be sent.
    fn command(&mut self, user: usize, kind: CommandKind, token: Option<Token>) -> Option<usize> {
        let global = self.global(user) + 1;
        let plan = &self.cable.plan;
        let Buffers { token: text, data, message, out } = &mut self.buffers;
        message.clear();
        out.clear();
        data.clear();
        let identifier = plan.identifier.text(global);
        let mut command = Command::new(kind, &identifier);
        if let Some(token) = token {
            self.cable.mark.write(token, text);
            plan.data.write(global, text, data);
            command.data = Some(data);
        }
        plan.codec.encode(&command, message).expect("the codecs have these commands");
        let session = self.users[user].session.as_mut()?;
        let sent = if plan.codec.is_text() {
            let text = std::str::from_utf8(message).expect("JSON is text");
            session.send_text(text, out)
        } else {
            session.send_binary(message, out)
        };
        sent.ok()?;
        self.wishes.send(self.users[user].pipe?, out);
        Some(out.len())
    }

    /// Ends all: who is open says goodbye.
    fn finish(&mut self, now: Nanos) {
        self.phase = Phase::Over;
        for user in 0..self.users.len() {
            let out = &mut self.buffers.out;
            out.clear();
            let seat = &mut self.users[user];
            if let (Some(session), Some(pipe)) = (&mut seat.session, seat.pipe) {
                session.close(Some(NORMAL), "", out);
                self.wishes.send(pipe, out);
            }
            self.part(user);
        }
        self.watch(now);
        self.count_subscribers();
        self.tell();
    }

    /// Adds what was seen to what the others saw.
    fn tell(&mut self) {
        let seen = std::mem::take(&mut self.outcome);
        self.cable.outcome.lock().unwrap_or_else(PoisonError::into_inner).merge(&seen);
    }

    /// When there is something to do after `now`.
    fn wake(&self, now: Nanos) -> Option<Nanos> {
        let times = [
            self.agenda.next(),
            self.next_speech(),
            self.flights.next_limit(),
            self.patience.filter(|until| *until > now),
            // Past it there are messages to wait for, or other workers; they have times of their own.
            self.end().filter(|end| *end > now),
            Some(self.next_watch),
            self.is_cutting().then_some(now),
        ];
        times.into_iter().flatten().min()
    }
}

impl Users for Crowd {
    fn poll(&mut self, now: Nanos, wishes: &mut Wishes) -> Option<Nanos> {
        self.share = wishes.share;
        if self.phase == Phase::Stopping {
            self.patience.get_or_insert(now.saturating_add(STOPPING_MAX));
        }
        if self.phase != Phase::Over {
            self.act(now);
            self.stop_waiting(now);
            match self.cable.plan.pattern {
                Pattern::Echo { .. } => self.expire_flights(now),
                Pattern::Broadcast { .. } => self.speak(now),
                Pattern::Herd { give_up, .. } => self.drive(now, give_up),
                Pattern::Idle => {}
            }
            self.watch(now);
            if self.is_done(now) {
                self.finish(now);
            }
        }
        wishes.asks.append(&mut self.wishes.asks);
        wishes.orders.append(&mut self.wishes.orders);
        wishes.bytes.append(&mut self.wishes.bytes);
        wishes.trips.append(&mut self.wishes.trips);
        self.wake(now)
    }

    fn answer(&mut self, user: u32, reply: &Reply<'_>) {
        self.answered(user as usize, reply);
    }

    fn received(&mut self, pipe: Pipe, now: Nanos, what: Received<'_>) -> Flow {
        let Some(user) = self.whose(pipe) else { return Flow::On };
        match what {
            Received::Bytes(bytes) => self.hear(user, now, bytes),
            Received::End => self.lose(user, now, "the server ended the connection"),
            Received::Lost(kind, _) => self.lose(user, now, format!("connection lost: {kind}")),
        }
        Flow::On
    }

    fn stop(&mut self, ending: Ending) {
        match (ending, self.phase) {
            (_, Phase::Over) => {}
            (Ending::AfterThis, _) => self.phase = Phase::Stopping,
            (Ending::Now, _) => {
                self.phase = Phase::Over;
                (0..self.users.len()).for_each(|user| self.part(user));
                self.tell();
            }
        }
    }

    fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.tell();
    }
}
