//! The state of a VU's event loop: what its script has under way (requests, timers, long-lived sources of events), and what runs
//! when an answer comes. `wait` adds to it, `run_loop` runs it.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};

use rquickjs::{Ctx, Persistent, Value};
use stdx::{MemoryShare, Nanos, NumberHash, OutOfMemory};
use users::{Action, ActionResult, Ticket};

use super::timers::Timers;

/// Bytes of messages that wait until the script waits, at most: 64 MiB, as of those that wait for a server, and no more than an
/// eighth of `-memory-limit`: they are copied on their way into frames and to the server.
const MESSAGE_BYTES_MAX: usize = 64 << 20;
const COPIES: usize = 8;

/// Handles an answer; returns whether more may come.
pub(crate) type Then = Box<dyn for<'js> FnMut(&Ctx<'js>, ActionResult) -> rquickjs::Result<Next>>;

/// Whether a source has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// More answers with this ticket may come; the loop waits for them.
    More,
    /// This was the last.
    Over,
}

/// What a VU has under way.
#[derive(Default)]
pub(crate) struct EventLoop {
    /// The number of the next ticket, from 1.
    pub(super) next: Cell<u64>,
    /// Tickets before this one are of iterations that have ended.
    pub(super) first: Cell<u64>,
    /// What is to be carried out.
    pub(super) actions: RefCell<Vec<Action>>,
    /// Bytes of messages in it.
    message_bytes: Cell<usize>,
    memory: RefCell<MemoryShare>,
    /// The tickets whose answers the coroutine waits for, first and last; none where the first is greater.
    pub(super) wanted: Cell<(u64, u64)>,
    /// Until when the coroutine waits.
    pub(super) until: Cell<Option<Nanos>>,
    /// Answers that came while the script waited for something else.
    pub(super) arrived: RefCell<VecDeque<(Ticket, ActionResult)>>,
    /// How much waits, by ticket: answers, and the bytes in them.
    pub(super) weights: RefCell<HashMap<u64, (usize, usize), NumberHash>>,
    /// What is done with answers; `None` while it is being done.
    pub(super) tasks: RefCell<HashMap<u64, Option<Then>, NumberHash>>,
    /// What outlives the iteration, by its ticket; its answers wait to be [asked for](super::context::VuContext::next_of).
    pub(super) lasting: RefCell<HashMap<u64, VecDeque<ActionResult>, NumberHash>>,
    pub(crate) timers: Timers,
    /// Promises that were rejected and have no handler, with the reason.
    pub(super) rejected: RefCell<Vec<(Persistent<Value<'static>>, Persistent<Value<'static>>)>>,
}

impl EventLoop {
    pub(crate) fn new() -> Self {
        Self { next: Cell::new(1), wanted: Cell::new(NOTHING), ..Self::default() }
    }

    /// Whether the script asked for something since the last time.
    pub(crate) fn has_actions(&self) -> bool {
        !self.actions.borrow().is_empty()
    }

    /// What the script asked for since the last time; gives the memory that it takes until it is carried out.
    pub(crate) fn take_actions(&self, into: &mut Vec<Action>) -> MemoryShare {
        into.append(&mut self.actions.borrow_mut());
        self.message_bytes.set(0);
        self.memory.take()
    }

    /// Adds an action with a ticket of its own to what is to be carried out; gives the ticket.
    pub(crate) fn put(&self, action: impl FnOnce(Ticket) -> Action) -> Ticket {
        let ticket = Ticket(self.next.get());
        self.next.set(ticket.0 + 1);
        self.push(action(ticket));
        ticket
    }

    /// Adds a command of so many bytes for an open socket. They are carried out when the script waits.
    ///
    /// # Errors
    /// So many wait that there is no room for it.
    pub(crate) fn push_message(&self, action: Action, bytes: usize) -> Result<(), OutOfMemory> {
        let sum = self.message_bytes.get().saturating_add(bytes);
        if sum > stdx::within_memory(MESSAGE_BYTES_MAX, COPIES) {
            return Err(OutOfMemory);
        }
        self.memory.borrow_mut().resize(sum)?;
        self.message_bytes.set(sum);
        self.push(action);
        Ok(())
    }

