//! `CableParts`: what the agents say of a test of Action Cable, merged while it goes on.

use std::cell::RefCell;
use std::rc::Rc;

use cable::{CablePlan, CableReport, MergedParts, PartRecord};
use metrics::Batch;

use crate::execution::PartSink;

/// What the agents say of a test of Action Cable, shared by the execution, which a session owns, and the command, which reports it
/// at the end.
#[derive(Clone, Debug)]
pub struct CableParts(Rc<RefCell<MergedParts>>);

impl CableParts {
    /// Nothing is known yet of a test on so many agents.
    #[must_use]
    pub fn new(plan: &CablePlan, agents: usize) -> Self {
        Self(Rc::new(RefCell::new(MergedParts::new(plan, agents))))
    }

    /// What all users saw, once the run is over.
    #[must_use]
    pub fn report(&self) -> CableReport {
        self.0.borrow().report().clone()
    }
}

impl PartSink for CableParts {
    fn take(&mut self, agent: u16, record: &[u8]) -> Result<(), &'static str> {
        let record: PartRecord =
            postcard::from_bytes(record).map_err(|_| "a bad record of a part")?;
        self.0.borrow_mut().take(agent, record);
        Ok(())
    }

    fn finish(&mut self) {
        self.0.borrow_mut().finish();
    }

    fn take_rows(&mut self) -> Batch {
        let mut batch = Batch::default();
        for (agent, row) in self.0.borrow_mut().take_rows() {
            let mut sample = engine::sample_of(&row);
            sample.agent = agent;
            sample.line = batch.add_text(row.line.as_bytes());
            if let Some((_, text)) = &row.failure {
                sample.error = batch.add_text(text.as_bytes());
            }
            batch.samples.push(sample);
        }
        batch
    }
}
