//! `Promptness`: which targets' answers may lie unread for a moment without harm to what is measured: those that came whole with one
//! read, stamped by the kernel, many times in a row.

use workload::{Load, Plan};

use crate::hit::Hit;

/// So many answers in a row must have come whole while every event woke the loop.
const SEEN_MIN: u16 = 100;
/// After so many more it is looked at again: what lies unread is joined, and would hide a change.
const SEEN_MAX: u16 = 2_100;
/// An answer of the target did not: it is not tried again.
const NEVER: u16 = u16::MAX;

/// What is known of each of the plan's targets, and of the hits under way.
#[derive(Debug, Default)]
pub(crate) struct Promptness {
    /// Empty where no hit is due at a time of its own.
    seen: Vec<u16>,
    /// Hits under way whose answers are read at once.
    urgent: usize,
}

impl Promptness {
    pub(crate) fn new(plan: &Plan) -> Self {
        let is_open = matches!(plan.load, Load::Open { .. });
        let targets = if is_open { plan.targets.list().len() } else { 0 };
        Self { seen: vec![0; targets], urgent: 0 }
    }

    /// Whether nothing is known, nor will be.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Whether the answer of no hit under way is to be read at once.
    pub(crate) fn allows_sleep(&self) -> bool {
        self.urgent == 0
    }

    /// A hit begins.
    pub(crate) fn begin(&mut self, hit: &mut Hit) {
        hit.urgent = !self.is_prompt(hit.target);
        self.urgent += usize::from(hit.urgent);
    }

    /// A hit under way is not as those of its target were: its answer is to be read at once, and theirs from now on.
    pub(crate) fn hasten(&mut self, hit: &mut Hit) {
        self.note(hit.target, false);
        self.urgent += usize::from(!std::mem::replace(&mut hit.urgent, true));
    }

    /// A hit has ended.
    pub(crate) fn end(&mut self, hit: &Hit) {
        self.urgent -= usize::from(hit.urgent);
    }

    /// Whether answers of this target may lie unread; those of targets outside of the plan may not.
    fn is_prompt(&self, target: Option<u32>) -> bool {
        let seen = target.and_then(|target| self.seen.get(target as usize));
        seen.is_some_and(|seen| (SEEN_MIN..NEVER).contains(seen))
    }

    /// An answer of this target ended, whole with one read or not.
    pub(crate) fn note(&mut self, target: Option<u32>, whole: bool) {
        let seen = target.and_then(|target| self.seen.get_mut(target as usize));
        if let Some(seen) = seen {
            *seen = match *seen {
                NEVER => NEVER,
                _ if !whole => NEVER,
                SEEN_MAX.. => 0,
                few => few + 1,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_whole_answers_make_a_target_prompt_and_another_one_ends_it() {
        let mut known = Promptness { seen: vec![0; 2], urgent: 0 };
        for _ in 0..SEEN_MIN {
            assert!(!known.is_prompt(Some(1)));
            known.note(Some(1), true);
        }
        assert!(known.is_prompt(Some(1)) && !known.is_prompt(Some(0)) && !known.is_prompt(None));
        for _ in SEEN_MIN..=SEEN_MAX {
            assert!(known.is_prompt(Some(1)));
            known.note(Some(1), true);
        }
        assert!(!known.is_prompt(Some(1)), "it is looked at again");
        known.note(Some(1), false);
        (0..3_000).for_each(|_| known.note(Some(1), true));
        assert!(!known.is_prompt(Some(1)), "never again");
    }
}
