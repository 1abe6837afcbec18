//! `InFlightMessages`: the messages in flight of a broadcast, shared by the users of all workers. A message sent takes a lock, a
//! subscriber that comes or goes too; a delivery takes none.
//!
//! The deliveries that a message owes are exact: joining and leaving take the same lock as sending, so a message's number alone
//! decides whether a subscriber was there when it was sent.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use stdx::Nanos;

/// The most messages in flight; past it the oldest is closed.
pub(crate) const WINDOW_MAX: usize = 4_096;

/// The messages in flight.
#[derive(Debug)]
pub(crate) struct InFlightMessages {
    slots: Box<[Slot]>,
    numbering: Mutex<Numbering>,
    /// Messages in flight.
    open: AtomicU32,
    /// Workers that have nothing more to send.
    silent: AtomicU32,
    /// The next message's number, for those without the lock.
    next: AtomicU32,
}

#[derive(Debug)]
struct Numbering {
    /// The next message's number, from 1.
    next: u32,
    /// Subscribers there are.
    live: u32,
}

/// A message in flight.
#[derive(Debug, Default)]
struct Slot {
    /// A [`State`].
    state: AtomicU64,
    due: AtomicU64,
    sent: AtomicU64,
    /// When the last subscriber had it.
    last: AtomicU64,
    expected: AtomicU32,
    bytes: AtomicU32,
}

impl Slot {
    fn read(&self) -> State {
        State::of(self.state.load(Ordering::Acquire))
    }
}

/// A message that is in flight no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClosedMessage {
    pub(crate) number: u32,
    pub(crate) due: Nanos,
    pub(crate) sent: Nanos,
    /// When the last subscriber had it; when it was sent, if none.
    pub(crate) last: Nanos,
    /// Subscribers there were when it was sent.
    pub(crate) expected: u32,
    /// How many of them had it.
    pub(crate) delivered: u32,
    /// How many left without it.
    pub(crate) cut: u32,
    /// Its length as sent.
    pub(crate) bytes: u32,
}

impl ClosedMessage {
    /// Deliveries that never came, though their subscribers stayed.
    pub(crate) fn lost(&self) -> u32 {
        self.expected - self.delivered - self.cut
    }
}

/// A slot's state in one word, so that all of it changes at once: the message's tag (24 bits), how many deliveries are not owed
/// any more since their subscribers left (20), how many are owed (20). 0 where there is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    tag: u32,
    cut: u32,
    owed: u32,
}

/// Bits of a count.
const COUNT_BITS: u32 = 20;
/// The greatest count, and so the most subscribers.
const COUNT_MAX: u32 = (1 << COUNT_BITS) - 1;
/// Tags begin anew after so many messages, a multiple of no window.
const TAGS: u32 = (1 << 24) - 1;

impl State {
    fn of(word: u64) -> Self {
        let count = |shift: u32| (word >> shift) as u32 & COUNT_MAX;
        Self { tag: (word >> (2 * COUNT_BITS)) as u32, cut: count(COUNT_BITS), owed: count(0) }
    }

    fn word(self) -> u64 {
        debug_assert!(self.cut <= COUNT_MAX && self.owed <= COUNT_MAX, "USERS_MAX keeps it");
        u64::from(self.tag) << (2 * COUNT_BITS)
            | u64::from(self.cut) << COUNT_BITS
            | u64::from(self.owed)
    }

    /// A delivery is owed no more: it was made.
    const fn delivered(self) -> Option<Self> {
        match self.owed.checked_sub(1) {
            Some(owed) => Some(Self { owed, ..self }),
            None => None,
        }
    }

    /// A delivery is owed no more: its subscriber left.
    const fn cut(self) -> Option<Self> {
        match self.delivered() {
            Some(less) => Some(Self { cut: less.cut + 1, ..less }),
            None => None,
        }
    }
}

/// What stands in a slot for a message; never 0.
const fn tag_of(number: u32) -> u32 {
    number % TAGS + 1
}

impl InFlightMessages {
    /// No messages yet; room for `window` of them, up to the next power of two and [`WINDOW_MAX`].
    pub(crate) fn new(window: usize) -> Self {
        let window = window.next_power_of_two().clamp(64, WINDOW_MAX);
        Self {
            slots: (0..window).map(|_| Slot::default()).collect(),
            numbering: Mutex::new(Numbering { next: 1, live: 0 }),
            open: AtomicU32::new(0),
            silent: AtomicU32::new(0),
            next: AtomicU32::new(1),
        }
    }

    /// How many messages may be in flight.
    pub(crate) fn window(&self) -> usize {
        self.slots.len()
    }

    /// Messages in flight.
    pub(crate) fn open(&self) -> u32 {
        self.open.load(Ordering::Acquire)
    }

