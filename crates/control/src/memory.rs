//! `MemoryTransport`: a message system in this process, for tests of what uses one. It can lose and double messages.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use fleet::{Incarnation, Name};
use stdx::Prng;

use crate::transport::{Deliver, Incoming, Lease, Role, Subject, Transport, TransportError};

/// A message system in this process; clones share it.
#[derive(Clone)]
pub struct MemoryTransport(Arc<Mutex<State>>);

struct State {
    readers: Vec<(Role, Deliver)>,
    /// The holder of each run's lease.
    leases: HashMap<Name, Incarnation>,
    incarnations: u64,
    prng: Prng,
    /// The shares of messages that are lost, and that come twice.
    faults: (f64, f64),
    /// Subjects with a message that was lost just now.
    lost: HashSet<String>,
    /// Runs of which no message comes through.
    cut_off: HashSet<Name>,
}

impl MemoryTransport {
    /// One that loses and doubles these shares of all messages, drawn from `seed`; never two messages in a
    /// row of one subject are lost, so that no silence becomes long by chance.
    #[must_use]
    pub fn with_faults(seed: u64, lost: f64, doubled: f64) -> Self {
        Self(Arc::new(Mutex::new(State {
            readers: Vec::new(),
            leases: HashMap::new(),
            incarnations: 0,
            prng: Prng::new(seed),
            faults: (lost, doubled),
            lost: HashSet::new(),
            cut_off: HashSet::new(),
        })))
    }

    /// One that loses nothing.
    #[must_use]
    pub fn reliable() -> Self {
        Self::with_faults(0, 0.0, 0.0)
    }

    /// Ends a run's lease, as its time would.
    pub fn end_lease(&self, run: &Name) {
        self.state().leases.remove(run);
    }

    /// Loses all messages of a run from now on.
    pub fn cut_off(&self, run: &Name) {
        self.state().cut_off.insert(run.clone());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// How often a message comes.
    fn copies(&mut self, subject: &Subject) -> usize {
        let (lost, doubled) = self.faults;
        let run = match subject {
            Subject::Hello(_) => None,
            Subject::Up { run, .. }
            | Subject::Down { run, .. }
            | Subject::Fetch { run, .. }
            | Subject::Part { run, .. } => Some(run),
        };
        if run.is_some_and(|run| self.cut_off.contains(run)) {
            return 0;
        }
        let subject = subject.to_string();
        if !self.lost.remove(&subject) && self.prng.next_f64() < lost {
            self.lost.insert(subject);
            return 0;
        }
        1 + usize::from(self.prng.next_f64() < doubled)
    }
}

impl Transport for MemoryTransport {
    fn listen(&self, role: &Role, deliver: Deliver) -> Result<(), TransportError> {
        self.state().readers.push((role.clone(), deliver));
        Ok(())
    }

    fn send(&self, subject: &Subject, bytes: Vec<u8>) {
        let mut state = self.state();
        let copies = state.copies(subject);
        let readers = state.readers.iter().filter(|(role, _)| role.reads(subject));
        let readers: Vec<Deliver> = readers.map(|(_, deliver)| Arc::clone(deliver)).collect();
        drop(state);
        for deliver in readers {
            for _ in 0..copies {
                let (subject, bytes) = (subject.clone(), bytes.clone());
                deliver(Incoming { subject, bytes, at: Instant::now() });
            }
        }
    }

    fn take_lease(&self, run: &Name) -> Result<Lease, TransportError> {
        let mut state = self.state();
        if state.leases.contains_key(run) {
            return Err(TransportError::LeaseHeld(run.clone()));
        }
        state.incarnations += 1;
        let incarnation = Incarnation(state.incarnations);
        state.leases.insert(run.clone(), incarnation);
        Ok(Lease { run: run.clone(), incarnation, revision: incarnation.0 })
    }

    fn renew_lease(&self, lease: &Lease) -> Result<Lease, TransportError> {
        let mut state = self.state();
        let holder = *state.leases.entry(lease.run.clone()).or_insert(lease.incarnation);
        if holder == lease.incarnation {
            return Ok(lease.clone());
        }
        Err(TransportError::LeaseHeld(lease.run.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_has_one_holder() {
        let transport = MemoryTransport::reliable();
        let run = Name::new("r").unwrap();
        let first = transport.take_lease(&run).unwrap();
        assert!(matches!(transport.take_lease(&run), Err(TransportError::LeaseHeld(_))));
        transport.renew_lease(&first).unwrap();
        transport.end_lease(&run);
        let second = transport.take_lease(&run).unwrap();
        assert!(second.incarnation > first.incarnation);
        assert!(matches!(transport.renew_lease(&first), Err(TransportError::LeaseHeld(_))));
    }
}
