//! Streams of gRPC: messages go out as they are written, and reach the user as they come; each is counted under k6's names.

use grpc::{CallOutcome, Code, Status};
use metrics::tally::MetricId;
use workload::{Backpressure, EngineResponse, StreamCommand, StreamEvent as EngineEvent};

use super::failure;
use super::pending::{CallLabels, PendingCall};
use crate::host::action::{ActionResult, Ticket};
use crate::host::grpc::{GrpcKind, GrpcResponse, StreamAction, StreamEvent};
use crate::host::traits::Host as _;
use crate::host::virtual_user::{UserProgram, VirtualUser as _};
use crate::http::call::HttpCall;
use crate::pool::slot::{RequestOwner, VuSlot};
use crate::pool::vu_pool::VuPool;

/// Messages of a stream that wait for their user, at most: the stream stalls beyond it.
const BACKLOG_MAX: usize = 2_048;
/// The bytes of such messages, at most: 4 MiB, but for one that is larger.
const BACKLOG_BYTES_MAX: usize = 4 << 20;
/// A stalled stream goes on once so few are left.
const BACKLOG_LOW: usize = 1_024;

impl<P: UserProgram> VuPool<P> {
    /// A stream was asked for, by this number.
    pub(crate) fn note_stream(&mut self, owner: RequestOwner, user: u32) {
        self.streams.insert((owner.slot, owner.ticket), user);
        self.slots[owner.slot].streams.push(owner.ticket);
        self.count_on_stream(user, MetricId::GRPC_STREAMS, 1);
    }

    /// Does what a user wants of its stream.
    pub(crate) fn run_stream_action(&mut self, slot: VuSlot, ticket: Ticket, what: StreamAction) {
        let Some(&user) = self.streams.get(&(slot, ticket)) else { return };
        let command = match what {
            StreamAction::Send(frame) => {
                self.slots[slot].bytes.0 += frame.len() as u64;
                self.count_on_stream(user, MetricId::GRPC_STREAMS_MSGS_SENT, 1);
                StreamCommand::Send(frame)
            }
            StreamAction::End => StreamCommand::End,
            StreamAction::Cancel => {
                let state = self.calls.get_mut(user).and_then(HttpCall::stream_mut);
                if let Some(state) = state {
                    let status = || Status::new(Code::UNKNOWN, "canceled by client (k6)");
                    state.end.get_or_insert_with(status);
                }
                StreamCommand::Cancel
            }
        };
        self.commands.stream_commands.push((user, command));
    }

    /// An iteration is over: its streams end.
    pub(crate) fn cancel_streams(&mut self, slot: VuSlot) {
        for ticket in std::mem::take(&mut self.slots[slot].streams) {
            if let Some(user) = self.streams.remove(&(slot, ticket)) {
                self.commands.stream_commands.push((user, StreamCommand::Cancel));
            }
        }
        self.slots[slot].stalled_streams.clear();
    }

    /// Something came through a stream.
    pub(crate) fn receive_on_stream(&mut self, user: u32, what: EngineEvent<'_>) -> Backpressure {
        let Some(call) = self.calls.get_mut(user) else { return Backpressure::Continue };
        let owner = call.owner;
        let Some(state) = call.stream_mut() else { return Backpressure::Continue };
        let had_ended = state.end.is_some();
        let mut messages = Vec::new();
        match what {
            EngineEvent::Head(status, lines) => state.begin(status, lines),
            EngineEvent::Data(bytes) => state.push(bytes, &mut |message| messages.push(message)),
        }
        if state.end.is_some() && !had_ended {
            self.commands.stream_commands.push((user, StreamCommand::Cancel));
        }
        if messages.is_empty() || !self.is_wanted(owner) {
            return Backpressure::Continue;
        }
        self.count_on_stream(user, MetricId::GRPC_STREAMS_MSGS_RECEIVED, messages.len());
        let (mut count, mut bytes) = self.slots[owner.slot].vu.backlog(owner.ticket);
        for message in messages {
            (count, bytes) = (count + 1, bytes + message.len());
            let event = StreamEvent::Message(message);
            self.answers.push_back((owner, ActionResult::Stream(event)));
        }
        if count < BACKLOG_MAX && bytes < BACKLOG_BYTES_MAX {
            return Backpressure::Continue;
        }
        self.slots[owner.slot].stalled_streams.push(owner.ticket);
        Backpressure::Pause
    }