    /// A worker has nothing more to send.
    pub(crate) fn fall_silent(&self) {
        self.silent.fetch_add(1, Ordering::Release);
    }

    /// How many workers have nothing more to send.
    pub(crate) fn silent(&self) -> u32 {
        self.silent.load(Ordering::Acquire)
    }

    /// A subscriber comes; gives the first message it is owed.
    pub(crate) fn join(&self) -> u32 {
        let mut numbering = self.numbering();
        numbering.live += 1;
        numbering.next
    }

    /// A subscriber that came before `first` goes, and had of the messages in flight what `had` says. Gives how many messages
    /// it was owed in all.
    pub(crate) fn leave(&self, first: u32, had: impl Fn(u32) -> bool) -> u32 {
        let upto = {
            let mut numbering = self.numbering();
            numbering.live -= 1;
            numbering.next
        };
        if self.open() > 0 {
            let oldest = upto.saturating_sub(self.slots.len() as u32).max(first);
            (oldest..upto).filter(|number| !had(*number)).for_each(|number| {
                self.change(number, State::cut);
            });
        }
        upto - first
    }

    /// The number of the next message, and the one that must be closed before it can be sent.
    ///
    /// The caller sends it with [`Reserved::send`] before it reserves again; the lock keeps others out until then.
    pub(crate) fn reserve(&self) -> Reserved<'_> {
        let numbering = self.numbering();
        let evicted = self.close(numbering.next.wrapping_sub(self.slots.len() as u32));
        Reserved { in_flight: self, numbering, evicted }
    }

    /// A subscriber that is owed a message has it. Gives when it was sent, if it is in flight still.
    pub(crate) fn deliver(&self, number: u32, now: Nanos) -> Option<Nanos> {
        let slot = self.slot(number);
        let mut sent = 0;
        let was_owed = self.change(number, |state| {
            sent = slot.sent.load(Ordering::Relaxed);
            // Before the count: the thread that closes the message must see this time.
            slot.last.fetch_max(now.0, Ordering::Relaxed);
            state.delivered()
        });
        was_owed.then_some(Nanos(sent))
    }

    /// Whether a message of this number was sent.
    pub(crate) fn was_sent(&self, number: u32) -> bool {
        (1..self.next.load(Ordering::Acquire)).contains(&number)
    }

    /// Whether nothing is owed any more of a message, or it is closed.
    pub(crate) fn is_settled(&self, number: u32) -> bool {
        let state = self.slot(number).read();
        state.tag != tag_of(number) || state.owed == 0
    }

    /// Closes a message; returns it to the first caller only.
    pub(crate) fn close(&self, number: u32) -> Option<ClosedMessage> {
        let slot = self.slot(number);
        let mut last_state = None;
        // Deliveries that come meanwhile only lower what is owed.
        let closed = self.change(number, |state| {
            last_state = Some(state);
            Some(State { tag: 0, cut: 0, owed: 0 })
        });
        let State { cut, owed, .. } = last_state.filter(|_| closed)?;
        self.open.fetch_sub(1, Ordering::Release);
        let expected = slot.expected.load(Ordering::Relaxed);
        let sent = Nanos(slot.sent.load(Ordering::Relaxed));
        Some(ClosedMessage {
            number,
            due: Nanos(slot.due.load(Ordering::Relaxed)),
            sent,
            last: Nanos(slot.last.load(Ordering::Relaxed)).at_least(sent),
            expected,
            delivered: expected - owed - cut,
            cut,
            bytes: slot.bytes.load(Ordering::Relaxed),
        })
    }

    /// Changes the state of a message that is in flight; `false` where it is not, or there is nothing to change.
    fn change(&self, number: u32, mut change: impl FnMut(State) -> Option<State>) -> bool {
        let state = &self.slot(number).state;
        let changed = state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
            let state = Some(State::of(word)).filter(|state| state.tag == tag_of(number))?;
            change(state).map(State::word)
        });
        changed.is_ok()
    }

    fn slot(&self, number: u32) -> &Slot {
        &self.slots[number as usize & (self.slots.len() - 1)]
    }

    fn numbering(&self) -> MutexGuard<'_, Numbering> {
        self.numbering.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to send the next message.
#[derive(Debug)]
pub(crate) struct Reserved<'a> {
    in_flight: &'a InFlightMessages,
    numbering: MutexGuard<'a, Numbering>,
    evicted: Option<ClosedMessage>,
}

