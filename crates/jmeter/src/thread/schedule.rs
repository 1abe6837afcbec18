//! `Schedule`: when a thread begins and ends.

use stdx::Nanos;

use super::scope::Thread;
use crate::plan::start_plan::StartPlan;
use crate::world::Stopping;

/// When a thread may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Then.
    At(Nanos),
    /// It is not its group's turn yet.
    Later,
    /// Never.
    Never,
}

impl Thread {
    /// When this thread begins; `arrival` is the arrival that it is for.
    pub(crate) fn start(&self, index: u64, arrival: u64) -> Start {
        let group = &self.program.groups[self.group];
        let Some(began) = self.world.began(self.group, self.host.now()) else {
            return Start::Later;
        };
        let after = match &group.start {
            StartPlan::Arrivals(moments) => moments.get(arrival as usize).copied(),
            _ => Some(group.start_ms(index)).filter(|start| *start != u64::MAX),
        };
        let end = group.end_ms(index);
        match after {
            // A thread that would begin after the end of its group never does.
            Some(start) if end.is_none_or(|end| start < end) => {
                Start::At(began.saturating_add(Nanos::from_millis(start)))
            }
            _ => Start::Never,
        }
    }

    /// When this thread ends at the latest.
    pub(crate) fn end(&self, index: u64) -> Option<Nanos> {
        let end = self.program.groups[self.group].end_ms(index)?;
        let began = self.world.began(self.group, self.host.now())?;
        Some(began.saturating_add(Nanos::from_millis(end)))
    }

    /// How this thread is to end before its time, if it is.
    pub(crate) fn stopping(&self) -> Option<Stopping> {
        self.world.stopping(self.kind())
    }
}
