//! Whether a study that goes on until it is sure ends: its runs so far, judged at the looks.

use study::contrast::{Measure, Rules, Run};
use study::plan::{Cell, RunOutcome, looks, undecided};

use super::figures::run::MeasuredFigures;
use super::plan::StudyPlan;
use super::state::checkpoint::Checkpoint;
use super::until_sure::UntilSure;

/// Why such a study ended before all of its runs were made, or after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// The measures that are not decided; empty if the study is sure.
    pub(crate) open: Vec<Measure>,
    /// In words.
    pub(crate) text: String,
}

impl UntilSure {
    /// Whether the study ends before this run, or after its last one (`None`).
    pub(crate) fn ending(
        &self,
        plan: &StudyPlan<'_>,
        (checkpoint, figures): (&Checkpoint, &[Option<MeasuredFigures>]),
        next: Option<usize>,
    ) -> Option<Ending> {
        let took = checkpoint
            .records
            .iter()
            .flatten()
            .fold(0, |sum: u64, one| sum.saturating_add(one.took.0));
        let late = self.time_max.is_some_and(|most| took >= most.0);
        let done = match next {
            None => self.repeats_max,
            Some(at) => checkpoint.slots[at].repeat - 1,
        };
        // A block is judged when it is whole: before the first run of the next one.
        let begins = next.is_none_or(|at| {
            checkpoint.slots[..at].iter().all(|slot| slot.repeat < checkpoint.slots[at].repeat)
        });
        let is_look = begins && looks(self.repeats_max).contains(&done);
        if !is_look && !late {
            return None;
        }
        let open = self.open(plan, checkpoint, figures);
        let names: Vec<&str> = open.iter().map(|measure| measure.name()).collect();
        let runs = stdx::counted(done as u64, "run");
        let text = match (open.is_empty(), late, next) {
            (true, ..) => format!("sure after {runs} of each"),
            (false, true, _) => {
                format!("not sure when its time was up: {} not decided", names.join(", "))
            }
            (false, false, None) => {
                format!("not sure after {runs} of each: {} not decided", names.join(", "))
            }
            (false, false, Some(_)) => return None,
        };
        Some(Ending { open, text })
    }

    /// The measures that some comparison leaves open.
    fn open(
        &self,
        plan: &StudyPlan<'_>,
        checkpoint: &Checkpoint,
        figures: &[Option<MeasuredFigures>],
    ) -> Vec<Measure> {
        let rules = Rules { looks: self.looks(), ..Rules::default() };
        let excluded: Vec<usize> = plan.excluded.iter().map(|one| one.variant).collect();
        let cells = plan.study.cells(&excluded);
        let mut open = Vec::new();
        for (workload, of) in plan.study.workloads.iter().enumerate() {
            if !of.family.has_results() {
                continue;
            }
            let cells = cells.iter().filter(|cell| cell.workload == workload);
            let variants: Vec<Vec<Run>> =
                cells.map(|cell| runs_of(plan, checkpoint, figures, *cell)).collect();
            open.extend(undecided(&variants, &self.measures, &rules));
        }
        self.measures.iter().filter(|measure| open.contains(measure)).copied().collect()
    }
}

/// The measured runs of a cell, those of earlier calls read from their files.
fn runs_of(
    plan: &StudyPlan<'_>,
    checkpoint: &Checkpoint,
    figures: &[Option<MeasuredFigures>],
    cell: Cell,
) -> Vec<Run> {
    let slots = checkpoint.slots.iter().enumerate().filter(|(_, slot)| slot.cell == cell);
    let run = |(at, _): (usize, &study::plan::Slot)| {
        let record = checkpoint.records[at].as_ref()?;
        if record.ended != RunOutcome::Measured {
            return None;
        }
        match &figures[at] {
            Some(figures) => figures.run.as_ref().map(recordings::RecordedRun::figures),
            None => plan.figures(checkpoint, at, record).ok()?.run.map(|run| run.figures()),
        }
    };
    slots.filter_map(run).collect()
}
