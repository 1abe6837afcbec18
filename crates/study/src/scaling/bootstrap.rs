//! Intervals of a fit: what the law would have become had its errors fallen on other measurements (Efron and Tibshirani, An
//! Introduction to the Bootstrap, 1993, 9.4).

use stdx::Prng;

use super::data::Data;
use super::search::{BestFit, search_near};
use super::{Estimate, Kind, Model};

/// Laws drawn.
const DRAWS: usize = 200;

/// Laws fitted to predictions with resampled residuals; none where no residuals are left.
pub(super) fn drawn(kind: Kind, best: &BestFit, data: &Data, seed: u64) -> Vec<Model> {
    let residuals = data.residuals(&best.model);
    if residuals.len() <= best.free {
        return Vec::new();
    }
    let count = residuals.len() as f64;
    // Residuals are smaller than errors, by as much as the parameters gave way.
    let wide = (count / (count - best.free as f64)).sqrt();
    let mut rng = Prng::new(stdx::mix(seed, 0xf17));
    let one = |_| {
        let mut again = data.clone();
        for one in &mut again.observations {
            let error = wide * residuals[rng.below(residuals.len() as u64) as usize];
            let (load, error) = (one.load, error.exp());
            match data.by {
                crate::seek::By::Connections => {
                    one.throughput_per_s = data.predicted(&best.model, load) * error;
                }
                crate::seek::By::Rate => one.mean_s = data.predicted(&best.model, load) * error,
            }
        }
        search_near(kind, best, &again)
    };
    (0..DRAWS).filter_map(one).collect()
}

/// The middle 95 % of what drawn laws say.
pub(super) fn interval(drawn: &[Model], of: impl Fn(&Model) -> Option<f64>) -> Option<(f64, f64)> {
    if drawn.is_empty() {
        return None;
    }
    let values: Option<Vec<f64>> = drawn.iter().map(of).collect();
    let mut values = values?;
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[(share * (values.len() - 1) as f64).round() as usize];
    Some((at(0.025), at(0.975)))
}

/// A law's parameters by name.
pub(super) fn parameters(
    kind: Kind,
    best: &BestFit,
    drawn: &[Model],
) -> Vec<(&'static str, Estimate)> {
    let names: &[&'static str] = match kind {
        Kind::Closed => &["workers", "service", "delay", "capacity"],
        Kind::Mmc => &["workers", "service", "capacity"],
        Kind::Mgc => &["workers", "service", "variability", "capacity"],
        Kind::Usl => &["contention", "coherency", "single", "capacity", "peak"],
    };
    let estimate = |name: &&'static str| {
        let value = parameter(&best.model, name)?;
        let interval = match (*name, best.workers) {
            ("workers", Some((low, high))) => Some((f64::from(low), f64::from(high))),
            _ => interval(drawn, |model| parameter(model, name)),
        };
        let interval = interval.map(|(low, high)| (low.min(value), high.max(value)));
        Some((*name, Estimate { value, interval }))
    };
    names.iter().filter_map(estimate).collect()
}

fn parameter(model: &Model, name: &str) -> Option<f64> {
    let server = model.server();
    match (name, model) {
        ("workers", _) => server.map(|server| f64::from(server.workers)),
        ("service", _) => server.map(|server| server.service_s),
        ("capacity", _) => model.capacity_per_s(),
        ("delay", Model::Closed(closed)) => Some(closed.delay_s),
        ("variability", Model::Open(open)) => Some(open.variability),
        ("contention", Model::Usl(usl)) => Some(usl.contention),
        ("coherency", Model::Usl(usl)) => Some(usl.coherency),
        ("single", Model::Usl(usl)) => Some(usl.single_per_s),
        ("peak", Model::Usl(usl)) => usl.peak(),
        _ => None,
    }
}