    /// Adds an action to what is to be carried out.
    pub(crate) fn push(&self, action: Action) {
        self.actions.borrow_mut().push(action);
    }

    /// Whether the coroutine waits for this ticket.
    pub(crate) fn wants(&self, ticket: Ticket) -> bool {
        let (first, last) = self.wanted.get();
        if self.lasting.borrow().contains_key(&ticket.0) {
            return first == ticket.0 && last == ticket.0;
        }
        first <= ticket.0 && ticket.0 <= last && ticket.0 >= self.first.get()
    }

    /// Keeps a result that the script does not wait for now; one with an unknown ticket is dropped.
    pub(crate) fn keep(&self, ticket: Ticket, answer: ActionResult) {
        let bytes = answer.bytes();
        if let Some(queue) = self.lasting.borrow_mut().get_mut(&ticket.0) {
            queue.push_back(answer);
        } else if ticket.0 >= self.first.get() && self.tasks.borrow().contains_key(&ticket.0) {
            self.arrived.borrow_mut().push_back((ticket, answer));
        } else {
            return;
        }
        let mut weights = self.weights.borrow_mut();
        let (count, sum) = weights.entry(ticket.0).or_default();
        (*count, *sum) = (*count + 1, *sum + bytes);
    }

    /// Answers of a ticket that wait for the script, and the bytes in them.
    pub(crate) fn backlog(&self, ticket: Ticket) -> (usize, usize) {
        self.weights.borrow().get(&ticket.0).copied().unwrap_or_default()
    }

    /// An answer waits no longer.
    fn lighten(&self, ticket: u64, answer: &ActionResult) {
        let mut weights = self.weights.borrow_mut();
        if let Some((count, sum)) = weights.get_mut(&ticket) {
            (*count, *sum) = (*count - 1, *sum - answer.bytes());
            if *count == 0 {
                weights.remove(&ticket);
            }
        }
    }

    /// The first answer that waits for the script and is not of what lasts.
    pub(super) fn take_any(&self) -> Option<(Ticket, ActionResult)> {
        let (ticket, answer) = self.arrived.borrow_mut().pop_front()?;
        self.lighten(ticket.0, &answer);
        Some((ticket, answer))
    }

    /// The first answer of this ticket that waits for the script.
    pub(super) fn take_arrived(&self, ticket: Ticket) -> Option<ActionResult> {
        let lasting = self.lasting.borrow_mut().get_mut(&ticket.0).map(VecDeque::pop_front);
        let answer = match lasting {
            Some(answer) => answer?,
            None => {
                let mut arrived = self.arrived.borrow_mut();
                let at = arrived.iter().position(|(of, _)| *of == ticket)?;
                arrived.remove(at)?.1
            }
        };
        self.lighten(ticket.0, &answer);
        Some(answer)
    }

    /// Until when the coroutine waits.
    pub(crate) fn until(&self) -> Option<Nanos> {
        self.until.get()
    }

    /// Forgets what an iteration left: results that come later are dropped.
    pub(crate) fn clear(&self) {
        self.first.set(self.next.get());
        self.wanted.set(NOTHING);
        self.until.set(None);
        // Commands of sockets are not answered, and are carried out all the same.
        self.actions.borrow_mut().retain(|action| matches!(action, Action::Socket(..)));
        // What waits for the script may hold values of it, so each is dropped outside of the borrow.
        renew(&self.arrived, |arrived| arrived.capacity() > 0);
        if !self.weights.borrow().is_empty() {
            let lasting = self.lasting.borrow();
            self.weights.borrow_mut().retain(|ticket, _| lasting.contains_key(ticket));
        }
        renew(&self.tasks, |tasks| tasks.capacity() > 0);
        renew(&self.rejected, |rejected| rejected.capacity() > 0);
        self.timers.clear();
    }
}

/// Drops what a cell holds, with its memory, outside of the borrow. Mostly it never held anything, and this is done after each
/// iteration.
fn renew<T: Default>(cell: &RefCell<T>, has_memory: impl FnOnce(&T) -> bool) {
    if has_memory(&cell.borrow()) {
        drop(cell.take());
    }
}

/// No ticket.
pub(super) const NOTHING: (u64, u64) = (1, 0);
/// Every ticket.
pub(super) const ANYTHING: (u64, u64) = (0, u64::MAX);