    /// Resumes the stalled streams of a VU that has caught up.
    pub(crate) fn resume_streams(&mut self, slot: VuSlot) {
        if self.slots[slot].stalled_streams.is_empty() {
            return;
        }
        for ticket in std::mem::take(&mut self.slots[slot].stalled_streams) {
            let Some(&user) = self.streams.get(&(slot, ticket)) else { continue };
            let (count, bytes) = self.slots[slot].vu.backlog(ticket);
            if count > BACKLOG_LOW || bytes > BACKLOG_BYTES_MAX / 2 {
                self.slots[slot].stalled_streams.push(ticket);
                continue;
            }
            self.commands.stream_commands.push((user, StreamCommand::Resume));
        }
    }

    /// A stream has ended, whichever way.
    pub(crate) fn finish_stream(
        &mut self,
        call: HttpCall,
        mut pending: PendingCall,
        reply: &EngineResponse<'_>,
    ) {
        let owner = call.owner;
        self.streams.remove(&(owner.slot, owner.ticket));
        self.slots[owner.slot].streams.retain(|known| *known != owner.ticket);
        let Some(mut state) = pending.stream.take() else { return };
        let (end, only) = (state.end.take(), state.only.take());
        // What a user gives up, and what takes too long, is in none of k6's samples of durations.
        let timed_out = matches!(reply.failure, Some(("timeout", _)));
        let is_given_up = end.is_some() || timed_out;
        let mut outcome = match (end.or_else(|| failure::status_of(reply)), state.into_reader()) {
            (Some(status), _) => CallOutcome { status, ..CallOutcome::default() },
            (None, Some(reader)) => reader.finish(reply.trailers),
            (None, None) => CallOutcome::failed(Code::INTERNAL, "the response has no head"),
        };
        let took_ms = reply.done.saturating_sub(reply.due).0 as f64 / 1e6;
        let only = only.filter(|_| outcome.status.code == Code::OK);
        let mut values = Vec::new();
        values.extend(only.as_ref().map(|_| (MetricId::GRPC_STREAMS_MSGS_RECEIVED, 1.0)));
        outcome.messages.splice(0..0, only);
        values.extend((!is_given_up).then_some((MetricId::GRPC_REQ_DURATION, took_ms)));
        if pending.kind == GrpcKind::Stream && !values.is_empty() {
            let http = call.into_request();
            let labels = CallLabels {
                call: &pending,
                http: &http,
                status: Some(outcome.status.code.0),
                ip: reply.remote.map(|remote| remote.ip()),
            };
            let (sampled, at) = (self.slots[owner.slot].sampled(), self.host.sampled_at());
            self.recorder.grpc(sampled, &labels, at, &values);
        }
        let ended = StreamEvent::Ended(Box::new(GrpcResponse { outcome, took_ms }));
        self.answers.push_back((owner, ActionResult::Stream(ended)));
    }

    /// Counts something on a stream that is under way.
    fn count_on_stream(&mut self, user: u32, metric: MetricId, count: usize) {
        let Some(call) = self.calls.get_mut(user) else { return };
        let Some(pending) = call.grpc.as_deref().filter(|call| call.kind == GrpcKind::Stream)
        else {
            return;
        };
        let labels = CallLabels { call: pending, http: call.request(), status: None, ip: None };
        let (sampled, at) = (self.slots[call.owner.slot].sampled(), self.host.sampled_at());
        let values = vec![(metric, 1.0); count];
        self.recorder.grpc(sampled, &labels, at, &values);
    }
}
