//! `Step`: one run at one load as the search sees it.

use stdx::Nanos;

/// What one run at one load showed, its warm-up left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Planned hits per second, or connections.
    pub load: f64,
    /// Hits that count.
    pub hits: u64,
    /// For each condition of the objective: the share of hits on its wrong side (0 to 1), or the mean in nanoseconds.
    pub figures: Vec<f64>,
    /// Hits ended with success per second, while it was measured.
    pub achieved_per_s: f64,
    /// Mean response time.
    pub mean: Nanos,
    /// Response time of 50 of 100 hits.
    pub p50: Nanos,
    /// Response time of 95 of 100 hits.
    pub p95: Nanos,
    /// Response time of 99 of 100 hits.
    pub p99: Nanos,
    /// Share of hits not answered with a status in 200..400.
    pub errors: f64,
    /// How much of the run's beginning was left out.
    pub warmup: Nanos,
    /// How much was measured after it.
    pub measured: Nanos,
    /// How long it took by the clock, with the pause before it and the hits that were waited for.
    pub took: Nanos,
    /// It was ended early, since the objective was plainly missed.
    pub cut: bool,
    /// Why its figures say nothing of the server: the generator's reasons.
    pub spoilt: Option<String>,
}

/// The load with the most power, throughput by mean response time (Kleinrock, Power and deterministic rules of thumb for
/// probabilistic problems in computer communications, 1979): below it a server is idle, above it its queue grows faster than
/// what it does. Throughput is of successes alone, and to each belongs the time of all hits that it took: a server that refuses at
/// once is no quicker. `None` without a valid step that has one. Steps at about the same load (5 %) count
/// together, or else the luckiest of many near the limit would win. It is no higher than `most`, what the server bears where that is
/// known: a short step beyond it ends before its queue has grown.
#[must_use]
pub fn knee(steps: &[Step], most: Option<f64>) -> Option<f64> {
    let most = most.map_or(f64::INFINITY, |most| most * (1.0 + SAME_LOAD));
    let is_of_use = |step: &&Step| {
        step.spoilt.is_none() && step.mean > Nanos::ZERO && step.errors < 1.0 && step.load <= most
    };
    let valid: Vec<&Step> = steps.iter().filter(is_of_use).collect();
    let power = |at: &Step| {
        let near = valid.iter().filter(|step| (step.load / at.load).ln().abs() < SAME_LOAD);
        let sums = near.fold((0.0, 0.0), |(done, time), step| {
            (done + step.achieved_per_s, time + step.mean.as_secs_f64() / (1.0 - step.errors))
        });
        sums.0 / sums.1
    };
    valid.iter().max_by(|a, b| power(a).total_cmp(&power(b))).map(|step| step.load)
}

/// Loads with logarithms closer than this are about the same.
pub(super) const SAME_LOAD: f64 = 0.05;
