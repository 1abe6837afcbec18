//! `CableUsers`: what one worker keeps of its users, and how they send and end.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use stdx::{Nanos, Prng};
use wire::cable::{Command, CommandKind};
use workload::arrival::Shard;
use workload::{Commands, PollBudget};

use super::broadcast_schedule::BroadcastSchedule;
use super::part_messages::PartMessages;
use super::pending_echoes::PendingEchoes;
use super::server_message::ServerMessage;
use super::timer_queue::{Entry, TimerQueue};
use super::user_table::{UserId, UserTable};
use crate::cable::{Cable, lock};
use crate::cable_report::CableReport;
use crate::plan::Pattern;
use crate::received_set::ReceivedSet;
use crate::token::Token;

/// The interval of the check for sockets without pings.
pub(super) const WATCH_EVERY: Nanos = Nanos::SECOND;
/// WebSocket code of a normal end. RFC 6455, 7.4.1.
const NORMAL: u16 = 1000;

/// One worker's users.
#[derive(Debug)]
pub(crate) struct CableUsers {
    pub(super) cable: Arc<Cable>,
    pub(super) shard: Shard,
    pub(super) users: UserTable,
    /// The user of each pipe, by the pipe's place: the user's index plus 1; 0 for none.
    pub(super) places: Vec<u32>,
    pub(super) timers: TimerQueue,
    /// What may still be begun in this poll.
    pub(super) budget: PollBudget,
    pub(super) received: ReceivedSet,
    pub(super) broadcast: BroadcastSchedule,
    /// The messages of a broadcast that several machines share.
    pub(super) part: Option<Box<PartMessages>>,
    /// When this worker was polled last.
    pub(super) now: Nanos,
    pub(super) echoes: PendingEchoes,
    /// A herd's round, from 0, and when it began.
    pub(super) round: u32,
    pub(super) round_began: Nanos,
    /// Users before this are cut off in this round.
    pub(super) next_cut: usize,
    pub(super) next_watch: Nanos,
    pub(super) phase: Phase,
    /// Until when messages in flight are waited for after an interrupt.
    pub(super) stop_deadline: Option<Nanos>,
    pub(super) report: CableReport,
    pub(super) random: Prng,
    /// What rows of messages are called.
    pub(super) line: Arc<str>,
    pub(super) commands: Commands,
    /// What came in one go, and what goes out; kept for their memory.
    pub(super) messages: Vec<ServerMessage>,
    pub(super) buffers: Buffers,
}

/// Memory for what goes out.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) token: String,
    pub(super) data: String,
    pub(super) message: Vec<u8>,
    pub(super) out: Vec<u8>,
}

/// How far a worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Running,
    /// Nothing new begins.
    Stopping,
    Over,
}

impl CableUsers {
    /// The users of one shard, none of them connected.
    pub(crate) fn new(cable: Arc<Cable>, shard: Shard) -> Self {
        let plan = &cable.plan;
        let own = u64::from(plan.own_users());
        let count = own.saturating_sub(shard.first).div_ceil(shard.step) as usize;
        let subscribers = if matches!(plan.pattern, Pattern::Broadcast { .. }) { count } else { 0 };
        let mut users = Self {
            users: UserTable::new(count),
            places: Vec::new(),
            timers: TimerQueue::default(),
            budget: PollBudget::default(),
            received: ReceivedSet::new(subscribers, cable.in_flight.window()),
            broadcast: BroadcastSchedule::new(plan, shard),
            part: PartMessages::of(plan, shard.first),
            now: Nanos::ZERO,
            echoes: PendingEchoes::default(),
            round: 0,
            round_began: Nanos::ZERO,
            // The first round begins with the connects: there is no user to cut off yet.
            next_cut: count,
            next_watch: WATCH_EVERY,
            phase: Phase::Running,
            stop_deadline: None,
            report: CableReport::default(),
            random: Prng::new(stdx::mix(plan.seed, u64::from(plan.number_of(shard.first)) + 1)),
            line: plan.line().into(),
            commands: Commands::default(),
            messages: Vec::new(),
            buffers: Buffers::default(),
            shard,
            cable,
        };
        users.cable.workers.store(users.shard.step as u16, Ordering::Relaxed);
        users.schedule_arrivals();
        users
    }

    /// Schedules the connect of every user: one after the other, evenly over the ramp.
    fn schedule_arrivals(&mut self) {
        let plan = &self.cable.plan;
        for user in self.users.ids() {
            let global = self.global(user);
            let part = u128::from(plan.ramp.0) * u128::from(global) / u128::from(plan.users);
            self.timers.add(Entry { at: Nanos(part as u64), user, generation: 0 });
        }
    }

    /// A user's number in the whole run, from 0.
    pub(super) fn global(&self, user: UserId) -> u32 {
        self.cable.plan.number_of(self.shard.first + u64::from(user.0) * self.shard.step)
    }

    /// Sends a command of a user's through its WebSocket; gives its length, or `None` where it cannot be sent.
    pub(super) fn command(
        &mut self,
        user: UserId,
        kind: CommandKind,
        token: Option<Token>,
    ) -> Option<usize> {
        let global = self.global(user) + 1;
        let plan = &self.cable.plan;
        let Buffers { token: text, data, message, out } = &mut self.buffers;
        message.clear();
        out.clear();
        data.clear();
        let identifier = plan.identifier.text(global);
        let mut command = Command::new(kind, &identifier);
        if let Some(token) = token {
            self.cable.run_token.write(token, text);
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
        self.commands.send(self.users[user].pipe?, out);
        Some(out.len())
    }

    /// Ends all users: open connections get a close frame.
    pub(super) fn finish(&mut self, now: Nanos) {
        self.phase = Phase::Over;
        for user in self.users.ids() {
            let out = &mut self.buffers.out;
            out.clear();
            let entry = &mut self.users[user];
            if let (Some(session), Some(pipe)) = (&mut entry.session, entry.pipe) {
                session.close(Some(NORMAL), "", out);
                self.commands.send(pipe, out);
            }
            self.disconnect(user);
        }
        self.watch(now);
        self.count_subscribers();
        self.end_part();
        self.merge_report();
    }

    /// Adds what was seen to what the others saw.
    pub(super) fn merge_report(&mut self) {
        let seen = std::mem::take(&mut self.report);
        lock(&self.cable.report).merge(&seen);
    }
}

impl Drop for CableUsers {
    fn drop(&mut self) {
        self.merge_report();
    }
}
