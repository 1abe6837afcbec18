//! `Slot`: a VU and what it is doing.

use std::ops::{Index, IndexMut};
use std::rc::Rc;

use stdx::Nanos;
use users::{ScenarioInfo, Ticket};

use crate::runtime::vu::Vu;

/// The place of a VU among those of its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct VuSlot(pub(super) usize);

/// The VUs of a pool. None is taken out before the pool ends.
#[derive(Default)]
pub(super) struct Slots(Vec<Slot>);

impl Slots {
    /// Adds a VU; gives its place.
    pub(super) fn push(&mut self, slot: Slot) -> VuSlot {
        self.0.push(slot);
        VuSlot(self.0.len() - 1)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.0.iter()
    }
}

impl Index<VuSlot> for Slots {
    type Output = Slot;

    fn index(&self, at: VuSlot) -> &Slot {
        &self.0[at.0]
    }
}

impl IndexMut<VuSlot> for Slots {
    fn index_mut(&mut self, at: VuSlot) -> &mut Slot {
        &mut self.0[at.0]
    }
}

/// A VU and what it is doing.
pub(super) struct Slot {
    pub(super) vu: Vu,
    /// Its number in the test.
    pub(super) number: u64,
    /// The scenario that it works in.
    pub(super) scenario: usize,
    /// Its number within the scenario, from 0, over all workers.
    pub(super) index: u64,
    /// Iterations that it has begun.
    pub(super) iterations: u64,
    /// Those of them in its scenario.
    pub(super) in_scenario: u64,
    pub(super) state: State,
    /// When it is to be woken.
    pub(super) until: Option<Nanos>,
    /// When it will be: the first of its places among the sleepers.
    pub(super) alarm: Option<Nanos>,
    /// The iteration whose connections it has, where they are closed after each.
    pub(super) connected: u64,
    /// Bytes sent and received in this iteration.
    pub(super) bytes: (u64, u64),
    /// Iterations whose sockets were refused since the last one that was not.
    pub(super) refusals: u32,
    /// One was in this iteration.
    pub(super) is_refused: bool,
    /// Its open sockets.
    pub(super) sockets: Vec<workload::Pipe>,
    /// Its sockets that are held, until it has caught up.
    pub(super) stalled: Vec<workload::Pipe>,
    /// What its scenario calls, and is.
    pub(super) assignment: Option<Rc<Assignment>>,
}

/// What a scenario is to its VUs.
#[derive(Debug)]
pub(super) struct Assignment {
    /// The script's function.
    pub(super) function: Rc<str>,
    /// `None` in `setup` and `teardown`.
    pub(super) scenario: Option<Rc<ScenarioInfo>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Idle,
    /// In an iteration that began then.
    Busy(Nanos),
    /// It rests, since its iteration was too short.
    Resting,
}

impl Slot {
    /// A VU that works nowhere yet.
    pub(super) fn new(vu: Vu, number: u64) -> Self {
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
            assignment: None,
        }
    }

    /// The origin of its samples.
    pub(super) fn sampled(&self) -> SampleOrigin {
        let iteration = self.iterations.saturating_sub(1);
        SampleOrigin { work: self.scenario, vu: self.number, iteration }
    }
}

/// The owner of a request or a socket: a VU in one of its iterations, with the ticket of the action.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestOwner {
    pub(super) slot: VuSlot,
    pub(super) iteration: u64,
    pub(super) ticket: Ticket,
    /// Results reach the VU whatever iteration is under way: a cable's socket.
    pub(super) outlives_iteration: bool,
}

/// Where a sample comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleOrigin {
    /// The scenario's number.
    pub(super) work: usize,
    /// The VU's number.
    pub(super) vu: u64,
    /// Its iteration's number.
    pub(super) iteration: u64,
}