impl Reserved<'_> {
    /// The message's number.
    pub(crate) fn number(&self) -> u32 {
        self.numbering.next
    }

    /// The message is sent, and owed to every subscriber of this moment. Gives the message that was closed to make room.
    pub(crate) fn send(mut self, due: Nanos, sent: Nanos, bytes: usize) -> Option<ClosedMessage> {
        let number = self.numbering.next;
        let slot = self.in_flight.slot(number);
        slot.due.store(due.0, Ordering::Relaxed);
        slot.sent.store(sent.0, Ordering::Relaxed);
        slot.last.store(0, Ordering::Relaxed);
        slot.expected.store(self.numbering.live, Ordering::Relaxed);
        slot.bytes.store(u32::try_from(bytes).unwrap_or(u32::MAX), Ordering::Relaxed);
        let state = State { tag: tag_of(number), cut: 0, owed: self.numbering.live };
        slot.state.store(state.word(), Ordering::Release);
        self.in_flight.open.fetch_add(1, Ordering::Release);
        self.numbering.next += 1;
        self.in_flight.next.store(self.numbering.next, Ordering::Release);
        self.evicted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(in_flight: &InFlightMessages, at: u64) -> (u32, Option<ClosedMessage>) {
        let reserved = in_flight.reserve();
        let number = reserved.number();
        (number, reserved.send(Nanos(at), Nanos(at + 1), 10))
    }

    #[test]
    fn what_is_owed_is_who_was_there() {
        let in_flight = InFlightMessages::new(64);
        assert_eq!((in_flight.join(), in_flight.join()), (1, 1));
        let (number, _) = send(&in_flight, 100);
        assert_eq!(in_flight.join(), 2, "the third is not owed the first message");
        assert_eq!(in_flight.deliver(number, Nanos(150)), Some(Nanos(101)));
        assert!(!in_flight.is_settled(number));
        assert_eq!(in_flight.deliver(number, Nanos(120)), Some(Nanos(101)));
        assert!(in_flight.is_settled(number));
        let closed = in_flight.close(number).expect("it was open");
        let expect = ClosedMessage {
            number: 1,
            due: Nanos(100),
            sent: Nanos(101),
            last: Nanos(150),
            expected: 2,
            delivered: 2,
            cut: 0,
            bytes: 10,
        };
        assert_eq!((closed, closed.lost(), in_flight.open()), (expect, 0, 0));
        assert_eq!((in_flight.close(number), in_flight.deliver(number, Nanos(160))), (None, None));
    }

    #[test]
    fn who_leaves_is_owed_nothing_any_more() {
        let in_flight = InFlightMessages::new(64);
        let (first, _) = (in_flight.join(), in_flight.join());
        let (one, _) = send(&in_flight, 1);
        let (two, _) = send(&in_flight, 2);
        in_flight.deliver(one, Nanos(5)).expect("in flight");
        assert_eq!(in_flight.leave(first, |number| number == one), 2, "it was owed both");
        let closed = [one, two].map(|number| in_flight.close(number).expect("open"));
        assert_eq!(closed.map(|one| (one.delivered, one.cut, one.lost())), [(1, 0, 1), (0, 1, 1)]);
        let (three, _) = send(&in_flight, 3);
        assert_eq!(in_flight.close(three).expect("open").expected, 1);
    }

    #[test]
    fn the_oldest_makes_room() {
        let in_flight = InFlightMessages::new(64);
        in_flight.join();
        for at in 0..64 {
            assert_eq!(send(&in_flight, at).1, None);
        }
        let evicted = send(&in_flight, 64).1.expect("the window is full");
        assert_eq!((evicted.number, evicted.lost(), in_flight.open()), (1, 1, 64));
        assert_eq!(in_flight.deliver(1, Nanos(9)), None, "late");
    }

    #[test]
    fn nothing_is_counted_twice_by_several_threads() {
        let in_flight = InFlightMessages::new(64);
        assert!((0..4).all(|_| in_flight.join() == 1));
        let closed = Mutex::new(Vec::new());
        let keep = |one| closed.lock().expect("nobody panics").extend(one);
        std::thread::scope(|scope| {
            for worker in 0..2_u32 {
                let (in_flight, keep) = (&in_flight, &keep);
                scope.spawn(move || {
                    for number in 1..=2_000 {
                        if worker == 0 {
                            keep(send(in_flight, 1).1);
                        }
                        // Each has it for two subscribers, if it is there.
                        while worker == 1 && in_flight.numbering().next <= number {
                            std::thread::yield_now();
                        }
                        in_flight.deliver(number, Nanos(5));
                        in_flight.deliver(number, Nanos(5));
                        keep(in_flight.close(number).filter(|_| in_flight.is_settled(number)));
                    }
                });
            }
        });
        let mut closed = closed.into_inner().expect("nobody panics");
        closed.sort_by_key(|one| one.number);
        assert!(closed.windows(2).all(|pair| pair[0].number < pair[1].number), "each once");
        assert_eq!((closed.len() as u32 + in_flight.open(), in_flight.open()), (2_000, 0));
        assert!(closed.iter().all(|one| one.delivered <= 4 && one.expected == 4));
    }
}
