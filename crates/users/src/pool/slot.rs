//! `Slot`: a VU and what it is doing.

use std::ops::{Index, IndexMut};
use std::rc::Rc;

use stdx::Nanos;

use crate::host::action::Ticket;
use crate::host::execution::ScenarioInfo;

/// The place of a VU among those of its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct VuSlot(pub(crate) usize);

/// The VUs of a pool. None is taken out before the pool ends.
pub(crate) struct Slots<U>(Vec<Slot<U>>);

impl<U> Default for Slots<U> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<U> Slots<U> {
    /// Adds a VU; gives its place.
    pub(crate) fn push(&mut self, slot: Slot<U>) -> VuSlot {
        self.0.push(slot);
        VuSlot(self.0.len() - 1)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot<U>> {
        self.0.iter()
    }
}

impl<U> Index<VuSlot> for Slots<U> {
    type Output = Slot<U>;

    fn index(&self, at: VuSlot) -> &Slot<U> {
        &self.0[at.0]
    }
}

impl<U> IndexMut<VuSlot> for Slots<U> {
    fn index_mut(&mut self, at: VuSlot) -> &mut Slot<U> {
        &mut self.0[at.0]
    }
}

/// A VU and what it is doing.
pub(crate) struct Slot<U> {
    pub(crate) vu: U,
    /// Its number in the test.
    pub(crate) number: u64,
    /// The scenario that it works in.
    pub(crate) scenario: usize,
    /// Its number within the scenario, from 0, over all workers.
    pub(crate) index: u64,
    /// Iterations that it has begun.
    pub(crate) iterations: u64,
    /// Those of them in its scenario.
    pub(crate) in_scenario: u64,
    pub(crate) state: State,
    /// When it is to be woken.
    pub(crate) until: Option<Nanos>,
    /// When it will be: the first of its places among the sleepers.
    pub(crate) alarm: Option<Nanos>,
    /// The iteration whose connections it has, where they are closed after each.
    pub(crate) connected: u64,
    /// Bytes sent and received in this iteration.
    pub(crate) bytes: (u64, u64),
    /// Iterations whose sockets were refused since the last one that was not.
    pub(crate) refusals: u32,
    /// One was in this iteration.
    pub(crate) is_refused: bool,
    /// Its open sockets.
    pub(crate) sockets: Vec<workload::Pipe>,
    /// Its sockets that are held, until it has caught up.
    pub(crate) stalled: Vec<workload::Pipe>,
    /// Its streams of gRPC.
    pub(crate) streams: Vec<Ticket>,
    /// Those of them that are held, until it has caught up.
    pub(crate) stalled_streams: Vec<Ticket>,
    /// What its scenario calls, and is.
    pub(crate) assignment: Option<Rc<Assignment>>,
}

/// What a scenario is to its VUs.
#[derive(Debug)]
pub(crate) struct Assignment {
    /// The script's function.
    pub(crate) function: Rc<str>,
    /// `None` in `setup` and `teardown`.
    pub(crate) scenario: Option<Rc<ScenarioInfo>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Idle,
    /// In an iteration that began then.
    Busy(Nanos),
    /// It rests, since its iteration was too short.
    Resting,
}

impl<U> Slot<U> {
    /// A VU that works nowhere yet.
    pub(crate) fn new(vu: U, number: u64) -> Self {
        Self {
            vu,
            number,
            scenario: 0,
            index: 0,
            iterations: 0,
            in_scenario: 0,
            state: State::Idle,
            until: None,
            alarm: None,
            connected: 0,
            bytes: (0, 0),
            refusals: 0,
            is_refused: false,
            sockets: Vec::new(),
            stalled: Vec::new(),
            streams: Vec::new(),
            stalled_streams: Vec::new(),
            assignment: None,
        }
    }

    /// The origin of its samples.
    pub(crate) fn sampled(&self) -> SampleOrigin {
        let iteration = self.iterations.saturating_sub(1);
        SampleOrigin { work: self.scenario, vu: self.number, iteration }
    }
}

/// The owner of a request or a socket: a VU in one of its iterations, with the ticket of the action.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestOwner {
    pub(crate) slot: VuSlot,
    pub(crate) iteration: u64,
    pub(crate) ticket: Ticket,
    /// Results reach the VU whatever iteration is under way: a cable's socket.
    pub(crate) outlives_iteration: bool,
}

/// Where a sample comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleOrigin {
    /// The scenario's number.
    pub(crate) work: usize,
    /// The VU's number.
    pub(crate) vu: u64,
    /// Its iteration's number.
    pub(crate) iteration: u64,
}
