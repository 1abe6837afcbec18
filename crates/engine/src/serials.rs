//! `Serials`: the numbers that connections have in the run.

/// The numbers of one worker's connections: every `step`-th, so that no two of a run share one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Serials {
    next: u32,
    step: u32,
}

impl Serials {
    /// The numbers of worker `worker`, counted from 0, of `workers`.
    pub(crate) fn of(worker: usize, workers: usize) -> Self {
        Self { next: worker as u32 + 1, step: workers as u32 }
    }

    pub(crate) fn next(&mut self) -> u32 {
        let serial = self.next;
        // After 4 billion connections they begin anew.
        self.next = serial.wrapping_add(self.step);
        serial
    }

    /// The number in the run, from 0, of the worker's owner of this number, from 1.
    pub(crate) fn of_owner(&self, owner: u32) -> u32 {
        let worker = self.next.wrapping_sub(1) % self.step;
        (owner - 1).wrapping_mul(self.step).wrapping_add(worker)
    }
}
