//! `Ramp`: the VUs of a scenario whose number changes: those that are wanted, those that are parked, those that are leaving.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use stdx::Nanos;

use crate::pool::slot::VuSlot;

/// The VUs of a scenario that are wanted no more, or not yet. Places are those among the scenario's staff.
#[derive(Debug, Default)]
pub(crate) struct Ramp {
    /// How many VUs of all workers the executor wants.
    pub(crate) wanted: u64,
    /// VUs that are not wanted now, the lowest index first: their index, and where they are among the slots.
    parked: BinaryHeap<Reverse<(u64, VuSlot)>>,
    /// Places of VUs that are wanted no more, and when their iterations end at the latest.
    leaving: VecDeque<(Nanos, usize)>,
    /// The same by place; `None` of those that were wanted again.
    leaves_at: Vec<Option<Nanos>>,
}

impl Ramp {
    /// A VU is not wanted now.
    pub(crate) fn park(&mut self, index: u64, slot: VuSlot) {
        self.parked.push(Reverse((index, slot)));
    }

    /// Wants another number of VUs. Those of the staff, by their index, that are wanted no more may go on until then; those that
    /// were parked and are wanted are idle.
    pub(crate) fn want(
        &mut self,
        wanted: u64,
        until: Nanos,
        staff: &[(u64, VuSlot)],
        idle: &mut VecDeque<VuSlot>,
    ) {
        while self.parked.peek().is_some_and(|Reverse((index, _))| *index < wanted) {
            idle.extend(self.parked.pop().map(|Reverse((_, slot))| slot));
        }
        let place = |index: u64| staff.partition_point(|(known, _)| *known < index);
        let (before, after) = (place(self.wanted), place(wanted));
        self.wanted = wanted;
        self.leaves_at.resize(staff.len(), None);
        if before < after {
            self.leaves_at[before..after].fill(None);
        } else {
            self.leaves_at[after..before].fill(Some(until));
            self.leaving.extend((after..before).map(|place| (until, place)));
        }
    }

    /// The place of a VU whose time to leave has come, if it was not wanted again meanwhile.
    pub(crate) fn pop_left(&mut self, now: Nanos) -> Option<usize> {
        while let Some((until, place)) = self.leaving.pop_front_if(|(until, _)| *until <= now) {
            if self.leaves_at[place] == Some(until) {
                self.leaves_at[place] = None;
                return Some(place);
            }
        }
        None
    }

    /// When the next VU's time to leave comes.
    pub(crate) fn next_leave(&self) -> Option<Nanos> {
        self.leaving.front().map(|(until, _)| *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_wanted_again_stays() {
        let second = Nanos::from_secs;
        // One worker of two has every other VU.
        let staff = [(0, 10), (2, 11), (4, 12), (6, 13)].map(|(index, slot)| (index, VuSlot(slot)));
        let mut ramp = Ramp::default();
        staff.iter().rev().for_each(|(index, slot)| ramp.park(*index, *slot));
        let mut idle = VecDeque::new();
        ramp.want(5, second(0), &staff, &mut idle);
        assert_eq!(std::mem::take(&mut idle), [10, 11, 12].map(VuSlot));
        ramp.want(1, second(3), &staff, &mut idle);
        ramp.want(3, second(0), &staff, &mut idle);
        assert_eq!((ramp.next_leave(), ramp.pop_left(second(2))), (Some(second(3)), None));
        ramp.want(1, second(4), &staff, &mut idle);
        // The second left twice: its last time counts.
        assert_eq!((ramp.pop_left(second(3)), ramp.pop_left(second(3))), (Some(2), None));
        assert_eq!((ramp.pop_left(second(4)), ramp.next_leave()), (Some(1), None));
        assert!(idle.is_empty(), "nobody was parked: {idle:?}");
    }
}
