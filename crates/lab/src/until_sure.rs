//! `-until-sure`: a study goes on with interleaved runs until its measures are decided, or a bound is reached.

use anyhow::anyhow;
use cli::{ExitCode, ExitError};
use stdx::Nanos;
use study::contrast::Measure;
use study::plan::looks;

use super::file::Study;

/// When a study that goes on until it is sure ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntilSure {
    /// The measures that must be decided, for every variant under every workload.
    pub measures: Vec<Measure>,
    /// The most runs of each variant under each workload.
    pub repeats_max: usize,
    /// The most time that runs may take together, those of earlier calls included.
    pub time_max: Option<Nanos>,
}

impl UntilSure {
    /// Plans the most runs there may be.
    ///
    /// # Errors
    /// No workload has results of two variants to compare.
    pub(crate) fn plan(&self, study: &mut Study, excluded: &[usize]) -> Result<(), ExitError> {
        study.times.repeats = self.repeats_max;
        study.workloads.iter_mut().for_each(|workload| workload.repeats = None);
        let cells = study.cells(excluded);
        let compared = (0..study.workloads.len()).any(|workload| {
            let variants = cells.iter().filter(|cell| cell.workload == workload).count();
            variants > 1 && study.workloads[workload].family.has_results()
        });
        if !compared {
            let error = anyhow!("flag -until-sure: no workload has results of two variants");
            return Err(ExitError { code: ExitCode::Input, error });
        }
        let names: Vec<&str> = self.measures.iter().map(|measure| measure.name()).collect();
        let plan = format!("{}, at most {} runs of each", names.join(", "), self.repeats_max);
        study.facts.push(("-until-sure".to_owned(), plan));
        Ok(())
    }

    /// How often runs are judged, at most: the looks, and the end of the time.
    pub(crate) fn looks(&self) -> usize {
        looks(self.repeats_max).len() + usize::from(self.time_max.is_some())
    }
}
