//! `StudyPlan`: a study with all that was decided before its first run.

use cli::ExitError;
use metrics::Provenance;
use study::plan::Slot;

use super::figures::run::{self, MeasuredFigures};
use super::file::{Mode, Study, Variant, Workload};
use super::run::environment::RunEnvironment;
use super::state::checkpoint::Checkpoint;
use super::state::folder::StudyFolder;
use super::state::record::RunRecord;
use super::until_sure::UntilSure;

/// A variant that is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExcludedVariant {
    /// Its index in the study.
    pub(crate) variant: usize,
    /// Why, in words.
    pub(crate) reason: String,
}

/// A study with all that was decided before its first run.
pub(crate) struct StudyPlan<'a> {
    pub(crate) study: &'a Study,
    pub(crate) folder: &'a StudyFolder,
    pub(crate) mode: Mode,
    /// The variants that are not run.
    pub(crate) excluded: Vec<ExcludedVariant>,
    /// When it ends, if it goes on until it is sure.
    pub(crate) until_sure: Option<&'a UntilSure>,
    /// How the study was started.
    pub(crate) provenance: Provenance,
}

impl StudyPlan<'_> {
    /// Reads the figures of a measured run from its files.
    ///
    /// # Errors
    /// They hold no results.
    pub(crate) fn figures(
        &self,
        checkpoint: &Checkpoint,
        at: usize,
        record: &RunRecord,
    ) -> Result<MeasuredFigures, ExitError> {
        let slot = &checkpoint.slots[at];
        let (variant, workload) = self.pair(slot);
        let names = (workload.name.as_str(), variant.name.as_str());
        let run = self.folder.run(names.0, names.1, slot.repeat);
        let results = self.folder.results(names, slot.repeat, variant.generators);
        let environment = RunEnvironment::of(self.folder, variant, run);
        run::read((variant, workload), &environment, &results, record)
    }

    /// The variant and the workload of a run.
    pub(crate) fn pair(&self, slot: &Slot) -> (&Variant, &Workload) {
        (&self.study.variants[slot.cell.variant], &self.study.workloads[slot.cell.workload])
    }
}
