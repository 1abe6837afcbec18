//! `fit`: the law that explains the measurements of a sweep with the fewest parameters, or why none does.

use super::data::{Data, Observation, Refusal, Sweep};
use super::model::{Estimate, Kind, Model};
use super::{bootstrap, search};
use crate::seek::By;

/// The greatest typical error of a model, as a share; above it the model is refused.
pub const ERROR_MAX: f64 = 0.15;

/// A model that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// What a load is.
    pub by: By,
    /// Which law.
    pub kind: Kind,
    /// With its parameters.
    pub model: Model,
    /// The typical error as a share: of throughputs in a closed loop, of mean times in an open one.
    pub error: f64,
    /// Each parameter's name, value and interval: seconds, workers, per second, or a number.
    pub parameters: Vec<(&'static str, Estimate)>,
    /// What was considered and left aside, with its typical error; `None` where it could not be fitted.
    pub others: Vec<(Kind, Option<f64>)>,
    /// Seconds between an answer and the next request of a user, by Little's law; 0 in an open loop.
    pub think_s: f64,
    /// What was measured, by rising load, without overloaded loads of an open loop.
    pub observations: Vec<Observation>,
    /// Loads of an open loop that it could not keep up with.
    pub overloaded: Vec<f64>,
    /// Models of the bootstrap.
    pub(super) drawn: Vec<Model>,
}

/// Fits the laws for this kind of load, or only `wanted`, and returns the one with the least corrected information criterion
/// (Akaike's, for few measurements: Hurvich and Tsai, 1989). Intervals depend on `seed`.
///
/// # Errors
/// The measurements do not suffice, contradict themselves, or no law fits them.
pub fn fit(sweep: &Sweep, wanted: Option<Kind>, seed: u64) -> Result<Fit, Refusal> {
    let data = Data::of(sweep)?;
    let kinds =
        Kind::of(sweep.by).into_iter().filter(|kind| wanted.is_none_or(|only| only == *kind));
    let tried: Vec<(Kind, Option<search::BestFit>)> =
        kinds.map(|kind| (kind, search::search(kind, &data))).collect();
    let found = || tried.iter().filter_map(|(kind, found)| Some((*kind, found.as_ref()?)));
    let Some((kind, best)) = found().min_by(|a, b| a.1.criterion.total_cmp(&b.1.criterion)) else {
        let needed = wanted.map_or(2, Kind::loads_min);
        let overloaded = data.overloaded.len();
        return Err(Refusal::TooFewLoads { loads: data.loads(), needed, overloaded });
    };
    let errors = |of: Kind| found().find(|(kind, _)| *kind == of).map(|(_, found)| found.error);
    let others = tried.iter().filter(|(of, _)| *of != kind).map(|(of, _)| (*of, errors(*of)));
    let others = others.collect();
    if best.error > ERROR_MAX {
        let at = data.worst(&best.model);
        let (load, measured, predicted) = at;
        return Err(Refusal::Poor { kind, error: best.error, load, measured, predicted });
    }
    let drawn = bootstrap::drawn(kind, best, &data, seed);
    Ok(Fit {
        by: sweep.by,
        kind,
        model: best.model,
        error: best.error,
        parameters: bootstrap::parameters(kind, best, &drawn),
        others,
        think_s: data.think_s,
        observations: data.observations,
        overloaded: data.overloaded,
        drawn,
    })
}
