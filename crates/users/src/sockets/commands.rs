//! What scripts do with their WebSockets, and how sockets end.

use std::rc::Rc;

use metrics::tally::MetricId;
use stdx::Nanos;
use workload::Pipe;

use crate::host::action::{ActionResult, Ticket};
use crate::host::socket::{Delivery, SocketApi, SocketCommand, SocketEvent};
use crate::host::virtual_user::UserProgram;
use crate::pool::slot::{RequestOwner, VuSlot};
use crate::pool::vu_pool::VuPool;
use crate::sockets::cable;
use crate::sockets::events::ABNORMAL;
use crate::sockets::state::Socket;

/// The code of what is closed since its VU goes on without it.
const GOING_AWAY: u16 = 1001;

impl<P: UserProgram> VuPool<P> {
    /// Does what a script wants of its socket.
    pub(crate) fn run_socket_command(
        &mut self,
        slot: VuSlot,
        ticket: Ticket,
        order: &SocketCommand,
        now: Nanos,
    ) {
        let Some(&pipe) = self.sockets.pipes.get(&(slot, ticket)) else { return };
        let Some(socket) = self.sockets.open.get_mut(&pipe) else { return };
        let out = &mut self.sockets.out;
        out.clear();
        let counts = match order {
            SocketCommand::Text(text) => socket.session.send_text(text, out).is_ok(),
            SocketCommand::Binary(bytes) => socket.session.send_binary(bytes, out).is_ok(),
            SocketCommand::Command(command) => match socket.api {
                SocketApi::Cable(codec) => cable::send(codec, command, &mut socket.session, out),
                SocketApi::Blocking | SocketApi::Events => false,
            },
            SocketCommand::Ping => socket.ping(now, out) && socket.api == SocketApi::Events,
            SocketCommand::Ignore(identifier, delivery) => {
                socket.ignored.retain(|known| known != identifier);
                if *delivery == Delivery::CountOnly {
                    socket.ignored.push(identifier.clone());
                }
                false
            }
            SocketCommand::Close(code, reason) => {
                socket.session.close(Some(*code), reason, out);
                socket.api == SocketApi::Events
            }
            SocketCommand::Drop(code) => {
                socket.session.close(Some(*code), "", out);
                false
            }
        };
        if self.commands.make_room(out.len()).is_err() {
            return self.lose_socket(pipe, now);
        }
        self.slots[slot].bytes.0 += out.len() as u64;
        self.commands.send(pipe, out);
        if matches!(order, SocketCommand::Command(_)) && !counts {
            let text = "the command cannot be said in this codec, or the connection is closing";
            let failed = ActionResult::Socket(SocketEvent::Failed(text.to_owned()));
            self.answers.push_back((socket.owner, failed));
        } else if counts {
            let labels = Rc::clone(&socket.labels);
            self.record_socket(slot, &labels, &[(MetricId::WS_MSGS_SENT, 1.0)]);
        }
        if matches!(order, SocketCommand::Drop(_)) {
            self.end_socket(pipe, now);
        }
    }

    /// There is no memory for what a socket is to send.
    #[cold]
    fn lose_socket(&mut self, pipe: Pipe, now: Nanos) {
        let Some(socket) = self.sockets.open.get(&pipe) else { return };
        let text = "no memory is left for the messages that wait to be sent (-memory-limit)";
        let failed = SocketEvent::Failed(text.to_owned());
        for event in [failed, SocketEvent::Closed(ABNORMAL, String::new())] {
            self.answers.push_back((socket.owner, ActionResult::Socket(event)));
        }
        self.end_socket(pipe, now);
    }

    /// A socket is over: it is counted, and its pipe closed.
    pub(crate) fn end_socket(&mut self, pipe: Pipe, now: Nanos) {
        let Some(socket) = self.sockets.open.remove(&pipe) else { return };
        let Socket { owner, labels, since, api, .. } = socket;
        self.sockets.pipes.remove(&(owner.slot, owner.ticket));
        self.commands.close(pipe);
        let slot = &mut self.slots[owner.slot];
        slot.sockets.retain(|known| *known != pipe);
        // xk6-cable has no such sample.
        if !matches!(api, SocketApi::Cable(_)) {
            let lasted = now.saturating_sub(since).0 as f64 / 1e6;
            self.record_socket(owner.slot, &labels, &[(MetricId::WS_SESSION_DURATION, lasted)]);
        }
    }

    /// An iteration is over: its sockets are closed. Those that last stay, unless it failed and opened them itself: a script
    /// that threw has lost them as a rule.
    pub(crate) fn close_sockets(&mut self, slot: VuSlot, now: Nanos, failed: bool) {
        let iteration = self.slots[slot].iterations;
        self.close_some(slot, now, |owner| {
            !owner.outlives_iteration || failed && owner.iteration == iteration
        });
    }

    /// A VU has no more work: all its sockets are closed.
    pub(crate) fn close_all_sockets(&mut self, slot: VuSlot, now: Nanos) {
        self.close_some(slot, now, |_| true);
    }

    fn close_some(&mut self, slot: VuSlot, now: Nanos, which: impl Fn(RequestOwner) -> bool) {
        for pipe in self.slots[slot].sockets.clone() {
            let Some(socket) =
                self.sockets.open.get_mut(&pipe).filter(|socket| which(socket.owner))
            else {
                continue;
            };
            let out = &mut self.sockets.out;
            out.clear();
            socket.session.close(Some(GOING_AWAY), "", out);
            self.commands.send(pipe, out);
            self.end_socket(pipe, now);
        }
    }
}
